//! Names and signatures of Java for the documentation.

use plumb_schema::bound::{Package, Property, Type, TypeShape, member_of};

use super::args::written_name;
use super::imports::Imports;
use super::names::{self, Owner};
use super::sdk::{Sdk, split};
use super::types::Shape;
use crate::classes::MemberKind;
use crate::vocabulary::{Direction, FunctionForms, Holder, ResourceAt, Vocabulary};
use crate::{GenerateError, Purpose};

/// Vocabulary of a package.
pub(crate) fn of<'p>(package: &'p Package<'_>) -> Result<Box<dyn Vocabulary + 'p>, GenerateError> {
    Ok(Box::new(Sdk::new(package, Purpose::Published)?))
}

impl Vocabulary for Sdk<'_, '_> {
    fn module(&self, token: &str) -> String {
        self.package_of(token)
    }

    fn resource(&self, resource: ResourceAt) -> String {
        match resource {
            ResourceAt::Provider => "Provider".to_owned(),
            ResourceAt::Position(position) => {
                names::class(member_of(&self.package.resources[position].token))
            }
        }
    }

    fn function(&self, position: usize) -> String {
        names::identifier(member_of(self.package.functions[position].token))
    }

    fn method_name(&self, name: &str) -> String {
        names::identifier(name)
    }

    fn properties(&self, properties: &[&Property<'_>], holder: Holder<'_>) -> Vec<String> {
        let owner = match holder {
            Holder::Outputs(_) => Owner::Resource,
            _ => Owner::Object,
        };
        let written = properties.iter().map(|property| written_name(property));
        let named = names::properties(written, owner).into_iter();
        named.map(|names| names.method).collect()
    }

    fn type_text(&self, ty: &Type<'_>, direction: Direction) -> String {
        let shape = match direction {
            Direction::Input => Shape::Input,
            Direction::Plain => Shape::Plain,
            Direction::Output => Shape::Output,
        };
        self.java_type(ty, shape).render(&mut Imports::of("", ""))
    }

    fn enum_members(&self, position: usize) -> Vec<Option<String>> {
        match &self.package.types[position].shape {
            TypeShape::Enum(definition) => Self::constants(definition),
            TypeShape::Object(_) => Vec::new(),
        }
    }

    fn constructors(&self, resource: ResourceAt) -> Vec<String> {
        let Some(found) = resource.of(self.package) else {
            return Vec::new();
        };
        let (class, is_provider) = match resource {
            ResourceAt::Provider => (self.provider_class(), true),
            ResourceAt::Position(_) => (self.resource_class(found), false),
        };
        let (constructors, _) = self.resource_signatures(found, &class, is_provider);
        constructors
    }

    fn lookup(&self, position: usize) -> Option<String> {
        let resource = &self.package.resources[position];
        let class = self.resource_class(resource);
        self.resource_signatures(resource, &class, false).1
    }

    fn forms(&self, position: usize) -> FunctionForms {
        if !self.has_function(position) {
            return FunctionForms::default();
        }
        let function = &self.package.functions[position];
        let class = self.functions_class(&self.package.module_of(function.token));
        let (package, class) = split(&class);
        let overloads = self.methods_of(position, &mut Imports::of(package, class));
        let mut signatures = Vec::new();
        for member in overloads {
            if let MemberKind::Method { signature, .. } = member.kind {
                signatures.push(signature);
            }
        }
        let name = self.function(position);
        // The overload with the most parameters includes those of the others.
        let longest = |method: &str| {
            let is_it = |text: &&String| {
                text.contains(&format!(" {method}(")) && text.ends_with(" options)")
            };
            let found = signatures.iter().find(is_it);
            found.map(|text| {
                text.replacen(&format!(" {method}("), &format!(" {class}.{method}("), 1)
            })
        };
        FunctionForms {
            plain: longest(&format!("{name}Plain")),
            output: longest(&name),
        }
    }

    fn method(&self, _resource: ResourceAt, _index: usize) -> Option<String> {
        // Published packages for Java have no methods.
        None
    }
}
