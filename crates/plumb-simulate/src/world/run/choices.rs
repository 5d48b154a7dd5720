//! Possible next events.

use plumb_deploy::{Event, ProgramEnd};
use plumb_resource::provider::ProviderCall;

use super::{Asked, Order, Run};
use crate::cloud::Faults;
use crate::story::{FaultKind, Item};
use crate::world::{Moment, Violation, calls, requests};

/// A possible next event.
#[derive(Clone, Copy, Debug)]
pub(super) enum Choice {
    Register(usize),
    Outputs(usize),
    Answer(usize),
    CallBack(usize),
    Construct(usize),
    LoadPacks,
    Consult(usize),
    Ask(usize),
    CallMethod(usize),
    Sync,
    Functions,
    NextItem,
    EndProgram,
    GiveUp,
    Bail,
    Await(usize),
    EndSnippet(usize),
}

impl Run<'_> {
    /// Picks one of the possible events.
    pub(super) fn choose(&mut self) -> Option<Choice> {
        let mut choices: Vec<Choice> = Vec::new();
        if self.program_runs && !self.functions.is_empty() {
            choices.push(Choice::Functions);
        } else {
            choices = self.registrations();
            choices.extend(self.snippet_choices());
        }
        if self.program_runs && self.has_trouble {
            choices.push(Choice::GiveUp);
        } else if self.program_runs && self.functions.is_empty() {
            choices.extend(self.ready_asks().map(Choice::Ask));
            choices.extend(self.ready_methods().map(Choice::CallMethod));
            let is_left = !self.unasked.is_empty() || !self.methods.uncalled.is_empty();
            if !is_left && !self.is_busy(None) {
                choices.push(Choice::EndProgram);
            }
        }
        let faults = Faults(&self.operation.faults);
        for (index, (_, call)) in self.calls.iter().enumerate() {
            let hangs = calls::subject(call)
                .is_some_and(|(kind, urn)| faults.of(kind, urn.name()) == Some(FaultKind::Hang));
            if (!hangs || self.trace.interrupted) && !self.still_makes(call) {
                choices.push(Choice::Answer(index));
            }
        }
        choices.extend((0..self.callbacks.len()).map(Choice::CallBack));
        choices.extend(self.constructible().map(Choice::Construct));
        choices.extend(self.awaits_packs.then_some(Choice::LoadPacks));
        choices.extend((0..self.consultations.len()).map(Choice::Consult));
        if !self.held.is_empty() && !self.trace.journal_failed {
            choices.push(Choice::Sync);
        }
        self.dice.pick(&choices).copied()
    }

    /// Next event in fixed order: first those of other parties, then the program's actions in source order.
    pub(super) fn next_in_order(&self) -> Option<Choice> {
        if self.program_runs && !self.functions.is_empty() {
            return Some(Choice::Functions);
        }
        let faults = Faults(&self.operation.faults);
        let answers = |call: &ProviderCall| {
            let subject = calls::subject(call);
            let fault = subject.and_then(|(kind, urn)| faults.of(kind, urn.name()));
            fault != Some(FaultKind::Hang) || self.trace.interrupted
        };
        let is_ready = |call: &ProviderCall| answers(call) && !self.still_makes(call);
        if let Some(index) = self.calls.iter().position(|(_, call)| is_ready(call)) {
            return Some(Choice::Answer(index));
        }
        if !self.callbacks.is_empty() {
            return Some(Choice::CallBack(0));
        }
        if self.awaits_packs {
            return Some(Choice::LoadPacks);
        }
        if !self.consultations.is_empty() {
            return Some(Choice::Consult(0));
        }
        if let Some(index) = self.constructible().next() {
            return Some(Choice::Construct(index));
        }
        if let Some(index) = self.made_by_methods() {
            return Some(Choice::Register(index));
        }
        if !self.program_runs || !self.asked.is_empty() {
            return None;
        }
        if self.has_trouble {
            return Some(Choice::GiveUp);
        }
        if self.was_turned_away {
            return Some(Choice::Bail);
        }
        Some(match self.items.front() {
            Some(_) => Choice::NextItem,
            None if self.unregistered.is_empty() => Choice::EndProgram,
            None => Choice::Outputs(0),
        })
    }

    /// Next resource that a running method registers; one at a time.
    fn made_by_methods(&self) -> Option<usize> {
        let is_busy = self
            .asked
            .values()
            .any(|asked| matches!(asked, Asked::Resource(_)));
        let program = &self.operation.program;
        let is_ready = |res: &&crate::story::Res| {
            let mut needs = program.needs_of(res);
            res.by.is_some()
                && self.is_ready_by_methods(res)
                && needs.all(|need| self.trace.answers.contains_key(need))
        };
        let ready = self.waiting.iter().position(is_ready);
        ready.filter(|_| !is_busy)
    }

    /// Performs the next action of the program. Resources created by methods are left to these.
    fn next_item(&mut self) -> Result<(), Violation> {
        match self.fails_after {
            Some(0) => return self.fail_program(),
            Some(left) => self.fails_after = Some(left - 1),
            None => {}
        }
        match self.items.pop_front() {
            None => Ok(()),
            Some(Item::Ask(number)) => {
                self.unasked.retain(|it| *it != number);
                self.ask_function(number)
            }
            Some(Item::Method(method)) => {
                let methods = &self.operation.program.methods;
                let is_it = |number: &usize| methods[*number].name == method.name;
                match self.methods.uncalled.iter().position(is_it) {
                    Some(index) => self.call_method(index),
                    None => Ok(()),
                }
            }
            Some(Item::Resource(res)) => {
                let is_it = |other: &&crate::story::Res| other.name == res.name;
                let index = self.waiting.iter().position(is_it);
                match index.filter(|_| res.by.is_none()) {
                    Some(index) => self.register(index),
                    None => Ok(()),
                }
            }
        }
    }

    /// Possible registrations of resources and of outputs.
    fn registrations(&self) -> Vec<Choice> {
        let mut choices = Vec::new();
        for (index, res) in self.waiting.iter().enumerate() {
            let mut needs = self.operation.program.needs_of(res);
            if self.is_source_ready(res)
                && self.is_ready_by_methods(res)
                && needs.all(|need| self.is_answered(res, need))
            {
                choices.push(Choice::Register(index));
            }
        }
        for (index, res) in self.unregistered.iter().enumerate() {
            let mut needs = res
                .outputs
                .values()
                .filter_map(crate::story::Prop::from)
                .chain([&res.name]);
            let is_answered = |need| self.trace.answers.contains_key(need);
            if self.is_source_ready(res) && needs.all(is_answered) {
                choices.push(Choice::Outputs(index));
            }
        }
        choices
    }

    pub(super) fn perform_choice(&mut self, choice: Choice) -> Result<(), Violation> {
        match choice {
            Choice::Register(index) => self.register(index),
            Choice::Outputs(index) => {
                let res = self.unregistered.remove(index);
                let moment = Moment::OutputsSent(res.name.clone());
                self.trace.moments.push(moment);
                let request = requests::outputs(&self.known(res), res);
                self.ask(Asked::Outputs(res.name.clone()), request)
            }
            Choice::Answer(index) if self.tells_views(index) => self.tell_views(index),
            Choice::Answer(index) => self.answer(index),
            Choice::CallBack(index) => {
                let (call, callback, request) = self.callbacks.swap_remove(index);
                self.call_back(call, &callback, request)
            }
            Choice::Construct(index) => self.construct(index),
            Choice::LoadPacks => self.load_packs(),
            Choice::Consult(index) => self.consult(index),
            Choice::Ask(index) => self.ask_provider(index),
            Choice::CallMethod(index) => self.call_method(index),
            Choice::NextItem => self.next_item(),
            Choice::GiveUp => self.fail_program(),
            Choice::Bail => {
                self.program_runs = false;
                self.event(Event::ProgramEnded(ProgramEnd::Bailed))
            }
            Choice::Await(index) => self.await_next(index),
            Choice::EndSnippet(index) => self.end_snippet(index),
            Choice::Functions => std::mem::take(&mut self.functions)
                .into_iter()
                .try_for_each(|(asked, request)| self.ask(asked, request)),
            Choice::Sync => {
                let loose = (self.journal.len() - self.journal.durable) as usize;
                let step = 1 + self.dice.below(loose);
                self.journal.durable = (self.journal.durable + step as u64).min(self.journal.len());
                self.release()
            }
            Choice::EndProgram => {
                self.program_runs = false;
                self.trace.program_finished = true;
                self.trace.moments.push(Moment::ProgramFinished);
                self.event(Event::ProgramEnded(ProgramEnd::Finished))
            }
        }
    }

    fn register(&mut self, index: usize) -> Result<(), Violation> {
        let res = self.waiting.remove(index);
        let (known, name) = (self.known(res), res.name.clone());
        if res.remote {
            let request = requests::construction(&known, res);
            return self.ask(Asked::Remote(name), request);
        }
        let request = requests::request(&known, res);
        self.ask(Asked::Resource(name), request)
    }

    /// Answers a provider call.
    fn answer(&mut self, index: usize) -> Result<(), Violation> {
        let (call, request) = match self.order {
            Order::Any => self.calls.swap_remove(index),
            Order::Fixed => self.calls.remove(index),
        };
        let faults = Faults(&self.operation.faults);
        let result = match &request {
            ProviderCall::Call(request) => self.method_answers(request),
            ProviderCall::Parameterize(_) => self.plugins.extended(call),
            _ => calls::answer(self.cloud, faults, &request)?,
        };
        self.event(Event::Answered { call, result })
    }
}
