//! Policy packs that are functions of this process.
//!
//! They answer the calls of the protocol like packs in processes of their own, but without a socket: a call is a request that
//! is handed over as it is.

use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;

use tonic::body::Body;
use tonic::codegen::{Service, http};
use tower::ServiceExt;
use tower::util::BoxCloneSyncService;

use super::AnyError;
use crate::trace_context::Connection;

/// Where the calls of a pack go: a connection, or a service of this process.
pub(crate) type Transport =
    BoxCloneSyncService<http::Request<Body>, http::Response<Body>, TransportError>;

/// The call did not reach the pack.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct TransportError(#[source] AnyError);

/// Boxes what answers requests.
pub(crate) fn transport<S>(service: S) -> Transport
where
    S: Service<http::Request<Body>, Response = http::Response<Body>, Future: Send + 'static>,
    S: Clone + Send + Sync + 'static,
    S::Error: Into<AnyError> + 'static,
{
    BoxCloneSyncService::new(service.map_err(|error: S::Error| TransportError(error.into())))
}

/// Boxes a connection to a pack in a process of its own.
pub(crate) fn remote(connection: Connection) -> Transport {
    transport(connection.map_response(|response| response.map(Body::new)))
}

/// A policy pack that is part of this process. Each run has a service of its own, because the service remembers the stack.
#[derive(Clone)]
pub struct LinkedPack(Arc<dyn Fn() -> Transport + Send + Sync>);

impl LinkedPack {
    /// The pack whose services `make` makes.
    pub fn new<S>(make: impl Fn() -> S + Send + Sync + 'static) -> Self
    where
        S: Service<
                http::Request<Body>,
                Response = http::Response<Body>,
                Error = Infallible,
                Future: Send + 'static,
            >,
        S: Clone + Send + Sync + 'static,
    {
        LinkedPack(Arc::new(move || transport(make())))
    }

    pub(crate) fn service(&self) -> Transport {
        (self.0)()
    }
}

impl fmt::Debug for LinkedPack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LinkedPack")
    }
}
