//! A running program: its connection to the engine, its tasks, its failures.
//!
//! Nothing here is global. A [`Program`] is a handle that contexts, resources and outputs carry; several programs can run
//! in one process, which is how tests work.

mod features;
mod meter;
mod settings;

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Shared};

pub(crate) use features::Features;
pub(crate) use meter::{Busy, Rest};
pub(crate) use settings::Settings;

use crate::Error;
use crate::callbacks::Callbacks;
use crate::monitor::Monitor;
use crate::package::Packages;
use crate::protocol as pb;
use crate::resource::Handle;
use crate::value::Value;
use meter::{Meter, Metered};

/// A running program.
#[derive(Clone)]
pub(crate) struct Program(Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) settings: Settings,
    pub(crate) features: Features,
    pub(crate) callbacks: Callbacks,
    pub(crate) packages: Packages,
    pub(crate) exports: Mutex<BTreeMap<String, Value>>,
    monitor: Arc<dyn Monitor>,
    runtime: tokio::runtime::Handle,
    meter: Arc<Meter>,
    stack: Mutex<Option<Handle>>,
    serial: AtomicU64,
    is_over: AtomicBool,
    errors: Arc<Mutex<Vec<Error>>>,
    waiting: Mutex<BTreeMap<u64, String>>,
    preparations: Mutex<Vec<Preparation>>,
}

/// Something that must have reached the engine before the next resource does.
type Preparation = Shared<BoxFuture<'static, Result<(), Error>>>;

impl std::ops::Deref for Program {
    type Target = Inner;

    fn deref(&self) -> &Inner {
        &self.0
    }
}

impl Program {
    pub(crate) fn new(settings: Settings, features: Features, monitor: Arc<dyn Monitor>) -> Self {
        Program(Arc::new(Inner {
            settings,
            features,
            callbacks: Callbacks::default(),
            packages: Packages::default(),
            exports: Mutex::default(),
            monitor,
            runtime: tokio::runtime::Handle::current(),
            meter: Arc::default(),
            stack: Mutex::default(),
            serial: AtomicU64::new(1),
            is_over: AtomicBool::new(false),
            errors: Arc::default(),
            waiting: Mutex::default(),
            preparations: Mutex::default(),
        }))
    }

    pub(crate) fn set_stack(&self, stack: Handle) {
        *lock(&self.stack) = Some(stack);
    }

    /// The stack; only the stack itself is made without one.
    pub(crate) fn stack(&self) -> Option<Handle> {
        lock(&self.stack).clone()
    }

    /// Lets go of everything that the program made. Handles refer to the program and to each other: without this, a process
    /// that runs many programs would keep them all.
    pub(crate) fn release(&self) {
        let stack = lock(&self.stack).take();
        if let Some(stack) = stack {
            stack.release();
        }
    }
}

impl Inner {
    pub(crate) fn next_serial(&self) -> u64 {
        self.serial.fetch_add(1, Ordering::Relaxed)
    }

    /// The engine, for one call: as long as the value lives, the program is not stuck.
    pub(crate) fn engine(&self) -> Engine {
        Engine {
            monitor: Arc::clone(&self.monitor),
            _busy: self.busy(),
        }
    }

    pub(crate) fn is_in_process(&self) -> bool {
        self.monitor.is_in_process()
    }

    /// Something is being done that ends by itself.
    pub(crate) fn busy(&self) -> Busy {
        Busy::new(&self.meter)
    }

    /// Runs a task; its failure is reported when the program ends, unless somebody deals with it.
    pub(crate) fn spawn(&self, task: impl Future<Output = Result<(), Error>> + Send + 'static) {
        let errors = Arc::clone(&self.errors);
        // Not an asynchronous block around the task: that would keep the place of the task twice.
        let task = AssertUnwindSafe(task).catch_unwind().map(move |result| {
            let error = match result {
                Ok(Ok(())) => return,
                Ok(Err(error)) => error,
                Err(_) => Error::at("a task of the program panicked", None),
            };
            lock(&errors).push(error);
        });
        self.runtime.spawn(Metered::new(&self.meter, task.boxed()));
    }

    /// Adds a failure to those that are reported when the program ends.
    pub(crate) fn fail(&self, error: Error) {
        lock(&self.errors).push(error);
    }

    /// Failures that nobody dealt with, each once.
    pub(crate) fn failures(&self) -> Vec<Error> {
        let mut failures: Vec<Error> = Vec::new();
        for error in lock(&self.errors).iter().filter(|it| !it.is_handled()) {
            match failures.iter_mut().find(|it| it.is_same(error)) {
                // The one where it happened says more than the one of somebody who needed the result.
                Some(known) if error.depth() < known.depth() => *known = error.clone(),
                Some(_) => {}
                None => failures.push(error.clone()),
            }
        }
        failures
    }

    /// Waits until no task is left; tasks that wait for each other are an error that names them.
    pub(crate) async fn rest(&self) -> Result<(), Error> {
        if self.meter.rest().await == Rest::Done {
            return Ok(());
        }
        let waiting = lock(&self.waiting);
        let lines = waiting.values().map(|line| format!("\n  - {line}"));
        Err(Error::at(
            format!(
                "the program cannot finish: these wait for each other{}",
                lines.collect::<String>()
            ),
            None,
        ))
    }

    /// No resource can be registered after this.
    pub(crate) fn end(&self) {
        self.is_over.store(true, Ordering::Release);
    }

    pub(crate) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Acquire)
    }

    /// Runs something that must have reached the engine before the next resource does.
    pub(crate) fn prepare(&self, task: impl Future<Output = Result<(), Error>> + Send + 'static) {
        let preparation = task.boxed().shared();
        lock(&self.preparations).push(preparation.clone());
        self.spawn(preparation);
    }

    /// Waits for everything that must have reached the engine before a resource does.
    pub(crate) async fn prepared(&self) -> Result<(), Error> {
        let preparations = lock(&self.preparations).clone();
        for preparation in preparations {
            preparation.await?;
        }
        Ok(())
    }

    /// Writes a message to the output of the deployment.
    pub(crate) fn log(&self, severity: pb::LogSeverity, message: String, resource: Option<Handle>) {
        let monitor = Arc::clone(&self.monitor);
        let meter = Arc::clone(&self.meter);
        self.spawn(async move {
            let urn = match resource {
                // A message about a failed resource is still a message.
                Some(handle) => handle.registered_urn().await.unwrap_or_default(),
                None => String::new(),
            };
            let request = pb::LogRequest {
                severity: severity.into(),
                message,
                urn,
                ..pb::LogRequest::default()
            };
            let _busy = Busy::new(&meter);
            // The engine may be gone; then nobody reads the message.
            let _ = monitor.log(request).await;
            Ok(())
        });
    }
}

/// The engine during a call.
pub(crate) struct Engine {
    monitor: Arc<dyn Monitor>,
    _busy: Busy,
}

impl std::ops::Deref for Engine {
    type Target = dyn Monitor;

    fn deref(&self) -> &Self::Target {
        self.monitor.as_ref()
    }
}

/// Names what waits as long as it lives.
pub(crate) struct Waiting {
    program: Program,
    serial: u64,
}

impl Program {
    /// Notes that `what` waits.
    pub(crate) fn waiting(&self, what: String) -> Waiting {
        let waiting = self.waiting_for_nothing();
        waiting.update(what);
        waiting
    }

    /// A task that may wait for something later.
    pub(crate) fn waiting_for_nothing(&self) -> Waiting {
        Waiting {
            program: self.clone(),
            serial: self.next_serial(),
        }
    }
}

impl Waiting {
    /// The task waits for something else now.
    pub(crate) fn update(&self, what: String) {
        lock(&self.program.waiting).insert(self.serial, what);
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        lock(&self.program.waiting).remove(&self.serial);
    }
}

/// Locks; what a panicking thread left is used as it is, because every change here is a single step.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
