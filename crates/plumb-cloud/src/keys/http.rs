//! HTTP requests to key services.
//!
//! A request is retried if the connection fails or the server reports that it is busy or broken: at most [`ATTEMPTS`] times
//! in total, with growing pauses, or with the pause requested by the server. Redirects are not followed, because the other
//! server would receive the data key.

use std::time::{Duration, SystemTime};

use reqwest::header::RETRY_AFTER;
use reqwest::{Client, Request, redirect};
use serde_json::Value;

use super::failure::{Failure, chain};

const ATTEMPTS: u32 = 4;
const CONNECTING: Duration = Duration::from_secs(5);
const ANSWERING: Duration = Duration::from_secs(15);
const FIRST_PAUSE: Duration = Duration::from_millis(150);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// Maximum size of a response in bytes; real ones have some hundred.
const LARGEST: usize = 1 << 20;

/// Response of a server.
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// JSON, or null for other content.
    pub(crate) body: Value,
}

impl Answer {
    pub(crate) fn is_good(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// The text at a JSON pointer; empty if there is none.
    pub(crate) fn text(&self, pointer: &str) -> &str {
        self.body
            .pointer(pointer)
            .and_then(Value::as_str)
            .unwrap_or_default()
    }

    fn is_passing(&self) -> bool {
        matches!(self.status, 408 | 429 | 500 | 502 | 503 | 504)
            || self.text("/__type").contains("Throttling")
    }
}

/// HTTP client for one call.
pub(crate) fn client(extra_roots: Vec<reqwest::Certificate>) -> Result<Client, Failure> {
    let mut builder = Client::builder()
        .user_agent("plumb")
        .connect_timeout(CONNECTING)
        .timeout(ANSWERING)
        .redirect(redirect::Policy::none());
    if !extra_roots.is_empty() {
        builder = builder.tls_certs_merge(extra_roots);
    }
    builder
        .build()
        .map_err(|error| Failure::Setting(chain(&error)))
}

/// Sends a request, with retries. Each attempt builds its own request, because signatures contain the time.
pub(crate) async fn exchange(
    client: &Client,
    build: impl Fn() -> Result<Request, Failure>,
) -> Result<Answer, Failure> {
    let mut attempt = 1;
    loop {
        let (outcome, wanted) = once(client, build()?).await;
        let is_final = match &outcome {
            Ok(answer) => !answer.is_passing(),
            Err(failure) => !failure.is_out_of_reach(),
        };
        if is_final || attempt == ATTEMPTS {
            return outcome;
        }
        tracing::debug!(attempt, "a key service does not answer, trying again");
        tokio::time::sleep(wanted.unwrap_or_else(|| pause(attempt))).await;
        attempt += 1;
    }
}

/// Sends a request once; also returns the pause requested by the server.
async fn once(client: &Client, request: Request) -> (Result<Answer, Failure>, Option<Duration>) {
    let mut response = match client.execute(request).await {
        Ok(response) => response,
        Err(error) => return (Err(unreachable(error)), None),
    };
    let wanted = response
        .headers()
        .get(RETRY_AFTER)
        .and_then(|value| value.to_str().ok()?.parse().ok())
        .map(|seconds| Duration::from_secs(seconds).min(LONGEST_PAUSE));
    let status = response.status().as_u16();
    let mut body = zeroize::Zeroizing::new(Vec::new());
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) if body.len() + chunk.len() <= LARGEST => {
                body.extend_from_slice(&chunk);
            }
            Ok(Some(_)) => {
                return (
                    Err(Failure::Strange("the answer is too long".to_owned())),
                    None,
                );
            }
            Ok(None) => break,
            Err(error) => return (Err(unreachable(error)), None),
        }
    }
    let body = serde_json::from_slice(&body).unwrap_or_default();
    (Ok(Answer { status, body }), wanted)
}

/// Error of a connection. The address is removed, because the error of the call names it already and the URL may contain
/// secrets.
fn unreachable(error: reqwest::Error) -> Failure {
    Failure::Unreachable(format!(
        "the service cannot be reached: {}",
        chain(&error.without_url())
    ))
}

/// Pause before a retry: doubled each time, with jitter.
fn pause(attempt: u32) -> Duration {
    let full = FIRST_PAUSE * 2_u32.pow(attempt - 1);
    let chance = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .map_or(0, |since| since.subsec_nanos() % 500);
    full.mul_f64(1.0 + f64::from(chance) / 1000.0)
}
