//! Functions of the language (`codegen.md` 10.5).

use plumb_eval::builtins::Function;

use crate::types::{Field, Type};

/// Function of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Callee {
    /// A function that depends only on its arguments.
    Compute(&'static str, Function),
    /// Element of a list.
    Element,
    /// Keys and values of a collection.
    Entries,
    /// Value of a key.
    Lookup,
    /// Consecutive numbers.
    Range,
    /// Largest number.
    Max,
    /// Smallest number.
    Min,
    /// Name of the project.
    Project,
    /// Name of the stack.
    Stack,
    /// Name of the organization.
    Organization,
    /// Folder of the program.
    Cwd,
    /// Folder of the project.
    RootDirectory,
    /// The first argument that can be evaluated.
    Try,
    /// Whether the argument can be evaluated.
    Can,
    /// Failure with a message.
    NotImplemented,
    /// An output of another stack.
    GetOutput,
    /// Value of the second argument if the first one fails.
    Recover,
}

/// Allowed numbers of arguments.
pub(crate) struct Arity {
    pub(crate) least: usize,
    pub(crate) most: usize,
}

const COMPUTED: [(&str, Function, usize); 21] = [
    ("join", Function::Join, 2),
    ("split", Function::Split, 2),
    ("toJSON", Function::ToJson, 1),
    ("toBase64", Function::ToBase64, 1),
    ("fromBase64", Function::FromBase64, 1),
    ("secret", Function::Secret, 1),
    ("unsecret", Function::Unsecret, 1),
    ("readFile", Function::ReadFile, 1),
    ("filebase64", Function::FileBase64, 1),
    ("filebase64sha256", Function::FileBase64Sha256, 1),
    ("sha1", Function::Sha1, 1),
    ("length", Function::Length, 1),
    ("singleOrNone", Function::SingleOrNone, 1),
    ("stringAsset", Function::StringAsset, 1),
    ("fileAsset", Function::FileAsset, 1),
    ("remoteAsset", Function::RemoteAsset, 1),
    ("fileArchive", Function::FileArchive, 1),
    ("remoteArchive", Function::RemoteArchive, 1),
    ("assetArchive", Function::AssetArchive, 1),
    ("pulumiResourceName", Function::ResourceName, 1),
    ("pulumiResourceType", Function::ResourceType, 1),
];

const OTHERS: [(&str, Callee, usize, usize); 16] = [
    ("element", Callee::Element, 2, 2),
    ("entries", Callee::Entries, 1, 1),
    ("lookup", Callee::Lookup, 2, 3),
    ("range", Callee::Range, 1, 2),
    ("max", Callee::Max, 1, usize::MAX),
    ("min", Callee::Min, 1, usize::MAX),
    ("project", Callee::Project, 0, 0),
    ("stack", Callee::Stack, 0, 0),
    ("organization", Callee::Organization, 0, 0),
    ("cwd", Callee::Cwd, 0, 0),
    ("rootDirectory", Callee::RootDirectory, 0, 0),
    ("try", Callee::Try, 1, usize::MAX),
    ("can", Callee::Can, 1, 1),
    ("notImplemented", Callee::NotImplemented, 1, 1),
    ("getOutput", Callee::GetOutput, 2, 2),
    ("recover", Callee::Recover, 2, 2),
];

/// Result of looking up a function.
pub(crate) enum Found {
    Callee(Callee, Arity),
    Nothing,
}

/// Looks up the function called `name`.
pub(crate) fn find(name: &str) -> Found {
    if let Some((name, function, count)) = COMPUTED.iter().find(|(known, ..)| *known == name) {
        let arity = Arity {
            least: *count,
            most: *count,
        };
        return Found::Callee(Callee::Compute(name, *function), arity);
    }
    match OTHERS.iter().find(|(known, ..)| *known == name) {
        Some((_, callee, least, most)) => Found::Callee(
            *callee,
            Arity {
                least: *least,
                most: *most,
            },
        ),
        None => Found::Nothing,
    }
}

/// Names of all functions, for suggestions.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    let computed = COMPUTED.iter().map(|(name, ..)| *name);
    computed
        .chain(OTHERS.iter().map(|(name, ..)| *name))
        .chain(["invoke", "call"])
}

impl Callee {
    /// Type of the result, for arguments of the given types.
    pub(crate) fn result(self, args: &[Type]) -> Type {
        let first = args.first().cloned().unwrap_or(Type::Dynamic);
        match self {
            Callee::Compute(_, function) => computed(function, first),
            Callee::Element => first.element(),
            Callee::Entries => Type::List(Box::new(entry(&first))),
            Callee::Lookup => first.element(),
            Callee::Try => same(args),
            Callee::NotImplemented | Callee::GetOutput => Type::Dynamic,
            Callee::Recover => first,
            Callee::Range => Type::List(Box::new(Type::Int)),
            Callee::Max | Callee::Min if args.iter().all(|ty| *ty == Type::Int) => Type::Int,
            Callee::Max | Callee::Min => Type::Number,
            Callee::Project
            | Callee::Stack
            | Callee::Organization
            | Callee::Cwd
            | Callee::RootDirectory => Type::String,
            Callee::Can => Type::Bool,
        }
    }
}

/// Element type of the result of `entries` for a collection.
fn entry(collection: &Type) -> Type {
    let key = match collection.expand() {
        Type::List(_) | Type::Tuple(_) => Type::Int,
        _ => Type::String,
    };
    let field = |name: &str, ty| Field {
        name: name.into(),
        ty,
        required: true,
    };
    Type::Object(vec![
        field("key", key),
        field("value", collection.element()),
    ])
}

/// Common type of all arguments; dynamic if they differ.
fn same(types: &[Type]) -> Type {
    match types {
        [first, rest @ ..] if rest.iter().all(|ty| ty == first) => first.clone(),
        _ => Type::Dynamic,
    }
}

fn computed(function: Function, argument: Type) -> Type {
    match function {
        Function::Split => Type::List(Box::new(Type::String)),
        Function::Secret | Function::Unsecret => argument,
        Function::Select => Type::Dynamic,
        Function::SingleOrNone => Type::Union(vec![argument.element(), Type::None]),
        Function::Length => Type::Int,
        Function::StringAsset | Function::FileAsset | Function::RemoteAsset => Type::Asset,
        Function::FileArchive | Function::RemoteArchive | Function::AssetArchive => Type::Archive,
        Function::Join
        | Function::ToJson
        | Function::ToBase64
        | Function::FromBase64
        | Function::ReadFile
        | Function::FileBase64
        | Function::FileBase64Sha256
        | Function::Sha1
        | Function::ResourceName
        | Function::ResourceType => Type::String,
    }
}
