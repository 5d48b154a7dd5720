//! gRPC with messages as JSON: a server for the doubles, and a client for the program.

use std::convert::Infallible;
use std::sync::Arc;
use std::task::{Context, Poll};

use async_trait::async_trait;
use bytes::{Buf, BufMut, Bytes};
use serde_json::Value as Json;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::body::Body;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::codegen::{BoxFuture, Service, http};
use tonic::server::UnaryService;
use tonic::transport::{Channel, Server};
use tonic::{Request, Response, Status};

use super::protocol::Protocol;

/// Handler of all calls to a server.
#[async_trait]
pub(crate) trait Answer: Send + Sync + 'static {
    /// Answers a call of `method` (`/package.Service/Method`).
    async fn answer(&self, method: &str, request: Json) -> Result<Json, Status>;
}

/// A server on its own port, stopped when dropped.
pub(crate) struct Served {
    pub(crate) port: u16,
    task: JoinHandle<()>,
}

impl Drop for Served {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Serves every method of every service.
pub(crate) async fn serve(answer: Arc<dyn Answer>) -> Served {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let incoming = TcpListenerStream::new(listener);
    let task = tokio::spawn(async move {
        let server = Server::builder().serve_with_incoming(JsonService(answer), incoming);
        server.await.unwrap();
    });
    Served { port, task }
}

/// Makes a call.
pub(crate) async fn call(channel: Channel, method: &str, request: &Json) -> Result<Json, Status> {
    let protocol = Protocol::get();
    let (request_type, response_type) = protocol.method(method);
    let mut client = tonic::client::Grpc::new(channel);
    client
        .ready()
        .await
        .map_err(|error| Status::unavailable(error.to_string()))?;
    let path = method.parse().unwrap();
    let bytes = Bytes::from(protocol.encode(request_type, request));
    let response = client.unary(Request::new(bytes), path, Raw).await?;
    Ok(protocol.decode(response_type, &response.into_inner()))
}

#[derive(Clone)]
struct JsonService(Arc<dyn Answer>);

impl Service<http::Request<Body>> for JsonService {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<Self::Response, Infallible>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let method = JsonMethod {
            path: request.uri().path().to_owned(),
            answer: self.0.clone(),
        };
        Box::pin(async move { Ok(tonic::server::Grpc::new(Raw).unary(method, request).await) })
    }
}

struct JsonMethod {
    path: String,
    answer: Arc<dyn Answer>,
}

impl UnaryService<Bytes> for JsonMethod {
    type Response = Bytes;
    type Future = BoxFuture<Response<Bytes>, Status>;

    fn call(&mut self, request: Request<Bytes>) -> Self::Future {
        let (path, answer) = (self.path.clone(), self.answer.clone());
        Box::pin(async move {
            let protocol = Protocol::get();
            let (request_type, response_type) = protocol.method(&path);
            let json = protocol.decode(request_type, &request.into_inner());
            let json = answer.answer(&path, json).await?;
            let bytes = protocol.encode(response_type, &json);
            Ok(Response::new(Bytes::from(bytes)))
        })
    }
}

/// A codec that passes messages as bytes.
#[derive(Clone, Copy)]
struct Raw;

impl Codec for Raw {
    type Encode = Bytes;
    type Decode = Bytes;
    type Encoder = Raw;
    type Decoder = Raw;

    fn encoder(&mut self) -> Raw {
        Raw
    }

    fn decoder(&mut self) -> Raw {
        Raw
    }
}

impl Encoder for Raw {
    type Item = Bytes;
    type Error = Status;

    fn encode(&mut self, item: Bytes, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        buffer.put(item);
        Ok(())
    }
}

impl Decoder for Raw {
    type Item = Bytes;
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<Bytes>, Status> {
        Ok(Some(buffer.copy_to_bytes(buffer.remaining())))
    }
}
