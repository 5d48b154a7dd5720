//! Bound expressions: names and functions are resolved, and every expression has a type.

use std::sync::Arc;

use ecow::EcoString;
use plumb_eval::source::Span;
use plumb_schema::{Function, PackageSchema};

use crate::functions::Callee;
use crate::types::Type;

/// An expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Its type; of a value that is known later only, the type that it will have.
    pub ty: Type,
    /// Where it stands.
    pub span: Span,
}

/// Kinds of expressions.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// `null`
    Null,
    /// `true`
    Bool(bool),
    /// `1.5`
    Number(f64),
    /// `"text"`
    String(EcoString),
    /// `"a${b}c"`: the parts, to be joined.
    Template(Vec<Expr>),
    /// `[a, b]`
    List(Vec<Expr>),
    /// `{ a = b }`
    Object(Vec<(Expr, Expr)>),
    /// In a snippet, a resource that it refers to; in a program, one of its definitions: by its position among them.
    Reference(usize),
    /// A variable of a surrounding `for`, the `range` of the resource, or the `error` of a `recover`; where missing names are
    /// accepted, a name that nothing defines.
    Variable(EcoString),
    /// `a.b[c]`
    Access(Box<Expr>, Vec<Step>),
    /// `a[*].b`: the steps for every element.
    Splat(Box<Expr>, Vec<Step>),
    /// `[for a in b: c]`
    For(Box<For>),
    /// `a ? b : c`
    Conditional(Box<[Expr; 3]>),
    /// `!a`
    Unary(UnaryOperator, Box<Expr>),
    /// `a + b`
    Binary(BinaryOperator, Box<[Expr; 2]>),
    /// A function of the language.
    Call(Callee, Vec<Expr>),
    /// A function of a provider.
    Invoke(Box<Invoke>),
    /// A method of a resource.
    Method(Box<MethodCall>),
}

/// A function and the package that has it.
#[derive(Clone, Debug)]
pub struct PackageFunction {
    /// The package.
    pub package: Arc<PackageSchema>,
    /// The function.
    pub schema: Arc<Function>,
}

/// `call(resource, "method", arguments)`
#[derive(Clone, Debug)]
pub struct MethodCall {
    /// The resource.
    pub receiver: Expr,
    /// Name of the method.
    pub method: EcoString,
    /// Arguments, an object.
    pub args: Option<Expr>,
    /// The schema of the method, if its package has one.
    pub function: Option<PackageFunction>,
}

/// A step into a value.
#[derive(Clone, Debug)]
pub enum Step {
    /// `.name`, or `["name"]`
    Name(EcoString),
    /// `[index]`, by anything.
    Index(Expr),
}

/// `[for key, value in collection: result if condition]`, or the same in braces.
#[derive(Clone, Debug)]
pub struct For {
    /// Name of the key or index.
    pub key: Option<EcoString>,
    /// Name of the value.
    pub value: EcoString,
    /// What is gone through.
    pub collection: Expr,
    /// In braces: the key of each result.
    pub result_key: Option<Expr>,
    /// Each result.
    pub result: Expr,
    /// Whether there is a result.
    pub condition: Option<Expr>,
}

/// `invoke("token", arguments, options)`
#[derive(Clone, Debug)]
pub struct Invoke {
    /// Full token of the function.
    pub token: EcoString,
    /// The schema of the function, if its package has one.
    pub function: Option<PackageFunction>,
    /// Whether it returns a value other than an object.
    pub returns_value: bool,
    /// Arguments.
    pub args: Option<Expr>,
    /// provider option.
    pub provider: Option<Expr>,
    /// parent option.
    pub parent: Option<Expr>,
    /// dependsOn option.
    pub depends_on: Option<Expr>,
    /// version option.
    pub version: EcoString,
    /// pluginDownloadUrl option.
    pub download_url: EcoString,
}

/// Operators with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOperator {
    /// `-`
    Negate,
    /// `!`
    Not,
}

/// Operators with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryOperator {
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `&&`
    And,
    /// `||`
    Or,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
    /// `%`
    Modulo,
}
