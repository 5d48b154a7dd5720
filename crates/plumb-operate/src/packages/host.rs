//! Host of plugins that are asked outside operations.

use std::collections::BTreeMap;
use std::sync::Arc;

use plumb_automation::hosting::{register_builtins, register_languages};
use plumb_plugin::discovery::ProjectPlugin;
use plumb_plugin::process::PluginTimeouts;
use plumb_plugin::{
    Discovery, HostOptions, OutputStream, PluginHost, ServiceAddresses, parse_attachments,
};
use plumb_providers::{BuiltinContext, LogRecord, LogSeverity, LogSink};

use super::{discovery, log_arguments};
use crate::acquire::{Demands, language_options, output_to, unasked};
use crate::{Context, Error, Printer};

/// Creates a host that knows the `plugins` of a project.
pub(super) fn host(ctx: &Context, plugins: Vec<ProjectPlugin>) -> Result<PluginHost, Error> {
    let environment = ctx.environment.variables().clone();
    let attachments = |name: &str| parse_attachments(ctx.environment.get(name).unwrap_or_default());
    let printer = Arc::clone(&ctx.printer);
    let options = HostOptions {
        discovery: Discovery {
            project: plugins,
            bundled: None,
            ..discovery(&ctx.environment, None)
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
    let context = BuiltinContext {
        working_dir: ctx.environment.cwd.clone(),
        environment: None,
        log: Arc::new(PrinterLog(Arc::clone(&ctx.printer))),
        stacks: None,
    };
    register_builtins(&mut host, &context);
    // The plugin may consist of sources, which a language host runs.
    let options = language_options(&ctx.environment, output_to(ctx.printer.clone()));
    register_languages(&mut host, &options);
    Ok(host)
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
