//! HTML page that shows a trace. It is self-contained, so that it works without a network.

use std::collections::HashMap;

use serde_json::{Value as Json, json};

use super::wire::Span;

/// Template of the page.
const PAGE: &str = include_str!("page.html");
/// Placeholder for the data in the template.
const PLACE: &str = "/*TRACE*/";

/// Page for `spans`, which are sorted by start time.
pub(crate) fn page(title: &str, spans: &[Span]) -> String {
    let data = json!({ "title": title, "spans": data(spans) }).to_string();
    // Escaped, so that no text ends the enclosing element.
    let data = data.replace('<', "\\u003c");
    PAGE.replacen(PLACE, &data, 1)
}

/// Data of each span: times in milliseconds since the first span, parents as indices of the list.
fn data(spans: &[Span]) -> Vec<Json> {
    let first = spans.first().map_or(0, |span| span.start.0);
    let places: HashMap<&str, usize> = spans
        .iter()
        .enumerate()
        .map(|(place, span)| (span.id.as_str(), place))
        .collect();
    let milliseconds = |nanoseconds: u64| nanoseconds as f64 / 1e6;
    spans
        .iter()
        .map(|span| {
            let attributes = span.attributes.iter();
            let attributes: Vec<(String, String)> = attributes
                .filter_map(|it| Some((it.key.clone(), it.value.shown()?)))
                .collect();
            json!({
                "name": span.name,
                "parent": places.get(span.parent.as_str()),
                "start": milliseconds(span.start.0 - first),
                "took": milliseconds(span.duration()),
                "failed": span.failed(),
                "attributes": attributes,
            })
        })
        .collect()
}
