//! Replies to registrations, reads and functions. Snippets and functions that wait for a resource hear of them too.

use crate::deployment::Deployment;
use crate::event::Effect;
use crate::ids::{Fence, RequestId};
use crate::request::Reply;

impl Deployment {
    /// Answers a request, once the entry of number `fence` is durable, and whoever waits for what it is about.
    pub(crate) fn reply(&mut self, id: RequestId, reply: Reply, fence: Fence) {
        if self.unanswered.remove(&id) {
            self.note_for_snippets(&reply, fence);
            self.outbox.push(Effect::Reply { id, reply, fence });
            self.request_closed(id);
        }
    }
}
