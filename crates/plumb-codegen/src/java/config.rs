//! The `Config` class of a package's settings (`codegen.md` 6).

use super::args::written_name;
use super::docs::deprecated;
use super::imports::Imports;
use super::names::{self, Owner};
use super::sdk::{Sdk, split};
use super::types::Shape;
use crate::GenerateError;
use crate::classes::{Body, Class, Doc, Member, SourceFile};

impl Sdk<'_, '_> {
    /// File of the settings class; `None` for a package without settings.
    pub(super) fn config_file(&self) -> Result<Option<SourceFile>, GenerateError> {
        let properties = &self.package.config;
        if properties.is_empty() {
            return Ok(None);
        }
        let class = format!("{}.Config", self.root);
        let (package, name) = split(&class);
        let mut imports = Imports::of(package, name);
        let mut members = vec![Member::line(format!(
            "private static final com.pulumi.Config config = com.pulumi.Config.of({});",
            names::string(self.package.name)
        ))];
        let named = names::properties(properties.iter().map(written_name), Owner::Object);
        for (property, names) in properties.iter().zip(named) {
            let value = self.setting(property, &mut imports);
            let ty = self.java_type(&property.ty, Shape::Config);
            let mut ty = ty.render(&mut imports);
            if !property.required {
                ty = format!("{}<{ty}>", imports.name("java.util.Optional"));
            }
            members.push(
                Member::method(
                    format!("public {ty} {}()", names.method),
                    Body::of(format!("return {value};")),
                )
                .with_doc(&self.doc(property.description, property.deprecation))
                .with_attributes(deprecated(property.deprecation)),
            );
        }
        Ok(Some(SourceFile {
            path: Self::path(&class)?,
            head: imports.lines(),
            namespace: None,
            types: vec![Class {
                doc: Doc::default(),
                attributes: Vec::new(),
                header: "public final class Config".to_owned(),
                members,
            }],
        }))
    }
}
