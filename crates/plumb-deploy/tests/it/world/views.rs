//! Views that providers publish.

use std::sync::Arc;

use plumb_resource::provider::ProviderCall;
use plumb_resource::{StepOp, TypeToken, Urn, View, ViewStatus, ViewStep};
use plumb_value::PropertyMap;

use super::Cloud;

/// Type of all parts.
pub(crate) const PART: &str = "test:index:Part";

/// A step of a part, as the provider publishes it.
#[derive(Clone, Debug)]
pub(crate) struct Part(ViewStep);

/// The part `name` goes through a step of this kind.
pub(crate) fn part(op: &str, name: &str) -> Part {
    Part(ViewStep {
        type_token: TypeToken::new(PART),
        name: name.into(),
        op: StepOp::from_name(op).expect("there is such a step"),
        status: ViewStatus::Known,
        error: None,
        old: None,
        new: None,
        keys: Vec::new(),
        diffs: Vec::new(),
        detailed_diff: None,
    })
}

/// The URN of a part of a custom resource without a parent.
pub(crate) fn part_urn(owner: &Urn, name: &str) -> Urn {
    Urn::new(
        super::STACK,
        super::PROJECT,
        owner.qualified_type(),
        PART,
        name,
    )
}

impl Part {
    fn view(&self, value: &str) -> View {
        View {
            type_token: self.0.type_token.clone(),
            name: self.0.name.clone(),
            inputs: Arc::new(PropertyMap::new().with("in", value)),
            outputs: Arc::new(PropertyMap::new().with("out", value)),
        }
    }

    /// Before the step the part holds this value.
    pub(crate) fn from(mut self, value: &str) -> Self {
        self.0.old = Some(self.view(value));
        self
    }

    /// After the step the part holds this value.
    pub(crate) fn to(mut self, value: &str) -> Self {
        self.0.new = Some(self.view(value));
        self
    }

    /// The step fails.
    pub(crate) fn failing(mut self, message: &str, status: ViewStatus) -> Self {
        self.0.error = Some(message.into());
        self.0.status = status;
        self
    }
}

/// Views published while a call of this kind is in flight.
#[derive(Clone, Debug)]
pub(super) struct Told {
    operation: String,
    name: String,
    steps: Vec<ViewStep>,
}

impl Cloud {
    /// Has every call of `operation` for `name` tell of these parts, from here on.
    pub(crate) fn tells(&mut self, operation: &str, name: &str, parts: &[Part]) {
        self.told
            .retain(|told| (told.operation.as_str(), told.name.as_str()) != (operation, name));
        self.told.push(Told {
            operation: operation.to_owned(),
            name: name.to_owned(),
            steps: parts.iter().map(|part| part.0.clone()).collect(),
        });
    }

    /// Views that a provider publishes while it works on a call.
    pub(super) fn view_steps(&self, request: &ProviderCall) -> Vec<ViewStep> {
        let (operation, name) = Self::title(request);
        let mut told = self.told.iter();
        let told = told.find(|told| told.operation == operation && told.name == name);
        told.map(|told| told.steps.clone()).unwrap_or_default()
    }

    /// Names and values of the parts that the only call of `operation` for `name` was told of.
    pub(crate) fn old_views(&self, operation: &str, name: &str) -> Vec<(String, String)> {
        let views = match self.request(operation, name) {
            ProviderCall::Read(it) => &it.old_views,
            ProviderCall::Update(it) => &it.old_views,
            ProviderCall::Delete(it) => &it.old_views,
            other => panic!("{other:?} is told of no views"),
        };
        let shown = |view: &View| {
            assert_eq!(view.type_token.as_str(), PART);
            let value = view.outputs.get("out").and_then(|it| it.as_str());
            let value = value.unwrap_or_default().to_owned();
            (view.name.to_string(), value)
        };
        views.iter().map(shown).collect()
    }
}
