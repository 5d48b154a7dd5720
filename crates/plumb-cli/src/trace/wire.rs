//! File format of traces: OTLP as JSON, one or more spans in each document, usually one document per line.
//!
//! Numbers beyond the range of JavaScript are strings, ids are hexadecimal. Fields of other exporters that are not used here
//! are ignored.

use std::path::Path;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::Error;

use crate::own_version::{BUILD, COMMIT, OWN_VERSION};

/// A batch of an exporter.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Request {
    pub(crate) resource_spans: Vec<ResourceSpans>,
}

/// Spans of one process.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ResourceSpans {
    #[serde(default)]
    pub(crate) resource: Resource,
    pub(crate) scope_spans: Vec<ScopeSpans>,
}

/// A process.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct Resource {
    #[serde(default)]
    pub(crate) attributes: Vec<Attribute>,
}

/// Spans of one library in a process.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct ScopeSpans {
    #[serde(default)]
    pub(crate) scope: Scope,
    pub(crate) spans: Vec<Span>,
}

/// A library.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct Scope {
    #[serde(default)]
    pub(crate) name: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) version: String,
}

/// A span: an action with start and end.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Span {
    pub(crate) trace_id: String,
    #[serde(rename = "spanId")]
    pub(crate) id: String,
    #[serde(
        rename = "parentSpanId",
        default,
        skip_serializing_if = "String::is_empty"
    )]
    pub(crate) parent: String,
    pub(crate) name: String,
    /// Always 1, internal; other kinds are of no interest here.
    #[serde(default = "internal", deserialize_with = "any_kind")]
    pub(crate) kind: u8,
    #[serde(rename = "startTimeUnixNano")]
    pub(crate) start: Nanoseconds,
    #[serde(rename = "endTimeUnixNano")]
    pub(crate) end: Nanoseconds,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) attributes: Vec<Attribute>,
    #[serde(default, skip_serializing_if = "Status::is_unset")]
    pub(crate) status: Status,
}

impl Span {
    /// Duration in nanoseconds.
    pub(crate) fn duration(&self) -> u64 {
        self.end.0.saturating_sub(self.start.0)
    }

    /// Whether the action failed.
    pub(crate) fn failed(&self) -> bool {
        self.status.code == Status::ERROR
    }
}

fn internal() -> u8 {
    1
}

fn any_kind<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u8, D::Error> {
    serde::de::IgnoredAny::deserialize(deserializer).map(|_| internal())
}

/// Result of a span.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct Status {
    #[serde(default)]
    pub(crate) code: u8,
}

impl Status {
    pub(crate) const ERROR: u8 = 2;

    fn is_unset(&self) -> bool {
        self.code == 0
    }
}

/// Nanoseconds since 1970.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Nanoseconds(pub(crate) u64);

impl Serialize for Nanoseconds {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Nanoseconds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Form {
            Number(u64),
            Text(String),
        }
        match Form::deserialize(deserializer)? {
            Form::Number(number) => Ok(Nanoseconds(number)),
            Form::Text(text) => text
                .parse()
                .map(Nanoseconds)
                .map_err(serde::de::Error::custom),
        }
    }
}

/// A name with a value.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Attribute {
    pub(crate) key: String,
    #[serde(default)]
    pub(crate) value: Value,
}

impl Attribute {
    pub(crate) fn text(key: &str, value: impl Into<String>) -> Self {
        Attribute {
            key: key.to_owned(),
            value: Value {
                text: Some(value.into()),
                ..Value::default()
            },
        }
    }

    pub(crate) fn number(key: &str, value: i64) -> Self {
        Attribute {
            key: key.to_owned(),
            value: Value {
                number: Some(Integer(value)),
                ..Value::default()
            },
        }
    }
}

/// Value of an attribute. Types without a field here are not shown.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub(crate) struct Value {
    #[serde(rename = "stringValue", skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(rename = "intValue", skip_serializing_if = "Option::is_none")]
    number: Option<Integer>,
    #[serde(rename = "boolValue", skip_serializing_if = "Option::is_none")]
    truth: Option<bool>,
    #[serde(rename = "doubleValue", skip_serializing_if = "Option::is_none")]
    float: Option<f64>,
}

/// An integer, which the format represents as a string.
#[derive(Clone, Copy, Debug)]
struct Integer(i64);

impl Serialize for Integer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Integer {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Form {
            Number(i64),
            Text(String),
        }
        match Form::deserialize(deserializer)? {
            Form::Number(number) => Ok(Integer(number)),
            Form::Text(text) => text.parse().map(Integer).map_err(serde::de::Error::custom),
        }
    }
}

impl Value {
    /// Text of the value; `None` for types that are not shown.
    pub(crate) fn shown(&self) -> Option<String> {
        let number = self.number.map(|number| number.0.to_string());
        let text = self.text.clone().or(number);
        text.or_else(|| self.truth.map(|it| it.to_string()))
            .or_else(|| self.float.map(|it| it.to_string()))
    }
}

/// All spans of a file, sorted by start time, and the longest first among equal ones.
pub(crate) fn read(path: &Path) -> Result<Vec<Span>, Error> {
    let shown = path.display();
    let text = std::fs::read_to_string(path)
        .map_err(|error| Error::user(format!("could not read the trace {shown}: {error}")))?;
    let mut spans = parse(&text).map_err(|error| {
        Error::user(format!(
            "{shown}, line {}, is no trace: {error}; `plumb up --tracing file:PATH` writes one",
            error.line()
        ))
    })?;
    if spans.is_empty() {
        return Err(Error::user(format!("the trace {shown} has no spans")));
    }
    spans.sort_by_key(|span| (span.start, std::cmp::Reverse(span.end)));
    Ok(spans)
}

/// Spans of consecutive documents.
pub(crate) fn parse(text: &str) -> Result<Vec<Span>, serde_json::Error> {
    let mut spans = Vec::new();
    for request in serde_json::Deserializer::from_str(text).into_iter::<Request>() {
        let resources = request?.resource_spans.into_iter();
        let scopes = resources.flat_map(|resource| resource.scope_spans);
        spans.extend(scopes.flat_map(|scope| scope.spans));
    }
    Ok(spans)
}

/// A document with `spans`.
pub(crate) fn request(spans: Vec<Span>) -> Request {
    Request {
        resource_spans: vec![ResourceSpans {
            resource: Resource {
                attributes: vec![
                    Attribute::text("service.name", crate::NAME),
                    Attribute::text("service.version", crate::VERSION),
                    Attribute::text("plumb.version", OWN_VERSION),
                    Attribute::text("plumb.commit", COMMIT),
                    Attribute::text("plumb.build", BUILD),
                    Attribute::number("process.pid", i64::from(std::process::id())),
                ],
            },
            scope_spans: vec![ScopeSpans {
                scope: Scope {
                    name: crate::NAME.to_owned(),
                    version: crate::VERSION.to_owned(),
                },
                spans,
            }],
        }],
    }
}
