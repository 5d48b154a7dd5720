//! Default providers: which one a request gets, and their registration on first use (`engine.md` 3.3).

use std::sync::Arc;

use ecow::EcoString;
use plumb_resource::provider::PluginSpec;
use plumb_resource::{Goal, ProviderRef, ResourceKind, TypeToken};

use crate::decide::registration::Requester;
use crate::deployment::Deployment;
use crate::facts::defaults::DefaultProvider;
use crate::facts::packages;
use crate::ids::RequestId;
use crate::request::{PackageRequest, Parked, RequestError, RequestErrorKind};
use crate::steps::provider_inputs;

/// A provider for a request, or why there is none yet.
pub(crate) enum Resolved {
    /// Use this one.
    Provider(ProviderRef),
    /// The default provider is being registered; the request comes back when it is there.
    Later(PluginSpec),
}

impl Deployment {
    /// The package that serves a type: the registered one if the request names it, else the one in the token.
    pub(crate) fn package_of(&self, token: &str, request: &PackageRequest) -> EcoString {
        match self.packages.get(&request.package_ref) {
            Some(package) if package.extension.is_none() => {
                packages::package_name(&package.spec).clone()
            }
            _ => TypeToken::package_in(token).into(),
        }
    }

    /// The provider for a request: the one that it names, or the default provider of `package`.
    pub(crate) fn resolve_provider(
        &mut self,
        package: &str,
        reference: &str,
        request: &PackageRequest,
    ) -> Result<Resolved, RequestError> {
        if !reference.is_empty() {
            return ProviderRef::parse(reference)
                .map(Resolved::Provider)
                .map_err(|error| {
                    RequestError::new(
                        RequestErrorKind::Unknown,
                        format!("could not parse provider reference: {error}"),
                    )
                });
        }
        self.default_provider(package, request)
    }

    /// The default provider of `package` (`engine.md` 3.3).
    fn default_provider(
        &mut self,
        package: &str,
        request: &PackageRequest,
    ) -> Result<Resolved, RequestError> {
        if let Some(denied) = packages::denied(package, &self.ctx.config)? {
            // The decision about the resource reports it.
            return Ok(Resolved::Provider(denied));
        }
        if let Some(key) = self.packages.known_key(package, request)
            && let Some(DefaultProvider::Ready(reference)) = self.defaults.get(key)
        {
            return Ok(Resolved::Provider(reference.clone()));
        }
        let spec = packages::with_defaults(
            self.packages.resolve(package, request)?,
            &self.ctx.default_versions,
        );
        let key = packages::default_key(&spec);
        self.packages.note_key(package, request, &key);
        match self.defaults.get(&key) {
            Some(DefaultProvider::Ready(reference)) => Ok(Resolved::Provider(reference.clone())),
            _ => Ok(Resolved::Later(spec)),
        }
    }

    /// Puts a request aside until the default provider for `spec` is registered, and registers it if nobody has.
    pub(crate) fn wait_for_default(&mut self, spec: PluginSpec, id: RequestId, request: Parked) {
        let key = packages::default_key(&spec);
        if let Some(DefaultProvider::Pending(waiting)) = self.defaults.get_mut(&key) {
            waiting.push((id, request));
            return;
        }
        self.defaults
            .insert(key.clone(), DefaultProvider::Pending(vec![(id, request)]));
        let package = packages::package_name(&spec).clone();
        let mut inputs = packages::default_config(&package, &self.ctx.config);
        provider_inputs::write(&mut inputs, &spec);
        let goal = Goal {
            kind: ResourceKind::Provider,
            properties: Arc::new(inputs),
            ..Goal::bare(
                TypeToken::provider_of(&package),
                packages::default_name(&spec),
            )
        };
        self.register(Requester::Default(key), goal);
    }
}
