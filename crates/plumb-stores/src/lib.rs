//! Remote stores of state: S3 and compatible servers, Google Cloud Storage, Azure Blob Storage, PostgreSQL.
//!
//! This crate knows the addresses of stores ([`StoreUrl`]), their sources of credentials, and how to use each as a
//! [`Bucket`](plumb_backend::Bucket). It does not know what the objects contain. Start with [`open`].
//!
//! Calls block. Each store has a runtime of its own, so callers may be on any thread, also inside another runtime.

#[cfg(any(feature = "aws", feature = "azure", feature = "google"))]
mod answer;
mod error;
#[cfg(any(feature = "aws", feature = "azure", feature = "google"))]
mod object;
mod runtime;
mod url;
mod watch;

#[cfg(feature = "azure")]
mod azure;
#[cfg(feature = "google")]
mod google;
#[cfg(feature = "postgres")]
mod link;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "aws")]
mod s3;
#[cfg(feature = "postgres")]
mod tls;

use std::sync::Arc;

use plumb_backend::Bucket;

pub use error::OpenError;
pub use url::{AzureUrl, Encryption, GoogleUrl, PostgresUrl, S3Url, StoreUrl, UrlError};
pub use watch::StoreWatch;

/// Reader of environment variables; returns the value of a name if it is set and not empty.
pub type Variables<'v> = &'v dyn Fn(&str) -> Option<String>;

/// Opens the store at an address. Writes nothing. An unreachable server is detected here or by the first call.
/// `watch` gets to know of requests without an answer.
pub fn open(
    url: &StoreUrl,
    variables: Variables<'_>,
    watch: &Arc<StoreWatch>,
) -> Result<Arc<dyn Bucket>, OpenError> {
    match url {
        #[cfg(feature = "aws")]
        StoreUrl::S3(url) => s3::open(url, variables, watch),
        #[cfg(feature = "google")]
        StoreUrl::Google(url) => google::open(url, variables, watch),
        #[cfg(feature = "azure")]
        StoreUrl::Azure(url) => azure::open(url, variables, watch),
        #[cfg(feature = "postgres")]
        StoreUrl::Postgres(url) => postgres::open(url, variables, watch),
        #[allow(
            unreachable_patterns,
            reason = "there are others in builds with fewer stores"
        )]
        other => Err(OpenError::NotBuilt {
            scheme: other.scheme(),
        }),
    }
}
