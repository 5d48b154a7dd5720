//! The engine, as a program sees it.
//!
//! [`grpc`] is the engine of a deployment; the tests have one of their own in the process.

mod encoded;
pub(crate) mod grpc;

use tonic::Status;
use tonic::async_trait;

use crate::protocol as pb;

/// Calls to the engine.
#[async_trait]
pub(crate) trait Monitor: Send + Sync {
    /// Whether callbacks can be run without a server.
    fn is_in_process(&self) -> bool {
        false
    }

    async fn supports(&self, feature: &str) -> Result<bool, Status>;

    /// Numbers of all features; `None` if the engine cannot list them.
    async fn features(&self) -> Result<Option<Vec<i32>>, Status>;

    async fn register(
        &self,
        request: Box<pb::RegisterResourceRequest>,
    ) -> Result<pb::RegisterResourceResponse, Status>;

    async fn read(
        &self,
        request: pb::ReadResourceRequest,
    ) -> Result<pb::ReadResourceResponse, Status>;

    async fn register_outputs(
        &self,
        request: pb::RegisterResourceOutputsRequest,
    ) -> Result<(), Status>;

    async fn invoke(
        &self,
        request: pb::ResourceInvokeRequest,
    ) -> Result<pb::ResourceInvokeResponse, Status>;

    async fn call(&self, request: pb::ResourceCallRequest) -> Result<pb::CallResponse, Status>;

    async fn register_package(&self, request: pb::RegisterPackageRequest)
    -> Result<String, Status>;

    async fn register_transform(&self, callback: pb::Callback) -> Result<(), Status>;

    async fn register_invoke_transform(&self, callback: pb::Callback) -> Result<(), Status>;

    async fn register_hook(&self, request: pb::RegisterResourceHookRequest) -> Result<(), Status>;

    async fn register_error_hook(
        &self,
        request: pb::RegisterErrorHookRequest,
    ) -> Result<(), Status>;

    /// Waits until the engine needs no callback any more.
    async fn wait_for_shutdown(&self) -> Result<(), Status>;

    async fn log(&self, request: pb::LogRequest) -> Result<(), Status>;

    async fn require_version(&self, range: String) -> Result<(), Status>;
}
