//! Failures of calls.

use std::time::Duration;

use tonic::{Code, Status};

use super::GrpcProvider;
use crate::process::Indented;

/// Time for the process to be reaped after its connection broke.
const END_GRACE: Duration = Duration::from_secs(1);

impl GrpcProvider {
    /// Replaces the status of a call whose provider has ended by one that says so.
    ///
    /// The code becomes `Unknown`, because the operation may have been applied before the end and must stay pending.
    pub(super) async fn explain(&self, status: Status) -> Status {
        let is_broken = matches!(
            status.code(),
            Code::Unavailable | Code::Unknown | Code::Internal | Code::Cancelled
        );
        // Statuses sent by the peer have no source; those of the transport have one.
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
