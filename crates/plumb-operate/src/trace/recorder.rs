//! Recorder of spans: a layer of the subscriber.

use std::fmt::Debug;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, Span};
use plumb_engine::spans::{CLIENT, FAILED, SERVER};
use plumb_plugin::trace_context::SpanIds;
use tokio::sync::mpsc::UnboundedSender;
use tracing::Subscriber;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;
use uuid::Uuid;

use super::wire;

/// Maximum number of spans in a batch; a process that is killed loses up to this many.
const BATCH: usize = 128;

/// Service of spans without another: the name that tools know.
const SERVICE: &str = "pulumi-cli";

/// Flag of a span that is recorded.
const SAMPLED: u32 = 1;

/// Ended spans, on their way to an exporter.
pub(super) struct Recorder {
    trace: [u8; 16],
    /// Parent of the command's span, if the program that started this one has a trace.
    parent: Option<SpanIds>,
    /// The command's span, which begins first: the parent of spans that have no other, so that a trace is one tree.
    root: OnceLock<SpanIds>,
    inner: Mutex<Inner>,
}

struct Inner {
    /// `None` when the trace has ended.
    exporter: Option<UnboundedSender<Vec<ResourceSpans>>>,
    ended: Vec<Recorded>,
    next_id: u64,
}

/// A span and its service.
struct Recorded {
    span: Span,
    service: Option<String>,
}

impl Recorder {
    /// A recorder whose spans belong to `parent`, or to a new trace.
    pub(super) fn new(
        exporter: UnboundedSender<Vec<ResourceSpans>>,
        parent: Option<SpanIds>,
    ) -> Self {
        let (first_id, _) = Uuid::new_v4().as_u64_pair();
        Recorder {
            trace: parent.map_or_else(|| *Uuid::new_v4().as_bytes(), |it| it.trace),
            parent,
            root: OnceLock::new(),
            inner: Mutex::new(Inner {
                exporter: Some(exporter),
                ended: Vec::new(),
                next_id: first_id,
            }),
        }
    }

    /// Hands over the remaining spans. Spans that end later are lost.
    pub(super) fn finish(&self) {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.flush();
        inner.exporter = None;
    }

    /// Parent of a span without another one around it.
    fn parent_of(&self, ids: SpanIds) -> Option<SpanIds> {
        let root = *self.root.get_or_init(|| ids);
        if root == ids { self.parent } else { Some(root) }
    }

    fn next_id(&self) -> [u8; 8] {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.next_id = inner.next_id.wrapping_add(1).max(1);
        inner.next_id.to_be_bytes()
    }

    fn ended(&self, span: Recorded) {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.ended.push(span);
        if inner.ended.len() >= BATCH {
            inner.flush();
        }
    }
}

impl Inner {
    fn flush(&mut self) {
        let (own, others): (Vec<_>, Vec<_>) = std::mem::take(&mut self.ended)
            .into_iter()
            .partition(|it| it.service.is_none());
        let own: Vec<Span> = own.into_iter().map(|it| it.span).collect();
        let mut batches = Vec::new();
        if !own.is_empty() {
            batches.push(wire::batch(SERVICE, own));
        }
        for Recorded { span, service } in others {
            batches.push(wire::batch(&service.unwrap_or_default(), vec![span]));
        }
        if let Some(exporter) = self.exporter.as_ref().filter(|_| !batches.is_empty()) {
            // The exporter reports why it ended early.
            let _ = exporter.send(batches);
        }
    }
}

/// Subscriber layer that passes spans to a recorder.
pub(super) struct Spans(pub(super) Arc<Recorder>);

impl<S: Subscriber + for<'s> LookupSpan<'s>> Layer<S> for Spans {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, ctx: Context<'_, S>) {
        let Some(span) = ctx.span(id) else { return };
        let around = span.parent();
        let around = around.and_then(|it| it.extensions().get::<SpanIds>().copied());
        let ids = SpanIds {
            trace: self.0.trace,
            span: self.0.next_id(),
        };
        let parent = around.or_else(|| self.0.parent_of(ids));
        let mut recorded = Recorded {
            span: Span {
                trace_id: ids.trace.to_vec(),
                span_id: ids.span.to_vec(),
                parent_span_id: parent.map(|it| it.span.to_vec()).unwrap_or_default(),
                flags: SAMPLED,
                name: attributes.metadata().name().to_owned(),
                kind: SpanKind::Internal as i32,
                start_time_unix_nano: now(),
                ..Span::default()
            },
            service: None,
        };
        attributes.record(&mut Fields(&mut recorded));
        let mut extensions = span.extensions_mut();
        extensions.insert(ids);
        extensions.insert(recorded);
    }

    fn on_record(&self, id: &Id, record: &Record<'_>, ctx: Context<'_, S>) {
        let Some(span) = ctx.span(id) else { return };
        if let Some(recorded) = span.extensions_mut().get_mut::<Recorded>() {
            record.record(&mut Fields(recorded));
        }
    }

    fn on_close(&self, id: Id, ctx: Context<'_, S>) {
        let Some(span) = ctx.span(&id) else { return };
        if let Some(mut ended) = span.extensions_mut().remove::<Recorded>() {
            ended.span.end_time_unix_nano = now();
            self.0.ended(ended);
        }
    }
}

/// Nanoseconds since 1970.
fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let since = since.unwrap_or_default().as_nanos();
    u64::try_from(since).unwrap_or(u64::MAX)
}

/// Visitor that stores the fields of a span.
struct Fields<'s>(&'s mut Recorded);

impl Visit for Fields<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        let span = &mut self.0.span;
        match field.name() {
            "otel.name" => value.clone_into(&mut span.name),
            "otel.kind" => {
                span.kind = match value {
                    CLIENT => SpanKind::Client,
                    SERVER => SpanKind::Server,
                    _ => SpanKind::Internal,
                } as i32;
            }
            "service.name" => self.0.service = Some(value.to_owned()),
            "traceparent" => {
                // A request of another trace stays in this one, because its span is not in this file.
                let ids = SpanIds::parse(value).filter(|it| it.trace == span.trace_id[..]);
                if let Some(ids) = ids {
                    span.parent_span_id = ids.span.to_vec();
                }
            }
            "outcome" => {
                if value == FAILED {
                    span.status.get_or_insert_default().code = StatusCode::Error as i32;
                }
                span.attributes.push(wire::text("outcome", value));
            }
            name => span.attributes.push(wire::text(name, value)),
        }
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        let attributes = &mut self.0.span.attributes;
        attributes.push(wire::number(field.name(), value));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.record_i64(field, i64::try_from(value).unwrap_or(i64::MAX));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        // Fields recorded with `%` arrive here as well.
        self.record_str(field, &format!("{value:?}"));
    }
}
