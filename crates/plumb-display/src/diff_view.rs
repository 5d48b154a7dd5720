//! Every resource with its differences: `--diff`, and the details before a confirmation (`cli.md` 18.7).

use std::collections::HashMap;
use std::fmt::Write as _;

use plumb_events::{Diagnostic, Event, Metadata, Severity, StateView, StepEvent};
use plumb_resource::{ProviderInstanceId, ProviderRef, StepOp, Urn};
use plumb_value::{PropertyMap, Value};

use crate::color::paint;
use crate::detailed::{Sides, translate};
use crate::diff::{diff_objects, is_internal, visible};
use crate::display::Output;
use crate::options::Options;
use crate::steps::{OutputView, is_shown, outputs_text, replacing_paths};
use crate::values::{ValuePrinter, ValueStyle};
use crate::{ops, policies, sections};

/// Folds events to the diff view.
#[derive(Debug)]
pub struct DiffView {
    options: Options,
    /// Every resource heard of: its parent, and whether it is being refreshed.
    seen: HashMap<Urn, Seen>,
    errored: std::collections::BTreeSet<Option<Urn>>,
}

#[derive(Debug)]
struct Seen {
    parent: Option<Urn>,
    refreshing: bool,
}

impl DiffView {
    /// A view that has seen nothing.
    pub fn new(options: Options) -> Self {
        DiffView {
            options,
            seen: HashMap::new(),
            errored: std::collections::BTreeSet::new(),
        }
    }

    /// Text of the event, with colour tags: resources for standard output, diagnostics for standard error.
    pub(crate) fn handle(&mut self, event: &Event) -> Output {
        match event {
            Event::Prelude { config } => {
                Output::stdout(sections::configuration(config, &self.options))
            }
            Event::ResourcePre(step) => Output::stdout(self.begin(step)),
            Event::ResourceOutputs(step) => Output::stdout(self.end(step)),
            Event::Diagnostic(diagnostic) => self.diagnostic(diagnostic),
            Event::Stdout { message, .. } => Output::stdout(message.to_string()),
            Event::PolicyViolation(violation) => {
                let mut text = String::new();
                policies::write_with_pack(violation, &mut text);
                Output::stdout(text)
            }
            Event::Summary(summary) => {
                let policies = policy_table(&summary.policy_packs);
                let resources = sections::resources(summary, self.errored.len());
                Output::stdout(format!(
                    "{resources}{policies}{}",
                    sections::duration(summary)
                ))
            }
            _ => Output::default(),
        }
    }

    /// The text for events of a whole operation at once, as the answer `details` of a confirmation shows it.
    pub fn render<'e>(options: Options, events: impl IntoIterator<Item = &'e Event>) -> String {
        let color = options.color;
        let mut view = DiffView::new(options);
        let mut text = String::new();
        for event in events {
            if matches!(event, Event::Summary(_)) {
                text.push('\n');
            }
            text.push_str(&view.handle(event).stdout);
        }
        crate::colorize(&text, color).into_owned()
    }

    fn diagnostic(&mut self, diagnostic: &Diagnostic) -> Output {
        if diagnostic.severity == Severity::Debug && !self.options.debug {
            return Output::default();
        }
        if diagnostic.severity == Severity::Error {
            self.errored.insert(diagnostic.urn.clone());
        }
        Output {
            stdout: String::new(),
            stderr: format!("{}{}", diagnostic.prefix, diagnostic.message),
        }
    }

    fn begin(&mut self, step: &StepEvent) -> String {
        let metadata = &step.metadata;
        let refreshing = metadata.op == StepOp::Refresh;
        self.seen.insert(
            metadata.urn.clone(),
            Seen {
                parent: metadata.parent().cloned(),
                refreshing,
            },
        );
        if refreshing || step.internal || !self.shows(metadata) {
            return String::new();
        }
        let indent = self.depth(metadata);
        let mut text = header(metadata, indent, self.options.link.as_deref());
        text.push_str(&self.details(metadata, indent + 1, false));
        text
    }

    fn end(&mut self, step: &StepEvent) -> String {
        let metadata = &step.metadata;
        let refreshed = self
            .seen
            .get_mut(&metadata.urn)
            .is_some_and(|seen| std::mem::take(&mut seen.refreshing));
        if step.internal || !self.shows(metadata) {
            return String::new();
        }
        let indent = self.depth(metadata);
        if refreshed {
            let mut text = header(metadata, indent, self.options.link.as_deref());
            text.push_str(&self.details(metadata, indent + 1, true));
            return text;
        }
        let outputs = self.outputs(metadata, step.planning, indent + 1);
        if outputs.is_empty() {
            return outputs;
        }
        format!(
            "{:2$}{}\n{outputs}",
            "",
            paint(crate::color::INFO, "--outputs:--"),
            (indent + 1) * 4
        )
    }

    fn shows(&self, metadata: &Metadata) -> bool {
        let is_part = !metadata.logical
            && metadata.op.is_replacement()
            && !self.options.show_replacement_steps;
        metadata.urn.is_root_stack() || (is_shown(metadata, &self.options) && !is_part)
    }

    /// Number of ancestors; those not heard of yet, as in deletions, do not count.
    fn depth(&self, metadata: &Metadata) -> usize {
        let mut depth = 0;
        let mut parent = metadata.parent();
        while let Some(seen) = parent
            .and_then(|urn| self.seen.get(urn))
            .filter(|_| depth < self.seen.len())
        {
            depth += 1;
            parent = seen.parent.as_ref();
        }
        depth
    }

    /// The differences of a step alone, with colour tags.
    pub(crate) fn difference(&self, metadata: &Metadata, refreshed: bool) -> String {
        self.details(metadata, 1, refreshed)
    }

    fn details(&self, metadata: &Metadata, indent: usize, refreshed: bool) -> String {
        let show = |map: &PropertyMap| visible(map, self.options.show_secrets);
        let state = metadata.state();
        let hidden = state
            .map(|state| state.hide_diff.as_slice())
            .unwrap_or_default();
        let replaced = replacing_paths(metadata);
        let style = ValueStyle {
            says_replaced: self.options.explain,
            full: self.options.full_output,
            only_changes: refreshed || metadata.detailed_diff.is_some(),
            hidden,
            replaced: &replaced,
            shows_null: false,
        };
        let plain = |map: &PropertyMap| {
            let mut printer = ValuePrinter::new(style);
            printer.object(&show(map), indent);
            printer.finish()
        };
        let (old, new) = match (&metadata.old, &metadata.new) {
            _ if metadata.op == StepOp::Same => return String::new(),
            (None, None) => return String::new(),
            (None, Some(new)) if new.outputs.is_empty() => return plain(&new.inputs),
            (None, Some(new)) => return plain(&new.outputs),
            (Some(old), None) => return plain(&old.inputs),
            (Some(old), Some(new)) => (old, new),
        };
        let difference = match &metadata.detailed_diff {
            Some(reported) => {
                let new_side = if refreshed { &new.outputs } else { &new.inputs };
                let (old_inputs, old_outputs) = (show(&old.inputs), show(&old.outputs));
                let sides = Sides {
                    old_inputs: &old_inputs,
                    old_outputs: &old_outputs,
                    new: &show(new_side),
                };
                translate(reported, sides)
            }
            None if refreshed || has_settled_outputs(metadata, new) => {
                diff_objects(&show(&old.outputs), &show(&new.outputs))
            }
            None => {
                let mut difference = diff_objects(&show(&old.inputs), &show(&new.inputs));
                if !metadata.diffs.is_empty() {
                    let is_told = |key: &str| metadata.diffs.iter().any(|told| told == key);
                    difference.0.retain(|key, _| is_told(key.as_str()));
                }
                difference
            }
        };
        let mut printer = ValuePrinter::new(style);
        printer.object_diff(&difference, indent);
        printer.finish()
    }

    /// Outputs that the inputs do not show already.
    fn outputs(&self, metadata: &Metadata, planning: bool, indent: usize) -> String {
        if self.options.suppress_outputs {
            return String::new();
        }
        if metadata.urn.is_root_stack() {
            let view = OutputView {
                indent,
                show_sames: false,
                skip_unknown_updates: planning,
            };
            return outputs_text(metadata, &self.options, view);
        }
        let Some(new) = metadata
            .new
            .as_ref()
            .filter(|new| new.init_errors.is_empty())
        else {
            return String::new();
        };
        let is_read = matches!(
            metadata.op,
            StepOp::Read | StepOp::Import | StepOp::ImportReplacement
        );
        if metadata.op == StepOp::Same || (planning && !is_read) {
            return String::new();
        }
        let show = |map: &PropertyMap| visible(map, self.options.show_secrets);
        let (inputs, outputs) = (show(&new.inputs), show(&new.outputs));
        let is_told = |key: &str, value: &Value| inputs.get(key) == Some(value) || key == "id";
        let fresh: PropertyMap = outputs
            .into_iter()
            .filter(|(key, value)| !is_internal(key) && !is_told(key.as_str(), value))
            .collect();
        let mut printer = ValuePrinter::new(ValueStyle {
            full: self.options.full_output,
            hidden: &new.hide_diff,
            only_changes: true,
            ..ValueStyle::default()
        });
        match metadata
            .old
            .as_ref()
            .filter(|_| !metadata.op.is_replacement())
        {
            None => printer.object(&fresh, indent),
            Some(old) => {
                let old_outputs: PropertyMap = show(&old.outputs)
                    .into_iter()
                    .filter(|(key, _)| fresh.contains_key(key.as_str()))
                    .collect();
                printer.object_diff(&diff_objects(&old_outputs, &fresh), indent);
            }
        }
        printer.finish()
    }
}

/// Whether the new outputs are complete before the step is done, as for the last part of a replacement.
fn has_settled_outputs(metadata: &Metadata, new: &StateView) -> bool {
    !new.outputs.is_empty() && !matches!(metadata.op, StepOp::Import | StepOp::ImportReplacement)
}

fn header(metadata: &Metadata, indent: usize, link: Option<&str>) -> String {
    let op = metadata.op;
    let lock = match (&metadata.old, &metadata.new) {
        (_, Some(new)) if new.protect => " 🔒",
        (Some(old), Some(_)) if old.protect => " 🔓",
        (Some(old), None) if old.protect => " 🔒",
        _ => "",
    };
    let line = format!(
        "{}{}: ({})",
        ops::sign(op),
        metadata.type_token,
        op.as_str()
    );
    let mut text = format!(
        "{:2$}{}{lock}\n",
        "",
        paint(ops::color(op), line),
        indent * 4
    );
    let columns = (indent + 1) * 4;
    let state = metadata.old.as_ref().or(metadata.new.as_ref());
    if let Some(id) = state
        .map(|state| state.id.as_str())
        .filter(|id| !id.is_empty())
    {
        let _ = writeln!(text, "{:columns$}[id={id}]", "");
    }
    let urn = crate::text::linked(metadata.urn.as_str(), link);
    let _ = writeln!(text, "{:columns$}[urn={urn}]", "");
    if let Some(provider) = provider_text(metadata) {
        let _ = writeln!(text, "{:columns$}[{provider}]", "");
    }
    let is_deletion = matches!(op, StepOp::Delete | StepOp::DeleteReplaced);
    if is_deletion && state.is_some_and(|state| state.retain_on_delete) {
        let _ = writeln!(text, "{:columns$}[retain]", "");
    }
    text
}

fn provider_text(metadata: &Metadata) -> Option<String> {
    let old = metadata
        .old
        .as_ref()
        .and_then(|state| state.provider.as_ref());
    let new = metadata
        .new
        .as_ref()
        .and_then(|state| state.provider.as_ref());
    match (old, new) {
        (Some(old), Some(new)) if old.urn() != new.urn() => Some(format!(
            "provider: {} => {}",
            provider_ref_text(old),
            provider_ref_text(new)
        )),
        (_, Some(provider)) | (Some(provider), None) if provider.urn().name() != "default" => {
            Some(format!("provider={}", provider_ref_text(provider)))
        }
        _ => None,
    }
}

fn provider_ref_text(provider: &ProviderRef) -> String {
    match provider.id() {
        ProviderInstanceId::Unknown => format!("{}::[unknown]", provider.urn()),
        ProviderInstanceId::Denied | ProviderInstanceId::Known(_) => provider.to_string(),
    }
}

fn policy_table(packs: &std::collections::BTreeMap<ecow::EcoString, ecow::EcoString>) -> String {
    if packs.is_empty() {
        return String::new();
    }
    let shown = |name: &str| match policies::pack_origin(name) {
        (name, Some(path)) => format!("{name} (local: {path})"),
        (name, None) => name.to_owned(),
    };
    let rows: Vec<_> = packs
        .iter()
        .map(|(name, version)| (shown(name), version))
        .collect();
    let widths = rows.iter().map(|(name, _)| crate::text::width(name));
    let widest = widths.chain([4]).max().unwrap_or(4);
    let mut text = format!(
        "\n{}    {}  Version\n",
        sections::heading("Policy Packs run:"),
        crate::text::pad("Name", widest)
    );
    for (name, version) in rows {
        let _ = writeln!(text, "    {}  {version}", crate::text::pad(&name, widest));
    }
    text
}
