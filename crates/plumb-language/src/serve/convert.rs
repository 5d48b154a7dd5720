//! Language messages, as a host sees them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use ecow::EcoString;
use plumb_plugin::PluginKind;
use plumb_plugin::discovery::parse_tolerant;
use plumb_plugin::language::{
    InstallRequest, LinkDependency, LinkRequest, OptionChoice, OptionPrompt, OptionValue,
    PackageDependency, PackageSource, ProgramInfo, RequiredPackages, RunOutcome, RunPluginRequest,
    RunRequest,
};
use plumb_plugin::process::Environment;
use plumb_proto::pulumirpc as pb;
use plumb_proto::pulumirpc::runtime_option_prompt::{RuntimeOptionType, RuntimeOptionValue};
use plumb_resource::provider::Parameterization;
use plumb_wire::json::json_from_wire;
use tonic::Status;

/// What every call about a program has to say.
pub(super) fn program_info(info: Option<pb::ProgramInfo>) -> Result<ProgramInfo, Status> {
    let info = info.ok_or_else(|| {
        Status::invalid_argument("the request does not say which program it is about")
    })?;
    Ok(ProgramInfo {
        root_directory: info.root_directory.into(),
        program_directory: info.program_directory.into(),
        entry_point: info.entry_point,
        options: info
            .options
            .as_ref()
            .map(json_from_wire)
            .unwrap_or_default(),
    })
}

pub(super) fn run_request(request: pb::RunRequest) -> Result<RunRequest, Status> {
    let info = program_info(request.info)?;
    let working_directory = if request.pwd.is_empty() {
        info.program_directory.clone()
    } else {
        PathBuf::from(request.pwd)
    };
    Ok(RunRequest {
        info,
        working_directory,
        project: request.project,
        stack: request.stack,
        organization: request.organization,
        args: request.args,
        config: request.config,
        config_secret_keys: request.config_secret_keys,
        dry_run: request.dry_run,
        parallel: request.parallel,
        monitor_address: request.monitor_address,
        loader_target: request.loader_target,
        mapper_target: request.mapper_target,
        attach_debugger: request.attach_debugger,
    })
}

pub(super) fn run_response(outcome: RunOutcome) -> pb::RunResponse {
    let (error, bail) = match outcome {
        RunOutcome::Succeeded => (String::new(), false),
        RunOutcome::Bailed => (String::new(), true),
        RunOutcome::Failed(message) => (message, false),
    };
    pb::RunResponse { error, bail }
}

pub(super) fn install_request(
    request: pb::InstallDependenciesRequest,
) -> Result<InstallRequest, Status> {
    Ok(InstallRequest {
        info: program_info(request.info)?,
        is_terminal: request.is_terminal,
        use_language_version_tools: request.use_language_version_tools,
        is_plugin: request.is_plugin,
    })
}

pub(super) fn run_plugin_request(
    request: pb::RunPluginRequest,
) -> Result<RunPluginRequest, Status> {
    let info = program_info(request.info)?;
    let kind = match request.kind.as_str() {
        "" => PluginKind::Resource,
        kind => PluginKind::from_name(kind)
            .ok_or_else(|| Status::invalid_argument(format!("unknown kind of plugin: {kind}")))?,
    };
    let environment: Environment = request
        .env
        .iter()
        .filter_map(|entry| entry.split_once('='))
        .map(|(name, value)| (name.into(), value.into()))
        .collect();
    let working_directory = if request.pwd.is_empty() {
        info.program_directory.clone()
    } else {
        PathBuf::from(request.pwd)
    };
    Ok(RunPluginRequest {
        info,
        kind,
        working_directory,
        args: request.args,
        environment,
        loader_target: request.loader_target,
        attach_debugger: request.attach_debugger,
    })
}

pub(super) fn link_request(request: pb::LinkRequest) -> Result<LinkRequest, Status> {
    Ok(LinkRequest {
        info: program_info(request.info)?,
        loader_target: request.loader_target,
        packages: request
            .packages
            .into_iter()
            .map(link_dependency)
            .collect::<Result<_, _>>()?,
    })
}

fn link_dependency(dependency: pb::link_request::LinkDependency) -> Result<LinkDependency, Status> {
    let package = dependency.package.unwrap_or_default();
    let kind = match package.kind.as_str() {
        "" => PluginKind::Resource,
        kind => PluginKind::from_name(kind)
            .ok_or_else(|| Status::invalid_argument(format!("unknown kind of plugin: {kind}")))?,
    };
    Ok(LinkDependency {
        package: PackageDependency {
            name: package.name,
            kind,
            version: parse_tolerant(&package.version),
            server: Some(package.server).filter(|server| !server.is_empty()),
            checksums: BTreeMap::new(),
            parameterization: package.parameterization.map(parameterization),
            extension: package.extension.map(parameterization),
        },
        path: dependency.path.into(),
    })
}

fn parameterization(parameter: pb::PackageParameterization) -> Parameterization {
    Parameterization {
        name: parameter.name.into(),
        version: parameter.version.into(),
        value: parameter.value.into(),
    }
}

pub(super) fn required_packages(required: RequiredPackages) -> pb::GetRequiredPackagesResponse {
    pb::GetRequiredPackagesResponse {
        packages: required
            .packages
            .into_iter()
            .map(package_dependency)
            .collect(),
        specs: required.unresolved.into_iter().map(package_spec).collect(),
    }
}

fn package_dependency(package: PackageDependency) -> pb::PackageDependency {
    let parameter = |parameter: Parameterization| pb::PackageParameterization {
        name: parameter.name.to_string(),
        version: parameter.version.to_string(),
        value: parameter.value.to_vec(),
    };
    pb::PackageDependency {
        name: package.name,
        kind: package.kind.as_str().to_owned(),
        version: package
            .version
            .map(|version| format!("v{version}"))
            .unwrap_or_default(),
        server: package.server.unwrap_or_default(),
        checksums: package
            .checksums
            .into_iter()
            .map(|(platform, sum)| (platform.to_string(), bytes_of(&sum)))
            .collect(),
        parameterization: package.parameterization.map(parameter),
        extension: package.extension.map(parameter),
    }
}

fn bytes_of(hex: &EcoString) -> Vec<u8> {
    (0..hex.len() / 2)
        .filter_map(|at| u8::from_str_radix(hex.get(at * 2..at * 2 + 2)?, 16).ok())
        .collect()
}

fn package_spec(source: PackageSource) -> pb::PackageSpec {
    pb::PackageSpec {
        source: source.source,
        version: source.version,
        parameters: source.parameters,
        ..pb::PackageSpec::default()
    }
}

pub(super) fn option_prompt(prompt: OptionPrompt) -> pb::RuntimeOptionPrompt {
    let choices: Vec<RuntimeOptionValue> = prompt.choices.into_iter().map(option_choice).collect();
    let default = prompt.default.map(option_choice);
    let kind = choices.first().or(default.as_ref());
    pb::RuntimeOptionPrompt {
        key: prompt.key,
        description: prompt.description,
        prompt_type: kind.map_or(RuntimeOptionType::String as i32, |value| value.prompt_type),
        choices,
        default,
    }
}

fn option_choice(choice: OptionChoice) -> RuntimeOptionValue {
    let (kind, text, number) = match choice.value {
        OptionValue::Text(text) => (RuntimeOptionType::String, text, 0),
        OptionValue::Number(number) => (RuntimeOptionType::Int32, String::new(), number),
    };
    RuntimeOptionValue {
        prompt_type: kind as i32,
        string_value: text,
        int32_value: number,
        display_name: choice.display_name,
    }
}
