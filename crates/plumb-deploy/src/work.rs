//! Work that the core gives itself, done before the next event is taken.

use plumb_resource::provider::{ProviderError, ProviderReply};

use crate::deployment::Deployment;
use crate::ids::{CallId, RegIdx, RequestId};
use crate::request::Parked;

/// Work that the core gives itself.
#[derive(Debug)]
pub(crate) enum Work {
    /// An answer that needs nobody outside.
    Answer(CallId, Box<Result<ProviderReply, ProviderError>>),
    /// A request that waited.
    Again(RequestId, Parked),
    /// A registration whose turn has come.
    Decide(RegIdx),
    /// Chains may start.
    RunChains,
}

impl Deployment {
    /// Has a request come back once the work before it is done.
    pub(crate) fn again(&mut self, id: RequestId, parked: Parked) {
        self.work.push_back(Work::Again(id, parked));
    }
}
