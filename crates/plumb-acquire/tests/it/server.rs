//! A scripted server that records its requests.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;

/// Response for a path.
#[derive(Clone)]
pub(crate) enum Answer {
    Content(Vec<u8>),
    Status(u16),
    /// A status with a header.
    Refusal(u16, &'static str, &'static str),
    /// Content shorter than announced.
    Half(Vec<u8>),
}

#[derive(Default)]
struct Script {
    answers: BTreeMap<String, VecDeque<Answer>>,
    asked: Vec<String>,
}

#[derive(Clone, Default)]
pub(crate) struct Server(Arc<Mutex<Script>>);

impl Server {
    /// Starts the server; returns `127.0.0.1:PORT`.
    pub(crate) async fn start(&self) -> String {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let router = Router::new().fallback(answer).with_state(self.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        address
    }

    /// Sets the responses for `path`, in order; the last one is repeated.
    pub(crate) fn on(&self, path: &str, answers: impl IntoIterator<Item = Answer>) {
        let mut script = self.0.lock().unwrap();
        script
            .answers
            .insert(path.to_owned(), answers.into_iter().collect());
    }

    /// Requested paths, with the token if one was sent.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.0.lock().unwrap().asked.clone()
    }
}

async fn answer(State(server): State<Server>, request: Request) -> Response {
    let agent = &request.headers()["user-agent"];
    assert!(
        agent
            .to_str()
            .unwrap()
            .starts_with("pulumi-cli/1 (v1.2.3; ")
    );
    let mut script = server.0.lock().unwrap();
    let path = request.uri().path().to_owned();
    let token = request.headers().get("authorization");
    let token = token.map(|token| format!(" [{}]", token.to_str().unwrap()));
    script
        .asked
        .push(format!("{path}{}", token.unwrap_or_default()));
    let Some(answers) = script.answers.get_mut(&path) else {
        return status(404, None);
    };
    let answer = if answers.len() > 1 {
        answers.pop_front()
    } else {
        answers.front().cloned()
    };
    match answer.unwrap() {
        Answer::Content(content) => Response::new(Body::from(content)),
        Answer::Status(code) => status(code, None),
        Answer::Refusal(code, name, value) => status(code, Some((name, value))),
        Answer::Half(content) => {
            let mut response = Response::new(Body::from(content[..content.len() / 2].to_vec()));
            let length = content.len().into();
            response.headers_mut().insert("content-length", length);
            response
        }
    }
}

fn status(code: u16, header: Option<(&'static str, &'static str)>) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::from_u16(code).unwrap();
    if let Some((name, value)) = header {
        response.headers_mut().insert(name, value.parse().unwrap());
    }
    response
}
