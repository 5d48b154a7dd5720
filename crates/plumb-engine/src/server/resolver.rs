//! The package resolver: finds the plugin for a package named by a program (`protocol.md` 10).

use plumb_plugin::language::PackageSource;
use plumb_proto::pulumirpc as pb;
use plumb_proto::pulumirpc::package_resolver_server::PackageResolver;
use tonic::{Request, Response, Status};

use super::loader::HostSlot;

/// The resolver of one deployment.
pub(crate) struct ResolverService {
    host: HostSlot,
}

impl ResolverService {
    pub(crate) fn new(host: HostSlot) -> Self {
        ResolverService { host }
    }
}

#[tonic::async_trait]
impl PackageResolver for ResolverService {
    async fn resolve_package(
        &self,
        request: Request<pb::PackageSpec>,
    ) -> Result<Response<pb::PackageDependency>, Status> {
        let wanted = request.into_inner();
        let host = self
            .host
            .get()
            .ok_or_else(|| Status::unavailable("the deployment has not begun"))?;
        let source = PackageSource::from_wire(&wanted);
        let found = host.resolve_package(&source).await.map_err(|error| {
            let source = &wanted.source;
            Status::unknown(format!("could not resolve the package {source}: {error}"))
        })?;
        Ok(Response::new(pb::PackageDependency {
            checksums: wanted.checksums,
            ..found.into_wire()
        }))
    }
}
