//! Package of a command: its plugin and its schema.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use plumb_operate::operations::{InfoStream, StandaloneHost};
use plumb_operate::packages::{named, plugin_at};
use plumb_operate::{Context, Error};
use plumb_plugin::{PluginHost, is_repository};
use plumb_resource::provider::{Parameterization, PluginSpec, ProviderError};
use plumb_schema::PackageSchema;
use plumb_state::{SnippetDescriptor, SnippetParameterization};

use plumb_automation::values::Secrets;

/// An open package.
pub struct Package {
    /// Host that runs its plugin.
    pub standalone_host: StandaloneHost,
    /// Its schema.
    pub schema: Arc<PackageSchema>,
    /// The plugin, with the package's parameterization.
    pub spec: PluginSpec,
    /// Whether the package was named by a local path.
    pub is_path: bool,
}

impl Package {
    /// Opens the package described by `text`: a name with an optional version, a path, or the URL of a repository, followed
    /// by parameters in shell syntax.
    pub fn open(
        text: &str,
        secrets: Secrets,
        info: InfoStream,
        ctx: &Context,
    ) -> Result<Self, Error> {
        let words = shlex::split(text).ok_or_else(|| {
            Error::user(format!(
                "the package {text:?} has a quote that is not closed"
            ))
        })?;
        let Some((source, parameters)) = words.split_first() else {
            return Err(Error::user("--package needs the name of a package"));
        };
        let path = ctx.environment.cwd.join(source);
        let is_path = source.starts_with(['.', '/']) || path.is_dir();
        let plugin = is_path.then(|| plugin_at(&path)).transpose()?;
        let spec = match &plugin {
            Some(plugin) => Some(PluginSpec::named(&plugin.name)),
            None if is_repository(source) => None,
            None => Some(named(source)?),
        };
        let mut standalone_host =
            StandaloneHost::open(ctx, plugin.into_iter().collect(), secrets, info)?;
        let host = standalone_host.host();
        let opened = standalone_host.run(async {
            let spec = match spec {
                Some(spec) => spec,
                None => located(&host, source).await?,
            };
            load(&host, spec, parameters).await
        });
        match opened {
            Ok((spec, schema)) => Ok(Package {
                standalone_host,
                schema: Arc::new(schema),
                spec,
                is_path,
            }),
            Err(error) => {
                standalone_host.close();
                Err(error)
            }
        }
    }

    /// Descriptor of the package in snippets.
    pub fn descriptor(&self) -> SnippetDescriptor {
        let spec = &self.spec;
        let version = spec.version.as_ref().map(ToString::to_string);
        let parameter = spec.parameterization.as_ref();
        SnippetDescriptor {
            name: spec.name.clone(),
            version: version.unwrap_or_default().into(),
            download_url: spec.download_url.clone().unwrap_or_default(),
            parameterization: parameter.map(|it| SnippetParameterization {
                name: it.name.clone(),
                version: it.version.clone(),
                value: it.value.clone(),
            }),
        }
    }
}

async fn located(host: &PluginHost, source: &str) -> Result<PluginSpec, Error> {
    let Some(acquire) = &host.options().acquire else {
        return Err(Error::user("plugins are not got from repositories here"));
    };
    let located = acquire.locate(source).await;
    located.map_err(|error| Error::user(plumb_operate::error::chain(error.as_ref())))
}

async fn load(
    host: &PluginHost,
    mut spec: PluginSpec,
    parameters: &[String],
) -> Result<(PluginSpec, PackageSchema), Error> {
    let name = spec.name.clone();
    let failed =
        |error: ProviderError| Error::user(format!("the plugin {name}: {}", error.message));
    let text = if parameters.is_empty() {
        host.schema(&spec).await?
    } else {
        let provider = host.provider(&spec).await?;
        let made = provider.parameterize_with_args(parameters).await;
        let (package, version) = made.map_err(failed)?;
        let subpackage = Some((package.as_str(), version.as_str()));
        let text = provider.get_schema(subpackage).await.map_err(failed)?;
        spec.parameterization = Some(Parameterization {
            name: package.into(),
            version: version.into(),
            value: Arc::from([]),
        });
        text.map(Into::into)
    };
    let text: Arc<str> =
        text.ok_or_else(|| Error::user(format!("the plugin {name} has no schema")))?;
    let schema = PackageSchema::parse(text)?;
    match (&mut spec.parameterization, schema.parameterization()) {
        (Some(parameter), Some(told)) => {
            let value = STANDARD.decode(told.parameter.as_deref().unwrap_or_default());
            let value = value.map_err(|error| {
                Error::user(format!(
                    "the parameter in the schema of {name} is not base64: {error}"
                ))
            })?;
            parameter.value = value.into();
        }
        (None, None) => {}
        (None, Some(_)) => {
            return Err(Error::user(format!(
                "the package {} is made of the plugin {name} by parameters; give them behind the plugin, as in --package \
                 \"{name} PARAMETER\"",
                schema.name()
            )));
        }
        (Some(_), None) => {
            return Err(Error::user(format!(
                "parameters were given, and the schema of {name} does not say that a package was made of them"
            )));
        }
    }
    Ok((spec, schema))
}
