//! Names in Java (`codegen.md` 6).

use crate::words::{only_char, single_underscores, spelled_out};

/// Keywords and literals, which cannot be names.
const RESERVED: [&str; 54] = [
    "_",
    "abstract",
    "assert",
    "boolean",
    "break",
    "byte",
    "case",
    "catch",
    "char",
    "class",
    "const",
    "continue",
    "default",
    "do",
    "double",
    "else",
    "enum",
    "extends",
    "false",
    "final",
    "finally",
    "float",
    "for",
    "goto",
    "if",
    "implements",
    "import",
    "instanceof",
    "int",
    "interface",
    "long",
    "native",
    "new",
    "null",
    "package",
    "private",
    "protected",
    "public",
    "return",
    "short",
    "static",
    "strictfp",
    "super",
    "switch",
    "synchronized",
    "this",
    "throw",
    "throws",
    "transient",
    "true",
    "try",
    "void",
    "volatile",
    "while",
];

/// Methods that every object or builder has.
const OBJECT_METHODS: [&str; 10] = [
    "builder",
    "clone",
    "equals",
    "finalize",
    "getClass",
    "hashCode",
    "notify",
    "notifyAll",
    "toString",
    "wait",
];

/// Methods that every resource has in some version of the core SDK.
const RESOURCE_METHODS: [&str; 10] = [
    "getChildResources",
    "getId",
    "getResourceName",
    "getResourceType",
    "getUrn",
    "id",
    "pulumiChildResources",
    "pulumiResourceName",
    "pulumiResourceType",
    "urn",
];

fn is_start(char: char) -> bool {
    char == '$' || char == '_' || char.is_ascii_alphabetic()
}

/// The name without hyphens, other illegal characters replaced by `_`, and with a trailing `_` if it is a
/// reserved word.
pub(crate) fn identifier(name: &str) -> String {
    let mut result = String::with_capacity(name.len() + 1);
    for char in name.chars().filter(|char| *char != '-') {
        if result.is_empty() && char.is_ascii_digit() {
            result.push('_');
        }
        let is_legal = is_start(char) || char.is_ascii_digit();
        result.push(if is_legal { char } else { '_' });
    }
    if result.is_empty() || RESERVED.contains(&result.as_str()) {
        result.push('_');
    }
    // `_` alone is a keyword.
    if result == "_" {
        result.push('_');
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

/// Class name.
pub(crate) fn class(name: &str) -> String {
    title(&identifier(name))
}

/// Package name, with the given number of steps.
pub(super) fn package(name: &str) -> String {
    let steps = name.split('.').filter(|step| !step.is_empty());
    steps.map(identifier).collect::<Vec<_>>().join(".")
}

/// Kind of class whose inherited methods a getter must not override.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    Resource,
    Object,
}

/// Getter of a property.
pub(super) fn getter(identifier: &str, owner: Owner) -> String {
    let is_taken = OBJECT_METHODS.contains(&identifier)
        || identifier == "getResourceName"
        || (owner == Owner::Resource && RESOURCE_METHODS.contains(&identifier));
    if is_taken {
        format!("{identifier}_")
    } else {
        identifier.to_owned()
    }
}

/// Names of a property in a class.
#[derive(Clone, Debug)]
pub(super) struct PropertyNames {
    /// Name of its methods.
    pub(super) method: String,
    /// Name of its field. Fields are private, so their names need only differ from those of classes.
    pub(super) field: String,
    /// Name of the setters' parameter.
    pub(super) parameter: String,
}

/// Names for all properties of a class, distinct from each other.
pub(super) fn properties<'n>(
    names: impl Iterator<Item = &'n str>,
    owner: Owner,
) -> Vec<PropertyNames> {
    let mut taken: Vec<String> = Vec::new();
    let mut unique = |name: &str| {
        let mut name = identifier(name);
        while taken.contains(&name) {
            name.push('_');
        }
        taken.push(name.clone());
        let is_lower = name.starts_with(|char: char| char.is_ascii_lowercase());
        PropertyNames {
            method: getter(&name, owner),
            parameter: if is_lower {
                name.clone()
            } else {
                "value".to_owned()
            },
            field: if is_lower { name } else { format!("_{name}") },
        }
    };
    names.map(&mut unique).collect()
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
            char if char.is_control() || !char.is_ascii() => {
                let mut units = [0; 2];
                let units = char.encode_utf16(&mut units).iter();
                result.extend(units.map(|unit| format!("\\u{unit:04x}")));
            }
            char => result.push(char),
        }
    }
    result.push('"');
    result
}

/// Name of an enum constant; `None` if no legal name remains.
pub(crate) fn enum_constant(name: &str) -> Option<String> {
    let expanded = spelled_out(name);
    let is_sensible = match only_char(expanded) {
        Some(single) => is_start(single) && single != '_',
        None => !expanded.is_empty(),
    };
    if !is_sensible {
        return None;
    }
    let mut result = single_underscores(&title(&identifier(expanded)));
    if result == "_" {
        result.push('_');
    }
    Some(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_made_legal() {
        for (name, expected) in [
            ("$default", "$default"),
            ("default", "default_"),
            ("@default", "_default"),
            ("8", "_8"),
            ("azure-native", "azurenative"),
            ("a*/b", "a__b"),
            ("", "__"),
            ("_", "__"),
            ("-", "__"),
        ] {
            assert_eq!(identifier(name), expected);
        }
        assert_eq!(package("core.v1"), "core.v1");
        assert_eq!(package("tree/v1"), "tree_v1");
        assert_eq!(package("a.package"), "a.package_");
    }

    #[test]
    fn methods_stay_out_of_the_way_of_those_of_all_objects() {
        let names = ["JSONPath", "notify", "id", "a-b", "ab", "class"];
        let methods = |owner| -> Vec<String> {
            let named = properties(names.into_iter(), owner).into_iter();
            named.map(|names| names.method).collect()
        };
        assert_eq!(
            methods(Owner::Resource),
            ["JSONPath", "notify_", "id_", "ab", "ab_", "class_"]
        );
        assert_eq!(methods(Owner::Object)[2], "id");
    }

    #[test]
    fn constants_of_enums_have_names() {
        for (name, expected) in [
            ("+", None),
            ("*", Some("Asterisk")),
            ("0", Some("Zero")),
            ("8.3", Some("_8_3")),
            ("11", Some("_11")),
            (
                "Microsoft-Windows-Shell-Startup",
                Some("MicrosoftWindowsShellStartup"),
            ),
            ("final", Some("Final_")),
            (
                "SystemAssigned, UserAssigned",
                Some("SystemAssigned_UserAssigned"),
            ),
            (
                "Dev(NoSLA)_Standard_D11_v2",
                Some("Dev_NoSLA_Standard_D11_v2"),
            ),
            ("_NO_NAME", Some("_NO_NAME")),
        ] {
            assert_eq!(enum_constant(name).as_deref(), expected, "{name}");
        }
    }

    #[test]
    fn literals_hold_nothing_that_a_compiler_reads() {
        assert_eq!(string("a\"\\u0022\n\u{e9}"), r#""a\"\\u0022\n\u00e9""#);
        assert_eq!(string("\u{1f600}"), r#""\ud83d\ude00""#);
    }
}
