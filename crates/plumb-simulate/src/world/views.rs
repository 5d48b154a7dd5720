//! Views: parts of an object that its provider tells of while it works on it.
//!
//! A resource with the property `parts` has so many of them, which are called by its name and a number, and have its `v`.

use plumb_events::Metadata;
use plumb_resource::provider::ProviderCall;
use plumb_resource::{StepOp, TypeToken, View, ViewStatus, ViewStep};
use plumb_value::{PropertyMap, Value};

use crate::cloud::{Cloud, Faults};

/// Type of all views.
const PART: &str = "test:m:Part";

/// Whether a step is one of a view.
pub(crate) fn is_view(metadata: &Metadata) -> bool {
    let states = metadata.new.iter().chain(&metadata.old);
    states.map(|state| &state.view_of).any(Option::is_some)
}

/// The parts of an object with these inputs.
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

/// What a provider tells of parts while it works on a call that goes well.
pub(super) fn steps(cloud: &Cloud, faults: Faults<'_>, call: &ProviderCall) -> Vec<ViewStep> {
    let goes_well = |(kind, urn): (_, &plumb_resource::Urn)| faults.of(kind, urn.name()).is_none();
    if !super::calls::subject(call).is_some_and(goes_well) {
        return Vec::new();
    }
    match call {
        ProviderCall::Create(it) => between(&[], &parts(it.urn.name(), &it.inputs)),
        ProviderCall::Update(it) => between(&it.old_views, &parts(it.urn.name(), &it.new_inputs)),
        ProviderCall::Read(it) => match cloud.objects().get(it.id.as_str()) {
            Some(object) => between(&it.old_views, &parts(it.urn.name(), object)),
            None => Vec::new(),
        },
        // The core knows by itself that the rest goes too.
        ProviderCall::Delete(it) => between(&it.old_views[..it.old_views.len().min(1)], &[]),
        _ => Vec::new(),
    }
}

fn between(before: &[View], after: &[View]) -> Vec<ViewStep> {
    let is_in = |views: &[View], view: &View| views.iter().any(|it| it.name == view.name);
    let gone = before.iter().filter(|view| !is_in(after, view));
    let gone = gone.map(|view| step(StepOp::Delete, Some(view), None));
    let there = after
        .iter()
        .map(|view| match before.iter().find(|it| it.name == view.name) {
            None => step(StepOp::Create, None, Some(view)),
            Some(old) if old == view => step(StepOp::Same, Some(old), Some(view)),
            Some(old) => step(StepOp::Update, Some(old), Some(view)),
        });
    gone.chain(there).collect()
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
