//! Names in Go (`codegen.md` 4.2).

use std::fmt::Write;

use crate::words::{single_underscores, spelled_out};

/// Keywords and predeclared identifiers, which cannot be names.
const RESERVED: [&str; 40] = [
    "any",
    "append",
    "bool",
    "break",
    "case",
    "chan",
    "const",
    "continue",
    "default",
    "defer",
    "else",
    "error",
    "fallthrough",
    "false",
    "float64",
    "for",
    "func",
    "go",
    "goto",
    "if",
    "import",
    "int",
    "interface",
    "iota",
    "len",
    "make",
    "map",
    "nil",
    "package",
    "panic",
    "range",
    "return",
    "select",
    "string",
    "struct",
    "switch",
    "true",
    "type",
    "var",
    "init",
];

/// Whether a name can start with the character: a letter of a common script, which Go accepts as a
/// letter too.
fn is_start(char: char) -> bool {
    const SCRIPTS: [(char, char); 6] = [
        ('\u{c0}', '\u{2af}'),
        ('\u{370}', '\u{3ff}'),
        ('\u{400}', '\u{52f}'),
        ('\u{3041}', '\u{30ff}'),
        ('\u{4e00}', '\u{9fff}'),
        ('\u{ac00}', '\u{d7a3}'),
    ];
    let is_of_script = || {
        let mut scripts = SCRIPTS.iter();
        scripts.any(|(first, last)| (*first..=*last).contains(&char))
    };
    char == '_' || char.is_ascii_alphabetic() || char.is_alphabetic() && is_of_script()
}

fn is_part(char: char) -> bool {
    is_start(char) || char.is_ascii_digit()
}

/// The name with illegal characters replaced by `_`, and `_` before a character that cannot start a
/// name.
fn legal(name: &str) -> String {
    let mut result = String::with_capacity(name.len() + 1);
    if !name.starts_with(is_start) {
        result.push('_');
    }
    result.extend(
        name.chars()
            .map(|char| if is_part(char) { char } else { '_' }),
    );
    result
}

/// The name without hyphens, the letter after each capitalized.
fn joined(name: &str) -> String {
    let mut result = String::with_capacity(name.len());
    let mut is_next_upper = false;
    for char in name.chars() {
        if char == '-' {
            is_next_upper = true;
        } else if std::mem::replace(&mut is_next_upper, false) {
            result.extend(char.to_uppercase());
        } else {
            result.push(char);
        }
    }
    result
}

/// Exported name.
pub(crate) fn title(name: &str) -> String {
    let name = joined(name.strip_prefix('$').unwrap_or(name));
    let mut chars = name.chars();
    let Some(first) = chars.next() else {
        return "_".to_owned();
    };
    let mut result = String::with_capacity(name.len() + 1);
    if first == '_' || !is_start(first) {
        result.push('_');
    }
    result.extend(first.to_uppercase());
    result.extend(chars);
    legal(&result)
}

/// Field for a property in programs, which do not know the struct: names that the core SDK uses get a trailing underscore.
pub(crate) fn field(property: &str) -> String {
    let mut name = title(property);
    let reserved = [
        "ID",
        "URN",
        "GetProvider",
        "ElementType",
        "CustomResourceState",
        "ResourceState",
        "ProviderResourceState",
        "Defaults",
    ];
    if reserved.contains(&name.as_str()) {
        name.push('_');
    }
    name
}

/// The name without hyphens, its leading capitals in lower case.
pub(super) fn camel(name: &str) -> String {
    let name = joined(name.strip_prefix('$').unwrap_or(name));
    let mut chars = name.chars().peekable();
    let mut result = String::with_capacity(name.len());
    while let Some(char) = chars.next_if(|char| !char.is_lowercase()) {
        result.extend(char.to_lowercase());
    }
    result.extend(chars);
    result
}

/// Unexported name of a type that accompanies an exported one.
pub(super) fn hidden(name: &str) -> String {
    let hidden = camel(name);
    if hidden == name {
        format!("hidden{name}")
    } else {
        hidden
    }
}

/// Name of a parameter or a package: [`camel`], but not a reserved word.
pub(crate) fn word(name: &str) -> String {
    let mut name = legal(name);
    if RESERVED.contains(&name.as_str()) || name == "_" {
        name.push('_');
    }
    name
}

/// Package name: the last part of its path, without hyphens.
pub(crate) fn package(path: &str) -> String {
    let last = path.rsplit('/').next().unwrap_or(path);
    word(&last.replace('-', ""))
}

/// Name of an enum member, which follows the type's name; `None` if no legal name remains.
pub(crate) fn enum_member(name: &str) -> Option<String> {
    let name = spelled_out(name);
    let mut titled = String::with_capacity(name.len() + 1);
    let mut is_next_upper = true;
    for char in name.strip_prefix('$').unwrap_or(name).chars() {
        if char == '-' {
            titled.push('_');
            is_next_upper = true;
        } else if std::mem::replace(&mut is_next_upper, false) {
            titled.extend(char.to_uppercase());
        } else {
            titled.push(char);
        }
    }
    let mut result = single_underscores(&legal(&titled));
    if !result.chars().any(char::is_alphanumeric) {
        return None;
    }
    if result.contains('_') && !result.starts_with('_') {
        result.insert(0, '_');
    }
    Some(result)
}

/// A string literal.
pub(crate) fn string(text: &str) -> String {
    let mut result = String::with_capacity(text.len() + 2);
    result.push('"');
    for char in text.chars() {
        match char {
            '"' => result.push_str("\\\""),
            '\\' => result.push_str("\\\\"),
            '\n' => result.push_str("\\n"),
            '\r' => result.push_str("\\r"),
            '\t' => result.push_str("\\t"),
            char if char.is_control() || char == '\u{feff}' => {
                let _ = write!(result, "\\u{:04x}", u32::from(char));
            }
            char => result.push(char),
        }
    }
    result.push('"');
    result
}

/// Struct tag of a field for a property.
pub(super) fn tag(property: &str) -> String {
    let tag = format!("pulumi:{}", string(property));
    if tag.contains('`') {
        string(&tag)
    } else {
        format!("`{tag}`")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_users_see_begin_with_a_capital() {
        for (name, expected) in [
            ("foo", "Foo"),
            ("$ref", "Ref"),
            ("foo-bar", "FooBar"),
            ("foo.bar", "Foo_bar"),
            ("3d", "_3d"),
            ("élan", "Élan"),
            ("", "_"),
        ] {
            assert_eq!(title(name), expected, "{name}");
        }
    }

    #[test]
    fn files_and_hidden_types_are_in_camel_case() {
        for (name, expected) in [
            ("RandomPet", "randomPet"),
            ("URLThing", "urlthing"),
            ("foo-bar", "fooBar"),
        ] {
            assert_eq!(camel(name), expected, "{name}");
        }
    }

    #[test]
    fn packages_are_never_words_of_the_language() {
        assert_eq!(package("a/core/v1"), "v1");
        assert_eq!(package("foo-bar"), "foobar");
        assert_eq!(package("a/default"), "default_");
        assert_eq!(package("helm.sh"), "helm_sh");
    }

    #[test]
    fn members_of_enums_have_names() {
        for (name, expected) in [
            ("*", Some("Asterisk")),
            ("key", Some("Key")),
            ("1234", Some("_1234")),
            ("Pulumi Planters Inc.", Some("_Pulumi_Planters_Inc_")),
            ("Plants'R'Us", Some("_Plants_R_Us")),
            ("a--b", Some("_A_B")),
            ("-", None),
        ] {
            assert_eq!(enum_member(name).as_deref(), expected, "{name}");
        }
    }

    #[test]
    fn literals_and_tags_cannot_be_broken_out_of() {
        assert_eq!(string("a\"b\\\n\u{0}"), "\"a\\\"b\\\\\\n\\u0000\"");
        assert_eq!(tag("a"), "`pulumi:\"a\"`");
        assert_eq!(tag("a`b"), "\"pulumi:\\\"a`b\\\"\"");
    }
}
