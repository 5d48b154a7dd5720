//! The command line: argument parsing, one file per verb, and what the user sees of it.
//!
//! This crate knows flags, settings of the environment, prompts, texts and exit codes. It has no business logic: verbs
//! resolve settings, call a library and render the result.
//!
//! Start with [`main`]; [`Context`] is what every verb gets, [`cli`] lists the verbs, [`args`] explains how words become
//! arguments.

mod acquire;
pub mod args;
pub mod catalogue;
pub mod cli;
pub mod commands;
pub mod context;
pub mod environment;
pub mod error;
mod go;
pub mod identity;
pub mod json;
mod language_host;
pub mod logging;
mod metadata;
pub mod operate;
pub mod output;
mod own_version;
mod panics;
pub mod prompt;
mod signals;
pub mod table;
mod trace;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::Arc;

use plumb_events::ColorMode;

use logging::Log;
use trace::Trace;

pub use context::Context;
pub use environment::Environment;
pub use error::{Error, ExitStatus};
pub use output::Printer;

/// The version that is reported. The numbering is the one that programs which drive the command line compare with.
pub const VERSION: &str = "v3.260.0";

/// [`VERSION`] as a version.
pub fn semantic_version() -> semver::Version {
    semver::Version::parse(VERSION.trim_start_matches('v'))
        .expect("the reported version is a version")
}

/// What texts of our own call the program, whatever it was started as.
pub const NAME: &str = "plumb";

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    let program = std::thread::Builder::new()
        .name("main".to_owned())
        .stack_size(STACK);
    // A system with less address space gets its usual stack; deep values may then be too deep.
    match program.spawn(run_program) {
        Ok(program) => program
            .join()
            .unwrap_or_else(|defect| std::panic::resume_unwind(defect)),
        Err(_) => run_program(),
    }
}

/// Stack of the main thread, in bytes: values may be nested in 10,000 levels. Pages that are never touched take no memory.
const STACK: usize = 256 << 20;

/// Stack of the threads beside the main one, in bytes.
pub(crate) const WORKER_STACK: usize = 64 << 20;

fn run_program() -> ExitCode {
    let environment = match Environment::of_process() {
        Ok(environment) => own_version::asked_in_full(environment),
        Err(error) => return report(&Printer::new(ColorMode::Never, NAME), &error).into(),
    };
    let plain =
        || Printer::new(ColorMode::Never, &environment.program).for_terminals_of(&environment);
    panics::install(&environment);
    prompt::set_up(&environment);
    if let Some(name) = language_host::name(&environment) {
        let printer = Arc::new(plain());
        let status = language_host::run(&name, &environment, &printer);
        return status
            .unwrap_or_else(|error| report(&printer, &error))
            .into();
    }
    let status = match args::parse(&environment) {
        Ok(args::Parsed::Command(cli)) => run(environment, *cli),
        Ok(args::Parsed::Help { text, status }) => {
            plain().data(&text);
            status
        }
        Ok(args::Parsed::Version) => {
            plain().line(VERSION);
            ExitStatus::Success
        }
        Ok(args::Parsed::Refused { text, error }) => {
            plain().data(&text);
            refuse(&environment, &error)
        }
        Err(error) => refuse(&environment, &error),
    };
    status.into()
}

fn refuse(environment: &Environment, error: &Error) -> ExitStatus {
    let printer =
        Printer::new(environment.auto_color(), &environment.program).for_terminals_of(environment);
    let status = report(&printer, error);
    advise(environment, &printer, error);
    status
}

fn run(environment: Environment, cli: cli::Cli) -> ExitStatus {
    if cli.globals.tracing_header.is_some() {
        // Only requests to the service have such a header.
        return refuse(&environment, &Error::needs_service("`--tracing-header`"));
    }
    let printer = match Printer::for_flag(&cli.globals.color, &environment) {
        Ok(printer) => Arc::new(printer),
        Err(error) => {
            return report(
                &Printer::new(ColorMode::Never, &environment.program),
                &error,
            );
        }
    };
    let context = match Context::new(environment, printer.clone(), cli.globals) {
        Ok(context) => context,
        Err(error) => return report(&printer, &error),
    };
    let command = cli
        .command
        .expect("the parser shows the help when there is no command");
    let mut trace = Trace::open(&context.globals, &context.environment, &context.printer);
    let log = Log::start(
        &context.globals,
        &context.environment,
        &context.printer,
        &trace,
    );
    trace.begin(&context.globals);
    let ended = catch_unwind(AssertUnwindSafe(|| trace.within(|| command.run(&context))));
    let status = match ended {
        Ok(Ok(status)) => status,
        Ok(Err(error)) => {
            annotate(&context, &error);
            let status = report(&context.printer, &error);
            advise(&context.environment, &context.printer, &error);
            status
        }
        // The user was told when it happened.
        Err(_) => ExitStatus::Internal,
    };
    trace.end(status, &context.printer);
    log.end(&context.printer);
    status
}

/// Marks the error for the system of continuous integration that reads along.
fn annotate(context: &Context, error: &Error) {
    let ci = context.environment.ci_system();
    let annotation = ci
        .zip(error.text())
        .and_then(|(ci, text)| ci.annotation(plumb_events::Severity::Error, "plumb", &text));
    if let Some(annotation) = annotation {
        context.printer.stderr(&annotation);
    }
}

fn report(printer: &Printer, error: &Error) -> ExitStatus {
    if let Some(text) = error.text() {
        printer.error(&text);
    }
    error.status()
}

/// Tells people what an error is about, and what to do about it. Scripts get the error alone.
fn advise(environment: &Environment, printer: &Printer, error: &Error) {
    let text = error.text().filter(|_| environment.stderr_is_terminal);
    let Some(text) = text else { return };
    let identity = error.identity();
    if let Some(subject) = identity.and_then(|it| it.subject.as_ref()) {
        if !subject.is_named_in(&text) {
            printer.info(&format!("  in {subject}"));
        }
        if let Some(snippet) = subject.snippet(&environment.cwd) {
            printer.stderr(&snippet);
        }
    }
    let entry = match identity {
        Some(identity) => Some(catalogue::entry(identity.code)),
        None => catalogue::find(&text),
    };
    if let Some(entry) = entry {
        printer.hint(entry.code.name(), entry.hint);
    }
}
