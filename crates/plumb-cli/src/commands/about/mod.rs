//! `about` (`cli.md` 7). Never fails: information that cannot be determined is listed as an error.

mod host;
mod report;
mod variables;

use std::sync::Arc;

use clap::{ArgGroup, Args, Subcommand};
use plumb_operate::context::{LoadedProject, Stack};
use plumb_operate::json::wants_json;
use plumb_operate::json::{Indent, pretty};
use plumb_operate::{Context, Error, ExitStatus, VERSION};
use plumb_plugin::PluginKind;
use plumb_plugin::language::{AboutLanguage, ProgramDependency};
use report::{document, text};

/// Print information about the environment
///
/// Shows the versions, plugins, stack and backend in use, for bug reports.
#[derive(Args, Debug)]
#[command(group = ArgGroup::new("about-format").args(["output", "json"]).multiple(false))]
pub struct AboutArgs {
    /// Emit output as JSON
    #[arg(short, long)]
    pub json: bool,
    /// Format of the result: default or json
    #[arg(long, default_value = "default", hide = true)]
    pub output: String,
    /// The name of the stack to get info on. Defaults to the current stack
    #[arg(short, long)]
    pub stack: Option<String>,
    /// Include transitive dependencies
    #[arg(short, long)]
    pub transitive: bool,
    /// The verb.
    #[command(subcommand)]
    pub verb: Option<AboutVerb>,
}

/// Parts of the environment with a command of their own.
#[derive(Subcommand, Debug)]
pub enum AboutVerb {
    /// Show the environment variables that are set
    Env(EnvArgs),
}

/// Arguments of `about env`.
#[derive(Args, Debug)]
pub struct EnvArgs {
    /// Emit output as JSON
    #[arg(short, long)]
    pub json: bool,
}

/// Collected information.
#[derive(Default)]
struct Findings {
    /// Plugins that the program needs; `None` if the language host cannot list them.
    plugins: Option<Vec<Plugin>>,
    stack: Option<StackFindings>,
    backend: Option<(String, String)>,
    runtime: Option<Language>,
    errors: Vec<String>,
}

/// A plugin that the program needs.
struct Plugin {
    kind: PluginKind,
    name: String,
    version: Option<String>,
}

/// Language of the project, with its host's information about the program.
struct Language {
    name: String,
    about: Option<AboutLanguage>,
    dependencies: Vec<ProgramDependency>,
}

struct StackFindings {
    name: String,
    qualified: String,
    resources: Vec<(String, String)>,
    pending: Vec<(String, String)>,
}

/// Runs `about`.
pub fn run(args: AboutArgs, ctx: &Context) -> Result<ExitStatus, Error> {
    if let Some(AboutVerb::Env(args)) = &args.verb {
        variables::show(args.json, ctx);
        return Ok(ExitStatus::Success);
    }
    let findings = find(&args, ctx);
    if wants_json(args.json, &args.output)? {
        ctx.printer
            .data(&pretty(&document(&findings, ctx), Indent::Two));
    } else {
        ctx.printer.styled(&text(&findings, ctx));
        findings
            .errors
            .iter()
            .for_each(|error| ctx.printer.warning(error));
    }
    Ok(ExitStatus::Success)
}

fn find(args: &AboutArgs, ctx: &Context) -> Findings {
    let mut findings = Findings::default();
    match ctx.find_project() {
        Ok(Some(project)) => {
            findings.plugins = plugins(project, ctx, &mut findings.errors);
            findings.runtime = language(project, args.transitive, ctx, &mut findings.errors);
        }
        Ok(None) => findings.errors.extend(missing_project(ctx)),
        Err(error) => findings.errors.extend(error.context(NO_PROJECT).text()),
    }
    match ctx.backend() {
        Ok(backend) => {
            findings.backend = Some((backend.name().to_owned(), backend.shown_url()));
        }
        Err(error) => findings.errors.extend(error.text()),
    }
    let stack = match &args.stack {
        // upstream: a missing stack counts as none.
        Some(name) => ctx.stack_named(name).and_then(|stack| {
            Ok(stack
                .backend
                .stack_exists(&stack.reference)?
                .then_some(stack))
        }),
        None => ctx.selected_stack(),
    };
    match stack {
        Ok(Some(stack)) => match stack_findings(&stack, ctx) {
            Ok(found) => findings.stack = Some(found),
            Err(error) => findings.errors.extend(error.context(NO_STACK).text()),
        },
        Ok(None) => findings.errors.extend(missing_stack(ctx)),
        Err(error) => findings.errors.extend(error.context(NO_STACK).text()),
    }
    findings
}

const NO_PLUGINS: &str = "Failed to get information about the plugin";
const NO_PROJECT: &str = "Failed to read project";
const NO_STACK: &str = "Failed to get information about the current stack";

fn missing_project(ctx: &Context) -> Option<String> {
    ctx.project().err()?.context(NO_PROJECT).text()
}

fn missing_stack(ctx: &Context) -> Option<String> {
    let error = ctx.project().err();
    let error = error.unwrap_or_else(|| Error::user("No current stack"));
    error.context(NO_STACK).text()
}

/// Plugins of the project: of its language, and those that the program names, by name.
fn plugins(
    project: &LoadedProject,
    ctx: &Context,
    errors: &mut Vec<String>,
) -> Option<Vec<Plugin>> {
    let required = super::language::block_on(super::install::required(project, ctx))
        .and_then(|required| required);
    let required = match required {
        Ok(required) => required,
        Err(error) => {
            errors.extend(error.context(NO_PLUGINS).text());
            return None;
        }
    };
    let language = project.project.runtime.iter().map(|runtime| Plugin {
        kind: PluginKind::Language,
        name: runtime.name.clone(),
        version: runs_in_ours(project, &runtime.name)
            .then(|| VERSION.trim_start_matches('v').to_owned()),
    });
    let required = required.into_iter().map(|plugin| Plugin {
        kind: PluginKind::Resource,
        name: plugin.name.to_string(),
        version: plugin.version.map(|version| version.to_string()),
    });
    let mut plugins: Vec<Plugin> = language.chain(required).collect();
    plugins.sort_by(|a, b| a.name.cmp(&b.name));
    Some(plugins)
}

/// Whether programs of this language run in a host of ours, which has our version.
fn runs_in_ours(project: &LoadedProject, runtime: &str) -> bool {
    let mut named = project.project.plugins.languages.iter();
    let mut hosts = plumb_language::LANGUAGES.iter();
    let is_named = named.any(|entry| entry.name == runtime);
    !is_named && (runtime == "yaml" || hosts.any(|host| host.name == runtime))
}

fn language(
    project: &LoadedProject,
    transitive: bool,
    ctx: &Context,
    errors: &mut Vec<String>,
) -> Option<Language> {
    let mut found = Language {
        name: project.project.runtime.as_ref()?.name.clone(),
        about: None,
        dependencies: Vec::new(),
    };
    let Some(host) = super::language::host(&found.name, Arc::new(|_| {}), ctx) else {
        return Some(found);
    };
    let asked = project.program_info().and_then(|info| {
        super::language::block_on(async {
            let about = host.about(&info).await;
            (about, host.program_dependencies(&info, transitive).await)
        })
    });
    match asked {
        Ok((about, dependencies)) => {
            let mut note = |error| errors.push(plumb_operate::error::chain(&error));
            found.about = about.map_err(&mut note).ok();
            found.dependencies = dependencies.map_err(&mut note).unwrap_or_default();
        }
        Err(error) => errors.extend(error.text()),
    }
    Some(found)
}

fn stack_findings(stack: &Stack, ctx: &Context) -> Result<StackFindings, Error> {
    let state = ctx.load_state(stack)?;
    let snapshot = state.opaque();
    let resources = snapshot.iter().flat_map(|snapshot| &snapshot.resources);
    let pending = snapshot
        .iter()
        .flat_map(|snapshot| &snapshot.pending_operations);
    Ok(StackFindings {
        name: stack.name().to_owned(),
        qualified: stack.reference.qualified(),
        resources: resources
            .map(|state| (state.type_token.to_string(), state.urn.to_string()))
            .collect(),
        pending: pending
            .map(|operation| {
                (
                    operation.resource.type_token.to_string(),
                    operation.resource.urn.to_string(),
                )
            })
            .collect(),
    })
}
