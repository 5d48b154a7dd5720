//! `install` (`cli.md` 9).

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use clap::Args;
use futures::future::join_all;
use plumb_acquire::LockMode;
use plumb_operate::acquire::{self, Demands, output_to};
use plumb_operate::context::LoadedProject;
use plumb_operate::packages::discovery;
use plumb_operate::{Context, Error, ExitStatus};
use plumb_plugin::discovery::{MANIFEST_FILE, PluginSource as Place};
use plumb_plugin::language::{InstallRequest, PackageDependency};
use plumb_plugin::{Acquire as _, PluginKind};
use plumb_resource::provider::PluginSpec;
use plumb_schema::{PackageQuery, PackageSchema, SchemaLoadError, SchemaLoader};
use plumb_yaml::YamlProgram;

use super::package::local::PackageInstallation;
use super::package::target::Target;
use super::{language, new};
use plumb_automation::hosting::plugin_spec;

/// Install packages and plugins for the current project
///
/// Installs what the program depends on with the package manager of its language, then downloads the plugins that it
/// needs. In the folder of a policy pack or of a plugin, what that depends on is installed. The archives that plugins come from are written down in plumb.lock, and verified from then on.
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
    /// Install no plugin that plumb.lock does not name
    #[arg(long)]
    pub locked: bool,
}

/// Runs `install`.
pub fn run(args: InstallArgs, ctx: &Context) -> Result<ExitStatus, Error> {
    let with_dependencies = !args.no_dependencies;
    if let Some(manifest) = nearest_pack(ctx)? {
        if manifest.ends_with(MANIFEST_FILE) {
            PackageInstallation::new(with_dependencies, ctx).plugin(manifest)?;
        } else if with_dependencies {
            new::install_pack(&manifest, ctx)?;
        }
        return Ok(ExitStatus::Success);
    }
    let project = ctx.project()?;
    project.check_version()?;
    packages(project, with_dependencies, ctx)?;
    if with_dependencies {
        dependencies(project, args.use_language_version_tools, ctx)?;
    }
    if !args.no_plugins {
        let demands = Demands {
            project: Some(project.root()),
            lock_mode: if args.locked {
                LockMode::Frozen
            } else {
                LockMode::Update
            },
            reinstall: args.reinstall,
            parallel: usize::try_from(args.parallel).unwrap_or(1),
            ..Demands::default()
        };
        plugins(project, &demands, ctx)?;
    }
    Ok(ExitStatus::Success)
}

/// Manifest of the plugin or policy pack that contains the working directory, unless a project inside it is nearer.
fn nearest_pack(ctx: &Context) -> Result<Option<PathBuf>, Error> {
    let project = ctx.find_project()?.map(LoadedProject::root);
    for folder in ctx.environment.cwd.ancestors() {
        if project == Some(folder) {
            return Ok(None);
        }
        let manifests = ["PulumiPolicy.yaml", MANIFEST_FILE].map(|name| folder.join(name));
        if let Some(manifest) = manifests.into_iter().find(|path| path.is_file()) {
            return Ok(Some(manifest));
        }
    }
    Ok(None)
}

/// Installs the packages of the project file.
pub(crate) fn packages(
    project: &LoadedProject,
    with_dependencies: bool,
    ctx: &Context,
) -> Result<(), Error> {
    if project.project.runtime.is_none() {
        return Ok(());
    }
    PackageInstallation::new(with_dependencies, ctx).packages_of(&Target::of_project(project)?)
}

/// Installs the dependencies of a project's program.
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
    let output = output_to(ctx.printer.clone());
    let host = language::host(&runtime.name, output.clone(), ctx).ok_or_else(|| {
        Error::unsupported(format!(
            "installing the dependencies of {} programs",
            runtime.name
        ))
    })?;
    let request = InstallRequest {
        info: project.program_info()?,
        is_terminal: ctx.environment.stdout_is_terminal,
        use_language_version_tools: use_version_tools,
        is_plugin: false,
    };
    Ok(language::block_on(
        host.install_dependencies(request, output),
    )??)
}

/// Acquires missing plugins for a project's program.
pub(crate) fn plugins(
    project: &LoadedProject,
    demands: &Demands<'_>,
    ctx: &Context,
) -> Result<(), Error> {
    let source = acquire::source(&ctx.environment, &ctx.printer, demands)?;
    let mut discovery = discovery(&ctx.environment, Some(project));
    if demands.lock_mode == LockMode::Frozen {
        discovery.search_path = None;
    }
    let failures = language::block_on(async {
        let wanted = required(project, ctx).await?;
        let wanted = wanted.into_iter().filter_map(|mut spec| {
            let (version, url) = (spec.version.as_ref(), spec.download_url.as_deref());
            let found = discovery.find(PluginKind::Resource, &spec.name, version, url);
            let is_builtin = plumb_providers::builtins().iter().any(|it| it.fits(&spec));
            match found {
                _ if is_builtin => return None,
                Ok(found) if found.source != Place::Cache => return None,
                // Any version fits, unless the lock file says which.
                Ok(found) if spec.version.is_none() && !demands.reinstall => {
                    let locked = source.locked_version(PluginKind::Resource, &spec.name);
                    spec.version = locked.or(found.version);
                }
                Ok(_) | Err(_) => {}
            }
            Some(spec)
        });
        let wanted: Vec<PluginSpec> = wanted.collect();
        let all = wanted
            .iter()
            .map(|spec| source.get(PluginKind::Resource, spec));
        let results = join_all(all).await;
        Ok::<_, Error>(
            results
                .into_iter()
                .filter_map(Result::err)
                .collect::<Vec<_>>(),
        )
    })??;
    if failures.is_empty() {
        return Ok(());
    }
    let lines: Vec<String> = failures
        .iter()
        .map(|failure| plumb_operate::error::chain(failure.as_ref()))
        .collect();
    Err(Error::user(lines.join("\n")))
}

/// Plugins that a program needs.
pub(crate) async fn required(
    project: &LoadedProject,
    ctx: &Context,
) -> Result<Vec<PluginSpec>, Error> {
    let Some(runtime) = &project.project.runtime else {
        return Ok(Vec::new());
    };
    let info = project.program_info()?;
    if runtime.name == "yaml" {
        let program = YamlProgram::new(Arc::new(NoSchemas));
        let packages = program.required_packages(&info.program_directory)?;
        return Ok(packages.iter().map(plugin_spec).collect());
    }
    let output = output_to(ctx.printer.clone());
    let host = language::host(&runtime.name, output, ctx).ok_or_else(|| {
        Error::unsupported(format!(
            "installing the plugins of {} programs",
            runtime.name
        ))
    })?;
    let required = host.required_packages(&info).await?;
    let packages = required.packages.iter();
    Ok(packages
        .filter(|package| package.kind == PluginKind::Resource)
        .map(PackageDependency::plugin_spec)
        .collect())
}

/// Empty schema loader, because determining the required plugins needs no schemas.
struct NoSchemas;

#[async_trait]
impl SchemaLoader for NoSchemas {
    async fn load(
        &self,
        _query: &PackageQuery,
    ) -> Result<Option<Arc<PackageSchema>>, SchemaLoadError> {
        Ok(None)
    }
}
