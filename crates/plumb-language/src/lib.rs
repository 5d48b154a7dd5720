//! Built-in language hosts. The engine starts interpreters directly, without a plugin process in between.
//!
//! [`language`] returns the host of a language, by its name in project files. Each host is a module: it installs, inspects
//! and runs programs of its language against the published SDK. For languages without a module here, `plumb-plugin`
//! searches for a plugin. This crate knows tool chains and interpreters; it does not know the resources that programs
//! register.
//!
//! Hosts of compiled languages share `compiled`, where a tool chain is a `Compiler`. [`serve`] runs a host as a service,
//! for engines in other processes.

mod compiled;
mod debugging;
mod dotnet;
mod files;
mod go;
mod installing;
mod java;
mod node;
mod options;
mod plugin_file;
mod program;
mod python;
mod rust;
mod script;
pub mod serve;
mod stopping;
mod strange_options;
mod tool;
mod yaml;

use std::sync::Arc;

use plumb_plugin::LanguageRuntime;

use compiled::CompiledHost;
use dotnet::Dotnet;
use go::Go;
use java::Java;
use rust::Rust;
use yaml::YamlHost;

pub use compiled::CompiledError;
pub use node::{NodeError, NodeHost, dynamic_provider as node_dynamic_provider};
pub use options::LanguageOptions;
pub use plugin_file::PluginFileError;
pub use python::{PythonError, PythonHost, dynamic_provider};
pub use strange_options::strange_options;
pub use tool::ToolError;
pub use yaml::YamlError;

/// A language with a built-in host.
pub struct Language {
    /// Name in project files.
    pub name: &'static str,
    /// Runtime options of programs.
    pub options: &'static [&'static str],
    /// Creates the host; does not start or read anything yet.
    pub host: fn(LanguageOptions) -> Arc<dyn LanguageRuntime>,
}

/// Languages with a built-in host.
pub const LANGUAGES: [Language; 8] = [
    Language {
        name: "bun",
        options: &node::OPTIONS,
        host: |options| Arc::new(NodeHost::for_bun(options)),
    },
    Language {
        name: "dotnet",
        options: &["binary", "use-executor"],
        host: |options| Arc::new(CompiledHost::<Dotnet>::new(options)),
    },
    Language {
        name: "go",
        options: &["binary", "buildTarget"],
        host: |options| Arc::new(CompiledHost::<Go>::new(options)),
    },
    Language {
        name: "java",
        options: &["binary", "use-executor"],
        host: |options| Arc::new(CompiledHost::<Java>::new(options)),
    },
    Language {
        name: "nodejs",
        options: &node::OPTIONS,
        host: |options| Arc::new(NodeHost::for_node(options)),
    },
    Language {
        name: "python",
        options: &["toolchain", "typechecker", "virtualenv"],
        host: |options| Arc::new(PythonHost::new(options)),
    },
    Language {
        name: "rust",
        options: &["bin", "binary", "features", "profile"],
        host: |options| Arc::new(CompiledHost::<Rust>::new(options)),
    },
    Language {
        name: "yaml",
        options: &["compiler"],
        host: |options| Arc::new(YamlHost::new(options)),
    },
];

/// Language with this name in project files, if it has a built-in host.
pub fn language(name: &str) -> Option<Language> {
    LANGUAGES.into_iter().find(|language| language.name == name)
}
