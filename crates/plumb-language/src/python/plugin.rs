//! Plugins written in Python (`languages.md` 4.6, 10 and 11).
//!
//! upstream: a proxy runs before each policy pack, because packs read the settings of the stack at their start, before the
//! engine passes them. This host runs in the process that starts packs, which knows the stack by then, so no proxy is
//! needed.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use plumb_plugin::PluginKind;
use plumb_plugin::language::{PluginLaunch, ProgramInfo, RunPluginRequest};
use plumb_plugin::process::Environment;

use super::install::is_buildable;
use super::toolchain::{Interpreter, Settings};
use super::{PythonError, debugging};
use crate::LanguageOptions;
use crate::debugging::Announcements;

/// Command that runs a plugin from the sources in the request's folder.
pub(super) async fn launch(
    options: &LanguageOptions,
    announcements: &Announcements,
    request: RunPluginRequest,
) -> Result<PluginLaunch, PythonError> {
    let settings = Settings::of_plugin(&request.info)?;
    let interpreter = settings.interpreter(&options.environment).await?;
    let directory = &request.info.program_directory;
    let is_policy_pack = request.kind == PluginKind::Analyzer;
    let engine_args = request.args.iter().map(OsString::from);
    let mut args: Vec<OsString> = if is_policy_pack {
        // The settings of the stack are in the request's environment.
        let module = ["-u", "-m", "pulumi.policy"].map(OsString::from);
        let program = std::iter::once(directory.into());
        module
            .into_iter()
            .chain(engine_args)
            .chain(program)
            .collect()
    } else {
        let mut args = entry(directory)?;
        args.extend(engine_args);
        args
    };
    if request.attach_debugger {
        let waiting = debugging::wait(options, &interpreter, directory, &mut args).await?;
        announcements.add(waiting, options.engine_address.clone());
    }
    let working_directory = if is_policy_pack {
        directory.clone()
    } else {
        request.working_directory
    };
    let mut environment = interpreter.environment;
    let of_interpreter: Vec<(OsString, OsString)> = ["PATH", "VIRTUAL_ENV"]
        .iter()
        .filter_map(|name| Some((name.into(), environment.get(&OsString::from(name))?.clone())))
        .collect();
    environment.extend(request.environment);
    if interpreter.virtual_environment.is_some() {
        // The request's PATH does not contain the virtual environment, whose tools take precedence.
        environment.extend(of_interpreter);
    }
    Ok(PluginLaunch::Command {
        program: interpreter.program,
        args,
        environment,
        working_directory,
    })
}

fn entry(directory: &Path) -> Result<Vec<OsString>, PythonError> {
    if directory.join("__main__.py").is_file() {
        return Ok(vec![directory.into()]);
    }
    if !is_buildable(directory) {
        return Err(PythonError::PluginNotRunnable);
    }
    let name =
        project_name(&directory.join("pyproject.toml")).ok_or(PythonError::PluginNotRunnable)?;
    Ok(vec!["-m".into(), "pulumi.run.plugin".into(), name.into()])
}

/// `project.name` in a `pyproject.toml`.
fn project_name(path: &Path) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let table = text
        .lines()
        .skip_while(|line| line.trim() != "[project]")
        .skip(1);
    let fields = table.take_while(|line| !line.trim_start().starts_with('['));
    fields
        .filter_map(|line| line.split_once('='))
        .find_map(|(key, value)| {
            let value = value.split('#').next()?.trim();
            (key.trim() == "name").then(|| value.trim_matches(['"', '\'']).to_owned())
        })
}

/// Command that runs `pulumi-resource-pulumi-python`, the provider of dynamic resources, for a program.
pub async fn dynamic_provider(
    environment: &Environment,
    info: &ProgramInfo,
) -> Result<(std::path::PathBuf, Vec<OsString>, Environment), PythonError> {
    let settings = Settings::of(info)?;
    let Interpreter {
        program,
        environment,
        ..
    } = settings.interpreter(environment).await?;
    let args = ["-u", "-m", "pulumi.dynamic"]
        .iter()
        .map(OsString::from)
        .collect();
    Ok((program, args, environment))
}
