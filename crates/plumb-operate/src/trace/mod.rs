//! Traces: durations within a command (`cli.md` 1.2, 12).
//!
//! 1. Code that takes time opens spans with the target [`plumb_engine::spans::TARGET`]: the engine for its steps and
//!    calls, this crate for the work around them.
//! 2. `recorder` gives each span its ids and hands ended ones to a `collection`. Programs and plugins send their own spans to
//!    it, as children of the spans whose ids they get (`plumb_plugin::trace_context`), so that a trace is one tree.
//! 3. The collection exports everything to the `target` that `--otel-traces` or `--tracing` names: a collector of
//!    OpenTelemetry, or a file of lines of JSON, each with some spans (`wire`). Other tools can read both.
//! 4. `view-trace` shows such a file as a page (`page`), `convert-trace` converts it to another format (`chrome`).
//!
//! **Our spans contain no values**: only names, URNs, durations, and whether something failed. Nothing is recorded unless
//! requested. Names are those of the reference where it has such a span, because tools look for them: `pulumi`, `pulumi-plan`
//! and the names of remote procedures.

pub mod chrome;
mod collection;
pub mod page;
mod recorder;
mod target;
#[cfg(test)]
mod tests;
pub mod wire;

use std::sync::Arc;

use plumb_plugin::trace_context::{SpanIds, TRACEPARENT};
use tracing::field::Empty;
use tracing::{Span, info_span};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::registry::LookupSpan;

use crate::context::Globals;
use crate::environment::{arch_name, os_name};
use crate::{Environment, ExitStatus, Printer};

use collection::Collection;
use recorder::Recorder;
use target::{Problem, Target};

pub use collection::ENDPOINT;
pub use plumb_engine::spans::{FAILED, TARGET};

/// A trace that is being recorded, with the span of the command.
#[must_use]
pub struct Trace {
    recording: Option<(Arc<Recorder>, Collection)>,
    command: Span,
}

impl Trace {
    /// Opens the target named by the flags. An error is only a warning, because it must not fail the command.
    pub fn open(globals: &Globals, environment: &Environment, printer: &Printer) -> Self {
        let opened = wanted(globals, environment, printer).and_then(|target| {
            let opened = target
                .open()
                .and_then(|exporter| Collection::start(exporter).map_err(Problem::Collect));
            opened
                .inspect_err(|problem| printer.warning(&format!("no trace is written: {problem}")))
                .ok()
        });
        let parent = environment.get(TRACEPARENT).and_then(SpanIds::parse);
        let recording = opened.map(|collection| {
            let recorder = Recorder::new(collection.spans.clone(), parent);
            (Arc::new(recorder), collection)
        });
        Trace {
            recording,
            command: Span::none(),
        }
    }

    /// Subscriber layer that records spans; `None` if no trace is recorded.
    pub fn layer<S>(&self) -> Option<impl Layer<S> + use<S>>
    where
        S: tracing::Subscriber + for<'s> LookupSpan<'s>,
    {
        let (recorder, _) = self.recording.as_ref()?;
        let spans = recorder::Spans(recorder.clone());
        Some(spans.with_filter(filter_fn(|it| it.target() == TARGET)))
    }

    /// Opens the span of the command, and names it to child processes.
    pub fn begin(&mut self, globals: &Globals, environment: &mut Environment) {
        let Some((_, collection)) = &self.recording else {
            return;
        };
        let flags: Vec<String> = globals
            .user_flags
            .keys()
            .map(|it| format!("--{it}"))
            .collect();
        let exec_kind = globals
            .user_flags
            .get("exec-kind")
            .map_or("cli", String::as_str);
        self.command = info_span!(
            target: TARGET, "pulumi", cli.command = %format_args!("{} {}", environment.program, globals.command.join(" ")),
            cli.flags = flags.join(" "), exec.kind = exec_kind, pulumi.version = crate::VERSION,
            pulumi.os = os_name(), pulumi.arch = arch_name(), exit_code = Empty, outcome = Empty,
        );
        environment.set(ENDPOINT, &collection.address);
        if let Some(ids) = self.command.in_scope(SpanIds::current) {
            environment.set(TRACEPARENT, &ids.to_string());
        }
    }

    /// Runs `work` within the span of the command.
    pub fn within<T>(&self, work: impl FnOnce() -> T) -> T {
        self.command.in_scope(work)
    }

    /// Ends the span of the command, and exports the rest of the trace.
    pub fn end(self, status: ExitStatus, printer: &Printer) {
        self.command.record("exit_code", status.code());
        if status != ExitStatus::Success {
            self.command.record("outcome", FAILED);
        }
        drop(self.command);
        let Some((recorder, collection)) = self.recording else {
            return;
        };
        recorder.finish();
        if let Err(problem) = collection.finish() {
            printer.warning(&format!("the trace is not complete: {problem}"));
        }
    }
}

/// Target of the trace. Warns of those that are not supported.
fn wanted(globals: &Globals, environment: &Environment, printer: &Printer) -> Option<Target> {
    let mut wanted = None;
    let flags = [
        ("tracing", &globals.tracing),
        ("otel-traces", &globals.otel_traces),
    ];
    for (flag, target) in flags {
        let Some(target) = target.as_deref().filter(|target| !target.is_empty()) else {
            continue;
        };
        let target = Target::parse(target, &environment.cwd, &environment.home)
            .filter(|it| flag == "otel-traces" || matches!(it, Target::File(_)));
        match target {
            Some(target) if wanted.is_none() => wanted = Some(target),
            Some(_) => printer.warning(&format!(
                "--{flag} has no effect: the trace is written to the file that --tracing names"
            )),
            // The address is not printed, because it may contain a password.
            None => printer.warning(&format!(
                "--{flag} has no effect: {}",
                match flag {
                    "tracing" => "it writes files alone, as in `--tracing file:PATH`; `--otel-traces` sends to collectors",
                    _ => "it takes `file://PATH`, `grpc://HOST:PORT`, `http://HOST` and `https://HOST`",
                }
            )),
        }
    }
    wanted.or_else(|| profile(globals, environment))
}

/// File for `--profiling`, which writes a trace: one file per process; there are no profiles of CPU or memory.
fn profile(globals: &Globals, environment: &Environment) -> Option<Target> {
    let prefix = globals.profiling.as_deref().filter(|it| !it.is_empty())?;
    let name = format!("{prefix}.{}.trace", std::process::id());
    Some(Target::File(environment.cwd.join(name)))
}
