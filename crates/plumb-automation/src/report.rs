//! Result of an operation.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use plumb_events::{
    Diagnostic, Event, OperationResult, PolicyViolation, Severity, Summary, strip_color,
};
use plumb_resource::{ResourceState, StepOp, Urn};
use plumb_state::plan::Plan;
use plumb_value::{PropertyMap, Value};
use serde::de::DeserializeOwned;

use crate::values::{Secrets, map_json, value_json, value_text};

/// A message of the engine, of a program or of a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Severity of the message.
    pub severity: Severity,
    /// Resource that the message is about.
    pub urn: Option<Urn>,
    /// The text, without colours, secrets and the word for its severity.
    pub text: String,
}

/// Result of an operation that began.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report {
    /// Result in one word.
    pub result: OperationResult,
    /// Whether nothing was changed for real.
    pub is_preview: bool,
    /// Whether anything changed, or would change.
    pub has_changes: bool,
    /// Number of steps by kind, unchanged resources included.
    pub changes: BTreeMap<StepOp, u32>,
    /// Messages in the order of their arrival, without those for developers.
    pub messages: Vec<Message>,
    /// Violations of policies.
    pub violations: Vec<PolicyViolation>,
    /// Duration of the operation.
    pub duration: Duration,
    /// Outputs of the stack; secret ones are [`Value::Secret`].
    pub outputs: PropertyMap,
    /// Resources after the operation, in the order of the state.
    pub resources: Vec<Arc<ResourceState>>,
    /// The plan, if one was asked for.
    pub plan: Option<Plan>,
    /// Error of the operation as a whole.
    pub(crate) error: Option<String>,
}

impl Report {
    /// Text of an output, with secrets in plain text: a text as it is, others as JSON. `None` if there is none.
    pub fn output(&self, name: &str) -> Option<String> {
        let value = self.outputs.get(name)?;
        Some(value_text(value, Secrets::Shown))
    }

    /// An output as a type of the caller, with secrets in plain text.
    pub fn output_as<T: DeserializeOwned>(&self, name: &str) -> serde_json::Result<T> {
        let null = Value::Null;
        let value = self.outputs.get(name).unwrap_or(&null);
        serde_json::from_value(value_json(value, Secrets::Shown))
    }

    /// All outputs as a JSON object.
    pub fn outputs_json(&self, secrets: Secrets) -> serde_json::Value {
        map_json(&self.outputs, secrets)
    }

    /// Number of steps of a kind.
    pub fn count(&self, op: StepOp) -> u32 {
        self.changes.get(&op).copied().unwrap_or_default()
    }

    /// Texts of the errors, in the order of their arrival.
    pub fn errors(&self) -> impl Iterator<Item = &str> {
        let errors = self.messages.iter();
        let errors = errors.filter(|message| message.severity == Severity::Error);
        errors.map(|message| message.text.as_str())
    }

    /// Text for an error: the errors, or what a program wrote about its failure, or that something failed.
    pub(crate) fn failure(&self) -> String {
        let of = |severity: Severity| -> Vec<&str> {
            let messages = self.messages.iter();
            let messages = messages.filter(|message| message.severity == severity);
            messages.map(|message| message.text.as_str()).collect()
        };
        let error = self.error.as_deref().unwrap_or("the operation failed");
        match (of(Severity::Error), of(Severity::InfoErr)) {
            (errors, _) if !errors.is_empty() => errors.join("\n"),
            (_, written) if !written.is_empty() => format!("{error}:\n{}", written.join("\n")),
            _ => error.to_owned(),
        }
    }
}

/// Messages and summary of the events of a run.
#[derive(Default)]
pub(crate) struct Collected {
    pub(crate) messages: Vec<Message>,
    pub(crate) violations: Vec<PolicyViolation>,
    pub(crate) summary: Option<Summary>,
}

impl Collected {
    pub(crate) fn add(&mut self, event: &Event) {
        match event {
            Event::Diagnostic(diagnostic) => self.messages.extend(message(diagnostic)),
            Event::PolicyViolation(violation) => self.violations.push(violation.clone()),
            Event::Summary(summary) => self.summary = Some(summary.clone()),
            _ => {}
        }
    }
}

fn message(diagnostic: &Diagnostic) -> Option<Message> {
    if diagnostic.ephemeral || diagnostic.severity == Severity::Debug {
        return None;
    }
    let text = &diagnostic.message;
    Some(Message {
        severity: diagnostic.severity,
        urn: diagnostic.urn.clone(),
        text: strip_color(text).trim_end().to_owned(),
    })
}
