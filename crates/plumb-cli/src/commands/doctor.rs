//! `doctor`: checks of the machine, the project and the stack, with instructions for fixes.
//!
//! Checks are independent of each other, and each returns a finding. Nothing is changed, and there are no prompts.

use std::fmt::Write as _;
use std::process::{Command, Stdio};

use clap::Args;
use plumb_operate::context::{IfMissing, LoadedProject, Stack, StackState};
use plumb_operate::json::wants_json;
use plumb_operate::json::{Indent, pretty};
use plumb_operate::{Context, Error, ExitStatus};
use plumb_plugin::PluginKind;
use plumb_resource::provider::PluginSpec;
use plumb_state::Snapshot;
use serde_json::json;

/// Look for problems of this machine, the project and the stack, and say how to fix them
///
/// Checks the home folder, the project, the tools of its language, the backend, the stack with its state, locks and secrets,
/// and the plugins that the state needs. The exit code is 1 if something is wrong.
#[derive(Args, Debug)]
pub struct DoctorArgs {
    /// The name of the stack to look at. Defaults to the current stack
    #[arg(short, long)]
    pub stack: Option<String>,
    /// Emit output as JSON
    #[arg(short, long)]
    pub json: bool,
    /// Format of the result: default or json
    #[arg(long, default_value = "default", hide = true)]
    pub output: String,
}

/// Severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Health {
    Good,
    Doubtful,
    Bad,
}

impl Health {
    fn word(self) -> &'static str {
        match self {
            Health::Good => "ok",
            Health::Doubtful => "warning",
            Health::Bad => "problem",
        }
    }

    fn style(self) -> &'static str {
        match self {
            Health::Good => "<{%fg 2%}>",
            Health::Doubtful => "<{%fg 3%}>",
            Health::Bad => "<{%fg 1%}>",
        }
    }
}

/// Result of a check.
struct Finding {
    name: &'static str,
    health: Health,
    detail: String,
    /// Instruction for a fix.
    fix: Option<String>,
}

impl Finding {
    fn good(name: &'static str, detail: impl Into<String>) -> Self {
        Finding {
            name,
            health: Health::Good,
            detail: detail.into(),
            fix: None,
        }
    }

    fn of(
        name: &'static str,
        health: Health,
        detail: impl Into<String>,
        fix: impl Into<String>,
    ) -> Self {
        Finding {
            name,
            health,
            detail: detail.into(),
            fix: Some(fix.into()),
        }
    }
}

/// Runs `doctor`.
pub fn run(args: DoctorArgs, ctx: &Context) -> Result<ExitStatus, Error> {
    let as_json = wants_json(args.json, &args.output)?;
    let mut findings = vec![home(ctx)];
    let project = project(ctx, &mut findings);
    if let Some(project) = project {
        tools(project, &mut findings);
    }
    if backend(ctx, &mut findings)
        && let Some(stack) = stack(args.stack.as_deref(), ctx, &mut findings)
    {
        state(&stack, project, ctx, &mut findings);
    }
    for fix in findings.iter_mut().filter_map(|it| it.fix.as_mut()) {
        *fix = ctx.printer.named(fix).into_owned();
    }
    let is_bad = findings.iter().any(|it| it.health == Health::Bad);
    if as_json {
        ctx.printer.data(&document(&findings));
    } else {
        ctx.printer.styled(&text(&findings));
    }
    Ok(if is_bad {
        ExitStatus::Failure
    } else {
        ExitStatus::Success
    })
}

fn document(findings: &[Finding]) -> String {
    let checks: Vec<_> = findings
        .iter()
        .map(|it| {
            json!({
                "name": it.name,
                "status": it.health.word(),
                "detail": it.detail,
                "fix": it.fix,
            })
        })
        .collect();
    let healthy = findings.iter().all(|it| it.health != Health::Bad);
    pretty(
        &json!({ "healthy": healthy, "checks": checks }),
        Indent::Two,
    )
}

fn text(findings: &[Finding]) -> String {
    let mut out = String::new();
    let widest = findings.iter().map(|it| it.name.len()).max().unwrap_or(0);
    for it in findings {
        let word = format!("{}{:7}<{{%reset%}}>", it.health.style(), it.health.word());
        let mut lines = it.detail.lines();
        let first = lines.next().unwrap_or_default();
        let _ = writeln!(out, "{word}  {:widest$}  {first}", it.name);
        let indent = widest + 11;
        for line in lines {
            let _ = writeln!(out, "{:indent$}{line}", "");
        }
        if let Some(fix) = &it.fix {
            let _ = writeln!(out, "{:indent$}fix: {fix}", "");
        }
    }
    let count = |health| findings.iter().filter(|it| it.health == health).count();
    let (bad, doubtful) = (count(Health::Bad), count(Health::Doubtful));
    let _ = match (bad, doubtful) {
        (0, 0) => writeln!(out, "\nNothing is wrong."),
        _ => writeln!(out, "\n{bad} problems, {doubtful} warnings."),
    };
    out
}

fn told(error: &Error) -> String {
    error.text().unwrap_or_default()
}

fn home(ctx: &Context) -> Finding {
    let folder = &ctx.environment.pulumi_home;
    let probe = folder.join(format!(".doctor-{}", std::process::id()));
    let written = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&probe, ""));
    let _ = std::fs::remove_file(&probe);
    match written {
        Ok(()) => Finding::good("home", folder.display().to_string()),
        Err(error) => Finding::of(
            "home",
            Health::Bad,
            format!("{} cannot be written: {error}", folder.display()),
            "give yourself the rights to it, or set PULUMI_HOME to another folder",
        ),
    }
}

fn project<'c>(ctx: &'c Context, findings: &mut Vec<Finding>) -> Option<&'c LoadedProject> {
    match ctx.find_project() {
        Ok(Some(project)) => {
            let name = project.project.name.as_str();
            let detail = format!("{name} in {}", project.root().display());
            findings.push(Finding::good("project", detail));
            if let Err(error) = project.check_version() {
                let fix =
                    "change `requiredPulumiVersion` in the project file, or use another version";
                findings.push(Finding::of("version", Health::Bad, told(&error), fix));
            }
            Some(project)
        }
        Ok(None) => {
            findings.push(Finding::of(
                "project",
                Health::Doubtful,
                "there is no project here",
                "go to a folder with a Pulumi.yaml, or run `plumb new`",
            ));
            None
        }
        Err(error) => {
            let fix = "fix the project file";
            findings.push(Finding::of("project", Health::Bad, told(&error), fix));
            None
        }
    }
}

/// Programs that a language needs (any one of each group), and how to install them.
fn needed(runtime: &str) -> (&'static [&'static [&'static str]], &'static str) {
    match runtime {
        "python" => (&[&["python3", "python"]], "install Python 3.10 or newer"),
        "nodejs" => (
            &[&["node"], &["npm", "pnpm", "yarn", "bun"]],
            "install Node.js 20 or newer with npm",
        ),
        "bun" => (&[&["bun"]], "install Bun"),
        "go" => (&[&["go"]], "install Go"),
        "java" => (
            &[&["java"], &["mvn", "gradle"]],
            "install a JDK of version 11 or newer, and Maven or Gradle",
        ),
        "dotnet" => (&[&["dotnet"]], "install the .NET SDK"),
        "rust" => (&[&["cargo"]], "install Rust with rustup"),
        _ => (&[], ""),
    }
}

fn tools(project: &LoadedProject, findings: &mut Vec<Finding>) {
    let Some(runtime) = &project.project.runtime else {
        return;
    };
    let (groups, fix) = needed(runtime.name.as_str());
    for group in groups {
        let found = group.iter().find_map(|tool| Some((tool, version(tool)?)));
        findings.push(match found {
            Some((tool, version)) => Finding::good("tools", format!("{tool}: {version}")),
            None => Finding::of(
                "tools",
                Health::Bad,
                format!("{} is not on the PATH", group.join(" or ")),
                fix,
            ),
        });
    }
}

/// First line of a tool's version output.
fn version(tool: &str) -> Option<String> {
    let argument = if tool == "go" { "version" } else { "--version" };
    let output = Command::new(tool)
        .arg(argument)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().find(|line| !line.trim().is_empty())?;
    output.status.success().then(|| line.trim().to_owned())
}

fn backend(ctx: &Context, findings: &mut Vec<Finding>) -> bool {
    let listed = ctx.backend().and_then(|backend| {
        let stacks = backend.stack_names(&plumb_backend::StackFilter::default())?;
        Ok((backend.shown_url(), stacks.len()))
    });
    match listed {
        Ok((url, count)) => {
            let detail = format!("{url} ({count} stacks)");
            findings.push(Finding::good("backend", detail));
            true
        }
        Err(error) => {
            let fix = "run `plumb login URL` with the address of a backend that can be reached, or set PULUMI_BACKEND_URL";
            findings.push(Finding::of("backend", Health::Bad, told(&error), fix));
            false
        }
    }
}

fn stack(name: Option<&str>, ctx: &Context, findings: &mut Vec<Finding>) -> Option<Stack> {
    let chosen = match name {
        Some(name) => ctx.require_stack(Some(name), IfMissing::Fail).map(Some),
        None => ctx.selected_stack(),
    };
    match chosen {
        Ok(Some(stack)) => {
            findings.push(Finding::good("stack", stack.shown.clone()));
            Some(stack)
        }
        Ok(None) => {
            let fix = "run `plumb stack select NAME` or `plumb stack init NAME`";
            let finding = Finding::of("stack", Health::Doubtful, "no stack is selected", fix);
            findings.push(finding);
            None
        }
        Err(error) => {
            let fix = "run `plumb stack ls` to see which stacks there are";
            findings.push(Finding::of("stack", Health::Bad, told(&error), fix));
            None
        }
    }
}

fn state(
    stack: &Stack,
    project: Option<&LoadedProject>,
    ctx: &Context,
    findings: &mut Vec<Finding>,
) {
    findings.push(locks(stack));
    let state = match ctx.load_state(stack) {
        Ok(state) => state,
        Err(error) => {
            let fix = "run `plumb state restore N` with a number of `plumb stack history`, or import a copy with `plumb stack import`";
            findings.push(Finding::of("state", Health::Bad, told(&error), fix));
            return;
        }
    };
    if let StackState::Folded(_) = state {
        findings.push(Finding::of(
            "journal",
            Health::Doubtful,
            "an update is under way, or was interrupted; what it had done is known",
            "if none is under way, run `plumb up`: it goes on from there",
        ));
    }
    if let Some(snapshot) = state.opaque() {
        findings.push(integrity(snapshot));
        findings.extend(pending(snapshot));
        plugins(snapshot, project, ctx, findings);
    }
    findings.push(secrets(stack, &state, ctx));
}

fn locks(stack: &Stack) -> Finding {
    match stack.backend.locks(&stack.reference) {
        Ok(locks) if locks.is_empty() => Finding::good("lock", "nobody has locked the stack"),
        Ok(locks) => Finding::of(
            "lock",
            Health::Doubtful,
            format!("the stack is locked:\n{}", locks.join("\n")),
            "wait for the update to end; if nobody runs one, run `plumb cancel`",
        ),
        Err(error) => Finding::of(
            "lock",
            Health::Bad,
            plumb_operate::error::chain(&error),
            "see whether the backend can be reached",
        ),
    }
}

fn integrity(snapshot: &Snapshot) -> Finding {
    match snapshot.verify() {
        Ok(()) => Finding::good("state", format!("{} resources", snapshot.resources.len())),
        Err(error) => Finding::of(
            "state",
            Health::Bad,
            plumb_operate::error::chain(&error),
            "run `plumb state repair`",
        ),
    }
}

fn pending(snapshot: &Snapshot) -> Option<Finding> {
    let count = snapshot.pending_operations.len();
    (count > 0).then(|| {
        Finding::of(
            "pending",
            Health::Doubtful,
            format!("{count} operations were interrupted, and nobody knows how they ended"),
            "run `plumb refresh`: it asks about those that created something",
        )
    })
}

fn plugins(
    snapshot: &Snapshot,
    project: Option<&LoadedProject>,
    ctx: &Context,
    findings: &mut Vec<Finding>,
) {
    let discovery = plumb_operate::packages::discovery(&ctx.environment, project);
    let mut specs: Vec<(String, Option<semver::Version>)> = snapshot
        .resources
        .iter()
        .filter_map(|state| {
            let package = state.type_token.provided_package()?;
            let version = state.inputs.get("version").and_then(|it| it.as_str());
            Some((
                package.to_owned(),
                version.and_then(|it| semver::Version::parse(it).ok()),
            ))
        })
        .collect();
    specs.sort();
    specs.dedup();
    for (name, version) in specs {
        let shown = version
            .as_ref()
            .map_or_else(|| name.clone(), |version| format!("{name} {version}"));
        let spec = PluginSpec {
            version: version.clone(),
            ..PluginSpec::named(&name)
        };
        if plumb_providers::factory(&name).is_some_and(|builtin| builtin.fits(&spec)) {
            findings.push(Finding::good("plugin", format!("{shown}, built in")));
            continue;
        }
        // Dynamic providers are part of the SDKs.
        if name.starts_with("pulumi-") {
            continue;
        }
        findings.push(
            match discovery.find(PluginKind::Resource, &name, version.as_ref(), None) {
                Ok(_) => Finding::good("plugin", shown),
                Err(error) => {
                    let at = version.map_or_else(String::new, |version| format!(" {version}"));
                    Finding::of(
                        "plugin",
                        Health::Bad,
                        plumb_operate::error::chain(&error),
                        format!("run `plumb plugin install resource {name}{at}`"),
                    )
                }
            },
        );
    }
}

fn secrets(stack: &Stack, state: &StackState, ctx: &Context) -> Finding {
    let Some(provider) = state.provider() else {
        return Finding::good("secrets", "the state has none");
    };
    let name = provider.type_name.clone();
    // Without secrets, any passphrase would be accepted.
    let opened = ctx.codec_of(Some(provider)).and_then(|codec| {
        codec.0.encrypt(&["x".into()])?;
        ctx.decrypt_state(state)
    });
    match opened {
        Ok(_) => Finding::good("secrets", format!("{name}: the state can be decrypted")),
        Err(error) => {
            let fix = if name.contains("passphrase") {
                "set PULUMI_CONFIG_PASSPHRASE or PULUMI_CONFIG_PASSPHRASE_FILE to the passphrase of the stack".to_owned()
            } else {
                format!(
                    "see whether you may use the key, or run `plumb stack change-secrets-provider` where stack '{}' can be \
                     decrypted",
                    stack.shown
                )
            };
            Finding::of("secrets", Health::Bad, told(&error), fix)
        }
    }
}
