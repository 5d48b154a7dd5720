//! Functions: what programs ask a provider.

use std::future::Future;

use plumb::{FromValue, IntoValue, Result};

use crate::Cx;
use crate::schema::Properties;

/// A function of a provider: the attribute [`function`](crate::function) makes one of an asynchronous function.
///
/// ```
/// use plumb_provider::prelude::*;
///
/// #[derive(Clone, Debug, Properties)]
/// struct GreetArgs {
///     name: String,
/// }
///
/// #[derive(Clone, Debug, Properties)]
/// struct Greeting {
///     text: String,
/// }
///
/// /// Greets somebody.
/// #[plumb_provider::function]
/// async fn greet(_: &Cx, args: GreetArgs) -> Result<Greeting> {
///     Ok(Greeting { text: format!("Hello, {}", args.name) })
/// }
///
/// let provider = Provider::new("greetings", "0.1.0").function(greet);
/// ```
pub trait Function: Send + Sync + 'static {
    /// Module and name, as in `index:getFile`.
    const TOKEN: &'static str;
    /// Documentation.
    const DESCRIPTION: &'static str = "";
    /// Why the function should not be used any more.
    const DEPRECATED: Option<&'static str> = None;

    /// The arguments.
    type Args: Properties + FromValue + Send + 'static;
    /// The answer.
    type Answer: Properties + IntoValue + Send + 'static;

    /// Does what the function does.
    fn call(cx: &Cx, args: Self::Args) -> impl Future<Output = Result<Self::Answer>> + Send;
}
