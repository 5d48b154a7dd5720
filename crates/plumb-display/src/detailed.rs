//! Detailed diffs from providers: a kind for each path (`engine.md` 1.6).
//!
//! 1. Each path is followed through the old and the new properties. Secrets and unknown values hide their contents, so
//!    they represent everything below them.
//! 2. If only one side has a value on the path, that value was added or deleted as a whole.
//! 3. At the end of the path, the reported kind decides: an addition shows the new value, a deletion the old one. A value
//!    missing on both sides is unknown.

use std::collections::BTreeMap;

use ecow::EcoString;
use plumb_resource::{DiffKind, PropertyDiff};
use plumb_value::path::{PathSegment, PropertyPath};
use plumb_value::{PropertyMap, Value};

use crate::diff::{Change, Comparison, Element, ObjectDiff, ValueDiff};

/// Property maps in which paths are resolved.
#[derive(Clone, Copy)]
pub(crate) struct Sides<'a> {
    pub(crate) old_inputs: &'a PropertyMap,
    pub(crate) old_outputs: &'a PropertyMap,
    pub(crate) new_inputs: &'a PropertyMap,
    /// New side of differences that do not concern inputs.
    pub(crate) new_outputs: &'a PropertyMap,
}

/// Reported differences with their values; `None` if there are none to show.
pub(crate) fn translate(
    reported: &BTreeMap<EcoString, PropertyDiff>,
    sides: Sides<'_>,
    comparison: &Comparison<'_>,
) -> Option<ObjectDiff> {
    let mut root = None;
    for (text, difference) in reported {
        let path = PropertyPath::parse(text)
            .unwrap_or_else(|_| PropertyPath::new([PathSegment::Key(text.clone())]));
        if comparison.hides(&path) {
            continue;
        }
        let (old, new) = if difference.input_diff {
            (sides.old_inputs, sides.new_inputs)
        } else {
            (sides.old_outputs, sides.new_outputs)
        };
        let (old, new) = (Value::from(old.clone()), Value::from(new.clone()));
        let walk = Walk {
            kind: difference.kind,
            comparison,
        };
        root = walk.note(path.segments(), root, (Some(&old), Some(&new)));
    }
    match root {
        Some(ValueDiff::Object(object)) => Some(object),
        Some(ValueDiff::Array(_) | ValueDiff::Plain { .. }) | None => None,
    }
}

/// A reported difference while its path is followed.
#[derive(Clone, Copy)]
struct Walk<'a> {
    kind: DiffKind,
    comparison: &'a Comparison<'a>,
}

type Pair<'v> = (Option<&'v Value>, Option<&'v Value>);

impl Walk<'_> {
    /// Adds the difference at the end of the path to the known differences of the surrounding values.
    fn note(
        self,
        path: &[PathSegment],
        known: Option<ValueDiff>,
        parents: Pair<'_>,
    ) -> Option<ValueDiff> {
        let Some((segment, rest)) = path.split_first() else {
            return known;
        };
        let values = (
            parents.0.and_then(|parent| member(parent, segment)),
            parents.1.and_then(|parent| member(parent, segment)),
        );
        match segment {
            PathSegment::Index(index) => {
                let mut elements = match known {
                    Some(ValueDiff::Array(elements)) => elements,
                    Some(ValueDiff::Object(_) | ValueDiff::Plain { .. }) | None => Vec::new(),
                };
                let place = elements.binary_search_by_key(index, |it| it.index);
                let before = place.ok().map(|at| elements.remove(at).change);
                let change = self.change(rest, before, values);
                let at = place.unwrap_or_else(|at| at);
                let element = Element {
                    index: *index,
                    moved_from: None,
                    change,
                };
                elements.insert(at, element);
                Some(ValueDiff::Array(elements))
            }
            PathSegment::Key(_) | PathSegment::Wildcard => {
                let mut object = match known {
                    Some(ValueDiff::Object(object)) => object,
                    Some(ValueDiff::Array(_) | ValueDiff::Plain { .. }) | None => {
                        ObjectDiff::default()
                    }
                };
                let key = key_of(segment);
                let before = object.0.remove(key);
                object
                    .0
                    .insert(key.into(), self.change(rest, before, values));
                Some(ValueDiff::Object(object))
            }
        }
    }

    fn change(self, rest: &[PathSegment], before: Option<Change>, (old, new): Pair<'_>) -> Change {
        if rest.is_empty() {
            return self.leaf(old, new);
        }
        let is_there = |value: Option<&Value>| value.is_some_and(|it| !it.is_null());
        match (old, new) {
            (_, Some(added)) if !is_there(old) && is_there(new) => Change::Add(added.clone()),
            (Some(gone), _) if is_there(old) && !is_there(new) => Change::Delete(gone.clone()),
            _ => {
                let known = match before {
                    Some(Change::Update(difference)) => Some(difference),
                    Some(other @ (Change::Add(_) | Change::Delete(_))) => return other,
                    Some(Change::Same(_)) | None => None,
                };
                let noted = self.note(rest, known, (old, new));
                noted.map_or_else(|| self.leaf(old, new), Change::Update)
            }
        }
    }

    fn leaf(self, old: Option<&Value>, new: Option<&Value>) -> Change {
        let unknown = |value: Option<&Value>| value.cloned().unwrap_or(Value::UNKNOWN);
        match self.kind {
            DiffKind::Add | DiffKind::AddReplace => Change::Add(unknown(new)),
            DiffKind::Delete | DiffKind::DeleteReplace => Change::Delete(unknown(old)),
            DiffKind::Update | DiffKind::UpdateReplace => {
                let plain = |value: Option<&Value>| value.cloned().unwrap_or(Value::Null);
                let (old, new) = (plain(old), plain(new));
                match self.comparison.values(&old, &new) {
                    Change::Update(difference) => Change::Update(difference),
                    // The provider reports a difference, although none is visible.
                    Change::Same(_) | Change::Add(_) | Change::Delete(_) => {
                        Change::Update(ValueDiff::Plain { old, new })
                    }
                }
            }
        }
    }
}

fn key_of(segment: &PathSegment) -> &str {
    match segment {
        PathSegment::Key(key) => key,
        PathSegment::Wildcard | PathSegment::Index(_) => "*",
    }
}

fn member<'v>(value: &'v Value, segment: &PathSegment) -> Option<&'v Value> {
    match (value, segment) {
        (Value::Object(map), PathSegment::Key(_) | PathSegment::Wildcard) => {
            map.get(key_of(segment))
        }
        (Value::Array(values), PathSegment::Index(idx)) => values.get(*idx),
        (Value::Secret(_) | Value::Computed(_) | Value::Output(_), _) => Some(value),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(path: &str, kind: DiffKind, old: &PropertyMap, new: &PropertyMap) -> ObjectDiff {
        let difference = PropertyDiff {
            kind,
            input_diff: false,
        };
        let sides = Sides {
            old_inputs: old,
            old_outputs: old,
            new_inputs: new,
            new_outputs: new,
        };
        let reported = BTreeMap::from([(path.into(), difference)]);
        translate(&reported, sides, &Comparison::default()).unwrap()
    }

    #[test]
    fn a_path_on_both_sides_makes_a_nested_update() {
        let map =
            |value: &str| PropertyMap::new().with("env", PropertyMap::new().with("NAME", value));
        let difference = told("env.NAME", DiffKind::Update, &map("a"), &map("b"));
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

    #[test]
    fn a_path_below_something_new_adds_all_of_it() {
        let new = PropertyMap::new().with("env", PropertyMap::new().with("NAME", "x"));
        let difference = told("env.NAME", DiffKind::Add, &PropertyMap::new(), &new);
        let env = Value::from(PropertyMap::new().with("NAME", "x"));
        assert_eq!(difference.0.get("env"), Some(&Change::Add(env)));
    }

    #[test]
    fn a_value_that_nobody_has_is_unknown() {
        let none = PropertyMap::new();
        let difference = told("a", DiffKind::Add, &none, &none);
        assert_eq!(difference.0.get("a"), Some(&Change::Add(Value::UNKNOWN)));
    }
}
