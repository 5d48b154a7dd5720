//! Converters: plugins that read programs and state of other tools (`protocol.md` 12).

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use plumb_proto::pulumirpc as pb;
use plumb_proto::pulumirpc::codegen as pb_codegen;
use plumb_proto::pulumirpc::converter_client::ConverterClient;
use plumb_resource::provider::PluginSpec;
use plumb_value::PropertyMap;
use plumb_wire::property::{decode_map, peers};
use tonic::{Code, Status};

use crate::discovery::{FindError, PluginKind};
use crate::host::launch::{Sources, start_run};
use crate::host::{HostError, PluginHost, environment};
use crate::output::OutputLevel;
use crate::process::{Launch, Process, start_with_port};
use crate::trace_context::Connection;

/// Time for a converter's process to be reaped after its connection broke.
const GRACE: Duration = Duration::from_secs(1);

/// Client for a converter in a process of its own. Dropping it ends the process.
pub struct GrpcConverter {
    name: String,
    client: ConverterClient<Connection>,
    process: Process,
}

/// Errors of a conversion.
#[derive(Debug, thiserror::Error)]
pub enum ConverterError {
    /// The converter reported an error.
    #[error("converter {converter:?} failed: {message}")]
    Call {
        /// Name of the converter.
        converter: String,
        /// Message of the converter.
        message: String,
    },
    /// The converter cannot convert this, or is older than this call.
    #[error("converter {converter:?} cannot convert {what}")]
    Unsupported {
        /// Name of the converter.
        converter: String,
        /// Subject of the conversion: state or programs.
        what: &'static str,
    },
    /// The converter ended before it answered.
    #[error("converter {converter:?} ended too early ({exit}){}", shown(output))]
    Ended {
        /// Name of the converter.
        converter: String,
        /// Exit of the process.
        exit: String,
        /// Last output of the process.
        output: String,
    },
    /// The answer holds values that cannot be decoded.
    #[error("converter {converter:?} gives resource {resource:?} values that cannot be read")]
    Values {
        /// Name of the converter.
        converter: String,
        /// The resource.
        resource: String,
        /// Cause.
        #[source]
        source: plumb_wire::Error,
    },
}

fn shown(output: &str) -> String {
    if output.is_empty() {
        String::new()
    } else {
        format!(":\n{output}")
    }
}

/// A program for a converter.
#[derive(Clone, Copy, Debug)]
pub struct ProgramToConvert<'a> {
    /// Folder of the program.
    pub source: &'a Path,
    /// Folder for the files in PCL, and for a description of the project.
    pub target: &'a Path,
    /// Folder of the project that is made of these files, for paths between it and the program.
    pub project: &'a Path,
    /// Arguments, which mean what the converter says.
    pub args: &'a [String],
}

/// A converted resource of another tool.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConvertedResource {
    /// Type token.
    pub type_token: String,
    /// Name by which other entries refer to the resource.
    pub name: String,
    /// Id of the resource; empty for components.
    pub id: String,
    /// Version of the provider, or of the parameterized package.
    pub version: String,
    /// Address to download the provider from.
    pub download_url: String,
    /// Actual name of the resource, if it differs from `name`.
    pub logical_name: String,
    /// Whether it is a component.
    pub is_component: bool,
    /// Whether the component is remote, that is, constructed by a provider.
    pub is_remote: bool,
    /// Name of the parent's entry.
    pub parent: String,
    /// Name of the provider's entry.
    pub provider: String,
    /// Names of the inputs to keep.
    pub properties: Vec<String>,
    /// Parameter that turns another plugin's package into that of the type.
    pub parameterization: Option<ConvertedParameter>,
    /// Package that extends that of the type.
    pub extension: Option<ConvertedParameter>,
    /// Inputs that cannot be read from the object.
    pub inputs: Option<PropertyMap>,
    /// Outputs; if they are given, the object is not read.
    pub outputs: Option<PropertyMap>,
}

/// A parameterized package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConvertedParameter {
    /// Name of the plugin, or of the package.
    pub name: String,
    /// Version of the plugin or package.
    pub version: String,
    /// The parameter.
    pub value: Vec<u8>,
}

/// A diagnostic of a converter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConverterMessage {
    /// Whether the diagnostic is an error: its subject could not be converted.
    pub is_error: bool,
    /// Text, with the position if there is one.
    pub text: String,
}

/// State of another tool, as resources to import.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConvertedState {
    /// The resources.
    pub resources: Vec<ConvertedResource>,
    /// Diagnostics.
    pub messages: Vec<ConverterMessage>,
}

impl GrpcConverter {
    /// Converts a state; `args` select it in the converter's own way. The converter loads schemas and mappings from the
    /// engine at the address `engine`.
    pub async fn convert_state(
        &self,
        engine: &str,
        args: &[String],
    ) -> Result<ConvertedState, ConverterError> {
        let request = pb::ConvertStateRequest {
            mapper_target: engine.to_owned(),
            loader_target: engine.to_owned(),
            args: args.to_vec(),
            ..Default::default()
        };
        let response = match self.client.clone().convert_state(request).await {
            Ok(response) => response.into_inner(),
            Err(status) => return Err(self.failure(&status, "state").await),
        };
        let resources = response.resources.into_iter();
        Ok(ConvertedState {
            resources: resources
                .map(|resource| self.resource(resource))
                .collect::<Result<_, _>>()?,
            messages: response.diagnostics.into_iter().map(message).collect(),
        })
    }

    /// Converts a program to files in PCL; returns diagnostics. The converter loads schemas and mappings from the engine at
    /// the address `engine`.
    pub async fn convert_program(
        &self,
        engine: &str,
        program: &ProgramToConvert<'_>,
    ) -> Result<Vec<ConverterMessage>, ConverterError> {
        let path = |path: &Path| path.to_string_lossy().into_owned();
        let request = pb::ConvertProgramRequest {
            source_directory: path(program.source),
            target_directory: path(program.target),
            mapper_target: engine.to_owned(),
            loader_target: engine.to_owned(),
            args: program.args.to_vec(),
            generated_project_directory: path(program.project),
        };
        match self.client.clone().convert_program(request).await {
            Ok(response) => {
                let diagnostics = response.into_inner().diagnostics;
                Ok(diagnostics.into_iter().map(message).collect())
            }
            Err(status) => Err(self.failure(&status, "programs").await),
        }
    }

    async fn failure(&self, status: &Status, what: &'static str) -> ConverterError {
        let converter = self.name.clone();
        if status.code() == Code::Unavailable
            && let Ok(exit) = tokio::time::timeout(GRACE, self.process.wait()).await
        {
            return ConverterError::Ended {
                converter,
                exit: exit.to_string(),
                output: self.process.last_output().join("\n"),
            };
        }
        if status.code() == Code::Unimplemented {
            return ConverterError::Unsupported { converter, what };
        }
        ConverterError::Call {
            converter,
            message: status.message().trim().to_owned(),
        }
    }

    fn resource(&self, resource: pb::ResourceImport) -> Result<ConvertedResource, ConverterError> {
        let name = resource.name.clone();
        let values = |map: Option<&_>| {
            let decoded = map.map(|map| decode_map(Some(map), peers::CONVERTER));
            decoded
                .transpose()
                .map_err(|source| ConverterError::Values {
                    converter: self.name.clone(),
                    resource: name.clone(),
                    source,
                })
        };
        Ok(ConvertedResource {
            inputs: values(resource.inputs.as_ref())?,
            outputs: values(resource.outputs.as_ref())?,
            type_token: resource.r#type,
            name: resource.name,
            id: resource.id,
            version: resource.version,
            download_url: resource.plugin_download_url,
            logical_name: resource.logical_name,
            is_component: resource.is_component,
            is_remote: resource.is_remote,
            parent: resource.parent,
            provider: resource.provider,
            properties: resource.properties,
            parameterization: resource.parameterization.map(|it| ConvertedParameter {
                name: it.plugin_name,
                version: it.plugin_version,
                value: it.value,
            }),
            extension: resource.extension.map(|it| ConvertedParameter {
                name: it.name,
                version: it.version,
                value: it.value,
            }),
        })
    }
}

fn message(diagnostic: pb_codegen::Diagnostic) -> ConverterMessage {
    let warning = pb_codegen::DiagnosticSeverity::DiagWarning as i32;
    let mut text = diagnostic.summary;
    if !diagnostic.detail.is_empty() {
        text = format!("{text}; {}", diagnostic.detail);
    }
    if let Some(range) = diagnostic
        .subject
        .filter(|range| !range.filename.is_empty())
    {
        let (line, column) = range
            .start
            .map_or((0, 0), |start| (start.line, start.column));
        text = format!("{}:{line}:{column}: {text}", range.filename);
    }
    ConverterMessage {
        is_error: diagnostic.severity != warning,
        text,
    }
}

impl PluginHost {
    /// Starts the converter called `name`. A missing converter is downloaded, if that is allowed.
    pub async fn converter(&self, name: &str) -> Result<GrpcConverter, HostError> {
        let spec = PluginSpec::named(name);
        let kind = PluginKind::Converter;
        let found = match self.find(kind, &spec) {
            Ok(found) => found,
            Err(missing @ FindError::NotFound { .. }) => {
                self.acquired_of(kind, &spec, missing).await?
            }
            Err(error) => return Err(error.into()),
        };
        let found = self.admitted(found).await?;
        let title = format!("{name} (converter)");
        let launch = Launch {
            source: Arc::from(kind.file_name(name)),
            program: found.executable.clone(),
            args: self.arguments(Vec::new()),
            environment: environment::with_runtime_options(self.options()),
            working_directory: self.options().working_directory.clone(),
            level: OutputLevel::Info,
            keep_blank_lines: false,
            output: self.options().output.clone(),
        };
        let started = match found.source_directory() {
            None => start_with_port(&title, launch, self.options().timeouts).await,
            Some(directory) => {
                let sources = Sources {
                    kind,
                    name,
                    directory,
                    args: Vec::new(),
                    environment: launch.environment.clone(),
                    attach_debugger: false,
                };
                let run = self.run_sources(sources).await?;
                start_run(&title, launch, run, self.options().timeouts.for_sources()).await
            }
        };
        let (process, channel) = started.map_err(Box::new)?;
        Ok(GrpcConverter {
            name: name.to_owned(),
            client: ConverterClient::new(channel)
                .max_decoding_message_size(plumb_proto::MAX_MESSAGE_SIZE),
            process,
        })
    }
}
