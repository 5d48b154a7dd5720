//! Conversion of language messages to and from protobuf.

use plumb_proto::pulumirpc as pb;
use plumb_resource::provider::Parameterization;
use plumb_wire::json::json_to_wire;

use super::{
    LinkDependency, LinkRequest, OptionChoice, OptionPrompt, OptionValue, PackageDependency,
    PackageSource, ProgramInfo, RequiredPackages, RunRequest,
};
use crate::discovery::{PluginKind, parse_tolerant};

pub(super) fn program_info(info: &ProgramInfo) -> pb::ProgramInfo {
    pb::ProgramInfo {
        root_directory: info.root_directory.to_string_lossy().into_owned(),
        program_directory: info.program_directory.to_string_lossy().into_owned(),
        entry_point: info.entry_point.clone(),
        options: Some(json_to_wire(&info.options)),
    }
}

#[expect(deprecated, reason = "older hosts read the deprecated fields")]
pub(super) fn run_request(request: RunRequest) -> pb::RunRequest {
    pb::RunRequest {
        project: request.project,
        stack: request.stack,
        pwd: request.working_directory.to_string_lossy().into_owned(),
        program: request.info.entry_point.clone(),
        args: request.args,
        config: request.config,
        dry_run: request.dry_run,
        parallel: request.parallel,
        monitor_address: request.monitor_address,
        config_secret_keys: request.config_secret_keys,
        organization: request.organization,
        info: Some(program_info(&request.info)),
        loader_target: request.loader_target,
        mapper_target: request.mapper_target,
        attach_debugger: request.attach_debugger,
        ..Default::default()
    }
}

pub(super) fn required_packages(response: pb::GetRequiredPackagesResponse) -> RequiredPackages {
    RequiredPackages {
        packages: response
            .packages
            .into_iter()
            .filter_map(package_dependency)
            .collect(),
        unresolved: response
            .specs
            .iter()
            .map(PackageSource::from_wire)
            .collect(),
    }
}

impl PackageSource {
    /// The package source in a message.
    pub fn from_wire(spec: &pb::PackageSpec) -> Self {
        PackageSource {
            source: spec.source.clone(),
            version: spec.version.clone(),
            parameters: spec.parameters.clone(),
            server: Some(spec.server.clone()).filter(|server| !server.is_empty()),
            checksums: hex_checksums(spec.checksums.clone()),
        }
    }
}

fn package_dependency(package: pb::PackageDependency) -> Option<PackageDependency> {
    Some(PackageDependency {
        kind: PluginKind::from_name(&package.kind)?,
        name: package.name,
        version: parse_tolerant(&package.version),
        server: Some(package.server).filter(|server| !server.is_empty()),
        checksums: hex_checksums(package.checksums),
        parameterization: package.parameterization.map(parameterization),
        extension: package.extension.map(parameterization),
    })
}

pub(super) fn plugin_dependency(plugin: pb::PluginDependency) -> Option<PackageDependency> {
    Some(PackageDependency {
        kind: PluginKind::from_name(&plugin.kind)?,
        name: plugin.name,
        version: parse_tolerant(&plugin.version),
        server: Some(plugin.server).filter(|server| !server.is_empty()),
        checksums: hex_checksums(plugin.checksums),
        parameterization: None,
        extension: None,
    })
}

fn hex_checksums(
    checksums: std::collections::BTreeMap<String, Vec<u8>>,
) -> std::collections::BTreeMap<ecow::EcoString, ecow::EcoString> {
    use std::fmt::Write;
    checksums
        .into_iter()
        .map(|(platform, bytes)| {
            let mut hex = ecow::EcoString::new();
            for byte in bytes {
                // Writing to a string cannot fail.
                let _ = write!(hex, "{byte:02x}");
            }
            (platform.into(), hex)
        })
        .collect()
}

fn parameterization(parameter: pb::PackageParameterization) -> Parameterization {
    Parameterization {
        name: parameter.name.into(),
        version: parameter.version.into(),
        value: parameter.value.into(),
    }
}

impl PackageDependency {
    /// The message, without checksums.
    pub fn into_wire(self) -> pb::PackageDependency {
        let parameter = |parameter: Parameterization| pb::PackageParameterization {
            name: parameter.name.to_string(),
            version: parameter.version.to_string(),
            value: parameter.value.to_vec(),
        };
        let version = self.version.map(|version| version.to_string());
        pb::PackageDependency {
            name: self.name,
            kind: self.kind.as_str().to_owned(),
            version: version.unwrap_or_default(),
            server: self.server.unwrap_or_default(),
            parameterization: self.parameterization.map(parameter),
            extension: self.extension.map(parameter),
            ..pb::PackageDependency::default()
        }
    }
}

pub(super) fn link_request(request: LinkRequest) -> pb::LinkRequest {
    let dependency = |dependency: LinkDependency| pb::link_request::LinkDependency {
        path: dependency.path.to_string_lossy().into_owned(),
        package: Some(dependency.package.into_wire()),
    };
    pb::LinkRequest {
        info: Some(program_info(&request.info)),
        loader_target: request.loader_target,
        packages: request.packages.into_iter().map(dependency).collect(),
    }
}

pub(super) fn option_prompt(prompt: pb::RuntimeOptionPrompt) -> OptionPrompt {
    OptionPrompt {
        key: prompt.key,
        description: prompt.description,
        choices: prompt.choices.into_iter().map(option_choice).collect(),
        default: prompt.default.map(option_choice),
    }
}

fn option_choice(value: pb::runtime_option_prompt::RuntimeOptionValue) -> OptionChoice {
    use pb::runtime_option_prompt::RuntimeOptionType;
    let is_number = value.prompt_type == RuntimeOptionType::Int32 as i32;
    OptionChoice {
        display_name: value.display_name,
        value: if is_number {
            OptionValue::Number(value.int32_value)
        } else {
            OptionValue::Text(value.string_value)
        },
    }
}
