//! `stack history`.

pub(crate) mod past;
mod prune;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use clap::{ArgGroup, Args, Subcommand};
use jiff::Timestamp;
use plumb_backend::{Page, UpdateRecord};
use plumb_operate::context::{Stack, StateFallback};
use plumb_operate::json::wants_json;
use plumb_operate::json::{Indent, pretty};
use plumb_operate::{Context, Error};
use plumb_project::config::{ConfigMap, Value};
use plumb_secrets::SecretsManager;
use serde::Serialize;

use super::{TargetArgs, stack_of};
use crate::cli::LaterArgs;
use crate::commands::config::shown;
use crate::times::{full_time, json_time, time_ago};

/// Display history for a stack
///
/// Lists previous updates of the stack, the newest first.
#[derive(Args, Debug)]
#[command(group = ArgGroup::new("history-format").args(["output", "json"]).multiple(false))]
pub struct HistoryArgs {
    /// Show secret values when listing config instead of displaying blinded values
    #[arg(long)]
    pub show_secrets: bool,
    /// Show full dates, instead of relative dates
    #[arg(long)]
    pub full_dates: bool,
    /// Used with 'page' to control number of results returned
    #[arg(long, default_value_t = 10)]
    pub page_size: i32,
    /// Used with 'page-size' to paginate results
    #[arg(long, default_value_t = 1)]
    pub page: i32,
    /// Emit output as JSON
    #[arg(short, long, hide = true)]
    pub json: bool,
    /// Format of the result: default or json
    #[arg(long, default_value = "default")]
    pub output: String,
    /// The verb.
    #[command(subcommand)]
    pub verb: Option<HistoryVerb>,
}

/// What to look at.
#[derive(Subcommand, Debug)]
pub enum HistoryVerb {
    Diff(past::DiffArgs),
    Prune(prune::PruneArgs),
    /// Show events of an update
    #[command(hide = true)]
    Events(LaterArgs),
}

pub(crate) fn run(args: HistoryArgs, target: &TargetArgs, ctx: &Context) -> Result<(), Error> {
    match &args.verb {
        Some(HistoryVerb::Diff(verb)) => return past::diff(verb, target, ctx),
        Some(HistoryVerb::Prune(verb)) => return prune::run(verb, target, ctx),
        Some(HistoryVerb::Events(_)) => {
            return Err(Error::needs_service("`stack history events`"));
        }
        None => {}
    }
    let as_json = wants_json(args.json, &args.output)?;
    let stack = stack_of(target, ctx)?;
    let number = usize::try_from(args.page.max(1)).unwrap_or(1);
    let page = Page {
        size: usize::try_from(args.page_size).unwrap_or(0),
        number,
    };
    let updates = stack.backend.history(&stack.reference, Some(page))?;
    if as_json {
        let manager = revealing_manager(&stack, args.show_secrets, ctx)?;
        let all: Result<Vec<Shown<'_>>, Error> = updates
            .iter()
            .map(|update| json(update, manager.as_deref(), args.show_secrets))
            .collect();
        ctx.printer.data(&pretty(&all?, Indent::Two));
        return Ok(());
    }
    if updates.is_empty() {
        ctx.printer.line(&if args.page > 1 {
            format!("No stack updates found on page '{}'", args.page)
        } else {
            "Stack has never been updated".to_owned()
        });
        return Ok(());
    }
    for update in &updates {
        ctx.printer.styled(&text(update, args.full_dates));
    }
    Ok(())
}

fn revealing_manager(
    stack: &Stack,
    show_secrets: bool,
    ctx: &Context,
) -> Result<Option<std::sync::Arc<dyn SecretsManager>>, Error> {
    if !show_secrets {
        return Ok(None);
    }
    let settings = ctx.stack_settings(stack, None)?;
    let state = ctx.load_state(stack)?;
    Ok(ctx
        .stack_secrets(&settings, stack, state.provider(), StateFallback::Always)?
        .manager())
}

/// An update as JSON has it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Shown<'u> {
    version: u64,
    kind: &'u str,
    start_time: String,
    message: &'u str,
    environment: &'u BTreeMap<String, String>,
    config: BTreeMap<String, shown::Shown>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'u str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end_time: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resource_changes: Option<&'u BTreeMap<String, u64>>,
}

fn json<'u>(
    update: &'u UpdateRecord,
    manager: Option<&dyn SecretsManager>,
    show_secrets: bool,
) -> Result<Shown<'u>, Error> {
    let config = ConfigMap::from_json(&update.config)?;
    let config = config
        .iter()
        .map(|(key, value)| (key.to_string(), config_json(value, manager, show_secrets)));
    let is_over = !update.result.is_empty() && update.result != "in-progress";
    Ok(Shown {
        version: update.version,
        kind: update.kind.as_str(),
        start_time: json_time(seconds(update.start_time)),
        message: &update.message,
        environment: &update.environment,
        config: config.collect(),
        result: is_over.then_some(update.result.as_str()),
        end_time: is_over.then(|| json_time(seconds(update.end_time))),
        resource_changes: update.resource_changes.as_ref().filter(|_| is_over),
    })
}

fn config_json(
    value: &Value,
    manager: Option<&dyn SecretsManager>,
    show_secrets: bool,
) -> shown::Shown {
    let mut shown = shown::Shown {
        value: None,
        object_value: None,
        secret: value.is_secret(),
    };
    if !shown.secret || show_secrets {
        let revealed = value.try_reveal(&mut |ciphertext| {
            let text = manager.and_then(|manager| manager.decrypt(&[ciphertext]).ok()?.pop());
            text.map(|text| text.expose().to_owned()).ok_or(())
        });
        let text = revealed.unwrap_or_else(|()| "ERROR_UNABLE_TO_DECRYPT".to_owned());
        if let Value::Object(_) = value {
            shown.object_value = serde_json::from_str(&text).ok();
        }
        shown.value = Some(text);
    }
    shown
}

fn seconds(seconds: i64) -> Timestamp {
    Timestamp::from_second(seconds).unwrap_or(Timestamp::UNIX_EPOCH)
}

fn text(update: &UpdateRecord, full_dates: bool) -> String {
    let mut out = String::new();
    if update.version > 0 {
        let _ = writeln!(out, "Version: {}", update.version);
    }
    let _ = writeln!(out, "UpdateKind: {}", update.kind);
    let style = match update.result.as_str() {
        "succeeded" => "<{%fg 2%}>",
        "failed" => "<{%fg 1%}>",
        _ => "",
    };
    let reset = if style.is_empty() { "" } else { "<{%reset%}>" };
    let _ = writeln!(out, "Status: {style}{}{reset}", update.result);
    let _ = writeln!(out, "Message: {}", update.message);
    let _ = writeln!(out, "{} {}", counts(update), times(update, full_dates));
    for (key, value) in update
        .environment
        .iter()
        .filter(|(_, value)| !value.is_empty())
    {
        if key == "git.head" {
            let _ = writeln!(out, "    <{{%fg 3%}}>{key}: {value}<{{%reset%}}>");
        } else {
            let _ = writeln!(out, "    {key}: {value}");
        }
    }
    out.push('\n');
    out
}

fn counts(update: &UpdateRecord) -> String {
    let changes = update.resource_changes.as_ref();
    let count = |op: &str| {
        changes
            .and_then(|changes| changes.get(op))
            .copied()
            .unwrap_or(0)
    };
    let part = |background: u8, sign: &str, op: &str| {
        format!(
            "<{{%fg 0%}}><{{%bg {background}%}}>{sign}{}<{{%reset%}}>",
            count(op)
        )
    };
    [
        part(2, "+", "create"),
        part(1, "-", "delete"),
        part(3, "~", "update"),
        part(4, " ", "same"),
    ]
    .concat()
}

fn times(update: &UpdateRecord, full_dates: bool) -> String {
    let start = seconds(update.start_time);
    let took = (update.end_time - update.start_time).max(0);
    let took = match (took / 3600, took / 60 % 60, took % 60) {
        (0, 0, seconds) => format!("{seconds}s"),
        (0, minutes, seconds) => format!("{minutes}m{seconds}s"),
        (hours, minutes, seconds) => format!("{hours}h{minutes}m{seconds}s"),
    };
    let when = if full_dates {
        full_time(start)
    } else {
        time_ago(start)
    };
    format!("Updated {when} took {took}")
}
