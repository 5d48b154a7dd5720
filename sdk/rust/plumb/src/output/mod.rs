//! Outputs: values that are there later.
//!
//! An [`Output`] is known after its resource has been created, and in a preview perhaps not at all. Combinators make new
//! outputs from it; each keeps three facts:
//!
//! | | unknown | secret | dependencies |
//! |---|---|---|---|
//! | [`map`](Output::map) | the closure does not run | stays | stay |
//! | [`and_then`](Output::and_then) | if either is | if either is | of both |
//! | [`join`](Join::join) | if one is | if one is | of all |
//!
//! Combinators are eager: a closure runs as soon as its value is known, whether or not somebody reads the result, and its
//! failure fails the program unless [`recover`](Output::recover) deals with it.

mod cell;
mod combine;
mod deferred;
mod join;
mod settle;

use std::fmt;
use std::marker::PhantomData;

pub use deferred::Deferred;
pub use join::{IntoOutput, Join};

pub(crate) use cell::{Cell, Resolved};
pub(crate) use settle::{program_of, settle};

use crate::Error;
use crate::program::Program;
use crate::value::{FromValue, IntoValue, Mismatch, Value};

/// A value that is there later.
///
/// ```
/// use plumb::{Output, Join as _};
/// let host = Output::of("example.org".to_owned());
/// let port = Output::of(8080);
/// let url = (&host, &port).join().map(|(host, port)| format!("http://{host}:{port}"));
/// ```
///
/// An output has no `Display`: `format!("{}", bucket.id())` does not compile, because the text is not there yet.
/// [`interpolate!`](crate::interpolate!) makes text from outputs.
pub struct Output<T> {
    repr: Repr<T>,
}

/// How a typed output reads a value.
type Convert<T> = fn(Value) -> Result<T, Mismatch>;

enum Repr<T> {
    /// From the engine or from [`Value`]s: converted when it is read.
    Dynamic {
        cell: Cell<Value>,
        convert: Convert<T>,
    },
    /// From a closure: any type, even one that is no property value.
    Native(Cell<T>),
}

impl<T> Clone for Output<T> {
    fn clone(&self) -> Self {
        let repr = match &self.repr {
            Repr::Dynamic { cell, convert } => Repr::Dynamic {
                cell: cell.clone(),
                convert: *convert,
            },
            Repr::Native(cell) => Repr::Native(cell.clone()),
        };
        Output { repr }
    }
}

impl<T> fmt::Debug for Output<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Output")
    }
}

impl<T: Clone + Send + Sync + 'static> Output<T> {
    /// An output that is known already.
    pub fn of(value: T) -> Self {
        Output::native(Cell::ready(Ok(Resolved::known(value))))
    }

    pub(crate) fn native(cell: Cell<T>) -> Self {
        Output {
            repr: Repr::Native(cell),
        }
    }

    pub(crate) fn program(&self) -> Option<&Program> {
        match &self.repr {
            Repr::Dynamic { cell, .. } => cell.program(),
            Repr::Native(cell) => cell.program(),
        }
    }

    /// Waits for the value.
    pub(crate) async fn resolve(&self) -> Result<Resolved<T>, Error> {
        match &self.repr {
            Repr::Native(cell) => cell.settled().await.map(|it| (*it).clone()),
            Repr::Dynamic { cell, convert } => {
                let state = cell.settled().await?;
                let known = state.value.as_ref().filter(|it| !it.contains_unknown());
                let value = known.cloned().map(convert).transpose();
                match value {
                    Ok(value) => Ok(state.with(value)),
                    Err(mismatch) => Err(Error::at(state.describe(&mismatch), None)),
                }
            }
        }
    }
}

impl Resolved<Value> {
    /// A mismatch with the resource that the value came from.
    fn describe(&self, mismatch: &Mismatch) -> String {
        match self.dependencies.only() {
            Some(handle) => format!("unexpected output of {}: {mismatch}", handle.label()),
            None => format!("unexpected value: {mismatch}"),
        }
    }
}

impl<T: FromValue> Output<T> {
    pub(crate) fn dynamic(cell: Cell<Value>) -> Self {
        Output {
            repr: Repr::Dynamic {
                cell,
                convert: T::from_value,
            },
        }
    }
}

impl Output<Value> {
    /// An output of a value that may hold outputs and secrets inside; they become part of this one.
    ///
    /// ```
    /// use plumb::{Output, value};
    /// let name = Output::of("web".to_owned());
    /// let policy = Output::from_value(value!({ "resource": name }));
    /// ```
    pub fn from_value(value: Value) -> Self {
        let program = program_of(&value);
        Output::dynamic(Cell::driven(program, settle(value)))
    }

    /// Reads the value as `U`; if it is something else, the result fails.
    pub fn typed<U: FromValue + Clone + Send + Sync + 'static>(&self) -> Output<U> {
        Output::dynamic(self.untyped().cell().clone())
    }

    /// The cell of an output that is dynamic: all are that are inside a value.
    pub(crate) fn cell(&self) -> &Cell<Value> {
        match &self.repr {
            Repr::Dynamic { cell, .. } | Repr::Native(cell) => cell,
        }
    }

    pub(crate) fn is_same(&self, other: &Output<Value>) -> bool {
        self.cell().is_same(other.cell())
    }
}

impl<T: IntoValue + Clone + Send + Sync + 'static> Output<T> {
    /// This output without its type.
    pub fn untyped(&self) -> Output<Value> {
        match &self.repr {
            Repr::Dynamic { cell, .. } => Output::dynamic(cell.clone()),
            Repr::Native(native) => {
                let native = native.clone();
                let program = native.program().cloned();
                Output::dynamic(Cell::lazy(program, async move {
                    let state = native.settled().await?;
                    let Some(value) = state.value.clone() else {
                        return Ok(state.with(None));
                    };
                    let mut inner = settle(value.into_value()).await?;
                    inner.absorb(&state);
                    Ok(inner)
                }))
            }
        }
    }

    /// The value called `key` of an object.
    ///
    /// Works inside an object that is only partly known. A missing key gives null: `None` for an `Option`.
    pub fn key<U: FromValue + Clone + Send + Sync + 'static>(&self, key: &str) -> Output<U> {
        let key = key.to_owned();
        self.inside(move |value| match value {
            Value::Map(mut values) => values.remove(&key).unwrap_or_default(),
            Value::Unknown => Value::Unknown,
            _ => Value::Null,
        })
    }

    /// The item number `index` of a list.
    ///
    /// Works inside a list that is only partly known. A missing item gives null: `None` for an `Option`.
    pub fn at<U: FromValue + Clone + Send + Sync + 'static>(&self, index: usize) -> Output<U> {
        self.inside(move |value| match value {
            Value::List(mut values) if index < values.len() => values.swap_remove(index),
            Value::Unknown => Value::Unknown,
            _ => Value::Null,
        })
    }

    /// The value of a field of an object; generated packages have the [`Field`]s.
    pub fn get<U: FromValue + Clone + Send + Sync + 'static>(
        &self,
        field: Field<T, U>,
    ) -> Output<U> {
        self.key(field.name)
    }

    pub(crate) fn inside<U: FromValue + Clone + Send + Sync + 'static>(
        &self,
        pick: impl FnOnce(Value) -> Value + Send + 'static,
    ) -> Output<U> {
        let outer = self.untyped();
        let program = outer.program().cloned();
        Output::dynamic(Cell::lazy(program, async move {
            let state = outer.cell().settled().await?;
            let picked = state.value.clone().map(pick);
            Ok(state.with(picked.filter(|it| *it != Value::Unknown)))
        }))
    }
}

/// A field of the object type `T` whose values are `U`.
///
/// ```
/// use plumb::{Field, FromValue as _, value};
///
/// /// An object, as generated packages have them.
/// #[derive(Clone, Debug)]
/// pub struct Website(std::collections::BTreeMap<String, plumb::Value>);
/// plumb::object!(Website);
///
/// impl Website {
///     pub const INDEX: Field<Website, String> = Field::new("indexDocument");
/// }
/// let website = Website::from_value(value!({ "indexDocument": "index.html" })).unwrap();
/// assert_eq!(website.get(Website::INDEX).unwrap(), "index.html");
/// ```
pub struct Field<T, U> {
    name: &'static str,
    types: PhantomData<fn(T) -> U>,
}

impl<T, U> Field<T, U> {
    /// The field called `name` on the wire.
    pub const fn new(name: &'static str) -> Self {
        Field {
            name,
            types: PhantomData,
        }
    }

    pub(crate) fn name(&self) -> &'static str {
        self.name
    }
}

impl<T, U: FromValue> Field<T, U> {
    /// Reads the field from the members of an object.
    pub fn read(&self, members: &std::collections::BTreeMap<String, Value>) -> Result<U, Mismatch> {
        let value = members.get(self.name).cloned();
        let read = value.map_or_else(U::from_missing, U::from_value);
        read.map_err(|mismatch| mismatch.in_key(self.name))
    }
}
