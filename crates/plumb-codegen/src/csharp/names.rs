//! Names in C# (`codegen.md` 5.1).

use crate::words::{only_char, single_underscores, spelled_out};

/// Keywords, which need a leading `@` as names.
const RESERVED: [&str; 77] = [
    "abstract",
    "as",
    "base",
    "bool",
    "break",
    "byte",
    "case",
    "catch",
    "char",
    "checked",
    "class",
    "const",
    "continue",
    "decimal",
    "default",
    "delegate",
    "do",
    "double",
    "else",
    "enum",
    "event",
    "explicit",
    "extern",
    "false",
    "finally",
    "fixed",
    "float",
    "for",
    "foreach",
    "goto",
    "if",
    "implicit",
    "in",
    "int",
    "interface",
    "internal",
    "is",
    "lock",
    "long",
    "namespace",
    "new",
    "null",
    "object",
    "operator",
    "out",
    "override",
    "params",
    "private",
    "protected",
    "public",
    "readonly",
    "ref",
    "return",
    "sbyte",
    "sealed",
    "short",
    "sizeof",
    "stackalloc",
    "static",
    "string",
    "struct",
    "switch",
    "this",
    "throw",
    "true",
    "try",
    "typeof",
    "uint",
    "ulong",
    "unchecked",
    "unsafe",
    "ushort",
    "using",
    "virtual",
    "void",
    "volatile",
    "while",
];

fn is_start(char: char) -> bool {
    char == '_' || char.is_ascii_alphabetic()
}

/// The name with each illegal character replaced by `_`.
fn legal(name: &str) -> String {
    let mut result = String::with_capacity(name.len() + 1);
    for char in name.chars() {
        if result.is_empty() && char.is_ascii_digit() {
            result.push('_');
        }
        let is_legal = is_start(char) || char.is_ascii_digit();
        result.push(if is_legal { char } else { '_' });
    }
    if result.is_empty() {
        result.push('_');
    }
    result
}

/// Name of a parameter: without a leading `$`, and with `@` before keywords.
pub(crate) fn parameter(name: &str) -> String {
    let name = legal(&unhyphenated(name.strip_prefix('$').unwrap_or(name)));
    if RESERVED.contains(&name.as_str()) {
        format!("@{name}")
    } else {
        name
    }
}

/// The name in camel case: hyphens removed, the letter after each capitalized.
fn unhyphenated(name: &str) -> String {
    let mut parts = name.split('-');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |joined, part| joined + &upper(part))
}

fn upper(name: &str) -> String {
    let mut chars = name.chars();
    match chars.next() {
        None => String::new(),
        Some(first) => first.to_uppercase().chain(chars).collect(),
    }
}

/// Name of a class or a property.
pub(crate) fn title(name: &str) -> String {
    let name = name.strip_prefix('$').unwrap_or(name);
    legal(&unhyphenated(&upper(name)))
}

/// Namespace for the name of a package or a module.
pub(super) fn namespace(name: &str) -> String {
    let steps = name.split(['/', '.']).filter(|step| !step.is_empty());
    let step = |step: &str| legal(&step.split('-').map(upper).collect::<String>());
    steps.map(step).collect::<Vec<_>>().join(".")
}

/// Namespace as given in the schema, made legal.
pub(super) fn written_namespace(name: &str) -> String {
    let steps = name.split('.').filter(|step| !step.is_empty());
    steps.map(legal).collect::<Vec<_>>().join(".")
}

/// Names for the properties of a class, distinct from each other and from the class.
pub(super) fn properties<'n>(names: impl Iterator<Item = &'n str>, class: &str) -> Vec<String> {
    let mut taken = vec![class.to_owned()];
    let unique = |name: &str| {
        let mut name = title(name);
        while taken.contains(&name) {
            name.push('_');
        }
        taken.push(name.clone());
        name
    };
    names.map(unique).collect()
}

/// String literal.
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
            char if char.is_control() || ('\u{2028}'..='\u{2029}').contains(&char) => {
                result.push_str("\\u");
                result.extend(format!("{:04x}", u32::from(char)).chars());
            }
            char => result.push(char),
        }
    }
    result.push('"');
    result
}

/// Name of an enum member; `None` if no legal name remains.
pub(crate) fn enum_member(name: &str, enum_name: &str) -> Option<String> {
    let expanded = spelled_out(name);
    let is_sensible = match only_char(expanded) {
        Some(single) => is_start(single) && single != '_',
        None => !expanded.is_empty(),
    };
    if !is_sensible {
        return None;
    }
    let result = single_underscores(&title(expanded));
    Some(match result.as_str() {
        // Members that every C# value inherits.
        "Equals" | "ToString" | "GetHashCode" | "GetType" => format!("{result}Value"),
        _ if result.starts_with('_') => format!("{enum_name}{result}"),
        _ => result,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_made_legal() {
        for (name, expected) in [
            ("fooBar", "FooBar"),
            ("foo-bar", "FooBar"),
            ("$ref", "Ref"),
            ("a*/b", "A__b"),
            ("3d", "_3d"),
            ("", "_"),
        ] {
            assert_eq!(title(name), expected);
        }
        assert_eq!(namespace("azure-native"), "AzureNative");
        assert_eq!(namespace("tree/v1"), "Tree.V1");
        assert_eq!(namespace("../a"), "A");
        assert_eq!(parameter("internal"), "@internal");
        assert_eq!(
            properties(["tag", "a-b", "aB"].into_iter(), "Tag"),
            ["Tag_", "AB", "AB_"]
        );
    }

    #[test]
    fn members_of_enums_have_names() {
        for (name, expected) in [
            ("*", Some("Asterisk")),
            ("8.3", Some("Size_8_3")),
            ("equals", Some("EqualsValue")),
            ("some value", Some("Some_value")),
            ("-", None),
        ] {
            assert_eq!(enum_member(name, "Size").as_deref(), expected, "{name}");
        }
    }
}
