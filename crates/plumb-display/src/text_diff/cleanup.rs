//! Tidies the parts of a difference.

use super::{Kind, Part, common_prefix, common_suffix};

/// Equal text shorter than this, in bytes, may be given up for fewer parts.
const EDIT_COST: usize = 4;

/// Merges neighbouring parts of a kind, moves what deletions and insertions have in common into the equal text around them,
/// and shifts single edits so that equal parts meet.
pub(super) fn merge<T: Copy + Eq>(mut parts: Vec<Part<T>>) -> Vec<Part<T>> {
    loop {
        parts = join(parts);
        if !shift(&mut parts) {
            return parts;
        }
    }
}

/// One deletion and one insertion at most between two equal parts.
fn join<T: Copy + Eq>(parts: Vec<Part<T>>) -> Vec<Part<T>> {
    let mut joined: Vec<Part<T>> = Vec::new();
    let (mut deleted, mut inserted) = (Vec::new(), Vec::new());
    let mut edits = 0;
    let closing = Part {
        kind: Kind::Same,
        items: Vec::new(),
    };
    for mut part in parts.into_iter().chain([closing]) {
        match part.kind {
            Kind::Delete => {
                deleted.extend(part.items);
                edits += 1;
            }
            Kind::Insert => {
                inserted.extend(part.items);
                edits += 1;
            }
            Kind::Same => {
                if edits > 1 && !deleted.is_empty() && !inserted.is_empty() {
                    factor_out(&mut joined, &mut deleted, &mut inserted, &mut part);
                }
                flush(&mut joined, &mut deleted, &mut inserted);
                edits = 0;
                match joined.last_mut().filter(|last| last.kind == Kind::Same) {
                    Some(last) => last.items.extend(part.items),
                    None => joined.push(part),
                }
            }
        }
    }
    if joined.last().is_some_and(|last| last.items.is_empty()) {
        joined.pop();
    }
    joined
}

/// Gives the common beginning of both edits to the equal part before them, and the common end to the one behind.
fn factor_out<T: Copy + Eq>(
    joined: &mut Vec<Part<T>>,
    deleted: &mut Vec<T>,
    inserted: &mut Vec<T>,
    next: &mut Part<T>,
) {
    let prefix = common_prefix(inserted, deleted);
    if prefix > 0 {
        match joined.last_mut().filter(|last| last.kind == Kind::Same) {
            Some(last) => last.items.extend_from_slice(&inserted[..prefix]),
            None => joined.push(Part::new(Kind::Same, &inserted[..prefix])),
        }
        inserted.drain(..prefix);
        deleted.drain(..prefix);
    }
    let suffix = common_suffix(inserted, deleted);
    if suffix > 0 {
        let common = inserted.split_off(inserted.len() - suffix);
        deleted.truncate(deleted.len() - suffix);
        next.items.splice(..0, common);
    }
}

fn flush<T: Copy>(joined: &mut Vec<Part<T>>, deleted: &mut Vec<T>, inserted: &mut Vec<T>) {
    for (kind, items) in [(Kind::Delete, deleted), (Kind::Insert, inserted)] {
        if !items.is_empty() {
            joined.push(Part {
                kind,
                items: std::mem::take(items),
            });
        }
    }
}

/// Shifts single edits over the equal part before or behind them where that removes the part: of `A`, inserted `BA`, `C`
/// become inserted `AB` and `AC`. Says whether any was shifted.
fn shift<T: Copy + Eq>(parts: &mut Vec<Part<T>>) -> bool {
    let mut shifted = false;
    let mut at = 1;
    while at + 1 < parts.len() {
        if parts[at - 1].kind == Kind::Same && parts[at + 1].kind == Kind::Same {
            let (before, behind) = (parts[at - 1].items.clone(), parts[at + 1].items.clone());
            let edit = &mut parts[at].items;
            if edit.ends_with(&before) {
                edit.truncate(edit.len() - before.len());
                edit.splice(..0, before.iter().copied());
                parts[at + 1].items.splice(..0, before);
                parts.remove(at - 1);
                shifted = true;
            } else if edit.starts_with(&behind) {
                edit.drain(..behind.len());
                edit.extend_from_slice(&behind);
                parts[at - 1].items.extend(behind);
                parts.remove(at + 1);
                shifted = true;
            }
        }
        at += 1;
    }
    shifted
}

/// Which kinds of edits stand on one side of an equal part.
#[derive(Clone, Copy, Default)]
struct Edits {
    inserts: bool,
    deletes: bool,
}

impl Edits {
    fn any(self) -> bool {
        self.inserts || self.deletes
    }

    fn count(self) -> usize {
        usize::from(self.inserts) + usize::from(self.deletes)
    }
}

/// Turns equal parts into a deletion and an insertion where they are too short to be worth the two parts around them.
pub(crate) fn efficient(mut parts: Vec<Part<char>>) -> Vec<Part<char>> {
    let mut candidates: Vec<usize> = Vec::new();
    let mut last: Vec<char> = Vec::new();
    let (mut before, mut behind) = (Edits::default(), Edits::default());
    let mut changed = false;
    let mut at = 0;
    while at < parts.len() {
        if parts[at].kind == Kind::Same {
            if bytes(&parts[at].items) < EDIT_COST && behind.any() {
                candidates.push(at);
                before = behind;
                last.clone_from(&parts[at].items);
            } else {
                candidates.clear();
                last.clear();
            }
            behind = Edits::default();
            at += 1;
            continue;
        }
        if parts[at].kind == Kind::Delete {
            behind.deletes = true;
        } else {
            behind.inserts = true;
        }
        let edits = before.count() + behind.count();
        let is_costly = edits == 4 || (bytes(&last) < EDIT_COST / 2 && edits == 3);
        if let Some(split) = candidates
            .last()
            .copied()
            .filter(|_| !last.is_empty() && is_costly)
        {
            parts[split].kind = Kind::Insert;
            parts.insert(split, Part::new(Kind::Delete, &last));
            candidates.pop();
            last.clear();
            changed = true;
            if before.count() == 2 {
                // Nothing before the split can be affected.
                behind = Edits {
                    inserts: true,
                    deletes: true,
                };
                candidates.clear();
            } else {
                // The part before the split may have become worth splitting: look again from the candidate before it.
                candidates.pop();
                behind = Edits::default();
                at = candidates.last().map_or(0, |idx| idx + 1);
                continue;
            }
        }
        at += 1;
    }
    if changed { merge(parts) } else { parts }
}

fn bytes(items: &[char]) -> usize {
    items.iter().map(|item| item.len_utf8()).sum()
}
