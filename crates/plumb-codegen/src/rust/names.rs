//! Names in Rust.

use std::collections::{BTreeMap, BTreeSet};

use plumb_schema::bound::member_of;

use crate::words::spelled_out;

/// Words that names cannot be.
const KEYWORDS: [&str; 56] = [
    "Self", "abstract", "as", "async", "await", "become", "box", "break", "const", "continue",
    "crate", "do", "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if",
    "impl", "in", "let", "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub",
    "ref", "return", "self", "static", "std", "struct", "super", "trait", "true", "try", "type",
    "typeof", "union", "unsafe", "unsized", "use", "virtual", "where", "while", "yield", "core",
    "plumb",
];

/// `pod_cidrs` of `podCIDRs`: a capital after a small letter or a digit begins a word, and so does the last of several
/// capitals if a small letter follows, unless that is the `s` of a plural or before a digit (`IPv6`).
pub(crate) fn snake(name: &str) -> String {
    let chars: Vec<char> = spelled_out(name).chars().collect();
    let mut snake = String::with_capacity(name.len() + 4);
    for (at, &char) in chars.iter().enumerate() {
        if !char.is_ascii_alphanumeric() {
            if !snake.is_empty() && !snake.ends_with('_') {
                snake.push('_');
            }
            continue;
        }
        let before = at.checked_sub(1).map(|at| chars[at]);
        let after = chars.get(at + 1).copied();
        let second = chars.get(at + 2);
        let is_plural = after == Some('s') && second.is_none_or(|next| !next.is_ascii_lowercase());
        let is_version = second.is_some_and(char::is_ascii_digit);
        let starts = char.is_ascii_uppercase()
            && before.is_some_and(|before| {
                before.is_ascii_lowercase()
                    || before.is_ascii_digit()
                    || (before.is_ascii_uppercase()
                        && after.is_some_and(|after| after.is_ascii_lowercase())
                        && !is_plural
                        && !is_version)
            });
        if starts && !snake.is_empty() && !snake.ends_with('_') {
            snake.push('_');
        }
        snake.push(char.to_ascii_lowercase());
    }
    legal(snake.trim_end_matches('_'))
}

/// A name that is no keyword and does not begin with a digit.
fn legal(name: &str) -> String {
    if name.is_empty() || name.starts_with(|first: char| first.is_ascii_digit()) {
        return format!("_{name}");
    }
    if KEYWORDS.contains(&name) {
        return format!("{name}_");
    }
    name.to_owned()
}

/// The name of a type: letters and digits, and a capital at the beginning of each word.
pub(crate) fn class(name: &str) -> String {
    let mut class = String::with_capacity(name.len());
    let mut is_first = true;
    for char in spelled_out(name).chars() {
        if !char.is_ascii_alphanumeric() {
            is_first = true;
        } else if is_first {
            class.push(char.to_ascii_uppercase());
            is_first = false;
        } else {
            class.push(char);
        }
    }
    legal(&class)
}

/// The name of a constant.
pub(crate) fn constant(name: &str) -> String {
    let snake = snake(name).to_uppercase();
    let name = snake.trim_end_matches('_');
    if name.is_empty() {
        return "EMPTY".to_owned();
    }
    name.to_owned()
}

/// Names that differ: a later one that is taken gets a number.
#[derive(Default)]
pub(super) struct Taken(BTreeSet<String>);

impl Taken {
    pub(super) fn with(names: &[&str]) -> Self {
        Taken(names.iter().map(|name| (*name).to_owned()).collect())
    }

    /// `name`, or `name` with the first free number.
    pub(super) fn take(&mut self, name: String) -> String {
        let mut free = name.clone();
        let mut number = 2;
        while !self.0.insert(free.clone()) {
            free = format!("{name}{number}");
            number += 1;
        }
        free
    }
}

/// The module of Rust for a module of a schema; empty for the root of the crate.
pub(crate) fn module(module: &str) -> String {
    match module {
        "" | "index" => String::new(),
        "missing" => "missing_".to_owned(),
        module => snake(module),
    }
}

/// A string literal.
pub(crate) fn string(text: &str) -> String {
    format!("{text:?}")
}

/// The crate of a package.
pub(crate) fn crate_name(package: &str) -> String {
    format!("pulumi_{}", snake(package).trim_end_matches('_'))
}

/// Names of properties that differ from each other and from `reserved`.
pub(super) fn distinct<'n>(
    properties: impl IntoIterator<Item = &'n str>,
    reserved: &[&str],
) -> Vec<String> {
    let mut taken = Taken::with(reserved);
    let names = properties.into_iter().map(|property| {
        let name = snake(property);
        let name = if reserved.contains(&name.as_str()) {
            format!("{name}_")
        } else {
            name
        };
        taken.take(name)
    });
    names.collect()
}

/// Names around a function.
#[derive(Clone, Default)]
pub(super) struct FunctionNames {
    pub(super) function: String,
    pub(super) class: String,
}

/// Names of the members of a package, in the order of their tokens.
pub(super) struct MemberNames {
    pub(super) resources: Vec<String>,
    pub(super) types: Vec<String>,
    pub(super) functions: Vec<FunctionNames>,
}

impl MemberNames {
    /// Names for the tokens of resources, types and functions, in this order: of two with one name, the later one gets a
    /// number.
    pub(super) fn new(
        [resources, types, functions]: [&[&str]; 3],
        module_of: &dyn Fn(&str) -> String,
    ) -> Self {
        let mut taken: BTreeMap<String, Taken> = BTreeMap::new();
        taken.insert(String::new(), Taken::with(&["Provider", "ProviderArgs"]));
        let mut take = |token: &str, name: &str| {
            let taken = taken.entry(module_of(token)).or_default();
            let mut name = taken.take(class(name));
            // The arguments have the same name with an ending.
            while taken.take(format!("{name}Args")) != format!("{name}Args") {
                name = taken.take(name);
            }
            name
        };
        let resources = resources.iter().map(|it| take(it, member_of(it))).collect();
        let types = types.iter().map(|it| take(it, member_of(it))).collect();
        let mut of_functions: BTreeMap<String, Taken> = BTreeMap::new();
        let functions = functions.iter().map(|token| {
            let member = member_of(token);
            // The token of a method has the resource in front of it.
            let member = member.rsplit('/').next().unwrap_or(member);
            let class = take(token, member);
            let taken = of_functions
                .entry(module_of(token))
                .or_insert_with(|| Taken::with(&["options", "invoke_options", "package"]));
            let function = taken.take(snake(member));
            taken.take(format!("{function}_with"));
            taken.take(format!("{function}_plain"));
            FunctionNames { function, class }
        });
        MemberNames {
            resources,
            types,
            functions: functions.collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found() {
        for (name, expected) in [
            ("podCIDRs", "pod_cidrs"),
            ("isIPv6Enabled", "is_ipv6_enabled"),
            ("type", "type_"),
            ("$ref", "ref_"),
            ("s3Bucket", "s3_bucket"),
            ("JSONSchemaProps", "json_schema_props"),
            ("keyID", "key_id"),
            ("x-kubernetes-int", "x_kubernetes_int"),
            ("2fa", "_2fa"),
        ] {
            assert_eq!(snake(name), expected, "{name}");
        }
        assert_eq!(class("getThing"), "GetThing");
        assert_eq!(class("v1beta1_Self"), "V1beta1Self");
        assert_eq!(constant("t3.micro"), "T3_MICRO");
    }

    #[test]
    fn taken_names_get_numbers() {
        let mut taken = Taken::with(&["id"]);
        assert_eq!(taken.take("id".to_owned()), "id2");
        assert_eq!(taken.take("id".to_owned()), "id3");
    }
}
