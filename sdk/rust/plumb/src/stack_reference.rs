//! Outputs of other stacks.

use std::panic::Location;

use crate::context::Ctx;
use crate::input::Inputs;
use crate::output::{Cell, Output};
use crate::resource::Handle;
use crate::value::{FromValue, IntoValue, Value};
use crate::{Error, Input};

/// Another stack, whose outputs this program reads.
///
/// ```no_run
/// # use plumb::prelude::*;
/// # fn program(ctx: &Ctx) {
/// let network = StackReference::new(ctx, "organization/network/prod");
/// let subnet: Output<String> = network.require("subnetId");
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct StackReference(Handle);
crate::resource!(StackReference);

impl StackReference {
    /// The stack called `stack`: `organization/project/stack`.
    #[track_caller]
    pub fn new(ctx: &Ctx, stack: &str) -> Self {
        StackReference::named(ctx, stack, stack)
    }

    /// A stack whose name may be an output; `name` is that of the resource.
    #[track_caller]
    pub fn named(ctx: &Ctx, name: &str, stack: impl Into<Input<String>>) -> Self {
        let stack = stack.into().into_value();
        let mut inputs = Inputs::new();
        inputs.set_value("name", stack.clone());
        let token = "pulumi:pulumi:StackReference";
        StackReference(ctx.read(token, name, stack, inputs, Location::caller()))
    }

    /// An output of the stack; null if it has none of that name. It is a secret if it is one there.
    pub fn get<T: FromValue + Clone + Send + Sync + 'static>(&self, name: &str) -> Output<T> {
        self.pick(name, None)
    }

    /// An output of the stack; the result fails if it has none of that name.
    #[track_caller]
    pub fn require<T: FromValue + Clone + Send + Sync + 'static>(&self, name: &str) -> Output<T> {
        self.pick(name, Some(Location::caller()))
    }

    fn pick<T: FromValue + Clone + Send + Sync + 'static>(
        &self,
        name: &str,
        required: Option<&'static Location<'static>>,
    ) -> Output<T> {
        let outputs: Output<Value> = self.0.output("outputs");
        let secrets: Output<Value> = self.0.output("secretOutputNames");
        let (stack, name) = (self.0.clone(), name.to_owned());
        Output::dynamic(Cell::driven(Some(self.0.program().clone()), async move {
            let outputs = outputs.cell().settled().await?;
            let secrets = secrets.cell().settled().await?;
            let Some(values) = &outputs.value else {
                return Ok(outputs.with(None));
            };
            let value = values.get(&name).cloned();
            if let (None, Some(location)) = (&value, required) {
                let message = format!("the stack `{}` has no output `{name}`", stack.name());
                return Err(Error::at(message, Some(location)));
            }
            let value = value.unwrap_or_default();
            let mut state = outputs.with(Some(value).filter(|it| *it != Value::Unknown));
            // Without a list of secrets, the whole is as secret as the provider says.
            if let Some(Value::List(names)) = &secrets.value {
                state.secret = names.contains(&Value::String(name));
            }
            Ok(state)
        }))
    }
}
