//! Collection of the spans of a command: its own, and those of programs and plugins that it starts.
//!
//! A thread exports them one batch after the other. It serves an address as well, to which other processes send their
//! spans; they learn it from [`ENDPOINT`].

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::thread::JoinHandle;
use std::time::Duration;

use opentelemetry_proto::tonic::collector::trace::v1::trace_service_server::{
    TraceService, TraceServiceServer,
};
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use opentelemetry_proto::tonic::trace::v1::ResourceSpans;
use plumb_plugin::own_connections;
use plumb_proto::MAX_MESSAGE_SIZE;
use tokio::net::TcpListener;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio_util::sync::CancellationToken;
use tonic::transport::Server;
use tonic::{Request, Response, Status};

use super::target::{Exporter, Problem};

/// Variable with the `host:port` to which programs and plugins send their spans.
pub const ENDPOINT: &str = "PULUMI_OTEL_EXPORTER_OTLP_ENDPOINT";

/// Limit for the end of connections that processes left open.
const GRACE: Duration = Duration::from_millis(500);

/// A running collection.
pub(super) struct Collection {
    /// `host:port` for the spans of other processes.
    pub(super) address: String,
    /// Takes the spans of this process.
    pub(super) spans: UnboundedSender<Vec<ResourceSpans>>,
    ended: CancellationToken,
    thread: JoinHandle<Result<(), Problem>>,
}

impl Collection {
    /// Starts the thread.
    pub(super) fn start(exporter: Exporter) -> io::Result<Self> {
        let listener = std::net::TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?.to_string();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let (spans, received) = unbounded_channel();
        let ended = CancellationToken::new();
        let service = Receiver(spans.clone());
        let stop = ended.clone();
        let thread = std::thread::Builder::new()
            .name("traces".to_owned())
            .spawn(move || {
                runtime.block_on(async {
                    let serve = serve(listener, service, stop);
                    tokio::join!(serve, export(received, exporter)).1
                })
            })?;
        Ok(Collection {
            address,
            spans,
            ended,
            thread,
        })
    }

    /// Waits until everything is exported; returns the first problem.
    pub(super) fn finish(self) -> Result<(), Problem> {
        drop(self.spans);
        self.ended.cancel();
        match self.thread.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
}

/// Exports batches until nobody can send more. After the first problem, which leaves a hole in the trace, batches are dropped;
/// programs and plugins do not notice it.
async fn export(
    mut received: UnboundedReceiver<Vec<ResourceSpans>>,
    mut exporter: Exporter,
) -> Result<(), Problem> {
    let mut result = Ok(());
    while let Some(mut spans) = received.recv().await {
        while let Ok(more) = received.try_recv() {
            spans.extend(more);
        }
        if result.is_ok() {
            result = exporter.export(spans).await;
        }
    }
    result
}

/// Receives spans of other processes until `stop`.
async fn serve(listener: std::net::TcpListener, receiver: Receiver, stop: CancellationToken) {
    let Ok(listener) = TcpListener::from_std(listener) else {
        return;
    };
    let service = TraceServiceServer::new(receiver).max_decoding_message_size(MAX_MESSAGE_SIZE);
    let connections = own_connections(listener);
    let stopped = stop.clone().cancelled_owned();
    let serving = Server::builder()
        .add_service(service)
        .serve_with_incoming_shutdown(connections, stopped);
    let limit = async {
        stop.cancelled().await;
        tokio::time::sleep(GRACE).await;
    };
    tokio::select! {
        _ = serving => {}
        () = limit => {}
    }
}

/// Service for the spans of other processes.
struct Receiver(UnboundedSender<Vec<ResourceSpans>>);

#[tonic::async_trait]
impl TraceService for Receiver {
    async fn export(
        &self,
        request: Request<ExportTraceServiceRequest>,
    ) -> Result<Response<ExportTraceServiceResponse>, Status> {
        let spans = request.into_inner().resource_spans;
        self.0
            .send(spans)
            .map_err(|_| Status::unavailable("the trace has ended"))?;
        Ok(Response::new(ExportTraceServiceResponse::default()))
    }
}
