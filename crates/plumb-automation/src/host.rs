//! The plugin host of an operation.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use ecow::EcoString;
use plumb_engine::monitor::ResourceMonitor;
use plumb_engine::{Shell, with_causes};
use plumb_language::LanguageOptions;
use plumb_plugin::discovery::Cache;
use plumb_plugin::process::PluginTimeouts;
use plumb_plugin::{Discovery, HostOptions, PluginHost, ServiceAddresses};
use plumb_providers::BuiltinContext;
use plumb_value::Value;

#[cfg(feature = "rules")]
use crate::hosting::register_packs;
use crate::hosting::{
    by_namespace, log_sink, output_sink, register_builtins, register_languages, shared_variables,
};
use crate::operation::Operation;
use crate::stacks::OtherStacks;
use crate::{Error, Stack, semantic_version};

/// Folders of an operation.
pub(crate) struct Folders {
    pub(crate) root: PathBuf,
    pub(crate) program: PathBuf,
}

pub(crate) fn folders(operation: &Operation) -> Result<Folders, Error> {
    let own = match &operation.program {
        Some(program) => program.folders()?,
        None => None,
    };
    let shared = &operation.stack.shared().folder;
    let (root, program) = own.unwrap_or_else(|| (shared.clone(), shared.clone()));
    Ok(Folders { root, program })
}

pub(crate) fn plugin_host(
    operation: &Operation,
    folders: &Folders,
    config: &BTreeMap<EcoString, Value>,
    shell: &Shell,
) -> Result<PluginHost, Error> {
    let shared = operation.stack.shared();
    let monitor: Arc<dyn ResourceMonitor> = shell.monitor();
    let engine = shell.address().to_owned();
    let output = output_sink(monitor.clone());
    let mut host = PluginHost::new(HostOptions {
        discovery: Discovery {
            project: Vec::new(),
            search_path: shared.search_path.clone(),
            bundled: None,
            cache: Cache::new(shared.home.join("plugins")),
            accept_newer: false,
        },
        environment: shared.variables.clone(),
        working_directory: folders.program.clone(),
        project: Some(operation.stack.project().to_owned()),
        runtime_options: match &operation.program {
            Some(program) => program.runtime_options()?,
            None => BTreeMap::new(),
        },
        config: by_namespace(config),
        services: ServiceAddresses {
            engine: engine.clone(),
            loader: Some(engine.clone()),
            mapper: Some(engine.clone()),
            resolver: Some(engine.clone()),
        },
        log_arguments: Vec::new(),
        attached_providers: BTreeMap::new(),
        attached_languages: BTreeMap::new(),
        timeouts: PluginTimeouts::default(),
        refresh_before_update: true,
        use_provider_preview: true,
        ignore_versions: false,
        output: output.clone(),
        schema_cache: Some(shared.home.join("schemas")),
        acquire: shared.acquire.clone(),
    });
    let context = BuiltinContext {
        working_dir: folders.program.clone(),
        environment: Some(shared_variables(&shared.variables)),
        log: log_sink(monitor),
        stacks: Some(Arc::new(other_stacks(&operation.stack))),
    };
    register_builtins(&mut host, &context);
    let languages = LanguageOptions {
        environment: shared.variables.clone(),
        engine_address: engine,
        debug_messages: false,
        cache_directory: shared.home.join("plumb"),
        version: semantic_version(),
        output,
    };
    register_languages(&mut host, &languages);
    #[cfg(feature = "rules")]
    register_packs(&mut host);
    Ok(host)
}

/// Reader of the other stacks of the workspace, which are named as in the command line.
fn other_stacks(stack: &Stack) -> OtherStacks {
    let stack = stack.clone();
    OtherStacks::new(Arc::new(move |name, part| {
        let text = |error: Error| with_causes(&error);
        let project = stack.reference().project.as_ref();
        let reference = stack.backend().parse_stack(name, project);
        let reference = reference.map_err(|error| text(error.into()))?;
        let other = Stack::new(stack.shared().clone(), reference);
        let exists = other.backend().stack_exists(other.reference());
        if !exists.map_err(|error| text(error.into()))? {
            return Err(format!("unknown stack {name:?}"));
        }
        other.snapshot(part).map_err(text)
    }))
}
