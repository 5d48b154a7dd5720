//! A component that says where it is.

use std::process::ExitCode;

use plumb::prelude::*;
use plumb_provider::{Described, Properties, Provider};

#[derive(Clone, Debug, ComponentArgs, Properties)]
struct BuiltinInfoArgs {}

#[derive(Clone, Component, Described)]
#[component(token = "builtin-info-component:index:BuiltinInfo")]
struct BuiltinInfo {
    organization: Output<String>,
    project: Output<String>,
    stack: Output<String>,
}

impl BuildComponent for BuiltinInfo {
    type Args = BuiltinInfoArgs;

    fn build(cx: &Ctx, _: BuiltinInfoArgs) -> plumb::Result<Self> {
        Ok(BuiltinInfo {
            organization: Output::of(cx.organization().to_owned()),
            project: Output::of(cx.project().to_owned()),
            stack: Output::of(cx.stack().to_owned()),
        })
    }
}

fn main() -> ExitCode {
    Provider::new("builtin-info-component", env!("CARGO_PKG_VERSION"))
        .component::<BuiltinInfo>()
        .serve()
}
