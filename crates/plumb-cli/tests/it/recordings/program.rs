//! A double of the program that makes the recorded requests, with its language host and callbacks.
//!
//! Requests are sent in the recorded order, which is the order of their answers. With [`Pace::OneByOne`] each waits
//! for the answer to the previous one. With [`Pace::Eager`] a request waits only for its dependencies, as in an SDK:
//! requests whose URN it mentions, or all previous requests if it may depend on any of them (`waits_for`).

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value as Json;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Status};

use super::grpc::{self, Answer};
use super::protocol::Protocol;
use super::recording::{Call, Peer, TRANSFORM_REQUEST, TRANSFORM_RESPONSE};
use super::script::Script;

/// Pace of the requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pace {
    OneByOne,
    Eager,
}

/// Language host of the program; `Run` runs the program.
pub(super) struct ProgramDouble {
    pub(super) runtime: String,
    /// Recorded requests to the engine.
    pub(super) requests: Vec<Call>,
    pub(super) pace: Pace,
    pub(super) script: Arc<Mutex<Script>>,
}

#[async_trait]
impl Answer for ProgramDouble {
    async fn answer(&self, method: &str, request: Json) -> Result<Json, Status> {
        if method.ends_with("/Run") {
            self.run(request["monitorAddress"].as_str().unwrap()).await;
        }
        let peer = Peer::Language(self.runtime.clone());
        self.script.lock().unwrap().take(&peer, method, &request)
    }
}

impl ProgramDouble {
    /// Makes all requests, and compares the answers.
    async fn run(&self, monitor: &str) {
        let endpoint = Endpoint::from_shared(format!("http://{monitor}")).unwrap();
        let channel = endpoint.connect().await.unwrap();
        let mut answered: Vec<watch::Receiver<bool>> = Vec::new();
        let mut running = JoinSet::new();
        for (index, call) in self.requests.iter().enumerate() {
            let (done, is_done) = watch::channel(false);
            let waits = waits_for(&self.requests, index, self.pace);
            let waits: Vec<_> = waits.into_iter().map(|it| answered[it].clone()).collect();
            answered.push(is_done);
            let (call, channel, script) = (call.clone(), channel.clone(), self.script.clone());
            running.spawn(async move {
                for mut before in waits {
                    before.wait_for(|is_done| *is_done).await.unwrap();
                }
                make(&call, channel, &script).await;
                done.send_replace(true);
            });
        }
        while let Some(ended) = running.join_next().await {
            ended.unwrap();
        }
    }
}

/// Indices of the requests that must be answered before the one at `index` is made.
fn waits_for(requests: &[Call], index: usize, pace: Pace) -> Vec<usize> {
    let call = &requests[index];
    let is_barrier = |call: &Call| {
        !["/RegisterResource", "/ReadResource", "/Invoke", "/Call"]
            .iter()
            .any(|method| call.method.ends_with(method))
    };
    let text = call.request.to_string();
    let mentions = |earlier: &Call| {
        let urn = earlier
            .answer
            .as_ref()
            .ok()
            .and_then(|it| it["urn"].as_str());
        // In quotes, or followed by the id.
        urn.is_some_and(|urn| {
            text.contains(&format!("\"{urn}\"")) || text.contains(&format!("\"{urn}::"))
        })
    };
    (0..index)
        .filter(|earlier| {
            pace == Pace::OneByOne
                || is_barrier(call)
                || is_barrier(&requests[*earlier])
                || mentions(&requests[*earlier])
        })
        .collect()
}

async fn make(call: &Call, channel: Channel, script: &Mutex<Script>) {
    let request = {
        let script = script.lock().unwrap();
        script.names.to_ours(&call.request, script.callbacks)
    };
    let reply = grpc::call(channel, &call.method, &request).await;
    let mut script = script.lock().unwrap();
    match (&call.answer, &reply) {
        (Ok(recorded), Ok(ours)) => {
            if call.request["type"]
                .as_str()
                .is_some_and(|it| it.starts_with("pulumi:"))
            {
                script.names.learn(&recorded["id"], &ours["id"]);
            }
            script.compare(&call.method, "reply", recorded, ours);
        }
        (recorded, ours) => {
            let recorded = shown(recorded.as_ref().map_err(Status::from));
            let ours = shown(ours.as_ref().map_err(Clone::clone));
            script.compare(&call.method, "reply", &recorded, &ours);
        }
    }
}

fn shown(answer: Result<&Json, Status>) -> Json {
    match answer {
        Ok(answer) => answer.clone(),
        Err(status) => Json::from(format!("{:?}: {}", status.code(), status.message())),
    }
}

/// Functions of the program that the engine calls.
pub(super) struct CallbacksDouble {
    pub(super) script: Arc<Mutex<Script>>,
}

#[async_trait]
impl Answer for CallbacksDouble {
    async fn answer(&self, method: &str, mut request: Json) -> Result<Json, Status> {
        let protocol = Protocol::get();
        let bytes = BASE64_STANDARD
            .decode(request["request"].as_str().unwrap_or_default())
            .map_err(|error| Status::new(Code::InvalidArgument, error.to_string()))?;
        request["request"] = protocol.decode(TRANSFORM_REQUEST, &bytes);
        let mut script = self.script.lock().unwrap();
        let mut answer = script.take(&Peer::Callbacks, method, &request)?;
        let bytes = protocol.encode(TRANSFORM_RESPONSE, &answer["response"]);
        answer["response"] = Json::from(BASE64_STANDARD.encode(bytes));
        Ok(answer)
    }
}
