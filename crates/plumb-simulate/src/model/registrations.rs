//! Registrations from arrival to reply (`engine.md` 4.3).

use std::sync::Arc;

use plumb_deploy::request::Outcome;
use plumb_resource::{ProviderRef, ResourceId, ResourceKind, ResourceState, Urn};
use plumb_value::Value;

use super::difference::Difference;
use super::monitor::Wanted;
use super::{Model, illegal};
use crate::world::{Answer, Violation};

/// A registration or read, by the program or by the engine.
#[derive(Clone, Debug)]
pub(super) struct Registration {
    /// Name in the program; `None` for the engine's own registrations.
    pub(super) name: Option<String>,
    /// Package and version, for a default provider.
    pub(super) default: Option<(String, Option<String>)>,
    pub(super) wanted: Wanted,
    pub(super) old: Option<usize>,
    pub(super) included: bool,
    pub(super) imported: bool,
    pub(super) stage: Stage,
}

/// Stage of a registration.
#[derive(Clone, Debug)]
pub(super) enum Stage {
    /// The old state is being read.
    Refreshing,
    /// The object is being imported.
    Importing,
    /// The inputs are being checked.
    Checking,
    /// The decision is pending, with the difference if there is one.
    Weighed(Option<Difference>),
    /// The steps are running.
    Stepping,
    /// The registration was refused or answered.
    Over,
}

impl Wanted {
    /// Registration of this goal state.
    pub(super) fn by(
        self,
        name: Option<String>,
        default: Option<(String, Option<String>)>,
    ) -> Registration {
        Registration {
            name,
            default,
            wanted: self,
            old: None,
            included: true,
            imported: false,
            stage: Stage::Checking,
        }
    }
}

impl Model<'_> {
    /// Handles the end of Check for a registration.
    pub(super) fn weighed(&mut self, urn: &Urn) -> Result<(), Violation> {
        let number = self.registration_of(urn)?;
        match self.registrations[number].stage {
            Stage::Checking => self.weigh(number),
            _ => return Err(illegal(format!("{} is not to be compared", urn.name()))),
        }
        Ok(())
    }

    /// Handles the decision about a registration.
    pub(super) fn decided(&mut self, urn: &Urn) -> Result<(), Violation> {
        let number = self.registration_of(urn)?;
        match &self.registrations[number].stage {
            Stage::Weighed(diff) => {
                let diff = diff.clone();
                self.decide(number, diff);
            }
            Stage::Checking | Stage::Refreshing | Stage::Importing => {
                return Err(illegal(format!("{} is decided too early", urn.name())));
            }
            // The decision was made at the arrival, because of the operation.
            Stage::Stepping | Stage::Over => {}
        }
        Ok(())
    }

    /// Decides a pending registration, if nothing else happens in between.
    pub(super) fn decide_now(&mut self, number: usize) {
        if let Stage::Checking = self.registrations[number].stage {
            self.weigh(number);
        }
        if let Stage::Weighed(diff) = &self.registrations[number].stage {
            let diff = diff.clone();
            self.decide(number, diff);
        }
    }

    fn registration_of(&self, urn: &Urn) -> Result<usize, Violation> {
        let mut all = self.registrations.iter();
        all.position(|it| it.wanted.state.urn == *urn)
            .ok_or_else(|| illegal(format!("{} is not registered", urn.name())))
    }

    /// Handles the end of a registration's steps: it continues or is answered.
    pub(super) fn registration_goes_on(
        &mut self,
        number: usize,
        outcome: Outcome,
        last: Option<usize>,
    ) {
        let registration = &mut self.registrations[number];
        match (&registration.stage, outcome, last) {
            (Stage::Refreshing, Outcome::Success, _) => {
                registration.old = last;
                registration.stage = Stage::Checking;
                self.mode_special(number);
            }
            (Stage::Importing, Outcome::Success, Some(node)) => {
                registration.old = Some(node);
                registration.imported = true;
                registration.wanted.state.refresh_before_update = false;
                registration.wanted.state.replacement_trigger = Value::Null;
                registration.stage = Stage::Checking;
            }
            _ => {
                let state = last.map(|node| self.state(node).clone());
                self.answer(number, state.as_deref(), outcome);
            }
        }
    }

    /// Answers a registration with `state`, otherwise with its goal state.
    pub(super) fn answer(
        &mut self,
        number: usize,
        state: Option<&ResourceState>,
        outcome: Outcome,
    ) {
        let kept = self.object_of_failed_update(number, state.is_none(), outcome);
        let registration = &mut self.registrations[number];
        registration.stage = Stage::Over;
        let included = registration.included;
        let wanted = &registration.wanted.state;
        let urn = wanted.urn.clone();
        let is_left_out = state.is_none() && outcome == Outcome::Success;
        let state = state.unwrap_or(wanted);
        let answer = Answer {
            urn: if included {
                urn.clone()
            } else {
                state.urn.clone()
            },
            id: kept.unwrap_or_else(|| state.id.clone()),
            outputs: match state.kind {
                ResourceKind::Component => Arc::default(),
                _ => state.outputs.clone(),
            },
            outcome,
            // Replies to reads do not contain this.
            unknown: is_left_out && !wanted.external,
        };
        if let Some(lineage) = self.lineages.get(&urn).cloned() {
            self.lineages.entry(answer.urn.clone()).or_insert(lineage);
        }
        if let Some(key) = registration.default.clone() {
            let id = match &answer.id {
                ResourceId::None => ResourceId::Unknown,
                id => id.clone(),
            };
            let reference = ProviderRef::new(urn, id.as_str());
            self.defaults.insert(key, reference);
        }
        if let Some(name) = registration.name.clone() {
            self.prediction.answers.insert(name, answer);
        }
    }

    /// State of an object that could not be updated, whose id is in the reply.
    fn object_of_failed_update(
        &self,
        number: usize,
        is_without_state: bool,
        outcome: Outcome,
    ) -> Option<ResourceId> {
        let registration = &self.registrations[number];
        let fate = self.fates.get(&registration.wanted.state.urn)?;
        let is_failed_update = is_without_state && outcome == Outcome::Failed && fate.updated;
        let old = registration.old.filter(|_| is_failed_update)?;
        Some(self.state(old).id.clone())
    }
}
