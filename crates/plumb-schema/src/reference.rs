//! Grammar of `$ref` (`schema.md` 5.1).

use std::borrow::Cow;

use crate::types::{Primitive, TypeKind};

/// Destination of a `$ref`.
#[derive(Clone, Debug, PartialEq)]
pub struct Reference {
    /// The package, if it is another one.
    pub package: Option<ExternalPackage>,
    /// Section of the member.
    pub section: Section,
    /// Token of the member.
    pub token: String,
    /// Type of the values of a token without a definition.
    pub underlying: Option<Primitive>,
}

/// Another package in a reference.
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

/// Destination of a `$ref` with valid syntax, which need not exist.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Target {
    Builtin(TypeKind),
    Member {
        /// Name and version of the package, if the reference has them.
        package: Option<(String, String)>,
        section: Section,
        /// Token; empty for the provider of the package.
        token: String,
    },
}

/// The destination of `text`; `None` if the text is not a reference.
pub(crate) fn read(text: &str) -> Option<Target> {
    match text {
        "pulumi.json#/Any" => return Some(Target::Builtin(TypeKind::Any)),
        "pulumi.json#/Archive" => return Some(Target::Builtin(TypeKind::Archive)),
        "pulumi.json#/Asset" => return Some(Target::Builtin(TypeKind::Asset)),
        "pulumi.json#/Json" => return Some(Target::Builtin(TypeKind::Json)),
        _ => {}
    }
    let (path, fragment) = text.split_once('#')?;
    let package = external_package(&percent_decode(path)).ok()?;
    let fragment = clean(fragment);
    let (section, token) = match fragment.split_once('/') {
        None if fragment == "provider" => (Section::Provider, String::new()),
        Some(("types", token)) => (Section::Type, percent_decode(token)),
        Some(("resources", token)) => {
            let token = percent_decode(token);
            let is_provider = token.starts_with("pulumi:providers:");
            let section = if is_provider {
                Section::Provider
            } else {
                Section::Resource
            };
            (section, token)
        }
        _ => return None,
    };
    Some(Target::Member {
        package,
        section,
        token,
    })
}

/// The type of a reference `text` within `package`.
pub(crate) fn parse(text: &str, package: &str, underlying: Option<Primitive>) -> TypeKind {
    let (external, section, token) = match read(text) {
        None => return TypeKind::Invalid,
        Some(Target::Builtin(kind)) => return kind,
        Some(Target::Member {
            package: from,
            section,
            token,
        }) => (from.filter(|(name, _)| name != package), section, token),
    };
    let owner = external.as_ref().map_or(package, |(name, _)| name.as_str());
    let token = if token.is_empty() {
        format!("pulumi:providers:{owner}")
    } else {
        token
    };
    TypeKind::Reference(Reference {
        package: external.map(|(name, version)| ExternalPackage { name, version }),
        section,
        token,
        underlying,
    })
}

/// The fragment without its first slash and without empty, `.` and `..` steps.
fn clean(fragment: &str) -> Cow<'_, str> {
    let bare = fragment.trim_start_matches('/');
    let is_clean = !bare.contains("//") && !bare.contains("./") && !bare.ends_with('/');
    if is_clean && !bare.ends_with("/.") && !bare.ends_with("/..") {
        return Cow::Borrowed(bare);
    }
    let mut steps: Vec<&str> = Vec::new();
    for step in bare.split('/') {
        match step {
            "" | "." => {}
            ".." => {
                steps.pop();
            }
            step => steps.push(step),
        }
    }
    Cow::Owned(steps.join("/"))
}

/// Name and version from `/<package>/v<version>/schema.json`; `None` for an empty path.
fn external_package(path: &str) -> Result<Option<(String, String)>, ()> {
    if path.is_empty() {
        return Ok(None);
    }
    let path = path.strip_prefix('/').unwrap_or(path);
    let mut parts = path.split('/');
    match (parts.next(), parts.next(), parts.next(), parts.next()) {
        (Some(name), Some(version), Some("schema.json"), None)
            if version.starts_with('v') && is_package_name(name) =>
        {
            Ok(Some((name.to_owned(), version[1..].to_owned())))
        }
        _ => Err(()),
    }
}

fn is_package_name(name: &str) -> bool {
    let is_word = |char: char| char.is_ascii_alphanumeric() || matches!(char, '-' | '_');
    !name.is_empty() && name.chars().all(is_word)
}

pub(crate) fn percent_decode(text: &str) -> String {
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
