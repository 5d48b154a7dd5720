//! The context of a call: its resource, the configuration, messages and cancellation.

use std::any::Any;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use plumb::Result;
use tokio::sync::watch;
use tonic::transport::{Channel, Endpoint};

use crate::Error;
use crate::protocol as pb;
use crate::protocol::engine_client::EngineClient;

/// The call that the code of a provider answers: for which resource it is, and a way to say something.
///
/// ```
/// # use plumb_provider::prelude::*;
/// # #[derive(Clone, Debug, Properties)]
/// # struct Args { text: String, size: Option<i64> }
/// # struct Note;
/// # #[plumb_provider::resource]
/// # impl Resource for Note {
/// #     type Args = Args;
/// #     type State = Args;
/// async fn create(cx: &Cx, args: Args) -> Result<Created<Args>> {
///     cx.status("waits for the server").await;
///     if cx.is_canceled() {
///         plumb_provider::bail!("{} is not created: the deployment was stopped", cx.name());
///     }
///     Ok(Created::new(cx.name(), args))
/// }
/// # }
/// ```
#[derive(Clone)]
pub struct Cx {
    session: Arc<Session>,
    urn: String,
    name: String,
    is_preview: bool,
    timeout: Option<Duration>,
}

/// State that all calls of a provider share.
pub(crate) struct Session {
    engine: Mutex<Option<EngineClient<Channel>>>,
    address: Mutex<String>,
    config: Mutex<Option<Arc<dyn Any + Send + Sync>>>,
    parameter: OnceLock<Vec<u8>>,
    canceled: watch::Sender<bool>,
}

impl Default for Session {
    fn default() -> Self {
        Session {
            engine: Mutex::default(),
            address: Mutex::default(),
            config: Mutex::default(),
            parameter: OnceLock::new(),
            canceled: watch::Sender::new(false),
        }
    }
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Session")
    }
}

impl Session {
    /// Tells who listens to messages.
    pub(crate) fn attach(&self, address: &str) -> Result<()> {
        let endpoint = Endpoint::from_shared(format!("http://{address}"))?;
        *lock(&self.engine) = Some(EngineClient::new(endpoint.connect_lazy()));
        address.clone_into(&mut lock(&self.address));
        Ok(())
    }

    /// The address of the engine; empty if nobody listens.
    pub(crate) fn engine_address(&self) -> String {
        lock(&self.address).clone()
    }

    pub(crate) fn configure(&self, config: Arc<dyn Any + Send + Sync>) {
        *lock(&self.config) = Some(config);
    }

    /// The first parameter stays.
    pub(crate) fn parameterize(&self, value: Vec<u8>) {
        let _ = self.parameter.set(value);
    }

    pub(crate) fn cancel(&self) {
        self.canceled.send_replace(true);
    }
}

/// Locks; what a panicking thread left is used as it is, because every change here is a single step.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl std::fmt::Debug for Cx {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cx")
            .field("urn", &self.urn)
            .field("is_preview", &self.is_preview)
            .finish_non_exhaustive()
    }
}

impl Cx {
    /// The context of a call for no resource in particular.
    pub(crate) fn new(session: &Arc<Session>) -> Self {
        Cx {
            session: Arc::clone(session),
            urn: String::new(),
            name: String::new(),
            is_preview: false,
            timeout: None,
        }
    }

    pub(crate) fn about(self, urn: &str) -> Self {
        let name = urn.splitn(4, "::").nth(3).unwrap_or_default().to_owned();
        Cx {
            urn: urn.to_owned(),
            name,
            ..self
        }
    }

    pub(crate) fn in_preview(self, is_preview: bool) -> Self {
        Cx { is_preview, ..self }
    }

    /// No seconds are no limit.
    pub(crate) fn within(self, seconds: f64) -> Self {
        let timeout = Duration::try_from_secs_f64(seconds).ok();
        Cx {
            timeout: timeout.filter(|it| !it.is_zero()),
            ..self
        }
    }

    /// The URN of the resource; empty in a function.
    pub fn urn(&self) -> &str {
        &self.urn
    }

    /// The name of the resource in the program.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether this is a preview: nothing may be changed.
    pub fn is_preview(&self) -> bool {
        self.is_preview
    }

    /// How long the program allows the operation to take (the option `customTimeouts`); `None` without a limit.
    pub fn timeout(&self) -> Option<Duration> {
        self.timeout
    }

    /// The configuration of the provider, of the type that it was made with.
    #[track_caller]
    pub fn config<C: Send + Sync + 'static>(&self) -> Result<Arc<C>> {
        let config = lock(&self.session.config).clone();
        let config =
            config.ok_or_else(|| Error::new("the provider has not been configured yet"))?;
        config.downcast().map_err(|_| {
            Error::new(format!(
                "the configuration of the provider is no `{}`",
                std::any::type_name::<C>()
            ))
        })
    }

    /// The parameter that made the package ([`Provider::parameter`](crate::Provider::parameter)); `None` without one.
    pub fn parameter(&self) -> Option<&[u8]> {
        self.session.parameter.get().map(Vec::as_slice)
    }

    /// Whether the deployment has been cancelled.
    pub fn is_canceled(&self) -> bool {
        *self.session.canceled.borrow()
    }

    /// Waits until the deployment is cancelled: one arm of a `select!`.
    pub async fn canceled(&self) {
        let mut canceled = self.session.canceled.subscribe();
        // The sender lives as long as the session.
        let _ = canceled.wait_for(|it| *it).await;
    }

    /// Writes to the output of the deployment, if it shows details.
    pub async fn debug(&self, message: impl Into<String>) {
        self.log(pb::LogSeverity::Debug, message.into(), false)
            .await;
    }

    /// Writes to the output of the deployment.
    pub async fn info(&self, message: impl Into<String>) {
        self.log(pb::LogSeverity::Info, message.into(), false).await;
    }

    /// Writes a warning to the output of the deployment.
    pub async fn warn(&self, message: impl Into<String>) {
        self.log(pb::LogSeverity::Warning, message.into(), false)
            .await;
    }

    /// Says what is going on: the progress display shows it beside the resource, until the next message.
    pub async fn status(&self, message: impl Into<String>) {
        self.log(pb::LogSeverity::Info, message.into(), true).await;
    }

    async fn log(&self, severity: pb::LogSeverity, message: String, ephemeral: bool) {
        let Some(mut engine) = lock(&self.session.engine).clone() else {
            return;
        };
        let request = pb::LogRequest {
            severity: severity.into(),
            message,
            urn: self.urn.clone(),
            ephemeral,
            ..pb::LogRequest::default()
        };
        // The engine may be gone; then nobody reads the message.
        let _ = engine.log(request).await;
    }
}
