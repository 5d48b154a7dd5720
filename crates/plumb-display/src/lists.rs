//! Differences between two lists: by index, or with inserted, deleted and moved elements if that takes fewer changes.

use plumb_value::Value;
use plumb_value::path::PropertyPath;

use crate::diff::{Change, Comparison, Element, ValueDiff};

/// Maximum product of the lengths; longer lists are compared by index.
const MOST_PAIRS: usize = 250_000;

/// Difference between `old` and `new`.
pub(crate) fn diff_lists(
    comparison: &Comparison<'_>,
    old: &[Value],
    new: &[Value],
    at: &PropertyPath,
) -> Vec<Element> {
    let by_place = by_place(comparison, old, new, at);
    if !comparison.aligns_lists || old.len() * new.len() > MOST_PAIRS {
        return by_place;
    }
    let aligned = aligned(old, new);
    if count_changes(&aligned) < count_changes(&by_place) {
        aligned
    } else {
        by_place
    }
}

fn count_changes(elements: &[Element]) -> usize {
    let is_change =
        |it: &&Element| it.moved_from.is_some() || !matches!(it.change, Change::Same(_));
    elements.iter().filter(is_change).count()
}

fn by_place(
    comparison: &Comparison<'_>,
    old: &[Value],
    new: &[Value],
    at: &PropertyPath,
) -> Vec<Element> {
    (0..old.len().max(new.len()))
        .filter_map(|index| {
            let change = match (old.get(index), new.get(index)) {
                (Some(old), Some(new)) => {
                    element_change(comparison, old, new, at.join_index(index))
                }
                (Some(old), None) => Change::Delete(old.clone()),
                (None, Some(new)) => Change::Add(new.clone()),
                (None, None) => return None,
            };
            Some(element(index, change))
        })
        .collect()
}

/// Change of an element. Null is an element too, so a change to null is an update.
fn element_change(
    comparison: &Comparison<'_>,
    old: &Value,
    new: &Value,
    at: PropertyPath,
) -> Change {
    match comparison.values_at(old, new, &at) {
        Change::Add(_) | Change::Delete(_) => Change::Update(ValueDiff::Plain {
            old: old.clone(),
            new: new.clone(),
        }),
        change => change,
    }
}

fn element(index: usize, change: Change) -> Element {
    Element {
        index,
        moved_from: None,
        change,
    }
}

/// Aligns lists by their longest common subsequence; equal elements outside of it are moves.
fn aligned(old: &[Value], new: &[Value]) -> Vec<Element> {
    let kept = common(old, new);
    let mut gone: Vec<usize> = (0..old.len())
        .filter(|at| !kept.iter().any(|(from, _)| from == at))
        .collect();
    let mut elements = Vec::new();
    for (index, value) in new.iter().enumerate() {
        if kept.iter().any(|(_, to)| *to == index) {
            elements.push(element(index, Change::Same(value.clone())));
        } else if let Some(nth) = gone.iter().position(|from| old[*from] == *value) {
            elements.push(Element {
                index,
                moved_from: Some(gone.remove(nth)),
                change: Change::Same(value.clone()),
            });
        } else {
            elements.push(element(index, Change::Add(value.clone())));
        }
    }
    for from in gone {
        let before = |it: &Element| it.index < from && !matches!(it.change, Change::Delete(_));
        let place = elements.iter().take_while(|it| before(it)).count();
        elements.insert(place, element(from, Change::Delete(old[from].clone())));
    }
    elements
}

/// Longest common subsequence, as pairs of indices.
fn common(old: &[Value], new: &[Value]) -> Vec<(usize, usize)> {
    let mut longest = vec![vec![0_u32; new.len() + 1]; old.len() + 1];
    for (i, left) in old.iter().enumerate().rev() {
        for (j, right) in new.iter().enumerate().rev() {
            longest[i][j] = if left == right {
                longest[i + 1][j + 1] + 1
            } else {
                longest[i + 1][j].max(longest[i][j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut pairs = Vec::new();
    while i < old.len() && j < new.len() {
        if old[i] == new[j] {
            pairs.push((i, j));
            (i, j) = (i + 1, j + 1);
        } else if longest[i + 1][j] >= longest[i][j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(old: &str, new: &str) -> String {
        let values = |text: &str| -> Vec<Value> {
            text.chars().map(|it| Value::from(it.to_string())).collect()
        };
        let comparison = Comparison {
            aligns_lists: true,
            ..Comparison::default()
        };
        let elements = diff_lists(
            &comparison,
            &values(old),
            &values(new),
            &PropertyPath::default(),
        );
        let word = |it: &Element| match (&it.change, it.moved_from) {
            (_, Some(from)) => format!("{from}>{}", it.index),
            (Change::Same(_), None) => format!("={}", it.index),
            (Change::Add(_), None) => format!("+{}", it.index),
            (Change::Delete(_), None) => format!("-{}", it.index),
            (Change::Update(_), None) => format!("~{}", it.index),
        };
        elements.iter().map(word).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn what_came_and_went_does_not_change_what_stands_behind_it() {
        assert_eq!(told("abc", "abc"), "=0 =1 =2");
        assert_eq!(told("abc", "axc"), "=0 ~1 =2");
        assert_eq!(told("abc", "xabc"), "+0 =1 =2 =3");
        assert_eq!(told("abc", "bc"), "-0 =0 =1");
        assert_eq!(told("abc", "ab"), "=0 =1 -2");
    }

    #[test]
    fn elements_that_change_places_have_moved() {
        assert_eq!(told("abcd", "dabc"), "3>0 =1 =2 =3");
        assert_eq!(told("abcd", "bcda").matches('>').count(), 1);
    }
}
