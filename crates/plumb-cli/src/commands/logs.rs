//! `logs` (`cli.md` 12): logs of resources, and log files of runs.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use clap::{Args, Subcommand};
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use plumb_operate::context::IfMissing;
use plumb_operate::identity::Code;
use plumb_operate::json::{Indent, pretty};
use plumb_operate::table::{Table, human_size};
use plumb_operate::{Context, Error, ExitStatus, prompt};
use plumb_resource::{ResourceState, Urn};
use plumb_state::Snapshot;
use rustc_hash::FxHashSet;
use serde_json::json;

use crate::times::{json_time, time_ago};

/// Show aggregated resource logs for a stack
///
/// Logs that clouds keep of functions and services are not read yet: where a stack has such resources, it is refused. The log
/// files of runs, which `--verbose` writes, are listed by `logs list`.
#[derive(Args, Debug)]
pub struct LogsArgs {
    /// The name of the stack to operate on. Defaults to the current stack
    #[arg(short, long)]
    pub stack: Option<String>,
    /// Use the configuration values in the specified file rather than detecting the file name
    #[arg(long)]
    pub config_file: Option<String>,
    /// Emit output as JSON
    #[arg(short, long)]
    pub json: bool,
    /// Follow the log stream in real time
    #[arg(short, long)]
    pub follow: bool,
    /// Only return logs newer than a relative duration ('5s', '2m', '3h') or absolute timestamp
    #[arg(long, default_value = "1h")]
    pub since: String,
    /// Only return logs for the requested resource ('name', 'type::name' or full URN)
    #[arg(short, long)]
    pub resource: Option<String>,
    /// The verb.
    #[command(subcommand)]
    pub verb: Option<LogsVerb>,
}

/// What to do with log files.
#[derive(Subcommand, Debug)]
pub enum LogsVerb {
    /// List the log files of runs
    #[command(alias = "ls")]
    List(ListArgs),
    /// Show a log file
    Decrypt(DecryptArgs),
    /// Remove log files
    Remove(RemoveArgs),
    /// Share a log file with the makers of the service
    #[command(hide = true)]
    Share(crate::cli::LaterArgs),
}

/// Arguments of `logs list`.
#[derive(Args, Debug)]
pub struct ListArgs {
    /// Emit output as JSON
    #[arg(short, long)]
    pub json: bool,
}

/// Arguments of `logs decrypt`.
#[derive(Args, Debug)]
pub struct DecryptArgs {
    /// Take the newest log file
    #[arg(long)]
    pub latest: bool,
    /// The log file
    pub file: Option<String>,
}

/// Arguments of `logs remove`.
#[derive(Args, Debug)]
pub struct RemoveArgs {
    /// Only remove log files from before this time (RFC 3339)
    #[arg(long)]
    pub before: Option<String>,
    /// Remove all log files
    #[arg(long)]
    pub all: bool,
    /// Skip confirmation prompts
    #[arg(short, long)]
    pub yes: bool,
}

/// Runs `logs` or a verb below it.
pub fn run(args: LogsArgs, ctx: &Context) -> Result<ExitStatus, Error> {
    match args.verb {
        None => resource_logs(&args, ctx)?,
        Some(LogsVerb::List(args)) => list(&args, ctx),
        Some(LogsVerb::Decrypt(args)) => show(&args, ctx)?,
        Some(LogsVerb::Remove(args)) => return remove(&args, ctx),
        Some(LogsVerb::Share(_)) => return Err(Error::needs_service("`logs share`")),
    }
    Ok(ExitStatus::Success)
}

/// Resource types whose logs the reference reads, each with the cloud's API.
const KINDS_WITH_LOGS: [&str; 7] = [
    "aws:cloudwatch/logGroup:LogGroup",
    "aws:lambda/function:Function",
    "cloud:function:Function",
    "cloud:logCollector:LogCollector",
    "cloud:service:Service",
    "cloud:task:Task",
    "gcp:cloudfunctions/function:Function",
];

/// Logs of the stack's resources: an empty list if no resource has a type with logs, and otherwise an error, because reading
/// logs is not implemented and an empty list would be misleading.
fn resource_logs(args: &LogsArgs, ctx: &Context) -> Result<(), Error> {
    let since = since(&args.since)?;
    let stack = ctx.require_stack(args.stack.as_deref(), IfMissing::Fail)?;
    let state = ctx.load_state(&stack)?;
    let nothing = Snapshot::default();
    let resources = &state.opaque().unwrap_or(&nothing).resources;
    if let Some(found) = with_logs(resources, args.resource.as_deref()) {
        return Err(Error::unsupported(format!(
            "reading the logs of {} ({})",
            found.urn.name(),
            found.urn.type_text(),
        )));
    }
    if args.json {
        ctx.printer.line("[]");
        return Ok(());
    }
    ctx.printer.line(&format!(
        "Collecting logs for stack {} since {}.",
        stack.shown,
        json_time(since)
    ));
    ctx.printer.line("");
    // With `--follow`, the command would never end.
    let end = if args.follow {
        ", and there is nothing to follow"
    } else {
        ""
    };
    ctx.printer
        .info(&format!("No resource that was asked for has logs{end}."));
    Ok(())
}

/// First resource that matches `wanted` or has such an ancestor.
fn with_logs<'a>(
    resources: &'a [Arc<ResourceState>],
    wanted: Option<&str>,
) -> Option<&'a ResourceState> {
    let mut asked_for: FxHashSet<&Urn> = FxHashSet::default();
    for resource in resources.iter().filter(|resource| !resource.delete) {
        let is_asked_for = wanted.is_none_or(|wanted| is_named(&resource.urn, wanted));
        let is_below = resource
            .parent
            .as_ref()
            .is_some_and(|parent| asked_for.contains(parent));
        if !is_asked_for && !is_below {
            continue;
        }
        asked_for.insert(&resource.urn);
        if KINDS_WITH_LOGS.contains(&resource.urn.type_text()) {
            return Some(resource);
        }
    }
    None
}

/// Whether `--resource` matches the resource: `name`, `type::name`, or the whole URN.
fn is_named(urn: &Urn, wanted: &str) -> bool {
    urn.as_str() == wanted
        || urn.name() == wanted
        || wanted
            .rsplit_once("::")
            .is_some_and(|(kind, name)| urn.name() == name && urn.type_text() == kind)
}

/// Parses `--since`: a duration such as `1h30m` before now, or a date with or without a time.
fn since(text: &str) -> Result<Timestamp, Error> {
    let ago = text.parse::<SignedDuration>().ok();
    let ago = ago.and_then(|ago| Timestamp::now().checked_sub(ago).ok());
    let midnight = text.parse::<Date>().ok();
    let midnight = midnight.and_then(|date| date.to_zoned(TimeZone::UTC).ok());
    ago.or_else(|| text.parse::<Timestamp>().ok())
        .or_else(|| midnight.map(|zoned| zoned.timestamp()))
        .ok_or_else(|| {
            Error::user(format!(
                "failed to parse argument to '--since' as duration or timestamp: {text:?} is neither, as 90s, 2h30m or \
                 2026-01-31T10:00:00Z are"
            ))
        })
}

/// A log file of a run.
struct LogFile {
    path: PathBuf,
    time: SystemTime,
    size: u64,
    /// Process id.
    pid: Option<u32>,
}

/// The log files, the newest first.
fn files(ctx: &Context) -> Vec<LogFile> {
    let folder = ctx.environment.pulumi_home.join("logs");
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let is_log = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "log");
    let paths = entries.flatten().map(|entry| entry.path()).filter(is_log);
    let mut files: Vec<LogFile> = paths
        .filter_map(|path| {
            let metadata = fs::metadata(&path).ok()?;
            let stem = path
                .file_stem()
                .map(|stem| stem.to_string_lossy().into_owned());
            Some(LogFile {
                time: metadata.modified().ok()?,
                size: metadata.len(),
                pid: stem.and_then(|stem| stem.rsplit('-').next()?.parse().ok()),
                path,
            })
        })
        .collect();
    files.sort_by(|left, right| {
        right
            .time
            .cmp(&left.time)
            .then_with(|| right.path.cmp(&left.path))
    });
    files
}

fn list(args: &ListArgs, ctx: &Context) {
    let files = files(ctx);
    if args.json {
        let all: Vec<_> = files
            .iter()
            .map(|file| {
                let mut one = json!({
                    "file": file.path.file_name().map(|name| name.to_string_lossy()),
                    "path": file.path.to_string_lossy(),
                    "size": file.size,
                });
                if let Ok(time) = Timestamp::try_from(file.time) {
                    one["timestamp"] = json_time(time).into();
                }
                if let Some(pid) = file.pid {
                    one["pid"] = pid.into();
                }
                one
            })
            .collect();
        ctx.printer.data(&pretty(&all, Indent::Two));
        return;
    }
    let mut table = Table::new(["CREATED", "PID", "SIZE", "PATH"]);
    for file in files {
        let created = Timestamp::try_from(file.time).map_or_else(|_| "n/a".to_owned(), time_ago);
        table.row([
            created,
            file.pid.map(|pid| pid.to_string()).unwrap_or_default(),
            human_size(file.size),
            file.path.display().to_string(),
        ]);
    }
    ctx.printer.styled(&table.render());
}

/// Prints a log file. Plumb's log files are not encrypted.
fn show(args: &DecryptArgs, ctx: &Context) -> Result<(), Error> {
    let path = match (&args.file, args.latest) {
        (Some(_), true) => {
            return Err(Error::user(
                "only one of --latest and a file may be specified",
            ));
        }
        (Some(file), false) => ctx.environment.cwd.join(file),
        (None, true) => {
            let newest = files(ctx).into_iter().next();
            newest
                .ok_or_else(|| Error::user("there are no log files; `--verbose` writes them"))?
                .path
        }
        (None, false) => {
            return Err(Error::user(
                "a log file must be named, or the newest one taken with --latest",
            ));
        }
    };
    let text = fs::read(&path).map_err(|error| Error::from(error).context(path.display()))?;
    ctx.printer.data(&String::from_utf8_lossy(&text));
    Ok(())
}

fn remove(args: &RemoveArgs, ctx: &Context) -> Result<ExitStatus, Error> {
    let before = match (&args.before, args.all) {
        (Some(_), true) => {
            return Err(Error::user(
                "only one of --before and --all may be specified",
            ));
        }
        (Some(text), false) => Some(text.parse::<Timestamp>().map_err(|error| {
            Error::from(error).context(format!("invalid time {text:?} for --before"))
        })?),
        (None, true) => None,
        (None, false) => return Err(Error::user("one of --before and --all must be specified")),
    };
    let is_old = |file: &LogFile| {
        before.is_none_or(|before| Timestamp::try_from(file.time).is_ok_and(|time| time < before))
    };
    let doomed: Vec<LogFile> = files(ctx).into_iter().filter(is_old).collect();
    if !args.yes && !doomed.is_empty() {
        if !ctx.is_interactive() {
            return Err(
                Error::user("non-interactive mode requires --yes flag").known(Code::NotConfirmed)
            );
        }
        if !prompt::confirm(&format!("Remove {} log files?", doomed.len()))? {
            return Err(Error::shown(ExitStatus::Failure));
        }
    }
    for file in &doomed {
        fs::remove_file(&file.path)
            .map_err(|error| Error::from(error).context(file.path.display()))?;
    }
    ctx.printer
        .line(&format!("Removed {} log files", doomed.len()));
    Ok(ExitStatus::Success)
}
