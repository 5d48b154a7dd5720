//! Tests of the trace formats.

use serde_json::{Value as Json, json};

use super::{chrome, page, wire};
use opentelemetry_proto::tonic::trace::v1::Span;

/// Spans from a name, start and end, in seconds.
fn spans(all: &[(&str, u64, u64)]) -> Vec<Span> {
    let of = |(place, (name, start, end)): (usize, &(&str, u64, u64))| {
        json!({
            "traceId": "0123456789abcdef0123456789abcdef",
            "spanId": format!("{:016x}", place + 1),
            "parentSpanId": if place == 0 { "" } else { "0000000000000001" },
            "name": name,
            "startTimeUnixNano": (start * 1_000_000_000).to_string(),
            "endTimeUnixNano": end * 1_000_000_000,
        })
    };
    let spans: Vec<Json> = all.iter().enumerate().map(of).collect();
    let document = json!({ "resourceSpans": [{ "scopeSpans": [{ "spans": spans }] }] });
    wire::spans(wire::parse(&document.to_string()).unwrap())
}

#[test]
fn documents_follow_each_other_in_lines_or_otherwise() {
    let one = r#"{"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": "0a", "spanId": "0b", "name": "c", "kind": 3,
        "startTimeUnixNano": "5", "endTimeUnixNano": 7, "flags": 1, "status": {"code": 2}, "attributes": [
        {"key": "text", "value": {"stringValue": "x"}}, {"key": "list", "value": {"arrayValue": {"values": []}}},
        {"key": "number", "value": {"intValue": "3"}}]}]}]}]}"#;
    let spans = wire::spans(wire::parse(&format!("{one}\n{one}")).unwrap());
    assert_eq!(spans.len(), 2);
    assert!(wire::failed(&spans[0]) && wire::duration(&spans[0]) == 2);
    let shown: Vec<_> = wire::shown_attributes(&spans[0]).collect();
    assert_eq!(
        shown,
        [("text", "x".to_owned()), ("number", "3".to_owned())]
    );
    assert_eq!(wire::parse("{}").unwrap_err().line(), 1);
}

#[test]
fn what_runs_side_by_side_gets_rows_of_its_own() {
    let spans = spans(&[
        ("all", 0, 10),
        ("first", 1, 4),
        ("beside it", 2, 5),
        ("in first", 2, 3),
        ("later", 6, 7),
    ]);
    let document = chrome::document(&spans);
    let rows: Vec<(&str, u64)> = document["traceEvents"]
        .as_array()
        .unwrap()
        .iter()
        .skip(1)
        .map(|event| {
            (
                event["name"].as_str().unwrap(),
                event["tid"].as_u64().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        rows,
        [
            ("all", 1),
            ("first", 1),
            ("beside it", 2),
            ("in first", 1),
            ("later", 1)
        ]
    );
    assert_eq!(document["traceEvents"][2]["ts"], 1_000_000.0);
    assert_eq!(document["traceEvents"][2]["dur"], 3_000_000.0);
}

#[test]
fn names_cannot_end_the_script_that_they_stand_in() {
    let spans = spans(&[("</script><b>", 0, 1)]);
    let page = page::page("a <title>", &spans);
    assert_eq!(page.matches("</script>").count(), 2);
    assert!(page.contains(r"\u003c/script>\u003cb>") && page.contains(r"a \u003ctitle>"));
}
