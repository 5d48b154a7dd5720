//! Policies over an existing state: nothing is deployed, and no remediation is kept.
//!
//! 1. Each resource, by its inputs, is put to the packs: their remediations of it are reported, one pack after the other, each
//!    with the inputs that the one before left; and what they think of it as it is.
//! 2. The packs judge all resources together, by their outputs.
//! 3. A mandatory violation refuses the state; the rest is looked at all the same.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use plumb_events::{Event, OperationResult, Summary};
use plumb_resource::policy::{
    Analysis, AnalyzedOptions, AnalyzedProvider, AnalyzedResource, EnforcementLevel,
    PolicyPackInfo, Remedies, Remedy, StackResource,
};
use plumb_resource::{ResourceState, Urn};
use plumb_state::Snapshot;
use plumb_value::PropertyMap;

use super::events;

/// A state that policy packs look at, and what they found so far.
#[derive(Debug)]
pub struct Inspection {
    packs: Vec<PolicyPackInfo>,
    states: Vec<Arc<ResourceState>>,
    root: Urn,
    is_refused: bool,
}

impl Inspection {
    /// An inspection of everything in `snapshot` that is not about to be deleted.
    pub fn new(
        snapshot: &Snapshot,
        stack: &str,
        project: &str,
        packs: Vec<PolicyPackInfo>,
    ) -> Self {
        let states = snapshot.resources.iter().filter(|state| !state.delete);
        Inspection {
            packs,
            states: states.cloned().collect(),
            root: Urn::root_stack(stack, project),
            is_refused: false,
        }
    }

    /// The resources, by their inputs.
    pub fn resources(&self) -> Vec<Arc<AnalyzedResource>> {
        let providers = self.providers();
        let states = self.states.iter();
        states
            .map(|state| Arc::new(analyzed(state, state.inputs.clone(), &providers)))
            .collect()
    }

    /// The resources together, by their outputs.
    pub fn stack(&self) -> Arc<[StackResource]> {
        let providers = self.providers();
        let resource = |state: &Arc<ResourceState>| StackResource {
            resource: analyzed(state, state.outputs.clone(), &providers),
            parent: state.parent.clone(),
            dependencies: state.dependencies.clone(),
            property_dependencies: state.property_dependencies.clone(),
        };
        self.states.iter().map(resource).collect()
    }

    fn providers(&self) -> HashMap<&Urn, &Arc<PropertyMap>> {
        let states = self.states.iter();
        states.map(|state| (&state.urn, &state.inputs)).collect()
    }

    /// Events for the remediations of a resource: one answer for each pack.
    pub fn remediated(&self, resource: &AnalyzedResource, answers: &[Remedies]) -> Vec<Event> {
        let mut events = Vec::new();
        let mut before = resource.properties.clone();
        for (pack, remedies) in self.packs.iter().zip(answers) {
            for remediation in &remedies.remediations {
                let policy = &remediation.policy;
                match &remediation.outcome {
                    Remedy::Inputs(after) => {
                        let told = events::remediation(pack, &resource.urn, policy, &before, after);
                        events.push(Event::PolicyRemediation(told));
                        before = after.clone();
                    }
                    Remedy::Failed(message) => {
                        let unremediated = events::unremediated(policy, message.clone());
                        let told = events::violation(pack, resource.urn.clone(), &unremediated);
                        events.push(Event::PolicyViolation(told));
                    }
                    Remedy::Nothing => {}
                }
            }
            let summary = events::remedies(pack, &resource.urn, remedies);
            events.push(Event::PolicyRemediateSummary(summary));
        }
        events
    }

    /// Takes what the packs think of a resource, an answer for each pack, and tells it.
    pub fn judged(&mut self, resource: &AnalyzedResource, answers: &[Analysis]) -> Vec<Event> {
        let mut events = Vec::new();
        for (pack, analysis) in self.packs.iter().zip(answers) {
            for diagnostic in &analysis.diagnostics {
                self.is_refused |= is_mandatory(diagnostic.level);
                let told = events::violation(pack, resource.urn.clone(), diagnostic);
                events.push(Event::PolicyViolation(told));
            }
            let summary = events::analysis(pack, &resource.urn, analysis);
            events.push(Event::PolicyAnalyzeSummary(summary));
        }
        events
    }

    /// Takes what the packs think of the whole, an answer for each pack, and tells it.
    pub fn stack_judged(&mut self, answers: &[Analysis]) -> Vec<Event> {
        let known: HashSet<&Urn> = self.states.iter().map(|state| &state.urn).collect();
        let mut events = Vec::new();
        for (pack, analysis) in self.packs.iter().zip(answers) {
            for diagnostic in &analysis.diagnostics {
                self.is_refused |= is_mandatory(diagnostic.level);
                let named = diagnostic.urn.as_ref().filter(|urn| known.contains(urn));
                let culprit = named.unwrap_or(&self.root).clone();
                let told = events::violation(pack, culprit, diagnostic);
                events.push(Event::PolicyViolation(told));
            }
            let summary = events::stack_analysis(pack, analysis);
            events.push(Event::PolicyAnalyzeStackSummary(summary));
        }
        events
    }

    /// Whether something violates a mandatory policy.
    pub fn is_refused(&self) -> bool {
        self.is_refused
    }

    /// The event that sums up an inspection which ended like this.
    pub fn summary(&self, result: OperationResult, duration: Duration) -> Event {
        Event::Summary(Summary {
            maybe_corrupt: false,
            duration,
            resource_changes: BTreeMap::new(),
            policy_packs: self.packs.iter().map(events::version).collect(),
            is_preview: false,
            result,
        })
    }
}

fn is_mandatory(level: EnforcementLevel) -> bool {
    events::verdict(level) == EnforcementLevel::Mandatory
}

fn analyzed(
    state: &ResourceState,
    properties: Arc<PropertyMap>,
    providers: &HashMap<&Urn, &Arc<PropertyMap>>,
) -> AnalyzedResource {
    let provider = state.provider.as_ref().and_then(|reference| {
        let urn = reference.urn();
        let properties = providers.get(urn)?;
        Some(AnalyzedProvider {
            urn: urn.clone(),
            properties: Arc::clone(properties),
        })
    });
    AnalyzedResource {
        urn: state.urn.clone(),
        type_token: state.type_token.clone(),
        properties,
        options: AnalyzedOptions {
            protect: state.protect,
            ignore_changes: state.ignore_changes.clone(),
            // Programs say it, and no state knows it.
            delete_before_replace: None,
            additional_secret_outputs: state.additional_secret_outputs.clone(),
            aliases: state.aliases.clone(),
            custom_timeouts: state.custom_timeouts,
            parent: state.parent.clone(),
        },
        provider,
    }
}
