//! `install` (`cli.md` 9).

use std::sync::Arc;

use clap::Args;
use plumb_language::LanguageOptions;
use plumb_plugin::language::InstallRequest;
use plumb_plugin::{OutputSink, OutputStream};

use crate::context::LoadedProject;
use crate::{Context, Error, ExitStatus, VERSION};

/// Install packages and plugins for the current project
#[derive(Args, Debug)]
pub struct InstallArgs {
    /// The max number of concurrent installs to perform
    #[arg(long, default_value_t = 4)]
    pub parallel: i32,
    /// Reinstall a plugin even if it already exists
    #[arg(long)]
    pub reinstall: bool,
    /// Skip installing plugins
    #[arg(long)]
    pub no_plugins: bool,
    /// Skip installing dependencies
    #[arg(long)]
    pub no_dependencies: bool,
    /// Use language version tools to setup and install the language runtime
    #[arg(long)]
    pub use_language_version_tools: bool,
}

/// Runs `install`.
pub fn run(args: InstallArgs, ctx: &Context) -> Result<ExitStatus, Error> {
    let project = ctx.project()?;
    project.check_version()?;
    if !project.project.packages.is_empty() && !args.no_plugins {
        return Err(Error::unsupported(
            "installing the packages that the project file lists",
        ));
    }
    if !args.no_dependencies {
        dependencies(project, args.use_language_version_tools, ctx)?;
    }
    Ok(ExitStatus::Success)
}

/// Installs what the program of a project depends on.
pub(crate) fn dependencies(
    project: &LoadedProject,
    use_version_tools: bool,
    ctx: &Context,
) -> Result<(), Error> {
    let Some(runtime) = &project.project.runtime else {
        return Ok(());
    };
    if runtime.name == "yaml" {
        return Ok(());
    }
    let output = output_to(ctx);
    let options = LanguageOptions {
        environment: ctx.environment.variables().clone(),
        engine_address: String::new(),
        debug_messages: false,
        cache_directory: ctx.environment.pulumi_home.join("cache"),
        version: semver::Version::parse(VERSION.trim_start_matches('v'))?,
        output: Arc::clone(&output),
    };
    let language = plumb_language::language(&runtime.name).ok_or_else(|| {
        Error::unsupported(format!(
            "installing the dependencies of {} programs",
            runtime.name
        ))
    })?;
    let host = (language.host)(options);
    let request = InstallRequest {
        info: project.program_info()?,
        is_terminal: ctx.environment.stdout_is_terminal,
        use_language_version_tools: use_version_tools,
        is_plugin: false,
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    Ok(runtime.block_on(host.install_dependencies(request, output))?)
}

/// Lines of tools, on the stream where they belong.
fn output_to(ctx: &Context) -> OutputSink {
    let printer = Arc::clone(&ctx.printer);
    Arc::new(move |line| match line.stream {
        OutputStream::Stdout => printer.line(&line.text),
        OutputStream::Stderr => printer.info(&line.text),
    })
}
