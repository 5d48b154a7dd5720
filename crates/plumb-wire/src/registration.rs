//! Parts of registrations: aliases, time limits, hooks, and dependencies inside output values.

use plumb_proto::pulumirpc::alias::{self, Spec, spec};
use plumb_proto::pulumirpc::{self, construct_request, register_resource_request};
use plumb_resource::{
    Alias, AliasParent, AliasSpec, CustomTimeouts, HookType, Hooks, InvalidUrn, TypeToken, Urn,
};
use plumb_value::Value;

use crate::duration::{DurationError, format_seconds, parse_seconds};

/// Encodes an alias.
pub fn alias_to_wire(alias: &Alias) -> pulumirpc::Alias {
    let alias = match alias {
        Alias::Urn(urn) => alias::Alias::Urn(urn.to_string()),
        Alias::Spec(spec) => alias::Alias::Spec(Spec {
            name: spec.name.as_deref().unwrap_or_default().to_owned(),
            r#type: spec
                .type_token
                .as_ref()
                .map(TypeToken::to_string)
                .unwrap_or_default(),
            stack: spec.stack.as_deref().unwrap_or_default().to_owned(),
            project: spec.project.as_deref().unwrap_or_default().to_owned(),
            parent: match &spec.parent {
                AliasParent::Same => None,
                AliasParent::None => Some(spec::Parent::NoParent(true)),
                AliasParent::Urn(urn) => Some(spec::Parent::ParentUrn(urn.to_string())),
            },
        }),
    };
    pulumirpc::Alias { alias: Some(alias) }
}

/// Decodes an alias; `None` if the message is empty.
///
/// An empty parent URN, and a false `noParent`, mean the current parent.
pub fn alias_from_wire(alias: &pulumirpc::Alias) -> Result<Option<Alias>, InvalidUrn> {
    let text = |text: &str| (!text.is_empty()).then(|| text.into());
    Ok(match &alias.alias {
        None => None,
        Some(alias::Alias::Urn(urn)) => Some(Alias::Urn(Urn::parse(urn)?)),
        Some(alias::Alias::Spec(spec)) => Some(Alias::Spec(AliasSpec {
            name: text(&spec.name),
            type_token: (!spec.r#type.is_empty()).then(|| TypeToken::new(spec.r#type.as_str())),
            stack: text(&spec.stack),
            project: text(&spec.project),
            parent: match &spec.parent {
                Some(spec::Parent::ParentUrn(urn)) if !urn.is_empty() => {
                    AliasParent::Urn(Urn::parse(urn)?)
                }
                Some(spec::Parent::NoParent(true)) => AliasParent::None,
                Some(_) | None => AliasParent::Same,
            },
        })),
    })
}

/// Decodes the time limits of a registration; an empty limit is zero.
pub fn timeouts_from_wire(
    timeouts: Option<&register_resource_request::CustomTimeouts>,
) -> Result<Option<CustomTimeouts>, DurationError> {
    let Some(timeouts) = timeouts else {
        return Ok(None);
    };
    let read = |text: &str| {
        if text.is_empty() {
            Ok(0.0)
        } else {
            parse_seconds(text)
        }
    };
    Ok(Some(CustomTimeouts {
        create: read(&timeouts.create)?,
        update: read(&timeouts.update)?,
        delete: read(&timeouts.delete)?,
        read: read(&timeouts.read)?,
    }))
}

/// Encodes time limits for transforms and hooks.
pub fn timeouts_to_wire(timeouts: CustomTimeouts) -> register_resource_request::CustomTimeouts {
    register_resource_request::CustomTimeouts {
        create: limit(timeouts.create),
        update: limit(timeouts.update),
        delete: limit(timeouts.delete),
        read: limit(timeouts.read),
    }
}

pub(crate) fn construct_timeouts(timeouts: CustomTimeouts) -> construct_request::CustomTimeouts {
    let timeouts = timeouts_to_wire(timeouts);
    construct_request::CustomTimeouts {
        create: timeouts.create,
        update: timeouts.update,
        delete: timeouts.delete,
        read: timeouts.read,
    }
}

fn limit(seconds: f64) -> String {
    if seconds == 0.0 {
        String::new()
    } else {
        format_seconds(seconds)
    }
}

/// Decodes names of hooks by type; types without hooks are omitted.
pub fn hooks_from_wire(binding: Option<&register_resource_request::ResourceHooksBinding>) -> Hooks {
    let Some(binding) = binding else {
        return Hooks::new();
    };
    let lists = [
        (HookType::BeforeCreate, &binding.before_create),
        (HookType::AfterCreate, &binding.after_create),
        (HookType::BeforeUpdate, &binding.before_update),
        (HookType::AfterUpdate, &binding.after_update),
        (HookType::BeforeDelete, &binding.before_delete),
        (HookType::AfterDelete, &binding.after_delete),
        (HookType::OnError, &binding.on_error),
    ];
    let bound = lists.into_iter().filter(|(_, names)| !names.is_empty());
    bound
        .map(|(hook, names)| (hook, names.iter().map(Into::into).collect()))
        .collect()
}

/// Encodes names of hooks by type; `None` if there are none.
pub fn hooks_to_wire(hooks: &Hooks) -> Option<register_resource_request::ResourceHooksBinding> {
    (!hooks.is_empty()).then(|| register_resource_request::ResourceHooksBinding {
        before_create: hook_names(hooks, HookType::BeforeCreate),
        after_create: hook_names(hooks, HookType::AfterCreate),
        before_update: hook_names(hooks, HookType::BeforeUpdate),
        after_update: hook_names(hooks, HookType::AfterUpdate),
        before_delete: hook_names(hooks, HookType::BeforeDelete),
        after_delete: hook_names(hooks, HookType::AfterDelete),
        on_error: hook_names(hooks, HookType::OnError),
    })
}

/// Encodes names of hooks for Construct, which has no error hooks.
pub(crate) fn construct_hooks(hooks: &Hooks) -> Option<construct_request::ResourceHooksBinding> {
    let binding = hooks_to_wire(hooks)?;
    Some(construct_request::ResourceHooksBinding {
        before_create: binding.before_create,
        after_create: binding.after_create,
        before_update: binding.before_update,
        after_update: binding.after_update,
        before_delete: binding.before_delete,
        after_delete: binding.after_delete,
        on_error: Vec::new(),
    })
}

fn hook_names(hooks: &Hooks, hook: HookType) -> Vec<String> {
    hooks
        .get(&hook)
        .into_iter()
        .flatten()
        .map(ToString::to_string)
        .collect()
}

/// URNs that output values anywhere in `value` depend on, each once, in order of appearance.
pub fn output_dependencies(value: &Value) -> Result<Vec<Urn>, InvalidUrn> {
    let (mut found, mut failure) = (Vec::new(), None);
    value.any(&mut |value| {
        if let Value::Output(output) = value {
            for urn in &output.dependencies {
                match Urn::parse(urn) {
                    Ok(urn) if !found.contains(&urn) => found.push(urn),
                    Ok(_) => {}
                    Err(error) => failure = Some(error),
                }
            }
        }
        failure.is_some()
    });
    failure.map_or(Ok(found), Err)
}

#[cfg(test)]
mod tests {
    use super::*;

    const URN: &str = "urn:pulumi:s::p::a:b:C::n";

    #[test]
    fn aliases_come_back() {
        let urn = Urn::parse(URN).unwrap();
        let spec = AliasSpec {
            name: Some("old".into()),
            type_token: Some(TypeToken::new("x:y:Z")),
            ..Default::default()
        };
        let aliases = [
            Alias::Urn(urn.clone()),
            Alias::Spec(spec.clone()),
            Alias::Spec(AliasSpec {
                parent: AliasParent::None,
                ..spec.clone()
            }),
            Alias::Spec(AliasSpec {
                parent: AliasParent::Urn(urn),
                project: Some("q".into()),
                ..spec
            }),
        ];
        for alias in aliases {
            assert_eq!(alias_from_wire(&alias_to_wire(&alias)), Ok(Some(alias)));
        }
    }

    #[test]
    fn an_empty_parent_of_an_alias_means_the_present_one() {
        for parent in [
            spec::Parent::ParentUrn(String::new()),
            spec::Parent::NoParent(false),
        ] {
            let spec = Spec {
                parent: Some(parent),
                ..Default::default()
            };
            let alias = pulumirpc::Alias {
                alias: Some(alias::Alias::Spec(spec)),
            };
            assert_eq!(
                alias_from_wire(&alias),
                Ok(Some(Alias::Spec(AliasSpec::default())))
            );
        }
        assert_eq!(alias_from_wire(&pulumirpc::Alias::default()), Ok(None));
    }

    #[test]
    fn time_limits_are_durations() {
        let timeouts = CustomTimeouts {
            create: 1000.0,
            update: 0.0,
            delete: 5400.0,
            read: 0.5,
        };
        let wire = timeouts_to_wire(timeouts);
        assert_eq!(
            (
                wire.create.as_str(),
                wire.update.as_str(),
                wire.delete.as_str()
            ),
            ("16m40s", "", "1h30m0s")
        );
        assert_eq!(timeouts_from_wire(Some(&wire)), Ok(Some(timeouts)));
        assert_eq!(timeouts_from_wire(None), Ok(None));
        let wrong = register_resource_request::CustomTimeouts {
            create: "soon".into(),
            ..Default::default()
        };
        let error = timeouts_from_wire(Some(&wrong)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "unable to parse customTimeout Value soon"
        );
    }

    #[test]
    fn hooks_come_back() {
        let hooks: Hooks = HookType::ALL
            .into_iter()
            .map(|hook| (hook, vec![hook.as_str().into()]))
            .collect();
        assert_eq!(hooks_from_wire(hooks_to_wire(&hooks).as_ref()), hooks);
        assert!(construct_hooks(&hooks).unwrap().on_error.is_empty());
        assert_eq!(hooks_to_wire(&Hooks::new()), None);
    }
}
