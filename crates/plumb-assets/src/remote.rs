//! Assets and archives at `http` and `https` addresses.
//!
//! 1. The address is asked for; redirections are followed, up to ten. Proxies are those of the process's environment.
//! 2. The body goes to a temporary file as it comes, so that its size costs no memory. **What is longer than the limit is
//!    refused**, as soon as the server announces it or at the first byte too many.
//! 3. Connections that break, and servers that are busy or fail, are tried again twice. Any other answer than a success is
//!    an error: the page that says so is not the asset.

use std::io::{Seek as _, Write as _};
use std::time::Duration;

use plumb_value::assets::Content;
use reqwest::{Client, StatusCode};

use crate::UriFetcher;

/// How often an address is asked for.
const ATTEMPTS: u32 = 3;
const FIRST_DELAY: Duration = Duration::from_millis(100);

/// Limits of one fetch.
#[derive(Clone, Copy, Debug)]
pub struct FetchLimits {
    /// Bytes of the content.
    pub bytes: u64,
    /// How long a connection may take.
    pub connection: Duration,
    /// How long a server may be silent.
    pub silence: Duration,
}

impl Default for FetchLimits {
    fn default() -> Self {
        FetchLimits {
            bytes: 4 << 30,
            connection: Duration::from_secs(15),
            silence: Duration::from_mins(1),
        }
    }
}

/// Fetches over HTTP. It blocks, so it is called where that is allowed.
#[derive(Clone, Copy, Debug, Default)]
pub struct HttpFetcher {
    limits: FetchLimits,
}

/// Why nothing was fetched.
#[derive(Debug, thiserror::Error)]
enum FetchError {
    #[error("the connection failed")]
    Connection(#[source] reqwest::Error),
    #[error("the server answered {0}")]
    Status(StatusCode),
    #[error("the content is longer than {limit} bytes")]
    TooLong { limit: u64 },
    #[error("the content could not be kept in a temporary file")]
    File(#[from] std::io::Error),
}

impl FetchError {
    /// An address may hold credentials, so no message repeats it.
    fn connection(error: reqwest::Error) -> Self {
        FetchError::Connection(error.without_url())
    }

    fn is_worth_another_try(&self) -> bool {
        match self {
            FetchError::Connection(source) => !source.is_builder() && !source.is_redirect(),
            FetchError::Status(status) => {
                status.is_server_error() || *status == StatusCode::TOO_MANY_REQUESTS
            }
            FetchError::TooLong { .. } | FetchError::File(_) => false,
        }
    }
}

impl HttpFetcher {
    /// A fetcher with limits of its own.
    pub fn new(limits: FetchLimits) -> Self {
        HttpFetcher { limits }
    }

    async fn download(&self, uri: &str) -> Result<Content, FetchError> {
        let client = Client::builder()
            .connect_timeout(self.limits.connection)
            .read_timeout(self.limits.silence)
            .build()
            .map_err(FetchError::connection)?;
        let mut delay = FIRST_DELAY;
        for _ in 1..ATTEMPTS {
            match self.download_once(&client, uri).await {
                Err(error) if error.is_worth_another_try() => tokio::time::sleep(delay).await,
                result => return result,
            }
            delay *= 4;
        }
        self.download_once(&client, uri).await
    }

    async fn download_once(&self, client: &Client, uri: &str) -> Result<Content, FetchError> {
        let limit = self.limits.bytes;
        let response = client.get(uri).send().await;
        let mut response = response.map_err(FetchError::connection)?;
        if !response.status().is_success() {
            return Err(FetchError::Status(response.status()));
        }
        if response.content_length().is_some_and(|size| size > limit) {
            return Err(FetchError::TooLong { limit });
        }
        let mut file = tempfile::tempfile()?;
        let mut size = 0;
        while let Some(chunk) = response.chunk().await.map_err(FetchError::connection)? {
            size += chunk.len() as u64;
            if size > limit {
                return Err(FetchError::TooLong { limit });
            }
            file.write_all(&chunk)?;
        }
        file.rewind()?;
        Ok(Content {
            size,
            reader: Box::new(file),
        })
    }
}

impl UriFetcher for HttpFetcher {
    fn fetch(&self, uri: &str) -> Result<Content, Box<dyn std::error::Error + Send + Sync>> {
        // A runtime of its own: whoever asks is on a thread that may block.
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        Ok(runtime.block_on(self.download(uri))?)
    }
}
