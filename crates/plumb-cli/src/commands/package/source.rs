//! Where the schema of a package comes from: a file, standard input, or a plugin (`schema.md` 1).

use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use plumb_plugin::discovery::{Cache, ProjectPlugin, parse_tolerant};
use plumb_plugin::process::PluginTimeouts;
use plumb_plugin::{
    Discovery, HostOptions, OutputStream, PluginHost, PluginKind, ServiceAddresses,
    parse_attachments,
};
use plumb_providers::{BuiltinContext, LogRecord, LogSeverity, LogSink};
use plumb_resource::provider::{PluginSpec, ProviderError};
use plumb_schema::{BindOptions, Bound, Document, Format, PackageSchema, Packages, bind};

use crate::acquire::{Demands, language_options, output_to, unasked};
use crate::operate::discovery;
use crate::{Context, Error, Printer};

/// A schema as it came.
pub(crate) struct SchemaText {
    text: String,
    format: Format,
    /// What problems call the place it came from.
    origin: String,
    /// Version of the plugin, for schemas that do not tell theirs.
    version: Option<semver::Version>,
}

impl SchemaText {
    /// Reads the schema that `source` stands for; `parameters` make another package of a plugin.
    pub(crate) fn load(source: &str, parameters: &[String], ctx: &Context) -> Result<Self, Error> {
        Self::load_from(source, parameters, None, ctx)
    }

    /// Like [`SchemaText::load`]; a plugin that is missing is downloaded from `server`.
    pub(crate) fn load_from(
        source: &str,
        parameters: &[String],
        server: Option<&str>,
        ctx: &Context,
    ) -> Result<Self, Error> {
        if let Some(format) = Format::of_file(source) {
            if !parameters.is_empty() {
                let kind = source.rsplit('.').next().unwrap_or_default();
                return Err(Error::user(format!(
                    "parameterization arguments are not supported for {kind} files"
                )));
            }
            let path = ctx.environment.cwd.join(source);
            let bytes = fs::read(&path)
                .map_err(|error| Error::from(error).context(format!("could not read {source}")))?;
            return Ok(Self::of_bytes(bytes, format, source));
        }
        of_plugin(source, parameters, server, ctx)
    }

    /// Reads JSON from standard input.
    pub(crate) fn from_stdin() -> Result<Self, Error> {
        let mut bytes = Vec::new();
        std::io::stdin().lock().read_to_end(&mut bytes)?;
        Ok(Self::of_bytes(bytes, Format::Json, "<stdin>"))
    }

    fn of_bytes(bytes: Vec<u8>, format: Format, origin: &str) -> Self {
        let text = String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        SchemaText {
            text,
            format,
            origin: origin.to_owned(),
            version: None,
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
        Ok(document)
    }

    /// Binds the whole of it, and tells what is wrong.
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

/// Plugins that are started for nothing but their schemas.
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

    /// The schema of a plugin, made another package of by `parameters` if there are any.
    fn schema_text(
        self,
        spec: &PluginSpec,
        parameters: &[String],
        source: &str,
    ) -> Result<SchemaText, Error> {
        let asked = self.runtime.block_on(self.ask(spec, parameters));
        self.runtime.block_on(self.host.shutdown());
        let (text, version) = asked?;
        let text = text.ok_or_else(|| Error::user(format!("the plugin {source} has no schema")))?;
        Ok(SchemaText {
            text,
            format: Format::Json,
            origin: source.to_owned(),
            version,
        })
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
        parameters: &[String],
    ) -> Result<(Option<String>, Option<semver::Version>), Error> {
        let provider = self.host.provider(spec).await?;
        let failed = |error: ProviderError| {
            Error::user(format!("the plugin {}: {}", spec.name, error.message))
        };
        if parameters.is_empty() {
            let text = provider.get_schema(None).await.map_err(failed)?;
            let told = provider.info().await.ok().and_then(|info| info.version);
            return Ok((text, spec.version.clone().or(told)));
        }
        let applied = provider.parameterize_with_args(parameters).await;
        let (name, version) = applied.map_err(failed)?;
        let subpackage = Some((name.as_str(), version.as_str()));
        let text = provider.get_schema(subpackage).await.map_err(failed)?;
        if let Some(text) = &text {
            check_parameterized(text, &name)?;
        }
        Ok((text, None))
    }
}

/// The schemas of packages; none where nobody has one.
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

/// What a provider knows of a package of another ecosystem.
pub(crate) struct Mapping {
    /// The plugin, with its version.
    pub(crate) plugin: String,
    /// The package of the other ecosystem.
    pub(crate) provider: String,
    /// The mapping, opaque.
    pub(crate) data: Vec<u8>,
}

/// Asks the plugin `source` for its mapping of the package `wanted` of an ecosystem; with an empty name, of any.
pub(crate) fn mapping(
    ecosystem: &str,
    source: &str,
    wanted: &str,
    parameters: &[String],
    ctx: &Context,
) -> Result<Option<Mapping>, Error> {
    let path = ctx.environment.cwd.join(source);
    let (plugins, spec) = if source.starts_with(['.', '/']) || path.is_dir() {
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

/// The plugins that the project file names.
fn project_plugins(ctx: &Context) -> Result<Vec<ProjectPlugin>, Error> {
    Ok(discovery(&ctx.environment, ctx.find_project()?).project)
}

/// A package that parameters made says how, once, and has the name that the plugin gave it.
fn check_parameterized(text: &str, name: &str) -> Result<(), Error> {
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

/// The schema of a plugin by name, with a version or without, or by path.
fn of_plugin(
    source: &str,
    parameters: &[String],
    server: Option<&str>,
    ctx: &Context,
) -> Result<SchemaText, Error> {
    let path = ctx.environment.cwd.join(source);
    if source.starts_with(['.', '/']) || path.is_dir() {
        let plugin = plugin_at(&path)?;
        let spec = PluginSpec::named(&plugin.name);
        let plugins = Plugins::with_plugins(ctx, vec![plugin])?;
        return plugins.schema_text(&spec, parameters, source);
    }
    if source.contains('/') {
        return Err(Error::unsupported(format!(
            "a package from a repository ({source})"
        )));
    }
    let spec = PluginSpec {
        download_url: server.map(Into::into),
        ..named(source)?
    };
    Plugins::new(ctx)?.schema_text(&spec, parameters, source)
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

fn named(source: &str) -> Result<PluginSpec, Error> {
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

/// A plugin by the path of its program or its folder.
fn plugin_at(path: &Path) -> Result<ProjectPlugin, Error> {
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

/// The program in a folder; the folder itself when it holds sources.
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
        acquire: Some(unasked(
            &ctx.environment,
            &ctx.printer,
            &Demands::default(),
        )?),
    };
    let mut host = PluginHost::new(options);
    register_builtins(&mut host, ctx);
    // Plugins may be sources.
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
