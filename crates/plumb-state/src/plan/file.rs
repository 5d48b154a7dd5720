//! Plan files (`cli.md` 3.7): one JSON object with the manifest, the settings, and the plan of each resource.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ecow::{EcoString, EcoVec};
use plumb_resource::{
    Alias, AliasParent, AliasSpec, CustomTimeouts, InvalidUrn, ProviderRef, ProviderRefError,
    StepOp, TypeToken, Urn,
};
use plumb_value::PropertyKey;

use super::{EncryptedPlan, GoalPlan, Plan, PlanDiff, ResourcePlan};
use crate::file::{
    Text, WireTimeouts, from_json, timeouts, wire_object, write_manifest, write_timeout_members,
};
use crate::json::{Escape, JsonWriter};
use crate::sealing::open;
use crate::secrets::{CiphertextCache, SecretCodec, SecretsError};
use crate::value::{Secrets, WireProperties, write_properties};
use crate::{Manifest, RawJson};

/// Manifest and settings of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanHead {
    /// Program version and time.
    pub manifest: Manifest,
    /// Settings of the stack with encrypted secrets; `None` if there are none.
    pub config: Option<RawJson>,
}

/// A plan from a file. Its secrets are encrypted, or plaintext if the user asked for that.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanFile {
    sealed: Plan,
}

/// Error in a plan file.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// The text is not JSON, or has the wrong structure.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// A member is not a valid URN.
    #[error("the plan names something that is not a URN")]
    Urn(#[from] InvalidUrn),
    /// The provider reference is invalid.
    #[error("failed to parse provider reference in the plan for resource '{urn}'")]
    Provider {
        /// The resource.
        urn: Urn,
        /// Cause.
        #[source]
        source: ProviderRefError,
    },
    /// A step is unknown.
    #[error("the plan for resource '{urn}' has the unknown step '{step}'")]
    Step {
        /// The resource.
        urn: Urn,
        /// The step.
        step: EcoString,
    },
    /// The seed is not base64.
    #[error("the seed in the plan for resource '{urn}' is not written in base64")]
    Seed {
        /// The resource.
        urn: Urn,
    },
}

wire_object! {
    WirePlan {
        resource_plans: BTreeMap<EcoString, WireResourcePlan<'de>> = "resourcePlans",
    }
}

wire_object! {
    WireResourcePlan {
        goal: Option<WireGoal<'de>> = "goal",
        steps: Vec<EcoString> = "steps",
        state: Option<WireProperties> = "state",
        seed: Option<Text<'de>> = "seed",
    }
}

wire_object! {
    WireGoal {
        type_token: EcoString = "type",
        name: EcoString = "name",
        custom: bool = "custom",
        input_diff: WireDiff<'de> = "inputDiff",
        output_diff: WireDiff<'de> = "outputDiff",
        parent: Text<'de> = "parent",
        protect: bool = "protect",
        dependencies: Vec<Text<'de>> = "dependencies",
        provider: Text<'de> = "provider",
        property_dependencies: BTreeMap<EcoString, Option<Vec<Text<'de>>>> = "propertyDependencies",
        delete_before_replace: Option<bool> = "deleteBeforeReplace",
        ignore_changes: Vec<EcoString> = "ignoreChanges",
        additional_secret_outputs: Vec<EcoString> = "additionalSecretOutputs",
        alias_urns: Vec<Text<'de>> = "aliases",
        aliases: Vec<WireAlias<'de>> = "structuredAliases",
        id: EcoString = "id",
        custom_timeouts: WireTimeouts<'de> = "customTimeouts",
    }
}

wire_object! {
    WireDiff {
        adds: WireProperties = "adds",
        deletes: Vec<EcoString> = "deletes",
        updates: WireProperties = "updates",
    }
}

wire_object! {
    WireAlias {
        urn: Text<'de> = "URN",
        name: EcoString = "Name",
        type_token: EcoString = "Type",
        project: EcoString = "Project",
        stack: EcoString = "Stack",
        parent: Text<'de> = "Parent",
        no_parent: bool = "NoParent",
    }
}

impl PlanFile {
    /// Parses a plan file.
    pub fn parse(bytes: &[u8]) -> Result<Self, PlanError> {
        let text = String::from_utf8_lossy(bytes);
        let wire: WirePlan<'_> = from_json(&text)?;
        let mut resources = BTreeMap::new();
        for (urn, plan) in wire.resource_plans {
            let urn = Urn::parse(&urn)?;
            let plan = read_resource(&urn, plan)?;
            resources.insert(urn, plan);
        }
        Ok(PlanFile {
            sealed: Plan { resources },
        })
    }

    /// Decrypts the secrets of the plan. Calls `codec` only if there is an encrypted one.
    pub fn decrypt(&self, codec: &dyn SecretCodec) -> Result<Plan, SecretsError> {
        open(&self.sealed, codec, &mut CiphertextCache::new())
    }
}

fn read_resource(urn: &Urn, wire: WireResourcePlan<'_>) -> Result<ResourcePlan, PlanError> {
    let step = |name: EcoString| {
        StepOp::from_name(&name).ok_or_else(|| PlanError::Step {
            urn: urn.clone(),
            step: name,
        })
    };
    let seed = wire.seed.map(|text| {
        let bytes = STANDARD.decode(text.as_bytes());
        bytes.map_err(|_| PlanError::Seed { urn: urn.clone() })
    });
    Ok(ResourcePlan {
        goal: wire.goal.map(|goal| read_goal(urn, goal)).transpose()?,
        steps: wire.steps.into_iter().map(step).collect::<Result<_, _>>()?,
        outputs: wire.state.map(|state| state.0),
        seed: seed.transpose()?.map(Into::into),
    })
}

fn read_goal(urn: &Urn, wire: WireGoal<'_>) -> Result<GoalPlan, PlanError> {
    let mut property_dependencies = plumb_resource::PropertyDependencies::new();
    for (key, texts) in wire.property_dependencies {
        property_dependencies.insert(
            PropertyKey::from(key),
            read_urns(&texts.unwrap_or_default())?,
        );
    }
    let mut aliases = EcoVec::new();
    for text in &wire.alias_urns {
        aliases.push(Alias::Urn(Urn::parse(text)?));
    }
    for alias in wire.aliases {
        aliases.push(read_alias(alias)?);
    }
    let provider = match &*wire.provider {
        "" => None,
        text => Some(
            ProviderRef::parse(text).map_err(|source| PlanError::Provider {
                urn: urn.clone(),
                source,
            })?,
        ),
    };
    Ok(GoalPlan {
        type_token: TypeToken::new(wire.type_token),
        name: wire.name,
        is_custom: wire.custom,
        inputs: read_diff(wire.input_diff),
        outputs: read_diff(wire.output_diff),
        parent: read_urn(&wire.parent)?,
        protect: wire.protect,
        dependencies: read_urns(&wire.dependencies)?,
        provider,
        property_dependencies,
        delete_before_replace: wire.delete_before_replace,
        ignore_changes: wire.ignore_changes.into(),
        additional_secret_outputs: wire
            .additional_secret_outputs
            .into_iter()
            .map(PropertyKey::from)
            .collect(),
        aliases,
        import_id: wire.id,
        custom_timeouts: timeouts(&wire.custom_timeouts),
    })
}

fn read_diff(wire: WireDiff<'_>) -> PlanDiff {
    PlanDiff {
        adds: wire.adds.0,
        deletes: wire.deletes.into_iter().map(PropertyKey::from).collect(),
        updates: wire.updates.0,
    }
}

fn read_alias(wire: WireAlias<'_>) -> Result<Alias, InvalidUrn> {
    if !wire.urn.is_empty() {
        return Urn::parse(&wire.urn).map(Alias::Urn);
    }
    let given = |text: EcoString| (!text.is_empty()).then_some(text);
    let parent = match read_urn(&wire.parent)? {
        _ if wire.no_parent => AliasParent::None,
        Some(urn) => AliasParent::Urn(urn),
        None => AliasParent::Same,
    };
    Ok(Alias::Spec(AliasSpec {
        name: given(wire.name),
        type_token: given(wire.type_token).map(TypeToken::new),
        stack: given(wire.stack),
        project: given(wire.project),
        parent,
    }))
}

fn read_urn(text: &str) -> Result<Option<Urn>, InvalidUrn> {
    match text {
        "" => Ok(None),
        text => Urn::parse(text).map(Some),
    }
}

fn read_urns(texts: &[Text<'_>]) -> Result<EcoVec<Urn>, InvalidUrn> {
    texts.iter().map(|text| Urn::parse(text)).collect()
}

impl EncryptedPlan {
    /// Text of a plan file.
    pub fn file(&self, head: &PlanHead) -> String {
        write_file(&self.inner, head, Secrets::Sealed)
    }
}

impl Plan {
    /// Text of a plan file with **plaintext** secrets, for a user who asked for them.
    pub fn file_with_secrets_exposed(&self, head: &PlanHead) -> String {
        write_file(self, head, Secrets::Exposed)
    }
}

fn write_file(plan: &Plan, head: &PlanHead, secrets: Secrets) -> String {
    let mut json = JsonWriter::indented(Escape::Plain);
    json.object(|json| {
        write_manifest(json.key("manifest"), &head.manifest);
        if let Some(config) = &head.config {
            json.key("config").raw(config.as_str());
        }
        if !plan.resources.is_empty() {
            json.key("resourcePlans").object(|json| {
                for (urn, plan) in &plan.resources {
                    write_resource(json.key(urn.as_str()), plan, secrets);
                }
            });
        }
    });
    json.finish() + "\n"
}

fn write_resource(json: &mut JsonWriter, plan: &ResourcePlan, secrets: Secrets) {
    json.object(|json| {
        if let Some(goal) = &plan.goal {
            write_goal(json.key("goal"), goal, secrets);
        }
        json.list_member("steps", plan.steps.iter().map(|step| step.as_str()));
        let json = json.key("state");
        match &plan.outputs {
            Some(outputs) => write_properties(json, outputs, secrets),
            None => json.null(),
        }
        if let Some(seed) = &plan.seed {
            json.key("seed").string(&STANDARD.encode(seed));
        }
    });
}

fn write_goal(json: &mut JsonWriter, goal: &GoalPlan, secrets: Secrets) {
    json.object(|json| {
        json.key("type").string(goal.type_token.as_str());
        json.key("name").string(&goal.name);
        json.key("custom").bool(goal.is_custom);
        write_diff(json.key("inputDiff"), &goal.inputs, secrets);
        write_diff(json.key("outputDiff"), &goal.outputs, secrets);
        json.text_member("parent", goal.parent.as_ref().map_or("", Urn::as_str));
        json.key("protect").bool(goal.protect);
        json.list_member("dependencies", goal.dependencies.iter().map(Urn::as_str));
        if let Some(provider) = &goal.provider {
            json.key("provider").string(&provider.to_string());
        }
        if !goal.property_dependencies.is_empty() {
            json.key("propertyDependencies").object(|json| {
                for (key, urns) in &goal.property_dependencies {
                    json.key(key.as_str()).strings(urns.iter().map(Urn::as_str));
                }
            });
        }
        if let Some(first) = goal.delete_before_replace {
            json.key("deleteBeforeReplace").bool(first);
        }
        json.list_member(
            "ignoreChanges",
            goal.ignore_changes.iter().map(EcoString::as_str),
        );
        json.list_member(
            "additionalSecretOutputs",
            goal.additional_secret_outputs
                .iter()
                .map(PropertyKey::as_str),
        );
        if !goal.aliases.is_empty() {
            json.key("structuredAliases").array(|json| {
                for alias in &goal.aliases {
                    write_alias(json.element(), alias);
                }
            });
        }
        json.text_member("id", &goal.import_id);
        write_timeouts(json.key("customTimeouts"), &goal.custom_timeouts);
    });
}

fn write_diff(json: &mut JsonWriter, diff: &PlanDiff, secrets: Secrets) {
    json.object(|json| {
        if !diff.adds.is_empty() {
            write_properties(json.key("adds"), &diff.adds, secrets);
        }
        json.list_member("deletes", diff.deletes.iter().map(PropertyKey::as_str));
        if !diff.updates.is_empty() {
            write_properties(json.key("updates"), &diff.updates, secrets);
        }
    });
}

fn write_timeouts(json: &mut JsonWriter, timeouts: &CustomTimeouts) {
    json.object(|json| write_timeout_members(json, timeouts));
}

/// Writes all members, as in the files of the reference.
fn write_alias(json: &mut JsonWriter, alias: &Alias) {
    let none = AliasSpec::default();
    let (urn, spec) = match alias {
        Alias::Urn(urn) => (urn.as_str(), &none),
        Alias::Spec(spec) => ("", spec),
    };
    let text = |text: &Option<EcoString>| text.clone().unwrap_or_default();
    let parent = match &spec.parent {
        AliasParent::Urn(urn) => urn.as_str(),
        AliasParent::Same | AliasParent::None => "",
    };
    json.object(|json| {
        json.key("URN").string(urn);
        json.key("Name").string(&text(&spec.name));
        let token = spec.type_token.as_ref().map_or("", TypeToken::as_str);
        json.key("Type").string(token);
        json.key("Project").string(&text(&spec.project));
        json.key("Stack").string(&text(&spec.stack));
        json.key("Parent").string(parent);
        json.key("NoParent").bool(spec.parent == AliasParent::None);
    });
}
