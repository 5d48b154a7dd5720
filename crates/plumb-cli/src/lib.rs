//! The command line: parsing of arguments, one file per command, and output.
//!
//! This crate knows flags, texts and exit codes. It contains no business logic: commands resolve settings, call a library and
//! render the result. Settings, output and the operations are in [`plumb_operate`].
//!
//! Start with [`main`]; [`Context`] is passed to every command, [`cli`] lists the commands, and [`args`] explains the
//! parsing of arguments.

pub mod args;
pub mod book;
pub mod cli;
pub mod commands;
mod language_host;
pub mod logging;
mod markdown;
mod pager;
mod panics;
mod times;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::Arc;

use plumb_events::ColorMode;
use plumb_operate::trace::Trace;
use plumb_operate::{
    Context, Environment, Error, ExitStatus, NAME, Printer, VERSION, catalogue, prompt,
};

use logging::Log;

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    let program = std::thread::Builder::new()
        .name("main".to_owned())
        .stack_size(STACK);
    // If there is not enough address space, use the default stack, which limits the nesting of values.
    match program.spawn(run_program) {
        Ok(program) => program
            .join()
            .unwrap_or_else(|defect| std::panic::resume_unwind(defect)),
        Err(_) => run_program(),
    }
}

/// Stack size of the main thread in bytes, for values with 10,000 nested levels. Untouched pages use no memory.
const STACK: usize = 256 << 20;

fn run_program() -> ExitCode {
    let environment = match Environment::of_process() {
        Ok(environment) => commands::version::asked_in_full(environment),
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
        // Only requests to Pulumi's service have such a header.
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
    let mut context = match Context::new(environment, printer.clone(), cli.globals.into()) {
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
    trace.begin(&context.globals, &mut context.environment);
    let ended = catch_unwind(AssertUnwindSafe(|| trace.within(|| command.run(&context))));
    let status = match ended {
        Ok(Ok(status)) => status,
        Ok(Err(error)) => {
            annotate(&context, &error);
            let status = report(&context.printer, &error);
            advise(&context.environment, &context.printer, &error);
            status
        }
        // The panic has already been reported.
        Err(_) => ExitStatus::Internal,
    };
    trace.end(status, &context.printer);
    log.end(&context.printer);
    status
}

/// Writes an annotation for the error if a continuous integration system shows the output.
fn annotate(context: &Context, error: &Error) {
    let ci = context.environment.ci_system();
    let annotation = ci.zip(error.text()).and_then(|(ci, text)| {
        let text = context.printer.named(&text);
        ci.annotation(plumb_events::Severity::Error, "plumb", &text)
    });
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

/// Prints the subject of an error and the hint, only on terminals. Scripts get just the error.
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
