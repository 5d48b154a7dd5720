//! Snippets of a run: each waits for its dependencies from other sources, and then registers its own resources.

use plumb_deploy::request::{AwaitRequest, Outcome, Reply, Request, RequestErrorKind};
use plumb_deploy::{Event, ProgramEnd};

use super::choices::Choice;
use super::{Asked, Run};
use crate::story::Res;
use crate::world::{Answer, Await, Lack, Moment, Violation, snippets};

/// A snippet being evaluated.
#[derive(Clone, Debug)]
pub(super) struct Evaluation {
    uuid: String,
    /// Resources that it has not requested yet.
    unasked: Vec<String>,
    /// Reason why it cannot continue.
    trouble: Option<String>,
}

impl Run<'_> {
    /// Starts a snippet.
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

    /// Source of a request: a snippet, or `None` for the program.
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

    /// Whether a source waits for a reply, or has more resources to register.
    pub(super) fn is_busy(&self, source: Option<&str>) -> bool {
        let is_left = |res: &&Res| res.snippet.as_deref() == source;
        self.asked.values().any(|it| self.source_of(it) == source)
            || self.waiting.iter().any(is_left)
            || self.unregistered.iter().any(is_left)
    }

    /// Whether the source of a resource allows its registration.
    pub(super) fn is_source_ready(&self, res: &Res) -> bool {
        let Some(uuid) = &res.snippet else {
            return self.program_runs;
        };
        let awaits = |asked: &Asked| matches!(asked, Asked::Await(it) if it.snippet == *uuid);
        let mut evaluations = self.evaluations.iter();
        evaluations.any(|it| it.uuid == *uuid && it.unasked.is_empty() && it.trouble.is_none())
            && !self.asked.values().any(awaits)
    }

    /// Whether a dependency of a resource has a reply; one of another source must have been awaited.
    pub(super) fn is_answered(&self, res: &Res, need: &str) -> bool {
        let program = &self.operation.program;
        if program.is_foreign(res.snippet.as_deref(), need) {
            self.trace.told.contains_key(need)
        } else {
            self.trace.answers.contains_key(need)
        }
    }

    /// Fails a snippet after a refused request.
    pub(super) fn snippet_fails(&mut self, uuid: &str) {
        let mut evaluations = self.evaluations.iter_mut();
        if let Some(it) = evaluations.find(|it| it.uuid == uuid) {
            it.trouble = Some("it was refused something".to_owned());
        }
    }

    /// Possible next events of snippets, except registrations.
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

    /// Requests a resource of another source for a snippet.
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

    /// Records the reply to a snippet at the time of the decision.
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

    /// Handles the reply to a snippet; a snippet whose dependency is missing fails.
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
