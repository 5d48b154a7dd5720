//! Recorded events, and constructed events.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use plumb_display::{Action, Display, Options, View};
use plumb_events::{
    Diagnostic, Event, FailedStatus, FailedStepEvent, Metadata, OperationResult, ReadEvent,
    Severity, StateView, StepEvent, Summary,
};
use plumb_resource::{ROOT_STACK_TYPE, ResourceId, ResourceKind, ResourceState, StepOp, Urn};
use plumb_value::PropertyMap;

pub(crate) fn recordings() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/recordings")
}

pub(crate) fn recorded_events(log: &Path) -> Vec<ReadEvent> {
    let text = std::fs::read_to_string(log).unwrap();
    text.lines()
        .map(|line| ReadEvent::from_line(line).unwrap())
        .collect()
}

/// A resource of the stack `dev` in the project `shop`.
pub(crate) struct Thing {
    pub(crate) state: ResourceState,
}

pub(crate) fn stack_urn() -> Urn {
    Urn::root_stack("dev", "shop")
}

pub(crate) fn stack() -> Thing {
    Thing {
        state: ResourceState::new(stack_urn(), ResourceKind::Component),
    }
}

pub(crate) fn thing(token: &str, name: &str) -> Thing {
    let urn = Urn::new("dev", "shop", ROOT_STACK_TYPE, token, name);
    Thing {
        state: ResourceState {
            parent: Some(stack_urn()),
            ..ResourceState::new(urn, ResourceKind::Custom)
        },
    }
}

impl Thing {
    pub(crate) fn under(mut self, parent: &Thing) -> Self {
        let urn = self
            .state
            .urn
            .with_parent_type(parent.state.urn.qualified_type());
        self.state.parent = Some(parent.state.urn.clone());
        self.state.urn = urn;
        self
    }

    pub(crate) fn component(mut self) -> Self {
        self.state.kind = ResourceKind::Component;
        self
    }

    pub(crate) fn id(mut self, id: &str) -> Self {
        self.state.id = ResourceId::from_text(id);
        self
    }

    pub(crate) fn inputs(mut self, inputs: PropertyMap) -> Self {
        self.state.inputs = Arc::new(inputs);
        self
    }

    pub(crate) fn outputs(mut self, outputs: PropertyMap) -> Self {
        self.state.outputs = Arc::new(outputs);
        self
    }

    pub(crate) fn view(&self) -> StateView {
        StateView::new(self.state.clone())
    }
}

pub(crate) fn metadata(op: StepOp, old: Option<&Thing>, new: Option<&Thing>) -> Metadata {
    let urn = new.or(old).unwrap().state.urn.clone();
    Metadata {
        op,
        type_token: urn.type_token(),
        urn,
        old: old.map(Thing::view),
        new: new.map(Thing::view),
        keys: Vec::new(),
        diffs: Vec::new(),
        detailed_diff: None,
        logical: op.is_logical(),
        provider: None,
    }
}

pub(crate) fn pre(op: StepOp, old: Option<&Thing>, new: Option<&Thing>) -> Event {
    pre_of(metadata(op, old, new))
}

pub(crate) fn pre_of(metadata: Metadata) -> Event {
    Event::ResourcePre(StepEvent {
        metadata: Box::new(metadata),
        planning: false,
        internal: false,
    })
}

pub(crate) fn done(op: StepOp, old: Option<&Thing>, new: Option<&Thing>) -> Event {
    let metadata = Box::new(metadata(op, old, new));
    Event::ResourceOutputs(StepEvent {
        metadata,
        planning: false,
        internal: false,
    })
}

pub(crate) fn failed(op: StepOp, old: Option<&Thing>, new: Option<&Thing>) -> Event {
    let metadata = Box::new(metadata(op, old, new));
    Event::ResourceFailed(FailedStepEvent {
        metadata,
        status: FailedStatus::Ok,
        steps: 1,
        internal: false,
    })
}

pub(crate) fn error(on: Option<&Thing>, message: &str) -> Event {
    Event::Diagnostic(Diagnostic::new(
        Severity::Error,
        on.map(|thing| thing.state.urn.clone()),
        message,
    ))
}

pub(crate) fn warning(on: Option<&Thing>, message: &str) -> Event {
    Event::Diagnostic(Diagnostic::new(
        Severity::Warning,
        on.map(|thing| thing.state.urn.clone()),
        message,
    ))
}

pub(crate) fn summary(changes: &[(StepOp, u32)], result: OperationResult) -> Event {
    Event::Summary(Summary {
        maybe_corrupt: false,
        duration: Duration::from_millis(64_100),
        resource_changes: changes.iter().copied().collect(),
        policy_packs: std::collections::BTreeMap::new(),
        is_preview: false,
        result,
    })
}

pub(crate) fn options(view: View) -> Options {
    Options {
        view,
        ..Options::new(Action::Update, false, "dev", "shop")
    }
}

/// Standard output for events that occur one per second.
pub(crate) fn show(options: Options, events: &[Event]) -> String {
    let mut display = Display::new(options);
    let mut text = display.start();
    for (at, event) in events.iter().enumerate() {
        text.push_str(&display.handle(event, Duration::from_secs(at as u64)).stdout);
    }
    text.push_str(
        &display
            .handle(&Event::Cancel, Duration::from_secs(events.len() as u64))
            .stdout,
    );
    text
}
