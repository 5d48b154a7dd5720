//! Names in Python (`codegen.md` 3.1, 3.5).

use crate::words::{only_char, single_underscores, spelled_out};

/// Keywords of all versions of Python.
const RESERVED: [&str; 37] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue",
    "def", "del", "elif", "else", "except", "exec", "finally", "for", "from", "global", "if",
    "import", "in", "is", "lambda", "nonlocal", "not", "or", "pass", "print", "raise", "return",
    "try", "while", "with", "yield",
];

/// Names published before the conversion kept a plural `s` with the acronym before it.
const OLDER: [&str; 3] = ["openXJsonSerDe", "GetPublicIPs", "GetUptimeCheckIPs"];

fn is_start(char: char) -> bool {
    char == '_' || char.is_alphabetic()
}

fn is_part(char: char) -> bool {
    char == '_' || char.is_alphanumeric()
}

/// The name with a trailing `_` if it is a keyword.
fn unreserved(mut name: String) -> String {
    if RESERVED.contains(&name.as_str()) {
        name.push('_');
    }
    name
}

/// Kind of the previous character, while a name is split into words.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    Nothing,
    /// First capital letter of a word.
    Capital,
    /// Capital letter after a capital letter.
    Acronym,
    Other,
}

/// The name in snake case.
pub(crate) fn snake(name: &str) -> String {
    let keeps_plurals = !OLDER.contains(&name);
    let mut result = String::with_capacity(name.len() + 5);
    // `Nothing` only before the first character, so `_` is inserted before each word but the first.
    let mut last = Last::Nothing;
    for char in name.chars() {
        let char = if is_part(char) { char } else { '_' };
        let is_capital = char.is_uppercase();
        match last {
            Last::Nothing if !is_start(char) => result.push('_'),
            Last::Other if is_capital => result.push('_'),
            Last::Acronym if !is_capital => {
                let stays = char.is_numeric() || (char == 's' && keeps_plurals);
                if !stays {
                    split_last(&mut result);
                }
            }
            _ => {}
        }
        result.extend(char.to_lowercase());
        last = match (last, is_capital) {
            (Last::Capital | Last::Acronym, true) => Last::Acronym,
            (_, true) => Last::Capital,
            (_, false) => Last::Other,
        };
    }
    unreserved(result)
}

/// Starts a new word with the last capital letter of an acronym.
fn split_last(result: &mut String) {
    if let Some(last) = result.pop() {
        if !result.is_empty() {
            result.push('_');
        }
        result.push(last);
    }
}

/// Name of a parameter, distinct from the parameters that every constructor and function has.
pub(crate) fn parameter(name: &str) -> String {
    let mut result = snake(name);
    if matches!(
        result.as_str(),
        "resource_name" | "opts" | "__self__" | "__props__"
    ) {
        result.push('_');
    }
    result
}

/// The name with its first letter in upper case, made legal.
pub(crate) fn class(name: &str) -> String {
    let mut chars = name.chars();
    let mut result = String::with_capacity(name.len() + 1);
    if let Some(first) = chars.next() {
        result.extend(first.to_uppercase());
    }
    result.extend(chars);
    legal(&result)
}

/// Class name of an object: hyphens removed, the letter after each capitalized.
pub(crate) fn object_class(name: &str) -> String {
    if !name.contains('-') {
        return class(name);
    }
    let mut words = name.split('-');
    let mut result = class(words.next().unwrap_or_default());
    for word in words {
        let mut chars = word.chars();
        result.extend(chars.next().into_iter().flat_map(char::to_uppercase));
        result.extend(chars);
    }
    legal(&result)
}

/// Whether the name is a legal identifier.
pub(crate) fn is_legal(name: &str) -> bool {
    !name.is_empty() && legal(name) == name
}

fn legal(name: &str) -> String {
    let mut result = String::with_capacity(name.len() + 1);
    if !name.starts_with(is_start) {
        result.push('_');
    }
    result.extend(
        name.chars()
            .map(|char| if is_part(char) { char } else { '_' }),
    );
    unreserved(result)
}

/// A string literal.
pub(crate) fn string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Name of an enum member; `None` if no legal name remains.
pub(crate) fn enum_member(name: &str, enum_name: &str) -> Option<String> {
    let expanded = spelled_out(name);
    if only_char(expanded).is_some_and(|single| !is_start(single)) {
        return None;
    }
    let member = snake(expanded).to_uppercase();
    let member = if member.starts_with('_') {
        format!("{}{member}", snake(enum_name).to_uppercase())
    } else {
        member
    };
    let result = single_underscores(&member);
    Some(result).filter(|member| !member.is_empty())
}

/// Version of a distribution (PEP 440) for a semantic version.
pub(crate) fn distribution_version(version: &semver::Version) -> String {
    let base = format!("{}.{}.{}", version.major, version.minor, version.patch);
    let mut local = Vec::new();
    let mut release = String::new();
    let mut parts = version.pre.as_str().split('.').peekable();
    while let Some(part) = parts.next() {
        if part.is_empty() {
            continue;
        }
        let word = part.trim_end_matches(|char: char| char.is_ascii_digit());
        let mut number = part[word.len()..].to_owned();
        if number.is_empty() && translated(word).is_some() {
            let is_number = |next: &&str| next.chars().all(|char| char.is_ascii_digit());
            parts
                .next_if(is_number)
                .unwrap_or_default()
                .clone_into(&mut number);
        }
        match translated(word) {
            Some(word) if release.is_empty() && !number.is_empty() => {
                release = format!("{word}{number}");
            }
            _ => local.push(format!("{word}{number}")),
        }
    }
    local.extend(
        version
            .build
            .as_str()
            .split('.')
            .filter(|part| !part.is_empty())
            .map(ToOwned::to_owned),
    );
    let local = local.join(".").replace('-', ".");
    if local.is_empty() {
        format!("{base}{release}")
    } else {
        format!("{base}{release}+{local}")
    }
}

fn translated(word: &str) -> Option<&'static str> {
    Some(match word {
        "alpha" | "a" => "a",
        "beta" | "b" => "b",
        "rc" => "rc",
        "dev" => ".dev",
        "post" => ".post",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_in_names() {
        for (name, expected) in [
            ("kubeletConfigKey", "kubelet_config_key"),
            ("podCIDR", "pod_cidr"),
            ("podCIDRs", "pod_cidrs"),
            ("podCIDRSet", "pod_cidr_set"),
            ("publicIPs", "public_ips"),
            ("Sha256Hash", "sha256_hash"),
            ("SHA256Hash", "sha256_hash"),
            ("proj:config", "proj_config"),
            ("openXJsonSerDe", "open_x_json_ser_de"),
            ("GetPublicIPs", "get_public_i_ps"),
            ("3d", "_3d"),
            ("-x", "_x"),
            ("class", "class_"),
            ("RandomUuid4", "random_uuid4"),
            ("x", "x"),
            ("", ""),
        ] {
            assert_eq!(snake(name), expected);
        }
        assert_eq!(parameter("opts"), "opts_");
        assert_eq!(parameter("resourceName"), "resource_name_");
    }

    #[test]
    fn classes_are_legal() {
        for (name, expected) in [
            ("box", "Box"),
            ("none", "None_"),
            ("3d", "_3d"),
            ("a.b", "A_b"),
        ] {
            assert_eq!(class(name), expected);
        }
        assert_eq!(object_class("foo-bar-baz"), "FooBarBaz");
        assert_eq!(object_class("_foo"), "_foo");
    }

    #[test]
    fn members_of_enums_have_names() {
        for (name, expected) in [
            ("*", Some("ASTERISK")),
            ("1", Some("ONE")),
            ("10", Some("COLOR_10")),
            ("8.3", Some("COLOR_8_3")),
            ("someValue", Some("SOME_VALUE")),
            ("a--b", Some("A_B")),
            ("none", Some("NONE")),
            ("class", Some("CLASS_")),
            ("-", None),
            ("", None),
        ] {
            assert_eq!(enum_member(name, "Color").as_deref(), expected, "{name}");
        }
    }

    #[test]
    fn versions_are_those_of_distributions() {
        for (version, expected) in [
            ("1.2.3", "1.2.3"),
            ("1.2.3-alpha.18", "1.2.3a18"),
            ("1.2.3-beta2", "1.2.3b2"),
            ("1.2.3-rc.1", "1.2.3rc1"),
            ("1.2.3-dev.4", "1.2.3.dev4"),
            ("1.2.3-alpha.1+a-b", "1.2.3a1+a.b"),
            ("1.2.3-some-thing", "1.2.3+some.thing"),
        ] {
            let version = semver::Version::parse(version).unwrap();
            assert_eq!(distribution_version(&version), expected);
        }
    }
}
