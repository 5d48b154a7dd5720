//! Assets and archives at `http` and `https` addresses.
//!
//! 1. The address is requested; up to ten redirects are followed. Proxies are those of the process's environment.
//! 2. The body is written to a temporary file as it arrives, so that memory use does not depend on its size. **Content
//!    longer than the limit is refused**, as soon as the server announces it or at the first byte beyond the limit.
//! 3. Broken connections, and statuses of a busy or failing server, are retried twice. Any other status than success is an
//!    error, because an error page is not the asset.

use std::io::{Seek as _, Write as _};
use std::time::Duration;

use plumb_value::assets::Content;
use reqwest::{Client, StatusCode};

use crate::UriFetcher;

/// Maximum number of requests for an address.
const ATTEMPTS: u32 = 3;
const FIRST_DELAY: Duration = Duration::from_millis(100);

/// Limits of one fetch.
#[derive(Clone, Copy, Debug)]
pub struct FetchLimits {
    /// Maximum size of the content in bytes.
    pub bytes: u64,
    /// Maximum time for the connection.
    pub connection: Duration,
    /// Maximum time without data from the server.
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

/// Fetches assets over HTTP. Blocks, so it must be called where blocking is allowed.
#[derive(Clone, Copy, Debug, Default)]
pub struct HttpFetcher {
    limits: FetchLimits,
}

/// Errors of a fetch.
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
    /// Removes the address, because it may contain credentials.
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
    /// A fetcher with other limits than the default.
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
        // A runtime of its own, because the calling thread is one that may block.
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        Ok(runtime.block_on(self.download(uri))?)
    }
}
