//! Lowered expressions, with explicit waits for outputs and explicit conversions. Only their spelling depends on the
//! language.

use std::sync::Arc;

use ecow::EcoString;
use plumb_pcl::{BinaryOperator, PackageFunction, UnaryOperator};
use plumb_schema::{EnumValue, PackageSchema};

/// A lowered expression.
#[derive(Clone, Debug)]
pub(crate) enum Tree {
    Null,
    Bool(bool),
    Number(f64),
    Text(EcoString),
    /// A template with plain parts.
    Template(Vec<Tree>),
    /// A template with outputs, and the types of its parts.
    Interpolation(Vec<Tree>, Parts),
    List(Vec<Tree>),
    /// An object with literal keys.
    Map(Vec<(Tree, Tree)>),
    /// An object of a package type.
    Object(Box<Object>),
    /// A member of an enum.
    Member {
        package: Arc<PackageSchema>,
        token: EcoString,
        value: Box<EnumValue>,
    },
    /// Reference to a definition, by index.
    Definition(usize),
    /// A variable of a loop or a callback.
    Variable(EcoString),
    /// Key of the current element of a range.
    RangeKey,
    /// Current element of a range.
    RangeValue,
    /// Property of a resource, an object or a result, by its name in the schema.
    Property(Box<Tree>, EcoString, Presence),
    /// Value of a literal key.
    Key(Box<Tree>, EcoString, Presence),
    Index(Box<Tree>, Box<Tree>, Presence),
    For(Box<Loop>),
    Conditional(Box<[Tree; 3]>),
    Unary(UnaryOperator, Box<Tree>),
    Binary(BinaryOperator, Box<[Tree; 2]>),
    Call(Function, Vec<Tree>),
    Invoke(Box<InvokeTree>),
    /// The component whose constructor contains the expression.
    OwnComponent,
    Method(Box<MethodTree>),
    /// Value of `body` after the parameters, which are outputs, are resolved.
    Apply(Vec<(EcoString, Tree)>, Box<Tree>),
    /// Conversion of a value to an output, including outputs inside the value.
    AsOutput(Box<Tree>),
    Convert(Conversion, Box<Tree>),
    /// A value that may be missing by its type, where the program needs one. TypeScript alone has a form for that.
    Present(Box<Tree>),
}

impl Tree {
    /// The values of a literal map as a list; anything else as it is.
    pub(crate) fn values_as_list(self) -> Self {
        match self {
            Tree::Map(entries) => Tree::List(entries.into_iter().map(|(_, value)| value).collect()),
            tree => tree,
        }
    }
}

/// Resources that an option names.
#[derive(Clone, Debug)]
pub(crate) enum Resources {
    /// A list, or one resource.
    Plain(Tree),
    /// The resources of several groups, in order.
    Mixed(Vec<Group>),
}

/// Part of a list of resources.
#[derive(Clone, Debug)]
pub(crate) enum Group {
    One(Tree),
    /// A list.
    Several(Tree),
}

/// Whether the receiver of a step may be missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Presence {
    Certain,
    Optional,
}

/// Types of the parts of a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Parts {
    Texts,
    /// Also numbers, and optional strings.
    Mixed,
}

/// Conversions that need code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Conversion {
    BoolToText,
    NumberToText,
    NumberToInt,
    TextToBool,
    TextToInt,
    TextToNumber,
}

#[derive(Clone, Debug)]
pub(crate) struct Object {
    pub(crate) package: Arc<PackageSchema>,
    pub(crate) token: EcoString,
    pub(crate) fields: Vec<(EcoString, Tree)>,
    /// Whether the property accepts other types of objects, too.
    pub(crate) is_variant: bool,
    /// Whether the object is inside a callback, where type inference is weaker.
    pub(crate) is_in_callback: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Loop {
    pub(crate) key: Option<EcoString>,
    pub(crate) value: EcoString,
    pub(crate) collection: Tree,
    pub(crate) collected: Collected,
    /// Whether TypeScript knows no type of the elements.
    pub(crate) is_untyped: bool,
    pub(crate) result_key: Option<Tree>,
    pub(crate) result: Tree,
    pub(crate) condition: Option<Tree>,
}

/// Kind of a collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Collected {
    List,
    Map,
    /// A list or a map, which shows when the program runs.
    Unknown,
}

impl Loop {
    /// Whether the collection is known to be a map.
    pub(crate) fn is_map(&self) -> bool {
        self.collected == Collected::Map
    }

    /// Whether the result is the list of all values of a map.
    pub(crate) fn is_all_values(&self) -> bool {
        let is_value = matches!(&self.result, Tree::Variable(name) if *name == self.value);
        self.is_map() && is_value && self.result_key.is_none() && self.condition.is_none()
    }
}

#[derive(Clone, Debug)]
pub(crate) struct InvokeTree {
    pub(crate) package: Option<Arc<PackageSchema>>,
    pub(crate) token: EcoString,
    pub(crate) args: Vec<(EcoString, Tree)>,
    /// Names of the parameters, if the function has them by position.
    pub(crate) positional: Vec<EcoString>,
    /// Whether the function has parameters.
    pub(crate) has_inputs: bool,
    pub(crate) is_output: bool,
    pub(crate) provider: Option<Tree>,
    pub(crate) parent: Option<Tree>,
    pub(crate) depends_on: Option<Resources>,
    pub(crate) version: EcoString,
    pub(crate) download_url: EcoString,
}

#[derive(Clone, Debug)]
pub(crate) struct MethodTree {
    pub(crate) receiver: Tree,
    /// Function in the schema, if the package has it.
    pub(crate) function: Option<PackageFunction>,
    pub(crate) method: EcoString,
    pub(crate) args: Vec<(EcoString, Tree)>,
}

/// Functions of the language, for emitters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Function {
    Join,
    Split,
    /// JSON of a value; the flag says whether it contains outputs.
    ToJson {
        has_outputs: bool,
    },
    ToBase64,
    FromBase64,
    Secret,
    Unsecret,
    ReadFile,
    FileBase64,
    FileBase64Sha256,
    Sha1,
    LengthOfText,
    Length,
    LengthOfMap,
    SingleOrNone,
    StringAsset,
    FileAsset,
    RemoteAsset,
    FileArchive,
    RemoteArchive,
    AssetArchive,
    ResourceName,
    ResourceType,
    Element,
    EntriesOfList,
    EntriesOfMap,
    Lookup,
    /// Lookup in an object type with known members.
    LookupInObject,
    Range,
    Max,
    Min,
    Project,
    Stack,
    Organization,
    Cwd,
    RootDirectory,
    Try,
    Can,
    NotImplemented,
    GetOutput,
    Recover,
}
