//! Settings of the package (`codegen.md` 2.9).

use plumb_schema::bound::{Property, TypeKind};
use plumb_schema::{Constant, Primitive};

use super::imports::Imports;
use super::model::{Body, Item, SourceFile};
use super::names;
use super::sdk::{Sdk, quoted};
use super::types::Shape;
use crate::GenerateError;

impl Sdk<'_, '_> {
    /// Files of the settings module.
    pub(super) fn config_files(&self) -> Result<Vec<SourceFile>, GenerateError> {
        if !self.has_config() {
            return Ok(Vec::new());
        }
        let mut imports = Imports::in_folder("config");
        imports.pulumi = true;
        let mut body = Body::default();
        body.line("declare var exports: any;");
        let package = quoted(self.package.name);
        body.line(format!("const __config = new pulumi.Config({package});"));
        for property in &self.package.config {
            self.config_variable(property, &mut imports, &mut body);
        }
        let mut index = Body::default();
        index.line("export * from \"./vars\";");
        Ok(vec![
            SourceFile {
                path: Self::path("config", "vars.ts")?,
                imports: imports.lines(),
                items: vec![Item::Lines(body.lines)],
            },
            SourceFile {
                path: Self::path("config", "index.ts")?,
                imports: Vec::new(),
                items: vec![Item::Lines(index.lines)],
            },
        ])
    }

    fn config_variable(&self, property: &Property<'_>, imports: &mut Imports, body: &mut Body) {
        let value_type = self.property_type(property, true, Shape::Output, imports);
        // An environment variable may be unset, whereas a default in the schema always has a value.
        let is_optional = property.default.is_none();
        let ty = if is_optional && value_type != "any" {
            format!("{value_type} | undefined")
        } else {
            value_type.clone()
        };
        let key = quoted(property.name);
        let read = if matches!(property.ty.kind, TypeKind::Primitive(Primitive::String)) {
            format!("__config.get({key})")
        } else {
            format!("__config.getObject<{value_type}>({key})")
        };
        let value = match (&property.constant, self.default_value(property, imports)) {
            (Some(Constant::String(text)), _) => quoted(text).into_owned(),
            (_, Some(default)) => format!("{read} ?? {default}"),
            (_, None) => read,
        };
        let name = names::identifier(property.name);
        let doc = self.doc(property.description, property.deprecation);
        body.line("");
        if !doc.lines.is_empty() {
            body.line("/**");
            for line in doc.lines {
                body.line(format!(" * {line}").trim_end());
            }
            body.line(" */");
        }
        body.line(format!("export declare const {name}: {ty};"));
        body.block(
            format!("Object.defineProperty(exports, {}, {{", quoted(&name)),
            "});",
            |body| {
                body.block("get() {", "},", |body| {
                    body.line(format!("return {value};"));
                });
                body.line("enumerable: true,");
            },
        );
    }
}
