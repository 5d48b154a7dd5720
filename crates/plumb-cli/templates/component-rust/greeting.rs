//! A component.

use plumb::prelude::*;
use plumb_provider::{Described, Properties};

/// Inputs of a greeting.
#[derive(Clone, Debug, ComponentArgs, Properties)]
pub struct GreetingArgs {
    /// Who is greeted.
    pub who: Input<String>,
}

/// A greeting. Resources that belong together are declared through `cx`, which makes them parts of it.
#[derive(Clone, Component, Described)]
#[component(token = "${PROJECT}:index:Greeting")]
pub struct Greeting {
    /// The text.
    pub text: Output<String>,
}

impl BuildComponent for Greeting {
    type Args = GreetingArgs;

    fn build(_cx: &Ctx, args: GreetingArgs) -> plumb::Result<Self> {
        Ok(Greeting {
            text: interpolate!("Hello, {}", args.who),
        })
    }
}
