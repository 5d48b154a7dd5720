//! Traces in the format of Perfetto and Chrome.
//!
//! There, spans are arranged in rows, and the spans of a row must be nested or disjoint. A span is placed in the first row
//! where it fits, which is the row of its parent unless spans run in parallel.

use serde_json::{Map, Value as Json, json};

use opentelemetry_proto::tonic::trace::v1::Span;

use super::wire;

/// Process id in the document.
const PROCESS: u32 = 1;

/// Trace document. `spans` are sorted by start time.
pub fn document(spans: &[Span]) -> Json {
    let mut events = vec![json!({
        "ph": "M", "name": "process_name", "pid": PROCESS, "tid": 0, "args": { "name": crate::NAME },
    })];
    let rows = rows(spans);
    for (span, row) in spans.iter().zip(rows) {
        events.push(json!({
            "ph": "X",
            "name": wire::label(span),
            "cat": if wire::failed(span) { "failed" } else { "span" },
            "ts": microseconds(span.start_time_unix_nano),
            "dur": microseconds(wire::duration(span)),
            "pid": PROCESS,
            "tid": row,
            "args": arguments(span),
        }));
    }
    json!({ "displayTimeUnit": "ms", "traceEvents": events })
}

fn microseconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1000.0
}

fn arguments(span: &Span) -> Json {
    let arguments: Map<String, Json> = wire::shown_attributes(span)
        .map(|(key, value)| (key.to_owned(), value.into()))
        .collect();
    Json::Object(arguments)
}

/// Row of each span, from 1.
fn rows(spans: &[Span]) -> Vec<usize> {
    // Ends of the open spans in each row, outermost first.
    let mut open: Vec<Vec<u64>> = Vec::new();
    let mut rows = Vec::with_capacity(spans.len());
    for span in spans {
        let (start, end) = (span.start_time_unix_nano, span.end_time_unix_nano);
        let fits = open.iter_mut().position(|ends| {
            while ends.last().is_some_and(|last| *last <= start) {
                ends.pop();
            }
            ends.last().is_none_or(|last| end <= *last)
        });
        let row = fits.unwrap_or_else(|| {
            open.push(Vec::new());
            open.len() - 1
        });
        open[row].push(end);
        rows.push(row + 1);
    }
    rows
}
