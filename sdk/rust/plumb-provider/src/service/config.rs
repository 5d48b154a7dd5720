//! The configuration of the provider.

use plumb::provider::{Members, decode, encode};
use tonic::Status;

use super::{Answer, Service, failures, status};
use crate::diff::{Plan, compare};
use crate::outputs::mark_secret_inputs;
use crate::protocol as pb;
use crate::schema::{add_defaults, parse_texts, validate};
use crate::values::{contains_secret, describe, exposed_members};

/// Properties of providers that are the engine's.
const OF_THE_ENGINE: [&str; 3] = ["version", "pluginDownloadURL", "parameterization"];

impl Service {
    pub(crate) fn check_config(&self, request: pb::CheckRequest) -> Answer<pb::CheckResponse> {
        let mut inputs = decode(request.news).map_err(|error| status(&error))?;
        let package = &self.configured().package;
        if self.configured().config.is_none() {
            return answer(&inputs);
        }
        parse_texts(&package.config, &mut inputs);
        add_defaults(
            &package.types,
            &package.config,
            &mut inputs,
            self.environment,
        );
        let found = validate(&package.types, &package.config, &own(&inputs));
        if !found.is_empty() {
            return Ok(pb::CheckResponse {
                failures: failures(found),
                ..pb::CheckResponse::default()
            });
        }
        mark_secret_inputs(&package.config, &mut inputs);
        answer(&inputs)
    }

    pub(crate) fn diff_config(&self, request: pb::DiffRequest) -> Answer<pb::DiffResponse> {
        let old = decode(request.old_inputs.or(request.olds)).map_err(|error| status(&error))?;
        let new = decode(request.news).map_err(|error| status(&error))?;
        let package = &self.configured().package;
        let changes = compare(
            &package.types,
            &package.config,
            &own(&old),
            &own(&new),
            &request.ignore_changes,
        );
        let plan = Plan {
            changes,
            deletes_first: false,
        };
        Ok(plan.response())
    }

    pub(crate) fn configure(&self, request: pb::ConfigureRequest) -> Answer<pb::ConfigureResponse> {
        let mut inputs = decode(request.args).map_err(|error| status(&error))?;
        let package = &self.configured().package;
        parse_texts(&package.config, &mut inputs);
        // An import configures providers whose configuration was not checked.
        add_defaults(
            &package.types,
            &package.config,
            &mut inputs,
            self.environment,
        );
        if let Some(config) = self.configured().config {
            let config = config.decode(exposed_members(&own(&inputs)));
            let config = config.map_err(|mismatch| {
                let is_secret = inputs.values().any(contains_secret);
                Status::invalid_argument(format!(
                    "the configuration of the provider `{}` does not fit: {}",
                    package.name,
                    describe(&mismatch, is_secret)
                ))
            })?;
            self.session.configure(config);
        }
        Ok(pb::ConfigureResponse {
            accept_secrets: true,
            supports_preview: true,
            accept_resources: true,
            accept_outputs: true,
            supports_autonaming_configuration: true,
        })
    }
}

/// The properties that are the provider's.
fn own(members: &Members) -> Members {
    let mut own = members.clone();
    own.retain(|name, _| !OF_THE_ENGINE.contains(&name.as_str()));
    own
}

fn answer(inputs: &Members) -> Answer<pb::CheckResponse> {
    Ok(pb::CheckResponse {
        inputs: Some(encode(inputs).map_err(|error| status(&error))?),
        ..pb::CheckResponse::default()
    })
}
