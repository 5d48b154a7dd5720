//! Interface to a provider.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use plumb_resource::provider::{
    CallRequest, CheckConfigRequest, CheckRequest, CheckResponse, ConfigureRequest,
    ConstructRequest, ConstructResponse, CreateRequest, CreateResponse, DeleteRequest, DiffRequest,
    DiffResult, InvokeRequest, InvokeResponse, ListRequest, ListResponse, Parameterization,
    ProviderCall, ProviderError, ReadRequest, ReadResponse, UpdateRequest, UpdateResponse,
};

/// Name and version of a running provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderInfo {
    /// Package name.
    pub name: String,
    /// Version; `None` when the plugin does not report one.
    pub version: Option<semver::Version>,
}

/// Mapping of a package of another ecosystem to one of this ecosystem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// Name of the package in the other ecosystem.
    pub provider: String,
    /// Mapping data, in the format of that ecosystem's tools.
    pub data: Vec<u8>,
}

/// Settings of the deployment that all component constructions and method calls share.
#[derive(Clone, Debug)]
pub struct ConstructContext {
    /// Project name.
    pub project: String,
    /// Stack name.
    pub stack: String,
    /// Organization name.
    pub organization: String,
    /// Configuration, `namespace:key` to plain text.
    pub config: Arc<BTreeMap<String, String>>,
    /// Keys of the configuration that are secret.
    pub config_secret_keys: Arc<Vec<String>>,
    /// Whether this is a preview.
    pub dry_run: bool,
    /// Maximum number of parallel operations.
    pub parallel: i32,
    /// `host:port` of the resource monitor.
    pub monitor_endpoint: String,
}

/// Settings for method calls.
pub type CallContext = ConstructContext;

/// A provider of resources, functions and components.
///
/// One value is one provider instance: `configure` is called at most once, before anything else but `check_config`,
/// `diff_config`, `parameterize` and `get_schema`. Calls may run at the same time. Dropping the future of a call does not
/// undo it; callers that must know the outcome wait for it.
#[async_trait]
pub trait Provider: Send + Sync {
    /// Name and version.
    async fn info(&self) -> Result<ProviderInfo, ProviderError>;
    /// The package schema as JSON text; `None` if there is none. `subpackage` is the name and version of a parameterized
    /// package.
    async fn get_schema(
        &self,
        subpackage: Option<(&str, &str)>,
    ) -> Result<Option<String>, ProviderError>;
    /// Applies a parameter; returns the name and version of the resulting package.
    async fn parameterize(
        &self,
        parameter: &Parameterization,
    ) -> Result<(String, String), ProviderError>;
    /// Applies command-line arguments as a parameter; returns the name and version of the resulting package.
    async fn parameterize_with_args(
        &self,
        args: &[String],
    ) -> Result<(String, String), ProviderError> {
        let _ = args;
        Err(ProviderError::clean("the provider takes no parameters"))
    }
    /// Checks the provider's own configuration.
    async fn check_config(
        &self,
        request: CheckConfigRequest,
    ) -> Result<CheckResponse, ProviderError>;
    /// Compares two configurations; the request's `id` is ignored.
    async fn diff_config(&self, request: DiffRequest) -> Result<DiffResult, ProviderError>;
    /// Applies a configuration.
    async fn configure(&self, request: ConfigureRequest) -> Result<(), ProviderError>;
    /// Checks inputs of a resource and fills in defaults.
    async fn check(&self, request: CheckRequest) -> Result<CheckResponse, ProviderError>;
    /// Compares a resource with new inputs.
    async fn diff(&self, request: DiffRequest) -> Result<DiffResult, ProviderError>;
    /// Creates a resource.
    async fn create(&self, request: CreateRequest) -> Result<CreateResponse, ProviderError>;
    /// Reads a resource.
    async fn read(&self, request: ReadRequest) -> Result<ReadResponse, ProviderError>;
    /// Changes a resource in place.
    async fn update(&self, request: UpdateRequest) -> Result<UpdateResponse, ProviderError>;
    /// Deletes a resource.
    async fn delete(&self, request: DeleteRequest) -> Result<(), ProviderError>;
    /// Calls a function.
    async fn invoke(&self, request: InvokeRequest) -> Result<InvokeResponse, ProviderError>;
    /// Lists one page of existing objects.
    async fn list(&self, request: ListRequest) -> Result<ListResponse, ProviderError> {
        let text = format!("the provider lists no objects of {}", request.token);
        Err(ProviderError::clean(text))
    }
    /// Constructs a remote component.
    async fn construct(
        &self,
        request: ConstructRequest,
        context: &ConstructContext,
    ) -> Result<ConstructResponse, ProviderError>;
    /// Calls a method.
    async fn call(
        &self,
        request: CallRequest,
        context: &CallContext,
    ) -> Result<InvokeResponse, ProviderError>;
    /// The packages of another ecosystem for which the provider has mappings; `None` if it cannot list them.
    async fn get_mappings(&self, _ecosystem: &str) -> Result<Option<Vec<String>>, ProviderError> {
        Ok(None)
    }
    /// The mapping of a package of another ecosystem, or any mapping if the name is empty; `None` if there is none.
    async fn get_mapping(
        &self,
        _ecosystem: &str,
        _package: &str,
    ) -> Result<Option<Mapping>, ProviderError> {
        Ok(None)
    }
    /// Whether the provider may publish views while it works on a resource, at the address in the request.
    fn publishes_views(&self) -> bool {
        false
    }
    /// Whether the answer to this call may hold secrets that the program does not know. Plugins may answer anything: bridges
    /// to providers of another ecosystem keep the whole state of such a provider among the outputs.
    fn may_answer_secrets(&self, call: &ProviderCall) -> bool {
        call.touches_the_world()
    }
    /// Asks the provider to finish running operations soon. Advisory.
    async fn cancel(&self);
    /// Shuts the provider down in an orderly way: Cancel first, then connections and processes are closed.
    async fn shutdown(&self);
}
