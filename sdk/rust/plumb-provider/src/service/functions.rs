//! Functions.

use plumb::provider::{decode, encode};
use tonic::Status;

use super::{Answer, Service, failures, guarded, status};
use crate::outputs::mark_secrets;
use crate::protocol as pb;
use crate::schema::{add_defaults, validate};

impl Service {
    pub(crate) async fn invoke(&self, request: pb::InvokeRequest) -> Answer<pb::InvokeResponse> {
        let token = &request.tok;
        let provider = self.provider_of(token);
        let (Some(function), Some(spec)) = (provider.functions.get(token), provider.spec(token))
        else {
            return Err(self.unknown("function", token));
        };
        let types = &provider.package.types;
        let mut args = decode(request.args).map_err(|error| status(&error))?;
        add_defaults(types, &spec.inputs, &mut args, self.environment);
        let found = validate(types, &spec.inputs, &args);
        if !found.is_empty() {
            return Ok(pb::InvokeResponse {
                failures: failures(found),
                ..pb::InvokeResponse::default()
            });
        }
        if args.values().any(plumb::Value::contains_unknown) {
            return Err(Status::invalid_argument(format!(
                "`{token}` was called with an argument that is not known yet"
            )));
        }
        let cx = self.cx().in_preview(request.preview);
        let mut answer = guarded(function.call(&cx, args)).await?;
        mark_secrets(&spec.outputs, &plumb::provider::Members::new(), &mut answer);
        Ok(pb::InvokeResponse {
            r#return: Some(encode(&answer).map_err(|error| status(&error))?),
            ..pb::InvokeResponse::default()
        })
    }
}
