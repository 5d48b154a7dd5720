//! Policy packs, automatic naming, and functions of providers (`engine.md` 8.3, 8.4, 2.6).

use std::sync::Arc;

use plumb_resource::provider::Autonaming;
use plumb_resource::{ProviderRef, ResourceId, ResourceKind, ResourceState, Urn};

use super::{Model, Phase, illegal};
use crate::story::Verb;
use crate::world::{Violation, packs};

impl Model<'_> {
    /// Whether packs analyze this run; they do not if nothing is registered.
    pub(super) fn has_policies(&self) -> bool {
        let applies = match self.operation.verb {
            Verb::Up | Verb::Destroy => true,
            Verb::Refresh => self.operation.flags.run_program,
            Verb::Import => false,
        };
        applies && !self.operation.flags.policies.is_empty()
    }

    /// Whether all packs are available; otherwise the run does nothing.
    pub(super) fn packs_are_there(&mut self) -> bool {
        let is_absent = self.has_policies() && packs::is_absent(&self.operation.flags.policies);
        if is_absent {
            self.coverage.reach("POLICY-14");
            self.reason("a policy pack is not there");
        }
        !is_absent
    }

    /// Remediates and analyzes checked inputs, unless they are not used.
    pub(super) fn put_to_policies(&mut self, number: usize) -> Result<(), String> {
        let registration = &self.registrations[number];
        let is_left_out = registration.old.is_none() && !registration.included;
        if !self.has_policies() || is_left_out {
            return Ok(());
        }
        let names = &self.operation.flags.policies;
        let state = &mut self.registrations[number].wanted.state;
        if let Some(inputs) = packs::remediated(names, &state.inputs) {
            self.coverage.reach("POLICY-04");
            state.inputs = Arc::new(inputs);
        }
        let state = &self.registrations[number].wanted.state;
        let (name, inputs) = (state.urn.name().to_owned(), state.inputs.clone());
        if packs::break_on(names, &name) {
            self.coverage.reach("POLICY-06");
            return Err(format!("a pack breaks on {name}"));
        }
        if packs::forbid(names, &inputs) {
            self.coverage.reach("POLICY-02");
            let text = format!("a pack forbids {name}");
            if !self.is_preview() {
                return Err(text);
            }
            self.reason(text);
        }
        Ok(())
    }

    /// Handles the analysis of the stack after all steps.
    pub(super) fn judge_stack(&mut self) {
        let is_done = self.phase == Phase::Rest && self.unfinished().is_none();
        if !self.has_policies() || !is_done || self.must_end || self.deferred {
            return;
        }
        self.is_judged = true;
        if packs::is_strict(&self.operation.flags.policies) {
            self.coverage.reach("POLICY-03");
            self.reason("a pack does not like the stack");
        }
    }

    /// Automatic naming of a resource (`world/naming.rs`).
    pub(super) fn naming_of(&self, urn: &Urn, kind: ResourceKind) -> Option<Autonaming> {
        let rule = self.operation.flags.naming.as_deref();
        let (token, name) = (urn.type_text(), urn.name());
        let rule =
            rule.filter(|_| kind != ResourceKind::Component && !token.starts_with("two:"))?;
        Some(match rule {
            _ if token == "test:m:Other" => Autonaming::Enforce(format!("o-{name}").into()),
            "verbatim" => Autonaming::Enforce(name.into()),
            "pattern" => Autonaming::Enforce(format!("p-{name}").into()),
            "chance" => Autonaming::Propose(name.into()),
            _ => Autonaming::Disabled,
        })
    }

    /// Notes a name that is equal in each run, which does not allow two copies at a time.
    pub(super) fn note_naming(&mut self, number: usize) {
        let wanted = &self.registrations[number].wanted;
        let naming = self.naming_of(&wanted.state.urn, wanted.state.kind);
        if naming.is_some_and(|naming| !matches!(naming, Autonaming::Propose(_))) {
            self.coverage.reach("AUTONAME-01");
            self.registrations[number].wanted.delete_first = Some(true);
        }
    }

    /// Handles a function in a preview whose provider has an unknown configuration: the result is unknown (PULUMI-29).
    pub(super) fn nobody_to_ask(&mut self, number: usize) -> Result<(), Violation> {
        self.source = None;
        let reference = self.named_for(number);
        if !self.is_config_unknown(reference.as_ref()) {
            return Err(illegal(format!("function {number} has a provider to ask")));
        }
        self.asked(number, true)
    }

    /// Provider given for a function, after its transforms.
    fn named_for(&self, number: usize) -> Option<ProviderRef> {
        let provider = self.program.asks[number].provider.as_ref();
        let mut transforms = self.program.ask_transforms.iter();
        let is_unbound = transforms.any(|name| name == "unbinds");
        provider
            .filter(|_| !is_unbound)
            .map(|name| self.reference(name))
    }

    /// Handles a call of a provider: the given one, or the default provider.
    pub(super) fn asked_of(
        &mut self,
        number: usize,
        server: Option<&ProviderRef>,
    ) -> Result<(), Violation> {
        self.source = None;
        let named = self.named_for(number);
        let ask = &self.program.asks[number];
        for name in &self.program.ask_transforms {
            match name.as_str() {
                "bad" => return Err(illegal(format!("function {number} has a bad transform"))),
                "unbinds" if ask.provider.is_some() => self.coverage.reach("XFORM-10"),
                _ => self.coverage.reach("XFORM-09"),
            }
        }
        let expected = named.or_else(|| self.default_of(&ask.package));
        let is_right = match (server, &expected) {
            (Some(server), Some(expected)) => self.is_same_provider(server, expected),
            _ => false,
        };
        if !is_right {
            let what = format!("{server:?} is asked for {number}, the model says {expected:?}");
            return Err(Violation::new("model: functions", what));
        }
        self.asked(number, true)
    }

    /// Checks that a function is called if and only if all resources that it depends on exist (INVOKE-05).
    pub(super) fn asked(&mut self, number: usize, is_asked: bool) -> Result<(), Violation> {
        self.source = None;
        let mut left: Vec<Urn> = Vec::new();
        for name in &self.program.asks[number].needs {
            left.push(self.urn_of_name(name));
        }
        let mut is_there = true;
        while let Some(urn) = left.pop() {
            let all = || self.registrations.iter().map(|it| &it.wanted.state);
            let is_component = |it: &ResourceState| it.kind == ResourceKind::Component;
            if all().any(|it| it.urn == urn && is_component(it)) {
                let below = all().filter(|it| it.parent.as_ref() == Some(&urn));
                left.extend(below.map(|it| it.urn.clone()));
                continue;
            }
            let fate = self.fate(&urn);
            // A custom resource without an id in its reply counts as missing.
            let is_custom = all().any(|it| it.urn == urn && it.kind == ResourceKind::Custom);
            let mut answers = self.prediction.answers.values();
            let answer = answers.find(|it| it.urn == urn).filter(|_| is_custom);
            is_there &= !fate.skipped_create && answer.is_none_or(|it| it.id.is_known());
            let state = self.news.get(&urn).map(|node| self.state(*node));
            if let Some(state) = state.filter(|it| it.kind == ResourceKind::Custom) {
                is_there &= matches!(state.id, ResourceId::Known(_));
            }
        }
        self.coverage
            .reach(if is_there { "INVOKE-01" } else { "INVOKE-05" });
        if is_there == is_asked {
            return Ok(());
        }
        let what = format!("function {number} is asked: {is_asked}; its needs exist: {is_there}");
        Err(illegal(what))
    }
}
