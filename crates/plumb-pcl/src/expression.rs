//! Bound expressions, with resolved names and functions, and a type for every expression.

use std::sync::Arc;

use ecow::EcoString;
use plumb_eval::source::Span;
use plumb_schema::{Function, PackageSchema};

use crate::functions::Callee;
use crate::types::Type;

/// An expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// Kind of expression.
    pub kind: ExprKind,
    /// Type of the value; for outputs, the type after they are resolved.
    pub ty: Type,
    /// Position in the source.
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
    /// `"a${b}c"`, as parts to be joined.
    Template(Vec<Expr>),
    /// `[a, b]`
    List(Vec<Expr>),
    /// `{ a = b }`
    Object(Vec<(Expr, Expr)>),
    /// Reference by index: in a snippet to one of its references, in a program to one of its definitions.
    Reference(usize),
    /// A variable of an enclosing `for`, the `range` of the resource, or the `error` of a `recover`; an undefined name
    /// if missing variables are accepted.
    Variable(EcoString),
    /// `a.b[c]`
    Access(Box<Expr>, Vec<Step>),
    /// `a[*].b`: steps applied to every element.
    Splat(Box<Expr>, Vec<Step>),
    /// `[for a in b: c]`
    For(Box<For>),
    /// `a ? b : c`
    Conditional(Box<[Expr; 3]>),
    /// `!a`
    Unary(UnaryOperator, Box<Expr>),
    /// `a + b`
    Binary(BinaryOperator, Box<[Expr; 2]>),
    /// A call of a function of the language.
    Call(Callee, Vec<Expr>),
    /// A call of a provider function.
    Invoke(Box<Invoke>),
    /// A call of a method.
    Method(Box<MethodCall>),
}

/// A function and its package.
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
    /// Function in the schema, if the package has it.
    pub function: Option<PackageFunction>,
}

/// A step into a value.
#[derive(Clone, Debug)]
pub enum Step {
    /// `.name`, or `["name"]`
    Name(EcoString),
    /// `[index]`, with any expression.
    Index(Expr),
}

/// `[for key, value in collection: result if condition]`, or the same in braces.
#[derive(Clone, Debug)]
pub struct For {
    /// Name of the variable for the key or index.
    pub key: Option<EcoString>,
    /// Name of the variable for the value.
    pub value: EcoString,
    /// Collection to iterate over.
    pub collection: Expr,
    /// Key of each result, in the form with braces.
    pub result_key: Option<Expr>,
    /// Expression for each result.
    pub result: Expr,
    /// Condition for including an element.
    pub condition: Option<Expr>,
}

/// `invoke("token", arguments, options)`
#[derive(Clone, Debug)]
pub struct Invoke {
    /// Full token of the function.
    pub token: EcoString,
    /// Function in the schema, if the package has it.
    pub function: Option<PackageFunction>,
    /// Whether the function returns a value other than an object.
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
