//! Display of a change before it is made, in the form of engine steps.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use plumb_display::{Action, DiffView, Options};
use plumb_events::{Event, Metadata, OperationResult, StateView, StepEvent, Summary};
use plumb_operate::Context;
use plumb_resource::provider::DiffResult;
use plumb_resource::{ResourceId, ResourceKind, ResourceState, StepOp, Urn};
use plumb_value::PropertyMap;

use super::Settings;
use plumb_automation::values::Secrets;

/// State of an object before or after the change.
pub(super) fn state(
    urn: &Urn,
    id: &ResourceId,
    inputs: &Arc<PropertyMap>,
    outputs: &Arc<PropertyMap>,
) -> ResourceState {
    ResourceState {
        id: id.clone(),
        inputs: inputs.clone(),
        outputs: outputs.clone(),
        ..ResourceState::new(urn.clone(), ResourceKind::Custom)
    }
}

/// Shows a step. Written to standard error, because standard output is for the result.
pub(super) fn announce(
    op: StepOp,
    old: Option<ResourceState>,
    new: Option<ResourceState>,
    diff: Option<&DiffResult>,
    settings: Settings,
    ctx: &Context,
) {
    let view = |state: ResourceState| StateView::new(Arc::new(state));
    let Some(urn) = new.as_ref().or(old.as_ref()).map(|it| it.urn.clone()) else {
        return;
    };
    let metadata = Metadata {
        op,
        type_token: urn.type_token(),
        urn,
        old: old.map(view),
        new: new.map(view),
        keys: diff.map(|it| it.replace_keys.clone()).unwrap_or_default(),
        diffs: diff.map(|it| it.changed_keys.clone()).unwrap_or_default(),
        detailed_diff: diff.and_then(|it| it.detailed_diff.clone()),
        logical: true,
        provider: None,
    };
    let step = Event::ResourcePre(StepEvent {
        metadata: Box::new(metadata),
        planning: true,
        internal: false,
    });
    let summary = Event::Summary(Summary {
        maybe_corrupt: false,
        duration: Duration::ZERO,
        resource_changes: BTreeMap::from([(op, 1)]),
        policy_packs: BTreeMap::new(),
        is_preview: true,
        result: OperationResult::Succeeded,
    });
    let (stack, project) = super::provider::NO_STACK;
    let options = Options {
        color: ctx.printer.color(),
        show_secrets: settings.secrets == Secrets::Shown,
        ..Options::new(Action::Update, true, stack, project)
    };
    let text = DiffView::render(options, [&step, &summary]);
    ctx.printer.info(text.trim_end());
}
