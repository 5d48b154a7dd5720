//! `policy test`: the tests beside the rules of a policy pack. Our own.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use plumb_operate::json::{Indent, pretty};
use plumb_operate::operations::{InfoStream, StandaloneHost};
use plumb_operate::output::Printer;
use plumb_operate::{Context, Error, ExitStatus};
use plumb_plugin::analyzer::PolicyManifest;
use plumb_plugin::process::Environment;
use plumb_plugin::{AnalyzedStack, Analyzer, PackPlace, PluginHost, PolicyPack};
use plumb_rules::testing::{Case, Outcome, cases, run_rules};
use serde_json::{Value as Json, json};

use plumb_automation::values::Secrets;

/// Run the tests of a policy pack
///
/// The files *.test.yaml of a pack in any language hold resources and what the policies of the pack say about them; in a pack in Rego,
/// rules called test_NAME in the files *_test.rego are tests too. No program runs and nothing is deployed. Ends with an error if a
/// test fails.
#[derive(Args, Debug)]
pub struct PolicyTestArgs {
    /// Run only the tests whose name contains this text
    #[arg(long, value_name = "TEXT")]
    pub only: Option<String>,
    /// Emit output as JSON
    #[arg(short, long)]
    pub json: bool,
    /// Folder of the policy pack; if not specified, the one that holds the current directory
    #[arg(value_name = "PATH")]
    pub path: Option<String>,
}

/// Results of the tests of a pack.
struct Results {
    name: String,
    version: String,
    policies: usize,
    untested: Vec<String>,
    outcomes: Vec<Outcome>,
}

/// Runs `policy test`.
pub(super) fn run(args: &PolicyTestArgs, ctx: &Context) -> Result<ExitStatus, Error> {
    let folder = folder(args.path.as_deref(), ctx)?;
    let manifest = PolicyManifest::read(&folder)?;
    let is_wanted = |name: &str| args.only.as_ref().is_none_or(|text| name.contains(text));
    let all = cases(&folder)?;
    let mut outcomes = run_rules(&folder, &manifest.plugin.runtime)?;
    outcomes.retain(|outcome| is_wanted(&outcome.name));
    let wanted: Vec<&Case> = all.iter().filter(|case| is_wanted(&case.name)).collect();
    if wanted.is_empty() && outcomes.is_empty() {
        return Err(none(&folder, args.only.as_deref()));
    }
    let is_preview = wanted.iter().any(|case| case.is_preview());
    let mut host = StandaloneHost::open(ctx, Vec::new(), Secrets::Hidden, InfoStream::Stderr)?;
    let plugins = host.host();
    let shown = args.path.clone().unwrap_or_else(|| ".".to_owned());
    let results = host.run(async {
        let pack = start(&plugins, &shown, folder, is_preview).await?;
        let info = pack.info().await?;
        for case in &wanted {
            outcomes.push(case.run(pack.as_ref(), &info).await);
        }
        let mut policies = info.policies.iter().map(|policy| policy.info.name.as_str());
        let untested = policies
            .by_ref()
            .filter(|name| !all.iter().any(|it| it.is_of(name)));
        Ok(Results {
            name: info.name.to_string(),
            version: info.version.to_string(),
            untested: untested.map(ToOwned::to_owned).collect(),
            policies: info.policies.len(),
            outcomes,
        })
    });
    host.close();
    let results = results?;
    if args.json {
        ctx.printer.line(&pretty(&results.json(), Indent::Two));
    } else {
        results.show(&ctx.printer);
    }
    if results.failed() > 0 {
        return Err(Error::shown(ExitStatus::Failure));
    }
    Ok(ExitStatus::Success)
}

/// The folder of the pack: the named one, or the nearest.
fn folder(path: Option<&str>, ctx: &Context) -> Result<PathBuf, Error> {
    let cwd = &ctx.environment.cwd;
    let has_manifest = |folder: &&Path| folder.join("PulumiPolicy.yaml").is_file();
    if let Some(path) = path {
        let folder = cwd.join(path);
        if has_manifest(&folder.as_path()) {
            return Ok(folder);
        }
        return Err(Error::user(format!(
            "there is no PulumiPolicy.yaml in {path}"
        )));
    }
    let nearest = cwd.ancestors().find(has_manifest);
    nearest.map(ToOwned::to_owned).ok_or_else(|| {
        Error::user("there is no PulumiPolicy.yaml here or above")
            .hint("name the folder of the policy pack, or begin one with `plumb policy new cel`")
    })
}

fn none(folder: &Path, only: Option<&str>) -> Error {
    let folder = folder.display();
    match only {
        Some(text) => Error::user(format!("no test in {folder} has {text:?} in its name")),
        None => Error::user(format!("there are no tests in {folder}")).hint(
            "write resources and expectations into a file such as rules.test.yaml; `plumb help policy` has an example",
        ),
    }
}

async fn start(
    plugins: &PluginHost,
    name: &str,
    folder: PathBuf,
    is_preview: bool,
) -> Result<Arc<dyn Analyzer>, Error> {
    let pack = PolicyPack {
        name: name.to_owned(),
        place: PackPlace::Path(folder),
        environment: Environment::new(),
    };
    let stack = AnalyzedStack {
        project: "test".to_owned(),
        stack: "test".to_owned(),
        organization: "organization".to_owned(),
        dry_run: is_preview,
        ..AnalyzedStack::default()
    };
    Ok(plugins.analyzer(&pack, &stack).await?)
}

impl Results {
    fn failed(&self) -> usize {
        let outcomes = self.outcomes.iter();
        outcomes.filter(|outcome| outcome.failure.is_some()).count()
    }

    fn json(&self) -> Json {
        let outcomes = self.outcomes.iter().map(|outcome| {
            json!({
                "name": outcome.name,
                "passed": outcome.failure.is_none(),
                "failure": outcome.failure,
            })
        });
        json!({
            "pack": self.name,
            "version": self.version,
            "passed": self.outcomes.len() - self.failed(),
            "failed": self.failed(),
            "untested": self.untested,
            "tests": outcomes.collect::<Vec<_>>(),
        })
    }

    fn show(&self, printer: &Printer) {
        let version = match self.version.as_str() {
            "" => String::new(),
            version => format!(" {version}"),
        };
        let title = format!("{}{version}", self.name);
        let policies = counted(self.policies, "policy", "policies");
        printer.styled_line(&format!("{}: {policies}", Printer::headline(&title)));
        for outcome in &self.outcomes {
            let Some(failure) = &outcome.failure else {
                printer.line(&format!("  ok    {}", outcome.name));
                continue;
            };
            let mark = Printer::attention("FAIL");
            printer.styled_line(&format!("  {mark}  {}", outcome.name));
            for line in failure.lines() {
                printer.line(&format!("        {line}"));
            }
        }
        printer.line("");
        let passed = counted(self.outcomes.len() - self.failed(), "test", "tests");
        let failed = self.failed();
        printer.line(&format!("{passed} passed, {failed} failed"));
        if !self.untested.is_empty() {
            printer.line(&format!(
                "without a test in YAML: {}",
                self.untested.join(", ")
            ));
        }
    }
}

fn counted(number: usize, one: &str, many: &str) -> String {
    let noun = if number == 1 { one } else { many };
    format!("{number} {noun}")
}
