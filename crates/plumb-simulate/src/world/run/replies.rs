//! Replies of the core.

use plumb_deploy::RequestId;
use plumb_deploy::request::{Reply, RequestErrorKind};

use super::{Asked, Run};
use crate::world::{Answer, Moment, Violation};

impl Run<'_> {
    /// Handles the reply to a request.
    pub(super) fn answered(&mut self, id: RequestId, reply: Reply) -> Result<(), Violation> {
        let Some(asked) = self.asked.remove(&id) else {
            return Err(Violation::new("replies", "a request is answered twice"));
        };
        self.was_turned_away |= matches!(reply, Reply::Failed(_));
        match (asked, reply) {
            (Asked::Resource(name), Reply::Registered(reply)) => {
                let answer = Answer {
                    unknown: reply.unknown,
                    urn: reply.urn,
                    id: reply.id,
                    outputs: reply.outputs,
                    outcome: reply.outcome,
                };
                self.trace.answers.insert(name, answer);
            }
            (Asked::Resource(name), Reply::Read(reply)) => {
                let answer = Answer {
                    unknown: false,
                    urn: reply.urn,
                    id: reply.id,
                    outputs: reply.outputs,
                    outcome: reply.outcome,
                };
                self.trace.answers.insert(name, answer);
            }
            (Asked::Await(it), reply) => return self.awaited(&it, reply),
            (Asked::Ask(number), reply) => return self.provider_answered(number, &reply),
            (Asked::Method(name), reply) => return self.method_answered(name, reply),
            (Asked::Remote(name), Reply::Registered(reply)) => {
                let answer = self.trace.answers.get(&name);
                if answer.is_none_or(|answer| answer.urn != reply.urn) {
                    let what = format!("{name} is constructed as {}", reply.urn);
                    return Err(Violation::new("replies", what));
                }
            }
            (Asked::Views, reply) => return self.views_heard(reply),
            (Asked::Resource(name) | Asked::Remote(name), Reply::Failed(error))
                if error.kind != RequestErrorKind::Unavailable =>
            {
                self.source_fails(&name);
            }
            (Asked::Package(name), Reply::Package(reference)) => {
                return self.package_registered(name, reference);
            }
            (Asked::Outputs(_) | Asked::Function, Reply::Done) | (_, Reply::Failed(_)) => {}
            (asked, reply) => {
                let what = format!("{asked:?} is answered by {reply:?}");
                return Err(Violation::new("replies", what));
            }
        }
        Ok(())
    }

    fn views_heard(&mut self, reply: Reply) -> Result<(), Violation> {
        match reply {
            Reply::Done => self.trace.moments.push(Moment::Heard(true)),
            // A resource with the same former URN may have views with the same URNs.
            Reply::Failed(error) if error.message.starts_with("Duplicate") => {
                self.trace.moments.push(Moment::Heard(false));
            }
            Reply::Failed(_) if self.is_over => {}
            reply => return Err(Violation::new("views", format!("{reply:?}"))),
        }
        Ok(())
    }
}
