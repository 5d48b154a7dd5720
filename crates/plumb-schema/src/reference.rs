//! The grammar of `$ref` (`schema.md` 5.1).

use crate::types::{Primitive, TypeKind};

/// What a `$ref` points to.
#[derive(Clone, Debug, PartialEq)]
pub struct Reference {
    /// Another package, if it is not this one.
    pub package: Option<ExternalPackage>,
    /// Which kind of member.
    pub section: Section,
    /// Token of the member.
    pub token: String,
    /// For tokens that are defined nowhere: the type of the values.
    pub underlying: Option<Primitive>,
}

/// A package that a schema refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExternalPackage {
    /// Name.
    pub name: String,
    /// Version as written, without the `v`.
    pub version: String,
}

/// Sections that references may point into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    /// An object or enum.
    Type,
    /// A resource.
    Resource,
    /// The package's provider resource.
    Provider,
}

/// The type that `text` refers to from within `package`.
pub(crate) fn parse(text: &str, package: &str, underlying: Option<Primitive>) -> TypeKind {
    match text {
        "pulumi.json#/Any" => return TypeKind::Any,
        "pulumi.json#/Archive" => return TypeKind::Archive,
        "pulumi.json#/Asset" => return TypeKind::Asset,
        "pulumi.json#/Json" => return TypeKind::Json,
        _ => {}
    }
    let Some((path, fragment)) = text.split_once('#') else {
        return TypeKind::Invalid;
    };
    let external = match external_package(&percent_decode(path)) {
        Ok(external) => external.filter(|external| external.name != package),
        Err(()) => return TypeKind::Invalid,
    };
    let fragment = percent_decode(fragment);
    let fragment = fragment.trim_start_matches('/');
    let owner = external
        .as_ref()
        .map_or(package, |external| external.name.as_str());
    let (section, token) = match fragment.split_once('/') {
        None if fragment == "provider" => (Section::Provider, format!("pulumi:providers:{owner}")),
        Some(("types", token)) => (Section::Type, token.to_owned()),
        Some(("resources", token)) if token.starts_with("pulumi:providers:") => {
            (Section::Provider, token.to_owned())
        }
        Some(("resources", token)) => (Section::Resource, token.to_owned()),
        _ => return TypeKind::Invalid,
    };
    TypeKind::Reference(Reference {
        package: external,
        section,
        token,
        underlying,
    })
}

/// `/<package>/v<version>/schema.json`, or nothing.
fn external_package(path: &str) -> Result<Option<ExternalPackage>, ()> {
    if path.is_empty() {
        return Ok(None);
    }
    let mut parts = path.trim_start_matches('/').split('/');
    match (parts.next(), parts.next(), parts.next(), parts.next()) {
        (Some(name), Some(version), Some("schema.json"), None) if version.starts_with('v') => {
            Ok(Some(ExternalPackage {
                name: name.to_owned(),
                version: version[1..].to_owned(),
            }))
        }
        _ => Err(()),
    }
}

fn percent_decode(text: &str) -> String {
    if !text.contains('%') {
        return text.to_owned();
    }
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let hex = (bytes[at] == b'%')
            .then(|| text.get(at + 1..at + 3))
            .flatten();
        if let Some(byte) = hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            decoded.push(byte);
            at += 3;
        } else {
            decoded.push(bytes[at]);
            at += 1;
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, package: Option<&str>, section: Section, token: &str) {
        let TypeKind::Reference(reference) = parse(text, "here", None) else {
            panic!("{text} is no reference")
        };
        assert_eq!(
            reference
                .package
                .as_ref()
                .map(|package| package.name.as_str()),
            package,
            "{text}"
        );
        assert_eq!(
            (reference.section, reference.token.as_str()),
            (section, token),
            "{text}"
        );
    }

    #[test]
    fn references_are_read() {
        check("#/types/here:index:A", None, Section::Type, "here:index:A");
        check(
            "#/types/here:index%2Fa:A",
            None,
            Section::Type,
            "here:index/a:A",
        );
        check(
            "#/resources/here:index/b:B",
            None,
            Section::Resource,
            "here:index/b:B",
        );
        check(
            "#/provider",
            None,
            Section::Provider,
            "pulumi:providers:here",
        );
        check(
            "/other/v1.2.3/schema.json#/resources/other:m:C",
            Some("other"),
            Section::Resource,
            "other:m:C",
        );
        check(
            "/here/v1.2.3/schema.json#/types/here:m:C",
            None,
            Section::Type,
            "here:m:C",
        );
        assert_eq!(parse("pulumi.json#/Any", "here", None), TypeKind::Any);
        assert_eq!(
            parse("https://x/y#/types/a:b:C", "here", None),
            TypeKind::Invalid
        );
        assert_eq!(parse("nonsense", "here", None), TypeKind::Invalid);
    }
}
