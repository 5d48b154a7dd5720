//! Tracing spans of a run, which show where its time is spent.
//!
//! There is a span for the program, for each step other than `same`, for each call to a provider, a policy pack or
//! a function of the program, and for each request that a program makes over gRPC. The start of a provider is a span inside
//! the first call that needs it. Spans of calls and requests have the names of the remote procedures, for built-in providers
//! as well, because tools look for them. Spans hold names, URNs and whether something failed. **They never hold inputs, outputs or messages**, because these may be secret. A span costs
//! one comparison if no subscriber records it.

use std::collections::HashMap;

use plumb_deploy::request::CallbackRequest;
use plumb_events::{Event, WaitSubject};
use plumb_plugin::LanguageRuntime;
use plumb_resource::policy::PolicyCall;
use plumb_resource::{StepOp, Urn};
use tracing::field::Empty;
use tracing::{Instrument, Level, Span, info_span, span_enabled};

use crate::program::ProgramResult;

/// Target of these spans. The field `otel.name` replaces the name of the span, `otel.kind` is its kind, `service.name` the
/// service that it belongs to if that is not this program, `traceparent` its parent in another process, and `outcome` holds
/// its result. A span of a call has the fields `call` and `name`, which are shown instead of the name of the procedure.
pub const TARGET: &str = "plumb::trace";

/// Value of `otel.kind` for calls to providers, policy packs, language hosts and functions of the program, built in or not.
pub const CLIENT: &str = "client";

/// Value of `otel.kind` for requests of other processes.
pub const SERVER: &str = "server";

/// Value of `outcome` for a failure.
pub const FAILED: &str = "failed";

/// Spans of running steps, the parents of the spans of calls.
#[derive(Default)]
pub(crate) struct Steps(HashMap<Urn, Span>);

impl Steps {
    /// Begins and ends spans according to an event.
    pub(crate) fn follow(&mut self, event: &Event) {
        match event {
            Event::ResourcePre(step) if !step.internal && step.metadata.op != StepOp::Same => {
                let (op, urn) = (step.metadata.op.as_str(), &step.metadata.urn);
                let span = info_span!(
                    target: TARGET, "step", otel.name = %format_args!("{op} {}", urn.name()), op, urn = urn.as_str(),
                    outcome = Empty,
                );
                if !span.is_disabled() {
                    self.0.insert(urn.clone(), span);
                }
            }
            Event::ResourceOutputs(step) if !self.0.is_empty() => {
                self.0.remove(&step.metadata.urn);
            }
            Event::ResourceFailed(step) if !self.0.is_empty() => {
                if let Some(span) = self.0.remove(&step.metadata.urn) {
                    span.record("outcome", FAILED);
                }
            }
            _ => {}
        }
    }

    /// The span of a call to a provider.
    pub(crate) fn call(&self, subject: &WaitSubject, call: &str, provider: Option<&str>) -> Span {
        if !span_enabled!(target: TARGET, Level::INFO) {
            return Span::none();
        }
        let (name, urn) = match subject {
            WaitSubject::Resource(urn) => (urn.name().to_owned(), Some(urn)),
            WaitSubject::Component { name, .. } => (name.to_string(), None),
            WaitSubject::Function(token) => (token.as_str().to_owned(), None),
            WaitSubject::Provider => (provider.unwrap_or_default().to_owned(), None),
        };
        let step = urn.and_then(|urn| self.0.get(urn)).cloned();
        step.unwrap_or_else(Span::current).in_scope(|| {
            info_span!(
                target: TARGET, "call", otel.name = %format_args!("pulumirpc.ResourceProvider/{call}"), otel.kind = CLIENT,
                call, name, provider, urn = urn.map(Urn::as_str), outcome = Empty,
            )
        })
    }
}

/// The span of a call to a policy pack.
pub(crate) fn policy(request: &PolicyCall) -> Span {
    let (call, urn) = match request {
        PolicyCall::Remediate(resource) => ("Remediate", Some(&resource.urn)),
        PolicyCall::Analyze(resource) => ("Analyze", Some(&resource.urn)),
        PolicyCall::AnalyzeStack(_) => ("AnalyzeStack", None),
    };
    let name = urn.map_or("", |urn| urn.name());
    info_span!(
        target: TARGET, "policy", otel.name = %format_args!("pulumirpc.Analyzer/{call}"), otel.kind = CLIENT, call, name,
        urn = urn.map(Urn::as_str), outcome = Empty,
    )
}

/// The span of the start of all policy packs.
pub(crate) fn packs() -> Span {
    info_span!(target: TARGET, "load policy packs", outcome = Empty)
}

/// The span of the start of a provider.
pub(crate) fn start(provider: &str) -> Span {
    info_span!(target: TARGET, "start", otel.name = %format_args!("start {provider}"), provider, outcome = Empty)
}

/// The span of the configuration of a provider.
pub(crate) fn configuration(provider: &str) -> Span {
    info_span!(
        target: TARGET, "configuration", otel.name = "pulumirpc.ResourceProvider/Configure", otel.kind = CLIENT,
        call = "Configure", name = provider, provider, outcome = Empty,
    )
}

/// The span of a call to a function of the program.
pub(crate) fn callback(request: &CallbackRequest) -> Span {
    let (call, name) = match request {
        CallbackRequest::Transform(registration) => ("Transform", registration.name.as_str()),
        CallbackRequest::InvokeTransform(invoke) => ("InvokeTransform", invoke.token.as_str()),
        CallbackRequest::Hook(hook) => ("Hook", hook.urn.name()),
        CallbackRequest::ErrorHook(hook) => ("ErrorHook", hook.resource.urn.name()),
    };
    info_span!(
        target: TARGET, "callback", otel.name = "pulumirpc.Callbacks/Invoke", otel.kind = CLIENT, call, name, outcome = Empty,
    )
}

/// The span of a request that a program or plugin makes: `path` is that of the procedure, `context` the caller's span.
pub(crate) fn served(path: &str, context: Option<&str>) -> Span {
    let procedure = path.trim_start_matches('/');
    info_span!(
        target: TARGET, parent: None, "request", otel.name = procedure, otel.kind = SERVER, traceparent = context,
        outcome = Empty,
    )
}

/// The span of a run of a program by the host of its language.
pub(crate) fn run(host: &dyn LanguageRuntime) -> Span {
    let service = host
        .is_in_process()
        .then(|| format!("pulumi-language-{}", host.name()));
    let kind = if service.is_some() { SERVER } else { CLIENT };
    info_span!(
        target: TARGET, "run", otel.name = "pulumirpc.LanguageRuntime/Run", otel.kind = kind, service.name = service,
        call = "Run", name = host.name(), outcome = Empty,
    )
}

/// Runs `work` within a span, and records a failure in it.
pub(crate) fn within<T, E>(
    span: Span,
    work: impl Future<Output = Result<T, E>>,
) -> impl Future<Output = Result<T, E>> {
    let told = span.clone();
    async move {
        let result = work.await;
        if result.is_err() {
            told.record("outcome", FAILED);
        }
        result
    }
    .instrument(span)
}

/// Runs a program within a span.
pub(crate) fn program(
    work: impl Future<Output = ProgramResult>,
) -> impl Future<Output = ProgramResult> {
    // Created here, because the task that polls the future has no current span.
    let span = info_span!(target: TARGET, "program", outcome = Empty);
    async move {
        let result = work.instrument(span.clone()).await;
        if result != ProgramResult::Finished {
            span.record("outcome", FAILED);
        }
        result
    }
}
