//! A provider for text files on this machine: a resource, a function and a component.

mod file;
mod site;

use std::process::ExitCode;

use plumb_provider::prelude::*;

use file::{File, count_words};
use site::{Site, link};

/// The configuration of the provider.
#[derive(Clone, Debug, Properties)]
struct Settings {
    /// The folder in which paths of files begin.
    #[property(env = ["FILES_ROOT"], default = ".", replace)]
    root: String,
}

fn provider() -> Provider {
    Provider::new("files", env!("CARGO_PKG_VERSION"))
        .display_name("Files")
        .description("Text files on this machine")
        .license("Apache-2.0")
        .config::<Settings>()
        .resource::<File>()
        .function(count_words)
        .component::<Site>()
        .method(link)
}

fn main() -> ExitCode {
    provider().serve()
}
