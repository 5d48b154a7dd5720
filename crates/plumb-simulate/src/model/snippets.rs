//! Snippets (`engine.md` 8.7): which ones run, the replies to them, and which ones are stored.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use plumb_deploy::request::Outcome;
use plumb_resource::{ResourceId, ResourceState, Urn};
use plumb_state::Snippet;
use plumb_value::PropertyMap;

use super::{Model, illegal};
use crate::story::{Operation, PROJECT, Res, STACK, Verb, token_of};
use crate::world::{Answer, Await, Lack, Violation, World, snippets};

/// Snippets of a run.
#[derive(Clone, Debug, Default)]
pub(super) struct Snippets {
    before: Vec<Snippet>,
    /// Stored snippets at the beginning of the run, and those to be removed.
    stored: Vec<Snippet>,
    removed: BTreeSet<String>,
    unstarted: BTreeSet<String>,
    running: BTreeSet<String>,
    waiting: Vec<Await>,
    /// Whether all of them wait for missing resources; they then get errors, one after the other.
    are_stuck: bool,
    /// Replies to snippets, by name.
    told: BTreeMap<String, Answer>,
    /// Components whose outputs were registered, and those answered without.
    complete: BTreeSet<String>,
    silent: BTreeSet<String>,
    /// Possible former URNs of registered resources.
    formers: Vec<(Urn, String)>,
}

impl Snippets {
    pub(super) fn new(world: &World, operation: &Operation) -> Self {
        let mut all = Snippets {
            before: world.snapshot.snippets.clone(),
            stored: world.snapshot.snippets.clone(),
            ..Snippets::default()
        };
        for (uuid, change) in snippets::wanted(&world.snapshot.snippets, operation) {
            let Some(snippet) = change else {
                all.removed.insert(uuid.to_string());
                continue;
            };
            match all.stored.iter_mut().find(|it| it.uuid == uuid) {
                Some(stored) => *stored = snippet,
                None => all.stored.push(snippet),
            }
        }
        all
    }
}

impl Model<'_> {
    /// Determines which stored snippets run: those beside the program of an update, and only targeted ones.
    pub(super) fn expect_snippets(&mut self) {
        let targets = &self.operation.flags.target_snippets;
        let stored = self.snippets.stored.iter().map(|it| it.uuid.to_string());
        let runs = |uuid: &String| {
            let is_meant = targets.is_empty() || targets.contains(uuid);
            is_meant && !self.snippets.removed.contains(uuid)
        };
        if self.operation.verb != Verb::Up {
            return;
        }
        self.snippets.unstarted = stored.filter(runs).collect();
        for node in 0..self.olds {
            let state = self.state(node).clone();
            if !state.delete && self.is_not_replayed(&state) {
                self.keep_needs(&state);
            }
        }
    }

    pub(super) fn snippet_started(&mut self, uuid: &str) -> Result<(), Violation> {
        self.coverage.reach("PCL-01");
        if !self.snippets.unstarted.remove(uuid) {
            return Err(illegal(format!("snippet {uuid} is not to run")));
        }
        self.snippets.running.insert(uuid.to_owned());
        Ok(())
    }

    pub(super) fn snippet_ended(&mut self, uuid: &str) {
        self.snippets.running.remove(uuid);
    }

    pub(super) fn snippet_waits(&mut self, it: &Await) {
        self.snippets.waiting.push(it.clone());
    }

    /// Notes possible former URNs of a registered resource.
    pub(super) fn note_formers(&mut self, name: &str, formers: &[Urn]) {
        let formers = formers.iter().map(|urn| (urn.clone(), name.to_owned()));
        self.snippets.formers.extend(formers);
    }

    /// Handles an event other than a reply to a snippet.
    pub(super) fn snippets_go_on(&mut self) {
        self.snippets.are_stuck = false;
    }

    pub(super) fn outputs_sent(&mut self, name: &str) {
        self.snippets.complete.insert(name.to_owned());
    }

    /// A snippet that keeps the run from ending.
    pub(super) fn unended_snippet(&self) -> Option<&String> {
        let Snippets {
            unstarted, running, ..
        } = &self.snippets;
        unstarted.iter().chain(running).next()
    }

    /// Handles a reply to a snippet about a resource that it waits for, or about its absence.
    pub(super) fn awaited(
        &mut self,
        it: &Await,
        told: &Result<Answer, Lack>,
    ) -> Result<(), Violation> {
        self.snippets.are_stuck |= self.all_wait();
        let legal = self.legal_answers(it);
        self.snippets.waiting.retain(|other| other != it);
        if !legal.contains(told) {
            let what = format!(
                "snippet {} is told {told:?} of {}, the model says {legal:?}",
                it.snippet, it.name
            );
            return Err(Violation::new("model: replies", what));
        }
        self.coverage.reach(match told {
            Ok(answer) if answer.urn != it.urn => "PCL-13",
            Ok(_) => "PCL-09",
            Err(_) => "PCL-11",
        });
        if let Ok(answer) = told {
            self.snippets.told.insert(it.name.clone(), answer.clone());
            if self.snippets.are_stuck {
                self.snippets.silent.insert(it.name.clone());
            }
        }
        Ok(())
    }

    fn legal_answers(&self, it: &Await) -> Vec<Result<Answer, Lack>> {
        let mut legal: Vec<Result<Answer, Lack>> = Vec::new();
        let old = self.live_old(&it.urn).map(|node| self.state(node));
        if let Some(old) = old.filter(|old| self.is_not_replayed(old)) {
            legal.push(Ok(Answer {
                urn: old.urn.clone(),
                id: old.id.clone(),
                outputs: old.outputs.clone(),
                outcome: Outcome::Success,
                unknown: false,
            }));
        }
        // The current owner of the URN, or the resource that took it over.
        let mut called = self.program.resources.iter();
        let current = self.aliased.get(&it.urn).unwrap_or(&it.urn);
        let own = called.find(|res| self.fate(current).seen && self.urn_asked_for(res) == *current);
        legal.extend(own.and_then(|res| self.registered_answer(&res.name)));
        // A former URN counts only when no other resource can be registered.
        if legal.is_empty() && own.is_none() && self.snippets.are_stuck {
            let formers = self.snippets.formers.iter();
            let names = formers.filter(|(urn, _)| *urn == it.urn);
            legal.extend(names.filter_map(|(_, name)| self.registered_answer(name)));
        }
        // The absence of a resource is known only when no source can register it any more.
        if legal.is_empty() && self.snippets.are_stuck {
            legal.push(Err(Lack::Nobody));
        }
        legal
    }

    /// Reply about a resource that is registered in this run. A component counts only after its outputs are registered,
    /// unless no other event can occur.
    fn registered_answer(&self, name: &str) -> Option<Result<Answer, Lack>> {
        let answer = self.prediction.answers.get(name)?;
        if answer.outcome != Outcome::Success {
            return Some(Err(Lack::Failed));
        }
        let res = self.program.get(name)?;
        let is_left_out = self.fate(&answer.urn).skipped_create;
        let mut answer = Answer {
            unknown: is_left_out,
            ..answer.clone()
        };
        if res.is_component() && !res.is_stack() {
            let is_complete = self.snippets.complete.contains(name) && !is_left_out;
            let is_silent = self.snippets.are_stuck || self.snippets.silent.contains(name);
            if !is_complete && !is_silent {
                return None;
            }
            answer.id = ResourceId::None;
            answer.outputs = if is_complete {
                Arc::new(self.outputs_of(res))
            } else {
                Arc::new(PropertyMap::new())
            };
        }
        Some(Ok(answer))
    }

    /// Whether all snippets wait, and nothing else is in progress.
    fn all_wait(&self) -> bool {
        let waits = |uuid: &String| self.snippets.waiting.iter().any(|it| it.snippet == *uuid);
        self.is_quiet() && self.snippets.running.iter().all(waits)
    }

    /// Reply about a resource to the current source.
    pub(super) fn answer_of(&self, name: &str) -> Option<&Answer> {
        self.answer_for(self.source.as_deref(), name)
    }

    pub(super) fn answer_for(&self, source: Option<&str>, name: &str) -> Option<&Answer> {
        let told = self.snippets.told.get(name);
        let told = told.filter(|_| self.program.is_foreign(source, name));
        told.or_else(|| self.prediction.answers.get(name))
    }

    /// URN of a registered resource. Its parent may have its former URN, if a snippet was given that.
    pub(super) fn urn_asked_for(&self, res: &Res) -> Urn {
        let parent = self.program.parent_of(res);
        let parent = parent.and_then(|name| self.answer_for(res.snippet.as_deref(), name));
        let Some(parent) = parent else {
            return self.program.urn_of(res);
        };
        let token = token_of(&res.type_name);
        Urn::new(
            STACK,
            PROJECT,
            parent.urn.qualified_type(),
            token,
            &res.name,
        )
    }

    /// Whether an entry belongs to a snippet that does not run because of targets.
    pub(super) fn is_not_replayed(&self, state: &ResourceState) -> bool {
        self.targets.has_snippets()
            && state.snippet_id.is_some()
            && !self.targets.has_snippet_of(state)
    }

    /// Snippets stored at the end. A snippet to be removed stays while any of its resources is left.
    pub(super) fn stored_snippets(&mut self, left: &[Arc<ResourceState>]) -> Vec<Snippet> {
        let is_left = |uuid: &str| {
            let mut left = left.iter().filter(|state| !state.delete);
            left.any(|state| state.snippet_id.as_deref() == Some(uuid))
        };
        if !self.has_begun || !self.has_packs {
            return self.snippets.before.clone();
        }
        let mut stored = self.snippets.stored.clone();
        stored.retain(|it| !self.snippets.removed.contains(it.uuid.as_str()) || is_left(&it.uuid));
        for uuid in &self.snippets.removed {
            self.coverage
                .reach(if is_left(uuid) { "PCL-28" } else { "PCL-04" });
        }
        stored
    }
}
