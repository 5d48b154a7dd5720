//! Inputs of a deployment: operation, base snapshot, options.

pub mod autonaming;
pub mod snippets;
pub mod target;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ecow::EcoString;
use plumb_resource::Urn;
use plumb_resource::provider::{Parameterization, PluginSpec};
use plumb_state::Snapshot;
use plumb_state::plan::Plan;
use plumb_value::{PropertyKey, PropertyMap, Value};

use crate::setup::autonaming::NamingRules;
use crate::setup::snippets::SnippetChanges;
use crate::setup::target::UrnSet;

/// Everything that a deployment depends on, besides the events.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Stack name.
    pub stack: EcoString,
    /// Project name.
    pub project: EcoString,
    /// Configuration of the stack, `namespace:key` to value; secret settings are secret values.
    pub config: BTreeMap<EcoString, Value>,
    /// Settings of which only parts are secret, as text with those parts hidden: events show them so. A secret setting that
    /// is not among them is hidden as a whole.
    pub partly_secret: BTreeMap<EcoString, EcoString>,
    /// State before.
    pub snapshot: Snapshot,
    /// The operation.
    pub operation: Operation,
    /// How to do it.
    pub options: Options,
    /// Packages that the program needs; they decide the versions of default providers. Where it names none, those of the
    /// state do.
    pub packages: Vec<PluginSpec>,
    /// Where ids and seeds made by chance come from.
    pub seed: [u8; 32],
    /// The plan that an update is constrained to.
    pub plan: Option<Plan>,
}

/// Kind of a deployment.
#[derive(Clone, Debug, PartialEq)]
pub enum Operation {
    /// Makes the world as the program says; also `preview`.
    Update,
    /// Makes the state as the world is.
    Refresh,
    /// Deletes everything.
    Destroy,
    /// Adopts existing objects.
    Import(Vec<ImportSpec>),
}

/// Subject of an import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImportSubject {
    /// An object with an id; or a provider, which is made from what is supplied.
    Object {
        /// Its id.
        id: EcoString,
    },
    /// A component of the program.
    Component,
    /// A component that a provider constructs.
    RemoteComponent,
}

impl ImportSubject {
    /// Whether it is a component, which nobody reads.
    pub fn is_component(&self) -> bool {
        !matches!(self, ImportSubject::Object { .. })
    }
}

/// An object or a component to adopt.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportSpec {
    /// Type token.
    pub type_token: EcoString,
    /// Name to give it.
    pub name: EcoString,
    /// Object or component.
    pub subject: ImportSubject,
    /// Parent; the root stack by default.
    pub parent: Option<Urn>,
    /// Provider resource in the state; the default provider by default.
    pub provider: Option<Urn>,
    /// Plugin, for the default provider.
    pub plugin: PluginSpec,
    /// The package that adds the type to what the plugin serves.
    pub extension: Option<Parameterization>,
    /// Whether to protect the resource.
    pub protect: bool,
    /// Inputs to keep; empty for all.
    pub properties: Vec<EcoString>,
    /// Inputs to use where the provider tells none.
    pub inputs: Option<PropertyMap>,
    /// Outputs; an object is not read when they are given.
    pub outputs: Option<PropertyMap>,
}

/// The object that a create made whose outcome nobody heard of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Adoption {
    /// The resource that was being created.
    pub urn: Urn,
    /// Id of the object, which the user has found out.
    pub id: EcoString,
}

/// Whether the deployment is for show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Nothing changes; outputs may be unknown.
    Preview,
    /// Providers act, state is written.
    Execute,
}

/// How a deployment does what it does (`engine.md` 12).
#[derive(Clone, Debug)]
pub struct Options {
    /// For show or for real.
    pub phase: Phase,
    /// How many steps may run at once; at least 1.
    pub parallel: u32,
    /// Read every resource before the program runs.
    pub refresh: bool,
    /// Run the program although the operation is a refresh or a destroy.
    pub run_program: bool,
    /// Resources to act on; the others stay as they are.
    pub targets: UrnSet,
    /// Snippets to act on, by their uuid, with the resources that they register; they win over excludes.
    pub target_snippets: BTreeSet<EcoString>,
    /// Act on what depends on the targets too.
    pub target_dependents: bool,
    /// Resources to leave alone.
    pub excludes: UrnSet,
    /// Leave alone what depends on them too.
    pub exclude_dependents: bool,
    /// Resources to replace whether or not they differ.
    pub replace_targets: UrnSet,
    /// A failed step does not stop what does not depend on it.
    pub continue_on_error: bool,
    /// Replace and delete protected resources as if they were not.
    pub ignore_protect: bool,
    /// Equal inputs mean no difference, without asking the provider.
    pub legacy_diff: bool,
    /// Compare outputs, not inputs, in a refresh.
    pub legacy_refresh_diff: bool,
    /// Show secrets in messages.
    pub show_secrets: bool,
    /// Report resource references to providers and programs.
    pub resource_references: bool,
    /// How resources are named that the program gives no name.
    pub naming: NamingRules,
    /// Objects of pending creates, to be adopted by a refresh.
    pub adoptions: Vec<Adoption>,
    /// Policy packs look at what is done.
    pub has_policies: bool,
    /// Snippets to add, change or remove.
    pub snippet_changes: Option<SnippetChanges>,
    /// Make a plan of what the run does, for a later one to keep to.
    pub makes_plan: bool,
    /// Tell the order of decisions ([`crate::Effect::Milestone`]).
    pub tells_milestones: bool,
}

impl Options {
    /// The defaults, for `phase`.
    pub fn new(phase: Phase) -> Self {
        Options {
            phase,
            parallel: 16,
            refresh: false,
            run_program: false,
            targets: UrnSet::default(),
            target_snippets: BTreeSet::new(),
            target_dependents: false,
            excludes: UrnSet::default(),
            exclude_dependents: false,
            replace_targets: UrnSet::default(),
            continue_on_error: false,
            ignore_protect: false,
            legacy_diff: false,
            legacy_refresh_diff: false,
            show_secrets: false,
            resource_references: true,
            naming: NamingRules::default(),
            adoptions: Vec::new(),
            has_policies: false,
            snippet_changes: None,
            makes_plan: false,
            tells_milestones: false,
        }
    }

    /// Whether the operation is about some resources only, and says which.
    pub fn has_targets(&self) -> bool {
        self.targets.is_constrained() || !self.target_snippets.is_empty()
    }

    /// Whether this is a preview.
    pub fn is_preview(&self) -> bool {
        self.phase == Phase::Preview
    }
}

/// Inputs that do not change during a run.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) stack: EcoString,
    pub(crate) project: EcoString,
    pub(crate) config: BTreeMap<EcoString, Value>,
    pub(crate) partly_secret: BTreeMap<EcoString, EcoString>,
    pub(crate) operation: Operation,
    pub(crate) options: Options,
    pub(crate) default_versions: BTreeMap<EcoString, PluginSpec>,
}

impl Context {
    /// Whether registrations read their old states: a run of the program that does so needs no refresh before it. A destroy
    /// with the program reads everything before it.
    pub(crate) fn refreshes_with_program(&self) -> bool {
        let is_own = matches!(self.operation, Operation::Update | Operation::Refresh);
        is_own && self.options.run_program
    }

    /// Properties as providers get them: references to resources only where the user has not switched them off.
    pub(crate) fn for_provider(&self, properties: &Arc<PropertyMap>) -> Arc<PropertyMap> {
        if self.options.resource_references {
            return properties.clone();
        }
        let plain =
            |(key, value): (&PropertyKey, &Value)| (key.clone(), value.without_references());
        Arc::new(properties.iter().map(plain).collect())
    }
}
