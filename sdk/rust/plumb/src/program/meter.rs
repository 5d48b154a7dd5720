//! Tasks of a program, and whether any of them can still make progress.
//!
//! Every task of a program is in one of three states: idle (it waits for something), woken, or being polled. The meter
//! counts the tasks that are not idle, the calls to the engine that are in flight, and the work that waits for something
//! outside (a closure given to `map_async`, a hook). As long as the count is positive, something will happen by itself.
//! When it is zero and tasks are left, they wait for each other: nothing can ever wake them.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use futures_util::future::BoxFuture;
use tokio::sync::Notify;

/// The counts.
#[derive(Default)]
pub(crate) struct Meter {
    active: AtomicUsize,
    tasks: AtomicUsize,
    changed: Notify,
}

/// How waiting for all tasks ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Rest {
    /// No task is left.
    Done,
    /// Tasks are left that nothing can wake.
    Stuck,
}

impl Meter {
    /// Waits until no task is left, or until those that are left can never go on.
    pub(crate) async fn rest(&self) -> Rest {
        loop {
            let mut changed = std::pin::pin!(self.changed.notified());
            // From here on no notification is lost.
            changed.as_mut().enable();
            // Read in this order, because a task that ends leaves `tasks` before it leaves `active`: a task that is
            // left while nothing is active is idle, and has not just ended.
            let active = self.active.load(Ordering::SeqCst);
            if self.tasks.load(Ordering::SeqCst) == 0 {
                return Rest::Done;
            }
            if active == 0 {
                return Rest::Stuck;
            }
            changed.await;
        }
    }

    fn begin(&self) {
        self.active.fetch_add(1, Ordering::SeqCst);
    }

    fn end(&self) {
        if self.active.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.changed.notify_waiters();
        }
    }
}

/// Something is being done that ends by itself.
pub(crate) struct Busy(Arc<Meter>);

impl Busy {
    pub(crate) fn new(meter: &Arc<Meter>) -> Self {
        meter.begin();
        Busy(Arc::clone(meter))
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// A task whose state the meter knows.
pub(crate) struct Metered {
    task: BoxFuture<'static, ()>,
    state: Arc<State>,
    is_done: bool,
}

struct State {
    meter: Arc<Meter>,
    /// Whether the task counts as active because it was woken.
    is_woken: AtomicBool,
    waker: Mutex<Option<Waker>>,
}

impl Metered {
    pub(crate) fn new(meter: &Arc<Meter>, task: BoxFuture<'static, ()>) -> Self {
        meter.tasks.fetch_add(1, Ordering::SeqCst);
        meter.begin();
        let state = State {
            meter: Arc::clone(meter),
            is_woken: AtomicBool::new(true),
            waker: Mutex::new(None),
        };
        Metered {
            task,
            state: Arc::new(state),
            is_done: false,
        }
    }

    fn leave(&mut self) {
        if !std::mem::replace(&mut self.is_done, true) {
            self.state.meter.tasks.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

impl Future for Metered {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let state = Arc::clone(&self.state);
        *state.waker.lock().unwrap_or_else(PoisonError::into_inner) = Some(context.waker().clone());
        // The task counts once while it is polled, and a second time if it is woken meanwhile.
        if !state.is_woken.swap(false, Ordering::SeqCst) {
            state.meter.begin();
        }
        let waker = Waker::from(Arc::clone(&state));
        let result = self.task.as_mut().poll(&mut Context::from_waker(&waker));
        if result.is_ready() {
            self.leave();
        }
        state.meter.end();
        result
    }
}

impl Drop for Metered {
    fn drop(&mut self) {
        self.leave();
        if self.state.is_woken.swap(false, Ordering::SeqCst) {
            self.state.meter.end();
        }
        self.state.meter.changed.notify_waiters();
    }
}

impl Wake for State {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.is_woken.swap(true, Ordering::SeqCst) {
            self.meter.begin();
        }
        let waker = self
            .waker
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use futures_util::FutureExt as _;
    use tokio::sync::oneshot;

    use super::*;

    fn block_on<F: Future>(future: F) -> F::Output {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build();
        runtime.unwrap().block_on(future)
    }

    #[test]
    fn tasks_that_wait_for_each_other_are_stuck() {
        block_on(async {
            let meter = Arc::new(Meter::default());
            let (first, second) = oneshot::channel::<()>();
            let waits = async move {
                let _first = first;
                second.await.unwrap_or(());
            };
            tokio::spawn(Metered::new(&meter, waits.boxed()));
            assert_eq!(meter.rest().await, Rest::Stuck);
        });
    }

    #[test]
    fn a_task_that_waits_for_a_busy_one_is_not_stuck() {
        block_on(async {
            for _ in 0..50 {
                let meter = Arc::new(Meter::default());
                let (first, second) = oneshot::channel::<()>();
                let waits = async move { second.await.unwrap_or(()) };
                let busy = Busy::new(&meter);
                let works = async move {
                    tokio::time::sleep(Duration::from_millis(2)).await;
                    first.send(()).unwrap_or(());
                    drop(busy);
                };
                tokio::spawn(Metered::new(&meter, waits.boxed()));
                tokio::spawn(Metered::new(&meter, works.boxed()));
                assert_eq!(meter.rest().await, Rest::Done);
            }
        });
    }
}
