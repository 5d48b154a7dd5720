//! A story: the operations of one stack, each with its program and with what happens around it.
//!
//! Stories are plain data with a short text form (`text.rs`), so that one that fails can be pasted as a test.

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

/// How the types of providers begin.
const PROVIDER_TYPE: &str = "pulumi:providers:";

/// Operations on one stack; each starts from the state that the one before left.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Story {
    /// The operations, in order.
    pub operations: Vec<Operation>,
}

/// What an operation does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verb {
    /// Makes the world as the program says.
    #[default]
    Up,
    /// Makes the state as the world is.
    Refresh,
    /// Deletes everything.
    Destroy,
    /// Adopts objects.
    Import,
}

/// One operation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Operation {
    /// What it does.
    pub verb: Verb,
    /// Whether it is for show.
    pub preview: bool,
    /// Seed of the order in which things happen.
    pub seed: u64,
    /// How many steps may run at once; zero counts as one.
    pub parallel: u32,
    /// Flags of the command line.
    pub flags: Flags,
    /// What happens to the state by hand and to the cloud behind our back, before the operation.
    pub before: Vec<Incident>,
    /// Provider calls that go wrong.
    pub faults: Vec<Fault>,
    /// How the operation is cut short.
    pub stop: Option<Stop>,
    /// The program.
    pub program: Program,
    /// Objects to adopt: name and id.
    pub imports: Vec<ImportDecl>,
}

/// Flags of an operation. Targets are names, or patterns when they hold a `*`.
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
    /// How resources are named that the program gives no name (`world/naming.rs`).
    pub naming: Option<String>,
    /// Policy packs that look at the run: their names say what they do (`world/packs.rs`).
    pub policies: Vec<String>,
    /// Snippets to keep from now on, as the program has them.
    pub stores: Vec<String>,
    /// Snippets that are to go.
    pub removes: Vec<String>,
    /// `--target-snippet`, so to speak: those that run, of the snippets.
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
    /// The user clears the pending operations.
    ClearPending,
    /// Somebody changes property `v` of the object.
    Drift(String, String),
    /// Somebody deletes the object.
    Vanish(String),
}

/// A provider call that goes wrong, whenever it is made in the operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Which call.
    pub call: CallKind,
    /// Name of the resource.
    pub name: String,
    /// How it goes wrong.
    pub kind: FaultKind,
}

/// Calls that can go wrong.
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
    /// Call, of a method by its name.
    Call,
}

/// How a call goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// Nothing is done. For Check: inputs are refused.
    Clean,
    /// It is done, but the resource is not ready.
    Partial,
    /// It is done, but nobody hears of it.
    Unknown,
    /// There is no answer before the user stops the operation; then nothing is done.
    Hang,
    /// Nothing is done the first time; after that it goes well.
    Once,
    /// Nothing is done, after the provider has told of parts.
    Told,
    /// It goes well, but for the last part that the provider tells of.
    Part,
    /// The same, and that part is half done.
    HalfPart,
}

/// How an operation is cut short, after so many choices of what happens next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The user interrupts it.
    Interrupt(u32),
    /// The process dies; the journal is what remains.
    Crash(u32),
    /// The program fails.
    ProgramFails(u32),
    /// The journal cannot be written any more.
    JournalFails(u32),
}

impl Stop {
    /// After how many of its things a program fails that does one thing after another.
    pub(crate) fn in_program(self, count: usize) -> Option<usize> {
        match self {
            Stop::ProgramFails(at) if count > 0 => Some(at as usize % count),
            _ => None,
        }
    }
}

/// An object to adopt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportDecl {
    /// Name to give it.
    pub name: String,
    /// Its id.
    pub id: String,
    /// Type.
    pub type_name: String,
}

/// A program: resources in the order in which they are written down, and configuration of the stack.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    /// Resources; each refers to earlier ones only.
    pub resources: Vec<Res>,
    /// Configuration, `package:key` to value.
    pub config: BTreeMap<String, String>,
    /// Transforms of everything that it registers: their names say what they do (`world/functions.rs`).
    pub transforms: Vec<String>,
    /// Transforms of the functions that it calls.
    pub ask_transforms: Vec<String>,
    /// Packages that it registers.
    pub packages: Vec<Package>,
    /// Functions of providers that it calls.
    pub asks: Vec<Ask>,
    /// Methods that it calls.
    pub methods: Vec<Method>,
}

/// A call of a function of a provider.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ask {
    /// The package.
    pub package: String,
    /// Resources that must exist before.
    pub needs: Vec<String>,
    /// provider option.
    pub provider: Option<String>,
}

/// A resource of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Res {
    /// Short name of the type: `Thing`, `Other`, `Two`, `Sub`; `Group`, `Pack` for components; `Stack`; `P.test`, `P.two`,
    /// `P.sub` for providers. Or any type token; those of components in brackets.
    pub type_name: String,
    /// Name, unique in the program.
    pub name: String,
    /// Input properties.
    pub properties: BTreeMap<String, Prop>,
    /// Outputs to register, for components and the stack.
    pub outputs: BTreeMap<String, Prop>,
    /// Id of the object, if the resource is read.
    pub read: Option<String>,
    /// parent option; the stack, if there is one, by default.
    pub parent: Option<String>,
    /// dependsOn option.
    pub depends_on: Vec<String>,
    /// Leaves the dependencies of single properties open.
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
    /// The registered package that it is of.
    pub package: Option<String>,
    /// Create timeout, in seconds.
    pub timeout: Option<u32>,
    /// hooks option.
    pub hooks: Vec<Hook>,
    /// Its transforms, and those of everything below it.
    pub transforms: Vec<String>,
    /// A provider constructs it, if it is a component without providers of its own.
    pub remote: bool,
    /// The snippet that registers it, if it is not the program.
    pub snippet: Option<String>,
    /// The method that registers it while it is called, if it is not the program.
    pub by: Option<String>,
}

/// A hook of a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hook {
    /// When it is called.
    pub at: HookType,
    /// What it does: its name says that (`world/hooks.rs`).
    pub name: String,
}

/// A former identity; either the whole, or what was different.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AliasDecl {
    /// The whole former URN, without stack and project: `Group$Thing::a`.
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
    /// Where it comes from.
    pub source: Source,
}

/// Where the value of a property comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// Written down.
    Text(String),
    /// Output of another resource.
    Output {
        /// The resource.
        name: String,
        /// The output.
        key: String,
    },
    /// Part of what a method answers.
    Answer {
        /// The method.
        method: String,
        /// The part.
        key: String,
    },
}

impl Prop {
    /// A plain text.
    pub fn text(text: impl Into<String>) -> Self {
        Prop {
            secret: false,
            source: Source::Text(text.into()),
        }
    }

    /// An output of another resource.
    pub fn output(name: &str, key: &str) -> Self {
        Prop {
            secret: false,
            source: Source::Output {
                name: name.to_owned(),
                key: key.to_owned(),
            },
        }
    }

    /// The resource that the value comes from.
    pub fn from(&self) -> Option<&String> {
        match &self.source {
            Source::Output { name, .. } => Some(name),
            Source::Text(_) | Source::Answer { .. } => None,
        }
    }

    /// The value, where `output` tells outputs of other resources and `answer` what methods answer.
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
    /// A resource of this type and name, without anything else.
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

    /// Whether this is a provider.
    pub fn is_provider(&self) -> bool {
        token_of(&self.type_name).starts_with(PROVIDER_TYPE)
    }

    /// Whether a provider manages it.
    pub fn is_managed(&self) -> bool {
        !self.is_component() && !self.is_provider()
    }

    /// Names of its hooks, as the state keeps them.
    pub fn hooks(&self) -> plumb_resource::Hooks {
        let mut hooks = plumb_resource::Hooks::new();
        for hook in &self.hooks {
            let names = hooks.entry(hook.at).or_default();
            names.push(hook.name.as_str().into());
        }
        hooks
    }

    /// Names of the resources that must be registered before this one.
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
    /// The resource of this name.
    pub fn get(&self, name: &str) -> Option<&Res> {
        self.resources.iter().find(|res| res.name == name)
    }

    /// Whether a source, the program or a snippet, hears of a resource only from others.
    pub fn is_foreign(&self, snippet: Option<&str>, name: &str) -> bool {
        let res = self.get(name);
        res.is_some_and(|res| res.snippet.as_deref() != snippet)
    }

    /// Names of resources that a snippet waits for: those that it needs and does not register itself.
    pub fn awaited_by(&self, uuid: &str) -> BTreeSet<&String> {
        let of = |res: &Res| res.snippet.as_deref() == Some(uuid);
        let needs = self.resources.iter().filter(|res| of(res));
        let needs = needs.flat_map(|res| self.needs_of(res));
        needs
            .filter(|name| self.is_foreign(Some(uuid), name))
            .collect()
    }

    /// The parent of `res`: what it says, or the stack. Snippets do not know the stack by themselves.
    pub fn parent_of<'a>(&'a self, res: &'a Res) -> Option<&'a String> {
        let has_none = res.is_provider() || res.snippet.is_some();
        if res.is_stack() || has_none && res.parent.is_none() {
            return None;
        }
        let stack = self.resources.iter().find(|other| other.is_stack());
        res.parent.as_ref().or_else(|| stack.map(|res| &res.name))
    }

    /// Everything that must be registered before `res`.
    pub fn needs_of<'a>(&'a self, res: &'a Res) -> impl Iterator<Item = &'a String> {
        res.needs().chain(self.parent_of(res))
    }

    /// The URN that a resource gets.
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

/// The type token of a type name.
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

/// The short name of a type token, or the token itself.
pub fn type_name_of(token: &str) -> &str {
    let names = [
        "Thing", "Other", "Two", "Group", "Pack", "Stack", "P.test", "P.two", "Sub", "P.sub",
    ];
    names
        .into_iter()
        .find(|name| token_of(name) == token)
        .unwrap_or(token)
}

/// The package of a type name.
pub fn package_of(type_name: &str) -> &str {
    if type_name == "Stack" {
        return "comp";
    }
    let token = token_of(type_name);
    let token = token.strip_prefix(PROVIDER_TYPE).unwrap_or(token);
    token.split(':').next().unwrap_or_default()
}

/// The URN behind `Group$Thing::a`.
pub fn urn_of_path(path: &str) -> Option<Urn> {
    let (types, name) = path.split_once("::")?;
    let tokens: Vec<&str> = types.split('$').map(token_of).collect();
    Urn::parse(&format!(
        "urn:pulumi:{STACK}::{PROJECT}::{}::{name}",
        tokens.join("$")
    ))
    .ok()
}

/// The short form of a URN: `Group$Thing::a`.
pub fn path_of_urn(urn: &Urn) -> String {
    let types: Vec<&str> = urn.qualified_type().split('$').map(type_name_of).collect();
    format!("{}::{}", types.join("$"), urn.name())
}
