//! File format of traces: OTLP as JSON, one or more spans in each document, usually one document per line.

use std::path::Path;

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, InstrumentationScope, KeyValue};
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span};

use crate::Error;
use crate::own_version::{BUILD, COMMIT, OWN_VERSION};

/// Attribute with the words of the command, in its span.
pub(super) const COMMAND: &str = "cli.command";

/// Attribute with the phase of an operation, `preview` or the kind of the operation, in its span.
pub(super) const PHASE: &str = "phase";

/// An attribute with a text.
pub(super) fn text(key: &str, value: impl Into<String>) -> KeyValue {
    attribute(key, Value::StringValue(value.into()))
}

/// An attribute with a number.
pub(super) fn number(key: &str, value: i64) -> KeyValue {
    attribute(key, Value::IntValue(value))
}

fn attribute(key: &str, value: Value) -> KeyValue {
    KeyValue {
        key: key.to_owned(),
        value: Some(AnyValue { value: Some(value) }),
        ..KeyValue::default()
    }
}

/// Attributes with their texts. Those of types without a short text are left out.
pub(super) fn shown_attributes(span: &Span) -> impl Iterator<Item = (&str, String)> {
    span.attributes
        .iter()
        .filter_map(|it| Some((it.key.as_str(), shown(it.value.as_ref()?.value.as_ref()?)?)))
}

fn shown(value: &Value) -> Option<String> {
    match value {
        Value::StringValue(text) => Some(text.clone()),
        Value::IntValue(number) => Some(number.to_string()),
        Value::BoolValue(truth) => Some(truth.to_string()),
        Value::DoubleValue(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Name of a span for people: the command, the operation, or the call and its subject. Other spans have names that say enough.
pub(super) fn label(span: &Span) -> String {
    let of = |wanted: &str| {
        let mut attributes = shown_attributes(span);
        attributes.find_map(|(key, value)| (key == wanted).then_some(value))
    };
    if let Some(words) = of(COMMAND).or_else(|| of(PHASE)) {
        return words;
    }
    match (of("call"), of("name")) {
        (Some(call), Some(name)) => format!("{call} {name}").trim_end().to_owned(),
        _ => span.name.clone(),
    }
}

/// Duration in nanoseconds.
pub(super) fn duration(span: &Span) -> u64 {
    span.end_time_unix_nano
        .saturating_sub(span.start_time_unix_nano)
}

/// Whether the action failed.
pub(super) fn failed(span: &Span) -> bool {
    let status = span.status.as_ref();
    status.is_some_and(|status| status.code == StatusCode::Error as i32)
}

/// All documents of a file, at least one of them with spans.
pub fn read(path: &Path) -> Result<Vec<ResourceSpans>, Error> {
    let shown = path.display();
    let text = std::fs::read_to_string(path)
        .map_err(|error| Error::user(format!("could not read the trace {shown}: {error}")))?;
    let documents = parse(&text).map_err(|error| {
        Error::user(format!(
            "{shown}, line {}, is no trace: {error}; `plumb up --otel-traces file://PATH` writes one",
            error.line()
        ))
    })?;
    let mut scopes = documents.iter().flat_map(|it| &it.scope_spans);
    if scopes.all(|scope| scope.spans.is_empty()) {
        return Err(Error::user(format!("the trace {shown} has no spans")));
    }
    Ok(documents)
}

/// Consecutive documents.
pub fn parse(text: &str) -> Result<Vec<ResourceSpans>, serde_json::Error> {
    /// A document, which has at least this field.
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Document {
        resource_spans: Vec<ResourceSpans>,
    }
    let mut all = Vec::new();
    for document in serde_json::Deserializer::from_str(text).into_iter::<Document>() {
        all.extend(document?.resource_spans);
    }
    Ok(all)
}

/// The spans of documents, sorted by start time, and the longest first among equal ones.
pub fn spans(documents: Vec<ResourceSpans>) -> Vec<Span> {
    let scopes = documents.into_iter().flat_map(|it| it.scope_spans);
    let mut spans: Vec<Span> = scopes.flat_map(|scope| scope.spans).collect();
    spans.sort_by_key(|span| {
        let end = std::cmp::Reverse(span.end_time_unix_nano);
        (span.start_time_unix_nano, end)
    });
    spans
}

/// A document.
pub fn document(resource_spans: Vec<ResourceSpans>) -> ExportTraceServiceRequest {
    ExportTraceServiceRequest { resource_spans }
}

/// `spans` of `service`, recorded by this process.
pub(super) fn batch(service: &str, spans: Vec<Span>) -> ResourceSpans {
    let resource = Resource {
        attributes: vec![
            text("service.name", service),
            text("service.version", crate::VERSION),
            text("plumb.version", OWN_VERSION),
            text("plumb.commit", COMMIT),
            text("plumb.build", BUILD),
            number("process.pid", i64::from(std::process::id())),
        ],
        ..Resource::default()
    };
    let scope = InstrumentationScope {
        name: crate::NAME.to_owned(),
        version: crate::VERSION.to_owned(),
        ..InstrumentationScope::default()
    };
    ResourceSpans {
        resource: Some(resource),
        scope_spans: vec![ScopeSpans {
            scope: Some(scope),
            spans,
            ..ScopeSpans::default()
        }],
        ..ResourceSpans::default()
    }
}
