//! Lowered expressions: every wait for an output is explicit, every conversion is decided, and what is left is spelling.

use std::sync::Arc;

use ecow::EcoString;
use plumb_pcl::{BinaryOperator, UnaryOperator};
use plumb_schema::{EnumValue, PackageSchema};

/// A lowered expression.
#[derive(Clone, Debug)]
pub(crate) enum Tree {
    Null,
    Bool(bool),
    Number(f64),
    Text(EcoString),
    /// A text of parts that are there.
    Template(Vec<Tree>),
    /// A text of parts of which some are outputs, and whether all parts are texts.
    Interpolation(Vec<Tree>, Parts),
    List(Vec<Tree>),
    /// An object whose keys are written as they are.
    Map(Vec<(Tree, Tree)>),
    /// An object of a type of a package.
    Object(Box<Object>),
    /// A member of an enum.
    Member {
        package: Arc<PackageSchema>,
        token: EcoString,
        value: Box<EnumValue>,
    },
    /// Something that the program defines.
    Definition(usize),
    /// A variable of a loop or a callback.
    Variable(EcoString),
    /// The key of the present element of a range.
    RangeKey,
    /// The present element of a range.
    RangeValue,
    /// A property of a resource, an object or a result, by its name in the schema.
    Property(Box<Tree>, EcoString, Presence),
    /// The value of a key that is written as it is.
    Key(Box<Tree>, EcoString, Presence),
    Index(Box<Tree>, Box<Tree>, Presence),
    For(Box<Loop>),
    Conditional(Box<[Tree; 3]>),
    Unary(UnaryOperator, Box<Tree>),
    Binary(BinaryOperator, Box<[Tree; 2]>),
    Call(Function, Vec<Tree>),
    Invoke(Box<InvokeTree>),
    Method(Box<MethodTree>),
    /// The value of `body` once all parameters are there.
    Apply(Vec<(EcoString, Tree)>, Box<Tree>),
    /// A value as an output, with outputs within it resolved.
    AsOutput(Box<Tree>),
    Convert(Conversion, Box<Tree>),
}

/// Whether what a step is taken from may be missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Presence {
    Certain,
    Optional,
}

/// What a text is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Parts {
    Texts,
    /// Numbers, and texts that may be missing, too.
    Mixed,
}

/// Conversions that are written out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Conversion {
    BoolToText,
    NumberToText,
    TextToBool,
    TextToInt,
    TextToNumber,
}

#[derive(Clone, Debug)]
pub(crate) struct Object {
    pub(crate) package: Arc<PackageSchema>,
    pub(crate) token: EcoString,
    pub(crate) fields: Vec<(EcoString, Tree)>,
    /// Whether it stands in a callback, where languages infer types less well.
    pub(crate) is_in_callback: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Loop {
    pub(crate) key: Option<EcoString>,
    pub(crate) value: EcoString,
    pub(crate) collection: Tree,
    pub(crate) is_map: bool,
    pub(crate) result_key: Option<Tree>,
    pub(crate) result: Tree,
    pub(crate) condition: Option<Tree>,
}

#[derive(Clone, Debug)]
pub(crate) struct InvokeTree {
    pub(crate) package: Option<Arc<PackageSchema>>,
    pub(crate) token: EcoString,
    pub(crate) args: Vec<(EcoString, Tree)>,
    /// Parameters by position, where the function has them.
    pub(crate) is_positional: bool,
    /// Whether the function has parameters at all.
    pub(crate) has_inputs: bool,
    pub(crate) is_output: bool,
    pub(crate) provider: Option<Tree>,
    pub(crate) parent: Option<Tree>,
    pub(crate) depends_on: Option<Tree>,
    pub(crate) version: EcoString,
    pub(crate) download_url: EcoString,
}

#[derive(Clone, Debug)]
pub(crate) struct MethodTree {
    pub(crate) receiver: Tree,
    pub(crate) method: EcoString,
    pub(crate) args: Vec<(EcoString, Tree)>,
}

/// Functions of the language, as emitters know them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Function {
    Join,
    Split,
    /// JSON of a value; the flag tells whether there are outputs in it.
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
    /// A lookup in an object whose members are known.
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
