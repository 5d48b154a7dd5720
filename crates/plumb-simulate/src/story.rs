//! Stories: operations on one stack, each with its program, faults and external changes.
//!
//! Stories are plain data with a short text form (`text.rs`), so that a failed one can be pasted as a test.

mod methods;
mod packages;
mod sequence;
mod tidy;

use std::collections::{BTreeMap, BTreeSet};

use plumb_resource::{HookType, Urn};
use plumb_value::Value;

pub use methods::Method;
pub use packages::Package;
pub(crate) use sequence::Item;

/// Stack of every story.
pub const STACK: &str = "dev";
/// Project of every story.
pub const PROJECT: &str = "proj";

/// Prefix of the types of providers.
const PROVIDER_TYPE: &str = "pulumi:providers:";

/// Operations on one stack; each starts from the state after the previous one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Story {
    /// Operations, in order.
    pub operations: Vec<Operation>,
}

/// Kind of operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verb {
    /// Update.
    #[default]
    Up,
    /// Refresh.
    Refresh,
    /// Destroy.
    Destroy,
    /// Import.
    Import,
}

/// One operation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Operation {
    /// Kind of operation.
    pub verb: Verb,
    /// Whether it is a preview.
    pub preview: bool,
    /// Seed of the order of events.
    pub seed: u64,
    /// Maximum number of concurrent steps; zero counts as one.
    pub parallel: u32,
    /// Command-line flags.
    pub flags: Flags,
    /// Manual edits of the state and external changes to the cloud, before the operation.
    pub before: Vec<Incident>,
    /// Faults of provider calls.
    pub faults: Vec<Fault>,
    /// Interruption of the operation.
    pub stop: Option<Stop>,
    /// The program.
    pub program: Program,
    /// Objects to import.
    pub imports: Vec<ImportDecl>,
}

/// Flags of an operation. Targets are names, or patterns if they contain a `*`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// `--refresh`
    pub refresh: bool,
    /// `--run-program`
    pub run_program: bool,
    /// `--continue-on-error`
    pub continue_on_error: bool,
    /// The ignore-protect option.
    pub ignore_protect: bool,
    /// The legacy diff option.
    pub legacy_diff: bool,
    /// The legacy refresh diff option.
    pub legacy_refresh_diff: bool,
    /// `--target`
    pub targets: Vec<String>,
    /// `--target-dependents`
    pub target_dependents: bool,
    /// `--exclude`
    pub excludes: Vec<String>,
    /// `--exclude-dependents`
    pub exclude_dependents: bool,
    /// `--replace`
    pub replace: Vec<String>,
    /// Automatic naming of resources (`world/naming.rs`).
    pub naming: Option<String>,
    /// Policy packs; the name of each determines its behaviour (`world/packs.rs`).
    pub policies: Vec<String>,
    /// Snippets to store, with the resources in the program.
    pub stores: Vec<String>,
    /// Snippets to remove.
    pub removes: Vec<String>,
    /// Targeted snippets.
    pub target_snippets: Vec<String>,
}

/// Something that happens between operations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Incident {
    /// `state protect`
    Protect(String),
    /// `state unprotect`
    Unprotect(String),
    /// `state taint`
    Taint(String),
    /// Removal of the pending operations by the user.
    ClearPending,
    /// External change of property `v` of the object.
    Drift(String, String),
    /// External deletion of the object.
    Vanish(String),
}

/// A fault of a provider call, whenever it is made in the operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Kind of call.
    pub call: CallKind,
    /// Name of the resource.
    pub name: String,
    /// Kind of fault.
    pub kind: FaultKind,
}

/// Calls that can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CallKind {
    /// Check or CheckConfig.
    Check,
    /// Diff or DiffConfig.
    Diff,
    /// Create.
    Create,
    /// Read.
    Read,
    /// Update.
    Update,
    /// Delete.
    Delete,
    /// Call of the method with this name.
    Call,
}

/// Kind of fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// The call fails without effect. For Check: the inputs are refused.
    Clean,
    /// The call has its effect, but the resource is not ready.
    Partial,
    /// The call has its effect, but the result is lost.
    Unknown,
    /// The call does not return until the user stops the operation, and has no effect.
    Hang,
    /// The first attempt fails without effect; later ones succeed.
    Once,
    /// The call fails without effect, after the provider has reported views.
    Told,
    /// The call succeeds, except for the last view.
    Part,
    /// The call succeeds, except for the last view, which is half done.
    HalfPart,
}

/// Interruption of an operation, after that many choices of the next event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The user interrupts the operation.
    Interrupt(u32),
    /// The process dies; only the journal remains.
    Crash(u32),
    /// The program fails.
    ProgramFails(u32),
    /// The journal can no longer be written.
    JournalFails(u32),
}

impl Stop {
    /// Number of items after which a sequential program fails.
    pub(crate) fn in_program(self, count: usize) -> Option<usize> {
        match self {
            Stop::ProgramFails(at) if count > 0 => Some(at as usize % count),
            _ => None,
        }
    }
}

/// An object to import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportDecl {
    /// Name of the resource.
    pub name: String,
    /// Id of the object.
    pub id: String,
    /// Type of the resource.
    pub type_name: String,
}

/// A program: resources in source order, and the configuration of the stack.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    /// Resources; each refers only to earlier ones.
    pub resources: Vec<Res>,
    /// Configuration, `package:key` to value.
    pub config: BTreeMap<String, String>,
    /// Transforms of all registrations; the name of each determines its behaviour (`world/functions.rs`).
    pub transforms: Vec<String>,
    /// Transforms of the function calls.
    pub ask_transforms: Vec<String>,
    /// Packages that the program registers.
    pub packages: Vec<Package>,
    /// Functions of providers that the program calls.
    pub asks: Vec<Ask>,
    /// Methods that the program calls.
    pub methods: Vec<Method>,
}

/// A call of a provider function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ask {
    /// Package of the function.
    pub package: String,
    /// Resources that the call depends on.
    pub needs: Vec<String>,
    /// provider option.
    pub provider: Option<String>,
}

/// A resource of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Res {
    /// Short name of the type: `Thing`, `Other`, `Two`, `Sub`; `Group`, `Pack` for components; `Stack`; `P.test`,
    /// `P.two`, `P.sub` for providers. Otherwise any type token, in brackets for components.
    pub type_name: String,
    /// Name, unique in the program.
    pub name: String,
    /// Input properties.
    pub properties: BTreeMap<String, Prop>,
    /// Outputs to register, for components and the stack.
    pub outputs: BTreeMap<String, Prop>,
    /// Id of the object, if the resource is read.
    pub read: Option<String>,
    /// parent option; by default the stack, if the program registers it.
    pub parent: Option<String>,
    /// dependsOn option.
    pub depends_on: Vec<String>,
    /// Whether the program omits property dependencies.
    pub loose: bool,
    /// provider option.
    pub provider: Option<String>,
    /// providers option.
    pub providers: Vec<String>,
    /// aliases option.
    pub aliases: Vec<AliasDecl>,
    /// protect option.
    pub protect: Option<bool>,
    /// retainOnDelete option.
    pub retain: Option<bool>,
    /// deletedWith option.
    pub deleted_with: Option<String>,
    /// replaceWith option.
    pub replace_with: Vec<String>,
    /// deleteBeforeReplace option.
    pub delete_before_replace: Option<bool>,
    /// ignoreChanges option.
    pub ignore_changes: Vec<String>,
    /// replaceOnChanges option.
    pub replace_on_changes: Vec<String>,
    /// hideDiffs option.
    pub hide_diffs: Vec<String>,
    /// additionalSecretOutputs option.
    pub secret_outputs: Vec<String>,
    /// import option.
    pub import: Option<String>,
    /// replacementTrigger option.
    pub trigger: Option<Prop>,
    /// version option.
    pub version: Option<String>,
    /// Registered package of the resource.
    pub package: Option<String>,
    /// Create timeout, in seconds.
    pub timeout: Option<u32>,
    /// hooks option.
    pub hooks: Vec<Hook>,
    /// Transforms of the resource and its descendants.
    pub transforms: Vec<String>,
    /// Whether a provider constructs it, if it is a component without providers of its own.
    pub remote: bool,
    /// Snippet that registers it; `None` for the program.
    pub snippet: Option<String>,
    /// Method that registers it during its call; `None` for the program.
    pub by: Option<String>,
}

/// A hook of a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hook {
    /// Hook type.
    pub at: HookType,
    /// Name, which determines the behaviour (`world/hooks.rs`).
    pub name: String,
}

/// A former identity: either a whole URN, or the parts that were different.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AliasDecl {
    /// Whole former URN, without stack and project: `Group$Thing::a`.
    pub urn: Option<String>,
    /// Former name.
    pub name: Option<String>,
    /// Former type.
    pub type_name: Option<String>,
    /// Former parent as a URN without stack and project, or `none`.
    pub parent: Option<String>,
}

/// Value of a property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prop {
    /// Whether the value is secret.
    pub secret: bool,
    /// Source of the value.
    pub source: Source,
}

/// Source of a property's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A constant.
    Text(String),
    /// Output of another resource.
    Output {
        /// The resource.
        name: String,
        /// Name of the output.
        key: String,
    },
    /// Property of a method's result.
    Answer {
        /// Name of the method.
        method: String,
        /// Name of the property.
        key: String,
    },
}

impl Prop {
    /// Property with a constant text.
    pub fn text(text: impl Into<String>) -> Self {
        Prop {
            secret: false,
            source: Source::Text(text.into()),
        }
    }

    /// Property with an output of another resource.
    pub fn output(name: &str, key: &str) -> Self {
        Prop {
            secret: false,
            source: Source::Output {
                name: name.to_owned(),
                key: key.to_owned(),
            },
        }
    }

    /// Resource that the value depends on.
    pub fn from(&self) -> Option<&String> {
        match &self.source {
            Source::Output { name, .. } => Some(name),
            Source::Text(_) | Source::Answer { .. } => None,
        }
    }

    /// Value of the property; `output` returns outputs of resources, and `answer` results of methods.
    pub fn value(
        &self,
        output: impl FnOnce(&str, &str) -> Value,
        answer: impl FnOnce(&str, &str) -> Value,
    ) -> Value {
        let value = match &self.source {
            Source::Text(text) => Value::from(text.as_str()),
            Source::Output { name, key } => output(name, key),
            Source::Answer { method, key } => answer(method, key),
        };
        if self.secret && !value.is_secret() {
            Value::secret(value)
        } else {
            value
        }
    }
}

impl Res {
    /// Resource with only a type and a name.
    pub fn new(type_name: &str, name: &str) -> Self {
        Res {
            type_name: type_name.to_owned(),
            name: name.to_owned(),
            ..Res::default()
        }
    }

    /// Whether this is the root stack resource.
    pub fn is_stack(&self) -> bool {
        self.type_name == "Stack"
    }

    /// Whether this is a component; the stack is one.
    pub fn is_component(&self) -> bool {
        matches!(self.type_name.as_str(), "Group" | "Pack" | "Stack")
            || self.type_name.starts_with('[')
    }

    /// Whether a provider may construct it.
    pub fn is_constructible(&self) -> bool {
        let has_providers = self.provider.is_some() || !self.providers.is_empty();
        matches!(self.type_name.as_str(), "Group" | "Pack") && !has_providers
    }

    /// Whether this is a provider resource.
    pub fn is_provider(&self) -> bool {
        token_of(&self.type_name).starts_with(PROVIDER_TYPE)
    }

    /// Whether a provider manages it.
    pub fn is_managed(&self) -> bool {
        !self.is_component() && !self.is_provider()
    }

    /// Names of its hooks, in the form of the state.
    pub fn hooks(&self) -> plumb_resource::Hooks {
        let mut hooks = plumb_resource::Hooks::new();
        for hook in &self.hooks {
            let names = hooks.entry(hook.at).or_default();
            names.push(hook.name.as_str().into());
        }
        hooks
    }

    /// Names of the resources that must be registered first.
    pub fn needs(&self) -> impl Iterator<Item = &String> {
        let trigger = self.trigger.iter().filter_map(Prop::from);
        self.parent
            .iter()
            .chain(self.properties.values().filter_map(Prop::from))
            .chain(&self.depends_on)
            .chain(&self.provider)
            .chain(&self.providers)
            .chain(&self.deleted_with)
            .chain(&self.replace_with)
            .chain(trigger)
    }
}

impl Program {
    /// Resource with this name.
    pub fn get(&self, name: &str) -> Option<&Res> {
        self.resources.iter().find(|res| res.name == name)
    }

    /// Whether a source, the program or a snippet, must wait for a resource that another source registers.
    pub fn is_foreign(&self, snippet: Option<&str>, name: &str) -> bool {
        let res = self.get(name);
        res.is_some_and(|res| res.snippet.as_deref() != snippet)
    }

    /// Names of resources that a snippet waits for: its dependencies that it does not register itself.
    pub fn awaited_by(&self, uuid: &str) -> BTreeSet<&String> {
        let of = |res: &Res| res.snippet.as_deref() == Some(uuid);
        let needs = self.resources.iter().filter(|res| of(res));
        let needs = needs.flat_map(|res| self.needs_of(res));
        needs
            .filter(|name| self.is_foreign(Some(uuid), name))
            .collect()
    }

    /// Parent of `res`: the explicit one, otherwise the stack. Snippets have no implicit parent.
    pub fn parent_of<'a>(&'a self, res: &'a Res) -> Option<&'a String> {
        let has_none = res.is_provider() || res.snippet.is_some();
        if res.is_stack() || has_none && res.parent.is_none() {
            return None;
        }
        let stack = self.resources.iter().find(|other| other.is_stack());
        res.parent.as_ref().or_else(|| stack.map(|res| &res.name))
    }

    /// Names of all resources that must be registered before `res`.
    pub fn needs_of<'a>(&'a self, res: &'a Res) -> impl Iterator<Item = &'a String> {
        res.needs().chain(self.parent_of(res))
    }

    /// URN of a resource.
    pub fn urn_of(&self, res: &Res) -> Urn {
        if res.is_stack() {
            return Urn::root_stack(STACK, PROJECT);
        }
        let parent = self.parent_of(res).and_then(|name| self.get(name));
        let parent = parent.map(|parent| self.urn_of(parent));
        let parent_type = parent.as_ref().map_or("", Urn::qualified_type);
        Urn::new(
            STACK,
            PROJECT,
            parent_type,
            token_of(&res.type_name),
            &res.name,
        )
    }
}

/// Type token for a type name.
pub fn token_of(type_name: &str) -> &str {
    match type_name {
        "Thing" => "test:m:Thing",
        "Other" => "test:m:Other",
        "Two" => "two:m:Two",
        "Group" => "comp:m:Group",
        "Pack" => "comp:m:Pack",
        "Stack" => plumb_resource::ROOT_STACK_TYPE,
        "P.test" => "pulumi:providers:test",
        "P.two" => "pulumi:providers:two",
        "Sub" => "sub:m:Thing",
        "P.sub" => "pulumi:providers:sub",
        token => token.trim_matches(['[', ']']),
    }
}

/// Short name for a type token, or the token itself.
pub fn type_name_of(token: &str) -> &str {
    let names = [
        "Thing", "Other", "Two", "Group", "Pack", "Stack", "P.test", "P.two", "Sub", "P.sub",
    ];
    names
        .into_iter()
        .find(|name| token_of(name) == token)
        .unwrap_or(token)
}

/// Package of a type name.
pub fn package_of(type_name: &str) -> &str {
    if type_name == "Stack" {
        return "comp";
    }
    let token = token_of(type_name);
    let token = token.strip_prefix(PROVIDER_TYPE).unwrap_or(token);
    token.split(':').next().unwrap_or_default()
}

/// URN for the short form `Group$Thing::a`.
pub fn urn_of_path(path: &str) -> Option<Urn> {
    let (types, name) = path.split_once("::")?;
    let tokens: Vec<&str> = types.split('$').map(token_of).collect();
    Urn::parse(&format!(
        "urn:pulumi:{STACK}::{PROJECT}::{}::{name}",
        tokens.join("$")
    ))
    .ok()
}

/// Short form of a URN: `Group$Thing::a`.
pub fn path_of_urn(urn: &Urn) -> String {
    let types: Vec<&str> = urn.qualified_type().split('$').map(type_name_of).collect();
    format!("{}::{}", types.join("$"), urn.name())
}
