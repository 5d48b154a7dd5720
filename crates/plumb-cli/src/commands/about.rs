//! `about` (`cli.md` 7). Never fails: information that cannot be determined is listed as an error.

use std::fmt::Write as _;
use std::sync::Arc;

use clap::{ArgGroup, Args, Subcommand};
use plumb_plugin::language::{AboutLanguage, ProgramDependency};
use serde_json::{Map, Value as Json, json};

use super::{plugin, wants_json};
use crate::context::{LoadedProject, Stack};
use crate::json::{Indent, pretty};
use crate::own_version::{BUILD, COMMIT, OWN_VERSION};
use crate::table::Table;
use crate::{Context, Error, ExitStatus, Printer, VERSION};

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

/// What to tell about.
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
    plugins: Vec<(String, String, String)>,
    stack: Option<StackFindings>,
    backend: Option<(String, String)>,
    runtime: Option<Language>,
    errors: Vec<String>,
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
        show_variables(args.json, ctx);
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
    match plugin::cache(ctx).list() {
        Ok(plugins) => {
            findings.plugins = plugins
                .into_iter()
                .map(|plugin| {
                    let version = plugin
                        .version
                        .map_or_else(|| "unknown".to_owned(), |version| version.to_string());
                    (plugin.kind.to_string(), plugin.name, version)
                })
                .collect();
        }
        Err(error) => findings.errors.push(crate::error::chain(&error)),
    }
    match ctx.find_project() {
        Ok(Some(project)) => {
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
            let mut note = |error| errors.push(crate::error::chain(&error));
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

fn document(findings: &Findings, ctx: &Context) -> Json {
    let pairs = |pairs: &[(String, String)]| -> Json {
        pairs
            .iter()
            .map(|(token, urn)| json!({ "type": token, "urn": urn }))
            .collect()
    };
    let mut object = Map::new();
    let plugins: Vec<Json> = findings
        .plugins
        .iter()
        .map(|(kind, name, version)| json!({ "name": name, "version": version, "kind": kind }))
        .collect();
    object.insert("plugins".to_owned(), Json::from(plugins));
    object.insert(
        "host".to_owned(),
        json!({ "os": std::env::consts::OS, "version": "", "arch": std::env::consts::ARCH }),
    );
    let backend = findings.backend.as_ref().map(|(name, url)| {
        json!({
            "name": name, "url": url, "user": ctx.environment.user_name(), "organizations": Json::Null,
            "tokenInformation": Json::Null,
        })
    });
    object.insert("backend".to_owned(), Json::from(backend));
    let stack = findings.stack.as_ref().map(|stack| {
        json!({
            "name": stack.name, "fullyQualifiedName": stack.qualified,
            "resources": pairs(&stack.resources), "pendingOps": pairs(&stack.pending),
        })
    });
    object.insert("currentStack".to_owned(), Json::from(stack));
    object.insert(
        "cliAbout".to_owned(),
        json!({
            "version": VERSION, "goVersion": "go1.26", "goCompiler": "gc",
            "plumbVersion": OWN_VERSION, "plumbCommit": COMMIT, "plumbBuild": BUILD,
        }),
    );
    if let Some(language) = &findings.runtime {
        object.insert("runtime".to_owned(), runtime_json(language));
    }
    let dependencies = findings.runtime.iter().flat_map(|it| &it.dependencies);
    let dependencies: Vec<Json> = dependencies
        .map(|it| json!({ "name": it.name, "version": it.version }))
        .collect();
    object.insert("dependencies".to_owned(), Json::from(dependencies));
    object.insert("errors".to_owned(), Json::from(findings.errors.clone()));
    Json::Object(object)
}

fn runtime_json(language: &Language) -> Json {
    let mut object = Map::new();
    object.insert("language".to_owned(), Json::from(language.name.as_str()));
    for (key, value) in language.about.iter().flat_map(facts) {
        object.insert(key.to_owned(), Json::from(value));
    }
    Json::Object(object)
}

/// Known properties of an interpreter or compiler, in display order.
fn facts(about: &AboutLanguage) -> impl Iterator<Item = (&str, &str)> {
    let first = [
        ("executable", about.executable.as_str()),
        ("version", &about.version),
    ];
    let metadata = about.metadata.iter();
    let others = metadata.map(|(key, value)| (key.as_str(), value.as_str()));
    let all = first.into_iter().chain(others);
    all.filter(|(_, value)| !value.is_empty())
}

fn text(findings: &Findings, ctx: &Context) -> String {
    let mut out = section("CLI");
    for (name, value) in [
        ("Version", VERSION.trim_start_matches('v')),
        ("Go Version", "go1.26"),
        ("Go Compiler", "gc"),
        ("Plumb", OWN_VERSION),
        ("Commit", COMMIT),
        ("Build", BUILD),
    ] {
        let _ = writeln!(out, "{name:<11}  {value}");
    }
    out.push_str(&section("\nPlugins"));
    let mut table = Table::new(["KIND", "NAME", "VERSION"]);
    for (kind, name, version) in &findings.plugins {
        table.row([kind, name, version]);
    }
    out.push_str(&table.render());
    out.push_str(&section("\nHost"));
    let (system, processor) = (std::env::consts::OS, std::env::consts::ARCH);
    let _ = writeln!(out, "OS    {system}\nArch  {processor}");
    if let Some(runtime) = &findings.runtime {
        out.push_str(&written_in(runtime));
    }
    if let Some(stack) = &findings.stack {
        out.push_str(&current_stack(stack));
    }
    if let Some((name, url)) = &findings.backend {
        out.push_str(&section("\nBackend"));
        let user = ctx.environment.user_name();
        let _ = writeln!(
            out,
            "Name           {name}\nURL            {url}\nUser           {user}\nOrganizations  \nToken type     personal"
        );
    }
    if let Some(runtime) = &findings.runtime {
        out.push_str(&dependencies(runtime));
    }
    let logs = ctx.environment.pulumi_home.join("logs");
    let _ = writeln!(
        out,
        "\nPulumi locates its logs in {} by default",
        logs.display()
    );
    out
}

fn written_in(runtime: &Language) -> String {
    let mut out = format!("\nThis project is written in {}", runtime.name);
    let facts = runtime.about.iter().flat_map(facts);
    for (number, (key, value)) in facts.enumerate() {
        let colon = if number == 0 { ":" } else { "" };
        let _ = write!(out, "{colon} {key}='{value}'");
    }
    out.push('\n');
    out
}

fn current_stack(stack: &StackFindings) -> String {
    let mut out = section(&format!("\nCurrent Stack: {}", stack.qualified));
    out.push_str(&resources(
        &stack.resources,
        &format!("Found no resources associated with {}", stack.name),
    ));
    out.push('\n');
    out.push_str(&resources(
        &stack.pending,
        &format!("Found no pending operations associated with {}", stack.name),
    ));
    out
}

fn dependencies(runtime: &Language) -> String {
    if runtime.dependencies.is_empty() {
        return String::new();
    }
    let mut table = Table::new(["NAME", "VERSION"]);
    for dependency in &runtime.dependencies {
        table.row([&dependency.name, &dependency.version]);
    }
    section("\nDependencies") + &table.render()
}

fn section(title: &str) -> String {
    let (gap, title) = title
        .strip_prefix('\n')
        .map_or(("", title), |title| ("\n", title));
    format!("{gap}{}\n", Printer::headline(title))
}

fn resources(pairs: &[(String, String)], none: &str) -> String {
    if pairs.is_empty() {
        return format!("{none}\n");
    }
    let mut table = Table::new(["TYPE", "URN"]);
    for (token, urn) in pairs {
        table.row([token, urn]);
    }
    table.render()
}

/// Variables whose values are not shown.
const HIDDEN: [&str; 3] = ["PASSPHRASE", "TOKEN", "SECRET"];

fn show_variables(as_json: bool, ctx: &Context) {
    let variables = ctx
        .environment
        .variables()
        .iter()
        .filter_map(|(name, value)| {
            let name = name.to_string_lossy();
            let is_hidden = HIDDEN.iter().any(|part| name.contains(part));
            let value = if is_hidden {
                "[secret]".into()
            } else {
                value.to_string_lossy()
            };
            name.starts_with("PULUMI_")
                .then(|| (name.into_owned(), value.into_owned()))
        });
    if as_json {
        let all: Vec<Json> = variables
            .map(|(name, value)| json!({ "variable": name, "description": describe(&name), "value": value }))
            .collect();
        ctx.printer.data(&pretty(&all, Indent::Two));
        return;
    }
    let mut table = Table::new(["Variable", "Description", "Value"]);
    for (name, value) in variables {
        let description = describe(&name);
        table.row([name, description, value]);
    }
    ctx.printer.styled(&table.render());
}

/// Description of an environment variable.
fn describe(name: &str) -> String {
    if let Some(flag) = name.strip_prefix("PULUMI_OPTION_") {
        return format!(
            "Default of the flag --{}",
            flag.to_lowercase().replace('_', "-")
        );
    }
    let known = VARIABLES.iter().find(|(variable, _)| *variable == name);
    known
        .map(|(_, text)| (*text).to_owned())
        .unwrap_or_default()
}

/// Environment variables for users, with their descriptions.
const VARIABLES: [(&str, &str); 22] = [
    (
        "PULUMI_AUTOMATION_API",
        "Set by programs that drive the command line",
    ),
    ("PULUMI_BACKEND_URL", "Address of the backend"),
    (
        "PULUMI_CONFIG_PASSPHRASE",
        "Passphrase of the secrets of stacks",
    ),
    (
        "PULUMI_CONFIG_PASSPHRASE_FILE",
        "File that holds the passphrase of the secrets of stacks",
    ),
    ("PULUMI_CONTINUE_ON_ERROR", "Default of --continue-on-error"),
    (
        "PULUMI_CREDENTIALS_PATH",
        "Folder of the file that remembers logins",
    ),
    (
        "PULUMI_DEBUG_COMMANDS",
        "Shows commands and flags for finding faults",
    ),
    (
        "PULUMI_DEBUG_PROVIDERS",
        "Providers that run already, as NAME:PORT",
    ),
    (
        "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION",
        "Downloads no plugins unasked",
    ),
    (
        "PULUMI_DISABLE_CI_DETECTION",
        "Does not look for systems of continuous integration",
    ),
    ("PULUMI_DIY_BACKEND_GZIP", "Compresses the state of stacks"),
    ("PULUMI_EXPERIMENTAL", "Shows flags that may still change"),
    (
        "PULUMI_FALLBACK_TO_STATE_SECRETS_MANAGER",
        "Takes the secrets provider of the state where the settings name none",
    ),
    ("PULUMI_HOME", "Folder of plugins, logins and workspaces"),
    (
        "PULUMI_IGNORE_AMBIENT_PLUGINS",
        "Does not look for plugins on the PATH",
    ),
    ("PULUMI_OPTION_STACK", "Default of the flag --stack"),
    (
        "PULUMI_PARALLEL",
        "How many operations may run side by side",
    ),
    (
        "PULUMI_PLUGIN_DOWNLOAD_URL_OVERRIDES",
        "Other addresses for plugins, as REGEX=URL",
    ),
    ("PULUMI_RUN_PROGRAM", "Default of --run-program"),
    (
        "PULUMI_SKIP_CONFIRMATIONS",
        "Answers every question with yes",
    ),
    (
        "PULUMI_SKIP_UPDATE_CHECK",
        "Does not look for newer versions",
    ),
    (
        "PULUMI_STACK",
        "The stack to use instead of the selected one",
    ),
];
