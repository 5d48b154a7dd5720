//! Names in TypeScript (`codegen.md` 2.1, 2.7).

use std::borrow::Cow;

use crate::words::{only_char, single_underscores, spelled_out};

/// Reserved words, which cannot be names.
const RESERVED: [&str; 48] = [
    "as",
    "break",
    "case",
    "catch",
    "class",
    "const",
    "continue",
    "debugger",
    "default",
    "delete",
    "do",
    "else",
    "enum",
    "export",
    "extends",
    "false",
    "finally",
    "for",
    "function",
    "if",
    "import",
    "implements",
    "in",
    "instanceof",
    "interface",
    "let",
    "new",
    "null",
    "package",
    "private",
    "protected",
    "public",
    "return",
    "static",
    "super",
    "switch",
    "this",
    "throw",
    "true",
    "try",
    "typeof",
    "undefined",
    "var",
    "void",
    "while",
    "with",
    "yield",
    "arguments",
];

fn is_start(char: char) -> bool {
    char == '$' || char == '_' || char.is_ascii_alphabetic()
}

fn is_part(char: char) -> bool {
    is_start(char) || char.is_ascii_digit()
}

/// Whether `name` is a valid property name without quotes.
fn is_property_name(name: &str) -> bool {
    name.starts_with(is_start) && name.chars().all(is_part)
}

/// A legal identifier: illegal characters replaced by `_`, and `_` before reserved words.
pub(crate) fn identifier(name: &str) -> String {
    let mut result = String::with_capacity(name.len() + 1);
    if !name.starts_with(is_start) {
        result.push('_');
    }
    let mut chars = name.chars().peekable();
    if chars.peek().is_some_and(|first| !is_part(*first)) {
        chars.next();
    }
    result.extend(chars.map(|char| if is_part(char) { char } else { '_' }));
    if RESERVED.contains(&result.as_str()) {
        result.insert(0, '_');
    }
    result
}

/// The name with its first letter in upper case.
pub(crate) fn title(name: &str) -> String {
    let mut chars = name.chars();
    match chars.next() {
        None => String::new(),
        Some(first) => first.to_uppercase().chain(chars).collect(),
    }
}

/// The name in camel case: without hyphens, its leading capitals in lower case.
pub(crate) fn camel(name: &str) -> String {
    let mut joined = String::with_capacity(name.len());
    let mut is_next_upper = false;
    for char in name.chars() {
        if char == '-' {
            is_next_upper = true;
        } else if is_next_upper {
            joined.extend(char.to_uppercase());
            is_next_upper = false;
        } else {
            joined.push(char);
        }
    }
    let mut chars = joined.chars().peekable();
    let mut result = String::with_capacity(joined.len());
    while let Some(char) = chars.next_if(|char| !char.is_lowercase()) {
        result.extend(char.to_lowercase());
    }
    result.extend(chars);
    result
}

/// The name in Pascal case: illegal characters removed, the letter after each capitalized, dots kept.
pub(crate) fn pascal(name: &str) -> String {
    let mut result = String::with_capacity(name.len());
    let mut is_next_upper = true;
    for char in name.chars() {
        if !is_part(char) && char != '.' {
            is_next_upper = true;
        } else if is_next_upper {
            result.extend(char.to_uppercase());
            is_next_upper = false;
        } else {
            result.push(char);
        }
    }
    result
}

/// Key of a member in an interface, an object or a class; quoted if necessary.
pub(crate) fn key(name: &str) -> Cow<'_, str> {
    if is_property_name(name) {
        Cow::Borrowed(name)
    } else {
        Cow::Owned(string(name))
    }
}

/// Access to a member of `object`.
pub(crate) fn member(object: &str, name: &str) -> String {
    if is_property_name(name) {
        format!("{object}.{name}")
    } else {
        format!("{object}[{}]", string(name))
    }
}

/// Access to a member of an object that may be undefined.
pub(crate) fn optional_member(object: &str, name: &str) -> String {
    if is_property_name(name) {
        format!("{object}?.{name}")
    } else {
        format!("{object}?.[{}]", string(name))
    }
}

/// A string literal.
pub(crate) fn string(text: &str) -> String {
    serde_json::Value::from(text)
        .to_string()
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029")
}

/// Namespaces of a module, from the outside in.
pub(crate) fn namespaces(module: &str) -> Vec<String> {
    module
        .split('/')
        .flat_map(|segment| segment.split('.'))
        .filter(|part| !part.is_empty())
        .map(identifier)
        .collect()
}

/// Name of an enum member; `None` if no legal name remains.
pub(crate) fn enum_member(name: &str, enum_name: &str) -> Option<String> {
    let titled = title(spelled_out(name));
    if only_char(&titled).is_some_and(|single| !is_start(single)) {
        return None;
    }
    let result = single_underscores(&identifier(&titled));
    Some(if result.starts_with('_') {
        format!("{enum_name}{result}")
    } else {
        result
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_and_files_are_in_camel_case() {
        for (name, expected) in [
            ("RandomPassword", "randomPassword"),
            ("VPC", "vpc"),
            ("getAMI", "getAMI"),
            ("some-thing", "someThing"),
            ("APIKey", "apikey"),
            ("a", "a"),
        ] {
            assert_eq!(camel(name), expected);
        }
    }

    #[test]
    fn names_are_made_legal() {
        for (name, expected) in [
            ("foo", "foo"),
            ("foo-bar", "foo_bar"),
            ("3d", "_3d"),
            ("-x", "_x"),
            ("class", "_class"),
            ("a';drop", "a__drop"),
            ("", "_"),
        ] {
            assert_eq!(identifier(name), expected);
        }
        assert_eq!(pascal("azure-native"), "AzureNative");
        assert_eq!(key("a-b"), "\"a-b\"");
        assert_eq!(member("args", "x\"y"), "args[\"x\\\"y\"]");
        assert_eq!(namespaces("apps.k8s.io/v1"), ["apps", "k8s", "io", "v1"]);
    }

    #[test]
    fn members_of_enums_have_names() {
        for (name, expected) in [
            ("*", Some("Asterisk")),
            ("1", Some("One")),
            ("10", Some("Color_10")),
            ("8.3", Some("Color_8_3")),
            ("some value", Some("Some_value")),
            ("a--b", Some("A_b")),
            ("-", None),
            ("%", None),
        ] {
            assert_eq!(enum_member(name, "Color").as_deref(), expected, "{name}");
        }
    }
}
