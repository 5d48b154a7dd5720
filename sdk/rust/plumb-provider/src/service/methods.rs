//! Methods of components.

use plumb::provider::{Deployment, Passed};

use super::components::plain;
use super::{Answer, Service, guarded};
use crate::protocol as pb;

impl Service {
    pub(crate) async fn call(&self, request: pb::CallRequest) -> Answer<pb::CallResponse> {
        let token = &request.tok;
        let provider = self.provider_of(token);
        let (Some(method), Some(spec)) = (provider.methods.get(token), provider.spec(token)) else {
            return Err(self.unknown("method", token));
        };
        let deployment = Deployment {
            monitor: request.monitor_endpoint,
            engine: self.session.engine_address(),
            project: request.project,
            stack: request.stack,
            organization: request.organization,
            is_preview: request.dry_run,
            config: request.config,
            secret_keys: request.config_secret_keys.into_iter().collect(),
            accepts_outputs: request.accepts_output_values,
        };
        let dependencies = request.arg_dependencies.into_iter();
        let args = Passed {
            values: request.args,
            dependencies: dependencies.map(|(name, it)| (name, it.urns)).collect(),
            plain: plain(spec),
        };
        let secrets = spec.outputs.iter().filter(|it| it.is_secret);
        let secrets = secrets.map(|it| it.name.clone()).collect();
        let returned = guarded(method.call(deployment, args, secrets)).await?;
        let dependencies = returned.dependencies.into_iter().map(|(name, urns)| {
            let urns = pb::call_response::ReturnDependencies { urns };
            (name, urns)
        });
        Ok(pb::CallResponse {
            r#return: Some(returned.values),
            return_dependencies: dependencies.collect(),
            ..pb::CallResponse::default()
        })
    }
}
