//! Functions of providers.
//!
//! A function has two forms. [`Ctx::invoke`] takes inputs that may be there later and answers an output; in a preview it is
//! unknown as long as an input is. [`Ctx::invoke_plain`] takes plain values and answers at once, to a program that needs
//! the result to decide something.

use std::panic::Location;

use crate::context::Ctx;
use crate::input::Inputs;
use crate::output::{Cell, Output, Resolved, settle};
use crate::protocol as pb;
use crate::resource::{Dependencies, Handle, ProviderId, monitor_error};
use crate::value::{FromValue, IntoValue, Value};
use crate::wire::{Decoder, Encoder};
use crate::{Error, Package};

/// Options of a call of a function.
///
/// ```no_run
/// # use plumb::prelude::*;
/// # async fn f(ctx: &Ctx, west: &AnyProvider) -> plumb::Result<()> {
/// let options = InvokeOptions::new().provider(west).version("7.1.0");
/// let zone: Output<Value> = ctx.invoke_with("aws:route53/getZone:getZone", value!({ "name": "example.org" }), options);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct InvokeOptions {
    provider: Option<Handle>,
    version: String,
    plugin_download_url: String,
    package: Option<Package>,
    depends_on: Vec<Value>,
}

impl InvokeOptions {
    /// No options.
    pub fn new() -> Self {
        InvokeOptions::default()
    }

    /// The provider that answers.
    #[must_use]
    pub fn provider(mut self, provider: &impl crate::Resource) -> Self {
        self.provider = Some(provider.handle().clone());
        self
    }

    /// Version of the plugin.
    #[must_use]
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.version = version.into();
        self
    }

    /// Where the plugin is downloaded from.
    #[must_use]
    pub fn plugin_download_url(mut self, url: impl Into<String>) -> Self {
        self.plugin_download_url = url.into();
        self
    }

    /// The parameterized package that the function is of.
    #[must_use]
    pub fn package(mut self, package: &Package) -> Self {
        self.package = Some(package.clone());
        self
    }

    /// These options with `other` over them: resources to wait for append, and everything else of `other` wins.
    #[must_use]
    pub fn merge(self, other: InvokeOptions) -> Self {
        let mut depends_on = self.depends_on;
        depends_on.extend(other.depends_on);
        let or = |own: String, other: String| if other.is_empty() { own } else { other };
        InvokeOptions {
            provider: other.provider.or(self.provider),
            version: or(self.version, other.version),
            plugin_download_url: or(self.plugin_download_url, other.plugin_download_url),
            package: other.package.or(self.package),
            depends_on,
        }
    }

    /// Resources that have to be there before the call; [`Ctx::invoke_plain`] does not wait.
    #[must_use]
    pub fn depends_on<V: IntoValue>(mut self, resources: impl IntoIterator<Item = V>) -> Self {
        self.depends_on
            .extend(resources.into_iter().map(IntoValue::into_value));
        self
    }
}

impl Ctx {
    /// Calls a function of a provider with inputs that may be there later.
    ///
    /// ```no_run
    /// # use plumb::prelude::*;
    /// # fn program(ctx: &Ctx, bucket: &AnyResource) {
    /// let zone: Output<Value> = ctx.invoke("aws:route53/getZone:getZone", value!({ "name": bucket.id() }));
    /// let id: Output<String> = zone.key("zoneId");
    /// # }
    /// ```
    #[track_caller]
    pub fn invoke<T>(&self, token: &str, inputs: impl Into<Inputs>) -> Output<T>
    where
        T: FromValue + Clone + Send + Sync + 'static,
    {
        self.invoke_with(token, inputs, InvokeOptions::default())
    }

    /// Calls a function of a provider with inputs that may be there later, and with options.
    #[track_caller]
    pub fn invoke_with<T>(
        &self,
        token: &str,
        inputs: impl Into<Inputs>,
        options: InvokeOptions,
    ) -> Output<T>
    where
        T: FromValue + Clone + Send + Sync + 'static,
    {
        let call = self.invocation(token, options, Location::caller());
        let inputs = inputs.into().into_value();
        let program = Some(self.program.clone());
        Output::dynamic(Cell::driven(
            program,
            async move { call.output(inputs).await },
        ))
    }

    /// Calls a function of a provider with plain values and waits for the answer.
    ///
    /// An answer with secrets in it is an error, because plain values cannot keep them:
    /// call [`invoke`](Ctx::invoke) instead.
    #[track_caller]
    pub fn invoke_plain<T: FromValue, I: Into<Inputs>>(
        &self,
        token: &str,
        inputs: I,
        options: InvokeOptions,
    ) -> impl Future<Output = crate::Result<T>> + Send + use<T, I> {
        let location = Location::caller();
        let call = self.invocation(token, options, location);
        let inputs = inputs.into().into_value();
        async move {
            let answer = call.output(inputs).await?;
            if answer.secret {
                let message = format!(
                    "the answer of `{}` has secrets, which a plain call would lose",
                    call.token
                );
                return Err(Error::at(message, Some(location)));
            }
            let Some(value) = answer.value else {
                let message = format!("the answer of `{}` is not known in a preview", call.token);
                return Err(Error::at(message, Some(location)));
            };
            T::from_value(value).map_err(|mismatch| {
                let message = format!("unexpected answer of `{}`: {mismatch}", call.token);
                Error::at(message, Some(location))
            })
        }
    }

    fn invocation(
        &self,
        token: &str,
        options: InvokeOptions,
        location: &'static Location<'static>,
    ) -> Invocation {
        let inherited = self.provider_for(token);
        Invocation {
            program: self.program.clone(),
            token: token.to_owned(),
            provider: options.provider.clone().or(inherited),
            options,
            location,
        }
    }
}

struct Invocation {
    program: crate::program::Program,
    token: String,
    provider: Option<Handle>,
    options: InvokeOptions,
    location: &'static Location<'static>,
}

impl Invocation {
    async fn output(&self, inputs: Value) -> Result<Resolved<Value>, Error> {
        let waiting = format!("the function `{}` at {}", self.token, self.location);
        let _waiting = self
            .program
            .waiting(format!("{waiting} waits for its inputs"));
        let inputs = settle(inputs).await?;
        let explicit = settle(Value::List(self.options.depends_on.clone())).await?;
        let mut marks = inputs.with(None::<Value>);
        marks.dependencies.extend(&explicit.dependencies);
        let Some(Value::Map(members)) = &inputs.value else {
            return Ok(marks);
        };
        if members.values().any(Value::contains_unknown)
            || self.is_gated(&marks.dependencies).await?
        {
            return Ok(marks);
        }
        let args = Encoder::default().members(members, |_, _| {}).await?;
        let request = self.request(args, &marks.dependencies).await?;
        let response = self.program.engine().invoke(request).await;
        let what = format!("could not call `{}`", self.token);
        let response =
            response.map_err(|status| monitor_error(&status, &what, Some(self.location)))?;
        if let Some(error) = failure(&self.token, &response.failures, self.location) {
            return Err(error);
        }
        if response.unknown {
            return Ok(marks);
        }
        let result = Decoder::properties(&self.program, response.r#return)?;
        Ok(combine(result, marks))
    }

    /// Whether a resource has yet to be created that the call should come after, if the engine cannot tell by itself.
    async fn is_gated(&self, dependencies: &Dependencies) -> Result<bool, Error> {
        if self.program.features.invoke_depends_on {
            return Ok(false);
        }
        for handle in dependencies.resources(None).await? {
            if matches!(handle.state().await?.id, ProviderId::Unknown) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    async fn request(
        &self,
        args: prost_types::Struct,
        dependencies: &Dependencies,
    ) -> Result<pb::ResourceInvokeRequest, Error> {
        let mut request = pb::ResourceInvokeRequest {
            tok: self.token.clone(),
            args: Some(args),
            accept_resources: true,
            ..pb::ResourceInvokeRequest::default()
        };
        if let Some(provider) = &self.provider {
            request.provider = provider.provider_reference().await?;
        }
        if self.program.features.invoke_depends_on {
            request.depends_on = dependencies.expand(None).await?.into_iter().collect();
        }
        self.program.prepared().await?;
        if let Some(package) = &self.options.package {
            request.package_ref = package.reference(&self.program).await?;
        } else {
            request.version.clone_from(&self.options.version);
            request
                .plugin_download_url
                .clone_from(&self.options.plugin_download_url);
        }
        Ok(request)
    }
}

/// The properties of an answer as one value, with what it depends on.
pub(crate) fn combine(
    members: std::collections::BTreeMap<String, Resolved<Value>>,
    mut marks: Resolved<Value>,
) -> Resolved<Value> {
    let mut values = std::collections::BTreeMap::new();
    for (key, member) in members {
        marks.absorb(&member);
        values.insert(key, member.value.unwrap_or(Value::Unknown));
    }
    marks.value = Some(Value::Map(values));
    marks
}

/// The error for failures that the provider found in the arguments.
pub(crate) fn failure(
    token: &str,
    failures: &[pb::CheckFailure],
    location: &'static Location<'static>,
) -> Option<Error> {
    let reasons: Vec<String> = failures
        .iter()
        .map(|it| match it.property.as_str() {
            "" => it.reason.clone(),
            property => format!("{} ({property})", it.reason),
        })
        .collect();
    let message = || format!("`{token}` failed: {}", reasons.join("; "));
    (!reasons.is_empty()).then(|| Error::at(message(), Some(location)))
}
