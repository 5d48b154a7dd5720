//! Schema of a package: from a file, standard input, or a plugin (`schema.md` 1).

use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use plumb_plugin::discovery::{Cache, ProjectPlugin, Repository, parse_tolerant};
use plumb_plugin::process::PluginTimeouts;
use plumb_plugin::{
    Discovery, HostOptions, OutputStream, PluginHost, PluginKind, ServiceAddresses, is_repository,
    parse_attachments,
};
use plumb_providers::{BuiltinContext, LogRecord, LogSeverity, LogSink};
use plumb_resource::provider::{PluginSpec, ProviderError};
use plumb_schema::{BindOptions, Bound, Document, Format, PackageSchema, Packages, bind};

use super::local;
use crate::acquire::{Demands, language_options, output_to, unasked};
use crate::operate::{discovery, log_arguments};
use crate::{Context, Error, Printer};

/// A schema's text, with its source.
pub(crate) struct SchemaText {
    text: String,
    format: Format,
    /// Name of the source in messages.
    origin: String,
    /// Version of the plugin, for schemas without a version.
    version: Option<semver::Version>,
    /// Source of the plugin, if the user has named one.
    place: Place,
}

/// Source of a plugin.
#[derive(Debug, Default)]
enum Place {
    /// As given in its schema.
    #[default]
    Unsaid,
    Server(String),
    Repository(Repository),
}

/// A requested package.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Wanted<'a> {
    /// File, name or URL.
    pub(crate) source: &'a str,
    /// Arguments of a parameterization.
    pub(crate) parameters: &'a [String],
    /// Arguments of an extension, in shell syntax.
    pub(crate) extension: Option<&'a str>,
    /// Download URL for a missing plugin.
    pub(crate) server: Option<&'a str>,
}

impl SchemaText {
    /// Loads the schema of `source`, with the parameterization `parameters`.
    pub(crate) fn load(source: &str, parameters: &[String], ctx: &Context) -> Result<Self, Error> {
        Self::load_from(source, parameters, None, ctx)
    }

    /// Loads like [`SchemaText::load`]; a missing plugin is downloaded from `server`.
    pub(crate) fn load_from(
        source: &str,
        parameters: &[String],
        server: Option<&str>,
        ctx: &Context,
    ) -> Result<Self, Error> {
        let wanted = Wanted {
            source,
            parameters,
            extension: None,
            server,
        };
        Self::load_wanted(wanted, ctx)
    }

    /// Loads the schema of a package.
    pub(crate) fn load_wanted(wanted: Wanted<'_>, ctx: &Context) -> Result<Self, Error> {
        let source = wanted.source;
        if let Some(format) = Format::of_file(source).filter(|_| !is_repository(source)) {
            if !wanted.parameters.is_empty() || wanted.extension.is_some() {
                let kind = source.rsplit('.').next().unwrap_or_default();
                return Err(Error::user(format!(
                    "parameterization arguments are not supported for {kind} files"
                )));
            }
            let path = ctx.environment.cwd.join(source);
            let bytes =
                fs::read(&path).map_err(|error| Error::user(crate::go::open(source, &error)))?;
            return Ok(Self::of_bytes(bytes, format, source));
        }
        of_plugin(wanted, ctx)
    }

    /// The schema of a package that is loaded already.
    pub(crate) fn of_package(package: &plumb_schema::PackageSchema) -> Self {
        let bytes = package.text().as_bytes().to_vec();
        Self::of_bytes(bytes, Format::Json, package.name())
    }

    /// Reads JSON from standard input.
    pub(crate) fn from_stdin() -> Result<Self, Error> {
        let mut bytes = Vec::new();
        std::io::stdin().lock().read_to_end(&mut bytes)?;
        Ok(Self::of_bytes(bytes, Format::Json, "<stdin>"))
    }

    /// A schema as JSON, derived from one from `origin`.
    pub(super) fn of_json(text: String, origin: &str, version: Option<semver::Version>) -> Self {
        SchemaText {
            text,
            format: Format::Json,
            origin: origin.to_owned(),
            version,
            place: Place::Unsaid,
        }
    }

    pub(super) fn format(&self) -> Format {
        self.format
    }

    pub(super) fn origin(&self) -> &str {
        &self.origin
    }

    pub(super) fn version(&self) -> Option<&semver::Version> {
        self.version.as_ref()
    }

    pub(crate) fn into_text(self) -> String {
        self.text
    }

    fn of_bytes(bytes: Vec<u8>, format: Format, origin: &str) -> Self {
        let text = String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        SchemaText {
            text,
            format,
            origin: origin.to_owned(),
            version: None,
            place: Place::Unsaid,
        }
    }

    /// The document.
    pub(crate) fn document(&self) -> Result<Document<'_>, Error> {
        let mut document = Document::read(&self.text, self.format).map_err(|problem| {
            let (line, column) = (problem.line, problem.column);
            Error::user(format!("{}:{line}:{column}: {problem}", self.origin))
        })?;
        if document.is_empty() {
            return Err(Error::user(format!("{} has no schema", self.origin)));
        }
        if let Some(version) = &self.version {
            document.fill_version(version);
        }
        self.place.write_into(&mut document, self.version.as_ref());
        Ok(document)
    }

    /// Binds the whole schema, and reports its errors.
    pub(crate) fn bind<'d>(
        &self,
        document: &'d Document<'d>,
        allow_dangling: bool,
        ctx: &Context,
    ) -> Result<Bound<'d>, Error> {
        let plugins = Plugins::new(ctx)?;
        let options = BindOptions {
            allow_dangling,
            packages: &plugins,
        };
        let bound = bind(document, options);
        for problem in &bound.problems {
            let (line, column) = (problem.line, problem.column);
            let text = format!("{}:{line}:{column}: {problem}", self.origin);
            if problem.is_error() {
                ctx.printer.error(&text);
            } else {
                ctx.printer.warning(&text);
            }
        }
        Ok(bound)
    }
}

impl Place {
    /// Writes the source of the plugin to the schema, so that SDKs contain it (`schema.md` 1).
    fn write_into(&self, document: &mut Document<'_>, version: Option<&semver::Version>) {
        match self {
            Place::Unsaid => {}
            Place::Server(server) => document.set_text("pluginDownloadURL", server),
            Place::Repository(repository) => {
                document.set_text("pluginDownloadURL", &repository.download_url());
                if document.root().get("namespace").is_none() {
                    document.set_text("namespace", &repository.owner());
                }
                // The version of a source plugin is the one that was fetched, even if its schema contains
                // another.
                if let Some(version) = version {
                    document.set_text("version", &version.to_string());
                }
            }
        }
    }
}

/// Plugins that run only to return their schemas.
struct Plugins {
    host: PluginHost,
    runtime: tokio::runtime::Runtime,
}

impl Plugins {
    fn new(ctx: &Context) -> Result<Self, Error> {
        Self::with_plugins(ctx, project_plugins(ctx)?)
    }

    fn with_plugins(ctx: &Context, plugins: Vec<ProjectPlugin>) -> Result<Self, Error> {
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

    async fn ask_mapping(
        &self,
        spec: &PluginSpec,
        ecosystem: &str,
        wanted: &str,
        parameters: &[String],
    ) -> Result<Option<Mapping>, Error> {
        let provider = self.host.provider(spec).await?;
        let failed = |error: ProviderError| {
            Error::user(format!("the plugin {}: {}", spec.name, error.message))
        };
        if !parameters.is_empty() {
            provider
                .parameterize_with_args(parameters)
                .await
                .map_err(failed)?;
        }
        let listed = provider.get_mappings(ecosystem).await.map_err(failed)?;
        let names = listed.unwrap_or_default();
        let name = match (wanted, names.as_slice()) {
            ("", [only]) => only.as_str(),
            ("", [_, _, ..]) => {
                return Err(Error::user(format!(
                    "the plugin {} has several mappings; say which one: {}",
                    spec.name,
                    names.join(", ")
                )));
            }
            (wanted, _) => wanted,
        };
        let found = provider
            .get_mapping(ecosystem, name)
            .await
            .map_err(failed)?;
        let version = provider.info().await.ok().and_then(|info| info.version);
        let plugin = match version {
            Some(version) => format!("{}@{version}", spec.name),
            None => spec.name.to_string(),
        };
        Ok(found
            .filter(|found| !found.data.is_empty())
            .map(|found| Mapping {
                plugin,
                provider: found.provider,
                data: found.data,
            }))
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
pub(super) fn schema_file(source: &str, ctx: &Context) -> Option<(PathBuf, semver::Version)> {
    let is_path = source.contains('/') || ctx.environment.cwd.join(source).is_dir();
    let spec = named(source).ok().filter(|_| !is_path)?;
    host(ctx, project_plugins(ctx).ok()?)
        .ok()?
        .schema_file(&spec)
}

/// Schemas of packages; `None` for packages without one.
pub(crate) async fn schemas(
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

/// A provider's mapping for a package of another ecosystem.
pub(crate) struct Mapping {
    /// Plugin and version.
    pub(crate) plugin: String,
    /// Package of the other ecosystem.
    pub(crate) provider: String,
    /// The mapping, in an opaque format.
    pub(crate) data: Vec<u8>,
}

/// Mapping of the plugin `source` for the package `wanted` of an ecosystem; an empty name matches any package.
pub(crate) fn mapping(
    ecosystem: &str,
    source: &str,
    wanted: &str,
    parameters: &[String],
    ctx: &Context,
) -> Result<Option<Mapping>, Error> {
    let path = local::path_of(source, &ctx.environment.cwd);
    let (plugins, spec) = if let Some(path) = path {
        let plugin = plugin_at(&path)?;
        let spec = PluginSpec::named(&plugin.name);
        (Plugins::with_plugins(ctx, vec![plugin])?, spec)
    } else {
        (Plugins::new(ctx)?, named(source)?)
    };
    let asked = plugins
        .runtime
        .block_on(plugins.ask_mapping(&spec, ecosystem, wanted, parameters));
    plugins.runtime.block_on(plugins.host.shutdown());
    asked
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
fn of_plugin(wanted: Wanted<'_>, ctx: &Context) -> Result<SchemaText, Error> {
    let source = wanted.source;
    if let Some(path) = local::path_of(source, &ctx.environment.cwd) {
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
    Ok(SchemaText { place, ..schema })
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
    Ok(SchemaText {
        version: version.filter(|_| is_plain),
        place: Place::Repository(repository),
        ..schema
    })
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

/// Plugin for `NAME` or `NAME@VERSION`.
pub(crate) fn named(source: &str) -> Result<PluginSpec, Error> {
    let Some((name, version)) = source.split_once('@') else {
        return Ok(PluginSpec::named(source));
    };
    let version = parse_tolerant(version)
        .ok_or_else(|| Error::user(format!("invalid plugin semver: {version}")))?;
    Ok(PluginSpec {
        version: Some(version),
        ..PluginSpec::named(name)
    })
}

/// Plugin at the path of its executable or its folder.
pub(crate) fn plugin_at(path: &Path) -> Result<ProjectPlugin, Error> {
    let program = if path.is_dir() {
        program_in(path)?
    } else {
        path.to_owned()
    };
    let file = program
        .file_stem()
        .and_then(|name| name.to_str())
        .unwrap_or_default();
    let name = file.strip_prefix("pulumi-resource-").unwrap_or(file);
    if name.is_empty() || !path.exists() {
        return Err(Error::user(format!(
            "there is no plugin at {}",
            path.display()
        )));
    }
    Ok(ProjectPlugin {
        kind: PluginKind::Resource,
        name: name.to_owned(),
        version: None,
        path: path.to_owned(),
    })
}

/// Executable in a folder; the folder itself if it contains sources.
fn program_in(folder: &Path) -> Result<PathBuf, Error> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry
            .file_name()
            .to_string_lossy()
            .starts_with("pulumi-resource-")
        {
            return Ok(entry.path());
        }
    }
    Ok(folder.canonicalize()?)
}

fn host(ctx: &Context, plugins: Vec<ProjectPlugin>) -> Result<PluginHost, Error> {
    let environment = ctx.environment.variables().clone();
    let attachments = |name: &str| parse_attachments(ctx.environment.get(name).unwrap_or_default());
    let printer = Arc::clone(&ctx.printer);
    let search_path = environment.get(std::ffi::OsStr::new("PATH")).cloned();
    let options = HostOptions {
        discovery: Discovery {
            project: plugins,
            search_path: search_path
                .filter(|_| !ctx.environment.is_on("PULUMI_IGNORE_AMBIENT_PLUGINS")),
            bundled: None,
            cache: Cache::new(ctx.environment.pulumi_home.join("plugins")),
            accept_newer: ctx.environment.is_on("PULUMI_ENABLE_LEGACY_PLUGIN_SEARCH"),
        },
        working_directory: ctx.environment.cwd.clone(),
        project: None,
        runtime_options: BTreeMap::new(),
        config: BTreeMap::new(),
        services: ServiceAddresses::default(),
        log_arguments: log_arguments(&ctx.globals),
        attached_providers: attachments("PULUMI_DEBUG_PROVIDERS")?,
        attached_languages: BTreeMap::new(),
        timeouts: PluginTimeouts::default(),
        refresh_before_update: false,
        use_provider_preview: true,
        ignore_versions: true,
        output: Arc::new(move |line| match line.stream {
            OutputStream::Stdout | OutputStream::Stderr => printer.info(&line.text),
        }),
        environment,
        schema_cache: Some(ctx.environment.pulumi_home.join("schemas")),
        acquire: Some(unasked(
            &ctx.environment,
            &ctx.printer,
            &Demands::default(),
        )?),
    };
    let mut host = PluginHost::new(options);
    register_builtins(&mut host, ctx);
    // The plugin may consist of sources, which a language host runs.
    let options = language_options(&ctx.environment, output_to(ctx.printer.clone()));
    for language in plumb_language::LANGUAGES {
        let options = options.clone();
        let factory = move || (language.host)(options.clone());
        host.register_language(language.name, Box::new(factory));
    }
    Ok(host)
}

fn register_builtins(host: &mut PluginHost, ctx: &Context) {
    let context = BuiltinContext {
        working_dir: ctx.environment.cwd.clone(),
        environment: None,
        log: Arc::new(PrinterLog(Arc::clone(&ctx.printer))),
        stacks: None,
    };
    for builtin in plumb_providers::builtins() {
        let context = context.clone();
        let factory = move |spec: &PluginSpec| {
            let fits = match (&spec.version, builtin.version()) {
                (Some(wanted), Some(have)) => wanted.major == have.major,
                _ => true,
            };
            fits.then(|| builtin.start(&context))
        };
        host.register_builtin(builtin.name(), Box::new(factory));
    }
}

struct PrinterLog(Arc<Printer>);

impl LogSink for PrinterLog {
    fn log(&self, record: LogRecord<'_>) {
        match record.severity {
            LogSeverity::Info => self.0.info(record.message),
            LogSeverity::Warning => self.0.warning(record.message),
        }
    }
}
