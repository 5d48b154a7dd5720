//! Resolution of a word to the package, a module, a resource or a function.

use std::collections::BTreeSet;
use std::sync::Arc;

use plumb_operate::identity::Code;
use plumb_operate::{Error, ExitStatus};
use plumb_schema::bound::member_of;
use plumb_schema::{Function, PackageSchema, Resource};

/// A resolved word.
#[derive(Clone, Debug)]
pub(super) enum Subject {
    /// The package itself.
    Package,
    /// A module, by its name.
    Module(String),
    /// A resource.
    Resource(Arc<Resource>),
    /// A function.
    Function(Arc<Function>),
}

impl Subject {
    /// Resolves `word`; without a colon it is the name of the package.
    pub(super) fn find(schema: &PackageSchema, word: Option<&str>) -> Result<Self, Error> {
        let Some((word, rest)) = word.and_then(|word| Some((word, word.split_once(':')?.1))) else {
            return Ok(Subject::Package);
        };
        // Schema lookups ignore the case of tokens, but here a wrong case is an error.
        let is_meant = |token: &&str| member_of(token) == member_of(word);
        let function = schema.resolve_function(word).filter(is_meant);
        if let Some(function) = function.and_then(|token| schema.function(token)) {
            return Ok(Subject::Function(function?));
        }
        let resource = schema.resolve_resource(word).filter(is_meant);
        if let Some(resource) = resource.and_then(|token| schema.resource(token)) {
            return Ok(Subject::Resource(resource?));
        }
        let is_here = |token: &str| is_within(&schema.module_of(token), rest);
        if members(schema).any(is_here) {
            return Ok(Subject::Module(rest.to_owned()));
        }
        Err(unknown(schema, word))
    }
}

/// Whether a module is `outer` or a descendant of it.
fn is_within(module: &str, outer: &str) -> bool {
    module
        .strip_prefix(outer)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Tokens of all members: resources, and functions that are not methods.
fn members(schema: &PackageSchema) -> impl Iterator<Item = &str> {
    schema.resource_tokens().chain(functions(schema))
}

fn functions(schema: &PackageSchema) -> impl Iterator<Item = &str> {
    let tokens = schema.function_tokens();
    tokens.filter(|token| !schema.is_method(token))
}

/// Token as users write it: without the parts of the module that the package hides.
pub(super) fn shown(schema: &PackageSchema, token: &str) -> String {
    shown_in(&schema.module_of(token), token)
}

/// Token in the module `module`, as users write it.
pub(super) fn shown_in(module: &str, token: &str) -> String {
    let package = token.split(':').next().unwrap_or_default();
    let name = member_of(token);
    if module.is_empty() {
        format!("{package}:{name}")
    } else {
        format!("{package}:{module}:{name}")
    }
}

/// Members of a package or a module, sorted.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Listing {
    pub(super) modules: BTreeSet<String>,
    pub(super) functions: BTreeSet<String>,
    pub(super) resources: BTreeSet<String>,
}

impl Listing {
    /// Members of `module`; the empty string is the package's root.
    pub(super) fn of(schema: &PackageSchema, module: &str) -> Self {
        let mut listing = Listing::default();
        let mut add = |token: &str, is_function: bool| {
            let of_token = schema.module_of(token);
            if of_token == module {
                let list = if is_function {
                    &mut listing.functions
                } else {
                    &mut listing.resources
                };
                list.insert(shown(schema, token));
            } else if module.is_empty() || is_within(&of_token, module) {
                let package = token.split(':').next().unwrap_or_default();
                listing.modules.insert(format!("{package}:{of_token}"));
            }
        };
        for token in functions(schema) {
            add(token, true);
        }
        for token in schema.resource_tokens() {
            add(token, false);
        }
        listing
    }
}

/// Error for an unknown word, with suggestions.
fn unknown(schema: &PackageSchema, word: &str) -> Error {
    let mut text = format!(
        "unknown function, resource, or module \"{word}\" in package \"{}\"",
        schema.name()
    );
    let meant = suggestions(schema, word);
    if !meant.is_empty() {
        text.push_str("\n\nDid you mean this?");
        for token in meant {
            text.push_str("\n\t");
            text.push_str(&token);
        }
    }
    Error::with_status(ExitStatus::Configuration, text).known(Code::UnknownCommand)
}

/// Names similar to `word`, as users write them.
fn suggestions(schema: &PackageSchema, word: &str) -> BTreeSet<String> {
    let parts: Vec<&str> = word.split(':').collect();
    let (module, name) = match parts.as_slice() {
        [_, name] => (None, *name),
        [_, module, name] => (Some(*module), *name),
        _ => return BTreeSet::new(),
    };
    let mut found = BTreeSet::new();
    for token in members(schema) {
        let of_token = schema.module_of(token);
        let is_near = match module {
            None | Some("index" | "") => true,
            Some(module) if of_token.is_empty() => is_close(module, "index"),
            Some(module) => is_close(module, &of_token),
        };
        if is_near && is_close(name, member_of(token)) {
            found.insert(shown(schema, token));
        }
        // A word with two parts may be meant as a module.
        if module.is_none() && !of_token.is_empty() && is_close(name, &of_token) {
            let package = token.split(':').next().unwrap_or_default();
            found.insert(format!("{package}:{of_token}"));
        }
    }
    found
}

/// Whether two words are similar. Short words must differ less.
fn is_close(left: &str, right: &str) -> bool {
    let most = if left.len().max(right.len()) < 6 {
        1
    } else {
        2
    };
    strsim::levenshtein(&left.to_lowercase(), &right.to_lowercase()) <= most
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema(format: &str, tokens: [&str; 5]) -> PackageSchema {
        let [get, bucket, policy, object, method] = tokens;
        let text = format!(
            r#"{{"name": "aws", "meta": {{"moduleFormat": {format:?}}},
                 "functions": {{{get:?}: {{}}, {method:?}: {{}}}},
                 "resources": {{{bucket:?}: {{}}, {policy:?}: {{}}, {object:?}: {{}}}}}}"#
        );
        PackageSchema::parse(text).unwrap()
    }

    fn bridged() -> PackageSchema {
        schema(
            "(.*)(?:/[^/]*)",
            [
                "aws:s3/getObjects:getObjects",
                "aws:s3/bucket:Bucket",
                "aws:s3/bucketpolicy:BucketPolicy",
                "aws:index/object:Object",
                "aws:s3/bucket:Bucket/size",
            ],
        )
    }

    fn plain() -> PackageSchema {
        schema(
            "(.*)",
            [
                "aws:s3:getObjects",
                "aws:s3:Bucket",
                "aws:s3:BucketPolicy",
                "aws:index:Object",
                "aws:s3:Bucket/size",
            ],
        )
    }

    fn meant(schema: &PackageSchema, word: &str) -> String {
        match Subject::find(schema, Some(word)) {
            Ok(Subject::Package) => "package".to_owned(),
            Ok(Subject::Module(name)) => format!("module {name}"),
            Ok(Subject::Resource(resource)) => {
                format!("resource {}", shown(schema, &resource.token))
            }
            Ok(Subject::Function(function)) => {
                format!("function {}", shown(schema, &function.token))
            }
            Err(error) => error.text().unwrap_or_default(),
        }
    }

    #[test]
    fn words_name_what_a_package_has() {
        for schema in [bridged(), plain()] {
            for (word, expected) in [
                ("aws", "package"),
                ("aws:s3", "module s3"),
                ("aws:s3:Bucket", "resource aws:s3:Bucket"),
                ("aws:Object", "resource aws:Object"),
                ("aws:index:Object", "resource aws:Object"),
                ("aws:s3:getObjects", "function aws:s3:getObjects"),
            ] {
                assert_eq!(meant(&schema, word), expected, "{word}");
            }
        }
        let schema = bridged();
        assert_eq!(
            meant(&schema, "aws:s3/bucket:Bucket"),
            "resource aws:s3:Bucket"
        );
    }

    #[test]
    fn a_wrong_name_is_answered_with_the_nearest() {
        for schema in [bridged(), plain()] {
            for (word, expected) in [
                ("aws:s3:fgetObjects", Some("aws:s3:getObjects")),
                ("aws:s3:bucket", Some("aws:s3:Bucket")),
                ("aws:s3:Buckt", Some("aws:s3:Bucket")),
                ("aws:s4:Bucket", Some("aws:s3:Bucket")),
                ("aws:s4", Some("aws:s3")),
                ("aws:s3:CompletelyDifferent", None),
            ] {
                let problem =
                    format!("unknown function, resource, or module {word:?} in package \"aws\"");
                let expected = match expected {
                    Some(meant) => format!("{problem}\n\nDid you mean this?\n\t{meant}"),
                    None => problem,
                };
                assert_eq!(meant(&schema, word), expected);
            }
        }
        let Err(error) = Subject::find(&plain(), Some("aws:s4")) else {
            panic!()
        };
        assert_eq!(error.status(), ExitStatus::Configuration);
    }

    #[test]
    fn lists_have_what_can_be_named() {
        for schema in [bridged(), plain()] {
            let of = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
            let root = Listing {
                modules: of(&["aws:s3"]),
                functions: of(&[]),
                resources: of(&["aws:Object"]),
            };
            assert_eq!(Listing::of(&schema, ""), root);
            let module = Listing {
                modules: of(&[]),
                functions: of(&["aws:s3:getObjects"]),
                resources: of(&["aws:s3:Bucket", "aws:s3:BucketPolicy"]),
            };
            assert_eq!(Listing::of(&schema, "s3"), module);
        }
    }

    #[test]
    fn modules_may_be_nested() {
        let text = r#"{"name": "pkg", "functions": {"pkg:mod1/mod2:fun": {}}}"#;
        let schema = PackageSchema::parse(text).unwrap();
        assert_eq!(meant(&schema, "pkg:mod1"), "module mod1");
        let modules = Listing::of(&schema, "mod1").modules;
        assert_eq!(modules.into_iter().collect::<Vec<_>>(), ["pkg:mod1/mod2"]);
        assert_eq!(
            meant(&schema, "pkg:mod"),
            "unknown function, resource, or module \"pkg:mod\" in package \"pkg\""
        );
    }
}
