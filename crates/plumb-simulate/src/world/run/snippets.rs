//! The snippets of a run: each waits for the resources of others that it needs, and registers its own then.

use plumb_deploy::request::{AwaitRequest, Outcome, Reply, Request, RequestErrorKind};
use plumb_deploy::{Event, ProgramEnd};

use super::choices::Choice;
use super::{Asked, Run};
use crate::story::Res;
use crate::world::{Answer, Await, Lack, Moment, Violation, snippets};

/// A snippet that is evaluated.
#[derive(Clone, Debug)]
pub(super) struct Evaluation {
    uuid: String,
    /// Resources that it has not asked for yet.
    unasked: Vec<String>,
    /// Why it cannot go on.
    trouble: Option<String>,
}

impl Run<'_> {
    /// A snippet is to run.
    pub(super) fn start_snippet(&mut self, uuid: &str) {
        let unasked = self.operation.program.awaited_by(uuid);
        self.evaluations.push(Evaluation {
            uuid: uuid.to_owned(),
            unasked: unasked.into_iter().cloned().collect(),
            trouble: None,
        });
        let moment = Moment::SnippetStarted(uuid.to_owned());
        self.trace.moments.push(moment);
    }

    /// What asks for something: a snippet, or the program.
    fn source_of<'a>(&'a self, asked: &'a Asked) -> Option<&'a str> {
        let program = &self.operation.program;
        match asked {
            Asked::Resource(name) | Asked::Outputs(name) | Asked::Remote(name) => {
                program.get(name)?.snippet.as_deref()
            }
            Asked::Await(it) => Some(&it.snippet),
            Asked::Function
            | Asked::Package(_)
            | Asked::Ask(_)
            | Asked::Method(_)
            | Asked::Views => None,
        }
    }

    /// Whether a source waits for an answer, or still has something to register.
    pub(super) fn is_busy(&self, source: Option<&str>) -> bool {
        let is_left = |res: &&Res| res.snippet.as_deref() == source;
        self.asked.values().any(|it| self.source_of(it) == source)
            || self.waiting.iter().any(is_left)
            || self.unregistered.iter().any(is_left)
    }

    /// Whether a resource may be registered, as far as that is a matter of its source.
    pub(super) fn is_source_ready(&self, res: &Res) -> bool {
        let Some(uuid) = &res.snippet else {
            return self.program_runs;
        };
        let awaits = |asked: &Asked| matches!(asked, Asked::Await(it) if it.snippet == *uuid);
        let mut evaluations = self.evaluations.iter();
        evaluations.any(|it| it.uuid == *uuid && it.unasked.is_empty() && it.trouble.is_none())
            && !self.asked.values().any(awaits)
    }

    /// Whether everything that a resource needs is answered; what is of others was waited for.
    pub(super) fn is_answered(&self, res: &Res, need: &str) -> bool {
        let program = &self.operation.program;
        if program.is_foreign(res.snippet.as_deref(), need) {
            self.trace.told.contains_key(need)
        } else {
            self.trace.answers.contains_key(need)
        }
    }

    /// A snippet is refused something that it cannot do without.
    pub(super) fn snippet_fails(&mut self, uuid: &str) {
        let mut evaluations = self.evaluations.iter_mut();
        if let Some(it) = evaluations.find(|it| it.uuid == uuid) {
            it.trouble = Some("it was refused something".to_owned());
        }
    }

    /// What snippets may do next, beside registering resources.
    pub(super) fn snippet_choices(&self) -> Vec<Choice> {
        let mut choices = Vec::new();
        for (index, it) in self.evaluations.iter().enumerate() {
            if it.trouble.is_some() {
                choices.push(Choice::EndSnippet(index));
            } else if !it.unasked.is_empty() {
                choices.push(Choice::Await(index));
            } else if !self.is_busy(Some(&it.uuid)) {
                choices.push(Choice::EndSnippet(index));
            }
        }
        choices
    }

    /// A snippet asks for a resource of others.
    pub(super) fn await_next(&mut self, index: usize) -> Result<(), Violation> {
        let it = &mut self.evaluations[index];
        let (snippet, name) = (it.uuid.clone(), it.unasked.pop().unwrap_or_default());
        let Some(urn) = snippets::reference(&self.operation.program, &name) else {
            return Err(Violation::new("snippets", format!("{name} is unknown")));
        };
        let request = AwaitRequest {
            snippet: snippet.as_str().into(),
            urn: urn.clone(),
        };
        let it = Await { snippet, name, urn };
        self.trace.moments.push(Moment::Awaits(it.clone()));
        self.ask(Asked::Await(it), Request::Await(request))
    }

    pub(super) fn end_snippet(&mut self, index: usize) -> Result<(), Violation> {
        let Evaluation { uuid, trouble, .. } = self.evaluations.swap_remove(index);
        self.trace.program_failed |= trouble.is_some() && !self.is_over;
        let end = match trouble {
            Some(message) => ProgramEnd::Failed { message },
            None => ProgramEnd::Finished,
        };
        if end == ProgramEnd::Finished {
            let moment = Moment::SnippetEnded(uuid.clone());
            self.trace.moments.push(moment);
        }
        let uuid = uuid.into();
        self.event(Event::SnippetEnded { uuid, end })
    }

    /// Notes what a snippet is told, at the time at which that is decided.
    pub(super) fn note_awaited(&mut self, it: &Await, reply: &Reply) {
        let told = match reply {
            Reply::Awaited(reply) => Ok(Answer {
                urn: reply.urn.clone(),
                id: reply.id.clone(),
                outputs: reply.outputs.clone(),
                outcome: Outcome::Success,
                unknown: reply.unknown,
            }),
            Reply::Failed(error) if error.kind == RequestErrorKind::Unavailable => return,
            Reply::Failed(error) if error.kind == RequestErrorKind::FailedPrecondition => {
                Err(Lack::Nobody)
            }
            _ => Err(Lack::Failed),
        };
        self.trace.moments.push(Moment::Awaited(it.clone(), told));
    }

    /// A snippet has its answer; one that cannot have what it needs fails.
    pub(super) fn awaited(&mut self, it: &Await, reply: Reply) -> Result<(), Violation> {
        match reply {
            Reply::Awaited(reply) => {
                let res = self.operation.program.get(&it.name);
                if res.is_some_and(|res| res.is_component() == reply.custom) {
                    let what = format!("{} is custom: {}", it.name, reply.custom);
                    return Err(Violation::new("replies", what));
                }
                let answer = Answer {
                    urn: reply.urn,
                    id: reply.id,
                    outputs: reply.outputs,
                    outcome: Outcome::Success,
                    unknown: reply.unknown,
                };
                self.trace.told.insert(it.name.clone(), answer);
                Ok(())
            }
            Reply::Failed(error) => {
                let mut evaluations = self.evaluations.iter_mut();
                if let Some(of) = evaluations.find(|of| of.uuid == it.snippet) {
                    of.trouble = Some(error.message.to_string());
                }
                Ok(())
            }
            reply => {
                let what = format!("a snippet that waits is answered {reply:?}");
                Err(Violation::new("replies", what))
            }
        }
    }
}
