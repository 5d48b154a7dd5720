//! Parts of every plugin host: built-in providers and languages, the log, schemas, and settings.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::Arc;

use async_trait::async_trait;
use ecow::EcoString;
use plumb_engine::monitor::ResourceMonitor;
use plumb_events::Severity;
use plumb_language::LanguageOptions;
use plumb_plugin::{HostError, OutputLevel, OutputLine, OutputSink, OutputStream, PluginHost};
use plumb_providers::{BuiltinContext, LogRecord, LogSeverity, LogSink};
use plumb_resource::provider::{Parameterization, PluginSpec};
use plumb_schema::{PackageQuery, PackageSchema, SchemaLoadError, SchemaLoader};
use plumb_value::Value;

use crate::config::plain;

/// Sends output of plugins and programs to the monitor, which makes events of it.
pub fn output_sink(monitor: Arc<dyn ResourceMonitor>) -> OutputSink {
    Arc::new(move |line: OutputLine| {
        let severity = match line.level {
            OutputLevel::Debug => Severity::Debug,
            OutputLevel::Info => match line.stream {
                OutputStream::Stdout => Severity::Info,
                OutputStream::Stderr => Severity::InfoErr,
            },
            OutputLevel::Warning => Severity::Warning,
            OutputLevel::Error => Severity::Error,
        };
        monitor.log(severity, None, &line.text);
    })
}

/// Sends messages of built-in providers to the monitor.
pub fn log_sink(monitor: Arc<dyn ResourceMonitor>) -> Arc<dyn LogSink> {
    Arc::new(MonitorLog(monitor))
}

struct MonitorLog(Arc<dyn ResourceMonitor>);

impl LogSink for MonitorLog {
    fn log(&self, record: LogRecord<'_>) {
        let severity = match record.severity {
            LogSeverity::Info => Severity::Info,
            LogSeverity::Warning => Severity::Warning,
        };
        if record.ephemeral {
            self.0.log_status(severity, record.urn, record.message);
        } else {
            self.0.log(severity, record.urn, record.message);
        }
    }
}

/// Variables in the form of built-in providers.
pub fn shared_variables(
    variables: &plumb_plugin::process::Environment,
) -> Arc<[(OsString, OsString)]> {
    let variables = variables.iter();
    variables
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}

/// Registers the built-in providers.
pub fn register_builtins(host: &mut PluginHost, context: &BuiltinContext) {
    for builtin in plumb_providers::builtins() {
        let context = context.clone();
        let factory = move |spec: &PluginSpec| builtin.fits(spec).then(|| builtin.start(&context));
        host.register_builtin(builtin.name(), Box::new(factory));
    }
}

/// Registers the built-in language hosts.
pub fn register_languages(host: &mut PluginHost, options: &LanguageOptions) {
    for language in plumb_language::LANGUAGES {
        let options = options.clone();
        let factory = move || (language.host)(options.clone());
        host.register_language(language.name, Box::new(factory));
    }
}

/// Registers the runtimes of policy packs that are built in.
#[cfg(feature = "rules")]
pub fn register_packs(host: &mut PluginHost) {
    for runtime in plumb_rules::Runtime::NAMES {
        if let Some(factory) = plumb_rules::factory(runtime) {
            host.register_packs(runtime, factory);
        }
    }
}

/// Schemas of packages, from plugins and built-in providers. The host caches their text.
pub struct Schemas(pub Arc<PluginHost>);

#[async_trait]
impl SchemaLoader for Schemas {
    async fn load(
        &self,
        query: &PackageQuery,
    ) -> Result<Option<Arc<PackageSchema>>, SchemaLoadError> {
        let failed = |source: Box<dyn std::error::Error + Send + Sync>| SchemaLoadError {
            package: query.name.clone(),
            source,
        };
        let text = self
            .text(query)
            .await
            .map_err(|error| failed(error.into()))?;
        let schema = text.map(PackageSchema::parse).transpose();
        Ok(schema.map_err(|error| failed(error.into()))?.map(Arc::new))
    }
}

impl Schemas {
    async fn text(&self, query: &PackageQuery) -> Result<Option<Arc<str>>, HostError> {
        let spec = PluginSpec {
            version: query.version.clone(),
            download_url: query.download_url.as_deref().map(Into::into),
            parameterization: query
                .parameterization
                .as_ref()
                .map(|parameter| Parameterization {
                    name: parameter.name.as_str().into(),
                    version: parameter.version.as_str().into(),
                    value: parameter.value.as_slice().into(),
                }),
            ..PluginSpec::named(&query.name)
        };
        self.0.schema(&spec).await
    }
}

/// Plugin of a package that a YAML program requires.
pub fn plugin_spec(package: &plumb_yaml::RequiredPackage) -> PluginSpec {
    PluginSpec {
        version: semver::Version::parse(package.version.trim_start_matches('v')).ok(),
        download_url: (!package.download_url.is_empty())
            .then(|| package.download_url.as_str().into()),
        parameterization: package.parameterization.clone(),
        ..PluginSpec::named(&package.name)
    }
}

/// Settings in plain text, by namespace, then name.
pub fn by_namespace(
    config: &BTreeMap<EcoString, Value>,
) -> BTreeMap<String, BTreeMap<String, String>> {
    let mut found: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    for (key, value) in config {
        if let Some((namespace, name)) = key.split_once(':') {
            let settings = found.entry(namespace.to_owned()).or_default();
            settings.insert(name.to_owned(), plain(value));
        }
    }
    found
}
