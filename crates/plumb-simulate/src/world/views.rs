//! Views: parts of an object, which its provider reports during its calls.
//!
//! The property `parts` is the number of views. Their names consist of the object's name and a number, and they have
//! its `v`. When `v` changes, the first view is updated; the second and third are replaced, the third with delete
//! before replace.

use plumb_events::Metadata;
use plumb_resource::provider::ProviderCall;
use plumb_resource::{StepOp, TypeToken, View, ViewStatus, ViewStep};
use plumb_value::{PropertyMap, Value};

use crate::cloud::{Cloud, Faults};
use crate::story::{CallKind, FaultKind};

/// Type of all views.
pub(crate) const PART: &str = "test:m:Part";

/// Whether a step belongs to a view.
pub(crate) fn is_view(metadata: &Metadata) -> bool {
    let states = metadata.new.iter().chain(&metadata.old);
    states.map(|state| &state.view_of).any(Option::is_some)
}

/// Views of an object with these inputs.
pub(crate) fn parts(name: &str, inputs: &PropertyMap) -> Vec<View> {
    let count = inputs.get("parts").and_then(Value::as_str);
    let count: u32 = count.and_then(|text| text.parse().ok()).unwrap_or(0);
    let value = inputs.get("v").cloned().unwrap_or(Value::Null);
    let part = |number| View {
        type_token: TypeToken::new(PART),
        name: format!("{name}-{number}").into(),
        inputs: std::sync::Arc::new(PropertyMap::new().with("v", value.clone())),
        outputs: std::sync::Arc::default(),
    };
    (1..=count).map(part).collect()
}

/// View steps that a provider reports during a call.
pub(super) fn steps(cloud: &Cloud, faults: Faults<'_>, call: &ProviderCall) -> Vec<ViewStep> {
    let (before, after): (&[View], _) = match call {
        ProviderCall::Create(it) => (&[], Some(&it.inputs)),
        ProviderCall::Update(it) => (&it.old_views, Some(&it.new_inputs)),
        ProviderCall::Read(it) => (&it.old_views, cloud.objects().get(it.id.as_str())),
        ProviderCall::Delete(it) => (&it.old_views, None),
        _ => return Vec::new(),
    };
    let after = after.map(AsRef::as_ref);
    super::calls::subject(call).map_or_else(Vec::new, |(kind, urn)| {
        told(faults, kind, urn.name(), before, after)
    })
}

/// View steps that a provider reports for the object with this name, these existing views and these new inputs.
pub(crate) fn told(
    faults: Faults<'_>,
    kind: CallKind,
    name: &str,
    before: &[View],
    after: Option<&PropertyMap>,
) -> Vec<ViewStep> {
    let fault = faults.of(kind, name);
    let tells = [FaultKind::Told, FaultKind::Part, FaultKind::HalfPart];
    if fault.is_some_and(|fault| !tells.contains(&fault)) {
        return Vec::new();
    }
    let mut before = before.to_vec();
    before.sort_by_cached_key(|view| (view.name.clone(), format!("{view:?}")));
    let before = before.as_slice();
    let mut steps = match (kind, after) {
        // The core deletes the remaining views itself.
        (CallKind::Delete, _) => between(&before[..before.len().min(1)], &[]),
        (_, Some(inputs)) => between(before, &parts(name, inputs)),
        (_, None) => Vec::new(),
    };
    let last = steps.iter_mut().max_by_key(|step| step.name.clone());
    if let (Some(last), Some(FaultKind::Part | FaultKind::HalfPart)) = (last, fault) {
        last.error = Some("a part broke".into());
        if fault == Some(FaultKind::HalfPart) {
            last.status = ViewStatus::Partial;
        }
    }
    steps
}

fn between(before: &[View], after: &[View]) -> Vec<ViewStep> {
    let is_in = |views: &[View], view: &View| views.iter().any(|it| it.name == view.name);
    let gone = before.iter().filter(|view| !is_in(after, view));
    let gone = gone.map(|view| step(StepOp::Delete, Some(view), None));
    let there = after.iter().flat_map(|view| {
        let known: Vec<&View> = before.iter().filter(|it| it.name == view.name).collect();
        match known.first() {
            None => vec![step(StepOp::Create, None, Some(view))],
            Some(_) if known.contains(&view) => stays(view, &known),
            Some(old) => changes(old, view),
        }
    });
    gone.chain(there).collect()
}

/// Steps for an unchanged view; a copy left by a failed replacement is deleted.
fn stays(view: &View, known: &[&View]) -> Vec<ViewStep> {
    let same = known.iter().position(|it| *it == view);
    let left = known.iter().enumerate().filter(|(at, _)| Some(*at) != same);
    let left = left.map(|(_, it)| step(StepOp::DeleteReplaced, Some(it), None));
    left.chain([step(StepOp::Same, Some(view), Some(view))])
        .collect()
}

fn changes(old: &View, new: &View) -> Vec<ViewStep> {
    let create = || step(StepOp::CreateReplacement, Some(old), Some(new));
    let replace = || step(StepOp::Replace, Some(old), Some(new));
    let delete = || step(StepOp::DeleteReplaced, Some(old), None);
    match new.name.rsplit_once('-') {
        Some((_, "2")) => vec![create(), replace(), delete()],
        Some((_, "3")) => vec![delete(), replace(), create()],
        _ => vec![step(StepOp::Update, Some(old), Some(new))],
    }
}

fn step(op: StepOp, old: Option<&View>, new: Option<&View>) -> ViewStep {
    ViewStep {
        type_token: TypeToken::new(PART),
        name: old
            .or(new)
            .map(|view| view.name.clone())
            .unwrap_or_default(),
        op,
        status: ViewStatus::Known,
        error: None,
        old: old.cloned(),
        new: new.cloned(),
        keys: Vec::new(),
        diffs: Vec::new(),
        detailed_diff: None,
    }
}
