//! An operation on a stack: its options, and the handles of its caller.

use std::path::PathBuf;
use std::sync::Arc;

use ecow::EcoString;
use plumb_deploy::setup::target::UrnSet;
use plumb_deploy::setup::{ImportSpec, ImportSubject, Options, Phase};
use plumb_engine::policies::LocalPack;
use plumb_events::Event;
use plumb_plugin::PackPlace;
#[cfg(feature = "inline")]
use plumb_plugin::analyzer::linked::LinkedPack;
#[cfg(feature = "inline")]
use plumb_policy::embed::EmbeddedPack;
use plumb_resource::Urn;
use plumb_resource::provider::PluginSpec;
use plumb_state::plan::Plan;
use serde_json::{Map, Value as Json};
use tokio::sync::watch;

use crate::{Config, Error, Program, Report, Stack, run};

/// Kind of an operation.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    Update,
    Refresh,
    Destroy,
    Import(Vec<Import>),
}

impl Kind {
    /// Name in the history.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Kind::Update => "update",
            Kind::Refresh => "refresh",
            Kind::Destroy => "destroy",
            Kind::Import(_) => "import",
        }
    }
}

/// An object to adopt.
#[derive(Clone, Debug, PartialEq)]
pub struct Import(pub(crate) ImportSpec);

impl Import {
    /// The object with this id, as the resource `name` of a type such as `random:index/randomPet:RandomPet`.
    pub fn new(type_token: &str, name: &str, id: &str) -> Self {
        let package = type_token.split(':').next().unwrap_or_default();
        Import(ImportSpec {
            type_token: type_token.into(),
            name: name.into(),
            subject: ImportSubject::Object {
                id: EcoString::from(id),
            },
            parent: None,
            provider: None,
            plugin: PluginSpec::named(package),
            extension: None,
            protect: false,
            properties: Vec::new(),
            inputs: None,
            outputs: None,
        })
    }

    /// Sets the parent; the stack by default.
    #[must_use]
    pub fn parent(mut self, urn: Urn) -> Self {
        self.0.parent = Some(urn);
        self
    }

    /// Sets the provider, a resource of the stack; the default provider of the package by default.
    #[must_use]
    pub fn provider(mut self, urn: Urn) -> Self {
        self.0.provider = Some(urn);
        self
    }

    /// Protects the resource from being deleted.
    #[must_use]
    pub fn protect(mut self) -> Self {
        self.0.protect = true;
        self
    }
}

/// Receiver of events, called on the task of the operation.
pub(crate) type Listener = Arc<dyn Fn(&Event) + Send + Sync>;

/// Stops operations on request. Clones stop the same operations.
///
/// The first interrupt starts no new steps, and those that run end. The second one asks providers to stop. The third one
/// ends the operation at once. The state is sound after each. Interrupts before the start of an operation count, too.
#[derive(Clone, Debug)]
pub struct Interrupts(watch::Sender<u32>);

impl Default for Interrupts {
    fn default() -> Self {
        Interrupts(watch::Sender::new(0))
    }
}

impl Interrupts {
    /// No interrupt yet.
    pub fn new() -> Self {
        Interrupts::default()
    }

    /// Interrupts the operations, once more if they were interrupted before.
    pub fn interrupt(&self) {
        self.0.send_modify(|count| *count += 1);
    }

    pub(crate) fn receiver(&self) -> watch::Receiver<u32> {
        self.0.subscribe()
    }
}

/// An operation that is yet to run: [`Operation::run`] does it.
#[must_use = "nothing happens until `run`"]
pub struct Operation {
    pub(crate) stack: Stack,
    pub(crate) kind: Kind,
    pub(crate) program: Option<Program>,
    pub(crate) config: Config,
    pub(crate) options: Options,
    pub(crate) message: String,
    pub(crate) plan: Option<Plan>,
    pub(crate) packs: Vec<LocalPack>,
    pub(crate) listener: Option<Listener>,
    pub(crate) interrupts: Interrupts,
}

impl Operation {
    pub(crate) fn new(stack: Stack, kind: Kind, program: Option<Program>) -> Self {
        Operation {
            stack,
            kind,
            program,
            config: Config::new(),
            options: Options::new(Phase::Execute),
            message: String::new(),
            plan: None,
            packs: Vec::new(),
            listener: None,
            interrupts: Interrupts::new(),
        }
    }

    /// Changes nothing, and reports what would be done.
    pub fn preview(mut self) -> Self {
        self.options.phase = Phase::Preview;
        self
    }

    /// Sets the configuration; empty by default.
    pub fn config(mut self, config: Config) -> Self {
        self.config = config;
        self
    }

    /// Sets the number of steps at the same time; 16 by default.
    pub fn parallel(mut self, count: u32) -> Self {
        self.options.parallel = count.max(1);
        self
    }

    /// Limits the operation to resources with these URNs, or patterns of URNs.
    pub fn targets(mut self, urns: impl IntoIterator<Item = String>) -> Self {
        self.options.targets = UrnSet::new(urns);
        self
    }

    /// Includes what depends on the targets.
    pub fn target_dependents(mut self) -> Self {
        self.options.target_dependents = true;
        self
    }

    /// Leaves out resources with these URNs, or patterns of URNs.
    pub fn excludes(mut self, urns: impl IntoIterator<Item = String>) -> Self {
        self.options.excludes = UrnSet::new(urns);
        self
    }

    /// Leaves out what depends on the excluded resources.
    pub fn exclude_dependents(mut self) -> Self {
        self.options.exclude_dependents = true;
        self
    }

    /// Replaces resources with these URNs, or patterns of URNs, whether or not they differ.
    pub fn replace(mut self, urns: impl IntoIterator<Item = String>) -> Self {
        self.options.replace_targets = UrnSet::new(urns);
        self
    }

    /// Reads every resource before the program runs.
    pub fn refresh_first(mut self) -> Self {
        self.options.refresh = true;
        self
    }

    /// Runs a program in a refresh or in a destroy, for hooks and for providers with settings that expire.
    pub fn with_program(mut self, program: Program) -> Self {
        self.options.run_program = true;
        self.program = Some(program);
        self
    }

    /// Goes on after a failed step with what does not depend on it.
    pub fn continue_on_error(mut self) -> Self {
        self.options.continue_on_error = true;
        self
    }

    /// Sets the message in the history.
    pub fn message(mut self, text: impl Into<String>) -> Self {
        self.message = text.into();
        self
    }

    /// Has a preview make a plan, [`Report::plan`].
    pub fn make_plan(mut self) -> Self {
        self.options.makes_plan = true;
        self
    }

    /// Has the policy pack in a folder check the operation; `settings` are its configuration: a level, or an object, by the
    /// name of the policy.
    pub fn policy_pack(self, folder: impl Into<PathBuf>, settings: Map<String, Json>) -> Self {
        let path = folder.into();
        self.checked_by(LocalPack {
            name: path.to_string_lossy().into_owned(),
            place: PackPlace::Path(path),
            config: settings,
        })
    }

    /// Has a policy pack of this process check the operation; `settings` are those of [`Operation::policy_pack`].
    #[cfg(feature = "inline")]
    pub fn policies(self, pack: &EmbeddedPack, settings: Map<String, Json>) -> Self {
        let linked = pack.clone();
        self.checked_by(LocalPack {
            name: pack.name().to_owned(),
            place: PackPlace::Linked(LinkedPack::new(move || linked.service())),
            config: settings,
        })
    }

    fn checked_by(mut self, pack: LocalPack) -> Self {
        self.options.has_policies = true;
        self.packs.push(pack);
        self
    }

    /// Does nothing that a plan does not have.
    pub fn keep_to(mut self, plan: Plan) -> Self {
        self.plan = Some(plan);
        self
    }

    /// Calls `listener` with every event. It must not block. Resources in events have their secrets, as secret values;
    /// messages have none.
    pub fn on_event(mut self, listener: impl Fn(&Event) + Send + Sync + 'static) -> Self {
        self.listener = Some(Arc::new(listener));
        self
    }

    /// Sets the handle that stops the operation.
    pub fn interrupts(mut self, interrupts: &Interrupts) -> Self {
        self.interrupts = interrupts.clone();
        self
    }

    /// Does it. An operation that began and failed is [`Error::Failed`], which has the report.
    pub async fn run(self) -> Result<Report, Error> {
        Box::pin(run::run(self)).await
    }
}
