//! Resources and functions without their types: what the service calls.

use std::marker::PhantomData;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use plumb::provider::Members;
use plumb::{FromValue, IntoValue, Result, Value};

use crate::check::Check;
use crate::diff::{Change, Diff, Plan};
use crate::list::{List, Listed};
use crate::preview::Preview;
use crate::resource::{Delete, Found, Read, Recorded, Resource, Update};
use crate::values::{contains_secret, describe, exposed_members};
use crate::{Cx, Error, Function};

/// A resource that exists, as the code of the provider describes it.
#[derive(Debug)]
pub(crate) struct Existing {
    /// The ID, if it is another one than before.
    pub(crate) id: Option<String>,
    /// The inputs, if they may be others than before.
    pub(crate) inputs: Option<Members>,
    pub(crate) state: Members,
    pub(crate) problems: Vec<String>,
}

/// A resource of a stack, as the engine knows it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known {
    pub(crate) id: String,
    pub(crate) inputs: Members,
    pub(crate) state: Members,
}

/// The functions that a type of resource has of its own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Abilities {
    pub(crate) updates: bool,
    pub(crate) reads: bool,
    pub(crate) previews: bool,
    pub(crate) diffs: bool,
    pub(crate) deletes_first: bool,
}

/// A type of resource.
pub(crate) trait AnyResource: Send + Sync {
    fn abilities(&self) -> Abilities;
    fn upgrade(&self, recorded: &mut Recorded);
    fn check<'a>(&self, cx: &'a Cx, check: &'a mut Check) -> BoxFuture<'a, Result<()>>;
    fn diff<'a>(&self, cx: &'a Cx, known: Known, plan: Plan) -> BoxFuture<'a, Result<Plan>>;
    fn preview<'a>(&self, cx: &'a Cx, preview: Foretold) -> BoxFuture<'a, Result<Members>>;
    fn create<'a>(&self, cx: &'a Cx, inputs: Members) -> BoxFuture<'a, Result<Existing>>;
    fn read<'a>(&self, cx: &'a Cx, known: Known) -> BoxFuture<'a, Result<Option<Existing>>>;
    fn update<'a>(
        &self,
        cx: &'a Cx,
        known: Known,
        inputs: Members,
        changes: Vec<Change>,
    ) -> BoxFuture<'a, Result<Existing>>;
    fn delete<'a>(&self, cx: &'a Cx, known: Known) -> BoxFuture<'a, Result<()>>;
    fn list<'a>(&self, cx: &'a Cx, list: List<Members>) -> BoxFuture<'a, Result<Listed>>;
}

/// A preview before the code of the provider has seen it.
#[derive(Debug)]
pub(crate) struct Foretold {
    pub(crate) inputs: Members,
    pub(crate) outputs: Members,
    pub(crate) changes: Vec<Change>,
    pub(crate) state: Option<Members>,
}

/// A function.
pub(crate) trait AnyFunction: Send + Sync {
    fn call<'a>(&self, cx: &'a Cx, args: Members) -> BoxFuture<'a, Result<Members>>;
}

/// A type that implements one of the public traits.
pub(crate) struct Typed<T>(PhantomData<fn() -> T>);

impl<T> Typed<T> {
    pub(crate) fn new() -> Self {
        Typed(PhantomData)
    }
}

/// Converts inputs or outputs; `what` says which, for the error.
fn decode<T: FromValue>(members: &Members, what: &str) -> Result<T> {
    T::from_value(Value::Map(exposed_members(members))).map_err(|mismatch| {
        let is_secret = members.values().any(contains_secret);
        Error::new(format!(
            "{what} do not fit: {}",
            describe(&mismatch, is_secret)
        ))
    })
}

fn encode(value: impl IntoValue) -> Members {
    match value.into_value() {
        Value::Map(members) => members,
        // `()` has no properties.
        _ => Members::new(),
    }
}

const INPUTS: &str = "the inputs";
const STATE: &str = "the outputs in the state";

impl<R: Resource> AnyResource for Typed<R> {
    fn abilities(&self) -> Abilities {
        Abilities {
            updates: R::UPDATES,
            reads: R::READS,
            previews: R::PREVIEWS,
            diffs: R::DIFFS,
            deletes_first: R::DELETES_BEFORE_REPLACING,
        }
    }

    fn upgrade(&self, recorded: &mut Recorded) {
        R::upgrade(recorded);
    }

    fn check<'a>(&self, cx: &'a Cx, check: &'a mut Check) -> BoxFuture<'a, Result<()>> {
        R::check(cx, check).boxed()
    }

    fn diff<'a>(&self, cx: &'a Cx, known: Known, plan: Plan) -> BoxFuture<'a, Result<Plan>> {
        async move {
            let mut diff: Diff<R> = Diff {
                id: known.id,
                state: decode(&known.state, STATE)?,
                plan,
            };
            R::diff(cx, &mut diff).await?;
            Ok(diff.plan)
        }
        .boxed()
    }

    fn preview<'a>(&self, cx: &'a Cx, foretold: Foretold) -> BoxFuture<'a, Result<Members>> {
        async move {
            let state = foretold.state.map(|it| decode(&it, STATE)).transpose()?;
            let mut preview: Preview<R> = Preview {
                inputs: foretold.inputs,
                outputs: foretold.outputs,
                changes: foretold.changes,
                state,
            };
            R::preview(cx, &mut preview).await?;
            Ok(preview.outputs)
        }
        .boxed()
    }

    fn create<'a>(&self, cx: &'a Cx, inputs: Members) -> BoxFuture<'a, Result<Existing>> {
        async move {
            let created = R::create(cx, decode(&inputs, INPUTS)?).await?;
            Ok(Existing {
                id: Some(created.id),
                inputs: None,
                state: encode(created.state),
                problems: created.problems,
            })
        }
        .boxed()
    }

    fn read<'a>(&self, cx: &'a Cx, known: Known) -> BoxFuture<'a, Result<Option<Existing>>> {
        async move {
            let is_new = known.state.is_empty() && known.inputs.is_empty();
            let read: Read<R> = Read {
                id: known.id,
                // What an older version of the provider recorded may not fit: then the resource is looked at as a new one.
                args: (!is_new)
                    .then(|| decode(&known.inputs, INPUTS).ok())
                    .flatten(),
                state: (!is_new)
                    .then(|| decode(&known.state, STATE).ok())
                    .flatten(),
            };
            let found = R::read(cx, read).await?;
            Ok(found.map(|found: Found<R>| Existing {
                id: found.id,
                inputs: Some(encode(found.args)),
                state: encode(found.state),
                problems: found.problems,
            }))
        }
        .boxed()
    }

    fn update<'a>(
        &self,
        cx: &'a Cx,
        known: Known,
        inputs: Members,
        changes: Vec<Change>,
    ) -> BoxFuture<'a, Result<Existing>> {
        async move {
            let update: Update<R> = Update {
                id: known.id,
                args: decode(&inputs, INPUTS)?,
                old_args: decode(&known.inputs, INPUTS).ok(),
                state: decode(&known.state, STATE)?,
                changes,
            };
            let updated = R::update(cx, update).await?;
            Ok(Existing {
                id: None,
                inputs: None,
                state: encode(updated.state),
                problems: updated.problems,
            })
        }
        .boxed()
    }

    fn delete<'a>(&self, cx: &'a Cx, known: Known) -> BoxFuture<'a, Result<()>> {
        async move {
            let delete: Delete<R> = Delete {
                id: known.id,
                state: decode(&known.state, STATE)?,
            };
            R::delete(cx, delete).await
        }
        .boxed()
    }

    fn list<'a>(&self, cx: &'a Cx, list: List<Members>) -> BoxFuture<'a, Result<Listed>> {
        async move {
            let list = List {
                query: decode(&list.query, "the arguments")?,
                limit: list.limit,
                page_size: list.page_size,
                after: list.after,
            };
            R::list(cx, list).await
        }
        .boxed()
    }
}

impl<F: Function> AnyFunction for Typed<F> {
    fn call<'a>(&self, cx: &'a Cx, args: Members) -> BoxFuture<'a, Result<Members>> {
        async move {
            let answer = F::call(cx, decode(&args, "the arguments")?).await?;
            Ok(encode(answer))
        }
        .boxed()
    }
}
