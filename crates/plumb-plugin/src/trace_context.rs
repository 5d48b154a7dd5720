//! Trace context: the ids that connect spans of several processes (W3C Trace Context).
//!
//! A recorder of spans puts [`SpanIds`] into the extensions of each span. Processes get the ids of the span that starts them in
//! `TRACEPARENT`; requests carry those of the span that makes them in the header of the same name. Both are left out
//! when no spans are recorded.

use std::ffi::OsString;
use std::fmt;

use tonic::metadata::MetadataValue;
use tonic::service::Interceptor;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::Channel;
use tonic::{Request, Status};
use tracing::Span;
use tracing_subscriber::Registry;
use tracing_subscriber::registry::LookupSpan;

/// Variable with the trace context for child processes.
pub const TRACEPARENT: &str = "TRACEPARENT";

/// Key of the trace context in the metadata of requests.
pub const METADATA_KEY: &str = "traceparent";

/// Ids of a recorded span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpanIds {
    /// Id of the trace; not zero.
    pub trace: [u8; 16],
    /// Id of the span; not zero.
    pub span: [u8; 8],
}

impl SpanIds {
    /// Parses `00-TRACE-SPAN-FLAGS`; `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('-').skip(1);
        let mut ids = SpanIds {
            trace: [0; 16],
            span: [0; 8],
        };
        decode(parts.next()?, &mut ids.trace)?;
        decode(parts.next()?, &mut ids.span)?;
        Some(ids)
    }

    /// Ids of the current span, or of the nearest span around it that is recorded.
    pub fn current() -> Option<Self> {
        let found = Span::current().with_subscriber(|(id, dispatch)| {
            let span = dispatch.downcast_ref::<Registry>()?.span(id)?;
            span.scope()
                .find_map(|span| span.extensions().get::<SpanIds>().copied())
        });
        found.flatten()
    }
}

impl fmt::Display for SpanIds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The last part says that the span is recorded.
        write!(
            f,
            "00-{}-{}-01",
            hex::encode(self.trace),
            hex::encode(self.span)
        )
    }
}

fn decode(text: &str, bytes: &mut [u8]) -> Option<()> {
    let is_lowercase = !text.bytes().any(|byte| byte.is_ascii_uppercase());
    hex::decode_to_slice(text, bytes).ok()?;
    (is_lowercase && bytes.iter().any(|byte| *byte != 0)).then_some(())
}

/// Variable for a child process of the current span.
pub(crate) fn variable() -> Option<(&'static str, OsString)> {
    SpanIds::current().map(|ids| (TRACEPARENT, ids.to_string().into()))
}

/// Connection to a plugin. Its requests carry the trace context.
pub type Connection = InterceptedService<Channel, TraceContext>;

/// Adds the trace context to requests.
#[derive(Clone, Copy, Debug)]
pub struct TraceContext;

impl TraceContext {
    /// A connection over `channel`.
    pub fn over(channel: Channel) -> Connection {
        InterceptedService::new(channel, TraceContext)
    }
}

impl Interceptor for TraceContext {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        let ids = SpanIds::current().map(|ids| MetadataValue::try_from(ids.to_string()));
        if let Some(Ok(ids)) = ids {
            request.metadata_mut().insert(METADATA_KEY, ids);
        }
        Ok(request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_context_is_parsed_and_printed() {
        let text = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        assert_eq!(SpanIds::parse(text).unwrap().to_string(), text);
        for text in [
            "",
            "00-0af7651916cd43dd8448eb211c80319c",
            "00-0af7651916cd43dd8448eb211c80319-b7ad6b7169203331-01",
            "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
        ] {
            assert_eq!(SpanIds::parse(text), None, "{text}");
        }
    }

    #[test]
    fn requests_carry_no_context_without_a_recorder() {
        let request = TraceContext.call(Request::new(())).unwrap();
        assert!(request.metadata().is_empty());
        assert_eq!(variable(), None);
    }
}
