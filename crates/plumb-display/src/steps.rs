//! Text for one step.

use ecow::EcoString;
use plumb_events::{Filter, Metadata, StateView, strip_color};
use plumb_resource::StepOp;
use plumb_value::path::PropertyPath;
use plumb_value::{PropertyMap, Value};

use crate::color::{RESET, paint};
use crate::detailed::{Sides, translate};
use crate::diff::{Change, Comparison, ObjectDiff, ValueDiff, is_internal, visible};
use crate::options::{Options, View};
use crate::values::{ValuePrinter, ValueStyle, is_worth_showing, longest};
use crate::{ops, quoted};

/// Key that marks a resource in the outputs of a stack.
const RESOURCE_MARK: &str = "@isPulumiResource";

/// Whether the step is shown; the root stack always is.
pub(crate) fn is_shown(metadata: &Metadata, options: &Options) -> bool {
    if metadata.op == StepOp::Same {
        let protection = |state: Option<&StateView>| state.map(|state| state.protect);
        let is_protection_changed = metadata.old.is_some()
            && metadata.new.is_some()
            && protection(metadata.old.as_ref()) != protection(metadata.new.as_ref());
        return options.show_sames || is_protection_changed;
    }
    // Creation and deletion of a replacement are shown as one step, unless the user has requested both.
    let is_part = options.view == View::Diff && !metadata.logical && metadata.op.is_replacement();
    options.show_replacement_steps || !is_part
}

/// Difference of a step, for its row.
#[derive(Clone, Debug, Default)]
pub(crate) struct RowDifference {
    /// Summary `[diff: +a,b-c~d]` of the top-level properties that differ; empty if none does.
    pub(crate) summary: String,
    /// The difference with its values, if it is short and wanted.
    pub(crate) short: Option<String>,
}

/// Difference of a step; `with_values`: whether a short one is wanted with its values.
pub(crate) fn row_difference(metadata: &Metadata, with_values: bool) -> RowDifference {
    let changes_inputs = metadata.op != StepOp::Same;
    let difference = changes_inputs.then(|| input_difference(metadata)).flatten();
    let summary = difference_summary(metadata, difference.as_ref());
    let difference = difference.filter(|_| with_values);
    let short = difference.and_then(|difference| short_difference(&difference, &summary));
    RowDifference { summary, short }
}

fn difference_summary(metadata: &Metadata, difference: Option<&ObjectDiff>) -> String {
    let (Some(old), Some(new)) = (&metadata.old, &metadata.new) else {
        return String::new();
    };
    let (mut added, mut deleted, mut updated) = (Vec::new(), Vec::new(), Vec::new());
    for (key, change) in difference.into_iter().flat_map(|difference| &difference.0) {
        match change {
            Change::Add(_) => added.push(key.as_str().to_owned()),
            Change::Delete(_) => deleted.push(key.as_str().to_owned()),
            Change::Update(_) => updated.push(key.as_str().to_owned()),
            Change::Same(_) => {}
        }
    }
    let taint = paint(ops::color(StepOp::Delete), "taint");
    let flags = [
        ("provider", old.provider != new.provider),
        ("protect", old.protect != new.protect),
        (taint.as_str(), old.taint != new.taint),
    ];
    let changed = flags.into_iter().filter(|(_, differs)| *differs);
    updated.extend(changed.map(|(name, _)| name.to_owned()));
    updated.sort_unstable();
    updated.dedup();
    let has_changes = !(added.is_empty() && deleted.is_empty() && updated.is_empty());
    let is_reported = difference.is_some() && metadata.detailed_diff.is_some();
    if !has_changes && !is_reported {
        return String::new();
    }
    let mut text = String::from("[diff: ");
    let groups = [
        (StepOp::Create, added),
        (StepOp::Delete, deleted),
        (StepOp::Update, updated),
    ];
    for (op, mut keys) in groups {
        if !metadata.diffs.is_empty() {
            keys.retain(|key| metadata.diffs.iter().any(|name| name == key));
        }
        if !keys.is_empty() {
            text.push_str(&paint(
                ops::color(op),
                format!("{}{}", ops::sign(op).trim(), keys.join(",")),
            ));
        }
    }
    text.push_str(RESET);
    text.push(']');
    text
}

/// Longest difference that stands in a row, in characters.
const LONGEST_IN_ROW: usize = 40;

/// The whole difference as `[diff: ~size: 1 => 2]`, if it is one short value in place of another one and no secret.
fn short_difference(difference: &ObjectDiff, summary: &str) -> Option<String> {
    let mut changes = difference.0.iter().filter(|(_, change)| !change.is_same());
    let (Some((key, change)), None) = (changes.next(), changes.next()) else {
        return None;
    };
    let Change::Update(ValueDiff::Plain { old, new }) = change else {
        return None;
    };
    let values = format!("{} => {}", short_value(old)?, short_value(new)?);
    let text = paint(ops::color(StepOp::Update), format!("~{key}: {values}"));
    let fits = values.chars().count() <= LONGEST_IN_ROW;
    // The summary has more if flags change, such as a protection.
    let is_all = strip_color(summary) == format!("[diff: ~{key}]");
    (fits && is_all).then(|| format!("[diff: {text}{RESET}]"))
}

/// A value that takes little room; `None` for secrets, objects and the like.
fn short_value(value: &Value) -> Option<String> {
    match value {
        Value::Bool(value) => Some(value.to_string()),
        Value::Number(value) => Some(quoted::number(*value)),
        Value::String(text) => Some(quoted::quoted(text.as_bytes())),
        Value::Computed(_) => Some("[unknown]".to_owned()),
        _ => None,
    }
}

/// Difference of the inputs: as reported by the provider, or else computed.
fn input_difference(metadata: &Metadata) -> Option<ObjectDiff> {
    let (old, new) = (metadata.old.as_ref()?, metadata.new.as_ref()?);
    let show = |map: &PropertyMap| visible(map, Filter::default());
    let hidden = hidden_paths(metadata);
    let comparison = Comparison {
        hidden: &hidden,
        ..Comparison::default()
    };
    match &metadata.detailed_diff {
        Some(reported) => {
            let sides = Sides {
                old_inputs: &show(&old.inputs),
                old_outputs: &show(&old.outputs),
                new_inputs: &show(&new.inputs),
                new_outputs: &show(&new.inputs),
            };
            translate(reported, sides, &comparison)
        }
        None => Some(Comparison::default().objects(&show(&old.inputs), &show(&new.inputs))),
    }
}

/// Line of the diff view above the outputs of a resource.
pub(crate) const OUTPUTS: &str = "--outputs:--";

/// Options for the outputs of a step.
#[derive(Clone, Copy)]
pub(crate) struct OutputView {
    pub(crate) indent: usize,
    pub(crate) planning: bool,
    /// Whether the step ends a refresh, which also shows outputs that are equal to their inputs.
    pub(crate) refreshed: bool,
}

/// Outputs of a step that are not equal to their inputs: their values, or their differences from the old outputs.
///
/// In a preview, only reads have complete outputs; outputs of the stack are always shown.
pub(crate) fn outputs_text(metadata: &Metadata, options: &Options, view: OutputView) -> String {
    let is_stack = metadata.urn.is_root_stack();
    let is_read = matches!(
        metadata.op,
        StepOp::Read | StepOp::ReadReplacement | StepOp::Import | StepOp::ImportReplacement
    );
    if view.planning && !(is_stack || is_read || view.refreshed) {
        return String::new();
    }
    let old = metadata.old.as_ref();
    if old.is_some_and(|old| !old.init_errors.is_empty()) {
        return String::new();
    }
    let show_sames = options.show_sames || (is_stack && !view.planning);
    let hidden = hidden_paths(metadata);
    let mut comparison = Comparison {
        hidden: &hidden,
        aligns_lists: options.explain,
        ..Comparison::default()
    };
    let show = |map: &PropertyMap| visible(map, options.filter());
    let new = metadata.new.as_ref();
    let outputs = new.map(|new| show(&new.outputs)).unwrap_or_default();
    let inputs = new
        .filter(|_| !view.refreshed)
        .map(|new| show(&new.inputs))
        .unwrap_or_default();
    let mut printer = ValuePrinter::new(ValueStyle {
        planning: view.planning,
        ..value_style(options)
    });
    let Some(old) = old else {
        print_outputs(
            &mut printer,
            (&inputs, &outputs),
            &comparison,
            (metadata, view),
        );
        return printer.finish();
    };
    let mut difference = comparison.objects(&show(&old.outputs), &outputs);
    let met = std::mem::take(&mut comparison.met).into_inner();
    let has_changes = difference.has_changes();
    if view.planning && is_stack {
        drop_unknown_additions(&mut difference);
    }
    if !has_changes && met.is_empty() {
        if show_sames {
            print_outputs(
                &mut printer,
                (&inputs, &outputs),
                &comparison,
                (metadata, view),
            );
        }
        return printer.finish();
    }
    printer.hidden(&met, view.indent);
    if !has_changes {
        // Only hidden paths differ.
        return printer.finish();
    }
    let width = longest(difference.0.keys().map(plumb_value::PropertyKey::as_str));
    for (key, change) in &difference.0 {
        if is_as_wanted(key.as_str(), (&inputs, &outputs), &comparison)
            || (!show_sames && change.is_same())
        {
            continue;
        }
        printer.property_diff(key.as_str(), change, view.indent, metadata.op, width);
    }
    printer.finish()
}

/// Writes the values of outputs.
fn print_outputs(
    printer: &mut ValuePrinter<'_>,
    (inputs, outputs): (&PropertyMap, &PropertyMap),
    comparison: &Comparison<'_>,
    (metadata, view): (&Metadata, OutputView),
) {
    let width = longest(outputs.keys().map(plumb_value::PropertyKey::as_str));
    for (key, value) in outputs.iter() {
        let is_shown = !is_internal(key)
            && is_worth_showing(value, true)
            && !is_as_wanted(key.as_str(), (inputs, outputs), comparison);
        if is_shown {
            printer.property(key.as_str(), value, view.indent, metadata.op, width);
        }
    }
}

/// Whether an output is equal to the input with the same name.
fn is_as_wanted(
    key: &str,
    (inputs, outputs): (&PropertyMap, &PropertyMap),
    comparison: &Comparison<'_>,
) -> bool {
    inputs.get(key).is_some_and(|input| {
        let output = outputs.get(key).unwrap_or(&Value::Null);
        comparison.property(key, output, input).is_same()
    })
}

/// Removes the mark of resources and the unknown properties of new resources. Resources in the outputs of a stack are
/// objects with a mark, and a preview knows few properties of a new one.
fn drop_unknown_additions(difference: &mut ObjectDiff) {
    let is_resource = matches!(difference.0.get(RESOURCE_MARK), Some(Change::Add(_)));
    if is_resource {
        difference.0.remove(RESOURCE_MARK);
    }
    difference.0.retain(|_, change| match change {
        Change::Add(Value::Computed(_)) => !is_resource,
        Change::Add(value) => {
            *value = without_marks(value);
            true
        }
        Change::Update(difference) => keep_known(difference),
        Change::Delete(_) | Change::Same(_) => true,
    });
}

/// Whether the new value is known. Also removes unknown properties inside it.
fn keep_known(difference: &mut ValueDiff) -> bool {
    match difference {
        ValueDiff::Plain { new, .. } => !matches!(new, Value::Computed(_)),
        ValueDiff::Object(object) => {
            drop_unknown_additions(object);
            true
        }
        ValueDiff::Array(elements) => {
            for element in elements {
                match &mut element.change {
                    Change::Add(value) => *value = without_marks(value),
                    Change::Update(difference) => {
                        keep_known(difference);
                    }
                    Change::Delete(_) | Change::Same(_) => {}
                }
            }
            true
        }
    }
}

fn without_marks(value: &Value) -> Value {
    value.map(&mut |value| match value {
        Value::Object(map) if map.contains_key(RESOURCE_MARK) => {
            let mut map = map.as_ref().clone();
            map.remove(RESOURCE_MARK);
            Value::from(map)
        }
        other => other,
    })
}

/// Style of displayed values.
pub(crate) fn value_style(options: &Options) -> ValueStyle<'static> {
    ValueStyle {
        full: options.full_output,
        show_secrets: options.show_secrets,
        aligns_lists: options.explain,
        ..ValueStyle::default()
    }
}

/// Paths in the option `hideDiffs`.
pub(crate) fn hidden_paths(metadata: &Metadata) -> Vec<PropertyPath> {
    let state = metadata.new.as_ref().or(metadata.old.as_ref());
    let texts = state
        .map(|state| state.hide_diff.as_slice())
        .unwrap_or_default();
    texts
        .iter()
        .filter_map(|text| PropertyPath::parse(text).ok())
        .collect()
}

/// Paths of properties that require a replacement, if the step reports any.
pub(crate) fn replacing_paths(metadata: &Metadata) -> Vec<EcoString> {
    let is_replacement = matches!(
        metadata.op,
        StepOp::Replace
            | StepOp::CreateReplacement
            | StepOp::ImportReplacement
            | StepOp::ReadReplacement
    );
    if !is_replacement {
        return Vec::new();
    }
    let reported = metadata.detailed_diff.iter().flatten();
    let forcing = reported.filter(|(_, difference)| difference.kind.is_replace());
    let mut paths: Vec<EcoString> = forcing.map(|(path, _)| path.clone()).collect();
    for key in &metadata.keys {
        if !paths.contains(key) {
            paths.push(key.clone());
        }
    }
    paths
}
