//! Policy packs in Rego and in CEL, which need no process and no SDK.
//!
//! A pack is a folder with a `PulumiPolicy.yaml` that names the runtime and with files of rules:
//!
//! | Runtime | Files | Format |
//! |---|---|---|
//! | `rego`, `opa` | `*.rego` | the rules of the public OPA analyzer: `deny`, `violation`, `warn`, each also with `stack_` in front |
//! | `cel` | `*.yaml` | our own: a rule is an entry with a `check` in the Common Expression Language |
//!
//! [`load`] reads a folder and returns a [`RulePack`], an [`Analyzer`](plumb_plugin::Analyzer) like every other pack.
//! [`testing`] runs the tests beside the rules.
//!
//! The way of a resource: [`facts`] turns its properties into plain JSON and notes the paths of unknown values; the rules of the
//! language ([`cel`], [`rego`]) judge the facts; [`pack`] filters by type, level and configuration and makes diagnostics of the
//! verdicts. **A rule that may have read an unknown value has no verdict**: it is reported as one that the preview cannot judge.

mod cel;
mod error;
mod facts;
mod files;
mod pack;
mod policy;
mod reads;
mod rego;
pub mod testing;

use std::path::Path;

use plumb_plugin::{AnalyzedStack, PackFactory, PackSources};

pub use error::LoadError;
pub use pack::RulePack;

/// Language of the rules of a pack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runtime {
    /// Common Expression Language.
    Cel,
    /// The language of the Open Policy Agent.
    Rego,
}

impl Runtime {
    /// Names of all runtimes, as `PulumiPolicy.yaml` has them.
    pub const NAMES: [&str; 3] = ["cel", "opa", "rego"];

    /// The runtime with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "cel" => Some(Runtime::Cel),
            "opa" | "rego" => Some(Runtime::Rego),
            _ => None,
        }
    }
}

/// Loads the pack in a folder for a stack.
pub fn load(sources: PackSources<'_>, runtime: Runtime) -> Result<RulePack, LoadError> {
    let manifest = sources.manifest;
    let folder = match &manifest.main {
        Some(main) => sources.directory.join(main),
        None => sources.directory.to_owned(),
    };
    let loaded = match runtime {
        Runtime::Cel => cel::load(&folder)?,
        Runtime::Rego => {
            // Packs for the public analyzer may call helpers as our corrections are called.
            let has_fixes = manifest.plugin.runtime != "opa";
            rego::load(&folder, manifest.input_format.as_deref(), has_fixes)?
        }
    };
    let name = loaded
        .name
        .unwrap_or_else(|| folder_name(sources.directory));
    Ok(RulePack::new(name, manifest, sources.stack, loaded.rules))
}

/// Loader of the packs of a runtime, for a plugin host; `None` for runtimes of others.
pub fn factory(runtime: &str) -> Option<PackFactory> {
    let runtime = Runtime::from_name(runtime)?;
    Some(Box::new(move |sources| {
        let pack = load(sources, runtime)?;
        Ok(std::sync::Arc::new(pack))
    }))
}

fn folder_name(folder: &Path) -> String {
    let name = folder.file_name();
    name.map_or_else(
        || "policies".to_owned(),
        |name| name.to_string_lossy().into_owned(),
    )
}

/// Facts about a stack, as rules see them.
fn deployment(stack: &AnalyzedStack) -> serde_json::Value {
    serde_json::json!({
        "project": stack.project,
        "stack": stack.stack,
        "organization": stack.organization,
        "preview": stack.dry_run,
        "config": stack.config,
        "tags": stack.tags,
    })
}
