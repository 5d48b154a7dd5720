//! Downloads with retries, tokens and hashing (`protocol.md` 14.5).

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use plumb_plugin::PluginKind;
use reqwest::header::{ACCEPT, AUTHORIZATION, HeaderMap};
use reqwest::{Client, Response, StatusCode};
use semver::Version;
use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::source::{Platform, Source, asset_name, fill_in};

const ATTEMPTS: u32 = 5;
const FIRST_DELAY: Duration = Duration::from_millis(80);
const CONNECT_LIMIT: Duration = Duration::from_secs(15);
/// Maximum time without data from a server.
const SILENCE_LIMIT: Duration = Duration::from_mins(1);

/// Tokens of the user for servers. Never printed.
#[derive(Clone, Default)]
pub struct Tokens {
    /// Token for GitHub.
    pub github: Option<String>,
    /// Token for GitLab.
    pub gitlab: Option<String>,
}

/// Errors of a download.
#[derive(Debug, thiserror::Error)]
pub enum DownloadError {
    /// The connection failed or broke.
    #[error("could not download {url}")]
    Connection {
        /// The address.
        url: String,
        /// Cause.
        #[source]
        source: reqwest::Error,
    },
    /// The server returned an error status.
    #[error("{url} answered {status}{}", .hint.unwrap_or_default())]
    Status {
        /// The address.
        url: String,
        /// The status.
        status: StatusCode,
        /// Advice for the user.
        hint: Option<&'static str>,
    },
    /// The release does not contain the archive.
    #[error("release v{version} of {place} has no {asset}; it has {}", listed(.has))]
    NoAsset {
        /// The source.
        place: String,
        /// The version.
        version: Version,
        /// Name of the archive.
        asset: String,
        /// Names of the archives in the release.
        has: Vec<String>,
    },
    /// The source does not provide the latest version.
    #[error("{place} does not tell the latest version; name the version")]
    NoLatest {
        /// The source.
        place: String,
    },
    /// The tag of the latest release is not a version.
    #[error("the latest release of {place} is called {tag:?}, which is not a version")]
    BadLatest {
        /// The source.
        place: String,
        /// Tag of the release.
        tag: String,
    },
    /// The archive could not be written.
    #[error("could not write {}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Cause.
        #[source]
        source: std::io::Error,
    },
}

fn listed(names: &[String]) -> String {
    if names.is_empty() {
        return "no files".to_owned();
    }
    names.join(", ")
}

impl DownloadError {
    fn is_worth_another_try(&self) -> bool {
        match self {
            DownloadError::Connection { source, .. } => {
                !source.is_builder() && !source.is_redirect()
            }
            DownloadError::Status { status, .. } => {
                status.is_server_error() || *status == StatusCode::TOO_MANY_REQUESTS
            }
            _ => false,
        }
    }
}

/// The plugin to download.
#[derive(Clone, Copy)]
pub(crate) struct Target<'a> {
    pub(crate) kind: PluginKind,
    pub(crate) name: &'a str,
    pub(crate) version: &'a Version,
    pub(crate) platform: Platform,
}

/// Receiver of the number of bytes received, and the total if known.
pub(crate) type OnBytes<'a> = &'a (dyn Fn(u64, Option<u64>) + Send + Sync);

/// HTTP client for servers of plugins.
pub(crate) struct Downloader {
    client: Client,
    tokens: Tokens,
}

#[derive(Deserialize)]
struct Release {
    tag_name: String,
    #[serde(default)]
    assets: Vec<Asset>,
}

#[derive(Deserialize)]
struct Asset {
    name: String,
    url: String,
}

impl Downloader {
    pub(crate) fn new(tokens: Tokens, program_version: &str) -> Result<Self, reqwest::Error> {
        let os = Platform::current().os;
        let client = Client::builder()
            .user_agent(format!("pulumi-cli/1 ({program_version}; {os})"))
            .connect_timeout(CONNECT_LIMIT)
            .read_timeout(SILENCE_LIMIT)
            .build()?;
        Ok(Downloader { client, tokens })
    }

    /// Downloads an archive from `source` into the file `into`; returns its SHA-256 in lowercase hex.
    pub(crate) async fn download(
        &self,
        source: &Source,
        target: Target<'_>,
        into: &Path,
        on_bytes: OnBytes<'_>,
    ) -> Result<String, DownloadError> {
        let Target {
            kind,
            name,
            version,
            platform,
        } = target;
        let asset = asset_name(kind, name, version, platform);
        if let Some(url) = source.direct_url(version, &asset) {
            let found = self.save(source, &url, false, into, on_bytes).await;
            match found {
                Err(DownloadError::Status { status, .. }) if status.is_client_error() => {}
                found => return found,
            }
        }
        match source {
            Source::GitHub { .. } => {
                let url = self.asset_url(source, version, &asset).await?;
                self.save(source, &url, true, into, on_bytes).await
            }
            Source::GitLab { host, project } => {
                let url = format!(
                    "{}/api/v4/projects/{project}/releases/v{version}/downloads/{asset}",
                    base(host)
                );
                self.save(source, &url, true, into, on_bytes).await
            }
            Source::Web { url } => {
                let url = format!("{}/{asset}", fill_in(url, name, version, platform));
                self.save(source, &url, false, into, on_bytes).await
            }
        }
    }

    /// The latest version in `source`.
    pub(crate) async fn latest(&self, source: &Source) -> Result<Version, DownloadError> {
        let url = match source {
            Source::GitHub {
                host,
                owner,
                repository,
            } => format!("{}/repos/{owner}/{repository}/releases/latest", base(host)),
            Source::GitLab { host, project } => format!(
                "{}/api/v4/projects/{project}/releases/permalink/latest",
                base(host)
            ),
            Source::Web { .. } => {
                return Err(DownloadError::NoLatest {
                    place: source.url(),
                });
            }
        };
        let release = self.release(source, &url).await?;
        let version = plumb_plugin::discovery::parse_tolerant(&release.tag_name);
        version.ok_or_else(|| DownloadError::BadLatest {
            place: source.url(),
            tag: release.tag_name,
        })
    }

    async fn asset_url(
        &self,
        source: &Source,
        version: &Version,
        asset: &str,
    ) -> Result<String, DownloadError> {
        let Source::GitHub {
            host,
            owner,
            repository,
        } = source
        else {
            return Err(DownloadError::NoLatest {
                place: source.url(),
            });
        };
        let url = format!(
            "{}/repos/{owner}/{repository}/releases/tags/v{version}",
            base(host)
        );
        let release = self.release(source, &url).await?;
        let found = release.assets.iter().find(|it| it.name == asset);
        found.map(|it| it.url.clone()).ok_or_else(|| {
            let has = release.assets.iter().map(|it| it.name.clone());
            DownloadError::NoAsset {
                place: source.url(),
                version: version.clone(),
                asset: asset.to_owned(),
                has: has.collect(),
            }
        })
    }

    async fn release(&self, source: &Source, url: &str) -> Result<Release, DownloadError> {
        let headers = self.headers(source, "application/json");
        let mut patience = Patience::default();
        loop {
            match self.release_once(url, headers.clone()).await {
                Err(error) if patience.lasts(&error).await => {}
                result => return result,
            }
        }
    }

    async fn release_once(&self, url: &str, headers: HeaderMap) -> Result<Release, DownloadError> {
        let response = self.ask(url, headers).await?;
        response.json().await.map_err(|source| broken(url, source))
    }

    async fn save(
        &self,
        source: &Source,
        url: &str,
        authorized: bool,
        into: &Path,
        on_bytes: OnBytes<'_>,
    ) -> Result<String, DownloadError> {
        let headers = if authorized {
            self.headers(source, "application/octet-stream")
        } else {
            HeaderMap::new()
        };
        let mut patience = Patience::default();
        loop {
            match self.save_once(url, headers.clone(), into, on_bytes).await {
                Err(error) if patience.lasts(&error).await => {}
                result => return result,
            }
        }
    }

    async fn save_once(
        &self,
        url: &str,
        headers: HeaderMap,
        into: &Path,
        on_bytes: OnBytes<'_>,
    ) -> Result<String, DownloadError> {
        let response = self.ask(url, headers).await?;
        write_body(response, url, into, on_bytes).await
    }

    async fn get(&self, url: &str, headers: HeaderMap) -> Result<Response, DownloadError> {
        let request = self.client.get(url).headers(headers);
        request.send().await.map_err(|source| broken(url, source))
    }

    /// Sends a request with the user's token. If the server rejects the token, sends the request again without it.
    async fn ask(&self, url: &str, headers: HeaderMap) -> Result<Response, DownloadError> {
        tracing::debug!(url = without_credentials(url), "asking for a plugin");
        let mut response = self.get(url, headers.clone()).await?;
        let is_refused = matches!(
            response.status(),
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN
        );
        if is_refused && headers.contains_key(AUTHORIZATION) && !is_rate_limited(&response) {
            let mut headers = headers;
            headers.remove(AUTHORIZATION);
            response = self.get(url, headers).await?;
        }
        if response.status().is_success() {
            return Ok(response);
        }
        Err(DownloadError::Status {
            hint: hint(url, &response),
            url: without_credentials(url),
            status: response.status(),
        })
    }

    fn headers(&self, source: &Source, accept: &'static str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, reqwest::header::HeaderValue::from_static(accept));
        let authorization = match source {
            Source::GitHub { .. } => self.tokens.github.as_ref().map(|it| format!("token {it}")),
            Source::GitLab { .. } => self.tokens.gitlab.as_ref().map(|it| format!("Bearer {it}")),
            Source::Web { .. } => None,
        };
        let value =
            authorization.and_then(|text| text.parse::<reqwest::header::HeaderValue>().ok());
        if let Some(mut value) = value {
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        headers
    }
}

/// Base address of a host; plain HTTP for this machine.
fn base(host: &str) -> String {
    let name = host.split(':').next().unwrap_or(host);
    let scheme = if matches!(name, "127.0.0.1" | "localhost") {
        "http"
    } else {
        "https"
    };
    format!("{scheme}://{host}")
}

fn is_rate_limited(response: &Response) -> bool {
    let remaining = response.headers().get("x-ratelimit-remaining");
    remaining.is_some_and(|it| it.as_bytes() == b"0")
}

fn hint(url: &str, response: &Response) -> Option<&'static str> {
    if is_rate_limited(response) {
        return Some(
            "; too many requests without a token: set GITHUB_TOKEN, or try again in an hour",
        );
    }
    let is_missing = response.status() == StatusCode::NOT_FOUND;
    (is_missing && url.contains("api.github.com"))
        .then_some("; if the repository is private, set GITHUB_TOKEN to a token that may read it")
}

fn broken(url: &str, source: reqwest::Error) -> DownloadError {
    DownloadError::Connection {
        url: without_credentials(url),
        source: source.without_url(),
    }
}

/// An address without credentials, for messages, because overrides may contain passwords.
pub(crate) fn without_credentials(url: &str) -> String {
    match url.split_once("://") {
        Some((scheme, rest)) => {
            let host_ends = rest.find('/').unwrap_or(rest.len());
            let (host, path) = rest.split_at(host_ends);
            let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
            format!("{scheme}://{host}{path}")
        }
        None => url.to_owned(),
    }
}

async fn write_body(
    mut response: Response,
    url: &str,
    into: &Path,
    on_bytes: OnBytes<'_>,
) -> Result<String, DownloadError> {
    let failed = |source| DownloadError::Write {
        path: into.to_owned(),
        source,
    };
    let total = response.content_length();
    let mut file = std::fs::File::create(into).map_err(failed)?;
    let mut hash = Sha256::new();
    let mut done = 0;
    on_bytes(done, total);
    while let Some(chunk) = response
        .chunk()
        .await
        .map_err(|source| broken(url, source))?
    {
        hash.update(&chunk);
        file.write_all(&chunk).map_err(failed)?;
        done += chunk.len() as u64;
        on_bytes(done, total);
    }
    Ok(hex::encode(hash.finalize()))
}

/// Remaining retries and the next delay.
struct Patience {
    left: u32,
    delay: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Patience {
            left: ATTEMPTS - 1,
            delay: FIRST_DELAY,
        }
    }
}

impl Patience {
    /// Returns whether to retry after this error, once the delay has passed.
    async fn lasts(&mut self, error: &DownloadError) -> bool {
        if self.left == 0 || !error.is_worth_another_try() {
            return false;
        }
        tracing::debug!(%error, "trying a download again");
        tokio::time::sleep(self.delay).await;
        self.left -= 1;
        self.delay *= 2;
        true
    }
}
