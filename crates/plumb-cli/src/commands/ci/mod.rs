//! `ci`: the operation that fits the event of a pipeline, with a report where people look.
//!
//! 1. [`Pipeline`] finds out which event started the pipeline, from the variables of its system.
//! 2. The operation runs as if its command had been started, and writes a report in Markdown.
//! 3. The report is published: as a comment on the change, as an issue about drift, and as the summary of the job ([`publish`]). If
//!    that fails, there is a warning: the result of the operation does not depend on it.

mod forge;
mod pipeline;
mod publish;

use std::fmt;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use clap::Args;
use plumb_operate::{Context, Error, ExitStatus};

use crate::args::GlobalArgs;
use crate::args::{self, Parsed};
use crate::cli::Command;
use crate::commands::operations::args::ReportArgs;

use pipeline::Pipeline;
use publish::Publication;

/// Run what the event of a pipeline calls for, and report it where people look
///
/// A change that is proposed is previewed, what has reached the default branch is applied with `up --yes`, a schedule looks for
/// drift, and any other branch is previewed. The report becomes a comment on the pull or merge request, which later runs replace,
/// and the summary of the job. Comments need GITHUB_TOKEN or GITLAB_TOKEN.
///
/// Examples:
///   plumb ci --stack production                    does what the event calls for
///   plumb ci --stack production --issue            also opens an issue about drift, and closes it again
///   plumb ci preview --plan plan.json -- --diff    always a preview, which saves a plan, with a flag of `plumb preview`
#[derive(Args, Clone, Debug)]
#[command(verbatim_doc_comment)]
pub struct CiArgs {
    /// The name of the stack to operate on. Defaults to the current stack
    #[arg(short, long)]
    pub stack: Option<String>,
    /// Write a comment on the pull or merge request
    #[arg(long, default_value_t = true, action = clap::ArgAction::Set, num_args = 0..=1)]
    pub comment: bool,
    /// Open an issue when something has drifted, and close it when nothing has drifted any more
    #[arg(long)]
    pub issue: bool,
    /// Path of an update plan: previews save it, and updates do nothing else
    #[arg(long)]
    pub plan: Option<String>,
    /// Keep the report in Markdown in a file at this path
    #[arg(long)]
    pub report: Option<String>,
    /// The operation (preview, up, drift or destroy) and, after --, further flags for it
    pub arguments: Vec<String>,
}

/// An operation that pipelines run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    Preview,
    Up,
    Drift,
    Destroy,
}

impl Operation {
    const ALL: [Operation; 4] = [
        Operation::Preview,
        Operation::Up,
        Operation::Drift,
        Operation::Destroy,
    ];

    /// The command.
    fn name(self) -> &'static str {
        match self {
            Operation::Preview => "preview",
            Operation::Up => "up",
            Operation::Drift => "drift",
            Operation::Destroy => "destroy",
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Runs `ci`.
pub fn run(args: &CiArgs, ctx: &Context) -> Result<ExitStatus, Error> {
    let pipeline = Pipeline::of(&ctx.environment);
    let (named, flags) = split(&args.arguments)?;
    let operation = match named {
        Some(operation) => operation,
        None => pipeline.operation()?,
    };
    let folder = tempfile::tempdir()?;
    let (command, file) = match parse(operation, flags, args, folder.path(), ctx)? {
        Asked::Run { command, report } => (command, report),
        Asked::Help(text, status) => {
            ctx.printer.data(&text);
            return Ok(status);
        }
    };
    // A report of an earlier run must not be published when this run ends before it has one.
    remove(&file)?;
    let result = command.run(ctx);
    let publication = Publication {
        operation,
        subject: Subject::of(args, ctx),
        report: std::fs::read_to_string(file).ok(),
        failure: result.as_ref().err().and_then(Error::text),
        status: result.as_ref().map_or_else(Error::status, |it| *it),
    };
    publication.publish(args, &pipeline, ctx);
    result
}

fn remove(file: &Path) -> Result<(), Error> {
    match std::fs::remove_file(file) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(Error::from(error).context(file.display()))
        }
        _ => Ok(()),
    }
}

/// The operation among the arguments, and the flags for it.
fn split(arguments: &[String]) -> Result<(Option<Operation>, &[String]), Error> {
    let Some(first) = arguments.first().filter(|it| !it.starts_with('-')) else {
        return Ok((None, arguments));
    };
    let named = Operation::ALL.into_iter().find(|it| it.name() == first);
    let Some(operation) = named else {
        let names = Operation::ALL.map(Operation::name).join(", ");
        return Err(Error::user(format!(
            "`ci` does not run `{first}`: the operations are {names}"
        )));
    };
    Ok((Some(operation), &arguments[1..]))
}

/// Outcome of parsing.
enum Asked {
    /// An operation, and the path of its report.
    Run {
        command: Box<Command>,
        report: PathBuf,
    },
    Help(String, ExitStatus),
}

/// Parses the operation with its flags, like the words of a command line.
fn parse(
    operation: Operation,
    flags: &[String],
    args: &CiArgs,
    folder: &Path,
    ctx: &Context,
) -> Result<Asked, Error> {
    let mut environment = ctx.environment.clone();
    environment.arguments = words(operation, args)?;
    environment.arguments.extend_from_slice(flags);
    let cli = match args::parse(&environment)? {
        Parsed::Command(cli) => *cli,
        Parsed::Help { text, status } => return Ok(Asked::Help(text, status)),
        Parsed::Refused { error, .. } => return Err(error),
        Parsed::Version => return Err(misplaced("version")),
    };
    check_globals(&cli.globals, ctx)?;
    let mut command = cli
        .command
        .expect("the parser shows the help when there is no command");
    if shows_secrets(&command) {
        return Err(Error::user(
            "`ci` publishes its report, so it does not take --show-secrets",
        ));
    }
    let reports = report_of(&mut command).expect("every operation has reports");
    let wanted = reports.markdown.as_ref().or(args.report.as_ref());
    let report = match wanted {
        Some(file) => ctx.environment.cwd.join(file),
        None => folder.join("report.md"),
    };
    reports.is_internal = wanted.is_none();
    reports.markdown = Some(report.to_string_lossy().into_owned());
    Ok(Asked::Run {
        command: Box::new(command),
        report,
    })
}

/// The words of the operation, without the flags that the user has for it.
fn words(operation: Operation, args: &CiArgs) -> Result<Vec<String>, Error> {
    let mut words = vec![operation.name().to_owned()];
    if matches!(operation, Operation::Up | Operation::Destroy) {
        words.push("--yes".to_owned());
    }
    if let Some(stack) = &args.stack {
        words.push(format!("--stack={stack}"));
    }
    match (&args.plan, operation) {
        (None, _) => {}
        (Some(file), Operation::Preview) => words.push(format!("--save-plan={file}")),
        (Some(file), Operation::Up) => words.push(format!("--plan={file}")),
        (Some(_), Operation::Drift | Operation::Destroy) => {
            return Err(Error::user(format!(
                "`{operation}` has no plan: leave out --plan"
            )));
        }
    }
    Ok(words)
}

/// Files for reports of an operation.
fn report_of(command: &mut Command) -> Option<&mut ReportArgs> {
    match command {
        Command::Up(args) => Some(&mut args.report),
        Command::Preview(args) => Some(&mut args.report),
        Command::Drift(args) => Some(&mut args.report),
        Command::Destroy(args) => Some(&mut args.report),
        _ => None,
    }
}

fn shows_secrets(command: &Command) -> bool {
    match command {
        Command::Up(args) => args.update.show_secrets,
        Command::Preview(args) => args.update.show_secrets,
        _ => false,
    }
}

/// Refuses flags of all commands among those of the operation, because they apply to this command already.
fn check_globals(given: &GlobalArgs, ctx: &Context) -> Result<(), Error> {
    let all = GlobalArgs::augment_args(clap::Command::new("globals"));
    let mut names = all.get_arguments().filter_map(clap::Arg::get_long);
    let own = &ctx.globals.user_flags;
    let is_new = |name: &&str| given.user_flags.contains_key(*name) && !own.contains_key(*name);
    match names.find(is_new) {
        Some(name) => Err(misplaced(name)),
        None => Ok(()),
    }
}

fn misplaced(flag: &str) -> Error {
    Error::user(format!(
        "the flag --{flag} is one of `ci` itself: write it before the --"
    ))
}

/// Subject of the reports, as far as it is known without the store and without a readable project.
struct Subject {
    project: Option<String>,
    stack: String,
    /// Folder of the project in the repository.
    folder: String,
}

impl Subject {
    fn of(args: &CiArgs, ctx: &Context) -> Self {
        let given = args.stack.as_deref().filter(|it| !it.is_empty());
        let named = given.or_else(|| ctx.environment.non_empty("PULUMI_STACK"));
        let selected = || Some(ctx.selected_stack().ok()??.reference.stack.to_string());
        let stack = match named {
            Some(name) => name.rsplit('/').next().map(str::to_owned),
            None => selected(),
        };
        let cwd = &ctx.environment.cwd;
        let root = ["GITHUB_WORKSPACE", "CI_PROJECT_DIR"]
            .iter()
            .find_map(|name| ctx.environment.non_empty(name));
        let folder = root.and_then(|root| cwd.strip_prefix(root).ok());
        Subject {
            project: ctx.project_name().ok().flatten().map(ToString::to_string),
            stack: stack.unwrap_or_default(),
            folder: folder.unwrap_or(Path::new("")).display().to_string(),
        }
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(project) = &self.project {
            write!(f, "{project}/")?;
        }
        f.write_str(&self.stack)
    }
}
