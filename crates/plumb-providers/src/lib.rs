//! Built-in providers: `random`, `command`, `std` and `pulumi`.
//!
//! Each is a [`plumb_plugin::Provider`] that runs in this process, so that there is no plugin to download and no socket.
//! [`factory`] returns a provider by its package name. A [`BuiltinContext`] contains everything from outside (working
//! directory, environment, log, other stacks); this crate does not read the environment or the current directory of the
//! process.

mod adapter;
mod command;
mod context;
mod pulumi;
mod random;
#[expect(
    clippy::cast_sign_loss,
    clippy::cast_possible_wrap,
    reason = "the numbers of programs become places in lists, and the other way, behind checks of their range"
)]
mod standard;

use std::sync::Arc;

use plumb_plugin::Provider;
use plumb_resource::provider::PluginSpec;

pub use context::{BuiltinContext, LogRecord, LogSeverity, LogSink};
pub use pulumi::{ResourceOutputs, StackOutputs, StackReadError, StackReader};

/// A built-in provider.
#[derive(Clone, Copy, Debug)]
pub struct Builtin {
    name: &'static str,
    version: Option<&'static str>,
    schema: Option<&'static str>,
    start: fn(&Builtin, &BuiltinContext) -> Arc<dyn Provider>,
}

impl Builtin {
    /// Package name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Version of the plugin whose behaviour this provider implements; `None` for `pulumi`.
    pub fn version(&self) -> Option<semver::Version> {
        self.version
            .map(|text| semver::Version::parse(text).expect("the table below holds valid versions"))
    }

    /// Package schema as JSON text. The schema of `pulumi` is part of the schema loader instead.
    pub fn schema(&self) -> Option<&'static str> {
        self.schema
    }

    /// Whether this provider can replace the plugin in `spec`: same name, and same major version, because other major
    /// versions are incompatible with programs.
    pub fn fits(&self, spec: &PluginSpec) -> bool {
        let versions = spec.version.as_ref().zip(self.version());
        self.name == spec.name && versions.is_none_or(|(wanted, have)| wanted.major == have.major)
    }

    /// Starts an instance of the provider.
    pub fn start(&self, context: &BuiltinContext) -> Arc<dyn Provider> {
        (self.start)(self, context)
    }
}

static BUILTINS: [Builtin; 4] = [
    Builtin {
        name: "command",
        version: Some("1.2.1"),
        schema: Some(include_str!("../schemas/command.json")),
        start: command::start,
    },
    Builtin {
        name: "pulumi",
        version: None,
        schema: None,
        start: pulumi::start,
    },
    Builtin {
        name: "random",
        version: Some("4.21.4"),
        schema: Some(include_str!("../schemas/random.json")),
        start: random::start,
    },
    Builtin {
        name: "std",
        version: Some("2.3.2"),
        schema: Some(include_str!("../schemas/std.json")),
        start: standard::start,
    },
];

/// All built-in providers.
pub fn builtins() -> &'static [Builtin] {
    &BUILTINS
}

/// Built-in provider of the package `name`.
pub fn factory(name: &str) -> Option<&'static Builtin> {
    BUILTINS.iter().find(|builtin| builtin.name == name)
}
