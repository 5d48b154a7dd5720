//! Parameters: one provider is another package from here on.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use tonic::Status;

use super::{Answer, Service, guarded, status};
use crate::protocol as pb;
use crate::protocol::parameterize_request::Parameters;
use crate::{Parameter, Provider};

impl Service {
    pub(crate) async fn parameterize(
        &self,
        request: pb::ParameterizeRequest,
    ) -> Answer<pb::ParameterizeResponse> {
        let base = &self.provider.package;
        let Some(make) = &self.provider.make_package else {
            return Err(Status::unimplemented(format!(
                "the provider `{}` takes no parameters",
                base.name
            )));
        };
        let parameter = match request.parameters {
            Some(Parameters::Args(args)) => Parameter::Args(args.args),
            Some(Parameters::Value(value)) => Parameter::Value {
                name: value.name,
                version: value.version,
                value: value.value,
            },
            None => return Err(Status::invalid_argument("there is no parameter")),
        };
        let mut made = guarded(make(parameter)).await?;
        let Some(value) = made.parameter.clone() else {
            return Err(Status::internal(format!(
                "the package `{}` has no parameter, so that nobody could make it again",
                made.package.name
            )));
        };
        let facts = json!({
            "baseProvider": { "name": base.name, "version": base.version },
            "parameter": STANDARD.encode(&value),
        });
        made.package
            .facts
            .insert("parameterization".to_owned(), facts);
        made.schema().map_err(|error| status(&error))?;
        let answer = pb::ParameterizeResponse {
            name: made.package.name.clone(),
            version: made.package.version.clone(),
        };
        self.become_package(made, value)?;
        Ok(answer)
    }

    /// A provider is one package beside its own, and no call may see another one in between.
    fn become_package(&self, made: Provider, value: Vec<u8>) -> Answer<()> {
        let Err(made) = self.package.set(made) else {
            self.session.parameterize(value);
            return Ok(());
        };
        match self.package.get() {
            Some(known) if known.parameter == made.parameter => Ok(()),
            _ => Err(Status::failed_precondition(
                "the provider has another parameter already",
            )),
        }
    }
}
