//! The part of [`Provider`] that all built-in providers share.

use std::sync::Arc;

use async_trait::async_trait;
use plumb_plugin::{CallContext, ConstructContext, Provider, ProviderInfo};
use plumb_resource::provider::{
    CallRequest, CheckConfigRequest, CheckRequest, CheckResponse, ConfigureRequest,
    ConstructRequest, ConstructResponse, CreateRequest, CreateResponse, DeleteRequest, DiffRequest,
    DiffResult, InvokeRequest, InvokeResponse, Parameterization, ProviderCall, ProviderError,
    ReadRequest, ReadResponse, UpdateRequest, UpdateResponse,
};
use plumb_resource::{DiffChanges, PropertyDependencies};
use plumb_value::PropertyMap;

use crate::Builtin;

/// Resources and functions of a built-in provider.
#[async_trait]
pub(crate) trait Package: Send + Sync {
    async fn check(&self, request: CheckRequest) -> Result<CheckResponse, ProviderError>;
    async fn diff(&self, request: DiffRequest) -> Result<DiffResult, ProviderError>;
    async fn create(&self, request: CreateRequest) -> Result<CreateResponse, ProviderError>;
    async fn read(&self, request: ReadRequest) -> Result<ReadResponse, ProviderError>;
    async fn update(&self, request: UpdateRequest) -> Result<UpdateResponse, ProviderError>;
    async fn delete(&self, request: DeleteRequest) -> Result<(), ProviderError>;
    async fn invoke(&self, request: InvokeRequest) -> Result<InvokeResponse, ProviderError>;

    /// Whether resources of this type have outputs that are always secret.
    fn has_secret_outputs(&self, type_token: &str) -> bool {
        let _ = type_token;
        false
    }

    /// Cancels running operations.
    fn cancel(&self) {}
}

/// Implements [`Provider`] for a [`Package`].
///
/// Built-in providers have no settings, components, methods or parameters. Settings in state files of the real plugins
/// (`version`, `__pulumi-go-provider-version`) are accepted and returned unchanged.
pub(crate) struct Adapter<P> {
    builtin: Builtin,
    package: P,
}

impl<P: Package + 'static> Adapter<P> {
    pub(crate) fn start(builtin: &Builtin, package: P) -> Arc<dyn Provider> {
        Arc::new(Adapter {
            builtin: *builtin,
            package,
        })
    }

    fn refuse(&self, what: &str) -> ProviderError {
        ProviderError::clean(format!(
            "the built-in provider `{}` has no {what}",
            self.builtin.name()
        ))
    }
}

#[async_trait]
impl<P: Package> Provider for Adapter<P>
where
    P: 'static,
{
    async fn info(&self) -> Result<ProviderInfo, ProviderError> {
        Ok(ProviderInfo {
            name: self.builtin.name().to_owned(),
            version: self.builtin.version(),
        })
    }

    async fn get_schema(
        &self,
        subpackage: Option<(&str, &str)>,
    ) -> Result<Option<String>, ProviderError> {
        match subpackage {
            Some(_) => Err(self.refuse("parameterized packages")),
            None => Ok(self.builtin.schema().map(str::to_owned)),
        }
    }

    async fn parameterize(&self, _: &Parameterization) -> Result<(String, String), ProviderError> {
        Err(self.refuse("parameters"))
    }

    async fn check_config(
        &self,
        request: CheckConfigRequest,
    ) -> Result<CheckResponse, ProviderError> {
        Ok(CheckResponse {
            inputs: Some(request.new_inputs),
            ..CheckResponse::default()
        })
    }

    async fn diff_config(&self, _: DiffRequest) -> Result<DiffResult, ProviderError> {
        Ok(DiffResult::of(DiffChanges::Unknown))
    }

    async fn configure(&self, _: ConfigureRequest) -> Result<(), ProviderError> {
        Ok(())
    }

    async fn check(&self, request: CheckRequest) -> Result<CheckResponse, ProviderError> {
        self.package.check(request).await
    }

    async fn diff(&self, request: DiffRequest) -> Result<DiffResult, ProviderError> {
        self.package.diff(request).await
    }

    async fn create(&self, request: CreateRequest) -> Result<CreateResponse, ProviderError> {
        self.package.create(request).await
    }

    async fn read(&self, request: ReadRequest) -> Result<ReadResponse, ProviderError> {
        self.package.read(request).await
    }

    async fn update(&self, request: UpdateRequest) -> Result<UpdateResponse, ProviderError> {
        self.package.update(request).await
    }

    async fn delete(&self, request: DeleteRequest) -> Result<(), ProviderError> {
        self.package.delete(request).await
    }

    async fn invoke(&self, request: InvokeRequest) -> Result<InvokeResponse, ProviderError> {
        self.package.invoke(request).await
    }

    async fn construct(
        &self,
        _: ConstructRequest,
        _: &ConstructContext,
    ) -> Result<ConstructResponse, ProviderError> {
        Err(self.refuse("components"))
    }

    async fn call(&self, _: CallRequest, _: &CallContext) -> Result<InvokeResponse, ProviderError> {
        Err(self.refuse("methods"))
    }

    fn may_answer_secrets(&self, call: &ProviderCall) -> bool {
        // Previews create no values, so nothing secret can leak from them; they show which outputs will be secret.
        let is_preview = match call {
            ProviderCall::Create(request) => request.preview,
            ProviderCall::Update(request) => request.preview,
            _ => false,
        };
        !is_preview
            && call.touches_the_world()
            && call
                .urn()
                .is_some_and(|urn| self.package.has_secret_outputs(urn.type_text()))
    }

    async fn cancel(&self) {
        self.package.cancel();
    }

    async fn shutdown(&self) {
        self.package.cancel();
    }
}

/// Text of an error with its causes, for the user.
pub(crate) fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}

/// Rejects unknown inputs, which are valid only in previews.
pub(crate) fn require_known(inputs: &PropertyMap) -> Result<(), ProviderError> {
    if inputs.contains_unknowns() {
        return Err(ProviderError::clean(
            "some inputs are not known, and this is not a preview",
        ));
    }
    Ok(())
}

/// Reply of a function with a result.
pub(crate) fn invoked(result: PropertyMap) -> InvokeResponse {
    InvokeResponse {
        result: Arc::new(result),
        failures: Vec::new(),
        dependencies: PropertyDependencies::new(),
    }
}
