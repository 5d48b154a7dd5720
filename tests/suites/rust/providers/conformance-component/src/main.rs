//! A component with one resource, whose value is the opposite of the component's.

use std::process::ExitCode;

use plumb::prelude::*;
use plumb_provider::{Described, Properties, Provider};

#[derive(Clone, Debug, ComponentArgs, Properties)]
struct SimpleArgs {
    value: Input<bool>,
}

#[derive(Clone, Component, Described)]
#[component(token = "conformance-component:index:Simple")]
struct Simple {
    value: Output<bool>,
}

impl BuildComponent for Simple {
    type Args = SimpleArgs;

    fn build(cx: &Ctx, args: SimpleArgs) -> plumb::Result<Self> {
        let value = args.value.to_output();
        let inputs = value!({ "value": value.clone().map(|it| !it) });
        AnyResource::with(
            cx,
            "simple:index:Resource",
            &cx.name("child"),
            inputs,
            opts().version("2.0.0"),
        );
        Ok(Simple { value })
    }
}

fn main() -> ExitCode {
    Provider::new("conformance-component", env!("CARGO_PKG_VERSION"))
        .component::<Simple>()
        .serve()
}
