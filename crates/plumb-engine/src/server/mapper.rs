//! The mapper: serves mappings from packages of another ecosystem (`protocol.md` 10.2).

use plumb_plugin::MappingQuery;
use plumb_proto::codegen::mapper_server::Mapper;
use plumb_proto::codegen::{GetMappingRequest, GetMappingResponse};
use plumb_resource::provider::Parameterization;
use tonic::{Request, Response, Status};

use super::loader::HostSlot;

/// The ecosystem of requests that name none.
const DEFAULT_ECOSYSTEM: &str = "terraform";

/// The mapper of one deployment.
pub(crate) struct MapperService {
    host: HostSlot,
}

impl MapperService {
    pub(crate) fn new(host: HostSlot) -> Self {
        MapperService { host }
    }
}

fn query(request: GetMappingRequest) -> MappingQuery {
    let GetMappingRequest {
        provider,
        pulumi_provider,
        parameterization_hint,
        ecosystem,
    } = request;
    MappingQuery {
        ecosystem: if ecosystem.is_empty() {
            DEFAULT_ECOSYSTEM.to_owned()
        } else {
            ecosystem
        },
        plugin: if pulumi_provider.is_empty() {
            provider.clone()
        } else {
            pulumi_provider
        },
        provider,
        parameterization: parameterization_hint.map(|hint| Parameterization {
            name: hint.name.as_str().into(),
            version: hint.version.as_str().into(),
            value: hint.value.as_slice().into(),
        }),
    }
}

#[tonic::async_trait]
impl Mapper for MapperService {
    async fn get_mapping(
        &self,
        request: Request<GetMappingRequest>,
    ) -> Result<Response<GetMappingResponse>, Status> {
        let query = query(request.into_inner());
        let host = self
            .host
            .get()
            .ok_or_else(|| Status::unavailable("the deployment has not begun"))?;
        let data = host.mapping(&query).await.map_err(|error| {
            let provider = &query.provider;
            Status::unknown(format!("could not get the mapping of {provider}: {error}"))
        })?;
        let data = data.map(|data| data.to_vec()).unwrap_or_default();
        Ok(Response::new(GetMappingResponse { data }))
    }
}
