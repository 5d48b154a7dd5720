//! Simplification of differences.

use super::{Kind, Part, common_prefix, common_suffix};

/// Cost of an edit, in bytes: shorter equal texts can be given up for fewer parts.
const EDIT_COST: usize = 4;

/// Merges adjacent parts of the same kind, moves the common prefix and suffix of a deletion and an insertion into the equal
/// text around them, and shifts single edits to join equal parts.
pub(super) fn merge<T: Copy + Eq>(mut parts: Vec<Part<T>>) -> Vec<Part<T>> {
    loop {
        parts = join(parts);
        if !shift(&mut parts) {
            return parts;
        }
    }
}

/// Merges edits, so that there is at most one deletion and one insertion between two equal parts.
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

/// Moves the common prefix of both edits into the equal part before them, and the common suffix into the one after them.
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

/// Shifts single edits over the equal part before or after them if that removes the part: equal `A`, inserted `BA`, equal
/// `C` becomes inserted `AB`, equal `AC`. Returns whether any edit was shifted.
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

/// Kinds of edits on one side of an equal part.
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

/// Converts equal parts to a deletion and an insertion if they are too short to justify the additional parts around them.
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
                // Earlier parts are not affected.
                behind = Edits {
                    inserts: true,
                    deletes: true,
                };
                candidates.clear();
            } else {
                // The part before the split may now be worth splitting too, so continue after the previous candidate.
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
