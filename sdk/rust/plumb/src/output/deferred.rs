//! Outputs that are promised before there is something to make them from.

use std::panic::Location;

use tokio::sync::oneshot;

use super::{Cell, Output};
use crate::Error;
use crate::program::Program;

/// The other end of a promised output: [`Ctx::deferred`](crate::Ctx::deferred) makes both.
///
/// ```no_run
/// # use plumb::prelude::*;
/// # fn f(ctx: &Ctx) {
/// let (later, slot) = ctx.deferred::<String>();
/// let first = AnyResource::new(ctx, "a:b:First", "first", value!({ "peer": later }));
/// let second = AnyResource::new(ctx, "a:b:Second", "second", value!({}));
/// slot.resolve(&second.id());
/// # }
/// ```
#[must_use = "an output whose other end is dropped fails"]
pub struct Deferred<T> {
    sender: oneshot::Sender<Output<T>>,
}

impl<T: Clone + Send + Sync + 'static> Deferred<T> {
    pub(crate) fn pair(
        program: &Program,
        location: &'static Location<'static>,
    ) -> (Output<T>, Self) {
        let (sender, receiver) = oneshot::channel::<Output<T>>();
        let waiting = program.waiting(format!("a deferred output made at {location}"));
        let output = Output::native(Cell::driven(Some(program.clone()), async move {
            let _waiting = waiting;
            match receiver.await {
                Ok(output) => output.resolve().await,
                Err(_) => Err(Error::at(
                    "a deferred output was never resolved",
                    Some(location),
                )),
            }
        }));
        (output, Deferred { sender })
    }

    /// Keeps the promise: the promised output becomes this one.
    pub fn resolve(self, output: &Output<T>) {
        // Nobody may be left to hear of it when the program ends early.
        let _ = self.sender.send(output.clone());
    }
}
