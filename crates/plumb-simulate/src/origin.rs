//! Initial states of stories: empty, or the exported state of a stack (FUZZ-02).
//!
//! 1. [`Origin::from_export`] parses a deployment. Stack and project get the names used in every story, ids become
//!    unique, and values that the simulated provider does not support become text; dependencies, marks and options
//!    stay.
//! 2. The cloud gets the objects of the state.
//! 3. A program is derived from the state. Stories change it like any other program: they remove, rename, change and
//!    add registrations.

use std::sync::Arc;

use ecow::EcoVec;
use plumb_resource::{CustomTimeouts, ResourceId, ResourceKind, ResourceState, Urn};
use plumb_state::Snapshot;
use plumb_state::file::{ParseError, parse_deployment};
use plumb_value::{PropertyMap, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::cloud::Cloud;
use crate::simulate::fresh_world;
use crate::story::{PROJECT, Program, Prop, Res, STACK};
use crate::world::World;

/// Initial state of stories.
#[derive(Clone, Debug)]
pub struct Origin {
    /// Stack and cloud.
    pub world: World,
    /// A program that could have produced the state.
    pub program: Program,
}

/// Error in an initial state.
#[derive(Debug, thiserror::Error)]
pub enum OriginError {
    /// The text is not an exported deployment.
    #[error(transparent)]
    Parse(#[from] ParseError),
    /// The state fails the integrity check.
    #[error(transparent)]
    Integrity(#[from] plumb_state::integrity::IntegrityError),
}

impl Default for Origin {
    fn default() -> Self {
        Origin {
            world: fresh_world(),
            program: Program::default(),
        }
    }
}

impl Origin {
    /// Initial state from an exported deployment.
    pub fn from_export(text: &str) -> Result<Self, OriginError> {
        let deployment = parse_deployment(in_our_stack(text).as_bytes())?;
        let mut snapshot = Snapshot {
            resources: deployment.opaque().resources.clone(),
            ..Snapshot::default()
        };
        // Views depend on the provider, which is not the original one.
        snapshot.resources.retain(|state| state.view_of.is_none());
        let mut world = fresh_world();
        for (number, state) in snapshot.resources.iter_mut().enumerate() {
            let state = Arc::make_mut(state);
            simplify(state, number);
            plant(&mut world.cloud, state);
        }
        snapshot.verify()?;
        let program = program_of(&snapshot);
        world.snapshot = snapshot;
        Ok(Origin { world, program })
    }
}

/// Text of the export with the stack and project names of stories.
fn in_our_stack(text: &str) -> String {
    let Some((_, rest)) = text.split_once("urn:pulumi:") else {
        return text.to_owned();
    };
    let mut parts = rest.split("::");
    let (Some(stack), Some(project)) = (parts.next(), parts.next()) else {
        return text.to_owned();
    };
    let root = |project: &str, stack: &str| format!("pulumi:pulumi:Stack::{project}-{stack}\"");
    text.replace(
        &format!("urn:pulumi:{stack}::{project}::"),
        &format!("urn:pulumi:{STACK}::{PROJECT}::"),
    )
    .replace(&root(project, stack), &root(PROJECT, STACK))
}

/// Reduces a state to properties that engine and simulated provider know.
fn simplify(state: &mut ResourceState, number: usize) {
    let is_default = state.urn.is_default_provider();
    let is_provider = state.kind == ResourceKind::Provider;
    let inputs = state.inputs.iter().filter(|(key, value)| {
        let key = key.as_str();
        // The engine itself uses only the version of a provider.
        !is_provider || key == "version" && value.as_str().is_some_and(is_plain_version)
    });
    let mut inputs: PropertyMap = inputs
        .map(|(key, value)| {
            let value = if is_provider {
                value.clone()
            } else {
                plain(value)
            };
            (key.clone(), value)
        })
        .collect();
    if is_provider {
        state.outputs = Arc::new(inputs.clone());
        if inputs.contains_key("version") {
            inputs.insert("__internal", PropertyMap::new());
        }
    } else if state.kind == ResourceKind::Custom {
        state.id = ResourceId::Known(format!("was-{number}").into());
        let mut outputs = Cloud::outputs(Some(state.id.as_str()), &inputs);
        for (key, value) in Arc::make_mut(&mut outputs).iter_mut() {
            if inputs.get(key.as_str()).is_some_and(Value::is_secret) {
                *value = Value::secret(value.clone());
            }
        }
        state.outputs = outputs;
    } else {
        state.outputs = Arc::default();
    }
    state.inputs = Arc::new(inputs);
    let is_simple = |path: &ecow::EcoString| is_word(path);
    state.ignore_changes.retain(|path| is_simple(path));
    state.replace_on_changes.retain(|path| is_simple(path));
    state.hide_diff.retain(|path| is_simple(path));
    state.additional_secret_outputs.clear();
    state.hooks = plumb_resource::Hooks::new();
    state.extension_ref = None;
    state.snippet_id = None;
    state.import_id = ecow::EcoString::new();
    state.custom_timeouts = CustomTimeouts::default();
    state.refresh_before_update = state.inputs.contains_key("fresh");
    state.replacement_trigger = Value::Null;
    state.protect &= !is_default;
}

/// Creates the object of a state.
fn plant(cloud: &mut Cloud, state: &ResourceState) {
    if state.kind != ResourceKind::Custom || state.pending_replacement {
        return;
    }
    let id = state.id.as_str();
    cloud.plant(id, state.inputs.as_ref().clone());
    if !state.external {
        cloud.adopted(id);
    }
}

/// Value in a form that stories can express.
fn plain(value: &Value) -> Value {
    let text = match value.without_secrets().as_str() {
        Some(text) if is_word(text) => Value::from(text),
        _ => Value::from("some"),
    };
    if value.contains_secrets() {
        Value::secret(Value::from("hidden"))
    } else {
        text
    }
}

fn is_word(text: &str) -> bool {
    !text.is_empty()
        && text
            .chars()
            .all(|it| it.is_ascii_alphanumeric() || it == '-' || it == '_')
}

fn is_plain_version(text: &str) -> bool {
    text.split('.').count() == 3 && text.split('.').all(|part| part.parse::<u32>().is_ok())
}

/// Program that registers the resources of a snapshot, as far as stories can express them.
fn program_of(snapshot: &Snapshot) -> Program {
    let mut names: FxHashMap<&Urn, String> = FxHashMap::default();
    let mut taken: FxHashSet<&str> = FxHashSet::default();
    let mut program = Program::default();
    for state in &snapshot.resources {
        let name = state.urn.name();
        let is_ours = !state.delete && !state.urn.is_default_provider() && is_word(name);
        if !is_ours || !taken.insert(name) {
            continue;
        }
        let res = registration(state, snapshot, &names);
        names.insert(&state.urn, res.name.clone());
        program.resources.push(res);
    }
    program.tidy();
    program
}

/// Registration that could have produced `state`; `names` are those of earlier registrations.
fn registration(
    state: &ResourceState,
    snapshot: &Snapshot,
    names: &FxHashMap<&Urn, String>,
) -> Res {
    if state.urn.is_root_stack() {
        return Res::new("Stack", "stack");
    }
    let token = state.type_token.as_str();
    let type_name = match state.kind {
        ResourceKind::Component => format!("[{token}]"),
        _ => token.to_owned(),
    };
    let name_of = |urn: &Urn| names.get(urn).cloned();
    let mut res = Res::new(&type_name, state.urn.name());
    let given = state.inputs.iter();
    let given = given.filter(|(key, _)| is_word(key.as_str()) && key.as_str() != "__internal");
    for (key, value) in given {
        let prop = match value.without_secrets().as_str() {
            Some(text) => Prop {
                secret: value.is_secret(),
                ..Prop::text(text)
            },
            None => continue,
        };
        res.properties.insert(key.as_str().to_owned(), prop);
    }
    res.parent = state.parent.as_ref().and_then(name_of);
    res.parent = res.parent.filter(|name| name != "stack");
    res.depends_on = state.dependencies.iter().filter_map(name_of).collect();
    res.loose = !state.property_dependencies.values().all(EcoVec::is_empty);
    res.deleted_with = state.deleted_with.as_ref().and_then(name_of);
    res.replace_with = state.replace_with.iter().filter_map(name_of).collect();
    res.protect = state.protect.then_some(true);
    res.retain = state.retain_on_delete.then_some(true);
    res.read = state.external.then(|| state.id.as_str().to_owned());
    let texts = |paths: &[ecow::EcoString]| paths.iter().map(ToString::to_string).collect();
    res.ignore_changes = texts(&state.ignore_changes);
    res.replace_on_changes = texts(&state.replace_on_changes);
    res.hide_diffs = texts(&state.hide_diff);
    let provider = state
        .provider
        .as_ref()
        .map(plumb_resource::ProviderRef::urn);
    res.provider = provider.and_then(name_of);
    let of_default = snapshot
        .resources
        .iter()
        .find(|other| res.provider.is_none() && provider == Some(&other.urn));
    let versioned = of_default.map_or(state, AsRef::as_ref);
    let version = versioned.inputs.get("version").and_then(Value::as_str);
    if of_default.is_some() || res.is_provider() {
        res.version = version.map(str::to_owned);
        if res.is_provider() {
            res.properties.remove("version");
        }
    }
    res
}
