//! Differences between two sequences: characters of a line, or lines of a text.
//!
//! The coloured parts of a changed text follow the algorithm of Google's diff-match-patch, which the reference uses:
//!
//! 1. The common prefix and suffix are split off.
//! 2. If one rest contains the other, the remainder is an insertion or a deletion.
//! 3. Otherwise Myers' "middle snake" splits both rests in two, and the halves are compared separately.
//! 4. Adjacent edits are merged, and single edits are shifted over equal text ([`merge`]).
//! 5. For characters, short equal texts between edits count as changed ([`efficient`]).

mod cleanup;

pub(crate) use cleanup::efficient;
use cleanup::merge;

/// Kind of a part: in both sequences, or in only one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Same,
    Insert,
    Delete,
}

/// A part of both sequences, or of only one of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Part<T> {
    pub(crate) kind: Kind,
    pub(crate) items: Vec<T>,
}

impl<T: Copy> Part<T> {
    fn new(kind: Kind, items: &[T]) -> Self {
        Part {
            kind,
            items: items.to_vec(),
        }
    }
}

/// Difference between the characters of `old` and `new`, for display.
pub(crate) fn characters(old: &str, new: &str) -> Vec<Part<char>> {
    let (old, new): (Vec<char>, Vec<char>) = (old.chars().collect(), new.chars().collect());
    efficient(compare(&old, &new))
}

/// Difference between the lines of `old` and `new`; texts keep their line breaks.
pub(crate) fn lines(old: &str, new: &str) -> Vec<(Kind, String)> {
    let mut known: Vec<&str> = Vec::new();
    let mut index = std::collections::HashMap::new();
    let mut number = |line| {
        *index.entry(line).or_insert_with(|| {
            known.push(line);
            known.len() - 1
        })
    };
    let old: Vec<usize> = old.split_inclusive('\n').map(&mut number).collect();
    let new: Vec<usize> = new.split_inclusive('\n').map(&mut number).collect();
    let text = |items: &[usize]| items.iter().map(|item| known[*item]).collect();
    compare(&old, &new)
        .iter()
        .map(|part| (part.kind, text(&part.items)))
        .collect()
}

/// Parts that transform `old` into `new`, in order.
pub(crate) fn compare<T: Copy + Eq>(old: &[T], new: &[T]) -> Vec<Part<T>> {
    if old == new {
        return if old.is_empty() {
            Vec::new()
        } else {
            vec![Part::new(Kind::Same, old)]
        };
    }
    let prefix = common_prefix(old, new);
    let suffix = common_suffix(&old[prefix..], &new[prefix..]);
    let (old_end, new_end) = (old.len() - suffix, new.len() - suffix);
    let mut parts = Vec::new();
    if prefix > 0 {
        parts.push(Part::new(Kind::Same, &old[..prefix]));
    }
    parts.extend(compare_middles(
        &old[prefix..old_end],
        &new[prefix..new_end],
    ));
    if suffix > 0 {
        parts.push(Part::new(Kind::Same, &old[old_end..]));
    }
    merge(parts)
}

/// Compares two sequences without a common prefix or suffix.
fn compare_middles<T: Copy + Eq>(old: &[T], new: &[T]) -> Vec<Part<T>> {
    if old.is_empty() {
        return vec![Part::new(Kind::Insert, new)];
    }
    if new.is_empty() {
        return vec![Part::new(Kind::Delete, old)];
    }
    let (longer, shorter, surplus) = if old.len() > new.len() {
        (old, new, Kind::Delete)
    } else {
        (new, old, Kind::Insert)
    };
    if let Some(at) = longer
        .windows(shorter.len())
        .position(|window| window == shorter)
    {
        return vec![
            Part::new(surplus, &longer[..at]),
            Part::new(Kind::Same, shorter),
            Part::new(surplus, &longer[at + shorter.len()..]),
        ];
    }
    match middle_snake(old, new).filter(|_| shorter.len() > 1) {
        Some((x, y)) => {
            let mut parts = compare(&old[..x], &new[..y]);
            parts.extend(compare(&old[x..], &new[y..]));
            parts
        }
        None => vec![Part::new(Kind::Delete, old), Part::new(Kind::Insert, new)],
    }
}

pub(super) fn common_prefix<T: Eq>(old: &[T], new: &[T]) -> usize {
    old.iter().zip(new).take_while(|(a, b)| a == b).count()
}

pub(super) fn common_suffix<T: Eq>(old: &[T], new: &[T]) -> usize {
    let pairs = old.iter().rev().zip(new.iter().rev());
    pairs.take_while(|(a, b)| a == b).count()
}

/// Furthest point of a search on each diagonal, and the range of diagonals inside the grid.
struct Frontier {
    reached: Vec<isize>,
    first: isize,
    last: isize,
}

impl Frontier {
    fn new(size: isize) -> Self {
        let mut reached = vec![-1; usize::try_from(2 * size + 2).unwrap_or(2)];
        reached[index(size + 1)] = 0;
        Frontier {
            reached,
            first: 0,
            last: 0,
        }
    }
}

fn index(at: isize) -> usize {
    usize::try_from(at).expect("diagonals start at zero once they are shifted by the offset")
}

/// Point in both sequences at which searches from both ends of the edit grid meet, which splits the shortest edit path in
/// two. `None` if the sequences have nothing in common.
fn middle_snake<T: Eq>(old: &[T], new: &[T]) -> Option<(usize, usize)> {
    let (columns, rows) = (old.len().cast_signed(), new.len().cast_signed());
    let size = (columns + rows + 1) / 2;
    let delta = columns - rows;
    // With an odd difference of the lengths, the forward search detects the meeting.
    let forward_meets = delta % 2 != 0;
    let (mut forward, mut backward) = (Frontier::new(size), Frontier::new(size));
    let is_same = |x: isize, y: isize| old[index(x)] == new[index(y)];
    let is_same_from_end =
        |x: isize, y: isize| old[index(columns - x - 1)] == new[index(rows - y - 1)];
    for steps in 0..size {
        let meeting = advance(&mut forward, steps, (columns, rows), is_same, |k, x| {
            let mirror = size + delta - k;
            let other = forward_meets
                .then(|| reached(&backward, mirror, size))
                .flatten()?;
            (x >= columns - other).then_some((x, x - k))
        });
        if let Some((x, y)) = meeting {
            return Some((index(x), index(y)));
        }
        let meeting = advance(
            &mut backward,
            steps,
            (columns, rows),
            is_same_from_end,
            |k, x| {
                let mirror = size + delta - k;
                let other = (!forward_meets)
                    .then(|| reached(&forward, mirror, size))
                    .flatten()?;
                (other >= columns - x).then_some((other, other - (delta - k)))
            },
        );
        if let Some((x, y)) = meeting {
            return Some((index(x), index(y)));
        }
    }
    None
}

fn reached(frontier: &Frontier, at: isize, size: isize) -> Option<isize> {
    let is_inside = (0..2 * size).contains(&at);
    is_inside
        .then(|| frontier.reached[index(at)])
        .filter(|x| *x != -1)
}

/// Advances a search by one step on every diagonal, until `meets` reports the meeting point.
fn advance(
    frontier: &mut Frontier,
    steps: isize,
    (columns, rows): (isize, isize),
    is_same: impl Fn(isize, isize) -> bool,
    meets: impl Fn(isize, isize) -> Option<(isize, isize)>,
) -> Option<(isize, isize)> {
    let size = (columns + rows + 1) / 2;
    let mut k = frontier.first - steps;
    while k <= steps - frontier.last {
        let at = size + k;
        let before = |at: isize| frontier.reached[index(at)];
        let is_down = k == -steps || (k != steps && before(at - 1) < before(at + 1));
        let mut x = if is_down {
            before(at + 1)
        } else {
            before(at - 1) + 1
        };
        let mut y = x - k;
        while x < columns && y < rows && is_same(x, y) {
            x += 1;
            y += 1;
        }
        frontier.reached[index(at)] = x;
        if x > columns {
            frontier.last += 2;
        } else if y > rows {
            frontier.first += 2;
        } else if let Some(meeting) = meets(k, x) {
            return Some(meeting);
        }
        k += 2;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(old: &str, new: &str) -> String {
        let part = |part: &Part<char>| {
            let text: String = part.items.iter().collect();
            match part.kind {
                Kind::Same => format!("={text}"),
                Kind::Insert => format!("+{text}"),
                Kind::Delete => format!("-{text}"),
            }
        };
        let parts: Vec<String> = characters(old, new).iter().map(part).collect();
        parts.join(" ")
    }

    #[test]
    fn characters_that_stay_are_kept() {
        assert_eq!(told("abcdefgh", "abcdxfgh"), "=abcd -e +x =fgh");
        assert_eq!(told("hello world", "hello"), "=hello - world");
        assert_eq!(told("", "x"), "+x");
        assert_eq!(told("same", "same"), "=same");
    }

    #[test]
    fn short_common_text_between_changes_is_not_kept() {
        assert_eq!(told("one", "two"), "+tw =o -ne");
        assert_eq!(told("a12b", "c12d"), "-a12b +c12d");
    }

    #[test]
    fn what_the_parts_say_leads_from_old_to_new() {
        let words = [
            "", "a", "ab", "abcabba", "cbabac", "the cat", "that hat", "xyz", "äöü", "aöa",
        ];
        for old in words {
            for new in words {
                let side = |without: Kind| -> String {
                    let parts = characters(old, new);
                    let kept = parts.into_iter().filter(|part| part.kind != without);
                    kept.flat_map(|part| part.items).collect()
                };
                assert_eq!(side(Kind::Insert), old);
                assert_eq!(side(Kind::Delete), new);
            }
        }
    }

    #[test]
    fn lines_are_compared_as_wholes() {
        assert_eq!(
            lines("a\nb\nc", "a\nx\nc"),
            [
                (Kind::Same, "a\n".to_owned()),
                (Kind::Delete, "b\n".to_owned()),
                (Kind::Insert, "x\n".to_owned()),
                (Kind::Same, "c".to_owned()),
            ]
        );
    }
}
