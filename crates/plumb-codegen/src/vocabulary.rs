//! Interface to the names and signatures of each language.
//!
//! Each SDK generator implements [`Vocabulary`] with the models that it generates SDKs from, so that the documentation
//! agrees with the SDK. Types are shown without `Input` around them, because repeating at each level that an output is
//! accepted would only distract.

use plumb_schema::Constant;
use plumb_schema::bound::{
    EnumValue, Package, Property, Resource, Type, TypeKind, TypeShape, Union, member_of,
};

use crate::{GenerateError, Language, csharp, go, java, nodejs, python};

/// A resource of a package.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ResourceAt {
    /// The provider resource.
    Provider,
    /// Position in the package's resources.
    Position(usize),
}

impl ResourceAt {
    /// The resource itself; `None` only for the provider of a package without a provider resource.
    pub fn of<'p, 'd>(self, package: &'p Package<'d>) -> Option<&'p Resource<'d>> {
        match self {
            ResourceAt::Provider => package.provider.as_ref(),
            ResourceAt::Position(position) => package.resources.get(position),
        }
    }
}

/// Direction of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Given by users, as values or outputs.
    Input,
    /// Given by users to functions that do not accept outputs.
    Plain,
    /// Read by users.
    Output,
}

/// Owner of properties.
#[derive(Clone, Copy, Debug)]
pub enum Holder<'m> {
    /// Inputs of a resource.
    Inputs(ResourceAt),
    /// Outputs of a resource.
    Outputs(ResourceAt),
    /// State for the lookup of an existing resource.
    State(usize),
    /// Arguments of the function at a position.
    Arguments(usize),
    /// Result of the function at a position.
    Result(usize),
    /// Arguments of a method.
    MethodArguments(ResourceAt, &'m str),
    /// Result of a method.
    MethodResult(ResourceAt, &'m str),
    /// The nested type at a position.
    Type(usize, Direction),
    /// Settings of the package.
    Config,
}

/// Signatures of a function's variants.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FunctionForms {
    /// Variant that takes and returns plain values.
    pub plain: Option<String>,
    /// Variant that takes and returns outputs.
    pub output: Option<String>,
}

/// Names and signatures of a package in one language.
pub trait Vocabulary: Sync {
    /// Import statement for members of a token's module.
    fn module(&self, token: &str) -> String;
    /// Class of a resource.
    fn resource(&self, resource: ResourceAt) -> String;
    /// Name of the function at a position.
    fn function(&self, position: usize) -> String;
    /// Name of a method.
    fn method_name(&self, name: &str) -> String;
    /// Names of a holder's properties, in order.
    fn properties(&self, properties: &[&Property<'_>], holder: Holder<'_>) -> Vec<String>;
    /// Text of a type whose levels are all plain.
    fn type_text(&self, ty: &Type<'_>, direction: Direction) -> String;
    /// Names of an enum's members, in order; `None` for members without one.
    fn enum_members(&self, position: usize) -> Vec<Option<String>>;
    /// Signatures of a resource's constructors.
    fn constructors(&self, resource: ResourceAt) -> Vec<String>;
    /// Signature of the lookup of an existing resource.
    fn lookup(&self, position: usize) -> Option<String>;
    /// Signatures of a function.
    fn forms(&self, position: usize) -> FunctionForms;
    /// Signature of the method at `index` of a resource.
    fn method(&self, resource: ResourceAt, index: usize) -> Option<String>;
}

/// Names and signatures of a package in a language.
///
/// # Errors
///
/// The SDK of the language cannot be generated.
pub fn of<'p>(
    package: &'p Package<'_>,
    language: Language,
) -> Result<Box<dyn Vocabulary + 'p>, GenerateError> {
    match language {
        Language::Nodejs => nodejs::vocabulary::of(package),
        Language::Python => python::vocabulary::of(package),
        Language::Go => go::vocabulary::of(package),
        Language::Dotnet => csharp::vocabulary::of(package),
        Language::Java => java::vocabulary::of(package),
        Language::Rust => Err(GenerateError::Unsupported {
            what: "documentation for Rust",
        }),
    }
}

/// The type with `Input` removed at all levels.
pub fn without_inputs<'d>(ty: &Type<'d>) -> Type<'d> {
    let kind = match &ty.kind {
        TypeKind::Array(element) => TypeKind::Array(Box::new(without_inputs(element))),
        TypeKind::Map(element) => TypeKind::Map(Box::new(without_inputs(element))),
        TypeKind::Union(union) => TypeKind::Union(Box::new(Union {
            elements: union.elements.iter().map(without_inputs).collect(),
            default: union.default,
            discriminator: union.discriminator.clone(),
        })),
        other => other.clone(),
    };
    Type { kind, plain: true }
}

/// Text from which the name of an enum member is derived: its name, or else its value.
pub fn written_member<'v>(value: &'v EnumValue<'_>) -> std::borrow::Cow<'v, str> {
    match (value.name.filter(|name| !name.is_empty()), &value.value) {
        (Some(name), _) => name.into(),
        (None, Constant::String(text)) => text.as_str().into(),
        (None, Constant::Number(number)) => number.to_string().into(),
        (None, Constant::Bool(flag)) => flag.to_string().into(),
    }
}

/// Maximum width of a signature on one line.
const WIDTH: usize = 72;

/// The signature, with one line per parameter if it is too long.
pub fn wrapped(signature: &str) -> String {
    if signature.chars().count() <= WIDTH {
        return signature.to_owned();
    }
    let Some((open, close)) = longest_group(signature) else {
        return signature.to_owned();
    };
    let mut text = format!("{}(\n", &signature[..open]);
    for parameter in top_level(&signature[open + 1..close]) {
        text.push_str("    ");
        text.push_str(parameter.trim());
        text.push_str(",\n");
    }
    // Not all languages accept a trailing comma.
    text.truncate(text.len() - 2);
    text.push('\n');
    text.push_str(&signature[close..]);
    text
}

/// Range of the longest top-level group in parentheses.
fn longest_group(text: &str) -> Option<(usize, usize)> {
    let (mut depth, mut start) = (0_usize, 0);
    let mut longest: Option<(usize, usize)> = None;
    for (at, char) in text.char_indices() {
        match char {
            '(' => {
                if depth == 0 {
                    start = at;
                }
                depth += 1;
            }
            ')' => {
                depth = depth.saturating_sub(1);
                if depth == 0 && longest.is_none_or(|(open, close)| at - start > close - open) {
                    longest = Some((start, at));
                }
            }
            _ => {}
        }
    }
    longest.filter(|(open, close)| close - open > 1)
}

/// Parts between the commas outside of any brackets.
fn top_level(text: &str) -> Vec<&str> {
    let (mut depth, mut start) = (0_i32, 0);
    let mut parts = Vec::new();
    for (at, char) in text.char_indices() {
        match char {
            '(' | '[' | '{' | '<' => depth += 1,
            ')' | ']' | '}' | '>' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

/// Names of an enum's members. `class` returns the class name of a token; `member` names a member of that class.
pub(crate) fn enum_members(
    package: &Package<'_>,
    position: usize,
    class: impl Fn(&str) -> String,
    member: impl Fn(&str, &str) -> Option<String>,
) -> Vec<Option<String>> {
    let definition = &package.types[position];
    let TypeShape::Enum(values) = &definition.shape else {
        return Vec::new();
    };
    let name = class(member_of(definition.token));
    let values = values.values.iter();
    values
        .map(|value| member(&written_member(value), &name))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_signatures_have_a_line_for_each_parameter() {
        assert_eq!(wrapped("f(a: string): void"), "f(a: string): void");
        assert_eq!(
            wrapped(
                "func (r *Box) Open(ctx *pulumi.Context, args map[string]interface{}, more Pair<A, B>) (*Result, error)"
            ),
            "func (r *Box) Open(\n    ctx *pulumi.Context,\n    args map[string]interface{},\n    more Pair<A, B>\n) (*Result, error)"
        );
        let long = "x".repeat(100);
        assert_eq!(wrapped(&long), long);
    }
}
