//! Attachment of comments to entries.
//!
//! Entries of block collections are numbered in text order (parents before children). Each comment is attached to one
//! of them, or to the document:
//!
//! 1. A comment after other text on its line belongs to the last entry that starts on or above that line.
//! 2. Comment lines inside a flow collection belong to the head of the entry that contains it.
//! 3. Other comment lines form groups without blank lines in between. A group directly below an entry, and followed
//!    by a blank line, a smaller indentation or the end, is the foot of the entry at its indentation. A group
//!    separated from the first entry by a blank line is the head of the document, and one separated from the last
//!    entry its foot. All other groups are the head of the following entry.

use std::collections::HashMap;

use super::node::{Comments, Data, Document, Layout, Node, Position};

/// A comment with its position.
pub(super) struct FoundComment {
    pub(super) position: Position,
    /// Text, including the `#`.
    pub(super) text: String,
    /// Whether the line contains only the comment.
    pub(super) own_line: bool,
}

/// Last lines of scalars and flow collections, by start position.
type Ends = HashMap<Position, usize>;

struct Slot {
    line: usize,
    column: usize,
    parent: Option<usize>,
    /// Last line of a scalar or a flow collection.
    leaf_end: Option<usize>,
    comments: Comments,
}

/// Whether a line is blank or contains only a comment.
pub(super) fn is_not_content(line: &str) -> bool {
    let line = line.trim();
    line.is_empty() || line.starts_with('#')
}

/// Attaches the comments `found` to the entries of `document`.
pub(super) fn attach(
    document: &mut Document,
    found: &[FoundComment],
    lines: &[&str],
    ends: &[(Position, usize)],
) {
    if found.is_empty() {
        return;
    }
    let mut slots = Vec::new();
    if let Some(root) = &document.root {
        let ends = ends.iter().copied().collect();
        number(root, None, &ends, &mut slots);
    }
    for comment in found.iter().filter(|comment| !comment.own_line) {
        match slots
            .iter_mut()
            .rev()
            .find(|slot| slot.line <= comment.position.line)
        {
            Some(slot) => add_line_comment(&mut slot.comments, &comment.text),
            None => document.foot.push(comment.text.clone()),
        }
    }
    for group in groups(found) {
        place(document, &mut slots, group, lines);
    }
    if let Some(root) = &mut document.root {
        apply(root, &mut slots.into_iter().map(|slot| slot.comments));
    }
}

fn add_line_comment(comments: &mut Comments, text: &str) {
    match &mut comments.line {
        Some(line) => {
            line.push(' ');
            line.push_str(text);
        }
        none => *none = Some(text.to_owned()),
    }
}

fn number(node: &Node, parent: Option<usize>, ends: &Ends, slots: &mut Vec<Slot>) {
    let mut add = |start: Position, column: usize, value: &Node| {
        let leaf_end = ends
            .get(&value.position)
            .copied()
            .filter(|_| is_leaf(value));
        slots.push(Slot {
            line: start.line,
            column,
            parent,
            leaf_end,
            comments: Comments::default(),
        });
        let index = slots.len() - 1;
        number(value, Some(index), ends, slots);
    };
    match &node.data {
        Data::Mapping(mapping) if mapping.layout == Layout::Block => {
            for (key, item) in &mapping.entries {
                add(key.position, key.position.column, &item.value);
            }
        }
        Data::Sequence(sequence) if sequence.layout == Layout::Block => {
            for item in &sequence.items {
                add(item.value.position, node.position.column, &item.value);
            }
        }
        Data::Mapping(_) | Data::Sequence(_) | Data::Scalar(_) | Data::Alias(_) => {}
    }
}

fn is_leaf(node: &Node) -> bool {
    match &node.data {
        Data::Mapping(mapping) => mapping.layout == Layout::Flow,
        Data::Sequence(sequence) => sequence.layout == Layout::Flow,
        Data::Scalar(_) | Data::Alias(_) => true,
    }
}

fn apply(node: &mut Node, comments: &mut impl Iterator<Item = Comments>) {
    match &mut node.data {
        Data::Mapping(mapping) if mapping.layout == Layout::Block => {
            for (_, item) in &mut mapping.entries {
                item.comments = comments.next().unwrap_or_default();
                apply(&mut item.value, comments);
            }
        }
        Data::Sequence(sequence) if sequence.layout == Layout::Block => {
            for item in &mut sequence.items {
                item.comments = comments.next().unwrap_or_default();
                apply(&mut item.value, comments);
            }
        }
        Data::Mapping(_) | Data::Sequence(_) | Data::Scalar(_) | Data::Alias(_) => {}
    }
}

/// Groups of consecutive comment lines.
fn groups(found: &[FoundComment]) -> Vec<&[FoundComment]> {
    found
        .chunk_by(|a, b| a.own_line && b.own_line && b.position.line == a.position.line + 1)
        .filter(|group| group[0].own_line)
        .collect()
}

fn place(document: &mut Document, slots: &mut [Slot], group: &[FoundComment], lines: &[&str]) {
    let (Some(first), Some(last)) = (group.first(), group.last()) else {
        return;
    };
    let first_line = first.position.line;
    let next_line = last.position.line + 1;
    let inside =
        |slot: &Slot| slot.line < first_line && slot.leaf_end.is_some_and(|end| end >= first_line);
    if let Some(slot) = slots.iter_mut().rev().find(|slot| inside(slot)) {
        return extend(&mut slot.comments.head, group);
    }
    let next = slots.iter().position(|slot| slot.line > first_line);
    let previous = match next {
        Some(next) => next.checked_sub(1),
        None => slots.len().checked_sub(1),
    };
    let line = |number: usize| lines.get(number - 1).map_or("", |line| line.trim());
    let after_content =
        first_line > 1 && !is_not_content(line(first_line - 1)) && line(first_line - 1) != "---";
    let blank_after = line(next_line).is_empty();
    match (previous, next) {
        (None, None) => extend(&mut document.head, group),
        (None, Some(next)) if blank_after || line(next_line) == "---" => {
            let _ = next;
            extend(&mut document.head, group);
        }
        (Some(previous), None) if after_content => feet(slots, previous, group),
        (Some(_), None) => extend(&mut document.foot, group),
        (Some(previous), Some(next)) if after_content => {
            let deeper = group
                .iter()
                .take_while(|comment| comment.position.column > slots[next].column)
                .count();
            let (feet_part, rest) = if blank_after {
                (group, &group[..0])
            } else {
                group.split_at(deeper)
            };
            feet(slots, previous, feet_part);
            extend(&mut slots[next].comments.head, rest);
        }
        (_, Some(next)) => extend(&mut slots[next].comments.head, group),
    }
}

/// Attaches each line to the deepest ancestor of `previous`, or `previous` itself, that is not indented more than the
/// line.
fn feet(slots: &mut [Slot], previous: usize, group: &[FoundComment]) {
    for comment in group {
        let mut index = previous;
        while let Some(parent) = slots[index]
            .parent
            .filter(|_| slots[index].column > comment.position.column)
        {
            index = parent;
        }
        slots[index].comments.foot.push(comment.text.clone());
    }
}

fn extend(lines: &mut Vec<String>, group: &[FoundComment]) {
    if group.is_empty() {
        return;
    }
    if !lines.is_empty() {
        lines.push(String::new());
    }
    lines.extend(group.iter().map(|comment| comment.text.clone()));
}
