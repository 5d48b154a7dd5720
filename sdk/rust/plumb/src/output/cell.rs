//! Cells: values that are there later, shared by everybody who waits for them.
//!
//! A cell of a program is driven by a task of that program, so it resolves even if nobody reads it, and its failure is
//! reported. A cell that has nothing to do with a program (made from plain values alone) waits for its first reader.

use std::future::Future;
use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Shared};

use crate::Error;
use crate::program::Program;
use crate::resource::Dependencies;

/// The state of a cell that did not fail.
#[derive(Clone, Debug)]
pub(crate) struct Resolved<T> {
    /// The value; `None` if it is not known before the deployment.
    pub(crate) value: Option<T>,
    pub(crate) secret: bool,
    pub(crate) dependencies: Dependencies,
}

impl<T> Resolved<T> {
    pub(crate) fn known(value: T) -> Self {
        Resolved {
            value: Some(value),
            secret: false,
            dependencies: Dependencies::default(),
        }
    }

    pub(crate) fn unknown() -> Self {
        Resolved {
            value: None,
            secret: false,
            dependencies: Dependencies::default(),
        }
    }

    /// Another value with the same markers.
    pub(crate) fn with<U>(&self, value: Option<U>) -> Resolved<U> {
        Resolved {
            value,
            secret: self.secret,
            dependencies: self.dependencies.clone(),
        }
    }

    /// Adds the markers of something that the value was made from.
    pub(crate) fn absorb<U>(&mut self, other: &Resolved<U>) {
        self.secret |= other.secret;
        self.dependencies.extend(&other.dependencies);
    }
}

pub(crate) type Settled<T> = Result<Arc<Resolved<T>>, Error>;

/// A value that is there later.
pub(crate) struct Cell<T> {
    future: Shared<BoxFuture<'static, Settled<T>>>,
    program: Option<Program>,
}

impl<T> Clone for Cell<T> {
    fn clone(&self) -> Self {
        Cell {
            future: self.future.clone(),
            program: self.program.clone(),
        }
    }
}

impl<T: Send + Sync + 'static> Cell<T> {
    pub(crate) fn ready(state: Result<Resolved<T>, Error>) -> Self {
        Cell::lazy(None, std::future::ready(state))
    }

    /// A cell that waits for its first reader: a view of another one, which costs nothing if nobody looks.
    pub(crate) fn lazy(
        program: Option<Program>,
        future: impl Future<Output = Result<Resolved<T>, Error>> + Send + 'static,
    ) -> Self {
        Cell {
            future: future.map(|state| state.map(Arc::new)).boxed().shared(),
            program,
        }
    }

    /// A cell that the program drives.
    pub(crate) fn driven(
        program: Option<Program>,
        future: impl Future<Output = Result<Resolved<T>, Error>> + Send + 'static,
    ) -> Self {
        let cell = Cell::lazy(program, future);
        if let Some(program) = &cell.program {
            let waiting = cell.future.clone();
            program.spawn(async move { waiting.await.map(|_| ()) });
        }
        cell
    }

    pub(crate) fn program(&self) -> Option<&Program> {
        self.program.as_ref()
    }

    pub(crate) async fn settled(&self) -> Settled<T> {
        self.future.clone().await
    }

    pub(crate) fn is_same(&self, other: &Cell<T>) -> bool {
        self.future.ptr_eq(&other.future)
    }
}
