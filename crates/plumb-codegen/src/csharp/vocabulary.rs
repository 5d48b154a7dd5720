//! Names and signatures of C# for the documentation.

use plumb_schema::bound::{Package, Property, Type, TypeShape, member_of};

use super::args::written_name;
use super::names;
use super::results::members;
use super::sdk::{Sdk, Shape};
use super::types::Given;
use crate::classes::{Member, MemberKind};
use crate::vocabulary::{Direction, FunctionForms, Holder, ResourceAt, Vocabulary};
use crate::{GenerateError, Purpose};

/// Vocabulary of a package.
pub(crate) fn of<'p>(package: &'p Package<'_>) -> Result<Box<dyn Vocabulary + 'p>, GenerateError> {
    Ok(Box::new(Sdk::new(package, Purpose::Published)?))
}

impl Sdk<'_, '_> {
    /// Name of the class with the properties of a holder.
    fn class_of(&self, holder: Holder<'_>) -> String {
        match holder {
            Holder::Inputs(resource) => format!("{}Args", self.resource(resource)),
            Holder::Outputs(resource) => self.resource(resource),
            Holder::State(position) => {
                format!("{}State", self.resource(ResourceAt::Position(position)))
            }
            Holder::Arguments(position) => format!("{}Args", self.function(position)),
            Holder::Result(position) => format!("{}Result", self.function(position)),
            Holder::MethodArguments(resource, method) => {
                format!("{}{}Args", self.resource(resource), names::title(method))
            }
            Holder::MethodResult(resource, method) => {
                format!("{}{}Result", self.resource(resource), names::title(method))
            }
            Holder::Type(position, direction) => self.own_class(position, shape_of(direction)).1,
            Holder::Config => "Config".to_owned(),
        }
    }
}

fn shape_of(direction: Direction) -> Shape {
    match direction {
        Direction::Input => Shape::Input,
        Direction::Plain => Shape::Plain,
        Direction::Output => Shape::Output,
    }
}

impl Vocabulary for Sdk<'_, '_> {
    fn module(&self, token: &str) -> String {
        self.namespace_of(token)
    }

    fn resource(&self, resource: ResourceAt) -> String {
        match resource {
            ResourceAt::Provider => "Provider".to_owned(),
            ResourceAt::Position(position) => {
                Self::resource_name(&self.package.resources[position])
            }
        }
    }

    fn function(&self, position: usize) -> String {
        Self::function_name(self.package.functions[position].token)
    }

    fn method_name(&self, name: &str) -> String {
        names::title(name)
    }

    fn properties(&self, properties: &[&Property<'_>], holder: Holder<'_>) -> Vec<String> {
        let written = properties.iter().map(|property| written_name(property));
        names::properties(written, &self.class_of(holder))
    }

    fn type_text(&self, ty: &Type<'_>, direction: Direction) -> String {
        let shape = shape_of(direction);
        let text = match direction {
            Direction::Output => self.value_type(ty, shape),
            Direction::Input | Direction::Plain => match self.given(ty, shape) {
                Given::Value(text) | Given::Input(text) | Given::Collection { ty: text, .. } => {
                    text
                }
            },
        };
        readable(&text)
    }

    fn enum_members(&self, position: usize) -> Vec<Option<String>> {
        let definition = &self.package.types[position];
        match &definition.shape {
            TypeShape::Enum(values) => members(values, &names::title(member_of(definition.token))),
            TypeShape::Object(_) => Vec::new(),
        }
    }

    fn constructors(&self, resource: ResourceAt) -> Vec<String> {
        let Some(found) = resource.of(self.package) else {
            return Vec::new();
        };
        let is_provider = resource == ResourceAt::Provider;
        let signatures = self.resource_signatures(found, self.resource(resource), is_provider);
        let constructor = signatures.into_iter().take(1);
        constructor
            .map(|text| {
                let own = text
                    .split_once(" : base(")
                    .map_or(text.as_str(), |(own, _)| own);
                readable(own)
            })
            .collect()
    }

    fn lookup(&self, position: usize) -> Option<String> {
        let name = self.resource(ResourceAt::Position(position));
        let resource = &self.package.resources[position];
        let signatures = self.resource_signatures(resource, name, false);
        signatures.get(1).map(|text| readable(text))
    }

    fn forms(&self, position: usize) -> FunctionForms {
        let class = self.function(position);
        let [plain, output] = self.function_variants(&self.package.functions[position]);
        // Both variants are methods of a class with the function's name.
        let qualified = |member: Member| {
            let text = signature(member)?;
            let text = text.replacen(" InvokeAsync(", &format!(" {class}.InvokeAsync("), 1);
            Some(text.replacen(" Invoke(", &format!(" {class}.Invoke("), 1))
        };
        FunctionForms {
            plain: plain.and_then(qualified),
            output: output.and_then(qualified),
        }
    }

    fn method(&self, resource: ResourceAt, index: usize) -> Option<String> {
        let class = self.resource(resource);
        let method = resource.of(self.package)?.methods.get(index)?;
        signature(Sdk::method(self, &class, method)?)
    }
}

fn signature(member: Member) -> Option<String> {
    match member.kind {
        MemberKind::Method { signature, .. } => Some(readable(&signature)),
        _ => None,
    }
}

/// The text with each `global::` name reduced to its class.
fn readable(text: &str) -> String {
    let mut parts = text.split("global::");
    let mut result = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let is_path = |char: char| char.is_alphanumeric() || matches!(char, '.' | '_' | '@');
        let end = part.find(|char| !is_path(char)).unwrap_or(part.len());
        let (path, rest) = part.split_at(end);
        result.push_str(path.rsplit('.').next().unwrap_or(path));
        result.push_str(rest);
    }
    result
}

#[cfg(test)]
mod tests {
    use super::readable;

    #[test]
    fn classes_go_by_their_own_names() {
        assert_eq!(
            readable("global::Pulumi.Output<global::A.B.C_d>? F(string name, global::X y)"),
            "Output<C_d>? F(string name, X y)"
        );
    }
}
