//! Equality of two values.

use super::Wrappers;
use crate::{
    Archive, ArchiveSource, Asset, Output, PropertyMap, ReferenceId, ResourceReference, Value,
};

/// Whether two values are equal by the rules of [`diff`](super).
pub fn equal(left: &Value, right: &Value, wrappers: Wrappers) -> bool {
    match (wrappers.peel(left), wrappers.peel(right)) {
        (Value::Null, Value::Null) | (Value::Computed(_), Value::Computed(_)) => true,
        (Value::Bool(left), Value::Bool(right)) => left == right,
        (Value::Number(left), Value::Number(right)) => equal_numbers(*left, *right),
        (Value::String(left), Value::String(right)) => left == right,
        (Value::Bytes(left), Value::Bytes(right)) => left == right,
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .zip(right.iter())
                    .all(|(left, right)| equal(left, right, wrappers))
        }
        (Value::Object(left), Value::Object(right)) => equal_maps(left, right, wrappers),
        (Value::Asset(left), Value::Asset(right)) => equal_assets(left, right),
        (Value::Archive(left), Value::Archive(right)) => equal_archives(left, right, wrappers),
        (Value::Secret(left), Value::Secret(right)) => equal(left, right, wrappers),
        (Value::Output(left), Value::Output(right)) => equal_outputs(left, right, wrappers),
        (Value::Resource(left), Value::Resource(right)) => equal_references(left, right),
        (
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Bytes(_)
            | Value::Array(_)
            | Value::Object(_)
            | Value::Asset(_)
            | Value::Archive(_)
            | Value::Secret(_)
            | Value::Computed(_)
            | Value::Output(_)
            | Value::Resource(_),
            _,
        ) => false,
    }
}

/// Whether two maps are equal by the rules of [`diff`](super). Null properties count as absent.
pub fn equal_maps(left: &PropertyMap, right: &PropertyMap, wrappers: Wrappers) -> bool {
    let all_in = |these: &PropertyMap, those: &PropertyMap| {
        these
            .iter()
            .all(|(key, value)| match those.get(key.as_str()) {
                Some(other) => equal(value, other, wrappers),
                None => wrappers.peel(value).is_null(),
            })
    };
    all_in(left, right)
        && right
            .iter()
            .all(|(key, value)| left.contains_key(key.as_str()) || wrappers.peel(value).is_null())
}

#[expect(clippy::float_cmp, reason = "any change of a number is a change")]
fn equal_numbers(left: f64, right: f64) -> bool {
    left == right || (left.is_nan() && right.is_nan())
}

fn equal_outputs(left: &Output, right: &Output, wrappers: Wrappers) -> bool {
    left.secret == right.secret
        && left.dependencies == right.dependencies
        && match (&left.value, &right.value) {
            (None, None) => true,
            (Some(left), Some(right)) => equal(left, right, wrappers),
            (None, Some(_)) | (Some(_), None) => false,
        }
}

fn equal_references(left: &ResourceReference, right: &ResourceReference) -> bool {
    left.urn == right.urn
        && match (&left.id, &right.id) {
            (ReferenceId::Known(left), ReferenceId::Known(right)) => left == right,
            (ReferenceId::None, ReferenceId::None)
            | (ReferenceId::Unknown, ReferenceId::Unknown) => true,
            (ReferenceId::Known(_) | ReferenceId::None | ReferenceId::Unknown, _) => false,
        }
}

/// Whether two assets are equal: by hash, or by source if a hash is missing.
fn equal_assets(left: &Asset, right: &Asset) -> bool {
    if left.hash.is_empty() || right.hash.is_empty() {
        left.source == right.source
    } else {
        left.hash == right.hash
    }
}

/// Whether two archives are equal: by hash, or by source if a hash is missing.
fn equal_archives(left: &Archive, right: &Archive, wrappers: Wrappers) -> bool {
    if !left.hash.is_empty() && !right.hash.is_empty() {
        return left.hash == right.hash;
    }
    match (&left.source, &right.source) {
        (ArchiveSource::Assets(left), ArchiveSource::Assets(right)) => {
            let same_member = |((left_name, left), (right_name, right))| {
                left_name == right_name && equal(left, right, wrappers)
            };
            left.len() == right.len() && left.iter().zip(right).all(same_member)
        }
        (left, right) => left == right,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::AssetSource;

    fn asset(hash: &str, text: &str) -> Value {
        Value::Asset(Arc::new(Asset {
            hash: hash.into(),
            source: AssetSource::Text(text.into()),
        }))
    }

    fn reference(id: ReferenceId, version: &str) -> Value {
        let urn = "urn:pulumi:s::p::t::n".into();
        let reference = ResourceReference {
            urn,
            id,
            name: None,
            type_token: None,
            package_version: version.into(),
        };
        Value::Resource(Arc::new(reference))
    }

    #[track_caller]
    fn check(left: &Value, right: &Value, expected: bool) {
        assert_eq!(equal(left, right, Wrappers::Honour), expected);
        assert_eq!(equal(right, left, Wrappers::Honour), expected);
    }

    #[test]
    fn assets_are_equal_by_hash() {
        check(&asset("aa", "x"), &asset("aa", "y"), true);
        check(&asset("aa", "x"), &asset("bb", "x"), false);
        check(&asset("", "x"), &asset("bb", "x"), true);
        check(&asset("", "x"), &asset("bb", "y"), false);
        let archive = |hash: &str, member: Value| {
            let source = ArchiveSource::Assets([("f".into(), member)].into());
            Value::Archive(Arc::new(Archive {
                hash: hash.into(),
                source,
            }))
        };
        check(
            &archive("cc", asset("aa", "x")),
            &archive("cc", asset("bb", "x")),
            true,
        );
        check(
            &archive("", asset("aa", "x")),
            &archive("cc", asset("aa", "y")),
            true,
        );
        check(
            &archive("", asset("aa", "x")),
            &archive("cc", asset("bb", "x")),
            false,
        );
    }

    #[test]
    fn references_are_equal_by_urn_and_id() {
        let known = |id: &str| ReferenceId::Known(id.into());
        check(
            &reference(known("1"), "1.0.0"),
            &reference(known("1"), "2.0.0"),
            true,
        );
        check(
            &reference(known("1"), ""),
            &reference(known("2"), ""),
            false,
        );
        check(
            &reference(ReferenceId::Unknown, ""),
            &reference(ReferenceId::Unknown, ""),
            true,
        );
        check(
            &reference(ReferenceId::Unknown, ""),
            &reference(ReferenceId::None, ""),
            false,
        );
    }
}
