//! Components: several resources as one, for programs in every language.

use std::collections::BTreeSet;
use std::marker::PhantomData;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use plumb::provider::{Constructed, Construction, Deployment, Passed, Returned, call, construct};
use plumb::{BuildComponent, Component, FromValue, Result};

use crate::schema::{Properties, Spec, SpecKind};
use crate::{Method, Provider};

/// A type of component without its type.
pub(crate) trait AnyComponent: Send + Sync {
    fn construct(&self, construction: Construction) -> BoxFuture<'static, Result<Constructed>>;
}

/// A method without its types.
pub(crate) trait AnyMethod: Send + Sync {
    fn call(
        &self,
        deployment: Deployment,
        args: Passed,
        secrets: BTreeSet<String>,
    ) -> BoxFuture<'static, Result<Returned>>;
}

struct Typed<T>(PhantomData<fn() -> T>);

impl<T> AnyComponent for Typed<T>
where
    T: BuildComponent + 'static,
    T::Args: FromValue,
{
    fn construct(&self, construction: Construction) -> BoxFuture<'static, Result<Constructed>> {
        construct::<T>(construction).boxed()
    }
}

impl<M: Method> AnyMethod for Typed<M> {
    fn call(
        &self,
        deployment: Deployment,
        args: Passed,
        secrets: BTreeSet<String>,
    ) -> BoxFuture<'static, Result<Returned>> {
        async move { call(deployment, args, &secrets, M::call).await }.boxed()
    }
}

impl Provider {
    /// Adds a component: a type with the derives `Component` of the crate `plumb` and [`Described`](crate::Described),
    /// whose arguments have `ComponentArgs` and [`Properties`](derive@crate::Properties). The package in its token is the provider's.
    ///
    /// ```
    /// use plumb::prelude::*;
    /// use plumb_provider::{Described, Properties, Provider};
    ///
    /// #[derive(Clone, Debug, ComponentArgs, Properties)]
    /// struct SiteArgs {
    ///     /// Where the site is.
    ///     domain: Input<String>,
    ///     /// How many pages it has: this has to be known when the site is made.
    ///     pages: i64,
    /// }
    ///
    /// /// A web site.
    /// #[derive(Clone, Component, Described)]
    /// #[component(token = "acme:index:Site")]
    /// struct Site {
    ///     url: Output<String>,
    /// }
    ///
    /// impl BuildComponent for Site {
    ///     type Args = SiteArgs;
    ///
    ///     fn build(cx: &Ctx, args: SiteArgs) -> plumb::Result<Self> {
    ///         for page in 0..args.pages {
    ///             AnyResource::new(cx, "random:index/randomPet:RandomPet", &cx.name(&page.to_string()), value!({}));
    ///         }
    ///         Ok(Site { url: interpolate!("https://{}", args.domain) })
    ///     }
    /// }
    ///
    /// let provider = Provider::new("acme", "0.1.0").component::<Site>();
    /// assert!(provider.schema().unwrap().contains("isComponent"));
    /// ```
    #[must_use]
    pub fn component<T>(mut self) -> Self
    where
        T: BuildComponent + Properties + 'static,
        T::Args: Properties + FromValue,
    {
        let types = &mut self.package.types;
        let spec = Spec {
            kind: SpecKind::Component,
            token: T::TOKEN.to_owned(),
            description: T::DESCRIPTION,
            deprecated: None,
            aliases: &[],
            inputs: T::Args::properties(types),
            outputs: T::properties(types),
            query: None,
        };
        let token = self.package.full(T::TOKEN);
        self.package.specs.push(spec);
        self.components
            .insert(token, Box::new(Typed::<T>(PhantomData)));
        self
    }

    /// Adds a [`Method`] of a component of the provider.
    #[must_use]
    pub fn method<M: Method>(mut self, method: M) -> Self {
        let _ = method;
        let types = &mut self.package.types;
        let spec = Spec {
            kind: SpecKind::Method,
            token: format!("{}/{}", M::Component::TOKEN, M::NAME),
            description: M::DESCRIPTION,
            deprecated: M::DEPRECATED,
            aliases: &[],
            inputs: M::Args::properties(types),
            outputs: M::Answer::properties(types),
            query: None,
        };
        let token = self.package.full(&spec.token);
        self.package.specs.push(spec);
        self.methods
            .insert(token, Box::new(Typed::<M>(PhantomData)));
        self
    }
}
