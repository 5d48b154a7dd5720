//! Components.

use std::collections::BTreeSet;

use plumb::provider::{Construction, Deployment, Passed};
use plumb::{Alias, Timeouts};

use super::{Answer, Service, guarded};
use crate::protocol as pb;
use crate::schema::Spec;

impl Service {
    pub(crate) async fn construct(
        &self,
        request: pb::ConstructRequest,
    ) -> Answer<pb::ConstructResponse> {
        let token = &request.r#type;
        let provider = self.provider_of(token);
        let (Some(component), Some(spec)) = (provider.components.get(token), provider.spec(token))
        else {
            return Err(self.unknown("component", token));
        };
        let construction = construction(request, spec, self.session.engine_address());
        let made = guarded(component.construct(construction)).await?;
        let dependencies = made.outputs.dependencies.into_iter().map(|(name, urns)| {
            let urns = pb::construct_response::PropertyDependencies { urns };
            (name, urns)
        });
        Ok(pb::ConstructResponse {
            urn: made.urn,
            state: Some(made.outputs.values),
            state_dependencies: dependencies.collect(),
        })
    }
}

fn construction(request: pb::ConstructRequest, spec: &Spec, engine: String) -> Construction {
    let some = |text: String| Some(text).filter(|it| !it.is_empty());
    let hooks = request.resource_hooks.unwrap_or_default();
    Construction {
        deployment: Deployment {
            monitor: request.monitor_endpoint,
            engine,
            project: request.project,
            stack: request.stack,
            organization: request.organization,
            is_preview: request.dry_run,
            config: request.config,
            secret_keys: request.config_secret_keys.into_iter().collect(),
            accepts_outputs: request.accepts_output_values,
        },
        name: request.name,
        parent: request.parent,
        inputs: Passed {
            values: request.inputs,
            dependencies: request
                .input_dependencies
                .into_iter()
                .map(|(name, dependencies)| (name, dependencies.urns))
                .collect(),
            plain: plain(spec),
        },
        providers: request.providers,
        depends_on: request.dependencies,
        protect: request.protect,
        additional_secret_outputs: request.additional_secret_outputs,
        timeouts: request.custom_timeouts.map(|it| Timeouts {
            create: some(it.create),
            update: some(it.update),
            delete: some(it.delete),
            read: some(it.read),
        }),
        deleted_with: request.deleted_with,
        delete_before_replace: request.delete_before_replace,
        ignore_changes: request.ignore_changes,
        replace_on_changes: request.replace_on_changes,
        retain_on_delete: request.retain_on_delete,
        replace_with: request.replace_with,
        replacement_trigger: request.replacement_trigger,
        aliases: request.aliases.into_iter().filter_map(alias).collect(),
        hooks: [
            hooks.before_create,
            hooks.after_create,
            hooks.before_update,
            hooks.after_update,
            hooks.before_delete,
            hooks.after_delete,
            hooks.on_error,
        ],
    }
}

/// Names of inputs that have to be there at once.
pub(super) fn plain(spec: &Spec) -> BTreeSet<String> {
    let plain = spec.inputs.iter().filter(|it| !it.takes_outputs);
    plain.map(|it| it.name.clone()).collect()
}

fn alias(alias: pb::Alias) -> Option<Alias> {
    use pb::alias::spec::Parent;
    let spec = match alias.alias? {
        pb::alias::Alias::Urn(urn) => return Some(Alias::urn(urn)),
        pb::alias::Alias::Spec(spec) => spec,
    };
    let mut alias = match spec.name.as_str() {
        "" => Alias::new(),
        name => Alias::name(name),
    };
    for (part, set) in [
        (spec.r#type, Alias::token as fn(Alias, String) -> Alias),
        (spec.project, Alias::project),
        (spec.stack, Alias::stack),
    ] {
        if !part.is_empty() {
            alias = set(alias, part);
        }
    }
    Some(match spec.parent {
        Some(Parent::ParentUrn(urn)) => alias.parent_urn(urn),
        Some(Parent::NoParent(true)) => alias.no_parent(),
        Some(Parent::NoParent(false)) | None => alias,
    })
}
