//! Binding of relations to other packages (`schema.md` 4).

use std::sync::LazyLock;

use regex::Regex;

use super::{Binder, flag, pattern, place, text};
use crate::bound::{Dependency, Parameterization};
use crate::document::Node;
use crate::problem::At;

static BASE64: LazyLock<Regex> = LazyLock::new(|| pattern("^[A-Za-z0-9+/]*={0,2}$"));

impl<'d> Binder<'d, '_> {
    pub(super) fn dependencies(&mut self) -> Vec<Dependency<'d>> {
        let list = self.root_place("dependencies");
        let specs = self.root.get("dependencies").map(Node::items);
        let specs = specs.unwrap_or_default();
        specs
            .iter()
            .enumerate()
            .filter_map(|(index, spec)| self.dependency(spec, &list.index(index, spec.offset)))
            .collect()
    }

    fn dependency(&mut self, spec: &'d Node<'d>, at: &At<'_>) -> Option<Dependency<'d>> {
        let Some(plugin) = text(spec, "name") else {
            self.problems
                .expected(at, "the dependency has no name", "`name`");
            return None;
        };
        let parameter = spec.get("parameterization");
        if let Some(parameter) = parameter {
            let at = place(at, spec, "parameterization");
            for key in ["name", "version", "value"] {
                if text(parameter, key).is_none() {
                    self.problems.expected(
                        &at,
                        format!("the parameterization has no {key}"),
                        format!("`{key}`"),
                    );
                }
            }
            self.check_base64(parameter, "value", &at);
        }
        Some(Dependency {
            name: parameter.and_then(|it| text(it, "name")).unwrap_or(plugin),
            version: match parameter {
                Some(parameter) => text(parameter, "version"),
                None => text(spec, "version"),
            },
            spec,
        })
    }

    fn check_base64(&mut self, node: &'d Node<'d>, key: &'static str, at: &At<'_>) {
        if let Some(value) = text(node, key)
            && (!BASE64.is_match(value) || value.len() % 4 != 0)
        {
            let at = place(at, node, key);
            self.problems.expected(&at, "this is not base64", "base64");
        }
    }

    pub(super) fn parameterization(&mut self) -> Option<Parameterization<'d>> {
        let replacement = self.root.get("parameterization");
        let extension = self.root.get("extensionParameterization");
        if replacement.is_some() && extension.is_some() {
            self.problems.error(
                &self.root_place("parameterization"),
                "a package cannot have both parameterization and extensionParameterization",
            );
        }
        match (replacement, extension) {
            (Some(spec), _) => self.bind_parameterization(spec, false, "parameterization"),
            (None, Some(spec)) => {
                self.bind_parameterization(spec, true, "extensionParameterization")
            }
            (None, None) => None,
        }
    }

    fn bind_parameterization(
        &mut self,
        spec: &'d Node<'d>,
        is_extension: bool,
        key: &'static str,
    ) -> Option<Parameterization<'d>> {
        let at = self.root_place(key);
        let Some(base) = spec.get("baseProvider") else {
            self.problems
                .expected(&at, "there is no base provider", "`baseProvider`");
            return None;
        };
        let at_base = place(&at, spec, "baseProvider");
        let base_name = text(base, "name").unwrap_or_default();
        let base_version = text(base, "version").unwrap_or_default();
        if base_name.is_empty() {
            self.problems
                .expected(&at_base, "the base provider has no name", "`name`");
        }
        if semver::Version::parse(base_version).is_err() {
            self.problems.expected(
                &place(&at_base, base, "version"),
                format!("`{base_version}` is no version of the base provider"),
                "a semantic version such as `1.2.3`",
            );
        }
        self.check_base64(spec, "parameter", &at);
        Some(Parameterization {
            base_name,
            base_version,
            parameter: text(spec, "parameter").unwrap_or_default(),
            is_extension,
            spec,
        })
    }

    /// Whether the schema requests versions in generated code.
    pub(super) fn support_pack(&self) -> bool {
        self.root
            .get("meta")
            .is_some_and(|meta| flag(meta, "supportPack"))
    }
}
