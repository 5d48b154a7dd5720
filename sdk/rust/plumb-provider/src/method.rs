//! Methods of components: what programs ask a component.

use plumb::{Ctx, FromValue, IntoValue, Recall, Result};

use crate::schema::Properties;

/// A method of a component: the attribute [`method`](crate::method) makes one of a function.
///
/// ```
/// use plumb::prelude::*;
/// use plumb_provider::{Described, Properties, Provider};
///
/// #[derive(Clone, Debug, ComponentArgs, Properties)]
/// struct SiteArgs {
///     domain: Input<String>,
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
///     fn build(_: &Ctx, args: SiteArgs) -> plumb::Result<Self> {
///         Ok(Site { url: interpolate!("https://{}", args.domain) })
///     }
/// }
///
/// #[derive(Clone, Debug, Properties)]
/// struct PageArgs {
///     /// Name of the page.
///     name: Input<String>,
/// }
///
/// #[derive(Clone, Debug, Properties)]
/// struct Page {
///     /// Address of the page.
///     address: Input<String>,
/// }
///
/// /// Says where a page is.
/// #[plumb_provider::method]
/// fn page(_: &Ctx, site: Site, args: PageArgs) -> plumb::Result<Page> {
///     Ok(Page { address: interpolate!("{}/{}", site.url, args.name).into() })
/// }
///
/// let provider = Provider::new("acme", "0.1.0").component::<Site>().method(page);
/// assert!(provider.schema().unwrap().contains("acme:index:Site/page"));
/// ```
pub trait Method: Send + Sync + 'static {
    /// Name in camel case.
    const NAME: &'static str;
    /// Documentation.
    const DESCRIPTION: &'static str = "";
    /// Why the method should not be used any more.
    const DEPRECATED: Option<&'static str> = None;

    /// The component.
    type Component: Recall + Send + 'static;
    /// The arguments, without the component.
    type Args: Properties + FromValue + Send + 'static;
    /// The answer; `()` if there is none. A property that is there later is an [`Input`](plumb::Input).
    type Answer: Properties + IntoValue + Send + 'static;

    /// Answers a call. Resources that it creates through `cx` are children of the component. Like
    /// [`BuildComponent::build`](plumb::BuildComponent::build) it does not wait: outputs are there later.
    fn call(cx: &Ctx, component: Self::Component, args: Self::Args) -> Result<Self::Answer>;
}
