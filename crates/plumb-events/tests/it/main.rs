//! Tests against events recorded from the reference.

#![expect(clippy::unwrap_used, reason = "a failed helper is a failed test")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use plumb_events::json::{Encoding, Envelope, EventLines};
use plumb_events::{
    ColorMode, Diagnostic, Event, Filter, Metadata, OperationResult, PolicyPackId, PolicyViolation,
    ReadEvent, Severity, StateView, StepEvent, Summary,
};
use plumb_resource::{ResourceKind, ResourceState, StepOp, Urn};
use plumb_value::{PropertyMap, Value};
use pretty_assertions::assert_eq;

fn recorded_logs() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/recordings");
    let mut logs = Vec::new();
    for folder in fs::read_dir(root)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
    {
        for file in fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
        {
            if file.to_string_lossy().ends_with(".events.jsonl") {
                logs.push(file);
            }
        }
    }
    logs.sort();
    logs
}

#[test]
fn recorded_events_come_back_byte_for_byte() {
    let logs = recorded_logs();
    assert!(logs.len() >= 35, "the recordings are missing");
    let encoding = Encoding::default();
    for log in logs {
        for line in fs::read_to_string(&log).unwrap().lines() {
            let read = ReadEvent::from_line(line)
                .unwrap_or_else(|error| panic!("{}: {error}: {line}", log.display()));
            let envelope = Envelope {
                sequence: read.sequence,
                timestamp: read.timestamp,
                event: &read.event,
                encoding: &encoding,
            };
            assert_eq!(envelope.to_line(), line, "{}", log.display());
        }
    }
}

fn line(event: &Event, encoding: &Encoding) -> String {
    Envelope {
        sequence: 3,
        timestamp: 4,
        event,
        encoding,
    }
    .to_line()
}

fn step_with_inputs(inputs: PropertyMap) -> Event {
    let urn = Urn::new("s", "p", "", "a:b:C", "x");
    let state = ResourceState {
        inputs: Arc::new(inputs),
        ..ResourceState::new(urn.clone(), ResourceKind::Custom)
    };
    Event::ResourcePre(StepEvent {
        metadata: Box::new(Metadata {
            op: StepOp::Create,
            type_token: urn.type_token(),
            urn,
            old: None,
            new: Some(StateView::new(state)),
            keys: Vec::new(),
            diffs: Vec::new(),
            detailed_diff: None,
            logical: true,
            provider: None,
        }),
        planning: false,
        internal: false,
    })
}

#[test]
fn secrets_are_shown_only_on_request() {
    let event = step_with_inputs(
        PropertyMap::new()
            .with("a", Value::secret("hush".into()))
            .with("b", "say it"),
    );
    let hidden = line(
        &event,
        &Encoding {
            filter: Filter::hiding_secrets(),
            keep_color: false,
        },
    );
    assert!(!hidden.contains("hush"), "{hidden}");
    assert!(
        hidden.contains(r#""ciphertext":"[secret]""#) && hidden.contains(r#""b":"say it""#),
        "{hidden}"
    );
    let shown = line(
        &event,
        &Encoding {
            filter: Filter::new(true),
            keep_color: false,
        },
    );
    assert!(shown.contains(r#""plaintext":"\"hush\"""#), "{shown}");
}

#[test]
fn colour_tags_stay_only_on_request() {
    let diagnostic = Event::Diagnostic(Diagnostic::new(
        Severity::Error,
        None,
        "<{%bold%}>no<{%reset%}>\n",
    ));
    assert_eq!(
        line(&diagnostic, &Encoding::default()),
        r#"{"sequence":3,"timestamp":4,"diagnosticEvent":{"prefix":"error: ","message":"no\n","color":"never","severity":"error"}}"#
    );
    let raw = line(
        &diagnostic,
        &Encoding {
            keep_color: true,
            ..Encoding::default()
        },
    );
    assert!(
        raw.contains(r#""color":"raw""#) && raw.contains("<{%bold%}>no<{%reset%}>"),
        "{raw}"
    );
}

#[test]
fn policy_events_name_their_pack() {
    let event = Event::PolicyViolation(PolicyViolation {
        urn: None,
        message: "no".into(),
        color: ColorMode::Raw,
        policy: "rule".into(),
        pack: PolicyPackId {
            name: "pack".into(),
            version: "1".into(),
            version_tag: "1.0.0".into(),
        },
        enforcement_level: "mandatory".into(),
        severity: "".into(),
    });
    assert_eq!(
        line(&event, &Encoding::default()),
        concat!(
            r#"{"sequence":3,"timestamp":4,"policyEvent":{"message":"no","color":"never","policyName":"rule","#,
            r#""policyPackName":"pack","policyPackVersion":"1","policyPackVersionTag":"1.0.0","enforcementLevel":"mandatory"}}"#
        )
    );
}

#[test]
fn durations_are_rounded_up_and_changes_sorted_by_name() {
    let event = Event::Summary(Summary {
        maybe_corrupt: false,
        duration: Duration::from_millis(1001),
        resource_changes: [(StepOp::Update, 1), (StepOp::Create, 2)].into(),
        policy_packs: [("pack".into(), "1.0.0".into())].into(),
        is_preview: true,
        result: OperationResult::Canceled,
    });
    assert_eq!(
        line(&event, &Encoding::default()),
        concat!(
            r#"{"sequence":3,"timestamp":4,"summaryEvent":{"maybeCorrupt":false,"durationSeconds":2,"#,
            r#""resourceChanges":{"create":2,"update":1},"PolicyPacks":{"pack":"1.0.0"},"isPreview":true,"result":"canceled"}}"#
        )
    );
}

#[test]
fn lines_are_numbered_from_zero() {
    let mut lines = EventLines::new(Encoding::default());
    let text: String = [Event::PolicyLoad, Event::Cancel]
        .iter()
        .map(|event| lines.line(event, 7))
        .collect();
    assert_eq!(
        text,
        concat!(
            r#"{"sequence":0,"timestamp":7,"policyLoadEvent":{}}"#,
            "\n",
            r#"{"sequence":1,"timestamp":7,"cancelEvent":{}}"#,
            "\n"
        )
    );
}

#[test]
fn events_are_read_however_they_are_laid_out() {
    let text = "{\n  \"sequence\": 1,\n  \"policyLoadEvent\": {}\n}{\"cancelEvent\": {}}\n\n";
    let events: Vec<Event> = ReadEvent::stream(text)
        .map(|read| read.unwrap().event)
        .collect();
    assert_eq!(events, [Event::PolicyLoad, Event::Cancel]);
    assert!(ReadEvent::stream("{\"cancelEvent\": {}} x").any(|read| read.is_err()));
}
