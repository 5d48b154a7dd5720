//! Targets of traces: a file, or a collector of OpenTelemetry.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::trace_service_client::TraceServiceClient;
use opentelemetry_proto::tonic::trace::v1::ResourceSpans;
use plumb_project::files;
use plumb_proto::prost::Message as _;
use reqwest::Url;
use tonic::Request;
use tonic::metadata::MetadataMap;
use tonic::transport::{Channel, Endpoint};

use super::wire;

/// Limit for one delivery to a collector.
const LIMIT: Duration = Duration::from_secs(10);

/// Place where a trace goes, as a flag names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// A file, one JSON document per line.
    File(PathBuf),
    /// A collector that takes messages over gRPC, without encryption.
    Grpc { address: String, headers: Headers },
    /// A collector that takes messages over HTTP.
    Http { url: Url, headers: Headers },
}

/// Headers for a collector, from the query of its address. They may be secret.
type Headers = Vec<(String, String)>;

impl Target {
    /// Parses the value of `--otel-traces`: `file:` with a path, or `grpc:`, `http:` or `https:` with a host, an optional path
    /// and headers as a query.
    pub(super) fn parse(text: &str, cwd: &Path, home: &Path) -> Option<Self> {
        if let Some(path) = text.strip_prefix("file:") {
            return file(path, cwd, home);
        }
        let mut url = Url::parse(text).ok()?;
        let headers = url.query_pairs().into_owned().collect();
        let host = url.host_str().filter(|host| !host.is_empty())?.to_owned();
        url.set_query(None);
        match url.scheme() {
            "grpc" => {
                let port = url.port().unwrap_or(4317);
                let address = format!("{host}:{port}");
                Some(Target::Grpc { address, headers })
            }
            "http" | "https" => {
                if url.path() == "/" {
                    url.set_path("/v1/traces");
                }
                Some(Target::Http { url, headers })
            }
            _ => None,
        }
    }

    /// Opens the file, or prepares the connection.
    pub(super) fn open(self) -> Result<Exporter, Problem> {
        match self {
            Target::File(path) => match files::create_private(&path) {
                Ok(file) => Ok(Exporter::File(file)),
                Err(source) => Err(Problem::File { path, source }),
            },
            Target::Grpc { address, headers } => {
                let endpoint =
                    Endpoint::from_shared(format!("http://{address}")).map_err(refused)?;
                let endpoint = endpoint.connect_timeout(LIMIT).timeout(LIMIT);
                Ok(Exporter::Grpc(Box::new(GrpcCollector {
                    endpoint,
                    headers: metadata(headers)?,
                    connection: None,
                })))
            }
            Target::Http { url, headers } => {
                let client = reqwest::Client::builder().timeout(LIMIT).build();
                let client = client.map_err(refused)?;
                Ok(Exporter::Http {
                    client,
                    url,
                    headers,
                })
            }
        }
    }
}

/// The file in `file:PATH` and `file://PATH`.
fn file(path: &str, cwd: &Path, home: &Path) -> Option<Target> {
    let path = path.strip_prefix("//").unwrap_or(path);
    if path.is_empty() {
        return None;
    }
    let of_home = path.strip_prefix("~/").map(|rest| home.join(rest));
    Some(Target::File(of_home.unwrap_or_else(|| cwd.join(path))))
}

fn metadata(headers: Headers) -> Result<MetadataMap, Problem> {
    let mut metadata = MetadataMap::new();
    for (name, value) in headers {
        let unusable = || Problem::Collector(format!("the header {name} cannot be sent"));
        let key = tonic::metadata::AsciiMetadataKey::from_bytes(name.as_bytes());
        let value = value.parse().map_err(|_| unusable())?;
        metadata.insert(key.map_err(|_| unusable())?, value);
    }
    Ok(metadata)
}

/// An open target.
pub(super) enum Exporter {
    File(File),
    Grpc(Box<GrpcCollector>),
    Http {
        client: reqwest::Client,
        url: Url,
        headers: Headers,
    },
}

/// A collector that is connected to when there is something to deliver.
pub(super) struct GrpcCollector {
    endpoint: Endpoint,
    headers: MetadataMap,
    connection: Option<Channel>,
}

impl GrpcCollector {
    async fn deliver(&mut self, document: ExportTraceServiceRequest) -> Result<(), Problem> {
        let channel = match self.connection.take() {
            Some(channel) => channel,
            None => self.endpoint.connect().await.map_err(refused)?,
        };
        self.connection = Some(channel.clone());
        let mut request = Request::new(document);
        *request.metadata_mut() = self.headers.clone();
        let answer = TraceServiceClient::new(channel).export(request).await;
        answer.map_err(|status| Problem::Collector(status.message().to_owned()))?;
        Ok(())
    }
}

fn refused(error: impl std::error::Error) -> Problem {
    Problem::Collector(plumb_engine::with_causes(&error))
}

/// Spans could not be written or delivered. The texts hold no address and no header, because these may be secret.
#[derive(Debug, thiserror::Error)]
pub(super) enum Problem {
    #[error("{}: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
    #[error("{0}")]
    Write(#[from] io::Error),
    #[error("spans of programs cannot be received: {0}")]
    Collect(#[source] io::Error),
    #[error("the collector does not take it: {0}")]
    Collector(String),
}

impl Exporter {
    /// Writes or delivers `spans`.
    pub(super) async fn export(&mut self, spans: Vec<ResourceSpans>) -> Result<(), Problem> {
        let document = wire::document(spans);
        match self {
            Exporter::File(file) => {
                let mut line = serde_json::to_vec(&document).map_err(io::Error::from)?;
                line.push(b'\n');
                file.write_all(&line)?;
                Ok(())
            }
            Exporter::Grpc(collector) => collector.deliver(document).await,
            Exporter::Http {
                client,
                url,
                headers,
            } => {
                let mut request = client
                    .post(url.clone())
                    .header("Content-Type", "application/x-protobuf")
                    .body(document.encode_to_vec());
                for (name, value) in headers {
                    request = request.header(name.as_str(), value.as_str());
                }
                let answer = request
                    .send()
                    .await
                    .and_then(reqwest::Response::error_for_status);
                answer.map_err(|error| refused(error.without_url()))?;
                Ok(())
            }
        }
    }
}
