//! Providers that are more than one package: parameters choose which.

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use plumb::Result;

use crate::Provider;

/// The parameter that makes a provider the provider of another package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Parameter {
    /// Arguments of `plumb package add PROVIDER ARGUMENT…`.
    Args(Vec<String>),
    /// The parameter that the package was made with before, from a program that uses it or from a state.
    Value {
        /// The name of the package.
        name: String,
        /// The version of the package.
        version: String,
        /// The bytes given to [`Provider::parameter`].
        value: Vec<u8>,
    },
}

/// Makes the provider of a package from a parameter.
pub(crate) type MakePackage =
    Box<dyn Fn(Parameter) -> BoxFuture<'static, Result<Provider>> + Send + Sync>;

impl Provider {
    /// Lets parameters make other packages of this provider: `make` returns the provider of the package, with a name of its
    /// own and with its [`parameter`](Self::parameter).
    ///
    /// ```no_run
    /// use plumb_provider::prelude::*;
    /// use plumb_provider::{Parameter, bail};
    ///
    /// # #[derive(Clone, Debug, Properties)]
    /// # struct Args { text: String }
    /// # struct Note;
    /// # #[plumb_provider::resource]
    /// # impl Resource for Note {
    /// #     type Args = Args;
    /// #     type State = Args;
    /// #     async fn create(cx: &Cx, args: Args) -> Result<Created<Args>> { Ok(Created::new("1", args)) }
    /// # }
    /// async fn department(parameter: Parameter) -> Result<Provider> {
    ///     let name = match parameter {
    ///         Parameter::Args(args) => match &args[..] {
    ///             [name] => name.clone(),
    ///             _ => bail!("expected one argument: the name of the department"),
    ///         },
    ///         Parameter::Value { value, .. } => String::from_utf8(value)?,
    ///     };
    ///     let package = format!("notes-{name}");
    ///     Ok(Provider::new(&package, "1.0.0").parameter(name).resource::<Note>())
    /// }
    ///
    /// fn main() -> std::process::ExitCode {
    ///     Provider::new("notes", env!("CARGO_PKG_VERSION")).parameterized(department).serve()
    /// }
    /// ```
    ///
    /// The code of resources reads the parameter with [`Cx::parameter`](crate::Cx::parameter).
    #[must_use]
    pub fn parameterized<F>(mut self, make: impl Fn(Parameter) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<Provider>> + Send + 'static,
    {
        self.make_package = Some(Box::new(move |parameter| make(parameter).boxed()));
        self
    }

    /// The parameter that makes this package again: it is in the schema, in generated packages and in states.
    #[must_use]
    pub fn parameter(mut self, value: impl Into<Vec<u8>>) -> Self {
        self.parameter = Some(value.into());
        self
    }
}
