//! States after earlier updates.

use std::collections::BTreeSet;
use std::sync::Arc;

use clap::Args;
use plumb_backend::{Past, UpdateRecord};
use plumb_display::{Action, DiffView, Explanations, Options};
use plumb_events::{Event, Metadata, StateView, StepEvent};
use plumb_operate::context::{Stack, StackState};
use plumb_operate::identity::Code;
use plumb_operate::json::wants_json;
use plumb_operate::json::{Indent, pretty};
use plumb_operate::{Context, Error};
use plumb_resource::{ResourceState, StepOp, Urn};
use plumb_state::Snapshot;
use rustc_hash::FxHashMap;
use serde_json::{Value as Json, json};

use super::super::{TargetArgs, stack_of};
use super::seconds;
use crate::times::full_time;

/// Show what changed between two updates
///
/// Compares the states that two updates of the stack left, resource by resource. Updates have numbers, from 1 for the oldest;
/// `stack history` shows them.
#[derive(Args, Debug)]
pub struct DiffArgs {
    /// Show secret values instead of hiding them
    #[arg(long)]
    pub show_secrets: bool,
    /// Format of the result: default or json
    #[arg(long, default_value = "default")]
    pub output: String,
    /// The number of the earlier update
    #[arg(value_name = "A")]
    pub from: String,
    /// The number of the later update; the present state if it is left out
    #[arg(value_name = "B")]
    pub to: Option<String>,
}

/// Reads the number of an update.
fn number(text: &str) -> Result<u64, Error> {
    text.trim_start_matches('v').parse().map_err(|_| {
        Error::user(format!(
            "`{text}` is not the number of an update; `plumb stack history` shows them"
        ))
        .known(Code::NoSuchUpdate)
    })
}

/// Update with this number, and the state after it.
pub(crate) fn past(stack: &Stack, text: &str) -> Result<(UpdateRecord, StackState), Error> {
    let Some(Past { record, state }) = stack.backend.past(&stack.reference, number(text)?)? else {
        return Err(Error::user(format!(
            "stack '{}' has no update {text}; `plumb stack history` shows which there are",
            stack.shown
        ))
        .known(Code::NoSuchUpdate));
    };
    match state {
        Some(state) => Ok((record, StackState::File(Box::new(state)))),
        None => Err(Error::user(format!(
            "the state that update {text} of stack '{}' left is not kept",
            stack.shown
        ))),
    }
}

/// One side of a comparison.
struct Side {
    label: String,
    snapshot: Snapshot,
}

impl Side {
    fn new(
        ctx: &Context,
        label: String,
        state: &StackState,
        show_secrets: bool,
    ) -> Result<Self, Error> {
        let snapshot = if show_secrets {
            ctx.decrypt_state(state)?
        } else {
            state.opaque().cloned().unwrap_or_default()
        };
        Ok(Side { label, snapshot })
    }

    fn of_update(
        ctx: &Context,
        stack: &Stack,
        text: &str,
        show_secrets: bool,
    ) -> Result<Self, Error> {
        let (record, state) = past(stack, text)?;
        let label = format!(
            "{} ({}, {})",
            record.version,
            record.kind,
            full_time(seconds(record.end_time))
        );
        Side::new(ctx, label, &state, show_secrets)
    }

    /// Live resources, without those that are pending deletion.
    fn resources(&self) -> impl Iterator<Item = &Arc<ResourceState>> {
        self.snapshot.resources.iter().filter(|it| !it.delete)
    }
}

pub(super) fn diff(args: &DiffArgs, target: &TargetArgs, ctx: &Context) -> Result<(), Error> {
    let as_json = wants_json(false, &args.output)?;
    let stack = stack_of(target, ctx)?;
    let from = Side::of_update(ctx, &stack, &args.from, args.show_secrets)?;
    let to = if let Some(text) = &args.to {
        Side::of_update(ctx, &stack, text, args.show_secrets)?
    } else {
        let state = ctx.load_state(&stack)?;
        let label = "the present state".to_owned();
        Side::new(ctx, label, &state, args.show_secrets)?
    };
    let options = Options {
        color: ctx.printer.color(),
        show_secrets: args.show_secrets,
        ..Options::new(
            Action::Refresh,
            true,
            stack.shown.as_str(),
            stack.project_name(),
        )
    };
    let steps = steps(&from, &to);
    if as_json {
        ctx.printer.data(&pretty(
            &document(&from, &to, &steps, &options),
            Indent::Two,
        ));
        return Ok(());
    }
    ctx.printer
        .styled_line(&format!("From {} to {}:", from.label, to.label));
    let changes = steps.iter().filter(|step| step.op != StepOp::Same).count();
    if changes == 0 {
        ctx.printer.line("    nothing differs");
        return Ok(());
    }
    let events: Vec<Event> = steps.into_iter().flat_map(events).collect();
    ctx.printer.data(&DiffView::render(options, &events));
    Ok(())
}

/// Steps that transform the earlier state into the later one.
fn steps(from: &Side, to: &Side) -> Vec<Metadata> {
    let old: FxHashMap<&Urn, &Arc<ResourceState>> =
        from.resources().map(|it| (&it.urn, it)).collect();
    let kept: BTreeSet<&Urn> = to.resources().map(|it| &it.urn).collect();
    let mut steps: Vec<Metadata> = to
        .resources()
        .map(|new| metadata(old.get(&new.urn).copied(), Some(new)))
        .collect();
    let gone = from.resources().filter(|it| !kept.contains(&it.urn));
    steps.extend(gone.map(|old| metadata(Some(old), None)));
    steps
}

fn metadata(old: Option<&Arc<ResourceState>>, new: Option<&Arc<ResourceState>>) -> Metadata {
    let op = match (old, new) {
        (None, _) => StepOp::Create,
        (_, None) => StepOp::Delete,
        (Some(old), Some(new)) if old.id != new.id => StepOp::Replace,
        (Some(old), Some(new)) if old.outputs != new.outputs || old.inputs != new.inputs => {
            StepOp::Update
        }
        _ => StepOp::Same,
    };
    let state = new.or(old).expect("one of the states is there");
    let view = |state: &Arc<ResourceState>| StateView::from(state.clone());
    Metadata {
        op,
        urn: state.urn.clone(),
        type_token: state.type_token.clone(),
        old: old.map(view),
        new: new.map(view),
        keys: Vec::new(),
        diffs: Vec::new(),
        detailed_diff: None,
        logical: true,
        provider: state.provider.clone(),
    }
}

fn events(metadata: Metadata) -> Vec<Event> {
    let internal = metadata.urn.is_default_provider();
    let step = |metadata: Metadata| StepEvent {
        metadata: Box::new(metadata),
        planning: true,
        internal,
    };
    // Shown as a refresh, because that displays outputs, which contain more than inputs.
    let begin = match metadata.op {
        StepOp::Update => StepOp::Refresh,
        op => op,
    };
    let first = Metadata {
        op: begin,
        ..metadata.clone()
    };
    match begin {
        StepOp::Refresh => vec![
            Event::ResourcePre(step(first)),
            Event::ResourceOutputs(step(metadata)),
        ],
        _ => vec![Event::ResourcePre(step(first))],
    }
}

fn document(from: &Side, to: &Side, steps: &[Metadata], options: &Options) -> Json {
    let mut explanations = Explanations::new(options);
    for event in steps.iter().cloned().flat_map(events) {
        explanations.handle(&event);
    }
    let resources = explanations.run().resources.iter();
    let resources: Vec<Json> = resources
        .map(|(urn, it)| {
            json!({
                "urn": urn,
                "change": match it.op.as_str() {
                    "create" => "added",
                    "delete" => "removed",
                    "replace" => "replaced",
                    _ => "changed",
                },
                "differs": it.differs,
                "difference": plumb_events::strip_color(&it.difference),
            })
        })
        .collect();
    json!({ "from": from.label, "to": to.label, "resources": resources })
}
