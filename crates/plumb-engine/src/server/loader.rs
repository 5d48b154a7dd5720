//! The schema loader: serves the schemas of packages to programs and plugins (`protocol.md` 10).

use std::sync::{Arc, OnceLock};

use plumb_plugin::PluginHost;
use plumb_plugin::discovery::parse_tolerant;
use plumb_proto::codegen::loader_server::Loader;
use plumb_proto::codegen::{GetSchemaRequest, GetSchemaResponse};
use plumb_resource::provider::{Parameterization, PluginSpec};
use tonic::{Request, Response, Status};

/// Slot for the plugin host. Filled after the services are started, because the host needs their address.
pub(crate) type HostSlot = Arc<OnceLock<Arc<PluginHost>>>;

/// The loader of one deployment. The host requests every schema only once.
pub(crate) struct LoaderService {
    host: HostSlot,
}

impl LoaderService {
    pub(crate) fn new(host: HostSlot) -> Self {
        LoaderService { host }
    }

    async fn load(&self, request: &GetSchemaRequest) -> Result<Vec<u8>, Status> {
        let package = &request.package;
        let spec = spec(request)?;
        if spec.name == plumb_schema::PULUMI_PACKAGE && spec.parameterization.is_none() {
            return Ok(plumb_schema::PULUMI_SCHEMA.as_bytes().to_vec());
        }
        let host = self
            .host
            .get()
            .ok_or_else(|| Status::unavailable("the deployment has not begun"))?;
        let schema = host.schema(&spec).await.map_err(|error| {
            Status::unknown(format!("could not load the schema of {package}: {error}"))
        })?;
        let schema =
            schema.ok_or_else(|| Status::not_found(format!("package {package} has no schema")))?;
        Ok(schema.as_bytes().to_vec())
    }
}

fn spec(request: &GetSchemaRequest) -> Result<PluginSpec, Status> {
    let version = match request.version.as_str() {
        "" => None,
        text => Some(
            parse_tolerant(text)
                .ok_or_else(|| Status::invalid_argument(format!("invalid version \"{text}\"")))?,
        ),
    };
    let parameterization = request.parameterization.as_ref();
    Ok(PluginSpec {
        version,
        download_url: (!request.download_url.is_empty())
            .then(|| request.download_url.as_str().into()),
        parameterization: parameterization.map(|parameter| Parameterization {
            name: parameter.name.as_str().into(),
            version: parameter.version.as_str().into(),
            value: parameter.value.as_slice().into(),
        }),
        ..PluginSpec::named(&request.package)
    })
}

#[tonic::async_trait]
impl Loader for LoaderService {
    async fn get_schema(
        &self,
        request: Request<GetSchemaRequest>,
    ) -> Result<Response<GetSchemaResponse>, Status> {
        let schema = self.load(&request.into_inner()).await?;
        Ok(Response::new(GetSchemaResponse { schema }))
    }
}
