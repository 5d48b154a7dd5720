//! Findings of `about` as text and as JSON, whose members are in the order of the reference.

use std::fmt::Write as _;

use plumb_operate::own_version::{BUILD, COMMIT, OWN_VERSION};
use plumb_operate::table::Table;
use plumb_operate::{Context, Printer, VERSION};
use plumb_plugin::language::AboutLanguage;
use serde::Serialize;
use serde_json::{Map, Value as Json};

use super::host::{self, Host};
use super::{Findings, Language, Plugin, StackFindings, variables};

/// The document of `about --json`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Document<'a> {
    plugins: Option<Vec<PluginEntry<'a>>>,
    host: Host,
    backend: Option<BackendEntry<'a>>,
    current_stack: Option<StackEntry<'a>>,
    cli_about: CliEntry,
    runtime: Option<Json>,
    dependencies: Option<Vec<DependencyEntry<'a>>>,
    errors: &'a [String],
}

#[derive(Serialize)]
struct PluginEntry<'a> {
    name: &'a str,
    version: Option<&'a str>,
    kind: String,
}

#[derive(Serialize)]
struct BackendEntry<'a> {
    name: &'a str,
    url: &'a str,
    user: String,
    /// Stores have no organizations.
    organizations: Option<Vec<String>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct StackEntry<'a> {
    name: &'a str,
    fully_qualified_name: &'a str,
    resources: Vec<ResourceEntry<'a>>,
    pending_ops: Vec<ResourceEntry<'a>>,
}

#[derive(Serialize)]
struct ResourceEntry<'a> {
    #[serde(rename = "type")]
    type_token: &'a str,
    urn: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CliEntry {
    version: &'static str,
    go_version: &'static str,
    go_compiler: &'static str,
    plumb_version: &'static str,
    plumb_commit: &'static str,
    plumb_build: &'static str,
}

#[derive(Serialize)]
struct DependencyEntry<'a> {
    name: &'a str,
    version: &'a str,
}

/// The findings for programs.
pub(super) fn document<'a>(findings: &'a Findings, ctx: &Context) -> Document<'a> {
    let plugins = findings.plugins.as_ref().map(|plugins| {
        let entry = |plugin: &'a Plugin| PluginEntry {
            name: &plugin.name,
            version: plugin.version.as_deref(),
            kind: plugin.kind.to_string(),
        };
        plugins.iter().map(entry).collect()
    });
    let backend = findings.backend.as_ref().map(|(name, url)| BackendEntry {
        name,
        url,
        user: ctx.environment.user_name(),
        organizations: None,
    });
    let dependencies = findings.runtime.as_ref().map(|runtime| {
        let all = runtime.dependencies.iter();
        all.map(|it| DependencyEntry {
            name: &it.name,
            version: &it.version,
        })
        .collect()
    });
    Document {
        plugins,
        host: host::info(),
        backend,
        current_stack: findings.stack.as_ref().map(stack_entry),
        cli_about: CliEntry {
            version: VERSION,
            go_version: GO_VERSION,
            go_compiler: "gc",
            plumb_version: OWN_VERSION,
            plumb_commit: COMMIT,
            plumb_build: BUILD,
        },
        runtime: findings.runtime.as_ref().map(runtime_json),
        dependencies,
        errors: &findings.errors,
    }
}

/// Version of Go that the reference is built with, for tools that read it.
const GO_VERSION: &str = "go1.26";

fn stack_entry(stack: &StackFindings) -> StackEntry<'_> {
    fn entries(pairs: &[(String, String)]) -> Vec<ResourceEntry<'_>> {
        let entry = |(type_token, urn)| ResourceEntry { type_token, urn };
        pairs
            .iter()
            .map(|(token, urn)| entry((token.as_str(), urn.as_str())))
            .collect()
    }
    StackEntry {
        name: &stack.name,
        fully_qualified_name: &stack.qualified,
        resources: entries(&stack.resources),
        pending_ops: entries(&stack.pending),
    }
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

/// The findings for people.
pub(super) fn text(findings: &Findings, ctx: &Context) -> String {
    let mut out = section("CLI");
    for (name, value) in [
        ("Version", VERSION.trim_start_matches('v')),
        ("Go Version", GO_VERSION),
        ("Go Compiler", "gc"),
        ("Plumb", OWN_VERSION),
        ("Commit", COMMIT),
        ("Build", BUILD),
    ] {
        let _ = writeln!(out, "{name:<11}  {value}");
    }
    if let Some(plugins) = &findings.plugins {
        out.push_str(&section("\nPlugins"));
        out.push_str(&plugin_table(plugins));
    }
    out.push_str(&section("\nHost"));
    let Host { os, version, arch } = host::info();
    let _ = writeln!(out, "OS       {os}\nVersion  {version}\nArch     {arch}");
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
    out.push_str(&environment(ctx));
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

fn plugin_table(plugins: &[Plugin]) -> String {
    let mut table = Table::new(["KIND", "NAME", "VERSION"]);
    for plugin in plugins {
        let version = plugin.version.as_deref().unwrap_or("unknown");
        table.row([&plugin.kind.to_string(), &plugin.name, version]);
    }
    table.render()
}

fn environment(ctx: &Context) -> String {
    let configured = variables::configured(ctx);
    if configured.is_empty() {
        return String::new();
    }
    let mut table = Table::new(["Name", "Value"]);
    for (name, value) in configured {
        table.row([name, value]);
    }
    section("\nEnvironment Variables:") + &table.render()
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
        return "\nNo dependencies found\n".to_owned();
    }
    let mut table = Table::new(["NAME", "VERSION"]);
    for dependency in &runtime.dependencies {
        table.row([&dependency.name, &dependency.version]);
    }
    section("\nDependencies:") + &table.render()
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
