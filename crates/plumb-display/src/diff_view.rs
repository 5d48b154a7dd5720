//! Diff view: all resources with their differences, for `--diff` and for the details of a confirmation
//! (`cli.md` 18.7).

use std::collections::HashMap;
use std::fmt::Write as _;

use ecow::EcoString;
use plumb_events::{Diagnostic, Event, Metadata, Severity, StateView, StepEvent};
use plumb_resource::{ProviderInstanceId, ProviderRef, StepOp, Urn};
use plumb_value::PropertyMap;

use crate::color::RESET;
use crate::detailed::{Sides, translate};
use crate::diff::{Comparison, ObjectDiff, visible};
use crate::display::Output;
use crate::options::Options;
use crate::steps::{
    OUTPUTS, OutputView, hidden_paths, is_shown, outputs_text, replacing_paths, value_style,
};
use crate::text::linked;
use crate::values::{ValuePrinter, ValueStyle};
use crate::{ops, policies, sections};

/// Builds the diff view from events.
#[derive(Debug)]
pub struct DiffView {
    options: Options,
    /// Resources seen so far, as of the start of their last step.
    seen: HashMap<Urn, Seen>,
    /// Number of failed steps.
    failed: usize,
    /// Whether unchanged properties and the properties of deleted resources are omitted.
    summarizes: bool,
}

#[derive(Debug)]
struct Seen {
    parent: Option<Urn>,
    is_shown: bool,
    refreshing: bool,
}

impl DiffView {
    /// A view without events.
    pub fn new(options: Options) -> Self {
        DiffView {
            options,
            seen: HashMap::new(),
            failed: 0,
            summarizes: false,
        }
    }

    /// Text for an event, with colour tags: resources for standard output, diagnostics for standard error.
    pub(crate) fn handle(&mut self, event: &Event) -> Output {
        match event {
            Event::Prelude { config } => {
                Output::stdout(sections::configuration(config, &self.options))
            }
            Event::ResourcePre(step) => Output::stdout(self.begin(step)),
            Event::ResourceOutputs(step) => Output::stdout(self.end(step)),
            Event::ResourceFailed(_) => {
                self.failed += 1;
                Output::default()
            }
            Event::Diagnostic(diagnostic) => self.diagnostic(diagnostic),
            Event::Stdout { message, .. } => Output::stdout(message.to_string()),
            Event::PolicyViolation(violation) => {
                let mut text = String::new();
                policies::write_with_pack(violation, &mut text);
                Output::stdout(text)
            }
            Event::Summary(summary) => {
                let policies = policy_table(&summary.policy_packs);
                let resources = sections::resources(summary, self.failed);
                Output::stdout(format!(
                    "{resources}{policies}{}",
                    sections::duration(summary)
                ))
            }
            _ => Output::default(),
        }
    }

    /// Text for all events of an operation, for the answer `details` of a confirmation.
    pub fn render<'e>(options: Options, events: impl IntoIterator<Item = &'e Event>) -> String {
        let color = options.color;
        let mut view = DiffView {
            summarizes: true,
            ..DiffView::new(options)
        };
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
        Output {
            stdout: String::new(),
            stderr: self.options.text_of(diagnostic),
        }
    }

    fn begin(&mut self, step: &StepEvent) -> String {
        let metadata = &step.metadata;
        let seen = Seen {
            parent: metadata.parent().cloned(),
            is_shown: self.shows(metadata),
            refreshing: metadata.op == StepOp::Refresh,
        };
        let is_shown = seen.is_shown && !step.internal;
        self.seen.insert(metadata.urn.clone(), seen);
        // Refreshes and imports are shown at their end, when the provider's result is known.
        if !is_shown || matches!(metadata.op, StepOp::Refresh | StepOp::Import) {
            return String::new();
        }
        self.change(metadata, step.planning, false)
    }

    fn end(&mut self, step: &StepEvent) -> String {
        let metadata = &step.metadata;
        if step.internal || !self.shows(metadata) {
            return String::new();
        }
        let refreshed = self
            .seen
            .get(&metadata.urn)
            .is_some_and(|seen| seen.refreshing);
        if metadata.op == StepOp::Import || (refreshed && metadata.op == StepOp::Update) {
            return self.change(metadata, step.planning, refreshed);
        }
        let indent = self.depth(metadata);
        let view = OutputView {
            indent: indent + 1,
            planning: step.planning,
            refreshed,
        };
        let outputs = outputs_text(metadata, &self.options, view);
        let mut text = String::new();
        // A refresh before another operation is shown only if it found changes.
        let is_news =
            metadata.op != StepOp::Refresh || !outputs.is_empty() || metadata.urn.is_root_stack();
        if refreshed && is_news {
            text.push_str(&header(metadata, indent, &self.options));
        }
        if !self.options.suppress_outputs && !outputs.is_empty() {
            let color = ops::line_color(metadata.op);
            let columns = (indent + 1) * 4;
            let _ = writeln!(text, "{color}{:columns$}{OUTPUTS}{RESET}", "");
            text.push_str(&outputs);
        }
        text
    }

    fn shows(&self, metadata: &Metadata) -> bool {
        metadata.urn.is_root_stack() || is_shown(metadata, &self.options)
    }

    /// Number of shown ancestors. Stops at an ancestor without an event so far, which occurs in deletions.
    fn depth(&self, metadata: &Metadata) -> usize {
        let mut depth = 0;
        let mut parent = metadata.parent();
        for _ in 0..self.seen.len() {
            let Some(seen) = parent.and_then(|urn| self.seen.get(urn)) else {
                break;
            };
            depth += usize::from(seen.is_shown);
            parent = seen.parent.as_ref();
        }
        depth
    }

    /// A resource with its differences, indented by its shown ancestors.
    pub(crate) fn change(&self, metadata: &Metadata, planning: bool, refreshed: bool) -> String {
        let indent = self.depth(metadata);
        let mut text = header(metadata, indent, &self.options);
        text.push_str(&self.details(metadata, indent + 1, planning, refreshed));
        text.push_str(RESET);
        text
    }

    /// Differences of one step, with colour tags.
    pub(crate) fn difference(&self, metadata: &Metadata, refreshed: bool) -> String {
        self.details(metadata, 1, false, refreshed)
    }

    fn details(
        &self,
        metadata: &Metadata,
        indent: usize,
        planning: bool,
        refreshed: bool,
    ) -> String {
        let show = |map: &PropertyMap| visible(map, self.options.filter());
        let replaced = if self.options.explain {
            replacing_paths(metadata)
        } else {
            Vec::new()
        };
        let mut printer = ValuePrinter::new(ValueStyle {
            planning,
            only_changes: self.summarizes,
            replaced: &replaced,
            ..value_style(&self.options)
        });
        match (&metadata.old, &metadata.new) {
            // Changes of metadata only have no differences to show.
            _ if metadata.op == StepOp::Same => {}
            (None, None) => {}
            (None, Some(new)) => {
                let shown = if new.outputs.is_empty() {
                    &new.inputs
                } else {
                    &new.outputs
                };
                printer.object(&show(shown), indent, metadata.op, false);
            }
            (Some(old), None) => {
                if !self.summarizes {
                    printer.object(&show(&old.inputs), indent, metadata.op, false);
                }
            }
            (Some(old), Some(new)) => {
                self.differences(metadata, (old, new), refreshed, (&mut printer, indent));
            }
        }
        printer.finish()
    }

    fn differences(
        &self,
        metadata: &Metadata,
        (old, new): (&StateView, &StateView),
        refreshed: bool,
        (printer, indent): (&mut ValuePrinter<'_>, usize),
    ) {
        let show = |map: &PropertyMap| visible(map, self.options.filter());
        let hidden = hidden_paths(metadata);
        let comparison = Comparison {
            hidden: &hidden,
            aligns_lists: self.options.explain,
            ..Comparison::default()
        };
        let is_import = matches!(metadata.op, StepOp::Import | StepOp::ImportReplacement);
        let (difference, unchanged) = match &metadata.detailed_diff {
            Some(reported) => {
                let new_side = if refreshed { &new.outputs } else { &new.inputs };
                let sides = Sides {
                    old_inputs: &show(&old.inputs),
                    old_outputs: &show(&old.outputs),
                    new_inputs: &show(&new.inputs),
                    new_outputs: &show(new_side),
                };
                (translate(reported, sides, &comparison), show(&old.inputs))
            }
            // New outputs already exist before the last step of a replacement.
            None if !new.outputs.is_empty() && !is_import => {
                let outputs = show(&new.outputs);
                let difference = comparison.objects(&show(&old.outputs), &outputs);
                (Some(difference).filter(ObjectDiff::has_changes), outputs)
            }
            None => {
                let inputs = show(&new.inputs);
                let difference = comparison.objects(&show(&old.inputs), &inputs);
                let difference = Some(difference).filter(ObjectDiff::has_changes);
                (difference.map(|it| only_named(it, &metadata.diffs)), inputs)
            }
        };
        let met = comparison.met.into_inner();
        match difference {
            None if met.is_empty() || metadata.detailed_diff.is_some() => {
                printer.object(&unchanged, indent, StepOp::Same, true);
            }
            difference => {
                printer.hidden(&met, indent);
                printer.object_diff(&difference.unwrap_or_default(), indent);
            }
        }
    }
}

/// The difference reduced to the properties in `names`, unless that is empty.
fn only_named(mut difference: ObjectDiff, names: &[EcoString]) -> ObjectDiff {
    if !names.is_empty() {
        difference
            .0
            .retain(|key, _| names.iter().any(|name| name == key.as_str()));
    }
    difference
}

fn header(metadata: &Metadata, indent: usize, options: &Options) -> String {
    let op = metadata.op;
    let lock = match (&metadata.old, &metadata.new) {
        (Some(old), Some(new)) if old.protect && !new.protect => " 🔓",
        (_, Some(new)) if new.protect => " 🔒",
        (Some(old), _) if old.protect => " 🔒",
        _ => "",
    };
    let subject = if options.show_urns {
        metadata.urn.as_str()
    } else {
        metadata.type_token.as_str()
    };
    let mut text = format!(
        "{:columns$}{}{}{subject}: ({}{}){lock}\n",
        "",
        ops::line_color(op),
        ops::sign(op),
        op.as_str(),
        retained(metadata),
        columns = indent * 4,
    );
    // The id and URN have no sign if they stay the same, which is the case unless the resource is created or
    // deleted.
    let is_kept = !matches!(
        op,
        StepOp::Create
            | StepOp::Delete
            | StepOp::DeleteReplaced
            | StepOp::Discard
            | StepOp::DiscardReplaced
    );
    let line_op = if is_kept { StepOp::Same } else { op };
    let columns = (indent + 1) * 4;
    let mut line = |inner: &str| {
        let color = ops::line_color(line_op);
        let _ = write!(text, "{color}{:columns$}[{inner}]\n{RESET}", "");
    };
    let id = metadata.old.as_ref().map(|old| old.id.as_str());
    if let Some(id) = id.filter(|id| !id.is_empty()) {
        line(&format!("id={id}"));
    }
    if !options.show_urns {
        let urn = crate::quoted::graphic(metadata.urn.as_str());
        line(&format!("urn={}", linked(&urn, options.link.as_deref())));
    }
    provider_line(metadata, columns, line_op, &mut text);
    text
}

/// `[retain]` if the object is kept when the resource is deleted from the state.
pub(crate) fn retained(metadata: &Metadata) -> &'static str {
    let goes = matches!(
        metadata.op,
        StepOp::Delete | StepOp::Replace | StepOp::CreateReplacement | StepOp::DeleteReplaced
    );
    let stays = metadata
        .old
        .as_ref()
        .is_some_and(|old| old.retain_on_delete);
    if goes && stays { "[retain]" } else { "" }
}

/// Line for the provider, if it changes or is not a default provider.
fn provider_line(metadata: &Metadata, columns: usize, line_op: StepOp, text: &mut String) {
    let Some(provider) = &metadata.provider else {
        return;
    };
    let update = ops::line_color(StepOp::Update);
    let of = |state: &Option<StateView>| state.as_ref().map(|state| state.provider.clone());
    match (of(&metadata.old), of(&metadata.new)) {
        (Some(old), Some(new)) if old != new => {
            let name = |provider: Option<ProviderRef>| provider.map(|it| provider_ref_text(&it));
            let (old, new) = (name(old).unwrap_or_default(), name(new).unwrap_or_default());
            let (deleted, created) = (
                ops::line_color(StepOp::Delete),
                ops::line_color(StepOp::Create),
            );
            let _ = write!(
                text,
                "{update}{:columns$}[provider: {RESET}{deleted}{old}{RESET}{update} => {RESET}\
                 {created}{new}{RESET}{update}]\n{RESET}",
                ""
            );
        }
        _ if provider.urn().name() != "default" => {
            let color = ops::line_color(line_op);
            let _ = write!(text, "{color}{:columns$}[provider={provider}]\n{RESET}", "");
        }
        _ => {}
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
