//! The process of a provider.

use std::process::ExitCode;
use std::sync::Arc;

use plumb::plugin;
use tonic::transport::Server;

use crate::Provider;
use crate::protocol::MAX_MESSAGE_SIZE;
use crate::protocol::provider_service::resource_provider_server::ResourceProviderServer;
use crate::service::{Service, Shared};

impl Provider {
    /// Serves the provider until the engine ends: the whole work of `main`.
    pub fn serve(self) -> ExitCode {
        plugin::serve(|engine| {
            // A schema that is wrong is a mistake in the provider: better now than when somebody asks for it.
            self.schema()?;
            let service = Service::new(self, |name| std::env::var(name).ok());
            if let Some(address) = engine
                && service.attach(address).is_err()
            {
                plumb::bail!(
                    "`{address}` is no address: a provider is started by the command line, which says where it is"
                );
            }
            let service = ResourceProviderServer::new(Shared(Arc::new(service)))
                .max_decoding_message_size(MAX_MESSAGE_SIZE)
                .max_encoding_message_size(usize::MAX);
            Ok(Server::builder().add_service(service))
        })
    }
}
