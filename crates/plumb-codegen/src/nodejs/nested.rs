//! Nested types: `types/input.ts`, `types/output.ts`, `types/enums` (`codegen.md` 2.6, 2.7).

use std::collections::BTreeMap;

use plumb_schema::bound::{EnumType, Object, TypeShape};

use super::imports::Imports;
use super::model::{Body, Callable, Enum, EnumMember, Interface, Item, SourceFile};
use super::names;
use super::sdk::{Sdk, last_step, literal};
use super::types::Shape;
use super::values::{Given, defaults_name};
use crate::GenerateError;
use plumb_schema::Constant;

/// Items of a namespace, and its child namespaces.
#[derive(Default)]
struct Tree {
    items: Vec<Item>,
    children: BTreeMap<String, Tree>,
}

impl Tree {
    fn at(&mut self, path: &[String]) -> &mut Tree {
        match path.split_first() {
            None => self,
            Some((name, rest)) => self.children.entry(name.clone()).or_default().at(rest),
        }
    }

    fn into_items(self) -> Vec<Item> {
        let mut items = self.items;
        for (name, child) in self.children {
            items.push(Item::Namespace {
                name,
                items: child.into_items(),
            });
        }
        items
    }
}

impl<'p> Sdk<'p, '_> {
    /// Files below `types`, except for enums.
    pub(super) fn type_files(&self) -> Result<Vec<SourceFile>, GenerateError> {
        if !self.has_types() {
            return Ok(Vec::new());
        }
        let mut files = Vec::new();
        let mut parts = Vec::new();
        if self.has_enums() {
            parts.push("enums");
        }
        if self.has_objects() {
            files.push(self.objects_file("input", &[Shape::Plain, Shape::Input])?);
            files.push(self.objects_file("output", &[Shape::Output])?);
            parts.extend(["input", "output"]);
        }
        let imports = parts
            .iter()
            .map(|part| format!("import * as {part} from \"./{part}\";"));
        let mut export = Body::default();
        export.line(format!("export {{ {} }};", parts.join(", ")));
        files.push(SourceFile {
            path: Self::path("types", "index.ts")?,
            imports: imports.collect(),
            items: vec![Item::Lines(export.lines)],
        });
        Ok(files)
    }

    fn objects_file(&self, name: &str, shapes: &[Shape]) -> Result<SourceFile, GenerateError> {
        let mut imports = Imports::in_folder("types");
        let mut tree = Tree::default();
        for (module, members) in &self.modules {
            let path = names::namespaces(module);
            for &position in &members.objects {
                let TypeShape::Object(object) = &self.package.types[position].shape else {
                    continue;
                };
                for (shape, name) in self.object_interfaces(position, shapes) {
                    let items = self.object_items(object, position, shape, name, &mut imports);
                    tree.at(&path).items.extend(items);
                }
            }
        }
        Ok(SourceFile {
            path: Self::path("types", &format!("{name}.ts"))?,
            imports: imports.lines(),
            items: tree.into_items(),
        })
    }

    /// Interfaces of an object in the given shapes. If two shapes have the same interface name, the later one is
    /// generated, because it is the more general one.
    fn object_interfaces(&self, position: usize, shapes: &[Shape]) -> Vec<(Shape, String)> {
        let usage = self.usages[position];
        let mut interfaces: Vec<(Shape, String)> = Vec::new();
        for &shape in shapes {
            let is_used = match shape {
                Shape::Input => usage.input,
                Shape::Plain => usage.plain,
                Shape::Output => usage.output,
            };
            if !is_used {
                continue;
            }
            let name = self.object_name(position, shape);
            interfaces.retain(|(_, known)| *known != name);
            interfaces.push((shape, name));
        }
        interfaces
    }

    fn object_items(
        &self,
        object: &'p Object<'_>,
        position: usize,
        shape: Shape,
        name: String,
        imports: &mut Imports,
    ) -> Vec<Item> {
        let doc = self.doc(object.description, None);
        let mut interface = Interface {
            doc,
            name: name.clone(),
            fields: Vec::with_capacity(object.properties.len()),
        };
        let required = Self::required_names(object, shape);
        for property in &object.properties {
            let is_required = match &required {
                Some(names) => names.contains(&property.name),
                None => property.required,
            };
            let field = self.field(property, is_required, shape, imports);
            interface.fields.push(field);
        }
        let mut items = vec![Item::Interface(interface)];
        if self.usages[position].has_defaults {
            items.push(Item::Function(
                self.provide_defaults(object, shape, &name, imports),
            ));
        }
        items
    }

    /// Names of the required properties, if the `nodejs` block of the schema overrides them.
    fn required_names<'o>(object: &'o Object<'_>, shape: Shape) -> Option<Vec<&'o str>> {
        let block = object.language.get("nodejs")?;
        let key = match shape {
            Shape::Output => "requiredOutputs",
            Shape::Input | Shape::Plain => "requiredInputs",
        };
        let names = block.get(key)?.items().iter();
        Some(names.filter_map(plumb_schema::Node::as_str).collect())
    }

    /// Function that fills in the defaults of an object.
    fn provide_defaults(
        &self,
        object: &'p Object<'_>,
        shape: Shape,
        name: &str,
        imports: &mut Imports,
    ) -> Callable {
        let mut body = Body::default();
        body.block("return {", "};", |body| {
            body.line("...val,");
            for property in &object.properties {
                let has_default = property.default.is_some() || property.default_info.is_some();
                let inner = self.defaults_function(&property.ty, shape, imports);
                if property.constant.is_some() || !(has_default || inner.is_some()) {
                    continue;
                }
                let given = Given::of("val", property.name);
                let value = self.sent_value(property, &given, shape, imports);
                body.line(format!("{}: <any>({value}),", names::key(property.name)));
            }
        });
        Callable {
            doc: super::model::Doc {
                lines: vec![format!("Fills in the defaults of {name}.")],
            },
            overloads: Vec::new(),
            signature: format!(
                "export function {}(val: {name}): {name}",
                defaults_name(name)
            ),
            body: Some(body.lines),
        }
    }

    /// Files below `types/enums`.
    pub(super) fn enum_files(&self) -> Result<Vec<SourceFile>, GenerateError> {
        if !self.has_enums() {
            return Ok(Vec::new());
        }
        let mut files = Vec::new();
        for (module, members) in &self.modules {
            let children = self.enum_children(module);
            if members.enums.is_empty() && children.is_empty() && !module.is_empty() {
                continue;
            }
            let mut items = Vec::new();
            for &position in &members.enums {
                let definition = &self.package.types[position];
                if let TypeShape::Enum(it) = &definition.shape {
                    items.push(Item::Enum(self.enumeration(definition.token, it)?));
                }
            }
            if !children.is_empty() {
                items.push(Item::Lines(export_namespaces(&children).lines));
            }
            let folder = format!("types/enums/{}", Self::folder_of(module));
            files.push(SourceFile {
                path: Self::path(folder.trim_end_matches('/'), "index.ts")?,
                imports: import_namespaces(&children),
                items,
            });
        }
        Ok(files)
    }

    /// Child modules that contain enums, directly or in descendants.
    fn enum_children(&self, module: &str) -> Vec<Child> {
        let Some(module) = self.modules.get(module) else {
            return Vec::new();
        };
        let children = module.children.iter();
        children
            .filter(|child| {
                let below = format!("{child}/");
                let mut modules = self.modules.iter();
                modules.any(|(path, members)| {
                    (path == *child || path.starts_with(&below)) && !members.enums.is_empty()
                })
            })
            .map(|child| Child::of(child))
            .collect()
    }

    fn enumeration(&self, token: &str, definition: &EnumType<'_>) -> Result<Enum, GenerateError> {
        let name = Self::class_name(token);
        let mut members: Vec<EnumMember> = Vec::with_capacity(definition.values.len());
        for value in &definition.values {
            let written = match (value.name, &value.value) {
                (Some(name), _) => name.to_owned(),
                (None, Constant::String(text)) => text.clone(),
                (None, other) => literal(other),
            };
            let member = names::enum_member(&written, &name).ok_or(GenerateError::Name {
                what: "the enum member",
                name: written,
                why: "nothing of it can be a name",
            })?;
            let member = EnumMember {
                doc: self.doc(value.description, value.deprecation),
                name: member,
                value: literal(&value.value),
            };
            // TypeScript rejects duplicate enum members; the last one wins, as it would in an object literal.
            members.retain(|known| known.name != member.name);
            members.push(member);
        }
        Ok(Enum {
            doc: self.doc(definition.description, None),
            name,
            members,
        })
    }
}

/// A module as its parent exports it.
pub(super) struct Child {
    /// Local name in the parent's file.
    pub(super) local: String,
    /// Exported name.
    pub(super) exported: String,
    /// Folder, relative to the parent's file.
    pub(super) folder: String,
}

impl Child {
    /// Export of the module at `path`.
    pub(super) fn of(path: &str) -> Self {
        let step = last_step(path);
        let folder = step.to_lowercase();
        let exported = names::identifier(step);
        let local = match exported.as_str() {
            "module" | "exports" | "require" => format!("{exported}_"),
            _ => exported.clone(),
        };
        Child {
            local,
            exported,
            folder,
        }
    }
}

/// Import lines for modules.
pub(super) fn import_namespaces(children: &[Child]) -> Vec<String> {
    let line = |child: &Child| format!("import * as {} from \"./{}\";", child.local, child.folder);
    children.iter().map(line).collect()
}

/// Export statement for imported modules.
pub(super) fn export_namespaces(children: &[Child]) -> Body {
    let mut body = Body::default();
    body.block("export {", "};", |body| {
        for child in children {
            if child.local == child.exported {
                body.line(format!("{},", child.local));
            } else {
                body.line(format!("{} as {},", child.local, child.exported));
            }
        }
    });
    body
}
