//! Grammar of schema documents: the allowed keys, their order when printed, and the kinds of their values (`schema.md` 3 to
//! 9).
//!
//! Both reading ([`check`]) and printing ([`crate::print`]) follow these tables. Keys that are missing here are silently
//! dropped.

use crate::document::{Document, Format, Node, Value};
use crate::problem::{At, Problems};

/// Kind of a key's value.
pub(crate) enum Shape {
    Text,
    /// A flag that is off by default.
    Flag,
    /// A flag that is on by default.
    Denial,
    /// A boolean, number or string.
    Scalar,
    /// Any value; kept unchanged.
    Raw,
    List(&'static Shape),
    Map(&'static Shape),
    Record(&'static [Field]),
    /// A token, or an object with a token.
    Alias,
    /// Result of a function: an inline object, or a type.
    Outputs,
    /// The given kind, printed even when empty.
    Kept(&'static Shape),
    /// `plain` of an object: a list of names in old schemas, otherwise a flag of a function's result.
    PlainMark,
}

/// A key of a record.
pub(crate) struct Field {
    pub(crate) key: &'static str,
    pub(crate) shape: Shape,
}

const fn field(key: &'static str, shape: Shape) -> Field {
    Field { key, shape }
}

const TEXTS: Shape = Shape::List(&Shape::Text);
const LANGUAGE: Shape = Shape::Map(&Shape::Raw);
const PROPERTIES: Shape = Shape::Map(&Shape::Record(&PROPERTY));

pub(crate) static DOCUMENT: Shape = Shape::Record(&[
    field("name", Shape::Text),
    field("displayName", Shape::Text),
    field("version", Shape::Text),
    field("description", Shape::Text),
    field("keywords", TEXTS),
    field("homepage", Shape::Text),
    field("license", Shape::Text),
    field("attribution", Shape::Text),
    field("repository", Shape::Text),
    field("logoUrl", Shape::Text),
    field("pluginDownloadURL", Shape::Text),
    field("publisher", Shape::Text),
    field("namespace", Shape::Text),
    field("meta", Shape::Record(&META)),
    field("allowedPackageNames", TEXTS),
    field("language", LANGUAGE),
    field("config", Shape::Record(&CONFIG)),
    field("types", Shape::Map(&Shape::Record(&COMPLEX_TYPE))),
    field("provider", Shape::Record(&RESOURCE)),
    field("resources", Shape::Map(&Shape::Record(&RESOURCE))),
    field("functions", Shape::Map(&Shape::Record(&FUNCTION))),
    field("dependencies", Shape::List(&Shape::Record(&DESCRIPTOR))),
    field("parameterization", Shape::Record(&PARAMETERIZATION)),
    field("extensionParameterization", Shape::Record(&EXTENSION)),
]);

static META: [Field; 2] = [
    field("moduleFormat", Shape::Text),
    field("supportPack", Shape::Flag),
];

static CONFIG: [Field; 2] = [field("variables", PROPERTIES), field("defaults", TEXTS)];

static TYPE: [Field; 7] = [
    field("type", Shape::Text),
    field("$ref", Shape::Text),
    field("additionalProperties", Shape::Record(&TYPE)),
    field("items", Shape::Record(&TYPE)),
    field("oneOf", Shape::List(&Shape::Record(&TYPE))),
    field("discriminator", Shape::Record(&DISCRIMINATOR)),
    field("plain", Shape::Flag),
];

static DISCRIMINATOR: [Field; 2] = [
    field("propertyName", Shape::Text),
    field("mapping", Shape::Map(&Shape::Text)),
];

static PROPERTY: [Field; 16] = [
    field("type", Shape::Text),
    field("$ref", Shape::Text),
    field("additionalProperties", Shape::Record(&TYPE)),
    field("items", Shape::Record(&TYPE)),
    field("oneOf", Shape::List(&Shape::Record(&TYPE))),
    field("discriminator", Shape::Record(&DISCRIMINATOR)),
    field("plain", Shape::Flag),
    field("description", Shape::Text),
    field("const", Shape::Scalar),
    field("default", Shape::Scalar),
    field("defaultInfo", Shape::Record(&DEFAULT_INFO)),
    field("deprecationMessage", Shape::Text),
    field("language", LANGUAGE),
    field("secret", Shape::Flag),
    field("replaceOnChanges", Shape::Flag),
    field("willReplaceOnChanges", Shape::Flag),
];

static DEFAULT_INFO: [Field; 2] = [field("environment", TEXTS), field("language", LANGUAGE)];

static OBJECT: [Field; 8] = [
    field("description", Shape::Text),
    field("properties", PROPERTIES),
    field("type", Shape::Text),
    field("required", TEXTS),
    field("plain", Shape::PlainMark),
    field("language", LANGUAGE),
    field("isOverlay", Shape::Flag),
    field("overlaySupportedLanguages", TEXTS),
];

/// An inline result. The key `properties` distinguishes it from a type, even when empty.
static RESULT: [Field; 5] = [
    field("description", Shape::Text),
    field("properties", Shape::Kept(&PROPERTIES)),
    field("required", TEXTS),
    field("plain", Shape::PlainMark),
    field("language", LANGUAGE),
];

static COMPLEX_TYPE: [Field; 9] = [
    field("description", Shape::Text),
    field("properties", PROPERTIES),
    field("type", Shape::Text),
    field("required", TEXTS),
    field("plain", Shape::PlainMark),
    field("language", LANGUAGE),
    field("isOverlay", Shape::Flag),
    field("overlaySupportedLanguages", TEXTS),
    field("enum", Shape::List(&Shape::Record(&ENUM_VALUE))),
];

static ENUM_VALUE: [Field; 4] = [
    field("name", Shape::Text),
    field("description", Shape::Text),
    field("value", Shape::Scalar),
    field("deprecationMessage", Shape::Text),
];

static RESOURCE: [Field; 17] = [
    field("description", Shape::Text),
    field("properties", PROPERTIES),
    field("type", Shape::Text),
    field("required", TEXTS),
    field("plain", Shape::PlainMark),
    field("language", LANGUAGE),
    field("isOverlay", Shape::Flag),
    field("overlaySupportedLanguages", TEXTS),
    field("inputProperties", PROPERTIES),
    field("requiredInputs", TEXTS),
    field("plainInputs", Shape::PlainMark),
    field("stateInputs", Shape::Record(&OBJECT)),
    field("listInputs", Shape::Record(&OBJECT)),
    field("aliases", Shape::List(&Shape::Alias)),
    field("deprecationMessage", Shape::Text),
    field("isComponent", Shape::Flag),
    field("methods", Shape::Map(&Shape::Text)),
];

/// Keys of a function, printed in alphabetical order.
static FUNCTION: [Field; 9] = [
    field("deprecationMessage", Shape::Text),
    field("description", Shape::Text),
    field("inputs", Shape::Record(&OBJECT)),
    field("isOverlay", Shape::Flag),
    field("language", LANGUAGE),
    field("multiArgumentInputs", TEXTS),
    field("outputs", Shape::Outputs),
    field("overlaySupportedLanguages", TEXTS),
    field("plain", Shape::Denial),
];

static DESCRIPTOR: [Field; 4] = [
    field("name", Shape::Text),
    field("version", Shape::Text),
    field("downloadURL", Shape::Text),
    field(
        "parameterization",
        Shape::Record(&[
            field("name", Shape::Text),
            field("version", Shape::Text),
            field("value", Shape::Text),
        ]),
    ),
];

static PARAMETERIZATION: [Field; 2] = [
    field("baseProvider", Shape::Record(&NAME_AND_VERSION)),
    field("parameter", Shape::Text),
];

static NAME_AND_VERSION: [Field; 2] = [field("name", Shape::Text), field("version", Shape::Text)];

static EXTENSION: [Field; 2] = [
    field(
        "baseProvider",
        Shape::Record(&[
            field("name", Shape::Text),
            field("version", Shape::Text),
            field(
                "parameterization",
                Shape::Record(&[
                    field("basePlugin", Shape::Record(&NAME_AND_VERSION)),
                    field("parameter", Shape::Text),
                ]),
            ),
        ]),
    ),
    field("parameter", Shape::Text),
];

/// The table for the result of a function.
pub(crate) fn outputs_record(node: &Node<'_>) -> &'static [Field] {
    if node.get("properties").is_some() {
        &RESULT
    } else {
        &TYPE
    }
}

/// Reports every value of a kind other than its key requires.
pub(crate) fn check(document: &Document<'_>, problems: &mut Problems) {
    let check = Check {
        is_yaml: document.format == Format::Yaml,
    };
    check.node(&document.root, &DOCUMENT, &At::ROOT, problems);
}

struct Check {
    /// Whether a text may be a number or a boolean, because YAML does not require quotes.
    is_yaml: bool,
}

impl Check {
    fn node(&self, node: &Node<'_>, shape: &Shape, at: &At<'_>, problems: &mut Problems) {
        let wrong = |problems: &mut Problems, expected: &str| {
            problems.expected(at, format!("this is {}", node.kind()), expected);
        };
        match (shape, &node.value) {
            // Null counts as absent.
            (_, Value::Null) | (Shape::Raw, _) => {}
            (Shape::Text, Value::String(_)) | (Shape::Flag | Shape::Denial, Value::Bool(_)) => {}
            (Shape::Text, Value::Number(_) | Value::Bool(_)) if self.is_yaml => {}
            (Shape::Text, _) => wrong(problems, "a string"),
            (Shape::Flag | Shape::Denial, _) => wrong(problems, "`true` or `false`"),
            (Shape::Scalar, Value::Bool(_) | Value::Number(_) | Value::String(_)) => {}
            (Shape::Scalar, _) => wrong(problems, "a boolean, a number or a string"),
            (Shape::Kept(shape), _) => self.node(node, shape, at, problems),
            (Shape::List(item), Value::List(items)) => {
                for (index, node) in items.iter().enumerate() {
                    self.node(node, item, &at.index(index, node.offset), problems);
                }
            }
            (Shape::List(_), _) => wrong(problems, "a list"),
            (Shape::Map(member), Value::Map(entries)) => {
                for (key, node) in entries {
                    self.node(node, member, &at.key(&key.name, key.offset), problems);
                }
            }
            (Shape::Record(fields), Value::Map(_)) => self.record(node, fields, at, problems),
            (Shape::Outputs, Value::Map(_)) => {
                self.record(node, outputs_record(node), at, problems);
            }
            (Shape::Map(_) | Shape::Record(_) | Shape::Outputs, _) => wrong(problems, "an object"),
            (Shape::Alias, Value::String(_)) => {}
            (Shape::Alias, Value::Map(_)) => match node.get("type").map(|ty| &ty.value) {
                Some(Value::String(_)) => {}
                _ => problems.expected(at, "the alias names no type", "`type` with a token"),
            },
            (Shape::Alias, _) => wrong(problems, "a token, or an object with a `type`"),
            (Shape::PlainMark, Value::Bool(_)) => {}
            (Shape::PlainMark, _) => problems.error(
                at,
                "plain has been removed; the property type must be marked as plain instead",
            ),
        }
    }

    fn record(&self, node: &Node<'_>, fields: &[Field], at: &At<'_>, problems: &mut Problems) {
        for (key, value) in node.entries() {
            if let Some(field) = fields.iter().find(|field| field.key == key.name) {
                let at = at.key(field.key, key.offset);
                self.node(value, &field.shape, &at, problems);
            }
        }
    }
}
