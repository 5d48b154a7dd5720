//! Configuration: declarations, stack values and their types (`yaml-runtime.md` 3).

use ecow::EcoString;

use crate::diagnostic::Diagnostic;
use crate::eval::convert;
use crate::eval::value::Val;
use crate::syntax::expression::Scope;
use crate::syntax::node::{Key, Node, NodeKind};
use crate::syntax::record::{Record, UnknownKeys};

/// A declared configuration value.
#[derive(Debug)]
pub(crate) struct ConfigDecl {
    pub(crate) key: Key,
    pub(crate) ty: Option<ConfigType>,
    /// Key in the stack's configuration, if it differs from the name.
    pub(crate) name: Option<EcoString>,
    pub(crate) secret: Option<bool>,
    pub(crate) default: Option<Node>,
    pub(crate) description: Option<EcoString>,
    /// Error in the declaration, which is reported only if the stack has no setting with this name.
    pub(crate) problem: Option<Diagnostic>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ConfigType {
    String,
    Number,
    Integer,
    Bool,
    Object,
    List(Box<ConfigType>),
}

impl ConfigType {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let lower = text.trim().to_lowercase();
        if let Some(element) = lower
            .strip_prefix("list<")
            .and_then(|rest| rest.strip_suffix('>'))
        {
            return Some(ConfigType::List(Box::new(ConfigType::parse(element)?)));
        }
        Some(match lower.as_str() {
            "string" => ConfigType::String,
            "number" => ConfigType::Number,
            "integer" | "int" => ConfigType::Integer,
            "boolean" | "bool" => ConfigType::Bool,
            "object" => ConfigType::Object,
            // Short form in project files: `type: array` with `items`.
            "array" => ConfigType::List(Box::new(ConfigType::Object)),
            _ => return None,
        })
    }

    pub(crate) fn name(&self) -> String {
        match self {
            ConfigType::String => "string".to_owned(),
            ConfigType::Number => "number".to_owned(),
            ConfigType::Integer => "integer".to_owned(),
            ConfigType::Bool => "boolean".to_owned(),
            ConfigType::Object => "object".to_owned(),
            ConfigType::List(element) => format!("list<{}>", element.name()),
        }
    }

    /// Type of a literal; `None` for null.
    pub(crate) fn of(node: &Node) -> Option<Self> {
        Some(match &node.kind {
            NodeKind::Null => return None,
            NodeKind::Bool(_) => ConfigType::Bool,
            NodeKind::Number(_) => ConfigType::Number,
            NodeKind::String(_) => ConfigType::String,
            NodeKind::Map(_) => ConfigType::Object,
            NodeKind::List(items) => ConfigType::List(Box::new(
                items
                    .first()
                    .and_then(ConfigType::of)
                    .unwrap_or(ConfigType::String),
            )),
        })
    }

    /// Whether `value` has this type. Unknown values are accepted.
    pub(crate) fn admits(&self, value: &Val) -> bool {
        match (self, value) {
            (_, Val::Null | Val::Poison) => true,
            (_, Val::Output(output)) => output.value.as_ref().is_none_or(|it| self.admits(it)),
            (ConfigType::String, Val::String(_))
            | (ConfigType::Number, Val::Number(_))
            | (ConfigType::Bool, Val::Bool(_))
            | (ConfigType::Object, Val::Object(_)) => true,
            (ConfigType::Integer, Val::Number(number)) => number.fract() == 0.0,
            (ConfigType::List(element), Val::List(items)) => {
                // The short form of lists does not specify their elements.
                **element == ConfigType::Object || items.iter().all(|item| element.admits(item))
            }
            _ => false,
        }
    }

    fn accepts(&self, node: &Node) -> bool {
        match (self, &node.kind) {
            (ConfigType::Integer, NodeKind::Number(value)) => value.fract() == 0.0,
            (ConfigType::List(element), NodeKind::List(items)) => {
                **element == ConfigType::Object || items.iter().all(|item| element.accepts(item))
            }
            _ => ConfigType::of(node).as_ref() == Some(self),
        }
    }
}

/// Types of settings, as listed in messages.
const VALID_TYPES: &str = "[string list<string> number list<number> integer list<integer> boolean list<boolean> \
                           object list<object>]";

/// Parses an entry of `config`.
pub(crate) fn parse(scope: &mut Scope, key: &Key, node: &Node) -> ConfigDecl {
    let NodeKind::Map(entries) = &node.kind else {
        // Settings of other packages, such as `aws:region: eu`, are read by the command line.
        let default = (node.kind != NodeKind::Null).then(|| node.clone());
        return ConfigDecl {
            key: key.clone(),
            ty: None,
            name: None,
            secret: None,
            default,
            description: None,
            problem: None,
        };
    };
    let fields = [
        "default",
        "description",
        "items",
        "name",
        "secret",
        "type",
        "value",
    ];
    let mut record = Record::of_entries(scope, entries, "config", &fields, UnknownKeys::Ignored);
    let mut problem = None;
    let ty = record.literal(scope, "type").and_then(|(text, span)| {
        let ty = ConfigType::parse(&text);
        if ty.is_none() {
            let summary =
                format!("unexpected configuration type '{text}': valid types are {VALID_TYPES}");
            problem = Some(Diagnostic::error(span, summary));
        }
        ty
    });
    let name = record.literal(scope, "name").map(|(text, _)| text);
    let secret = record.boolean(scope, "secret");
    let description = record.take("description");
    let description = description.and_then(|(_, node)| node.as_str().cloned());
    let default = record.take("default").or_else(|| record.take("value"));
    let default = default
        .filter(|(_, node)| node.kind != NodeKind::Null)
        .map(|(_, node)| node.clone());
    if let (Some(ty), Some(default)) = (&ty, &default)
        && !ty.accepts(default)
    {
        let found = ConfigType::of(default).map_or_else(|| "null".to_owned(), |ty| ty.name());
        let summary = format!(
            "type mismatch: default value of type {found} but type {} was specified",
            ty.name()
        );
        problem = Some(Diagnostic::error(key.span, summary));
    }
    ConfigDecl {
        key: key.clone(),
        ty,
        name,
        secret,
        default,
        description,
        problem,
    }
}

/// Value of a stack setting without a declared type, derived from its text.
pub(crate) fn stack_value(text: &str) -> Val {
    if text.len() > 1 && text.starts_with('0') && !text.starts_with("0.") {
        return Val::String(text.into());
    }
    if let Ok(integer) = text.parse::<i64>() {
        return Val::Number(integer as f64);
    }
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => return Val::Bool(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => return Val::Bool(false),
        _ => {}
    }
    if let Some(number) = parse_float(text) {
        return Val::Number(number);
    }
    serde_json::from_str(text).map_or_else(
        |_| Val::String(text.into()),
        |json| convert::from_json(&json),
    )
}

/// Floating-point number. Requires a digit, because texts such as `inf` and `nan` are usually
/// words.
fn parse_float(text: &str) -> Option<f64> {
    let looks_numeric = text.bytes().any(|byte| byte.is_ascii_digit());
    if looks_numeric {
        text.parse().ok()
    } else {
        None
    }
}

/// Value of a stack setting with a declared type. Errors do not contain the text of a secret.
pub(crate) fn declared_value(ty: &ConfigType, text: &str, secret: bool) -> Result<Val, String> {
    let mismatch = |wanted: &str| {
        if secret {
            format!("the secret config value is not {wanted}")
        } else {
            format!("config value {text:?} is not {wanted}")
        }
    };
    match ty {
        ConfigType::String => Ok(Val::String(text.into())),
        ConfigType::Number => text
            .parse()
            .map(Val::Number)
            .map_err(|_| mismatch("a number")),
        ConfigType::Integer => text
            .parse::<i64>()
            .map(|value| Val::Number(value as f64))
            .map_err(|_| mismatch("an integer")),
        ConfigType::Bool => match text {
            "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(Val::Bool(true)),
            "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(Val::Bool(false)),
            _ => Err(mismatch("a boolean")),
        },
        ConfigType::Object | ConfigType::List(_) => serde_json::from_str(text)
            .map(|json| convert::from_json(&json))
            .map_err(|_| mismatch("valid JSON")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stack_values_get_the_type_they_look_like() {
        let text = |text: &str| Val::String(text.into());
        for (input, expected) in [
            ("123", Val::Number(123.0)),
            ("0123", text("0123")),
            ("0.5", Val::Number(0.5)),
            ("0", Val::Number(0.0)),
            ("-7", Val::Number(-7.0)),
            ("true", Val::Bool(true)),
            ("t", Val::Bool(true)),
            ("yes", text("yes")),
            ("inf", text("inf")),
            ("\"quoted\"", text("quoted")),
            ("", text("")),
            ("eu-west-1", text("eu-west-1")),
        ] {
            assert_eq!(stack_value(input), expected, "{input}");
        }
        assert_eq!(
            stack_value("[1, \"a\"]"),
            Val::list(vec![Val::Number(1.0), text("a")])
        );
    }

    #[test]
    fn types_are_read_without_regard_to_case() {
        assert_eq!(ConfigType::parse("Int"), Some(ConfigType::Integer));
        assert_eq!(
            ConfigType::parse("List<String>"),
            Some(ConfigType::List(Box::new(ConfigType::String)))
        );
        assert_eq!(ConfigType::parse("text"), None);
    }
}
