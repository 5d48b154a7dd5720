//! Google Cloud Storage.
//!
//! Credentials come from `GOOGLE_CREDENTIALS` (JSON text), otherwise from the token in `GOOGLE_OAUTH_ACCESS_TOKEN`,
//! otherwise from the application default credentials. `STORAGE_EMULATOR_HOST` names another server, which gets no
//! credentials.

use std::sync::Arc;

use google_cloud_auth::credentials::{
    AccessTokenCredentials, Builder, external_account, impersonated, service_account, user_account,
};
use object_store::gcp::{GcpCredential, GoogleCloudStorageBuilder};
use object_store::{CredentialProvider, Error};
use plumb_backend::Bucket;

use crate::Variables;
use crate::answer::NoCredentials;
use crate::error::OpenError;
use crate::object::{ObjectBucket, Rights, client, retries, unusable};
use crate::runtime::Worker;
use crate::url::GoogleUrl;
use crate::watch::StoreWatch;

const ADVICE: &str = "log in with `gcloud auth application-default login`, or set GOOGLE_CREDENTIALS or GOOGLE_APPLICATION_CREDENTIALS";
const SCOPE: &str = "https://www.googleapis.com/auth/devstorage.read_write";

pub(crate) fn open(
    url: &GoogleUrl,
    variables: Variables<'_>,
    watch: &Arc<StoreWatch>,
) -> Result<Arc<dyn Bucket>, OpenError> {
    let address = format!("gs://{}", url.bucket);
    let worker = Worker::start(&address, watch)?;
    let emulator = variables("STORAGE_EMULATOR_HOST");
    let mut builder = GoogleCloudStorageBuilder::new()
        .with_bucket_name(&url.bucket)
        .with_retry(retries())
        .with_client_options(client().with_allow_http(emulator.is_some()));
    if let Some(host) = &emulator {
        let base = if host.contains("://") {
            host.clone()
        } else {
            format!("http://{host}")
        };
        builder = builder.with_base_url(base.trim_end_matches('/'));
    } else if let Some(domain) = &url.universe_domain {
        builder = builder.with_base_url(&format!("https://storage.{domain}"));
    }
    // Always set a token, because the client asks the metadata service if there is none.
    builder = if emulator.is_some() {
        builder.with_bearer_token("anonymous")
    } else if url.anonymous {
        builder
            .with_skip_signature(true)
            .with_bearer_token("anonymous")
    } else if let Some(text) = variables("GOOGLE_CREDENTIALS") {
        let found = worker.run(async move { of_text(&text) });
        builder.with_credentials(Arc::new(token_of(found, &address)?))
    } else if let Some(token) = variables("GOOGLE_OAUTH_ACCESS_TOKEN") {
        builder.with_bearer_token(token)
    } else {
        let found = worker.run(async {
            let builder = Builder::default().with_scopes([SCOPE]);
            builder
                .build_access_token_credentials()
                .map_err(|error| error.to_string())
        });
        builder.with_credentials(Arc::new(token_of(found, &address)?))
    };
    let store = builder.build().map_err(unusable(&address))?;
    Ok(Arc::new(ObjectBucket::new(
        Arc::new(store),
        worker,
        ("gs", &url.bucket, &url.prefix),
        Rights {
            read: "storage.objects.get",
            write: "storage.objects.create and storage.objects.delete",
            remove: "storage.objects.delete",
            list: "storage.objects.list",
            objects: address.clone(),
            bucket: format!("{address} (the role roles/storage.objectAdmin has all)"),
        },
    )))
}

fn token_of(
    found: Result<AccessTokenCredentials, String>,
    address: &str,
) -> Result<Token, OpenError> {
    found.map(Token).map_err(|problem| OpenError::Settings {
        url: address.to_owned(),
        problem,
    })
}

/// Credentials from JSON text, of the kind in its `type`. Errors do not repeat the text, which is secret.
fn of_text(text: &str) -> Result<AccessTokenCredentials, String> {
    let json: serde_json::Value = serde_json::from_str(text)
        .map_err(|_| "GOOGLE_CREDENTIALS is not the JSON text of credentials".to_owned())?;
    let kind = json["type"].as_str().unwrap_or_default().to_owned();
    let built = match kind.as_str() {
        "service_account" => service_account::Builder::new(json)
            .with_access_specifier(service_account::AccessSpecifier::from_scopes([SCOPE]))
            .build_access_token_credentials(),
        "authorized_user" => user_account::Builder::new(json).build_access_token_credentials(),
        "external_account" => external_account::Builder::new(json)
            .with_scopes([SCOPE])
            .build_access_token_credentials(),
        "impersonated_service_account" => impersonated::Builder::new(json)
            .with_scopes([SCOPE])
            .build_access_token_credentials(),
        _ => return Err(format!("GOOGLE_CREDENTIALS has the unknown type `{kind}`")),
    };
    built.map_err(|_| format!("the {kind} in GOOGLE_CREDENTIALS is incomplete"))
}

/// Google access token, renewed by the Google library.
struct Token(AccessTokenCredentials);

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token")
    }
}

#[async_trait::async_trait]
impl CredentialProvider for Token {
    type Credential = GcpCredential;

    async fn get_credential(&self) -> Result<Arc<GcpCredential>, Error> {
        let found = self.0.access_token().await;
        let token = found.map_err(|error| NoCredentials::error("Google Cloud", ADVICE, &error))?;
        Ok(Arc::new(GcpCredential {
            bearer: token.token,
        }))
    }
}
