//! Resolution of `$ref` (`schema.md` 5.1).

use super::Binder;
use crate::bound::{External, ExternalPackage, Opaque, TypeKind};
use crate::package::{PackageSchema, tolerant_version};
use crate::problem::At;
use crate::reference::{self, Section, Target};
use crate::types::{self, Primitive, TypeDefinition};

impl<'d> Binder<'d, '_> {
    pub(super) fn reference(
        &mut self,
        text: &'d str,
        underlying: Option<Primitive>,
        at: &At<'_>,
    ) -> TypeKind<'d> {
        match reference::read(text) {
            None => {
                self.problems.expected(
                    at,
                    format!("invalid type reference '{text}'"),
                    "`#/types/<token>`, `#/resources/<token>`, `#/provider` or `pulumi.json#/<name>`, \
                     with `/<package>/v<version>/schema.json` before it for another package",
                );
                TypeKind::Invalid
            }
            Some(Target::Builtin(kind)) => match kind {
                types::TypeKind::Any => TypeKind::Any,
                types::TypeKind::Json => TypeKind::Json,
                types::TypeKind::Asset => TypeKind::Asset,
                _ => TypeKind::Archive,
            },
            Some(Target::Member {
                package,
                section,
                token,
            }) => match package.and_then(|(name, version)| self.external(name, &version)) {
                None => self.internal(text, section, token, underlying, at),
                Some(package) => self.member_of(package, section, token, underlying, at),
            },
        }
    }

    /// Index of another package; `None` if the reference means this one.
    fn external(&mut self, name: String, version: &str) -> Option<usize> {
        let version = tolerant_version(version);
        let is_own_version = match (&version, &self.version) {
            (Some(wanted), Some(own)) => wanted == own,
            _ => true,
        };
        if name == self.name && is_own_version {
            return None;
        }
        let known = self
            .externals
            .iter()
            .position(|external| external.name == name && external.version == version);
        Some(known.unwrap_or_else(|| {
            let schema = if name == "pulumi" {
                Some(crate::pulumi_package())
            } else {
                self.options.packages.find(&name, version.as_ref())
            };
            self.externals.push(ExternalPackage {
                name,
                version,
                schema,
            });
            self.externals.len() - 1
        }))
    }

    fn internal(
        &mut self,
        text: &'d str,
        section: Section,
        token: String,
        underlying: Option<Primitive>,
        at: &At<'_>,
    ) -> TypeKind<'d> {
        match section {
            Section::Provider => {
                if !token.is_empty() {
                    let message = format!(
                        "reference to provider resource '{token}' is deprecated, use '#/provider'"
                    );
                    self.problems.warning(at, message);
                }
                return TypeKind::Provider;
            }
            Section::Resource => {
                if let Some(position) = self.sections.resources.position(&token) {
                    return TypeKind::Resource(position);
                }
                let message = format!("resource type {token} not found in package {}", self.name);
                self.problems.error(at, message);
                return TypeKind::Invalid;
            }
            Section::Type => {}
        }
        if let Some(position) = self.sections.types.position(&token) {
            return TypeKind::Defined(position);
        }
        if !self.options.allow_dangling && self.dangling.insert(token.clone()) {
            let message = format!("type {token} not found in package {}", self.name);
            self.problems.error(at, message);
        }
        TypeKind::Opaque(Box::new(Opaque {
            token,
            reference: text,
            underlying,
        }))
    }

    fn member_of(
        &mut self,
        package: usize,
        section: Section,
        token: String,
        underlying: Option<Primitive>,
        at: &At<'_>,
    ) -> TypeKind<'d> {
        let external = &self.externals[package];
        let name = external.name.clone();
        let mut enum_type = None;
        match external.schema.clone() {
            None if self.options.allow_dangling => {}
            None => {
                if self.dangling.insert(format!("package {name}")) {
                    let message = format!("the schema of package {name} cannot be found");
                    self.problems
                        .expected(at, message, "the plugin to be installed");
                }
            }
            Some(schema) => match find(&schema, section, &token) {
                Ok(found) => enum_type = found,
                Err(()) if self.options.allow_dangling => {}
                Err(()) => {
                    let kind = match section {
                        Section::Type => "type",
                        Section::Resource | Section::Provider => "resource type",
                    };
                    let message = format!("{kind} {token} not found in package {name}");
                    self.problems.error(at, message);
                }
            },
        }
        TypeKind::External(Box::new(External {
            package,
            section,
            token: if token.is_empty() {
                format!("pulumi:providers:{name}")
            } else {
                token
            },
            enum_type,
            underlying,
        }))
    }
}

/// Looks up a member of another package; returns the type of its values if it is an enum.
fn find(schema: &PackageSchema, section: Section, token: &str) -> Result<Option<Primitive>, ()> {
    match section {
        Section::Provider => Ok(None),
        Section::Resource => {
            let exists = schema.resource_tokens().any(|known| known == token);
            exists.then_some(None).ok_or(())
        }
        Section::Type => match schema.type_definition(token) {
            Some(Ok(definition)) => Ok(match &*definition {
                TypeDefinition::Enum(definition) => Some(definition.underlying),
                TypeDefinition::Object(_) => None,
            }),
            _ => Err(()),
        },
    }
}
