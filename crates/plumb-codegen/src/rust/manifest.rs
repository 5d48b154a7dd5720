//! `Cargo.toml`, the root of the crate, and what says which plugin it needs.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::model::Sdk;
use super::{names, text};
use crate::plugin;
use crate::writer::Writer;

/// The version of the crate for programs that generated code needs.
const SDK_VERSION: &str = "0.1";

impl Sdk<'_, '_> {
    /// Files beside the sources.
    pub(super) fn manifests(
        &self,
        local_dependencies: &BTreeMap<String, String>,
    ) -> Vec<(&'static str, String)> {
        let plugin = plugin::describe(self.package, true);
        vec![
            ("Cargo.toml", self.cargo_toml(local_dependencies)),
            ("README.md", plugin::readme(self.package, None)),
            ("pulumi-plugin.json", format!("{plugin:#}\n")),
        ]
    }

    fn cargo_toml(&self, local_dependencies: &BTreeMap<String, String>) -> String {
        let package = self.package;
        let version = package
            .version
            .as_ref()
            .map_or("0.0.0".to_owned(), ToString::to_string);
        let mut writer = Writer::new();
        writer.line(&["# @generated from a package schema."]);
        writer.line(&["[package]"]);
        writer.line(&["name = ", &text::literal(&self.crate_name())]);
        writer.line(&["version = ", &text::literal(&version)]);
        writer.line(&["edition = \"2024\""]);
        let description = package.about.description.and_then(|it| it.lines().next());
        let description: String = description
            .unwrap_or(package.name)
            .chars()
            .filter(|it| !it.is_control())
            .collect();
        writer.line(&["description = ", &toml_string(&description)]);
        writer.blank();
        writer.line(&["[lib]"]);
        writer.line(&["doctest = false"]);
        writer.blank();
        writer.line(&["[dependencies]"]);
        let source = match local_dependencies.get("pulumi") {
            Some(path) => format!("path = {}", toml_string(path)),
            None => format!("version = \"{SDK_VERSION}\""),
        };
        let dependency = format!("plumb = {{ package = \"plumb-sdk\", {source} }}");
        writer.line(&[&dependency]);
        writer.blank();
        writer.line(&[
            "# A module is compiled if its feature is on; it implies the modules that it mentions.",
        ]);
        writer.line(&["[features]"]);
        writer.line(&["default = []"]);
        let modules: Vec<&String> = self.modules.keys().filter(|it| !it.is_empty()).collect();
        for module in &modules {
            let mentions = list(&self.modules[*module].mentions);
            writer.line(&[module, " = [", &mentions, "]"]);
        }
        let all: BTreeSet<String> = modules.into_iter().cloned().collect();
        writer.line(&["full = [", &list(&all), "]"]);
        writer.finish()
    }

    fn crate_name(&self) -> String {
        names::crate_name(self.package.name)
    }

    /// Items at the root of the crate beside its modules.
    pub(super) fn write_root(&self, writer: &mut Writer) {
        let package = self.package;
        let title = format!("The package `{}`.", package.name);
        let description = package.about.description.and_then(|it| it.lines().next());
        let description = description.unwrap_or(&title);
        writer.line(&["#![doc = ", &text::literal(description), "]"]);
        writer.line(&[
            "#![allow(deprecated, dead_code, non_camel_case_types, clippy::all, rustdoc::all)]",
        ]);
        writer.blank();
        writer.line(&["pub mod missing;"]);
        for module in self.modules.keys().filter(|it| !it.is_empty()) {
            writer.line(&["#[cfg(feature = ", &text::literal(module), ")]"]);
            writer.line(&["pub mod ", module, ";"]);
        }
        writer.blank();
        writer.line(&["/// Options that every resource of the package has."]);
        let options = self.common_options("K");
        writer.block(
            &["pub(crate) fn options<K>() -> ::plumb::Options<K> {"],
            "}",
            |writer| {
                writer.line(&[&options]);
            },
        );
        writer.blank();
        self.write_invoke_options(writer);
        if let Some(provider) = &package.provider {
            self.write_resource(writer, provider);
        }
    }

    fn write_invoke_options(&self, writer: &mut Writer) {
        let mut options = "::plumb::InvokeOptions::new()".to_owned();
        let package = self.package;
        if package.parameterization.is_some() {
            options.push_str(".package(&package())");
        } else {
            if let Some(version) = &package.version {
                let _ = write!(options, ".version({})", text::literal(&version.to_string()));
            }
            if let Some(url) = package.download_url {
                let _ = write!(options, ".plugin_download_url({})", text::literal(url));
            }
        }
        writer.line(&["/// Options that every call of a function of the package has."]);
        let open = "pub(crate) fn invoke_options() -> ::plumb::InvokeOptions {";
        writer.block(&[open], "}", |writer| writer.line(&[&options]));
        writer.blank();
        let Some(parameterization) = &package.parameterization else {
            return;
        };
        let version = package
            .version
            .as_ref()
            .map(ToString::to_string)
            .unwrap_or_default();
        let texts = [
            parameterization.base_name,
            parameterization.base_version,
            package.name,
            &version,
            parameterization.parameter,
        ]
        .map(text::literal);
        let [base, base_version, name, version, parameter] = texts;
        let extension = if parameterization.is_extension {
            ".extension()"
        } else {
            ""
        };
        writer.line(&["/// How the package is made from another one."]);
        writer.block(&["pub(crate) fn package() -> ::plumb::Package {"], "}", |writer| {
            let line = format!(
                "::plumb::Package::from_base64(({base}, {base_version}), {name}, {version}, {parameter}){extension}"
            );
            writer.line(&[&line]);
        });
        writer.blank();
    }
}

/// A string of TOML: escapes of Rust that TOML does not know do not occur without control characters.
fn toml_string(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

fn list(items: &BTreeSet<String>) -> String {
    let items: Vec<String> = items.iter().map(|it| text::literal(it)).collect();
    items.join(", ")
}
