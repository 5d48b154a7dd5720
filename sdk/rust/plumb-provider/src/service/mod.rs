//! The protocol of providers: each call of the engine, answered by the code of the provider.
//!
//! | Calls | Module |
//! |---|---|
//! | `Handshake`, `GetSchema`, `GetMapping`, `GetPluginInfo`, `Attach`, `Cancel` | here |
//! | `Parameterize` | `parameters` |
//! | `CheckConfig`, `DiffConfig`, `Configure` | `config` |
//! | `Check`, `Diff`, `Create`, `Read`, `Update`, `Delete` | `resources` |
//! | `List` | `list` |
//! | `Invoke` | `functions` |
//! | `Construct` | `components` |

mod components;
mod config;
mod functions;
mod grpc;
mod list;
mod methods;
mod parameters;
mod resources;

pub(crate) use grpc::Shared;
pub(crate) use resources::RichStatus;

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, OnceLock};

use futures_util::FutureExt as _;
use plumb::Result;
use tonic::Status;

use crate::context::Session;
use crate::protocol as pb;
use crate::provider::Mapping;
use crate::schema::{Environment, Failure, Spec, SpecKind};
use crate::{Cx, Provider};

/// A provider that answers an engine.
#[derive(Debug)]
pub(crate) struct Service {
    provider: Provider,
    /// The package that a parameter has made of the provider.
    package: OnceLock<Provider>,
    session: Arc<Session>,
    environment: Environment,
}

/// The answer to a call.
pub(crate) type Answer<T> = std::result::Result<T, Status>;

impl Service {
    pub(crate) fn new(provider: Provider, environment: Environment) -> Self {
        Service {
            provider,
            package: OnceLock::new(),
            session: Arc::default(),
            environment,
        }
    }

    /// The token with the name of the package in front.
    pub(crate) fn full(&self, token: &str) -> String {
        self.packaged().package.full(token)
    }

    /// The provider of the package that a parameter has made, or without one the provider itself.
    fn packaged(&self) -> &Provider {
        self.package.get().unwrap_or(&self.provider)
    }

    /// The provider that knows a token, by the name of the package in it.
    fn provider_of(&self, token: &str) -> &Provider {
        let package = token.split(':').next();
        if package == Some(&self.provider.package.name) {
            &self.provider
        } else {
            self.packaged()
        }
    }

    /// The provider whose configuration counts.
    fn configured(&self) -> &Provider {
        let package = self.package.get();
        let own = package.filter(|it| it.config.is_some());
        own.unwrap_or(&self.provider)
    }

    fn cx(&self) -> Cx {
        Cx::new(&self.session)
    }

    /// The specification behind the token of a resource.
    fn resource_spec(&self, token: &str) -> Answer<&Spec> {
        let spec = self.provider_of(token).spec(token);
        spec.filter(|it| it.kind == SpecKind::Resource)
            .ok_or_else(|| self.unknown("resource", token))
    }

    fn unknown(&self, what: &str, token: &str) -> Status {
        let package = &self.provider_of(token).package;
        Status::not_found(format!(
            "the provider `{}` of version {} has no {what} `{token}`",
            package.name, package.version
        ))
    }

    pub(crate) fn handshake(
        &self,
        request: &pb::ProviderHandshakeRequest,
    ) -> Answer<pb::ProviderHandshakeResponse> {
        self.attach(&request.engine_address)?;
        Ok(pb::ProviderHandshakeResponse {
            accept_secrets: true,
            accept_resources: true,
            accept_outputs: true,
            supports_autonaming_configuration: true,
            ..pb::ProviderHandshakeResponse::default()
        })
    }

    /// Whoever is at this address listens to messages.
    pub(crate) fn attach(&self, address: &str) -> Answer<()> {
        if address.is_empty() {
            return Ok(());
        }
        self.session.attach(address).map_err(|error| status(&error))
    }

    pub(crate) fn cancel(&self) {
        self.session.cancel();
    }

    pub(crate) fn schema(&self, request: &pb::GetSchemaRequest) -> Answer<pb::GetSchemaResponse> {
        if request.version != 0 {
            return Err(Status::invalid_argument(format!(
                "schemas of version {} are not supported",
                request.version
            )));
        }
        let is_package = |provider: &&Provider| {
            let package = &provider.package;
            package.name == request.subpackage_name && package.version == request.subpackage_version
        };
        let provider = if request.subpackage_name.is_empty() {
            &self.provider
        } else {
            let package = self.package.get().filter(is_package);
            package.ok_or_else(|| {
                Status::not_found(format!(
                    "no parameter has made the package `{}` of version {}",
                    request.subpackage_name, request.subpackage_version
                ))
            })?
        };
        let schema = provider.schema().map_err(|error| status(&error))?;
        Ok(pb::GetSchemaResponse { schema })
    }

    /// The schema of the package that a parameter has made, or without one the provider's own.
    pub(crate) fn package_schema(&self) -> Answer<String> {
        self.packaged().schema().map_err(|error| status(&error))
    }

    /// The packages of an ecosystem that there are mappings for.
    pub(crate) fn mappings(&self, request: &pb::GetMappingsRequest) -> pb::GetMappingsResponse {
        let mappings = self.packaged().mappings.iter();
        let packages = mappings.filter(|it| it.ecosystem == request.key);
        pb::GetMappingsResponse {
            providers: packages.map(|it| it.package.clone()).collect(),
        }
    }

    /// The mapping of a package, or the first one if the request names none; an empty answer if there is none.
    pub(crate) fn mapping(&self, request: &pb::GetMappingRequest) -> pb::GetMappingResponse {
        let fits = |it: &&Mapping| {
            it.ecosystem == request.key
                && (request.provider.is_empty() || it.package == request.provider)
        };
        let found = self.packaged().mappings.iter().find(fits);
        found.map_or_else(pb::GetMappingResponse::default, |it| {
            pb::GetMappingResponse {
                provider: it.package.clone(),
                data: it.data.clone(),
            }
        })
    }

    pub(crate) fn info(&self) -> pb::PluginInfo {
        pb::PluginInfo {
            version: self.provider.package.version.clone(),
        }
    }
}

/// An error as the engine gets it.
fn status(error: &plumb::Error) -> Status {
    Status::unknown(error.to_string())
}

/// Runs code of the provider; a panic in it is an error.
async fn guarded<T>(code: impl Future<Output = Result<T>>) -> Answer<T> {
    match AssertUnwindSafe(code).catch_unwind().await {
        Ok(result) => result.map_err(|error| status(&error)),
        Err(panic) => {
            let said = plumb::plugin::said(panic.as_ref());
            let said = said.map(|it| format!(": {it}")).unwrap_or_default();
            Err(Status::internal(format!(
                "the code of the provider panicked{said}"
            )))
        }
    }
}

/// Failures as the engine gets them, each property once.
fn failures(found: Vec<Failure>) -> Vec<pb::CheckFailure> {
    let mut failures: Vec<pb::CheckFailure> = Vec::new();
    for Failure { property, reason } in found {
        if !failures.iter().any(|it| it.property == property) {
            failures.push(pb::CheckFailure { property, reason });
        }
    }
    failures
}
