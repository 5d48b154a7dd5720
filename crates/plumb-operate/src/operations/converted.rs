//! `import --from` (`cli.md` 3.6): resources from the state of another system, reported by a converter.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use plumb_deploy::request::{Reply, Request, RequestError, RequestErrorKind};
use plumb_deploy::setup::{Options, Phase};
use plumb_engine::monitor::{DebugMessages, ResourceMonitor};
use plumb_engine::{Shell, SourceContext};
use plumb_events::Severity;
use plumb_plugin::{ConvertedParameter, ConvertedResource, ConvertedState, ConverterMessage};
use plumb_resource::Urn;
use serde_json::json;

use super::import::{Listing, from_file};
use super::import_document::{FileExtension, FileParameterization, FileResource, ImportFile};
use super::request::Conversion;
use super::session::Session;
use crate::json::{Indent, pretty};
use crate::terraform;
use crate::{Context, Error, Printer};

/// Prints what a converter told; errors end the conversion.
pub fn tell(messages: &[ConverterMessage], ctx: &Context) -> Result<(), Error> {
    let mut is_error = false;
    for message in messages {
        if message.is_error {
            is_error = true;
            ctx.printer.error(&message.text);
        } else {
            ctx.printer.warning(&message.text);
        }
    }
    if is_error {
        return Err(Error::user("conversion failed"));
    }
    Ok(())
}

/// Resources that a converter found.
pub(super) struct Converted {
    pub(super) listing: Listing,
    file: ImportFile,
    /// Whether the converter reported inputs or outputs. They are not written to the import file, because they may be
    /// secret.
    has_values: bool,
}

impl Converted {
    /// Runs the converter. The resources are to be protected if `protects` is on.
    pub(super) async fn of(
        ctx: &Context,
        conversion: &Conversion,
        protects: bool,
        session: &Session<'_>,
    ) -> Result<Self, Error> {
        let name = &conversion.converter;
        let state = convert(ctx, name, &conversion.arguments, session).await?;
        tell(&state.messages, ctx)?;
        if state.resources.is_empty() {
            return Err(Error::user(format!(
                "converter {name:?} found no resources to import"
            )));
        }
        let file = ImportFile {
            resources: state.resources.iter().map(entry).collect(),
            ..ImportFile::default()
        };
        let mut resources = state.resources.iter();
        let mut converted = Converted {
            has_values: resources.any(|it| it.inputs.is_some() || it.outputs.is_some()),
            listing: Listing::default(),
            file,
        };
        let (stack, project) = (session.stack.name(), session.stack.project_name());
        let listing = from_file(&converted.file, protects, stack, project);
        converted.listing = match listing {
            Ok(listing) => listing,
            Err(error) => {
                converted.write(ctx, conversion.file.as_deref(), true)?;
                return Err(error);
            }
        };
        // Both lists have one entry per resource, in the same order.
        let specs = converted.listing.specs.iter_mut();
        for (spec, resource) in specs.zip(&state.resources) {
            spec.inputs.clone_from(&resource.inputs);
            spec.outputs.clone_from(&resource.outputs);
        }
        Ok(converted)
    }

    /// Writes the import file to the path in `wanted`, or else to a new file, and prints its path. `failed` selects the
    /// message.
    pub(super) fn write(
        &self,
        ctx: &Context,
        wanted: Option<&str>,
        failed: bool,
    ) -> Result<(), Error> {
        let cwd = &ctx.environment.cwd;
        let text = pretty(&json!({ "resources": self.file.resources }), Indent::Two);
        let path = match wanted {
            Some(name) => {
                let path = cwd.join(name);
                std::fs::write(&path, text)
                    .map_err(|error| Error::from(error).context(path.display()))?;
                path
            }
            None => write_new(cwd, &text)?,
        };
        let path = path.display();
        let told = if failed {
            format!("Generated import file written out, edit and rerun import with --file {path}")
        } else {
            format!("Generated import file written out to {path}")
        };
        ctx.printer.info(&told);
        if self.has_values {
            ctx.printer.warning(
                "the values that the converter told are not in the file: there may be secrets among them",
            );
        }
        Ok(())
    }
}

fn write_new(folder: &std::path::Path, text: &str) -> Result<PathBuf, Error> {
    use std::io::Write as _;
    let mut file = tempfile::Builder::new()
        .prefix("pulumi-import-")
        .suffix(".json")
        .tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    let (_, path) = file.keep().map_err(|error| error.error)?;
    Ok(path)
}

async fn convert(
    ctx: &Context,
    name: &str,
    words: &[String],
    session: &Session<'_>,
) -> Result<ConvertedState, Error> {
    let project_environment = &session.project_environment;
    let info = session.program_info(&Options::new(Phase::Preview));
    let source = SourceContext {
        root: project_environment.root.clone(),
        working_directory: project_environment.program_directory.clone(),
        version: crate::semantic_version(),
    };
    let debug = DebugMessages::Dropped;
    let shell = Shell::listen(&info, source, debug).await?;
    let monitor = Arc::new(Messages::new(ctx.printer.clone(), InfoStream::Stderr));
    let host = Arc::new(project_environment.plugin_host(shell.address(), monitor, debug)?);
    shell.serve(&host);
    let converted = match host.converter(name).await {
        Ok(converter) => {
            let state = converter.convert_state(shell.address(), words).await;
            state.map_err(Error::from)
        }
        Err(_) if terraform::is_named(name) => {
            let folder = &ctx.environment.cwd;
            terraform::state(words, folder, &host, &ctx.printer).await
        }
        Err(error) => {
            Err(Error::from(error).context(format_args!("load converter plugin: load {name:?}")))
        }
    };
    host.shutdown().await;
    shell.close().await;
    converted
}

/// An entry of an import file.
fn entry(resource: &ConvertedResource) -> FileResource {
    let parameter = |it: &ConvertedParameter| FileParameterization {
        plugin_name: it.name.clone(),
        plugin_version: it.version.clone(),
        value: STANDARD.encode(&it.value),
    };
    let extension = |it: &ConvertedParameter| FileExtension {
        name: it.name.clone(),
        version: it.version.clone(),
        value: STANDARD.encode(&it.value),
    };
    FileResource {
        r#type: resource.type_token.clone(),
        name: resource.name.clone(),
        id: resource.id.clone(),
        parent: resource.parent.clone(),
        provider: resource.provider.clone(),
        version: resource.version.clone(),
        plugin_download_url: resource.download_url.clone(),
        logical_name: resource.logical_name.clone(),
        properties: resource.properties.clone(),
        component: resource.is_component,
        remote: resource.is_component && resource.is_remote,
        parameterization: resource.parameterization.as_ref().map(parameter),
        extension: resource.extension.as_ref().map(extension),
        inputs: None,
        outputs: None,
    }
}

/// Stream for messages of plugins that are neither warnings nor errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InfoStream {
    /// Apart from the result.
    Stderr,
    /// With the result, of which they are a part: for example, what a command has printed.
    Stdout,
}

/// Prints messages of plugins; refuses requests, because nothing is being deployed.
pub(super) struct Messages {
    printer: Arc<Printer>,
    info: InfoStream,
}

impl Messages {
    pub(super) fn new(printer: Arc<Printer>, info: InfoStream) -> Self {
        Messages { printer, info }
    }
}

#[async_trait]
impl ResourceMonitor for Messages {
    async fn request(&self, _: Request) -> Reply {
        let refusal = "nothing is being deployed";
        Reply::Failed(RequestError::new(
            RequestErrorKind::FailedPrecondition,
            refusal,
        ))
    }

    fn log(&self, severity: Severity, _: Option<&Urn>, message: &str) {
        match severity {
            Severity::Error => self.printer.error(message),
            Severity::Warning => self.printer.warning(message),
            Severity::Info if self.info == InfoStream::Stdout => self.printer.line(message),
            Severity::Info | Severity::InfoErr => self.printer.info(message),
            Severity::Debug => {}
        }
    }
}
