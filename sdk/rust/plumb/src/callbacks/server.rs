//! The server that the engine calls back on.

use futures_util::stream;
use tokio::net::TcpListener;
use tonic::transport::Server;
use tonic::{Request, Response, Status, async_trait};

use super::Callbacks;
use crate::Error;
use crate::protocol::callback_service::callbacks_server;
use crate::protocol::{CallbackInvokeRequest, CallbackInvokeResponse, MAX_MESSAGE_SIZE};

/// Starts the server on a free port of this machine; it lives as long as the runtime of the program.
pub(super) async fn start(callbacks: Callbacks) -> Result<String, Error> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    let address = listener.local_addr()?;
    let connections = stream::unfold(listener, |listener| async move {
        let connection = listener.accept().await.map(|(connection, _)| connection);
        Some((connection, listener))
    });
    let service = callbacks_server::CallbacksServer::new(callbacks)
        .max_decoding_message_size(MAX_MESSAGE_SIZE)
        .max_encoding_message_size(usize::MAX);
    tokio::spawn(
        Server::builder()
            .add_service(service)
            .serve_with_incoming(connections),
    );
    Ok(address.to_string())
}

#[async_trait]
impl callbacks_server::Callbacks for Callbacks {
    async fn invoke(
        &self,
        request: Request<CallbackInvokeRequest>,
    ) -> Result<Response<CallbackInvokeResponse>, Status> {
        let request = request.into_inner();
        match self.run(&request.token, request.request).await {
            Ok(response) => Ok(Response::new(CallbackInvokeResponse { response })),
            Err(error) => Err(Status::unknown(error.report())),
        }
    }
}
