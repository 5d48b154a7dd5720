//! Names and signatures of TypeScript for the documentation.

use plumb_schema::bound::{Package, Property, Type};

use super::imports::Imports;
use super::names;
use super::sdk::Sdk;
use super::types::Shape;
use crate::vocabulary::{self, Direction, FunctionForms, Holder, ResourceAt, Vocabulary};
use crate::{FileMap, GenerateError, Purpose};

/// Vocabulary of a package.
pub(crate) fn of<'p>(package: &'p Package<'_>) -> Result<Box<dyn Vocabulary + 'p>, GenerateError> {
    Ok(Box::new(Sdk::new(
        package,
        Purpose::Published,
        &FileMap::default(),
    )?))
}

impl Vocabulary for Sdk<'_, '_> {
    fn module(&self, token: &str) -> String {
        let module = Self::folder_of(&self.module_of(token));
        if module.is_empty() {
            self.npm_name()
        } else {
            format!("{}/{module}", self.npm_name())
        }
    }

    fn resource(&self, resource: ResourceAt) -> String {
        match resource {
            ResourceAt::Provider => "Provider".to_owned(),
            ResourceAt::Position(position) => {
                Self::class_name(&self.package.resources[position].token)
            }
        }
    }

    fn function(&self, position: usize) -> String {
        Self::function_names(&self.package.functions[position]).plain
    }

    fn method_name(&self, name: &str) -> String {
        names::camel(name)
    }

    fn properties(&self, properties: &[&Property<'_>], _holder: Holder<'_>) -> Vec<String> {
        let names = properties.iter();
        names.map(|it| names::key(it.name).into_owned()).collect()
    }

    fn type_text(&self, ty: &Type<'_>, direction: Direction) -> String {
        let shape = match direction {
            Direction::Input => Shape::Input,
            Direction::Plain => Shape::Plain,
            Direction::Output => Shape::Output,
        };
        let mut imports = Imports::in_folder("");
        self.required(ty, shape, &mut imports)
            .replace("import(\"./provider\").", "")
            .replace("pulumi.asset.", "")
    }

    fn enum_members(&self, position: usize) -> Vec<Option<String>> {
        vocabulary::enum_members(self.package, position, names::title, names::enum_member)
    }

    fn constructors(&self, resource: ResourceAt) -> Vec<String> {
        let name = self.resource(resource);
        let Some(found) = resource.of(self.package) else {
            return Vec::new();
        };
        let is_provider = resource == ResourceAt::Provider;
        let (constructor, _) = self.resource_signatures(found, name.clone(), is_provider);
        vec![constructor.replacen("constructor", &format!("new {name}"), 1)]
    }

    fn lookup(&self, position: usize) -> Option<String> {
        let name = self.resource(ResourceAt::Position(position));
        let resource = &self.package.resources[position];
        let (_, get) = self.resource_signatures(resource, name, false);
        get
    }

    fn forms(&self, position: usize) -> FunctionForms {
        let [plain, output] = self.function_signatures(&self.package.functions[position]);
        let bare = |text: String| text.replacen("export ", "", 1);
        FunctionForms {
            plain: plain.map(bare),
            output: output.map(bare),
        }
    }

    fn method(&self, resource: ResourceAt, index: usize) -> Option<String> {
        let class = self.resource(resource);
        let method = resource.of(self.package)?.methods.get(index)?;
        let mut imports = Imports::in_folder("");
        let method = Sdk::method(self, &class, method, &mut imports)?;
        Some(method.signature)
    }
}
