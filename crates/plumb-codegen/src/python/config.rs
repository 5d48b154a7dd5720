//! Settings of the package (`codegen.md` 3.7).

use plumb_schema::Primitive;
use plumb_schema::bound::{Property, TypeKind};

use super::imports::Imports;
use super::model::{Body, Callable, Class, Doc, Item, Parameters, SourceFile, Variable};
use super::names;
use super::sdk::{Module, Sdk, literal};
use crate::GenerateError;

impl Sdk<'_, '_> {
    /// Files of the settings module.
    pub(super) fn config_files(&self, module: &Module) -> Result<Vec<SourceFile>, GenerateError> {
        let mut index = Body::default();
        index.line("sys.modules[__name__].__class__ = _ExportableConfig");
        let index = SourceFile {
            path: self.path("config", "__init__.py")?,
            imports: ["import sys", "from .vars import _ExportableConfig"]
                .map(ToOwned::to_owned)
                .into_iter()
                .chain(self.type_imports(module))
                .collect(),
            exports: None,
            items: vec![Item::Lines(index.lines)],
        };
        Ok(vec![self.vars_file()?, self.stubs_file(module)?, index])
    }

    fn vars_file(&self) -> Result<SourceFile, GenerateError> {
        let mut imports = Imports::in_module("config").lines(self.settings.has_dicts());
        imports.push("import types".to_owned());
        let mut body = Body::default();
        body.line(format!(
            "__config__ = pulumi.Config({})",
            names::string(self.package.name)
        ));
        let getters = self.package.config.iter().map(|property| {
            let mut body = Body::default();
            body.line(format!("return {}", self.read(property)));
            Item::Function(Callable {
                decorators: vec!["@_builtins.property".to_owned()],
                name: names::snake(property.name),
                parameters: Parameters {
                    first: "self",
                    rest: Vec::new(),
                },
                returns: Some(config_type(property)),
                doc: Doc::of(self.text(property.description)),
                body: body.lines,
            })
        });
        // At run time the module becomes an instance of this class, so that settings are read on
        // access.
        let class = Class {
            decorators: Vec::new(),
            head: "_ExportableConfig(types.ModuleType)".to_owned(),
            doc: Doc::default(),
            items: getters.collect(),
        };
        Ok(SourceFile {
            path: self.path("config", "vars.py")?,
            imports,
            exports: None,
            items: vec![Item::Lines(body.lines), Item::Class(class)],
        })
    }

    /// Type stubs for the module, because tools cannot see the getters of the class that replaces it.
    fn stubs_file(&self, module: &Module) -> Result<SourceFile, GenerateError> {
        let variables = self.package.config.iter().map(|property| {
            let name = names::snake(property.name);
            Item::Variable(Variable {
                definition: format!("{name}: {}", config_type(property)),
                doc: self.text(property.description),
            })
        });
        Ok(SourceFile {
            path: self.path("config", "__init__.pyi")?,
            imports: [
                "import builtins as _builtins",
                "from typing import Optional",
            ]
            .map(ToOwned::to_owned)
            .into_iter()
            .chain(self.type_imports(module))
            .collect(),
            exports: None,
            items: variables.collect(),
        })
    }

    /// Expression that reads a setting. A set value takes precedence over the default even if it is
    /// false or empty.
    fn read(&self, property: &Property<'_>) -> String {
        if let Some(constant) = &property.constant {
            return literal(constant);
        }
        let getter = match property.ty.kind {
            TypeKind::Primitive(Primitive::Bool) => "get_bool",
            TypeKind::Primitive(Primitive::Integer) => "get_int",
            TypeKind::Primitive(Primitive::Number) => "get_float",
            _ => "get",
        };
        let key = names::string(property.name);
        match self.default_value(property) {
            None => format!("__config__.{getter}({key})"),
            Some(default) => format!("__config__.{getter}({key}, {default})"),
        }
    }
}

/// Type of a setting. Objects and arrays are JSON strings.
fn config_type(property: &Property<'_>) -> String {
    let ty = match property.ty.kind {
        TypeKind::Primitive(Primitive::Bool) => "_builtins.bool",
        TypeKind::Primitive(Primitive::Integer) => "_builtins.int",
        TypeKind::Primitive(Primitive::Number) => "_builtins.float",
        _ => "_builtins.str",
    };
    // An environment variable may be unset, whereas a default in the schema always has a value.
    if property.default.is_some() || property.constant.is_some() {
        ty.to_owned()
    } else {
        format!("Optional[{ty}]")
    }
}
