//! What each language calls the things of a package.
//!
//! The generators of SDKs know it already: each of them implements [`Vocabulary`] by the same models that its SDKs are made
//! of, so that what is documented is what there is. Types are shown without the marks of inputs around them: whoever reads
//! about a value need not be told at each level that an output may stand in its place.

use plumb_schema::Constant;
use plumb_schema::bound::{
    EnumValue, Package, Property, Resource, Type, TypeKind, TypeShape, Union, member_of,
};

/// A resource of a package.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ResourceAt {
    /// The provider resource.
    Provider,
    /// By its position.
    Position(usize),
}

impl ResourceAt {
    /// The resource itself. Only packages with a provider resource are asked for it.
    pub(crate) fn of<'p, 'd>(self, package: &'p Package<'d>) -> Option<&'p Resource<'d>> {
        match self {
            ResourceAt::Provider => package.provider.as_ref(),
            ResourceAt::Position(position) => package.resources.get(position),
        }
    }
}

/// Which way values go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    /// Users give them, and may give outputs in their place.
    Input,
    /// Users give them to functions that take no outputs.
    Plain,
    /// Users get them.
    Output,
}

/// What properties belong to.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Holder<'m> {
    /// Inputs of a resource.
    Inputs(ResourceAt),
    /// Outputs of a resource.
    Outputs(ResourceAt),
    /// What helps to find an existing resource.
    State(usize),
    /// Arguments of a function, by its position.
    Arguments(usize),
    /// Its result.
    Result(usize),
    /// Arguments of a method.
    MethodArguments(ResourceAt, &'m str),
    /// Its result.
    MethodResult(ResourceAt, &'m str),
    /// A nested type, by its position.
    Type(usize, Direction),
    /// Settings of the package.
    Config,
}

/// The variants of a function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FunctionForms {
    /// The one that takes and gives values.
    pub(crate) plain: Option<String>,
    /// The one that takes and gives outputs.
    pub(crate) output: Option<String>,
}

/// What one language calls the things of a package.
pub(crate) trait Vocabulary: Sync {
    /// What programs import for members of the module of a token.
    fn module(&self, token: &str) -> String;
    /// The class of a resource.
    fn resource(&self, resource: ResourceAt) -> String;
    /// A function, by its position.
    fn function(&self, position: usize) -> String;
    /// A method of a resource.
    fn method_name(&self, name: &str) -> String;
    /// Properties of one holder, in order.
    fn properties(&self, properties: &[&Property<'_>], holder: Holder<'_>) -> Vec<String>;
    /// A type of which all levels are plain.
    fn type_text(&self, ty: &Type<'_>, direction: Direction) -> String;
    /// The members of an enum, in order, as far as they have names.
    fn enum_members(&self, position: usize) -> Vec<Option<String>>;
    /// How a resource is made.
    fn constructors(&self, resource: ResourceAt) -> Vec<String>;
    /// How an existing resource is found.
    fn lookup(&self, position: usize) -> Option<String>;
    /// How a function is called.
    fn forms(&self, position: usize) -> FunctionForms;
    /// How the method at `index` of a resource is called.
    fn method(&self, resource: ResourceAt, index: usize) -> Option<String>;
}

/// The type with no level of it an input.
pub(crate) fn without_inputs<'d>(ty: &Type<'d>) -> Type<'d> {
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

/// What the name of an enum's member is made of.
pub(crate) fn written_member<'v>(value: &'v EnumValue<'_>) -> std::borrow::Cow<'v, str> {
    match (value.name.filter(|name| !name.is_empty()), &value.value) {
        (Some(name), _) => name.into(),
        (None, Constant::String(text)) => text.as_str().into(),
        (None, Constant::Number(number)) => number.to_string().into(),
        (None, Constant::Bool(flag)) => flag.to_string().into(),
    }
}

/// How wide a signature may be before its parameters get a line each.
const WIDTH: usize = 72;

/// A signature, with a line for each parameter if it is long.
pub(crate) fn wrapped(signature: &str) -> String {
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
    // Only some languages accept a comma behind the last one.
    text.truncate(text.len() - 2);
    text.push('\n');
    text.push_str(&signature[close..]);
    text
}

/// The longest part in parentheses that stands in no other one.
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

/// The parts between commas that stand in no brackets.
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

/// What a language calls the values of an enum: `member` names them, and is told the name of the class.
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
