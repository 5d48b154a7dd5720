//! Providers that are built into the binary: `random`, `command` and `pulumi` itself.
//!
//! Each is a [`plumb_plugin::Provider`] that runs in this process: no plugin to download, no socket. [`factory`] finds
//! one by package name. What a provider needs from outside (working directory, environment, log, other stacks) comes in
//! a [`BuiltinContext`]; nothing here reads the process's own environment or current directory.

mod adapter;
mod command;
mod context;
mod pulumi;
mod random;

use std::sync::Arc;

use plumb_plugin::Provider;
use plumb_resource::provider::PluginSpec;

pub use context::{BuiltinContext, LogRecord, LogSeverity, LogSink};
pub use pulumi::{ResourceOutputs, StackOutputs, StackReadError, StackReader};

/// A provider that can be started in this process.
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

    /// Version of the package whose behaviour this provider has; `pulumi` has none of its own.
    pub fn version(&self) -> Option<semver::Version> {
        self.version
            .map(|text| semver::Version::parse(text).expect("the table below holds valid versions"))
    }

    /// Package schema as JSON text. The schema of `pulumi` is part of the schema loader, not kept here.
    pub fn schema(&self) -> Option<&'static str> {
        self.schema
    }

    /// Whether this provider may stand in for the plugin that `spec` asks for. Another version of the package is another
    /// package, as far as the program is concerned; only minor versions of what is built in may stand in for each other.
    pub fn fits(&self, spec: &PluginSpec) -> bool {
        let versions = spec.version.as_ref().zip(self.version());
        self.name == spec.name && versions.is_none_or(|(wanted, have)| wanted.major == have.major)
    }

    /// Starts an instance.
    pub fn start(&self, context: &BuiltinContext) -> Arc<dyn Provider> {
        (self.start)(self, context)
    }
}

static BUILTINS: [Builtin; 3] = [
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
];

/// Every built-in provider, by name.
pub fn builtins() -> &'static [Builtin] {
    &BUILTINS
}

/// The built-in provider of the package `name`.
pub fn factory(name: &str) -> Option<&'static Builtin> {
    BUILTINS.iter().find(|builtin| builtin.name == name)
}
