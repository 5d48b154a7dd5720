//! Packs inside a process that has an engine of its own.
//!
//! [`Pack::serve`] is for executables, which an engine starts. A process that embeds the engine gives it the rules as they
//! are, as an [`EmbeddedPack`], for as many stacks at the same time as it likes. Nothing here is global.

use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;

use tonic::body::Body;
use tonic::codegen::{Service, http};

use crate::pack::answering;
use crate::service::Source;
use crate::{Info, Pack, Result};

/// A pack for the operations of an engine in the same process.
///
/// ```
/// use plumb_policy::embed::EmbeddedPack;
/// use plumb_policy::prelude::*;
///
/// let rules = EmbeddedPack::new(Pack::new("tenants", "1.0.0").policy(
///     Policy::resource("own-prefix", "Names begin with the name of the tenant").check(|resource, report| {
///         let tenant = resource.info().stack().to_owned();
///         if !resource.name().starts_with(&tenant) {
///             report.violation(format!("call it `{tenant}-{}`", resource.name()));
///         }
///         Ok(())
///     }),
/// ))?;
/// assert_eq!(rules.name(), "tenants");
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone)]
pub struct EmbeddedPack {
    name: String,
    source: Source,
}

impl EmbeddedPack {
    /// A pack that is the same for all stacks. An error means that its names are not those of a pack.
    pub fn new(pack: Pack) -> Result<Self> {
        pack.check()?;
        Ok(EmbeddedPack {
            name: pack.name.clone(),
            source: Source::Pack(Arc::new(pack)),
        })
    }

    /// A pack whose rules follow from the stack: `make` is called once for each operation. `name` is for messages about a
    /// pack that could not be made.
    pub fn made_by(
        name: &str,
        make: impl Fn(&Info) -> Result<Pack> + Send + Sync + 'static,
    ) -> Self {
        EmbeddedPack {
            name: name.to_owned(),
            source: Source::Made(Arc::new(make)),
        }
    }

    /// Name of the pack.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Answers the calls of an engine during one operation.
    pub fn service(
        &self,
    ) -> impl Service<
        http::Request<Body>,
        Response = http::Response<Body>,
        Error = Infallible,
        Future: Send + 'static,
    > + Clone
    + Send
    + Sync
    + use<> {
        answering(self.source.clone())
    }
}

impl fmt::Debug for EmbeddedPack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EmbeddedPack")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}
