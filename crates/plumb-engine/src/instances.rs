//! Running providers, by the instance numbers of the core.
//!
//! A provider is started and configured when the first call needs it; an unused provider is never started. All calls to an
//! instance wait for its start; calls other than CheckConfig and DiffConfig also wait for its configuration.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use plumb_deploy::{CallId, InstanceId, ProviderAction};
use plumb_plugin::{ConstructContext, PluginHost, Provider};
use plumb_resource::provider::{
    ConfigureRequest, PluginSpec, ProviderCall, ProviderError, ProviderReply,
};
use tokio::sync::OnceCell;

use crate::SecretsGate;
use crate::flights::Progress;
use crate::server::StatusTokens;
use crate::spans;

/// One provider.
struct Instance {
    spec: PluginSpec,
    provider: OnceCell<Result<Arc<dyn Provider>, ProviderError>>,
    configuration: Mutex<Option<Arc<Configuration>>>,
}

/// A configuration, to be sent once.
struct Configuration {
    request: ConfigureRequest,
    sent: OnceCell<Result<(), ProviderError>>,
}

/// All providers of a run.
pub(crate) struct Instances {
    host: Arc<PluginHost>,
    context: ConstructContext,
    gate: SecretsGate,
    /// Address for publishing views, and the tokens of the calls that may do so.
    status: (Arc<str>, StatusTokens),
    by_id: HashMap<InstanceId, Arc<Instance>>,
}

impl Instances {
    pub(crate) fn new(
        host: Arc<PluginHost>,
        context: ConstructContext,
        gate: SecretsGate,
        tokens: StatusTokens,
    ) -> Self {
        let address = context.monitor_endpoint.as_str().into();
        Instances {
            host,
            context,
            gate,
            status: (address, tokens),
            by_id: HashMap::new(),
        }
    }

    /// Applies an action of the core. The provider is started or configured only when it is first needed.
    pub(crate) fn act(&mut self, id: InstanceId, action: ProviderAction) {
        match action {
            ProviderAction::Load(spec) => {
                let instance = Instance {
                    spec,
                    provider: OnceCell::new(),
                    configuration: Mutex::new(None),
                };
                self.by_id.insert(id, Arc::new(instance));
            }
            ProviderAction::Configure(request) => {
                if let Some(instance) = self.by_id.get(&id) {
                    let configuration = Configuration {
                        request,
                        sent: OnceCell::new(),
                    };
                    *instance
                        .configuration
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(configuration));
                }
            }
            // The process stays until the end of the run, because calls may still be in flight.
            ProviderAction::Close => {
                self.by_id.remove(&id);
            }
        }
    }

    /// Name of the instance's plugin, while the instance exists.
    pub(crate) fn plugin(&self, id: InstanceId) -> Option<&str> {
        self.by_id
            .get(&id)
            .map(|instance| instance.spec.name.as_str())
    }

    /// Future of a call; it updates `progress`.
    pub(crate) fn call(
        &self,
        call: CallId,
        id: InstanceId,
        request: ProviderCall,
        progress: Progress,
    ) -> impl Future<Output = Result<ProviderReply, ProviderError>> + Send + 'static {
        let instance = self.by_id.get(&id).cloned();
        let host = self.host.clone();
        let context = match &request {
            ProviderCall::Construct(_) | ProviderCall::Call(_) => Some(self.context.clone()),
            _ => None,
        };
        let gate = self.gate.clone();
        let status = request.may_publish_views().then(|| self.status.clone());
        async move {
            let instance =
                instance.ok_or_else(|| ProviderError::clean("the provider has been closed"))?;
            let provider = instance.provider(&host).await?;
            gate.pass(provider.as_ref(), &request).await?;
            progress.configuring();
            if !matches!(
                request,
                ProviderCall::CheckConfig(_) | ProviderCall::DiffConfig(_)
            ) {
                instance.configure(provider.as_ref()).await?;
            }
            progress.calling();
            // The token is valid while the call is in flight.
            let status = status.filter(|_| provider.publishes_views());
            let reserved = status.map(|(address, tokens)| (address, tokens.reserve(call)));
            let request = match &reserved {
                Some((address, token)) => request.with_status(token.target(address)),
                None => request,
            };
            send(provider.as_ref(), request, context).await
        }
    }
}

impl Instance {
    async fn provider(&self, host: &PluginHost) -> Result<Arc<dyn Provider>, ProviderError> {
        let started = self.provider.get_or_init(|| async {
            let provider = host.provider(&self.spec);
            spans::within(spans::start(&self.spec.name), provider)
                .await
                .map_err(|error| ProviderError::clean(with_causes(&error)))
        });
        started.await.clone()
    }

    async fn configure(&self, provider: &dyn Provider) -> Result<(), ProviderError> {
        let configuration = self
            .configuration
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let Some(configuration) = configuration else {
            return Ok(());
        };
        configuration
            .sent
            .get_or_init(|| {
                let answer = provider.configure(configuration.request.clone());
                spans::within(spans::configuration(&self.spec.name), answer)
            })
            .await
            .clone()
    }
}

/// An error and its causes on one line.
pub fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

async fn send(
    provider: &dyn Provider,
    request: ProviderCall,
    context: Option<ConstructContext>,
) -> Result<ProviderReply, ProviderError> {
    Ok(match (request, context) {
        (ProviderCall::CheckConfig(request), _) => {
            ProviderReply::Checked(provider.check_config(request).await?)
        }
        (ProviderCall::DiffConfig(request), _) => {
            ProviderReply::Diffed(provider.diff_config(request).await?)
        }
        (ProviderCall::Check(request), _) => ProviderReply::Checked(provider.check(request).await?),
        (ProviderCall::Diff(request), _) => ProviderReply::Diffed(provider.diff(request).await?),
        (ProviderCall::Create(request), _) => {
            ProviderReply::Created(provider.create(request).await?)
        }
        (ProviderCall::Read(request), _) => ProviderReply::Read(provider.read(request).await?),
        (ProviderCall::Update(request), _) => {
            ProviderReply::Updated(provider.update(request).await?)
        }
        (ProviderCall::Delete(request), _) => {
            provider.delete(request).await?;
            ProviderReply::Deleted
        }
        (ProviderCall::Invoke(request), _) => {
            ProviderReply::Invoked(provider.invoke(request).await?)
        }
        (ProviderCall::Construct(request), Some(context)) => {
            ProviderReply::Constructed(provider.construct(*request, &context).await?)
        }
        (ProviderCall::Call(request), Some(context)) => {
            ProviderReply::Invoked(provider.call(request, &context).await?)
        }
        (ProviderCall::Parameterize(parameter), _) => {
            provider.parameterize(&parameter).await?;
            ProviderReply::Parameterized
        }
        (ProviderCall::Construct(_) | ProviderCall::Call(_), None) => {
            return Err(ProviderError::clean(
                "the call needs the facts of the deployment",
            ));
        }
    })
}
