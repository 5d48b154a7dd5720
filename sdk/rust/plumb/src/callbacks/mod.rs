//! Functions of the program that the engine calls: transforms and hooks.
//!
//! [`server`] answers the engine; it starts with the first function that is registered. Each function gets a secret token
//! by which the engine names it. A function that panics is an error of the call, not the end of the program.

mod hooks;
mod server;
mod transforms;

pub use hooks::{ErrorHook, ErrorHookArgs, Hook, HookArgs, HookOptions};
pub use transforms::{InvokeTransform, Transform};

pub(crate) use hooks::{register_error_hook, register_hook};
pub(crate) use transforms::{TransformFn, register_invoke_transform};

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use tokio::sync::OnceCell;

use crate::Error;
use crate::program::{Inner, lock};
use crate::protocol as pb;

/// A function that takes and returns an encoded message.
type Handler = Arc<dyn Fn(Vec<u8>) -> BoxFuture<'static, Result<Vec<u8>, Error>> + Send + Sync>;

/// Registered functions, and the address of the server that runs them.
#[derive(Clone, Default)]
pub(crate) struct Callbacks {
    handlers: Arc<Mutex<HashMap<String, Handler>>>,
    address: Arc<OnceCell<String>>,
}

impl Inner {
    /// Registers a function; the answer is how the engine names it.
    pub(crate) async fn callback(&self, handler: Handler) -> Result<pb::Callback, Error> {
        let token = random_token();
        lock(&self.callbacks.handlers).insert(token.clone(), handler);
        let target = if self.is_in_process() {
            String::new()
        } else {
            let callbacks = self.callbacks.clone();
            let address = &self.callbacks.address;
            address
                .get_or_try_init(|| server::start(callbacks))
                .await?
                .clone()
        };
        Ok(pb::Callback {
            target,
            token,
            accepts_byte_string: false,
        })
    }
}

impl Callbacks {
    /// Runs the function that `token` names.
    pub(crate) async fn run(&self, token: &str, request: Vec<u8>) -> Result<Vec<u8>, Error> {
        let handler = lock(&self.handlers).get(token).cloned();
        let Some(handler) = handler else {
            return Err(Error::at("there is no such callback", None));
        };
        let running = AssertUnwindSafe(async move { handler(request).await });
        running.catch_unwind().await.unwrap_or_else(|panic| {
            let message = crate::plugin::said(panic.as_ref()).unwrap_or("no message");
            Err(Error::at(format!("the function panicked: {message}"), None))
        })
    }
}

/// 128 bits from the random state that the standard library seeds from the system.
fn random_token() -> String {
    let half = || RandomState::new().hash_one(0_u64);
    format!("{:016x}{:016x}", half(), half())
}
