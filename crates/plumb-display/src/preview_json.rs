//! `preview --json`: the document that describes a preview (`cli.md` 19.1).

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use ecow::EcoString;
use plumb_events::json::{changes_by_name, to_json_line};
use plumb_events::{Event, Metadata, Severity, StateView, Summary, strip_color};
use plumb_resource::{PropertyDiff, ResourceState, StepOp, Urn};
use plumb_value::Value;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

/// Serializer of a resource in the format of state files. Receives no secrets.
pub type StateToJson = Box<dyn Fn(&ResourceState) -> Box<RawValue> + Send>;

/// Builds the document from events.
pub struct PreviewDigest {
    to_json: StateToJson,
    show_replacement_steps: bool,
    config: BTreeMap<EcoString, EcoString>,
    steps: Vec<(Urn, Step)>,
    diagnostics: Vec<Diagnostic>,
    summary: Option<Summary>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Document<'a> {
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    config: &'a BTreeMap<EcoString, EcoString>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    steps: Vec<&'a Step>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    diagnostics: &'a [Diagnostic],
    #[serde(skip_serializing_if = "Option::is_none")]
    duration: Option<u64>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    change_summary: BTreeMap<&'static str, u32>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    maybe_corrupt: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Step {
    #[serde(serialize_with = "op_name")]
    op: StepOp,
    urn: String,
    #[serde(skip_serializing_if = "str::is_empty")]
    provider: EcoString,
    #[serde(skip_serializing_if = "Option::is_none")]
    old_state: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    new_state: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    diff_reasons: Vec<EcoString>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    replace_reasons: Vec<EcoString>,
    detailed_diff: Option<BTreeMap<EcoString, Difference>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Difference {
    kind: &'static str,
    input_diff: bool,
}

#[derive(Serialize)]
struct Diagnostic {
    #[serde(skip_serializing_if = "Option::is_none")]
    urn: Option<String>,
    message: String,
    severity: &'static str,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature is serde's"
)]
fn op_name<S: Serializer>(op: &StepOp, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(op.as_str())
}

impl PreviewDigest {
    /// A document without events.
    pub fn new(to_json: StateToJson, show_replacement_steps: bool) -> Self {
        PreviewDigest {
            to_json,
            show_replacement_steps,
            config: BTreeMap::new(),
            steps: Vec::new(),
            diagnostics: Vec::new(),
            summary: None,
        }
    }

    /// Handles an event.
    pub fn handle(&mut self, event: &Event) {
        match event {
            Event::Prelude { config } => self.config.clone_from(config),
            Event::ResourcePre(step) if !step.internal => self.begin(&step.metadata),
            Event::ResourceOutputs(step) if !step.internal => self.end(&step.metadata),
            Event::Diagnostic(diagnostic)
                if !diagnostic.ephemeral && diagnostic.severity != Severity::Debug =>
            {
                let text = format!("{}{}", diagnostic.prefix, diagnostic.message);
                self.diagnose(diagnostic.urn.as_ref(), &text, diagnostic.severity);
            }
            Event::Stdout { message, .. } => self.diagnose(None, message, Severity::Info),
            Event::Summary(summary) => self.summary = Some(summary.clone()),
            _ => {}
        }
    }

    fn begin(&mut self, metadata: &Metadata) {
        let is_part = metadata.op.is_replacement() && !metadata.logical;
        let is_news = metadata.op != StepOp::Same || metadata.urn.is_root_stack();
        if (is_part && !self.show_replacement_steps) || !is_news {
            return;
        }
        let step = self.step(metadata);
        self.steps.push((metadata.urn.clone(), step));
    }

    /// Replaces a refresh step by the change that it found, if there is one.
    fn end(&mut self, metadata: &Metadata) {
        let found_change = match metadata.op {
            StepOp::Update => metadata
                .detailed_diff
                .as_ref()
                .is_some_and(|differences| !differences.is_empty()),
            StepOp::Delete => true,
            _ => false,
        };
        if !found_change {
            return;
        }
        let last = self.steps.iter().rposition(|(urn, _)| *urn == metadata.urn);
        if let Some(at) = last.filter(|at| self.steps[*at].1.op == StepOp::Refresh) {
            self.steps[at].1 = self.step(metadata);
        }
    }

    fn step(&self, metadata: &Metadata) -> Step {
        let state = |view: &Option<StateView>| {
            view.as_ref()
                .map(|view| (self.to_json)(&without_secrets(view)))
        };
        let detailed_diff = metadata.detailed_diff.as_ref().map(|differences| {
            differences
                .iter()
                .map(|(path, difference)| (path.clone(), Difference::from(*difference)))
                .collect()
        });
        Step {
            op: metadata.op,
            urn: metadata.urn.to_string(),
            provider: metadata
                .provider
                .as_ref()
                .map_or_else(EcoString::new, |it| it.to_string().into()),
            old_state: state(&metadata.old),
            new_state: state(&metadata.new),
            diff_reasons: metadata.diffs.clone(),
            replace_reasons: metadata.keys.clone(),
            detailed_diff,
        }
    }

    fn diagnose(&mut self, urn: Option<&Urn>, message: &str, severity: Severity) {
        let message = strip_color(message).into_owned();
        self.diagnostics.push(Diagnostic {
            urn: urn.map(ToString::to_string),
            message,
            severity: severity.as_str(),
        });
    }

    /// JSON text of the document, indented by four spaces, with a final line break.
    pub fn to_json(&self) -> String {
        let document = Document {
            config: &self.config,
            steps: self.steps.iter().map(|(_, step)| step).collect(),
            diagnostics: &self.diagnostics,
            duration: self
                .summary
                .as_ref()
                .map(|summary| u64::try_from(summary.duration.as_nanos()).unwrap_or(u64::MAX)),
            change_summary: self
                .summary
                .as_ref()
                .map(changes_by_name)
                .unwrap_or_default(),
            maybe_corrupt: self
                .summary
                .as_ref()
                .is_some_and(|summary| summary.maybe_corrupt),
        };
        format!("{}\n", indented(&escape_html(&to_json_line(&document))))
    }
}

/// Compact JSON with the special characters of HTML escaped, as in no other document of an operation.
fn escape_html(json: &str) -> String {
    json.replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026")
}

impl From<PropertyDiff> for Difference {
    fn from(difference: PropertyDiff) -> Self {
        Difference {
            kind: difference.kind.as_str(),
            input_diff: difference.input_diff,
        }
    }
}

/// State with the string `[secret]` in place of each secret.
fn without_secrets(view: &StateView) -> Cow<'_, ResourceState> {
    if !view.inputs.contains_secrets() && !view.outputs.contains_secrets() {
        return Cow::Borrowed(view);
    }
    let mut hide = |value: Value| {
        if value.is_secret() {
            Value::from("[secret]")
        } else {
            value
        }
    };
    let mut state = view.shared().as_ref().clone();
    state.inputs = Arc::new(state.inputs.map_values(&mut hide));
    state.outputs = Arc::new(state.outputs.map_values(&mut hide));
    Cow::Owned(state)
}

/// Indents compact JSON. Works on the text, because a parsed value would lose the order of members.
fn indented(compact: &str) -> String {
    let mut out = String::with_capacity(compact.len() * 2);
    let (mut depth, mut in_text, mut escaped) = (0_usize, false, false);
    let mut letters = compact.chars().peekable();
    let new_line = |out: &mut String, depth: usize| {
        out.push('\n');
        out.extend(std::iter::repeat_n("    ", depth));
    };
    while let Some(letter) = letters.next() {
        if in_text {
            out.push(letter);
            in_text = escaped || letter != '"';
            escaped = !escaped && letter == '\\';
            continue;
        }
        match letter {
            '{' | '[' if matches!(letters.peek(), Some('}' | ']')) => {
                out.push(letter);
                out.extend(letters.next());
            }
            '{' | '[' => {
                out.push(letter);
                depth += 1;
                new_line(&mut out, depth);
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                new_line(&mut out, depth);
                out.push(letter);
            }
            ',' => {
                out.push(letter);
                new_line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            '"' => {
                in_text = true;
                out.push(letter);
            }
            other if other.is_ascii_whitespace() => {}
            other => out.push(other),
        }
    }
    out
}

impl std::fmt::Debug for PreviewDigest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PreviewDigest")
            .field("n_steps", &self.steps.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indenting_leaves_texts_alone() {
        let compact = r#"{"a":[],"b":{"c":"x,{\"}","d":[1,{}]}}"#;
        let expected = "{\n    \"a\": [],\n    \"b\": {\n        \"c\": \"x,{\\\"}\",\n        \"d\": [\n            1,\n            {}\n        ]\n    }\n}";
        assert_eq!(indented(compact), expected);
    }
}
