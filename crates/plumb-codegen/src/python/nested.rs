//! Nested types: `_inputs.py`, `outputs.py`, `_enums.py` (`codegen.md` 3.4, 3.5).

use plumb_schema::bound::{EnumType, TypeShape, member_of};
use plumb_schema::{Constant, Primitive};

use super::imports::Imports;
use super::model::{Body, Class, Doc, Item, SourceFile, Variable};
use super::names;
use super::object::Role;
use super::sdk::{Module, Sdk, literal};
use super::types::{Place, Shape};
use crate::GenerateError;

impl Sdk<'_, '_> {
    /// File of types for arguments.
    pub(super) fn inputs_file(
        &self,
        path: &str,
        module: &Module,
    ) -> Result<Option<SourceFile>, GenerateError> {
        self.objects_file("_inputs.py", &[Shape::Plain, Shape::Input], path, module)
    }

    /// File of types for results.
    pub(super) fn outputs_file(
        &self,
        path: &str,
        module: &Module,
    ) -> Result<Option<SourceFile>, GenerateError> {
        self.objects_file("outputs.py", &[Shape::Output], path, module)
    }

    fn objects_file(
        &self,
        file: &str,
        shapes: &[Shape],
        path: &str,
        module: &Module,
    ) -> Result<Option<SourceFile>, GenerateError> {
        if !self.has_objects(module, shapes) {
            return Ok(None);
        }
        let mut imports = Imports::in_module(path);
        let mut place = Place {
            module: path,
            imports: &mut imports,
        };
        let mut exports = Vec::new();
        let mut items = Vec::new();
        for &position in &module.objects {
            for (shape, name) in self.object_classes(position, shapes) {
                let classes = self.object_items(position, shape, &name, &mut place);
                let has_dict = classes.len() > 1;
                exports.push(name.clone());
                exports.extend(has_dict.then(|| format!("{name}Dict")));
                items.extend(classes.into_iter().map(Item::Class));
            }
        }
        // A file does not import itself.
        imports.inputs &= file != "_inputs.py";
        Ok(Some(SourceFile {
            path: self.path(path, file)?,
            imports: imports.lines(self.settings.has_dicts()),
            exports: Some(exports),
            items,
        }))
    }

    /// Classes of an object in the given shapes. If two shapes have the same class name, the later one is
    /// generated, because it is the more general one.
    fn object_classes(&self, position: usize, shapes: &[Shape]) -> Vec<(Shape, String)> {
        let usage = self.usages[position];
        let mut classes: Vec<(Shape, String)> = Vec::new();
        for &shape in shapes {
            let is_used = match shape {
                Shape::Input => usage.input,
                Shape::Plain => usage.plain,
                Shape::Output => usage.output,
            };
            if is_used {
                let name = self.object_name(position, shape);
                classes.retain(|(_, known)| *known != name);
                classes.push((shape, name));
            }
        }
        classes
    }

    fn object_items(
        &self,
        position: usize,
        shape: Shape,
        name: &str,
        place: &mut Place<'_>,
    ) -> Vec<Class> {
        let TypeShape::Object(object) = &self.package.types[position].shape else {
            return Vec::new();
        };
        let about = self.text(object.description);
        let members = self.members(&object.properties, names::snake);
        let role = match shape {
            Shape::Output if self.usages[position].resource_output => Role::ResourceOutput,
            Shape::Output => Role::Result,
            Shape::Input | Shape::Plain => Role::Given(shape),
        };
        let mut classes = Vec::new();
        if shape != Shape::Output && self.settings.has_dicts() {
            classes.push(self.dict(name, &about, &members, shape, place));
        }
        let class = self.object(name, &about, &members, role, place);
        classes.insert(0, class);
        classes
    }

    /// File of a module's enums.
    pub(super) fn enums_file(
        &self,
        path: &str,
        module: &Module,
    ) -> Result<Option<SourceFile>, GenerateError> {
        if module.enums.is_empty() {
            return Ok(None);
        }
        let mut exports = Vec::new();
        let mut items = Vec::new();
        for &position in &module.enums {
            let definition = &self.package.types[position];
            if let TypeShape::Enum(it) = &definition.shape {
                let name = names::class(member_of(definition.token));
                items.push(Item::Class(self.enumeration(
                    definition.token,
                    &name,
                    it,
                )?));
                exports.push(name);
            }
        }
        let imports = [
            "import builtins as _builtins",
            "from enum import Enum",
            "import pulumi",
        ];
        Ok(Some(SourceFile {
            path: self.path(path, "_enums.py")?,
            imports: imports.map(ToOwned::to_owned).to_vec(),
            exports: Some(exports),
            items,
        }))
    }

    fn enumeration(
        &self,
        token: &str,
        name: &str,
        definition: &EnumType<'_>,
    ) -> Result<Class, GenerateError> {
        let base = match definition.underlying {
            Primitive::String => "_builtins.str",
            Primitive::Integer => "_builtins.int",
            Primitive::Number => "_builtins.float",
            Primitive::Bool => {
                return Err(GenerateError::Name {
                    what: "the enum",
                    name: token.to_owned(),
                    why: "enums of booleans cannot be had in Python",
                });
            }
        };
        let mut members: Vec<(String, Variable)> = Vec::with_capacity(definition.values.len());
        for value in &definition.values {
            let written = match (value.name, &value.value) {
                (Some(name), _) => name.to_owned(),
                (None, Constant::String(text)) => text.clone(),
                (None, other) => literal(other),
            };
            let member = names::enum_member(&written, name).ok_or(GenerateError::Name {
                what: "the enum member",
                name: written,
                why: "nothing of it can be a name",
            })?;
            let variable = Variable {
                definition: format!("{member} = {}", literal(&value.value)),
                doc: self.text(value.description),
            };
            // Python rejects duplicate enum members; the last one wins.
            members.retain(|(known, _)| *known != member);
            members.push((member, variable));
        }
        let mut items: Vec<Item> = members
            .into_iter()
            .map(|(_, variable)| Item::Variable(variable))
            .collect();
        if items.is_empty() {
            let mut body = Body::default();
            body.line("pass");
            items.push(Item::Lines(body.lines));
        }
        Ok(Class {
            decorators: vec![format!("@pulumi.type_token({})", names::string(token))],
            head: format!("{name}({base}, Enum)"),
            doc: Doc::of(self.text(definition.description)),
            items,
        })
    }
}
