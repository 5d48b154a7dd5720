//! Combinators of one output.

use std::any::Any;
use std::future::Future;
use std::panic::{AssertUnwindSafe, Location, catch_unwind};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;

use super::{Cell, Output, Resolved};
use crate::Error;
use crate::value::{FromValue, Value};

impl<T: Clone + Send + Sync + 'static> Output<T> {
    /// Makes another value from this one, as soon as it is known.
    ///
    /// A panic of the closure fails the output with the line of this call.
    #[track_caller]
    pub fn map<U, F>(&self, f: F) -> Output<U>
    where
        U: Clone + Send + Sync + 'static,
        F: FnOnce(T) -> U + Send + 'static,
    {
        let location = Location::caller();
        self.chain(move |value| {
            let result = guarded("map", location, || f(value)).map(Resolved::known);
            std::future::ready(result).boxed()
        })
    }

    /// Makes another value from this one, or fails.
    ///
    /// ```
    /// use plumb::Output;
    /// let port = Output::of("8080".to_owned()).try_map(|text| text.parse::<u16>());
    /// ```
    #[track_caller]
    pub fn try_map<U, E, F>(&self, f: F) -> Output<U>
    where
        U: Clone + Send + Sync + 'static,
        E: Into<Error>,
        F: FnOnce(T) -> Result<U, E> + Send + 'static,
    {
        let location = Location::caller();
        self.chain(move |value| {
            let result = guarded("try_map", location, || f(value));
            let result = result.and_then(|it| it.map_err(|error| located(error, location)));
            std::future::ready(result.map(Resolved::known)).boxed()
        })
    }

    /// Makes another value from this one, with asynchronous work in between.
    #[track_caller]
    pub fn map_async<U, F, Fut>(&self, f: F) -> Output<U>
    where
        U: Clone + Send + Sync + 'static,
        F: FnOnce(T) -> Fut + Send + 'static,
        Fut: Future<Output = U> + Send + 'static,
    {
        self.try_map_async(|value| {
            let future = f(value);
            async move { Ok::<U, Error>(future.await) }
        })
    }

    /// Makes another value from this one, with asynchronous work in between that may fail.
    #[track_caller]
    pub fn try_map_async<U, E, F, Fut>(&self, f: F) -> Output<U>
    where
        U: Clone + Send + Sync + 'static,
        E: Into<Error>,
        F: FnOnce(T) -> Fut + Send + 'static,
        Fut: Future<Output = Result<U, E>> + Send + 'static,
    {
        let location = Location::caller();
        let program = self.program().cloned();
        self.chain(move |value| {
            async move {
                // Work of the user may wait for anything: the program is not stuck as long as there is some.
                let _busy = program.as_ref().map(|program| program.busy());
                let future = guarded("map_async", location, || f(value))?;
                let result = AssertUnwindSafe(future).catch_unwind().await;
                match result {
                    Ok(Ok(value)) => Ok(Resolved::known(value)),
                    Ok(Err(error)) => Err(located(error, location)),
                    Err(panic) => Err(panicked("map_async", location, panic.as_ref())),
                }
            }
            .boxed()
        })
    }

    /// Makes another output from this value; the result is that output.
    #[track_caller]
    pub fn and_then<U, F>(&self, f: F) -> Output<U>
    where
        U: Clone + Send + Sync + 'static,
        F: FnOnce(T) -> Output<U> + Send + 'static,
    {
        let location = Location::caller();
        self.chain(move |value| {
            async move { guarded("and_then", location, || f(value))?.resolve().await }.boxed()
        })
    }

    /// Makes another output from this value, or fails; the result is that output.
    #[track_caller]
    pub fn try_and_then<U, E, F>(&self, f: F) -> Output<U>
    where
        U: Clone + Send + Sync + 'static,
        E: Into<Error>,
        F: FnOnce(T) -> Result<Output<U>, E> + Send + 'static,
    {
        let location = Location::caller();
        self.chain(move |value| {
            async move {
                let output = guarded("try_and_then", location, || f(value))?;
                let output = output.map_err(|error| located(error, location))?;
                output.resolve().await
            }
            .boxed()
        })
    }

    /// Replaces a failure: of the resource, or of a closure before this one. The program does not fail because of it.
    ///
    /// With the option `--continue-on-error` a program goes on after a resource has failed, and can choose another value.
    #[must_use]
    #[track_caller]
    pub fn recover<F>(&self, f: F) -> Output<T>
    where
        F: FnOnce(Error) -> T + Send + 'static,
    {
        let location = Location::caller();
        let input = self.clone();
        Output::native(Cell::driven(self.program().cloned(), async move {
            match input.resolve().await {
                Err(error) if !error.is_quiet() => {
                    error.handle();
                    guarded("recover", location, || f(error)).map(Resolved::known)
                }
                state => state,
            }
        }))
    }

    /// This value as a secret: encrypted in the state, and hidden in output.
    #[must_use]
    pub fn secret(&self) -> Output<T> {
        self.marked(true)
    }

    /// This value in the open. Take care: it is stored and shown.
    #[must_use]
    pub fn unsecret(&self) -> Output<T> {
        self.marked(false)
    }

    fn marked(&self, secret: bool) -> Output<T> {
        match &self.repr {
            super::Repr::Native(cell) => Output::native(mark(cell, secret)),
            super::Repr::Dynamic { cell, convert } => Output {
                repr: super::Repr::Dynamic {
                    cell: mark(cell, secret),
                    convert: *convert,
                },
            },
        }
    }

    /// Runs `next` when the value is known; the markers of both values meet in the result.
    fn chain<U, F>(&self, next: F) -> Output<U>
    where
        U: Clone + Send + Sync + 'static,
        F: FnOnce(T) -> BoxFuture<'static, Result<Resolved<U>, Error>> + Send + 'static,
    {
        let input = self.clone();
        Output::native(Cell::driven(self.program().cloned(), async move {
            let mut state = input.resolve().await?;
            let Some(value) = state.value.take() else {
                return Ok(state.with(None));
            };
            let mut result = next(value).await?;
            result.absorb(&state);
            Ok(result)
        }))
    }
}

impl<T: Clone + Send + Sync + 'static> Output<T> {
    /// The value as JSON text.
    ///
    /// ```
    /// use plumb::{Output, value};
    /// let name = Output::of("web".to_owned());
    /// let policy = Output::from_value(value!({ "resource": name })).to_json();
    /// ```
    #[track_caller]
    pub fn to_json(&self) -> Output<String>
    where
        T: crate::IntoValue,
    {
        self.try_map(|value| value.into_value().to_json())
    }
}

impl Output<String> {
    /// The value that the JSON text stands for.
    #[track_caller]
    pub fn parse_json<U: FromValue + Clone + Send + Sync + 'static>(&self) -> Output<U> {
        self.try_map(|text| Ok::<U, Error>(U::from_value(Value::from_json(&text)?)?))
    }
}

fn mark<T: Clone + Send + Sync + 'static>(cell: &Cell<T>, secret: bool) -> Cell<T> {
    let input = cell.clone();
    Cell::lazy(cell.program().cloned(), async move {
        let state = input.settled().await?;
        Ok(Resolved {
            secret,
            ..(*state).clone()
        })
    })
}

/// Runs a closure of the user; a panic becomes an error.
pub(crate) fn guarded<R>(
    what: &str,
    location: &'static Location<'static>,
    f: impl FnOnce() -> R,
) -> Result<R, Error> {
    catch_unwind(AssertUnwindSafe(f)).map_err(|panic| panicked(what, location, panic.as_ref()))
}

/// The error for a panic in something that the user gave to `what`.
pub(crate) fn panicked(
    what: &str,
    location: &'static Location<'static>,
    panic: &(dyn Any + Send),
) -> Error {
    let message = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied());
    let message = message.map_or(String::new(), |text| format!(": {text}"));
    Error::at(
        format!("the closure given to `{what}` panicked{message}"),
        Some(location),
    )
}

/// The error with the line of the combinator, if it has none of its own in the program.
fn located(error: impl Into<Error>, location: &'static Location<'static>) -> Error {
    let error = error.into();
    // A conversion here records a line of this file, which is none of the program's.
    if error.location().is_some_and(|own| own.file() == file!()) {
        return Error::at(error.to_string(), Some(location));
    }
    error.located(location)
}
