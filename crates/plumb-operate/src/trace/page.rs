//! HTML page that shows a trace. It is self-contained, so that it works without a network.

use std::collections::HashMap;

use serde_json::{Value as Json, json};

use opentelemetry_proto::tonic::trace::v1::Span;

use super::wire;

/// Template of the page.
const PAGE: &str = include_str!("page.html");
/// Placeholder for the data in the template.
const PLACE: &str = "/*TRACE*/";

/// Page for `spans`, which are sorted by start time.
pub fn page(title: &str, spans: &[Span]) -> String {
    let data = json!({ "title": title, "spans": data(spans) }).to_string();
    // Escaped, so that no text ends the enclosing element.
    let data = data.replace('<', "\\u003c");
    PAGE.replacen(PLACE, &data, 1)
}

/// Data of each span: times in milliseconds since the first span, parents as indices of the list.
fn data(spans: &[Span]) -> Vec<Json> {
    let first = spans.first().map_or(0, |span| span.start_time_unix_nano);
    let places: HashMap<&[u8], usize> = spans
        .iter()
        .enumerate()
        .map(|(place, span)| (span.span_id.as_slice(), place))
        .collect();
    let milliseconds = |nanoseconds: u64| nanoseconds as f64 / 1e6;
    spans
        .iter()
        .map(|span| {
            let attributes: Vec<(&str, String)> = wire::shown_attributes(span).collect();
            json!({
                "name": wire::label(span),
                "parent": places.get(span.parent_span_id.as_slice()),
                "start": milliseconds(span.start_time_unix_nano - first),
                "took": milliseconds(wire::duration(span)),
                "failed": wire::failed(span),
                "attributes": attributes,
            })
        })
        .collect()
}
