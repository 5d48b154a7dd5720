//! The page that shows a trace: everything is in it, so that it works without a network.

use std::collections::HashMap;

use serde_json::{Value as Json, json};

use super::wire::Span;

/// The page, with a place for what it shows.
const PAGE: &str = include_str!("page.html");
/// That place.
const PLACE: &str = "/*TRACE*/";

/// The page about these spans, which come in the order of their beginning.
pub(crate) fn page(title: &str, spans: &[Span]) -> String {
    let data = json!({ "title": title, "spans": data(spans) }).to_string();
    // Nothing in it ends the element that it stands in.
    let data = data.replace('<', "\\u003c");
    PAGE.replacen(PLACE, &data, 1)
}

/// What the page knows of each span: times are in milliseconds since the first, parents are places in the list.
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
