//! Writer of ended spans to a file.

use std::fmt::Debug;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use plumb_project::files;
use tracing::Subscriber;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;
use uuid::Uuid;

use super::wire::{self, Attribute, Nanoseconds, Span, Status};

/// Maximum number of spans in a line; a process that is killed loses up to this many.
const BATCH: usize = 128;

/// Trace id and parent span of a trace.
pub(super) struct Lineage {
    trace: String,
    /// Id of the parent span of the command; empty if there is none.
    parent: String,
}

impl Lineage {
    /// Parses the value of `TRACEPARENT` (`00-TRACE-SPAN-FLAGS`); a new trace if it is missing or
    /// invalid.
    pub(super) fn of(told: Option<&str>) -> Self {
        let own = || Lineage {
            trace: Uuid::new_v4().simple().to_string(),
            parent: String::new(),
        };
        let is_id = |text: &str, length: usize| {
            let is_hex = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
            text.len() == length && text.chars().all(is_hex) && text.chars().any(|c| c != '0')
        };
        let mut parts = told.unwrap_or_default().split('-').skip(1);
        match (parts.next(), parts.next()) {
            (Some(trace), Some(parent)) if is_id(trace, 32) && is_id(parent, 16) => Lineage {
                trace: trace.to_owned(),
                parent: parent.to_owned(),
            },
            _ => own(),
        }
    }
}

/// File of a trace, and spans not written yet.
pub(super) struct Recorder {
    lineage: Lineage,
    inner: Mutex<Inner>,
}

struct Inner {
    file: File,
    ended: Vec<Span>,
    next_id: u64,
    /// First write error; nothing is written after it.
    problem: Option<io::Error>,
}

impl Recorder {
    pub(super) fn create(path: &Path, lineage: Lineage) -> io::Result<Self> {
        let (first_id, _) = Uuid::new_v4().as_u64_pair();
        let inner = Inner {
            file: files::create_private(path)?,
            ended: Vec::new(),
            next_id: first_id,
            problem: None,
        };
        Ok(Recorder {
            lineage,
            inner: Mutex::new(inner),
        })
    }

    /// Writes the remaining spans; returns the first write error.
    pub(super) fn finish(&self) -> io::Result<()> {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.flush();
        inner.problem.take().map_or(Ok(()), Err)
    }

    fn next_id(&self) -> String {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.next_id = inner.next_id.wrapping_add(1).max(1);
        format!("{:016x}", inner.next_id)
    }

    fn ended(&self, span: Span) {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.ended.push(span);
        if inner.ended.len() >= BATCH {
            inner.flush();
        }
    }
}

impl Inner {
    fn flush(&mut self) {
        let spans = std::mem::take(&mut self.ended);
        if spans.is_empty() || self.problem.is_some() {
            return;
        }
        let written = serde_json::to_vec(&wire::request(spans))
            .map_err(io::Error::from)
            .and_then(|mut line| {
                line.push(b'\n');
                self.file.write_all(&line)
            });
        self.problem = written.err();
    }
}

/// Subscriber layer that passes spans to a recorder.
pub(super) struct Spans(pub(super) Arc<Recorder>);

impl<S: Subscriber + for<'s> LookupSpan<'s>> Layer<S> for Spans {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, ctx: Context<'_, S>) {
        let Some(span) = ctx.span(id) else { return };
        let parent = span.parent().and_then(|parent| {
            let extensions = parent.extensions();
            extensions.get::<Span>().map(|it| it.id.clone())
        });
        let mut began = Span {
            trace_id: self.0.lineage.trace.clone(),
            id: self.0.next_id(),
            parent: parent.unwrap_or_else(|| self.0.lineage.parent.clone()),
            name: attributes.metadata().name().to_owned(),
            kind: 1,
            start: now(),
            end: Nanoseconds(0),
            attributes: Vec::new(),
            status: Status::default(),
        };
        attributes.record(&mut Fields(&mut began));
        span.extensions_mut().insert(began);
    }

    fn on_record(&self, id: &Id, record: &Record<'_>, ctx: Context<'_, S>) {
        let Some(span) = ctx.span(id) else { return };
        if let Some(began) = span.extensions_mut().get_mut::<Span>() {
            record.record(&mut Fields(began));
        }
    }

    fn on_close(&self, id: Id, ctx: Context<'_, S>) {
        let Some(span) = ctx.span(&id) else { return };
        if let Some(mut ended) = span.extensions_mut().remove::<Span>() {
            ended.end = now();
            self.0.ended(ended);
        }
    }
}

fn now() -> Nanoseconds {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let since = since.unwrap_or_default().as_nanos();
    Nanoseconds(u64::try_from(since).unwrap_or(u64::MAX))
}

/// Visitor that stores the fields of a span.
struct Fields<'s>(&'s mut Span);

impl Visit for Fields<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "otel.name" => value.trim_end().clone_into(&mut self.0.name),
            "outcome" => {
                if value == super::FAILED {
                    self.0.status.code = Status::ERROR;
                }
                self.0.attributes.push(Attribute::text("outcome", value));
            }
            name => self.0.attributes.push(Attribute::text(name, value)),
        }
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.0
            .attributes
            .push(Attribute::number(field.name(), value));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.record_i64(field, i64::try_from(value).unwrap_or(i64::MAX));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        // Fields recorded with `%` arrive here as well.
        self.record_str(field, &format!("{value:?}"));
    }
}
