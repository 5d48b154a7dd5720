//! Resources.

use plumb::provider::{Members, decode, encode};
use prost::Message as _;
use prost_types::{Any, Struct};
use tonic::{Code, Status};

use super::{Answer, Service, failures, guarded, status};
use crate::Cx;
use crate::check::Check;
use crate::diff::{Change, Plan, compare};
use crate::erased::{AnyResource, Existing, Foretold, Known};
use crate::outputs::{Before, foretell, mark_secret_inputs, mark_secrets};
use crate::protocol as pb;
use crate::resource::Recorded;
use crate::schema::{Spec, Types, add_defaults, validate};

/// A resource that a call is about.
struct Target<'a> {
    resource: &'a dyn AnyResource,
    spec: &'a Spec,
    types: &'a Types,
    cx: Cx,
}

fn read(members: Option<Struct>) -> Answer<Members> {
    decode(members).map_err(|error| status(&error))
}

fn write(members: &Members) -> Answer<Option<Struct>> {
    encode(members).map(Some).map_err(|error| status(&error))
}

/// The type in a URN, for engines that do not say it.
fn type_of<'a>(urn: &'a str, said: &'a str) -> &'a str {
    if !said.is_empty() {
        return said;
    }
    let types = urn.split("::").nth(2).unwrap_or_default();
    types.rsplit('$').next().unwrap_or_default()
}

impl Service {
    fn target(&self, urn: &str, said: &str) -> Answer<Target<'_>> {
        let token = type_of(urn, said);
        let spec = self.resource_spec(token)?;
        let provider = self.provider_of(token);
        let resource = provider.resources.get(&provider.package.full(&spec.token));
        Ok(Target {
            resource: resource
                .ok_or_else(|| self.unknown("resource", token))?
                .as_ref(),
            spec,
            types: &provider.package.types,
            cx: self.cx().about(urn),
        })
    }

    pub(crate) async fn check(&self, request: pb::CheckRequest) -> Answer<pb::CheckResponse> {
        let target = self.target(&request.urn, &request.r#type)?;
        let types = target.types;
        let mut inputs = read(request.news)?;
        add_defaults(types, &target.spec.inputs, &mut inputs, self.environment);
        let proposal = request.autonaming.map(|it| {
            let mode = it.mode();
            (it.proposed_name, mode)
        });
        let mut check = Check {
            name: target.cx.name().to_owned(),
            inputs,
            old: target.known(String::new(), request.olds, None)?.inputs,
            failures: Vec::new(),
            seed: request.random_seed,
            proposal,
        };
        guarded(target.resource.check(&target.cx, &mut check)).await?;
        let mut found = check.failures;
        found.extend(validate(types, &target.spec.inputs, &check.inputs));
        if !found.is_empty() {
            return Ok(pb::CheckResponse {
                failures: failures(found),
                ..pb::CheckResponse::default()
            });
        }
        let mut inputs = check.inputs;
        mark_secret_inputs(&target.spec.inputs, &mut inputs);
        Ok(pb::CheckResponse {
            inputs: write(&inputs)?,
            ..pb::CheckResponse::default()
        })
    }

    pub(crate) async fn diff(&self, request: pb::DiffRequest) -> Answer<pb::DiffResponse> {
        let target = self.target(&request.urn, &request.r#type)?;
        let known = target.known(request.id, request.old_inputs, request.olds)?;
        let new = read(request.news)?;
        let plan = self
            .plan(&target, &known, &new, &request.ignore_changes)
            .await?;
        Ok(plan.response())
    }

    /// Compares the recorded inputs with the new ones.
    async fn plan(
        &self,
        target: &Target<'_>,
        known: &Known,
        new: &Members,
        ignored: &[String],
    ) -> Answer<Plan> {
        let types = target.types;
        let abilities = target.resource.abilities();
        let mut plan = Plan {
            changes: compare(types, &target.spec.inputs, &known.inputs, new, ignored),
            deletes_first: abilities.deletes_first,
        };
        if !abilities.updates {
            for change in &mut plan.changes {
                change.replaces = true;
            }
        }
        if abilities.diffs && !plan.changes.is_empty() {
            plan = guarded(target.resource.diff(&target.cx, known.clone(), plan)).await?;
        }
        Ok(plan)
    }

    pub(crate) async fn create(&self, request: pb::CreateRequest) -> Answer<pb::CreateResponse> {
        let mut target = self.target(&request.urn, &request.r#type)?;
        target.cx = target
            .cx
            .in_preview(request.preview)
            .within(request.timeout);
        let inputs = read(request.properties)?;
        if request.preview {
            let outputs = target.foretold(inputs, None, Vec::new()).await?;
            return Ok(pb::CreateResponse {
                properties: write(&outputs)?,
                ..pb::CreateResponse::default()
            });
        }
        let existing = guarded(target.resource.create(&target.cx, inputs.clone())).await?;
        let id = existing.id.clone().unwrap_or_default();
        if id.is_empty() {
            return Err(Status::internal(format!(
                "the code of the provider gave `{}` an empty ID",
                target.spec.token
            )));
        }
        let outputs = target.outputs(&inputs, &existing);
        // The resource exists: whatever is wrong with its outputs, its ID must reach the state.
        let properties = write(&outputs).map_err(|error| {
            let problems = vec![error.message().to_owned()];
            Target::incomplete(&id, &inputs, &inputs, problems)
        })?;
        Target::complain(&id, &outputs, &inputs, existing.problems)?;
        Ok(pb::CreateResponse {
            id,
            properties,
            ..pb::CreateResponse::default()
        })
    }

    pub(crate) async fn update(&self, request: pb::UpdateRequest) -> Answer<pb::UpdateResponse> {
        let mut target = self.target(&request.urn, &request.r#type)?;
        let known = target.known(request.id, request.old_inputs, request.olds)?;
        let inputs = read(request.news)?;
        let plan = self
            .plan(&target, &known, &inputs, &request.ignore_changes)
            .await?;
        target.cx = target
            .cx
            .in_preview(request.preview)
            .within(request.timeout);
        if request.preview {
            let outputs = target
                .foretold(inputs, Some(known.state), plan.changes)
                .await?;
            return Ok(pb::UpdateResponse {
                properties: write(&outputs)?,
                ..pb::UpdateResponse::default()
            });
        }
        let id = known.id.clone();
        let update = target
            .resource
            .update(&target.cx, known, inputs.clone(), plan.changes);
        let existing = guarded(update).await?;
        let outputs = target.outputs(&inputs, &existing);
        Target::complain(&id, &outputs, &inputs, existing.problems)?;
        Ok(pb::UpdateResponse {
            properties: write(&outputs)?,
            ..pb::UpdateResponse::default()
        })
    }

    pub(crate) async fn read(&self, request: pb::ReadRequest) -> Answer<pb::ReadResponse> {
        let mut target = self.target(&request.urn, &request.r#type)?;
        target.cx = target.cx.within(request.timeout);
        let known = target.known(
            request.id.clone(),
            request.inputs.clone(),
            request.properties.clone(),
        )?;
        if !target.resource.abilities().reads {
            if known.state.is_empty() {
                return Err(Status::unimplemented(format!(
                    "the provider cannot read `{}`, so that nothing of this type can be imported",
                    target.spec.token
                )));
            }
            return Ok(pb::ReadResponse {
                id: request.id,
                properties: request.properties,
                inputs: request.inputs,
                ..pb::ReadResponse::default()
            });
        }
        let old_inputs = known.inputs.clone();
        let Some(mut existing) = guarded(target.resource.read(&target.cx, known)).await? else {
            // An empty ID says that the resource is gone.
            return Ok(pb::ReadResponse::default());
        };
        let mut inputs = existing.inputs.take().unwrap_or_default();
        mark_secrets(&target.spec.inputs, &old_inputs, &mut inputs);
        let outputs = target.outputs(&inputs, &existing);
        let id = existing.id.clone().unwrap_or(request.id);
        Target::complain(&id, &outputs, &inputs, existing.problems)?;
        Ok(pb::ReadResponse {
            id,
            properties: write(&outputs)?,
            inputs: write(&inputs)?,
            ..pb::ReadResponse::default()
        })
    }

    pub(crate) async fn delete(&self, request: pb::DeleteRequest) -> Answer<()> {
        let mut target = self.target(&request.urn, &request.r#type)?;
        target.cx = target.cx.within(request.timeout);
        let known = target.known(request.id, request.old_inputs, request.properties)?;
        guarded(target.resource.delete(&target.cx, known)).await
    }
}

impl Target<'_> {
    /// A resource of the state, in the shape of this version of the provider.
    ///
    /// An engine that sends no inputs means that the outputs with their names are these.
    fn known(&self, id: String, inputs: Option<Struct>, state: Option<Struct>) -> Answer<Known> {
        let outputs = read(state)?;
        let inputs = match inputs {
            Some(inputs) => read(Some(inputs))?,
            None => self.inputs_among(&outputs),
        };
        let mut recorded = Recorded { inputs, outputs };
        self.resource.upgrade(&mut recorded);
        Ok(Known {
            id,
            inputs: recorded.inputs,
            state: recorded.outputs,
        })
    }

    fn inputs_among(&self, outputs: &Members) -> Members {
        let names = self.spec.inputs.iter().map(|it| &it.name);
        let inputs = names.filter_map(|name| Some((name.clone(), outputs.get(name)?.clone())));
        inputs.collect()
    }

    /// Outputs in a preview.
    async fn foretold(
        &self,
        inputs: Members,
        state: Option<Members>,
        changes: Vec<Change>,
    ) -> Answer<Members> {
        let before = state.as_ref().map(|state| Before {
            changes: &changes,
            state,
        });
        let spec = self.spec;
        let mut outputs = foretell(&spec.inputs, &spec.outputs, &inputs, before.as_ref());
        if self.resource.abilities().previews {
            let foretold = Foretold {
                inputs: inputs.clone(),
                outputs,
                changes,
                state,
            };
            outputs = guarded(self.resource.preview(&self.cx, foretold)).await?;
        }
        mark_secrets(&spec.outputs, &inputs, &mut outputs);
        Ok(outputs)
    }

    /// Outputs of a resource that exists.
    fn outputs(&self, inputs: &Members, existing: &Existing) -> Members {
        let mut outputs = existing.state.clone();
        mark_secrets(&self.spec.outputs, inputs, &mut outputs);
        outputs
    }

    /// Fails if the resource exists, but is not as it should be.
    fn complain(
        id: &str,
        outputs: &Members,
        inputs: &Members,
        problems: Vec<String>,
    ) -> Answer<()> {
        if problems.is_empty() {
            return Ok(());
        }
        Err(Target::incomplete(id, outputs, inputs, problems))
    }

    /// The error for a resource that exists, but is not as it should be: it carries the state, so that nothing is lost.
    fn incomplete(id: &str, outputs: &Members, inputs: &Members, problems: Vec<String>) -> Status {
        let message = problems.join("; ");
        let detail = pb::ErrorResourceInitFailed {
            id: id.to_owned(),
            properties: encode(outputs).ok(),
            reasons: problems,
            inputs: encode(inputs).ok(),
            ..pb::ErrorResourceInitFailed::default()
        };
        let rich = RichStatus {
            code: Code::Unknown as i32,
            message: message.clone(),
            details: vec![Any {
                type_url: "type.googleapis.com/pulumirpc.ErrorResourceInitFailed".to_owned(),
                value: detail.encode_to_vec(),
            }],
        };
        Status::with_details(Code::Unknown, message, rich.encode_to_vec().into())
    }
}

/// The message `google.rpc.Status`.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct RichStatus {
    #[prost(int32, tag = "1")]
    code: i32,
    #[prost(string, tag = "2")]
    message: String,
    #[prost(message, repeated, tag = "3")]
    pub(crate) details: Vec<Any>,
}
