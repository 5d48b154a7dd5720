//! Language hosts as programs of their own: the LanguageRuntime service on a local port (`languages.md` 1, `protocol.md` 13).
//!
//! What is served is the same code that runs inside of our own engine; other engines can use it like this.
//!
//! 1. [`Server::bind`] takes a port, and [`Server::port`] tells it.
//! 2. [`Server::run`] answers calls until it is told to stop, or until the engine that it belongs to is gone.
//! 3. Programs and plugins that run by then are interrupted, and killed when they do not end soon.

mod convert;
mod generate;
mod programs;
mod project;
mod service;
mod streams;
mod watch;

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use plumb_plugin::own_connections;
use plumb_proto::pulumirpc::language_runtime_server::LanguageRuntimeServer;
use plumb_proto::{MAX_MESSAGE_SIZE, MAX_SENT_MESSAGE_SIZE};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tonic::transport::Server as Transport;

use crate::{Language, LanguageOptions};
use service::LanguageService;
pub(crate) use service::text;

/// How often to look whether the engine is still there.
pub const WATCH_INTERVAL: Duration = Duration::from_mins(5);
/// How long calls may take to end when the server stops: longer than an interrupted program may.
const GRACE: Duration = Duration::from_secs(7);

/// Why a server ended that nobody told to.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The engine does not answer any more.
    #[error("the engine at {address} is gone: {reason}")]
    EngineGone {
        /// Its address.
        address: String,
        /// What happened.
        reason: String,
    },
    /// The server cannot go on.
    #[error("could not serve the language host")]
    Transport(#[from] tonic::transport::Error),
}

/// A language host that listens.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    engine_address: String,
    service: LanguageService,
}

impl Server {
    /// Listens for the host of `language`. Without the address of an engine, one has to come by and shake hands before
    /// programs can be run.
    pub async fn bind(language: Language, options: LanguageOptions) -> io::Result<Self> {
        let listener =
            TcpListener::bind(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0)).await?;
        Ok(Server {
            address: listener.local_addr()?,
            listener,
            engine_address: options.engine_address.clone(),
            service: LanguageService::new(language, options),
        })
    }

    /// The port.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// Answers calls until `stop` fires, and looks for the engine every `interval`. Afterwards nothing that was started
    /// here runs any more.
    pub async fn run(self, interval: Duration, stop: CancellationToken) -> Result<(), ServeError> {
        let service = self.service.clone();
        let calls = LanguageRuntimeServer::new(self.service)
            .max_decoding_message_size(MAX_MESSAGE_SIZE)
            .max_encoding_message_size(MAX_SENT_MESSAGE_SIZE);
        let ending = CancellationToken::new();
        let serving = Transport::builder()
            .add_service(calls)
            .serve_with_incoming_shutdown(
                own_connections(self.listener),
                ending.clone().cancelled_owned(),
            );
        tokio::pin!(serving);
        let outcome = tokio::select! {
            served = &mut serving => return Ok(served?),
            () = stop.cancelled() => Ok(()),
            reason = watch::until_gone(&self.engine_address, interval) => Err(ServeError::EngineGone {
                address: self.engine_address,
                reason,
            }),
        };
        ending.cancel();
        let end = async { tokio::join!(service.end(), &mut serving) };
        // Connections that an engine left open do not hold this up.
        let _ = tokio::time::timeout(GRACE, end).await;
        outcome
    }
}
