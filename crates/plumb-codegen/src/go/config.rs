//! Settings of a package: `config/config.go` (`codegen.md` 4.5).

use plumb_schema::Primitive;
use plumb_schema::bound::TypeKind;

use super::forms::Declarations;
use super::imports::PULUMI;
use super::layout;
use super::model::{Body, SourceFile};
use super::names;
use super::properties::Entry;
use super::sdk::Sdk;
use super::types::primitive_type;
use crate::GenerateError;

impl Sdk<'_, '_> {
    pub(super) fn config_file(&self) -> Result<Option<SourceFile>, GenerateError> {
        if self.package.config.is_empty() {
            return Ok(None);
        }
        let own = layout::joined(&self.layout.base, "config");
        let mut file = Declarations::new(self.imports_at(own), &self.settings);
        file.imports.pulumi();
        file.imports.plain(&format!("{PULUMI}/config"));
        let entries = self.entries("", &self.package.config, |property| property.required);
        for entry in &entries {
            self.setting(entry, &mut file);
        }
        Ok(Some(file.file(
            self.path("config", "config.go")?,
            "config".to_owned(),
        )))
    }

    fn setting(&self, entry: &Entry<'_, '_>, file: &mut Declarations<'_>) {
        let property = entry.property;
        let primitive = match &property.ty.kind {
            TypeKind::Primitive(primitive) => *primitive,
            _ => Primitive::String,
        };
        let (reader, ty) = match primitive {
            Primitive::Bool => ("Bool", "bool"),
            Primitive::Integer => ("Int", "int"),
            Primitive::Number => ("Float64", "float64"),
            Primitive::String => ("", "string"),
        };
        let key = names::string(&format!(
            "{}:{}",
            self.package.name,
            names::camel(property.name)
        ));
        let mut body = Body::default();
        let default = property
            .default
            .as_ref()
            .map(|default| self.literal(property, default));
        if default.is_none() && property.default_info.is_none() {
            body.line(format!("return config.Get{reader}(ctx, {key})"));
        } else {
            body.line(format!("v, err := config.Try{reader}(ctx, {key})"));
            body.block("if err == nil {", "}", |body| body.line("return v"));
            body.line(format!("var value {ty}"));
            if let Some(info) = &property.default_info {
                let internal = file.imports.internal();
                let parser = match self.primitive_of(property).unwrap_or(primitive) {
                    Primitive::Bool => format!("{internal}.ParseEnvBool"),
                    Primitive::Integer => format!("{internal}.ParseEnvInt"),
                    Primitive::Number => format!("{internal}.ParseEnvFloat"),
                    Primitive::String => "nil".to_owned(),
                };
                let read = primitive_type(self.primitive_of(property).unwrap_or(primitive));
                let variables = info
                    .environment
                    .iter()
                    .fold(String::new(), |list, variable| {
                        list + ", " + &names::string(variable)
                    });
                let value = default.as_deref().unwrap_or("nil");
                let open = format!(
                    "if d := {internal}.GetEnvOrDefault({value}, {parser}{variables}); d != nil {{"
                );
                body.block(open, "}", |body| body.line(format!("value = d.({read})")));
            } else if let Some(default) = default {
                body.line(format!("value = {default}"));
            }
            body.line("return value");
        }
        let signature = format!(
            "func Get{}(ctx *pulumi.Context) {ty}",
            names::title(property.name)
        );
        file.function(entry.doc.clone(), signature, body);
    }
}
