//! Schemas from the engine.

use std::sync::Arc;

use async_trait::async_trait;
use plumb_proto::MAX_MESSAGE_SIZE;
use plumb_proto::codegen::loader_client::LoaderClient;
use plumb_proto::codegen::{GetSchemaRequest, Parameterization};
use plumb_schema::{PackageQuery, PackageSchema, SchemaLoadError, SchemaLoader};
use tonic::Code;
use tonic::transport::Channel;

/// Client of an engine's schema loader, if the engine has one.
pub(crate) struct RemoteSchemas(Option<LoaderClient<Channel>>);

impl RemoteSchemas {
    pub(crate) fn new(channel: Channel) -> Self {
        let client = LoaderClient::new(channel).max_decoding_message_size(MAX_MESSAGE_SIZE);
        RemoteSchemas(Some(client))
    }

    /// A loader without packages.
    pub(crate) fn none() -> Self {
        RemoteSchemas(None)
    }
}

#[async_trait]
impl SchemaLoader for RemoteSchemas {
    async fn load(
        &self,
        query: &PackageQuery,
    ) -> Result<Option<Arc<PackageSchema>>, SchemaLoadError> {
        let Some(client) = &self.0 else {
            return Ok(None);
        };
        let failed = |source: Box<dyn std::error::Error + Send + Sync>| SchemaLoadError {
            package: query.name.clone(),
            source,
        };
        let answer = client.clone().get_schema(request(query)).await;
        let text = match answer {
            Ok(response) => response.into_inner().schema,
            Err(status) if status.code() == Code::NotFound => return Ok(None),
            Err(status) => return Err(failed(status.message().into())),
        };
        let text = String::from_utf8(text).map_err(|error| failed(error.into()))?;
        let schema = PackageSchema::parse(Arc::from(text)).map_err(|error| failed(error.into()))?;
        Ok(Some(Arc::new(schema)))
    }
}

fn request(query: &PackageQuery) -> GetSchemaRequest {
    GetSchemaRequest {
        package: query.name.clone(),
        version: query
            .version
            .as_ref()
            .map(ToString::to_string)
            .unwrap_or_default(),
        download_url: query.download_url.clone().unwrap_or_default(),
        parameterization: query
            .parameterization
            .as_ref()
            .map(|parameter| Parameterization {
                name: parameter.name.clone(),
                version: parameter.version.clone(),
                value: parameter.value.clone(),
            }),
    }
}
