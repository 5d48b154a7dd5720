//! Events as JSON: one compact object per line (`cli.md` 19.2).
//!
//! Fields have the order of the reference; `<`, `>` and `&` are not escaped.

mod format;
mod value;

use std::borrow::Cow;
use std::collections::BTreeMap;

use ecow::EcoString;
use plumb_resource::{
    PropertyDiff, ProviderRef, ResourceId, ResourceKind, ResourceState, UNKNOWN_SENTINEL, Urn,
};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::{
    ColorMode, Diagnostic, Event, FailedStatus, FailedStepEvent, Filter, Metadata,
    PolicyAnalyzeSummary, PolicyPackId, PolicyRemediation, PolicyViolation, Progress, StateView,
    StepEvent, Summary, strip_color,
};

pub use format::to_json_line;
pub(crate) use value::signature;
pub use value::{JsonProperties, JsonValue};

/// Options for writing events.
#[derive(Clone, Debug, Default)]
pub struct Encoding {
    /// Visibility of secrets.
    pub filter: Filter,
    /// Whether colour tags are kept; event logs and streams omit them.
    pub keep_color: bool,
}

/// An event with its number and time.
#[derive(Clone, Copy, Debug)]
pub struct Envelope<'a> {
    /// Number of the event, from 0.
    pub sequence: u64,
    /// Time of the event, in seconds since 1970.
    pub timestamp: i64,
    /// The event.
    pub event: &'a Event,
    /// Options for writing.
    pub encoding: &'a Encoding,
}

impl Envelope<'_> {
    /// The event as one line, without a line break.
    pub fn to_line(&self) -> String {
        to_json_line(self)
    }
}

/// Writer of numbered events, for event logs and streams.
#[derive(Clone, Debug, Default)]
pub struct EventLines {
    encoding: Encoding,
    next: u64,
}

impl EventLines {
    /// A writer whose first event has number 0.
    pub fn new(encoding: Encoding) -> Self {
        EventLines { encoding, next: 0 }
    }

    /// The next line, with its line break; `timestamp` is in seconds since 1970. Empty for [`Event::Wait`], which is for
    /// displays only.
    pub fn line(&mut self, event: &Event, timestamp: i64) -> String {
        if matches!(event, Event::Wait(_)) {
            return String::new();
        }
        let envelope = Envelope {
            sequence: self.next,
            timestamp,
            event,
            encoding: &self.encoding,
        };
        let mut line = envelope.to_line();
        line.push('\n');
        self.next += 1;
        line
    }
}

impl Serialize for Envelope<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("sequence", &self.sequence)?;
        map.serialize_entry("timestamp", &self.timestamp)?;
        let with = self.encoding;
        match self.event {
            Event::Prelude { config } => {
                map.serialize_entry("preludeEvent", &Prelude { config })?;
            }
            Event::ResourcePre(step) => {
                map.serialize_entry("resourcePreEvent", &Step { step, with })?;
            }
            Event::ResourceOutputs(step) => {
                map.serialize_entry("resOutputsEvent", &Step { step, with })?;
            }
            Event::ResourceFailed(step) => {
                map.serialize_entry("resOpFailedEvent", &FailedStep { step, with })?;
            }
            Event::Diagnostic(diagnostic) => {
                map.serialize_entry("diagnosticEvent", &DiagnosticJson { diagnostic, with })?;
            }
            Event::Stdout { message, color } => {
                map.serialize_entry(
                    "stdoutEvent",
                    &Stdout {
                        message,
                        color: *color,
                        with,
                    },
                )?;
            }
            Event::PolicyViolation(violation) => {
                map.serialize_entry("policyEvent", &Violation { violation, with })?;
            }
            Event::PolicyRemediation(remediation) => {
                map.serialize_entry("policyRemediationEvent", &Remediation { remediation, with })?;
            }
            Event::PolicyLoad => map.serialize_entry("policyLoadEvent", &Empty {})?,
            Event::PolicyAnalyzeSummary(summary) => {
                map.serialize_entry("policyAnalyzeSummaryEvent", &AnalyzeSummary(summary))?;
            }
            Event::PolicyRemediateSummary(summary) => {
                map.serialize_entry("policyRemediateSummaryEvent", &AnalyzeSummary(summary))?;
            }
            Event::PolicyAnalyzeStackSummary(summary) => {
                map.serialize_entry("policyAnalyzeStackSummaryEvent", &AnalyzeSummary(summary))?;
            }
            Event::Progress(progress) => {
                map.serialize_entry("progressEvent", &ProgressJson(progress))?;
            }
            // Never written, see [`EventLines::line`].
            Event::Wait(_) => {}
            Event::StartDebugging { config } => {
                map.serialize_entry(
                    "startDebuggingEvent",
                    &Debugging {
                        config: JsonProperties(config, with.filter),
                    },
                )?;
            }
            Event::Error { error } => {
                map.serialize_entry("errorEvent", &ErrorJson { error })?;
            }
            Event::Summary(summary) => {
                map.serialize_entry("summaryEvent", &SummaryJson(summary))?;
            }
            Event::Cancel => map.serialize_entry("cancelEvent", &Empty {})?,
        }
        map.end()
    }
}

impl Encoding {
    /// The text, with colour tags only if they are to be kept.
    fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.keep_color {
            Cow::Borrowed(text)
        } else {
            strip_color(text)
        }
    }

    fn color(&self, color: ColorMode) -> &'static str {
        if self.keep_color {
            color.as_str()
        } else {
            ColorMode::Never.as_str()
        }
    }
}

#[derive(Serialize)]
struct Empty {}

#[derive(Serialize)]
struct Debugging<'a> {
    config: JsonProperties<'a>,
}

#[derive(Serialize)]
struct ErrorJson<'a> {
    error: &'a str,
}

#[derive(Serialize)]
struct Prelude<'a> {
    config: &'a BTreeMap<EcoString, EcoString>,
}

struct Step<'a> {
    step: &'a StepEvent,
    with: &'a Encoding,
}

impl Serialize for Step<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry(
            "metadata",
            &MetadataJson {
                metadata: &self.step.metadata,
                with: self.with,
            },
        )?;
        if self.step.planning {
            map.serialize_entry("planning", &true)?;
        }
        map.end()
    }
}

struct FailedStep<'a> {
    step: &'a FailedStepEvent,
    with: &'a Encoding,
}

impl Serialize for FailedStep<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let status = match self.step.status {
            FailedStatus::Ok => 0,
            FailedStatus::PartialFailure => 1,
            FailedStatus::Unknown => 2,
        };
        let mut map = serializer.serialize_map(Some(3))?;
        map.serialize_entry(
            "metadata",
            &MetadataJson {
                metadata: &self.step.metadata,
                with: self.with,
            },
        )?;
        map.serialize_entry("status", &status)?;
        map.serialize_entry("steps", &self.step.steps)?;
        map.end()
    }
}

struct MetadataJson<'a> {
    metadata: &'a Metadata,
    with: &'a Encoding,
}

impl Serialize for MetadataJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let metadata = self.metadata;
        let view = |state: &'_ Option<StateView>| {
            state.clone().map(|state| StateJson {
                state,
                with: self.with,
            })
        };
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("op", metadata.op.as_str())?;
        map.serialize_entry("urn", metadata.urn.as_str())?;
        map.serialize_entry("type", metadata.type_token.as_str())?;
        map.serialize_entry("old", &view(&metadata.old))?;
        map.serialize_entry("new", &view(&metadata.new))?;
        if !metadata.keys.is_empty() {
            map.serialize_entry("keys", &metadata.keys)?;
        }
        if !metadata.diffs.is_empty() {
            map.serialize_entry("diffs", &metadata.diffs)?;
        }
        map.serialize_entry(
            "detailedDiff",
            &metadata.detailed_diff.as_ref().map(DetailedDiff),
        )?;
        if metadata.logical {
            map.serialize_entry("logical", &true)?;
        }
        map.serialize_entry("provider", &provider_text(metadata.provider.as_ref()))?;
        map.end()
    }
}

struct DetailedDiff<'a>(&'a BTreeMap<EcoString, PropertyDiff>);

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PropertyDiffJson {
    diff_kind: &'static str,
    input_diff: bool,
}

impl Serialize for DetailedDiff<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(path, difference)| {
            (
                path,
                PropertyDiffJson {
                    diff_kind: difference.kind.as_str(),
                    input_diff: difference.input_diff,
                },
            )
        }))
    }
}

struct StateJson<'a> {
    state: StateView,
    with: &'a Encoding,
}

impl Serialize for StateJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let state: &ResourceState = &self.state;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("type", state.type_token.as_str())?;
        map.serialize_entry("urn", state.urn.as_str())?;
        if state.is_custom() {
            map.serialize_entry("custom", &true)?;
        }
        if state.delete {
            map.serialize_entry("delete", &true)?;
        }
        map.serialize_entry("id", id_text(state))?;
        map.serialize_entry("parent", state.parent.as_ref().map_or("", Urn::as_str))?;
        let flags = [
            ("protect", state.protect),
            ("taint", state.taint),
            ("external", state.external),
            ("retainOnDelete", state.retain_on_delete),
        ];
        for (name, _) in flags.iter().filter(|(_, set)| *set) {
            map.serialize_entry(name, &true)?;
        }
        map.serialize_entry("inputs", &JsonProperties(&state.inputs, self.with.filter))?;
        map.serialize_entry("outputs", &JsonProperties(&state.outputs, self.with.filter))?;
        map.serialize_entry("provider", &provider_text(state.provider.as_ref()))?;
        if !state.init_errors.is_empty() {
            map.serialize_entry("initErrors", &state.init_errors)?;
        }
        if !state.hide_diff.is_empty() {
            map.serialize_entry("hideDiffs", &state.hide_diff)?;
        }
        map.end()
    }
}

/// The reference of a provider; empty for `None`.
fn provider_text(provider: Option<&ProviderRef>) -> String {
    provider.map(ToString::to_string).unwrap_or_default()
}

/// The id in events. Only providers and external resources show the unknown sentinel for an id that is not known yet.
fn id_text(state: &ResourceState) -> &str {
    match &state.id {
        ResourceId::Unknown if state.external || state.kind == ResourceKind::Provider => {
            UNKNOWN_SENTINEL
        }
        id => id.as_str(),
    }
}

struct DiagnosticJson<'a> {
    diagnostic: &'a Diagnostic,
    with: &'a Encoding,
}

impl Serialize for DiagnosticJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Diagnostic {
            urn,
            prefix,
            message,
            color,
            severity,
            stream_id,
            ephemeral,
        } = self.diagnostic;
        let mut map = serializer.serialize_map(None)?;
        if let Some(urn) = urn {
            map.serialize_entry("urn", urn.as_str())?;
        }
        if !prefix.is_empty() {
            map.serialize_entry("prefix", &self.with.text(prefix))?;
        }
        map.serialize_entry("message", &self.with.text(message))?;
        map.serialize_entry("color", self.with.color(*color))?;
        map.serialize_entry("severity", severity.as_str())?;
        if *stream_id != 0 {
            map.serialize_entry("streamID", stream_id)?;
        }
        if *ephemeral {
            map.serialize_entry("ephemeral", &true)?;
        }
        map.end()
    }
}

struct Stdout<'a> {
    message: &'a str,
    color: ColorMode,
    with: &'a Encoding,
}

impl Serialize for Stdout<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry("message", &self.with.text(self.message))?;
        map.serialize_entry("color", self.with.color(self.color))?;
        map.end()
    }
}

struct Violation<'a> {
    violation: &'a PolicyViolation,
    with: &'a Encoding,
}

impl Serialize for Violation<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let violation = self.violation;
        let mut map = serializer.serialize_map(None)?;
        if let Some(urn) = &violation.urn {
            map.serialize_entry("resourceUrn", urn.as_str())?;
        }
        map.serialize_entry("message", &self.with.text(&violation.message))?;
        map.serialize_entry("color", self.with.color(violation.color))?;
        map.serialize_entry("policyName", &violation.policy)?;
        serialize_pack(&mut map, &violation.pack)?;
        map.serialize_entry("enforcementLevel", &violation.enforcement_level)?;
        if !violation.severity.is_empty() {
            map.serialize_entry("severity", &violation.severity)?;
        }
        map.end()
    }
}

struct Remediation<'a> {
    remediation: &'a PolicyRemediation,
    with: &'a Encoding,
}

impl Serialize for Remediation<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let remediation = self.remediation;
        let mut map = serializer.serialize_map(None)?;
        if let Some(urn) = &remediation.urn {
            map.serialize_entry("resourceUrn", urn.as_str())?;
        }
        map.serialize_entry("color", self.with.color(remediation.color))?;
        map.serialize_entry("policyName", &remediation.policy)?;
        serialize_pack(&mut map, &remediation.pack)?;
        for (name, properties) in [
            ("before", &remediation.before),
            ("after", &remediation.after),
        ] {
            if !properties.is_empty() {
                map.serialize_entry(name, &JsonProperties(properties, self.with.filter))?;
            }
        }
        map.end()
    }
}

fn serialize_pack<M: SerializeMap>(map: &mut M, pack: &PolicyPackId) -> Result<(), M::Error> {
    map.serialize_entry("policyPackName", &pack.name)?;
    map.serialize_entry("policyPackVersion", &pack.version)?;
    map.serialize_entry("policyPackVersionTag", &pack.version_tag)
}

struct AnalyzeSummary<'a>(&'a PolicyAnalyzeSummary);

impl Serialize for AnalyzeSummary<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let PolicyAnalyzeSummary {
            urn,
            pack,
            passed,
            failed,
            not_applicable,
        } = self.0;
        let mut map = serializer.serialize_map(None)?;
        if let Some(urn) = urn {
            map.serialize_entry("resourceUrn", urn.as_str())?;
        }
        serialize_pack(&mut map, pack)?;
        for (name, policies) in [
            ("passed", passed),
            ("failed", failed),
            ("notApplicable", not_applicable),
        ] {
            if !policies.is_empty() {
                map.serialize_entry(name, policies)?;
            }
        }
        map.end()
    }
}

struct ProgressJson<'a>(&'a Progress);

impl Serialize for ProgressJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Progress {
            kind,
            id,
            message,
            received,
            total,
            done,
        } = self.0;
        let mut map = serializer.serialize_map(Some(6))?;
        map.serialize_entry("type", kind.as_str())?;
        map.serialize_entry("id", id)?;
        map.serialize_entry("message", message)?;
        map.serialize_entry("received", received)?;
        map.serialize_entry("total", total)?;
        map.serialize_entry("done", done)?;
        map.end()
    }
}

struct SummaryJson<'a>(&'a Summary);

impl Serialize for SummaryJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let summary = self.0;
        let mut map = serializer.serialize_map(Some(6))?;
        map.serialize_entry("maybeCorrupt", &summary.maybe_corrupt)?;
        map.serialize_entry("durationSeconds", &summary.duration_seconds())?;
        map.serialize_entry("resourceChanges", &changes_by_name(summary))?;
        map.serialize_entry("PolicyPacks", &summary.policy_packs)?;
        map.serialize_entry("isPreview", &summary.is_preview)?;
        map.serialize_entry("result", summary.result.as_str())?;
        map.end()
    }
}

/// Numbers of steps by name of the step kind, sorted by name.
pub fn changes_by_name(summary: &Summary) -> BTreeMap<&'static str, u32> {
    summary
        .resource_changes
        .iter()
        .map(|(op, count)| (op.as_str(), *count))
        .collect()
}
