//! The end of a run that has done everything: packs judge all of it.

use std::sync::Arc;

use plumb_resource::policy::{
    Analysis, AnalyzedOptions, AnalyzedResource, PolicyCall, StackResource,
};
use plumb_resource::{ResourceState, Urn};

use super::{Answers, Judged, Subject};
use crate::deployment::Deployment;
use crate::facts::arena::StateIdx;
use crate::ids::PackId;
use crate::status::{Failure, Stage};

/// How far the judgement of the whole is.
#[derive(Debug, Default)]
pub(super) enum Judgement {
    #[default]
    Ahead,
    Asked(Answers),
    Done,
}

impl Deployment {
    /// Asks all packs at the same time what they think of the stack; false if that is done, or there are none.
    pub(crate) fn judge_stack(&mut self) -> bool {
        let is_ahead = matches!(self.policies.judgement, Judgement::Ahead);
        if self.policies.packs.is_empty() || !is_ahead {
            return false;
        }
        let resources = self.stack_resources();
        for pack in self.policies.pack_ids() {
            let call = PolicyCall::AnalyzeStack(resources.clone());
            self.ask_pack(pack, Subject::Stack, call);
        }
        self.policies.judgement = Judgement::Asked(Answers::of(self.policies.packs.len()));
        self.stage = Stage::Judging;
        true
    }

    /// A pack has judged the stack, or could not; the verdict is taken when all have answered. Answers whether all have
    /// accepted it.
    pub(super) fn stack_judged(&mut self, pack: PackId, verdict: Judged) -> bool {
        let Judgement::Asked(answers) = &mut self.policies.judgement else {
            return false;
        };
        let Some(verdicts) = answers.take(pack, verdict) else {
            return false;
        };
        let (mut is_refused, mut broken) = (false, None);
        for (pack, verdict) in self.policies.pack_ids().zip(verdicts) {
            match verdict {
                Ok(analysis) => is_refused |= self.tell_stack_verdict(pack, &analysis),
                Err(error) => broken = broken.or(Some(error)),
            }
        }
        if let Some(error) = broken {
            self.refuse(None, &format!("failed to analyze resources: {error}"));
            return false;
        }
        self.policies.judgement = Judgement::Done;
        if is_refused {
            self.fail(Failure::Refused);
        }
        !is_refused
    }

    /// Tells what a pack found; answers whether something is mandatory.
    fn tell_stack_verdict(&mut self, pack: PackId, analysis: &Analysis) -> bool {
        let mut is_refused = false;
        for diagnostic in &analysis.diagnostics {
            let culprit = self.culprit(diagnostic.urn.as_ref());
            is_refused |= self.tell_violation(pack, culprit, diagnostic);
        }
        self.tell_stack_analysis(pack, analysis);
        is_refused
    }

    /// Whether packs judged the stack, all of whose steps had gone well.
    pub(crate) fn is_stack_judged(&self) -> bool {
        matches!(self.policies.judgement, Judgement::Done)
    }

    /// The resource to blame: the one that the pack names, if the stack has it.
    fn culprit(&self, named: Option<&Urn>) -> Urn {
        match named.filter(|urn| self.urns.of_run(urn).is_some()) {
            Some(urn) => urn.clone(),
            None => Urn::root_stack(&self.ctx.stack, &self.ctx.project),
        }
    }

    /// Everything that the run produced or passed on; what was there before comes first.
    fn stack_resources(&self) -> Arc<[StackResource]> {
        let mut states: Vec<StateIdx> = self.urns.all_of_run().collect();
        states.sort_unstable();
        let states = states.into_iter().map(|idx| self.arena.state(idx));
        states.map(|state| self.stack_resource(state)).collect()
    }

    fn stack_resource(&self, state: &ResourceState) -> StackResource {
        let deletes_first = self.policies.deletes_first.get(&state.urn);
        StackResource {
            resource: AnalyzedResource {
                urn: state.urn.clone(),
                type_token: state.type_token.clone(),
                properties: state.outputs.clone(),
                options: AnalyzedOptions {
                    protect: state.protect,
                    ignore_changes: state.ignore_changes.clone(),
                    delete_before_replace: deletes_first.copied(),
                    additional_secret_outputs: state.additional_secret_outputs.clone(),
                    aliases: state.aliases.clone(),
                    custom_timeouts: state.custom_timeouts,
                    parent: state.parent.clone(),
                },
                provider: self.analyzed_provider(state.provider.as_ref()),
            },
            parent: state.parent.clone(),
            dependencies: state.dependencies.clone(),
            property_dependencies: state.property_dependencies.clone(),
        }
    }
}
