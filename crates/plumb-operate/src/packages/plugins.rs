//! Plugins that run to return the schemas of their packages.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use plumb_plugin::discovery::{ProjectPlugin, Repository};
use plumb_plugin::{PluginHost, is_repository};
use plumb_resource::provider::{PluginSpec, ProviderError};
use plumb_schema::{Document, Format, PackageSchema, Packages};

use super::host::host;
use super::schema_text::{Place, SchemaText};
use super::{discovery, named, path_of, plugin_at};
use crate::{Context, Error};

/// A requested package.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wanted<'a> {
    /// File, name or URL.
    pub source: &'a str,
    /// Arguments of a parameterization.
    pub parameters: &'a [String],
    /// Arguments of an extension, in shell syntax.
    pub extension: Option<&'a str>,
    /// Download URL for a missing plugin.
    pub server: Option<&'a str>,
}

/// Plugins that run only to return their schemas.
pub(super) struct Plugins {
    pub(super) host: PluginHost,
    pub(super) runtime: tokio::runtime::Runtime,
}

impl Plugins {
    pub(super) fn new(ctx: &Context) -> Result<Self, Error> {
        Self::with_plugins(ctx, project_plugins(ctx)?)
    }

    pub(super) fn with_plugins(ctx: &Context, plugins: Vec<ProjectPlugin>) -> Result<Self, Error> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        Ok(Plugins {
            host: host(ctx, plugins)?,
            runtime,
        })
    }

    /// Schema of a plugin, with a parameterization if there is one.
    fn schema_text(self, spec: &PluginSpec, wanted: Wanted<'_>) -> Result<SchemaText, Error> {
        let source = wanted.source;
        let asked = self.runtime.block_on(self.ask(spec, wanted));
        self.runtime.block_on(self.host.shutdown());
        let (text, version) = asked?;
        let text = text.ok_or_else(|| Error::user(format!("the plugin {source} has no schema")))?;
        Ok(SchemaText::of_json(text, source, version))
    }

    async fn ask(
        &self,
        spec: &PluginSpec,
        wanted: Wanted<'_>,
    ) -> Result<(Option<String>, Option<semver::Version>), Error> {
        let calls = wanted.calls()?;
        if calls.is_empty()
            && let Some(version) = self.host.cached_version(spec)
        {
            let text = self.host.schema(spec).await?;
            return Ok((text.map(|text| text.to_string()), Some(version)));
        }
        let provider = self.host.provider(spec).await?;
        let failed = |error: ProviderError| {
            Error::user(format!("the plugin {}: {}", spec.name, error.message))
        };
        if calls.is_empty() {
            let text = provider.get_schema(None).await.map_err(failed)?;
            let told = provider.info().await.ok().and_then(|info| info.version);
            return Ok((text, spec.version.clone().or(told)));
        }
        let (mut name, mut version) = Default::default();
        for words in &calls {
            let applied = provider.parameterize_with_args(words).await;
            (name, version) = applied.map_err(failed)?;
        }
        let subpackage = Some((name.as_str(), version.as_str()));
        let text = provider.get_schema(subpackage).await.map_err(failed)?;
        if let Some(text) = &text {
            check_parameterized(text, &name, wanted.extension.is_some())?;
        }
        Ok((text, None))
    }
}

/// Cached schema file of a plugin, and the plugin's version.
pub fn schema_file(source: &str, ctx: &Context) -> Option<(PathBuf, semver::Version)> {
    let is_path = source.contains('/') || ctx.environment.cwd.join(source).is_dir();
    let spec = named(source).ok().filter(|_| !is_path)?;
    host(ctx, project_plugins(ctx).ok()?)
        .ok()?
        .schema_file(&spec)
}

/// Schemas of packages; `None` for packages without one.
pub async fn schemas(
    specs: &[PluginSpec],
    ctx: &Context,
) -> Result<Vec<Option<Arc<PackageSchema>>>, Error> {
    let host = host(ctx, project_plugins(ctx)?)?;
    let mut known: BTreeMap<String, Option<Arc<PackageSchema>>> = BTreeMap::new();
    let mut found = Vec::new();
    for spec in specs {
        let key = format!("{spec:?}");
        if !known.contains_key(&key) {
            let text = host.schema(spec).await.unwrap_or_default();
            let schema = text.and_then(|text| PackageSchema::parse(text).ok());
            known.insert(key.clone(), schema.map(Arc::new));
        }
        found.push(known[&key].clone());
    }
    host.shutdown().await;
    Ok(found)
}

/// Plugins named in the project file.
fn project_plugins(ctx: &Context) -> Result<Vec<ProjectPlugin>, Error> {
    Ok(discovery(&ctx.environment, ctx.find_project()?).project)
}

/// Checks that the schema of a parameterized package contains exactly one parameterization, and has the name
/// that the plugin returned.
fn check_parameterized(text: &str, name: &str, is_extension: bool) -> Result<(), Error> {
    let document = Document::read(text, Format::Json)
        .map_err(|problem| Error::user(format!("the schema of {name}: {problem}")))?;
    let root = document.root();
    let has = |key: &str| root.get(key).is_some();
    match (has("parameterization"), has("extensionParameterization")) {
        (true, true) => Err(Error::user(
            "the schema has both parameterization and extensionParameterization",
        )),
        (false, false) => Err(Error::user(
            "the schema has neither parameterization nor extensionParameterization, although parameters were given",
        )),
        (true, false) if is_extension => Err(Error::user(
            "the schema has no extensionParameterization: the parameters make another package, and no extension; give them \
             behind the package",
        )),
        _ => {
            let told = root.get("name").and_then(|name| name.as_str());
            let told = told.unwrap_or_default();
            if told == name {
                return Ok(());
            }
            Err(Error::user(format!(
                "the plugin made package {name:?}, and its schema is that of {told:?}"
            )))
        }
    }
}

impl Wanted<'_> {
    /// Argument lists for the parameterization calls to the provider.
    fn calls(&self) -> Result<Vec<Vec<String>>, Error> {
        let mut calls = Vec::new();
        if !self.parameters.is_empty() {
            calls.push(self.parameters.to_vec());
        }
        if let Some(text) = self.extension {
            let words = shlex::split(text).ok_or_else(|| {
                Error::user(format!(
                    "the extension {text:?} has a quote that is not closed"
                ))
            })?;
            calls.push(words);
        }
        Ok(calls)
    }
}

/// Schema of a plugin, given by name with an optional version, by path, or by the repository of its sources.
pub(super) fn of_plugin(wanted: Wanted<'_>, ctx: &Context) -> Result<SchemaText, Error> {
    let source = wanted.source;
    if let Some(path) = path_of(source, &ctx.environment.cwd) {
        let plugin = plugin_at(&path)?;
        let spec = PluginSpec::named(&plugin.name);
        let plugins = Plugins::with_plugins(ctx, vec![plugin])?;
        return plugins.schema_text(&spec, wanted);
    }
    let plugins = Plugins::new(ctx)?;
    if is_repository(source) {
        return of_repository(plugins, wanted);
    }
    if source.contains('/') {
        return Err(Error::user(format!(
            "{source} is neither a folder nor the address of a repository (HOST/OWNER/REPOSITORY)"
        )));
    }
    let spec = PluginSpec {
        download_url: wanted.server.map(Into::into),
        ..named(source)?
    };
    let schema = plugins.schema_text(&spec, wanted)?;
    let place = wanted
        .server
        .map_or(Place::Unsaid, |server| Place::Server(server.to_owned()));
    Ok(schema.at(place))
}

fn of_repository(plugins: Plugins, wanted: Wanted<'_>) -> Result<SchemaText, Error> {
    if wanted.server.is_some() {
        return Err(Error::user(
            "a repository is where the package comes from; leave --server out",
        ));
    }
    let repository =
        Repository::parse(wanted.source).map_err(|error| Error::user(error.to_string()))?;
    let Some(acquire) = plugins.host.options().acquire.clone() else {
        return Err(Error::user("plugins are not got from repositories here"));
    };
    let located = plugins.runtime.block_on(acquire.locate(wanted.source));
    let spec = located.map_err(|error| Error::user(crate::error::chain(error.as_ref())))?;
    let version = spec.version.clone();
    let schema = plugins.schema_text(&spec, wanted)?;
    let is_plain = wanted.parameters.is_empty() && wanted.extension.is_none();
    let version = version.filter(|_| is_plain);
    Ok(schema
        .with_version(version)
        .at(Place::Repository(repository)))
}

impl Packages for Plugins {
    fn find(&self, name: &str, version: Option<&semver::Version>) -> Option<Arc<PackageSchema>> {
        let spec = PluginSpec {
            version: version.cloned(),
            ..PluginSpec::named(name)
        };
        let text = self.runtime.block_on(self.host.schema(&spec)).ok()??;
        Some(Arc::new(PackageSchema::parse(text).ok()?))
    }
}
