//! Names and signatures of Go for the documentation.

use plumb_schema::bound::{Package, Property, Type, TypeShape};
use rustc_hash::FxHashSet;

use super::forms::Declarations;
use super::names;
use super::resource::{constructor_signature, lookup_signature};
use super::sdk::Sdk;
use crate::vocabulary::{Direction, FunctionForms, Holder, ResourceAt, Vocabulary, written_member};
use crate::{GenerateError, Purpose};

/// Vocabulary of a package.
pub(crate) fn of<'p>(package: &'p Package<'_>) -> Result<Box<dyn Vocabulary + 'p>, GenerateError> {
    Ok(Box::new(Sdk::new(package, Purpose::Published)?))
}

impl Sdk<'_, '_> {
    /// Name of the struct with the properties of a holder.
    fn struct_of(&self, holder: Holder<'_>) -> String {
        match holder {
            Holder::Inputs(resource) => format!("{}Args", self.resource(resource)),
            Holder::Outputs(resource) => self.resource(resource),
            Holder::State(position) => format!("{}State", self.naming.resources[position]),
            Holder::Arguments(position) => format!("{}Args", self.naming.functions[position]),
            Holder::Result(position) => format!("{}Result", self.naming.functions[position]),
            Holder::MethodArguments(resource, method) => {
                format!("{}{}Args", self.resource(resource), names::title(method))
            }
            Holder::MethodResult(resource, method) => {
                format!("{}{}Result", self.resource(resource), names::title(method))
            }
            Holder::Type(position, _) => self.naming.types[position].clone(),
            Holder::Config => String::new(),
        }
    }
}

impl Vocabulary for Sdk<'_, '_> {
    fn module(&self, token: &str) -> String {
        self.layout.import_of(&self.module_of(token))
    }

    fn resource(&self, resource: ResourceAt) -> String {
        match resource {
            ResourceAt::Provider => "Provider".to_owned(),
            ResourceAt::Position(position) => self.naming.resources[position].clone(),
        }
    }

    fn function(&self, position: usize) -> String {
        self.naming.functions[position].clone()
    }

    fn method_name(&self, name: &str) -> String {
        names::title(name)
    }

    fn properties(&self, properties: &[&Property<'_>], holder: Holder<'_>) -> Vec<String> {
        if let Holder::Config = holder {
            let titled = properties.iter().map(|it| names::title(it.name));
            return titled.map(|name| format!("Get{name}")).collect();
        }
        let owner = self.struct_of(holder);
        Self::field_names(&owner, properties.iter().map(|it| it.name))
    }

    fn type_text(&self, ty: &Type<'_>, direction: Direction) -> String {
        // Imports of a file outside of all packages, so that every name is qualified as in a program.
        let mut imports = self.imports_at(String::new());
        match direction {
            Direction::Input => self.plain_input(ty, &mut imports),
            Direction::Plain | Direction::Output => self.value(ty, &mut imports),
        }
    }

    fn enum_members(&self, position: usize) -> Vec<Option<String>> {
        let TypeShape::Enum(definition) = &self.package.types[position].shape else {
            return Vec::new();
        };
        let name = &self.naming.types[position];
        let mut taken = FxHashSet::default();
        let member = |value| {
            let mut member = self.constant(name, names::enum_member(&written_member(value))?);
            while !taken.insert(member.clone()) {
                member.push('_');
            }
            Some(member)
        };
        definition.values.iter().map(member).collect()
    }

    fn constructors(&self, resource: ResourceAt) -> Vec<String> {
        vec![constructor_signature(&self.resource(resource)).join(" ")]
    }

    fn lookup(&self, position: usize) -> Option<String> {
        if self.package.resources[position].is_component {
            return None;
        }
        Some(lookup_signature(&self.naming.resources[position]).join(" "))
    }

    fn forms(&self, position: usize) -> FunctionForms {
        let [plain, output] = self.function_signatures(position);
        FunctionForms { plain, output }
    }

    fn method(&self, resource: ResourceAt, index: usize) -> Option<String> {
        let class = self.resource(resource);
        let method = resource.of(self.package)?.methods.get(index)?;
        let mut file = Declarations::new(self.imports_at(String::new()), &self.settings);
        Sdk::method(self, &class, method, &mut file);
        file.signature(&format!("func (r *{class}) "))
    }
}
