//! Failures of calls.

use std::time::Duration;

use tonic::{Code, Status};

use super::GrpcProvider;
use crate::process::Indented;

/// How long the process may take to be seen as ended after its connection broke.
const END_GRACE: Duration = Duration::from_secs(1);

impl GrpcProvider {
    /// Turns the failure of a call whose provider is no more into one that says so.
    ///
    /// The code becomes `Unknown`: the operation may have been applied before the end, so that it stays pending.
    pub(super) async fn explain(&self, status: Status) -> Status {
        let is_broken = matches!(
            status.code(),
            Code::Unavailable | Code::Unknown | Code::Internal | Code::Cancelled
        );
        // Statuses sent by the peer have no source; the transport's failures have one.
        if !is_broken || std::error::Error::source(&status).is_none() {
            return status;
        }
        let Some(process) = &self.process else {
            return status;
        };
        let Ok(exit) = tokio::time::timeout(END_GRACE, process.wait()).await else {
            return status;
        };
        let path = self
            .path
            .as_deref()
            .map(|path| format!(" [{}]", path.display()))
            .unwrap_or_default();
        let mut text = format!(
            "the provider plugin {}{path} ended during the call: {exit}",
            self.name
        );
        let output = process.last_output();
        if !output.is_empty() {
            text = format!("{text}\nIts last output was:{}", Indented(&output));
        }
        Status::new(Code::Unknown, text)
    }
}
