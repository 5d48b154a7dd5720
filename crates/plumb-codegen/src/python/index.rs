//! Index of a module: its exports, and its registration for resource references (`codegen.md` 3.2).

use std::collections::BTreeMap;

use plumb_schema::bound::runtime_module_of;
use serde_json::{Value, json};

use super::imports::root_of;
use super::model::{Body, Item, SourceFile};
use super::sdk::{Module, Sdk, last_step};
use super::types::Shape;
use crate::{GenerateError, modules};

impl Sdk<'_, '_> {
    /// Index of the module at `path`.
    pub(super) fn index_file(
        &self,
        path: &str,
        module: &Module,
    ) -> Result<SourceFile, GenerateError> {
        let root = root_of(path);
        let mut imports = vec![
            "import typing".to_owned(),
            format!("from {root} import _utilities"),
        ];
        imports.extend(self.star_imports(path, module));
        let mut body = Body::default();
        self.subpackages(module, &mut body);
        if path.is_empty() {
            self.registration(&mut body);
        }
        let items = if body.lines.is_empty() {
            Vec::new()
        } else {
            vec![Item::Lines(body.lines)]
        };
        Ok(SourceFile {
            path: self.path(path, "__init__.py")?,
            imports,
            exports: None,
            items,
        })
    }

    /// Star imports of the module's files. Types come first, so that a resource with the same name
    /// takes precedence.
    fn star_imports(&self, path: &str, module: &Module) -> Vec<String> {
        let mut lines = self.type_imports(module);
        let resources = module.resources.iter();
        let resources = resources.map(|at| self.package.resources[*at].token.as_ref());
        let functions = module.functions.iter();
        let functions = functions.map(|at| self.package.functions[*at].token);
        let mut files: Vec<String> = resources
            .chain(functions)
            .map(|token| self.file_name(token))
            .collect();
        files.extend_from_slice(&module.written);
        if path.is_empty() && self.package.provider.is_some() {
            files.push("provider".to_owned());
        }
        files.sort();
        files.dedup();
        lines.extend(files.iter().map(|file| format!("from .{file} import *")));
        lines
    }

    /// Star imports of the module's types.
    pub(super) fn type_imports(&self, module: &Module) -> Vec<String> {
        let parts = [
            (!module.enums.is_empty(), "from ._enums import *"),
            (
                self.has_objects(module, &[Shape::Input, Shape::Plain]),
                "from ._inputs import *",
            ),
            (
                self.has_objects(module, &[Shape::Output]),
                "from . import outputs as outputs",
            ),
        ];
        let parts = parts.into_iter().filter(|(is_there, _)| *is_there);
        parts.map(|(_, line)| line.to_owned()).collect()
    }

    /// Imports of child modules: lazy at run time, ordinary for type checkers.
    fn subpackages(&self, module: &Module, body: &mut Body) {
        let children = module.children.iter();
        let children: Vec<(&str, String)> = children
            .filter(|child| self.has_members(child))
            .map(|child| (last_step(child), self.import_name(child)))
            .collect();
        if children.is_empty() {
            return;
        }
        body.block("if typing.TYPE_CHECKING:", |body| {
            for (name, path) in &children {
                body.line(format!("import {path} as __{name}"));
                body.line(format!("{name} = __{name}"));
            }
        });
        body.block("else:", |body| {
            for (name, path) in &children {
                body.line(format!("{name} = _utilities.lazy_import(\"{path}\")"));
            }
        });
    }

    /// Registration of the classes that resource references are turned into.
    fn registration(&self, body: &mut Body) {
        let modules = self.resource_modules();
        let package = self.package.provider.as_ref().map(|_| {
            json!({
                "pkg": self.package.name,
                "token": self.package.provider_token(),
                "fqn": self.name,
                "class": "Provider",
            })
        });
        if modules.is_empty() && package.is_none() {
            return;
        }
        if !body.lines.is_empty() {
            body.line("");
        }
        // JSON that contains only strings is valid Python too.
        body.block("_utilities.register(", |body| {
            let packages: Vec<Value> = package.into_iter().collect();
            for (name, entries) in [
                ("resource_modules", modules),
                ("resource_packages", packages),
            ] {
                body.line(format!("{name}=["));
                for entry in entries {
                    body.line(format!("    {entry},"));
                }
                body.line("],");
            }
        });
        body.line(")");
    }

    fn resource_modules(&self) -> Vec<Value> {
        let mut entries: BTreeMap<(&str, &str, String), BTreeMap<&str, String>> = BTreeMap::new();
        for resource in &self.package.resources {
            if resource.outputs.overlay.is_overlay {
                continue;
            }
            let token = resource.token.as_ref();
            let package = modules::registered_package(self.package, token);
            let path = self.import_name(&self.module_of(token));
            let classes = entries
                .entry((package, runtime_module_of(token), path))
                .or_default();
            classes.insert(token, Self::resource_class(token));
        }
        let entries = entries.into_iter();
        let entries = entries.map(|((package, module, path), classes)| {
            json!({"pkg": package, "mod": module, "fqn": path, "classes": classes})
        });
        entries.collect()
    }
}
