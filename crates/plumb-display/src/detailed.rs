//! Differences as providers report them: a kind for each path (`engine.md` 1.6).

use std::collections::BTreeMap;

use ecow::EcoString;
use plumb_resource::{DiffKind, PropertyDiff};
use plumb_value::{PropertyKey, PropertyMap, Value};

use crate::diff::{Change, Element, ObjectDiff, ValueDiff, diff_values};

/// The three maps that a path may be looked up in.
#[derive(Clone, Copy)]
pub(crate) struct Sides<'a> {
    pub(crate) old_inputs: &'a PropertyMap,
    pub(crate) old_outputs: &'a PropertyMap,
    pub(crate) new: &'a PropertyMap,
}

/// One step of a property path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Segment {
    Index(usize),
    Key(EcoString),
}

#[derive(Default)]
struct Node {
    change: Option<Change>,
    children: BTreeMap<Segment, Node>,
}

/// The reported differences with the values that they are about; paths that lead nowhere are left out.
pub(crate) fn translate(
    reported: &BTreeMap<EcoString, PropertyDiff>,
    sides: Sides<'_>,
) -> ObjectDiff {
    let mut root = Node::default();
    for (path, difference) in reported {
        let segments = parse_path(path);
        if matches!(segments.first(), Some(Segment::Key(key)) if key.starts_with("__")) {
            continue;
        }
        let old_side = if difference.input_diff {
            sides.old_inputs
        } else {
            sides.old_outputs
        };
        let old = lookup(old_side, &segments).or_else(|| lookup(sides.old_inputs, &segments));
        let new = lookup(sides.new, &segments);
        let Some(change) = change_of(difference.kind, old, new) else {
            continue;
        };
        let node = segments.into_iter().fold(&mut root, |node, segment| {
            node.children.entry(segment).or_default()
        });
        node.change = Some(change);
    }
    object_of(root.children)
}

fn change_of(kind: DiffKind, old: Option<&Value>, new: Option<&Value>) -> Option<Change> {
    let wanted_old = !matches!(kind, DiffKind::Add | DiffKind::AddReplace);
    let wanted_new = !matches!(kind, DiffKind::Delete | DiffKind::DeleteReplace);
    match (old.filter(|_| wanted_old), new.filter(|_| wanted_new)) {
        (Some(old), Some(new)) => Some(match diff_values(old, new) {
            Change::Same(value) => Change::Update(ValueDiff::Plain {
                old: value.clone(),
                new: value,
            }),
            change => change,
        }),
        (Some(old), None) => Some(Change::Delete(old.clone())),
        (None, Some(new)) => Some(Change::Add(new.clone())),
        (None, None) => None,
    }
}

fn object_of(children: BTreeMap<Segment, Node>) -> ObjectDiff {
    let named = children.into_iter().filter_map(|(segment, node)| {
        let key = match segment {
            Segment::Key(key) => PropertyKey::from(key),
            Segment::Index(idx) => PropertyKey::from(idx.to_string()),
        };
        Some((key, change_in(node)?))
    });
    ObjectDiff(named.collect())
}

fn change_in(node: Node) -> Option<Change> {
    if let Some(change) = node.change {
        return Some(change);
    }
    let indexed = node
        .children
        .keys()
        .all(|segment| matches!(segment, Segment::Index(_)));
    if !indexed {
        return Some(Change::Update(ValueDiff::Object(object_of(node.children))));
    }
    let elements: Vec<Element> = node
        .children
        .into_iter()
        .filter_map(|(segment, child)| match segment {
            Segment::Index(index) => Some(Element {
                index,
                moved_from: None,
                change: change_in(child)?,
            }),
            Segment::Key(_) => None,
        })
        .collect();
    (!elements.is_empty()).then_some(Change::Update(ValueDiff::Array(elements)))
}

fn lookup<'a>(map: &'a PropertyMap, path: &[Segment]) -> Option<&'a Value> {
    let (first, rest) = path.split_first()?;
    let Segment::Key(key) = first else {
        return None;
    };
    rest.iter()
        .try_fold(map.get(key)?, |value, segment| match (value, segment) {
            (Value::Object(map), Segment::Key(key)) => map.get(key),
            (Value::Array(values), Segment::Index(idx)) => values.get(*idx),
            // A secret or an unknown on the way hides what is inside it.
            (Value::Secret(_) | Value::Computed(_), _) => Some(value),
            _ => None,
        })
}

/// `a.b[0]["c.d"]`; what cannot be parsed is one key.
fn parse_path(path: &str) -> Vec<Segment> {
    let mut segments = Vec::new();
    let mut rest = path;
    while !rest.is_empty() {
        if let Some(inner) = rest.strip_prefix("[\"") {
            let Some(end) = find_closing_quote(inner) else {
                return vec![Segment::Key(path.into())];
            };
            segments.push(Segment::Key(inner[..end].replace("\\\"", "\"").into()));
            rest = &inner[end + 2..];
        } else if let Some(inner) = rest.strip_prefix('[') {
            let Some(end) = inner.find(']') else {
                return vec![Segment::Key(path.into())];
            };
            segments.push(match inner[..end].parse() {
                Ok(idx) => Segment::Index(idx),
                Err(_) => Segment::Key(inner[..end].into()),
            });
            rest = &inner[end + 1..];
        } else {
            let name = rest.strip_prefix('.').unwrap_or(rest);
            let end = name.find(['.', '[']).unwrap_or(name.len());
            segments.push(Segment::Key(name[..end].into()));
            rest = &name[end..];
        }
    }
    segments
}

/// Offset of the quote that is followed by a bracket.
fn find_closing_quote(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    (0..bytes.len().saturating_sub(1)).find(|&at| {
        bytes[at] == b'"' && bytes[at + 1] == b']' && (at == 0 || bytes[at - 1] != b'\\')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_have_keys_indices_and_quoted_keys() {
        let key = |text: &str| Segment::Key(text.into());
        assert_eq!(
            parse_path("a.b[0].c"),
            [key("a"), key("b"), Segment::Index(0), key("c")]
        );
        assert_eq!(
            parse_path(r#"a["x.y"][1]"#),
            [key("a"), key("x.y"), Segment::Index(1)]
        );
        assert_eq!(parse_path(r#"a["x"#), [key(r#"a["x"#)]);
    }

    #[test]
    fn a_path_on_both_sides_makes_a_nested_update() {
        let map =
            |value: &str| PropertyMap::new().with("env", PropertyMap::new().with("NAME", value));
        let reported = BTreeMap::from([(
            "env.NAME".into(),
            PropertyDiff {
                kind: DiffKind::Update,
                input_diff: false,
            },
        )]);
        let (old, new) = (map("a"), map("b"));
        let difference = translate(
            &reported,
            Sides {
                old_inputs: &old,
                old_outputs: &old,
                new: &new,
            },
        );
        let Some(Change::Update(ValueDiff::Object(inner))) = difference.0.get("env") else {
            panic!("{difference:?}");
        };
        assert_eq!(
            inner.0.get("NAME"),
            Some(&Change::Update(ValueDiff::Plain {
                old: "a".into(),
                new: "b".into()
            }))
        );
    }
}
