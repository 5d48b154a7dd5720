//! From a value with outputs inside to a state without.
//!
//! In the state of a cell, no [`Value::Output`] and no [`Value::Secret`] is left: outputs are awaited, and one secret makes
//! the whole value secret. Unknown parts stay where they are, so that the known ones can be reached.

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;

use super::Resolved;
use crate::Error;
use crate::program::Program;
use crate::resource::Dependencies;
use crate::value::Value;

/// Awaits everything inside `value`.
pub(crate) fn settle(value: Value) -> BoxFuture<'static, Result<Resolved<Value>, Error>> {
    async move {
        let mut marks = Marks::default();
        let value = marks.strip(value).await?;
        Ok(Resolved {
            value: (value != Value::Unknown).then_some(value),
            secret: marks.secret,
            dependencies: marks.dependencies,
        })
    }
    .boxed()
}

/// Secrecy and dependencies of the outputs found inside a value.
#[derive(Default)]
struct Marks {
    secret: bool,
    dependencies: Dependencies,
}

impl Marks {
    fn strip(&mut self, value: Value) -> BoxFuture<'_, Result<Value, Error>> {
        async move {
            Ok(match value {
                Value::Output(output) => {
                    let state = output.cell().settled().await?;
                    self.secret |= state.secret;
                    self.dependencies.extend(&state.dependencies);
                    state.value.clone().unwrap_or(Value::Unknown)
                }
                Value::Secret(inner) => {
                    self.secret = true;
                    self.strip(*inner).await?
                }
                Value::Resource(handle) => {
                    self.dependencies.insert(handle.clone());
                    Value::Resource(handle)
                }
                Value::List(values) => {
                    let mut stripped = Vec::with_capacity(values.len());
                    for value in values {
                        stripped.push(self.strip(value).await?);
                    }
                    Value::List(stripped)
                }
                Value::Map(values) => {
                    let mut stripped = std::collections::BTreeMap::new();
                    for (key, value) in values {
                        stripped.insert(key, self.strip(value).await?);
                    }
                    Value::Map(stripped)
                }
                Value::Null
                | Value::Bool(_)
                | Value::Number(_)
                | Value::String(_)
                | Value::Asset(_)
                | Value::Archive(_)
                | Value::Unknown => value,
            })
        }
        .boxed()
    }
}

/// The program that an output inside `value` belongs to.
pub(crate) fn program_of(value: &Value) -> Option<Program> {
    match value {
        Value::Output(output) => output.cell().program().cloned(),
        Value::Resource(handle) => Some(handle.program().clone()),
        Value::Secret(inner) => program_of(inner),
        Value::List(values) => values.iter().find_map(program_of),
        Value::Map(values) => values.values().find_map(program_of),
        Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Asset(_)
        | Value::Archive(_)
        | Value::Unknown => None,
    }
}
