//! `provider check`: calls of an engine to a provider plugin, and what it relies on in the answers.

use std::collections::BTreeMap;

use clap::Args;
use plumb_conformance::{Finding, Inputs, Options, Rule, Verdict, check};
use plumb_do::package::Package;
use plumb_operate::json::{Indent, pretty};
use plumb_operate::operations::InfoStream;
use plumb_operate::output::Printer;
use plumb_operate::{Context, Error, ExitStatus};
use plumb_project::yaml::{parse, to_json};
use plumb_value::{PropertyMap, Value};
use serde_json::{Value as Json, json};

use plumb_automation::values::Secrets;

/// Check that a provider plugin keeps what engines rely on
///
/// The plugin is a path, or a name with a version (`NAME@VERSION`) or without. Its configuration, its resources and its functions are
/// called as an engine calls them, with inputs that are made up from its schema or given in a file, and the answers are compared with
/// the rules of the protocol and with the schema. Nothing is created unless --create is given: then every resource is created, read,
/// updated and deleted for real. Ends with an error if a rule is broken; advice is not an error.
#[derive(Args, Debug)]
pub struct CheckArgs {
    /// The plugin
    #[arg(value_name = "PLUGIN")]
    pub plugin: String,
    /// Check only this resource or function; may be repeated
    #[arg(long, value_name = "TOKEN", action = clap::ArgAction::Append)]
    pub only: Vec<String>,
    /// A YAML file with inputs by token: either properties, or `inputs`, the `change` to update them to, and arguments of a `list`
    #[arg(long, value_name = "FILE")]
    pub inputs: Option<String>,
    /// Configuration of the provider, as NAME=VALUE; may be repeated
    #[arg(long, value_name = "NAME=VALUE", action = clap::ArgAction::Append)]
    pub config: Vec<String>,
    /// Create, read, update and delete real objects
    #[arg(long)]
    pub create: bool,
    /// Emit output as JSON
    #[arg(short, long)]
    pub json: bool,
}

/// Runs `provider check`.
pub(super) fn run(args: &CheckArgs, ctx: &Context) -> Result<ExitStatus, Error> {
    let options = Options {
        inputs: args
            .inputs
            .as_ref()
            .map(|file| inputs(file, ctx))
            .transpose()?
            .unwrap_or_default(),
        only: args.only.clone(),
        create: args.create,
        config: config(&args.config)?,
    };
    let mut package = Package::open(&args.plugin, Secrets::Hidden, InfoStream::Stderr, ctx)?;
    let (schema, spec) = (package.schema.clone(), package.spec.clone());
    let known = |token: &str| {
        let mut tokens = schema.resource_tokens().chain(schema.function_tokens());
        tokens.any(|it| it == token)
    };
    let mut named = options.only.iter().chain(options.inputs.keys());
    if let Some(token) = named.find(|token| !known(token)) {
        package.standalone_host.close();
        return Err(Error::user(format!(
            "the package {} has no resource and no function {token}",
            schema.name()
        )));
    }
    let host = package.standalone_host.host();
    let found = package.standalone_host.run(async {
        let provider = host.provider(&spec).await?;
        Ok(check(provider.as_ref(), &schema, &options).await)
    });
    package.standalone_host.close();
    let report = Report(found?);
    if args.json {
        ctx.printer.line(&pretty(&report.json(), Indent::Two));
    } else {
        report.show(&ctx.printer, args.create);
    }
    if report.count(Class::Broken) > 0 {
        return Err(Error::shown(ExitStatus::Failure));
    }
    Ok(ExitStatus::Success)
}

fn config(given: &[String]) -> Result<PropertyMap, Error> {
    let mut config = PropertyMap::new();
    for option in given {
        let (name, value) = option
            .split_once('=')
            .ok_or_else(|| Error::user(format!("--config takes NAME=VALUE, and not {option:?}")))?;
        config.insert(name, Value::from(value));
    }
    Ok(config)
}

fn inputs(file: &str, ctx: &Context) -> Result<BTreeMap<String, Inputs>, Error> {
    let wrong = |message: &dyn std::fmt::Display| Error::user(format!("{file}: {message}"));
    let text = std::fs::read_to_string(ctx.environment.cwd.join(file));
    let text = text.map_err(|error| wrong(&error))?;
    let document = parse(&text).map_err(|error| wrong(&error))?;
    let root = document.root.as_ref().map(to_json).transpose();
    let Some(Json::Object(tokens)) = root.map_err(|error| wrong(&error))? else {
        return Err(wrong(&"the file is a mapping of inputs by token"));
    };
    let map = |json: &Json| match Value::from(json) {
        Value::Object(map) => Ok(map.as_ref().clone()),
        _ => Err(wrong(&"inputs are a mapping of properties")),
    };
    let read = |(token, declared): (String, Json)| {
        let inputs = match (declared.get("inputs"), declared.get("change")) {
            (None, None) => Inputs {
                first: map(&declared)?,
                ..Inputs::default()
            },
            (first, changed) => Inputs {
                first: first.map(map).transpose()?.unwrap_or_default(),
                changed: changed.map(map).transpose()?,
                list: declared.get("list").map(map).transpose()?,
            },
        };
        Ok((token, inputs))
    };
    tokens.into_iter().map(read).collect()
}

/// Class of a finding, for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Kept,
    Broken,
    Advice,
    Skipped,
}

fn class(finding: &Finding) -> Class {
    match &finding.verdict {
        Verdict::Kept => Class::Kept,
        Verdict::Broken(_) if finding.rule.is_advice() => Class::Advice,
        Verdict::Broken(_) => Class::Broken,
        Verdict::Skipped(_) => Class::Skipped,
    }
}

impl Class {
    fn name(self) -> &'static str {
        match self {
            Class::Kept => "kept",
            Class::Broken => "broken",
            Class::Advice => "advice",
            Class::Skipped => "skipped",
        }
    }
}

struct Report(Vec<Finding>);

impl Report {
    fn count(&self, of: Class) -> usize {
        self.0.iter().filter(|finding| class(finding) == of).count()
    }

    fn json(&self) -> Json {
        let findings = self.0.iter().map(|finding| {
            let reason = match &finding.verdict {
                Verdict::Kept => None,
                Verdict::Broken(reason) | Verdict::Skipped(reason) => Some(reason),
            };
            json!({
                "subject": finding.subject,
                "rule": finding.rule.name(),
                "result": class(finding).name(),
                "reason": reason,
            })
        });
        let all = [Class::Kept, Class::Broken, Class::Advice, Class::Skipped];
        let counts = all.map(|it| (it.name().to_owned(), Json::from(self.count(it))));
        let mut report = serde_json::Map::from_iter(counts);
        report.insert("findings".to_owned(), findings.collect());
        Json::Object(report)
    }

    fn show(&self, printer: &Printer, has_created: bool) {
        let mut subjects: Vec<&str> = Vec::new();
        for finding in &self.0 {
            if !subjects.contains(&finding.subject.as_str()) {
                subjects.push(&finding.subject);
            }
        }
        for subject in subjects {
            let of: Vec<&Finding> = self.0.iter().filter(|it| it.subject == subject).collect();
            let kept = of.iter().filter(|it| class(it) == Class::Kept).count();
            let title = Printer::headline(subject);
            printer.styled_line(&format!("{title}: {kept} kept"));
            for finding in of {
                show(finding, printer);
            }
        }
        printer.line("");
        let counts = [Class::Kept, Class::Broken, Class::Advice, Class::Skipped];
        let counts = counts.map(|it| format!("{} {}", self.count(it), it.name()));
        printer.line(&counts.join(", "));
        if !has_created {
            let rules = Rule::ALL.len();
            printer.line(&format!(
                "Nothing was created: what needs real objects of the {rules} rules is looked at with --create."
            ));
        }
    }
}

fn show(finding: &Finding, printer: &Printer) {
    let (Verdict::Broken(reason) | Verdict::Skipped(reason)) = &finding.verdict else {
        return;
    };
    let mark = match class(finding) {
        Class::Broken => Printer::attention("broken "),
        class => format!("{:<7}", class.name()),
    };
    let rule = finding.rule;
    printer.styled_line(&format!("  {mark}  {}: {}", rule.name(), rule.text()));
    for line in reason.lines() {
        printer.line(&format!("           {line}"));
    }
}
