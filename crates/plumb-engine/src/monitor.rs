//! The resource monitor as programs see it, whatever carries the requests.

use async_trait::async_trait;
use plumb_deploy::request::{Reply, Request};

/// Takes requests of a program to the deployment.
#[async_trait]
pub trait ResourceMonitor: Send + Sync {
    /// Sends `request` and waits for the answer. Requests may run at the same time; they take effect in the order in
    /// which this is called (first poll).
    async fn request(&self, request: Request) -> Reply;

    /// Tells the user something, on behalf of a resource if there is one.
    fn log(&self, severity: plumb_events::Severity, urn: Option<&plumb_resource::Urn>, message: &str);
}
