//! Traces: durations within a command (`cli.md` 1.2, 12).
//!
//! 1. Code that takes time opens spans with the target [`plumb_engine::spans::TARGET`]: the engine for its steps and
//!    calls, this crate for the work around them.
//! 2. `recorder` writes ended spans to the file that `--tracing` or `--otel-traces` names, in the file format of
//!    OpenTelemetry (`wire`): lines of JSON, each with some spans. Other tools can read them.
//! 3. `view-trace` shows such a file as a page (`page`), `convert-trace` converts it to another format (`chrome`).
//!
//! **Traces contain no values**: only names, URNs, durations, and whether something failed. Nothing is recorded unless
//! requested.

pub(crate) mod chrome;
pub(crate) mod page;
mod recorder;
#[cfg(test)]
mod tests;
pub(crate) mod wire;

use std::path::PathBuf;
use std::sync::Arc;

use tracing::Span;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::registry::LookupSpan;

use crate::cli::GlobalArgs;
use crate::{Environment, ExitStatus, Printer};

use recorder::{Lineage, Recorder};

pub(crate) use plumb_engine::spans::{FAILED, TARGET};

/// A trace that is being written, with the span of the command.
#[must_use]
pub(crate) struct Trace {
    recorder: Option<Arc<Recorder>>,
    command: Span,
}

impl Trace {
    /// Creates the file named by the flags. An error is only a warning, because it must not fail the command.
    pub(crate) fn open(globals: &GlobalArgs, environment: &Environment, printer: &Printer) -> Self {
        let recorder = wanted(globals, environment, printer).and_then(|path| {
            let lineage = Lineage::of(environment.get("TRACEPARENT"));
            match Recorder::create(&path, lineage) {
                Ok(recorder) => Some(Arc::new(recorder)),
                Err(error) => {
                    let path = path.display();
                    printer.warning(&format!("no trace is written: {path}: {error}"));
                    None
                }
            }
        });
        Trace {
            recorder,
            command: Span::none(),
        }
    }

    /// Subscriber layer that records spans; `None` if no trace is written.
    pub(crate) fn layer<S>(&self) -> Option<impl Layer<S> + use<S>>
    where
        S: tracing::Subscriber + for<'s> LookupSpan<'s>,
    {
        let recorder = self.recorder.clone()?;
        Some(recorder::Spans(recorder).with_filter(filter_fn(|it| it.target() == TARGET)))
    }

    /// Opens the span of the command.
    pub(crate) fn begin(&mut self, globals: &GlobalArgs) {
        let words = globals.command.join(" ");
        self.command = tracing::info_span!(
            target: TARGET, "command", otel.name = %format_args!("plumb {words}"), exit_code = tracing::field::Empty,
            outcome = tracing::field::Empty,
        );
    }

    /// Runs `work` within the span of the command.
    pub(crate) fn within<T>(&self, work: impl FnOnce() -> T) -> T {
        self.command.in_scope(work)
    }

    /// Ends the span of the command, and writes the rest of the trace.
    pub(crate) fn end(self, status: ExitStatus, printer: &Printer) {
        self.command.record("exit_code", status.code());
        if status != ExitStatus::Success {
            self.command.record("outcome", FAILED);
        }
        drop(self.command);
        if let Some(Err(error)) = self.recorder.map(|recorder| recorder.finish()) {
            printer.warning(&format!("the trace is not complete: {error}"));
        }
    }
}

/// Path of the trace file. Warns of targets that are not files, which are not supported.
fn wanted(globals: &GlobalArgs, environment: &Environment, printer: &Printer) -> Option<PathBuf> {
    let mut wanted = None;
    let flags = [
        ("tracing", "file:PATH", &globals.tracing),
        ("otel-traces", "file://PATH", &globals.otel_traces),
    ];
    for (flag, form, target) in flags {
        let Some(target) = target.as_deref().filter(|target| !target.is_empty()) else {
            continue;
        };
        match file_of(target) {
            Some(path) if wanted.is_none() => wanted = Some(environment.cwd.join(path)),
            Some(_) => printer.warning(&format!(
                "--{flag} has no effect: the trace is written to the file that --tracing names"
            )),
            // The address is not printed, because it may contain a password.
            None => printer.warning(&format!(
                "--{flag} has no effect: traces go to files alone; `--{flag} {form}` writes one, `plumb view-trace PATH` shows it"
            )),
        }
    }
    wanted.or_else(|| profile(globals, environment))
}

/// Path for `--profiling`, which writes a trace: one file per process; there are no profiles of CPU or memory.
fn profile(globals: &GlobalArgs, environment: &Environment) -> Option<PathBuf> {
    let prefix = globals.profiling.as_deref().filter(|it| !it.is_empty())?;
    let name = format!("{prefix}.{}.trace", std::process::id());
    Some(environment.cwd.join(name))
}

/// Path in `file:PATH` and `file://PATH`.
fn file_of(target: &str) -> Option<&str> {
    let path = target.strip_prefix("file:")?;
    Some(path.strip_prefix("//").unwrap_or(path)).filter(|path| !path.is_empty())
}
