//! Traces: where the time of a command went (`cli.md` 1.2, 12).
//!
//! 1. What takes time says so with spans of [`plumb_engine::spans::TARGET`]: the engine with its steps and calls, this crate
//!    with what it does around them.
//! 2. `recorder` writes those that have ended to the file that `--tracing` or `--otel-traces` names, in the form that
//!    OpenTelemetry has for files (`wire`): lines of JSON, each with some spans. Other tools read them as well.
//! 3. `view-trace` shows such a file as a page (`page`), `convert-trace` makes another form of it (`chrome`).
//!
//! **Traces hold no values**: names, URNs, durations, and whether something failed. Nothing is recorded unless it is asked for.

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
    /// Creates the file that the flags ask for. A command does not fail because nobody learns how long it took.
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

    /// What records spans, if a trace is written.
    pub(crate) fn layer<S>(&self) -> Option<impl Layer<S> + use<S>>
    where
        S: tracing::Subscriber + for<'s> LookupSpan<'s>,
    {
        let recorder = self.recorder.clone()?;
        Some(recorder::Spans(recorder).with_filter(filter_fn(|it| it.target() == TARGET)))
    }

    /// The command begins: what it does lies in its span.
    pub(crate) fn begin(&mut self, globals: &GlobalArgs) {
        let words = globals.command.join(" ");
        self.command = tracing::info_span!(
            target: TARGET, "command", otel.name = %format_args!("plumb {words}"), exit_code = tracing::field::Empty,
            outcome = tracing::field::Empty,
        );
    }

    /// Does something as part of the command.
    pub(crate) fn within<T>(&self, work: impl FnOnce() -> T) -> T {
        self.command.in_scope(work)
    }

    /// The command has ended: the rest is written.
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

/// The file that the trace goes to. Of traces that go elsewhere, the user hears that there are none.
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
            // The address may hold a password, so it is not repeated.
            None => printer.warning(&format!(
                "--{flag} has no effect: traces go to files alone; `--{flag} {form}` writes one, `plumb view-trace PATH` shows it"
            )),
        }
    }
    wanted.or_else(|| profile(globals, environment))
}

/// Profiles of ours are traces: one file for each process, and none for the processor or the memory.
fn profile(globals: &GlobalArgs, environment: &Environment) -> Option<PathBuf> {
    let prefix = globals.profiling.as_deref().filter(|it| !it.is_empty())?;
    let name = format!("{prefix}.{}.trace", std::process::id());
    Some(environment.cwd.join(name))
}

/// The path in `file:PATH` and `file://PATH`.
fn file_of(target: &str) -> Option<&str> {
    let path = target.strip_prefix("file:")?;
    Some(path.strip_prefix("//").unwrap_or(path)).filter(|path| !path.is_empty())
}
