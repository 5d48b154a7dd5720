//! TypeScript types (`codegen.md` 1.5, 2.5).

use plumb_schema::bound::{External, Property, Type, TypeKind, TypeShape, Union, member_of};
use plumb_schema::{Constant, Primitive, Section};

use super::imports::Imports;
use super::names;
use super::sdk::Sdk;

/// Position in which a type is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// Arguments that accept outputs at each level.
    Input,
    /// Arguments of functions that accept only plain values.
    Plain,
    /// Outputs and results.
    Output,
}

impl Sdk<'_, '_> {
    /// Type without `Input` around it, and whether it needs parentheses before `[]`.
    fn bare(&self, ty: &Type<'_>, shape: Shape, imports: &mut Imports) -> (String, bool) {
        let text = match &ty.kind {
            TypeKind::Primitive(primitive) => primitive_type(*primitive).to_owned(),
            TypeKind::Any | TypeKind::Json | TypeKind::Invalid => "any".to_owned(),
            TypeKind::Archive => {
                imports.pulumi = true;
                "pulumi.asset.Archive".to_owned()
            }
            TypeKind::Asset => {
                imports.pulumi = true;
                return ("pulumi.asset.Asset | pulumi.asset.Archive".to_owned(), true);
            }
            TypeKind::Array(element) => match self.level(element, shape, imports) {
                (element, true) => format!("({element})[]"),
                (element, false) => format!("{element}[]"),
            },
            TypeKind::Map(element) => {
                let (element, _) = self.level(element, shape, imports);
                format!("{{[key: string]: {element}}}")
            }
            TypeKind::Union(union) => return self.union(union, shape, imports),
            TypeKind::Defined(position) => self.defined(*position, shape, imports),
            TypeKind::Resource(position) => {
                self.resource_type(&self.package.resources[*position].token, imports)
            }
            TypeKind::Provider => format!("import(\"{}provider\").Provider", imports.root),
            TypeKind::Opaque(opaque) => opaque.underlying.map_or("any", primitive_type).to_owned(),
            TypeKind::External(external) => self.external(external, shape, imports),
        };
        (text, false)
    }

    /// Type at one level, with `Input` around it unless it is plain.
    fn level(&self, ty: &Type<'_>, shape: Shape, imports: &mut Imports) -> (String, bool) {
        let (text, is_union) = self.bare(ty, shape, imports);
        if shape == Shape::Input && !ty.plain && text != "any" {
            imports.pulumi = true;
            return (format!("pulumi.Input<{text}>"), false);
        }
        (text, is_union)
    }

    /// Type of a required value.
    pub(super) fn required(&self, ty: &Type<'_>, shape: Shape, imports: &mut Imports) -> String {
        self.level(ty, shape, imports).0
    }

    /// Type of a property, with `| undefined` inside the input of an optional one.
    pub(super) fn property_type(
        &self,
        property: &Property<'_>,
        is_required: bool,
        shape: Shape,
        imports: &mut Imports,
    ) -> String {
        let text = match &property.constant {
            Some(Constant::String(value)) => names::string(value),
            _ => self.bare(&property.ty, shape, imports).0,
        };
        if shape != Shape::Input || property.ty.plain || text == "any" {
            return text;
        }
        imports.pulumi = true;
        if is_required {
            format!("pulumi.Input<{text}>")
        } else {
            format!("pulumi.Input<{text} | undefined>")
        }
    }

    /// `Output` type of a resource's property.
    pub(super) fn output_type(
        &self,
        property: &Property<'_>,
        is_required: bool,
        imports: &mut Imports,
    ) -> String {
        let text = self.property_type(property, is_required, Shape::Output, imports);
        imports.pulumi = true;
        if is_required || text == "any" {
            format!("pulumi.Output<{text}>")
        } else {
            format!("pulumi.Output<{text} | undefined>")
        }
    }

    fn union(&self, union: &Union<'_>, shape: Shape, imports: &mut Imports) -> (String, bool) {
        if shape == Shape::Output && self.settings.disable_union_outputs {
            return (
                union.default.map_or("any", primitive_type).to_owned(),
                false,
            );
        }
        let mut elements: Vec<String> = Vec::new();
        for element in &union.elements {
            let (text, _) = self.bare(element, shape, imports);
            if !elements.contains(&text) {
                elements.push(text);
            }
        }
        let is_union = elements.len() > 1;
        (elements.join(" | "), is_union)
    }

    fn defined(&self, position: usize, shape: Shape, imports: &mut Imports) -> String {
        let definition = &self.package.types[position];
        let module = self.module_of(definition.token);
        let path = namespace_path(&module);
        match &definition.shape {
            TypeShape::Enum(_) => {
                imports.enums = true;
                format!("enums.{path}{}", Self::class_name(definition.token))
            }
            TypeShape::Object(_) if shape == Shape::Output => {
                imports.outputs = true;
                format!("outputs.{path}{}", Self::class_name(definition.token))
            }
            TypeShape::Object(_) => {
                imports.inputs = true;
                format!("inputs.{path}{}", self.object_name(position, shape))
            }
        }
    }

    /// Interface of an object, in one shape.
    pub(super) fn object_name(&self, position: usize, shape: Shape) -> String {
        let name = Self::class_name(self.package.types[position].token);
        let usage = self.usages[position];
        let is_bare = self.settings.compatibility.is_older() && !usage.function_input;
        if shape == Shape::Input && !is_bare {
            format!("{name}Args")
        } else {
            name
        }
    }

    /// Class of a resource of this package, as an `import()` type, which no local name can shadow.
    fn resource_type(&self, token: &str, imports: &Imports) -> String {
        let module = self.module_of(token);
        let folder = Self::folder_of(&module);
        let separator = if folder.is_empty() { "" } else { "/" };
        let file = self.file_name(token);
        let class = Self::class_name(token);
        format!(
            "import(\"{}{folder}{separator}{file}\").{class}",
            imports.root
        )
    }

    fn external(&self, external: &External, shape: Shape, imports: &mut Imports) -> String {
        let package = &self.externals[external.package];
        let alias = imports.external(package);
        let module = package.module_of(&external.token);
        let path = namespace_path(&module);
        let name = names::identifier(&names::title(member_of(&external.token)));
        match external.section {
            Section::Provider => format!("{alias}.Provider"),
            Section::Resource => format!("{alias}.{path}{name}"),
            Section::Type if external.enum_type.is_some() => format!("{alias}.{path}{name}"),
            Section::Type => match shape {
                Shape::Output => format!("{alias}.types.output.{path}{name}"),
                Shape::Input if !package.compatibility.is_older() => {
                    format!("{alias}.types.input.{path}{name}Args")
                }
                Shape::Input | Shape::Plain => format!("{alias}.types.input.{path}{name}"),
            },
        }
    }
}

/// Namespaces of a module, each followed by a dot.
pub(super) fn namespace_path(module: &str) -> String {
    names::namespaces(module)
        .into_iter()
        .fold(String::new(), |path, name| path + &name + ".")
}

fn primitive_type(primitive: Primitive) -> &'static str {
    match primitive {
        Primitive::Bool => "boolean",
        Primitive::Integer | Primitive::Number => "number",
        Primitive::String => "string",
    }
}
