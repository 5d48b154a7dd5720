//! Addresses of stores (`state.md` 3.1).
//!
//! The path of every address is a prefix of all keys. Unknown parameters are errors, because they may have been
//! important to the user.

use plumb_backend::masked;
use url::Url;

/// Address of a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoreUrl {
    /// `s3://bucket/prefix`.
    S3(S3Url),
    /// `gs://bucket/prefix`.
    Google(GoogleUrl),
    /// `azblob://container/prefix`.
    Azure(AzureUrl),
    /// `postgres://user:password@host/database`.
    Postgres(PostgresUrl),
}

/// A bucket of S3 or a compatible server.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct S3Url {
    /// Name of the bucket.
    pub bucket: String,
    /// Prefix of all keys; empty, or with a trailing slash.
    pub prefix: String,
    /// Region; `None` to take it from the environment.
    pub region: Option<String>,
    /// URL of another server.
    pub endpoint: Option<String>,
    /// Profile in the shared configuration.
    pub profile: Option<String>,
    /// Role to assume.
    pub role: Option<String>,
    /// Whether requests are sent without credentials.
    pub anonymous: bool,
    /// Whether the bucket is in the path instead of the host name.
    pub path_style: bool,
    /// Whether the endpoint is used without changes.
    pub hostname_immutable: bool,
    /// Whether to use endpoints that support IPv6.
    pub dualstack: bool,
    /// Whether to use endpoints with FIPS-validated cryptography.
    pub fips: bool,
    /// Whether to use transfer acceleration.
    pub accelerate: bool,
    /// Server-side encryption.
    pub encryption: Option<Encryption>,
    /// Key for server-side encryption.
    pub kms_key: Option<String>,
}

/// Server-side encryption of S3.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encryption {
    /// `AES256`.
    Aes256,
    /// `aws:kms`.
    Kms,
    /// `aws:kms:dsse`.
    KmsTwice,
}

/// A bucket of Google Cloud Storage.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GoogleUrl {
    /// Name of the bucket.
    pub bucket: String,
    /// Prefix of all keys; empty, or with a trailing slash.
    pub prefix: String,
    /// Whether requests are sent without credentials.
    pub anonymous: bool,
    /// Domain of the cloud, if not the default.
    pub universe_domain: Option<String>,
}

/// A container of Azure Blob Storage.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AzureUrl {
    /// Name of the container.
    pub container: String,
    /// Prefix of all keys; empty, or with a trailing slash.
    pub prefix: String,
    /// Account; `None` to take it from the environment.
    pub account: Option<String>,
    /// Domain of the service.
    pub domain: Option<String>,
    /// `http` or `https`.
    pub protocol: Option<String>,
    /// Whether the domain is that of a content delivery network.
    pub is_cdn: Option<bool>,
    /// Whether the server is an emulator on this machine.
    pub is_emulator: Option<bool>,
}

/// A table of a PostgreSQL database.
#[derive(Clone, PartialEq, Eq)]
pub struct PostgresUrl {
    /// Connection URL without the parameters below. May contain a password.
    pub connection: Url,
    /// Prefix of all keys, with a trailing slash.
    pub prefix: String,
    /// Name of the table.
    pub table: String,
    /// Level of verification (`sslmode`).
    pub ssl_mode: Option<String>,
    /// File with root certificates (`sslrootcert`).
    pub ssl_root: Option<String>,
}

impl std::fmt::Debug for PostgresUrl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("PostgresUrl")
            .field(&masked(self.connection.as_str()))
            .finish()
    }
}

/// Error for an invalid address of a store.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    /// The text is not a URL, or has another scheme.
    #[error("it is not the address of a store")]
    Malformed,
    /// The bucket, container or database is missing.
    #[error("it names no {what}")]
    Missing {
        /// Name of the missing part.
        what: &'static str,
    },
    /// A parameter is unknown.
    #[error("unknown query parameter \"{name}\"")]
    Parameter {
        /// Name of the parameter.
        name: String,
    },
    /// A parameter has an invalid value.
    #[error("query parameter \"{name}\" cannot be \"{value}\"")]
    Value {
        /// Name of the parameter.
        name: String,
        /// Value of the parameter.
        value: String,
    },
}

impl StoreUrl {
    /// Parses an address.
    pub fn parse(text: &str) -> Result<Self, UrlError> {
        let url = Url::parse(text).map_err(|_| UrlError::Malformed)?;
        match url.scheme() {
            "s3" => s3(&url).map(StoreUrl::S3),
            "gs" => google(&url).map(StoreUrl::Google),
            "azblob" => azure(&url).map(StoreUrl::Azure),
            "postgres" => postgres(url).map(StoreUrl::Postgres),
            _ => Err(UrlError::Malformed),
        }
    }

    /// Scheme of the address.
    pub fn scheme(&self) -> &'static str {
        match self {
            StoreUrl::S3(_) => "s3",
            StoreUrl::Google(_) => "gs",
            StoreUrl::Azure(_) => "azblob",
            StoreUrl::Postgres(_) => "postgres",
        }
    }
}

fn parameters(url: &Url) -> impl Iterator<Item = (String, String)> {
    url.query_pairs()
        .map(|(name, value)| (name.into_owned(), value.into_owned()))
}

fn host(url: &Url, what: &'static str) -> Result<String, UrlError> {
    let host = url.host_str().filter(|host| !host.is_empty());
    host.map(str::to_owned).ok_or(UrlError::Missing { what })
}

/// Path without leading slashes and with a trailing one.
fn prefix(url: &Url) -> String {
    let decoded = percent_decoded(url.path());
    let path = decoded.trim_start_matches('/');
    if path.is_empty() || path.ends_with('/') {
        path.to_owned()
    } else {
        format!("{path}/")
    }
}

fn percent_decoded(path: &str) -> String {
    // Form decoding would also decode plus signs, which are literal in a path.
    let form = format!("p={}", path.replace('+', "%2B").replace('&', "%26"));
    let mut pairs = url::form_urlencoded::parse(form.as_bytes());
    pairs
        .next()
        .map_or_else(String::new, |(_, value)| value.into_owned())
}

fn boolean(name: &str, value: &str) -> Result<bool, UrlError> {
    match value {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(false),
        _ => Err(wrong(name, value)),
    }
}

fn wrong(name: &str, value: &str) -> UrlError {
    UrlError::Value {
        name: name.to_owned(),
        value: value.to_owned(),
    }
}

fn s3(url: &Url) -> Result<S3Url, UrlError> {
    let mut out = S3Url {
        bucket: host(url, "bucket")?,
        prefix: prefix(url),
        ..S3Url::default()
    };
    let mut is_plain = false;
    for (name, value) in parameters(url) {
        match name.as_str() {
            "region" => out.region = Some(value),
            "endpoint" => out.endpoint = Some(value),
            "profile" => out.profile = Some(value),
            "role" => out.role = Some(value),
            "anonymous" => out.anonymous = boolean(&name, &value)?,
            "use_path_style" | "s3ForcePathStyle" => out.path_style = boolean(&name, &value)?,
            "hostname_immutable" => out.hostname_immutable = boolean(&name, &value)?,
            "dualstack" => out.dualstack = boolean(&name, &value)?,
            "fips" => out.fips = boolean(&name, &value)?,
            "accelerate" => out.accelerate = boolean(&name, &value)?,
            "disable_https" | "disableSSL" => is_plain = boolean(&name, &value)?,
            "kmskeyid" => out.kms_key = Some(value),
            "ssetype" => out.encryption = Some(encryption(&name, &value)?),
            // Retries have their own limits here, and requests carry only required checksums.
            "rate_limiter_capacity" => {
                value.parse::<u64>().map_err(|_| wrong(&name, &value))?;
            }
            "request_checksum_calculation" | "response_checksum_validation" => {
                if !matches!(value.as_str(), "when_supported" | "when_required") {
                    return Err(wrong(&name, &value));
                }
            }
            "awssdk" => {}
            _ => return Err(UrlError::Parameter { name }),
        }
    }
    if out.kms_key.is_some() && matches!(out.encryption, None | Some(Encryption::Aes256)) {
        return Err(UrlError::Missing {
            what: "\"ssetype\" with a key of its own, although it has \"kmskeyid\"",
        });
    }
    out.endpoint = out.endpoint.map(|endpoint| {
        let scheme = if is_plain { "http" } else { "https" };
        if endpoint.contains("://") {
            endpoint
        } else {
            format!("{scheme}://{endpoint}")
        }
    });
    if is_plain && out.endpoint.is_none() {
        return Err(UrlError::Missing {
            what: "endpoint, although it has \"disable_https\"",
        });
    }
    Ok(out)
}

fn encryption(name: &str, value: &str) -> Result<Encryption, UrlError> {
    match value {
        "AES256" => Ok(Encryption::Aes256),
        "aws:kms" => Ok(Encryption::Kms),
        "aws:kms:dsse" => Ok(Encryption::KmsTwice),
        _ => Err(wrong(name, value)),
    }
}

fn google(url: &Url) -> Result<GoogleUrl, UrlError> {
    let mut out = GoogleUrl {
        bucket: host(url, "bucket")?,
        prefix: prefix(url),
        ..GoogleUrl::default()
    };
    for (name, value) in parameters(url) {
        match name.as_str() {
            "anonymous" => out.anonymous = boolean(&name, &value)?,
            "universe_domain" => out.universe_domain = Some(value),
            // Only for signed URLs, which Plumb does not use.
            "access_id" | "private_key_path" => {}
            _ => return Err(UrlError::Parameter { name }),
        }
    }
    Ok(out)
}

fn azure(url: &Url) -> Result<AzureUrl, UrlError> {
    let mut out = AzureUrl {
        container: host(url, "container")?,
        prefix: prefix(url),
        ..AzureUrl::default()
    };
    for (name, value) in parameters(url) {
        match name.as_str() {
            "storage_account" => out.account = Some(value),
            "domain" => out.domain = Some(value),
            "protocol" if matches!(value.as_str(), "http" | "https") => out.protocol = Some(value),
            "protocol" => return Err(wrong(&name, &value)),
            "cdn" => out.is_cdn = Some(boolean(&name, &value)?),
            "localemu" => out.is_emulator = Some(boolean(&name, &value)?),
            _ => return Err(UrlError::Parameter { name }),
        }
    }
    Ok(out)
}

fn postgres(url: Url) -> Result<PostgresUrl, UrlError> {
    let prefix = prefix(&url);
    if prefix.is_empty() {
        return Err(UrlError::Missing { what: "database" });
    }
    let mut out = PostgresUrl {
        connection: url.clone(),
        prefix,
        table: "pulumi_state".to_owned(),
        ssl_mode: None,
        ssl_root: None,
    };
    out.connection.set_query(None);
    for (name, value) in parameters(&url) {
        match name.as_str() {
            "table" if is_identifier(&value) => out.table = value,
            "table" => return Err(wrong(&name, &value)),
            "sslmode" => match value.as_str() {
                "disable" | "require" | "verify-ca" | "verify-full" => out.ssl_mode = Some(value),
                _ => return Err(wrong(&name, &value)),
            },
            "sslrootcert" => out.ssl_root = Some(value),
            "connect_timeout" | "application_name" | "options" | "keepalives" => {
                out.connection.query_pairs_mut().append_pair(&name, &value);
            }
            _ => return Err(UrlError::Parameter { name }),
        }
    }
    Ok(out)
}

/// Whether the text is a table name, optionally with a schema, that needs no quotes.
fn is_identifier(text: &str) -> bool {
    let is_name = |name: &str| {
        let starts = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        starts && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
    };
    text.split('.').count() <= 2 && text.split('.').all(is_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn s3(text: &str) -> S3Url {
        match StoreUrl::parse(text) {
            Ok(StoreUrl::S3(url)) => url,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn addresses_of_s3_are_understood() {
        let url = s3("s3://b/a/b?region=eu&profile=p&use_path_style=1&awssdk=v2");
        assert_eq!((url.bucket.as_str(), url.prefix.as_str()), ("b", "a/b/"));
        assert_eq!(url.region.as_deref(), Some("eu"));
        assert!(url.path_style);
        let url = s3("s3://b?endpoint=localhost:9000&disableSSL=true&s3ForcePathStyle=true");
        assert_eq!(url.endpoint.as_deref(), Some("http://localhost:9000"));
        assert_eq!(url.prefix, "");
        let url = s3("s3://b?endpoint=localhost:9000");
        assert_eq!(url.endpoint.as_deref(), Some("https://localhost:9000"));
        let url = s3("s3://b?ssetype=aws:kms&kmskeyid=arn:aws:kms:eu:1:key/k");
        assert_eq!(url.encryption, Some(Encryption::Kms));
    }

    #[test]
    fn other_addresses_are_understood() {
        let StoreUrl::Azure(url) = StoreUrl::parse("azblob://c/p?localemu=true").unwrap() else {
            panic!()
        };
        assert_eq!((url.container.as_str(), url.is_emulator), ("c", Some(true)));
        let StoreUrl::Google(url) = StoreUrl::parse("gs://b/a%20b/?anonymous=true").unwrap() else {
            panic!()
        };
        assert_eq!((url.prefix.as_str(), url.anonymous), ("a b/", true));
        let text = "postgres://u:pw@h:5433/db?table=team.state&sslmode=disable&application_name=x";
        let StoreUrl::Postgres(url) = StoreUrl::parse(text).unwrap() else {
            panic!()
        };
        assert_eq!(
            (url.table.as_str(), url.prefix.as_str()),
            ("team.state", "db/")
        );
        assert_eq!(
            url.connection.as_str(),
            "postgres://u:pw@h:5433/db?application_name=x"
        );
        assert!(!format!("{url:?}").contains("pw"));
    }

    #[test]
    fn what_is_not_known_is_refused() {
        for (text, problem) in [
            ("s3://b?regon=eu", "unknown query parameter \"regon\""),
            (
                "s3://b?anonymous=maybe",
                "query parameter \"anonymous\" cannot be \"maybe\"",
            ),
            ("gs://b?region=eu", "unknown query parameter \"region\""),
            (
                "azblob://c?protocol=ftp",
                "query parameter \"protocol\" cannot be \"ftp\"",
            ),
            (
                "postgres://h/db?table=a;b",
                "query parameter \"table\" cannot be \"a;b\"",
            ),
            ("postgres://h", "it names no database"),
            ("s3:///x", "it names no bucket"),
            ("ftp://x", "it is not the address of a store"),
        ] {
            assert_eq!(
                StoreUrl::parse(text).unwrap_err().to_string(),
                problem,
                "{text}"
            );
        }
    }
}
