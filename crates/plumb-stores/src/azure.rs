//! Azure Blob Storage.
//!
//! Account and credentials come from the address, from the variables `AZURE_STORAGE_…` and from the connection string.
//! Without a key or token, an Azure identity is used: a secret or federated token of an application, the managed
//! identity of a machine, or the login of the command line `az`.

use std::collections::BTreeMap;
use std::sync::Arc;

use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use plumb_backend::Bucket;

use crate::Variables;
use crate::error::OpenError;
use crate::object::{ObjectBucket, Rights, client, retries, unusable};
use crate::runtime::Worker;
use crate::url::AzureUrl;
use crate::watch::StoreWatch;

const DOMAIN: &str = "blob.core.windows.net";
const EMULATOR: &str = "127.0.0.1:10000";

/// Service and account of a container.
#[derive(Debug, Default, PartialEq, Eq)]
struct Place {
    account: String,
    endpoint: String,
}

pub(crate) fn open(
    url: &AzureUrl,
    variables: Variables<'_>,
    watch: &Arc<StoreWatch>,
) -> Result<Arc<dyn Bucket>, OpenError> {
    let address = format!("azblob://{}", url.container);
    let settings = |problem: &str| OpenError::Settings {
        url: address.clone(),
        problem: problem.to_owned(),
    };
    let connection = connection_string(variables);
    let place = place(url, variables, &connection).map_err(settings)?;
    let worker = Worker::start(&address, watch)?;
    let is_plain = place.endpoint.starts_with("http://");
    let mut builder = MicrosoftAzureBuilder::new()
        .with_account(&place.account)
        .with_container_name(&url.container)
        .with_retry(retries())
        .with_disable_tagging(true)
        .with_endpoint(place.endpoint.clone())
        .with_allow_http(is_plain)
        .with_client_options(client().with_allow_http(is_plain));
    let key = connection.get("AccountKey").cloned();
    let token = connection.get("SharedAccessSignature").cloned();
    builder = if let Some(key) = key.or_else(|| variables("AZURE_STORAGE_KEY")) {
        builder.with_access_key(key)
    } else if let Some(token) = token.or_else(|| variables("AZURE_STORAGE_SAS_TOKEN")) {
        builder.with_config(AzureConfigKey::SasKey, token)
    } else {
        with_identity(builder, variables)
    };
    let store = builder.build().map_err(unusable(&address))?;
    let role = "the role Storage Blob Data Contributor";
    let scope = format!("{} ({address})", place.endpoint);
    Ok(Arc::new(ObjectBucket::new(
        Arc::new(store),
        worker,
        ("azblob", &url.container, &url.prefix),
        Rights {
            read: role,
            write: role,
            remove: role,
            list: role,
            objects: scope.clone(),
            bucket: scope,
        },
    )))
}

/// Settings in the connection string, by name.
fn connection_string(variables: Variables<'_>) -> BTreeMap<String, String> {
    let text = variables("AZURE_STORAGE_CONNECTION_STRING")
        .or_else(|| variables("AZURE_STORAGEBLOB_CONNECTIONSTRING"))
        .unwrap_or_default();
    let parts = text.split(';').filter_map(|part| part.split_once('='));
    parts
        .map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned()))
        .collect()
}

fn place(
    url: &AzureUrl,
    variables: Variables<'_>,
    connection: &BTreeMap<String, String>,
) -> Result<Place, &'static str> {
    let is_on = |name: &str| variables(name).is_some_and(|it| matches!(it.as_str(), "1" | "true"));
    let is_emulator = url
        .is_emulator
        .unwrap_or_else(|| is_on("AZURE_STORAGE_IS_LOCAL_EMULATOR"));
    let is_cdn = url.is_cdn.unwrap_or_else(|| is_on("AZURE_STORAGE_IS_CDN"));
    let account = url
        .account
        .clone()
        .or_else(|| connection.get("AccountName").cloned())
        .or_else(|| variables("AZURE_STORAGE_ACCOUNT"))
        .ok_or(
            "no storage account was found; set AZURE_STORAGE_ACCOUNT, or add ?storage_account=… to the address",
        )?;
    let part = |given: &Option<String>, name: &str, in_string: &str, default: &str| {
        given
            .clone()
            .or_else(|| variables(name))
            .or_else(|| connection.get(in_string).cloned())
            .unwrap_or_else(|| default.to_owned())
    };
    let (default_domain, default_protocol) = if is_emulator {
        (EMULATOR, "http")
    } else {
        (DOMAIN, "https")
    };
    let protocol = part(
        &url.protocol,
        "AZURE_STORAGE_PROTOCOL",
        "DefaultEndpointsProtocol",
        default_protocol,
    );
    let suffix = connection
        .get("EndpointSuffix")
        .map_or_else(|| default_domain.to_owned(), |it| format!("blob.{it}"));
    let domain = part(&url.domain, "AZURE_STORAGE_DOMAIN", "", &suffix);
    let endpoint = match connection.get("BlobEndpoint") {
        Some(endpoint) => endpoint.trim_end_matches('/').to_owned(),
        None if is_emulator => format!("{protocol}://{domain}/{account}"),
        None if is_cdn => format!("{protocol}://{domain}"),
        None => format!("{protocol}://{account}.{domain}"),
    };
    Ok(Place { account, endpoint })
}

/// Configures the Azure identity from the environment.
fn with_identity(
    builder: MicrosoftAzureBuilder,
    variables: Variables<'_>,
) -> MicrosoftAzureBuilder {
    let mut builder = builder;
    for (name, key) in [
        ("AZURE_CLIENT_ID", AzureConfigKey::ClientId),
        ("AZURE_CLIENT_SECRET", AzureConfigKey::ClientSecret),
        ("AZURE_TENANT_ID", AzureConfigKey::AuthorityId),
        ("AZURE_AUTHORITY_HOST", AzureConfigKey::AuthorityHost),
        (
            "AZURE_FEDERATED_TOKEN_FILE",
            AzureConfigKey::FederatedTokenFile,
        ),
    ] {
        if let Some(value) = variables(name) {
            builder = builder.with_config(key, value);
        }
    }
    let is_application = variables("AZURE_TENANT_ID").is_some()
        && (variables("AZURE_CLIENT_SECRET").is_some()
            || variables("AZURE_FEDERATED_TOKEN_FILE").is_some());
    let managed = variables("IDENTITY_ENDPOINT").or_else(|| variables("MSI_ENDPOINT"));
    if let Some(endpoint) = &managed {
        builder = builder.with_msi_endpoint(endpoint);
    }
    // A login with `az` takes precedence, unless credentials are configured for this process.
    let has_login = variables("AZURE_CONFIG_DIR")
        .or_else(|| variables("HOME").map(|home| format!("{home}/.azure")))
        .is_some_and(|folder| {
            std::path::Path::new(&folder)
                .join("azureProfile.json")
                .is_file()
        });
    if !is_application && managed.is_none() && has_login {
        builder = builder.with_use_azure_cli(true);
    }
    builder
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(url: &str, set: &[(&str, &str)]) -> Result<(String, String), &'static str> {
        let Ok(crate::StoreUrl::Azure(url)) = crate::StoreUrl::parse(url) else {
            panic!("{url}")
        };
        let variables = |name: &str| {
            let found = set.iter().find(|(it, _)| *it == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        let place = place(&url, &variables, &connection_string(&variables))?;
        Ok((place.account, place.endpoint))
    }

    #[test]
    fn the_account_and_the_service_are_found() {
        let account = ("AZURE_STORAGE_ACCOUNT", "acc");
        let of = |account: &str, endpoint: &str| Ok((account.to_owned(), endpoint.to_owned()));
        assert_eq!(
            found("azblob://c", &[account]),
            of("acc", "https://acc.blob.core.windows.net")
        );
        assert_eq!(
            found("azblob://c?storage_account=x&domain=d.example", &[account]),
            of("x", "https://x.d.example")
        );
        assert_eq!(
            found("azblob://c?localemu=true", &[account]),
            of("acc", "http://127.0.0.1:10000/acc")
        );
        assert_eq!(
            found("azblob://c?domain=cdn.example&cdn=true", &[account]),
            of("acc", "https://cdn.example")
        );
        let string = "AccountName=s;AccountKey=a2V5PT0=;EndpointSuffix=core.cloud.example";
        let set = [("AZURE_STORAGE_CONNECTION_STRING", string)];
        assert_eq!(
            found("azblob://c", &set),
            of("s", "https://s.blob.core.cloud.example")
        );
        let string = "AccountName=s;BlobEndpoint=http://127.0.0.1:1/s/";
        let set = [("AZURE_STORAGE_CONNECTION_STRING", string)];
        assert_eq!(found("azblob://c", &set), of("s", "http://127.0.0.1:1/s"));
        assert!(found("azblob://c", &[]).is_err());
    }
}
