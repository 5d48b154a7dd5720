//! A double of a provider that answers from the recording.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use serde_json::Value as Json;
use tonic::Status;

use super::grpc::Answer;
use super::recording::Peer;
use super::script::Script;

/// Double of all instances of the plugin with this name.
pub(super) struct ProviderDouble {
    pub(super) name: String,
    pub(super) script: Arc<Mutex<Script>>,
}

#[async_trait]
impl Answer for ProviderDouble {
    async fn answer(&self, method: &str, request: Json) -> Result<Json, Status> {
        let peer = Peer::Provider(self.name.clone());
        self.script.lock().unwrap().take(&peer, method, &request)
    }
}
