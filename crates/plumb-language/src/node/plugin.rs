//! Plugins that are JavaScript or TypeScript sources (`languages.md` 3.6), and the provider of dynamic resources
//! (`languages.md` 10).
//!
//! upstream: a proxy runs before each policy pack, because a pack reads project, stack and configuration at its start,
//! before the engine calls it. Here these values are in the pack's environment, so no proxy is needed.

use std::ffi::OsString;
use std::path::PathBuf;

use plumb_plugin::PluginKind;
use plumb_plugin::language::{PluginLaunch, ProgramInfo, RunPluginRequest};
use plumb_plugin::process::Environment;

use super::NodeError;
use super::debugging;
use super::modules::{self, Script};
use super::settings::{Engine, Settings};
use crate::LanguageOptions;
use crate::debugging::Announcements;

/// Command that runs a plugin from the sources in the request's folder.
pub(super) async fn launch(
    engine: Engine,
    options: &LanguageOptions,
    announcements: &Announcements,
    request: RunPluginRequest,
) -> Result<PluginLaunch, NodeError> {
    let settings = Settings::of(engine, &request.info)?;
    let directory = settings.program_directory.clone();
    let mut environment = request.environment;
    settings.announce(&mut environment);
    let program = engine.find(&environment, &directory)?;
    let is_policy_pack = request.kind == PluginKind::Analyzer;
    let script = if is_policy_pack {
        Script::PolicyPack
    } else {
        Script::Plugin
    };
    let script = modules::find(script, engine, &program, &environment, &directory).await?;
    let mut args = settings.script(script, &options.cache_directory)?;
    let engine_args = request.args.iter().map(OsString::from);
    if is_policy_pack {
        args.extend(engine_args);
        args.push(directory.clone().into());
    } else {
        args.push(directory.clone().into());
        args.extend(engine_args);
    }
    if request.attach_debugger {
        let waiting = debugging::wait(engine, &mut args)?;
        announcements.add(waiting, options.engine_address.clone());
    }
    Ok(PluginLaunch::Command {
        program,
        args,
        environment,
        working_directory: if is_policy_pack {
            directory
        } else {
            request.working_directory
        },
    })
}

/// Command that runs `pulumi-resource-pulumi-nodejs`, the provider of dynamic resources, for a program.
pub async fn dynamic_provider(
    environment: &Environment,
    info: &ProgramInfo,
) -> Result<(PathBuf, Vec<OsString>, Environment), NodeError> {
    let directory = &info.program_directory;
    let program = Engine::Node.find(environment, directory)?;
    let script = modules::find(
        Script::DynamicProvider,
        Engine::Node,
        &program,
        environment,
        directory,
    );
    Ok((
        program.clone(),
        vec![script.await?.into()],
        environment.clone(),
    ))
}
