//! YAML programs as PCL (`codegen.md` 14), for programs in other languages.
//!
//! Entries become blocks and attributes, in the order settings, variables, resources, outputs; stacks that
//! `fn::stackReference` names become resources. Names that PCL cannot have, and names of its functions, get another
//! identifier and keep their own as the logical name. Comments at entries and at properties of resources are kept. The text is not
//! laid out: `plumb_pcl::format` does that.

mod comments;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use ecow::EcoString;
use plumb_eval::hcl;

use comments::{Comments, Subject};

use crate::config::{ConfigDecl, ConfigType};
use crate::diagnostic::Diagnostic;
use crate::load::{LoadError, Loaded};
use crate::snippet::Writer;
use crate::syntax::expression::Scope;
use crate::syntax::program::{self, AliasDecl, Properties, ResourceDecl, ResourceOptions, Syntax};
use crate::syntax::source::SourceFile;

/// A program in PCL, as far as it could be made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AsPcl {
    /// The text.
    pub text: String,
    /// Problems of the YAML program, and parts without a form in PCL, each with its place.
    pub problems: Vec<String>,
}

/// Translates the program of `folder`.
pub fn folder_as_pcl(folder: &Path) -> Result<AsPcl, LoadError> {
    let loaded = Loaded::from(folder)?;
    Ok(translate(&loaded.syntax, loaded.diagnostics))
}

/// Translates a program; messages call it `name`.
pub fn program_as_pcl(name: &str, text: &str) -> AsPcl {
    let source = Arc::new(SourceFile::new(name, name.into(), text));
    let (syntax, diagnostics) = program::parse(&source);
    translate(&syntax, diagnostics)
}

fn translate(syntax: &Syntax, diagnostics: Vec<Diagnostic>) -> AsPcl {
    let mut names = Names::default();
    for config in &syntax.config {
        names.add(&config.key.text);
    }
    for (key, _) in &syntax.variables {
        names.add(&key.text);
    }
    for resource in &syntax.resources {
        names.add(&resource.key.text);
    }
    let stacks: Vec<String> = syntax
        .calls
        .stacks
        .iter()
        .map(|stack| names.fresh(&format!("{}Stack", last_step(&stack.name))))
        .collect();
    let mut translation = Translation {
        writer: Writer {
            calls: &syntax.calls,
            names: names.identifiers.clone(),
            stacks: stacks.clone(),
            problems: diagnostics,
        },
        text: String::new(),
        comments: Comments::of(&syntax.source.text),
    };
    translation.comments_at(&Subject::Program);
    if !translation.text.is_empty() {
        translation.text.push('\n');
    }
    if let Some(version) = &syntax.required_version {
        let version = translation.writer.expression(version);
        let _ = writeln!(
            translation.text,
            "pulumi {{\n requiredVersionRange = {version}\n}}"
        );
    }
    for config in &syntax.config {
        translation.config(config);
    }
    for (name, stack) in stacks.iter().zip(&syntax.calls.stacks) {
        let stack_name = hcl::quoted(&stack.name);
        let _ = writeln!(
            translation.text,
            "resource {name} \"pulumi:pulumi:StackReference\" {{\n __logicalName = {stack_name}\n name = {stack_name}\n}}"
        );
    }
    for (key, value) in &syntax.variables {
        let value = translation.writer.expression(value);
        let name = translation.name(&key.text);
        translation.comments_at(&Subject::Declared(key.text.to_string()));
        let _ = writeln!(translation.text, "{name} = {value}");
    }
    for resource in &syntax.resources {
        translation.resource(resource);
    }
    let mut outputs = BTreeSet::new();
    for (key, value) in &syntax.outputs {
        let value = translation.writer.expression(value);
        let mut name = identifier(&key.text);
        while !outputs.insert(name.clone()) {
            name.push('_');
        }
        let logical = logical(&name, &key.text);
        translation.comments_at(&Subject::Output(key.text.to_string()));
        let _ = writeln!(
            translation.text,
            "output {name} {{\n{logical} value = {value}\n}}"
        );
    }
    let problems = translation.writer.problems.iter();
    let problems = problems
        .filter(|it| it.is_error())
        .map(|it| it.one_line(&syntax.source))
        .collect();
    AsPcl {
        text: translation.text,
        problems,
    }
}

/// Identifiers of PCL for names in YAML.
#[derive(Default)]
struct Names {
    identifiers: BTreeMap<EcoString, String>,
    taken: BTreeSet<String>,
}

impl Names {
    fn add(&mut self, name: &EcoString) {
        let fresh = self.fresh(name);
        self.identifiers.insert(name.clone(), fresh);
    }

    fn fresh(&mut self, name: &str) -> String {
        let mut wanted = identifier(name);
        while !self.taken.insert(wanted.clone()) {
            wanted.push('_');
        }
        wanted
    }
}

fn last_step(stack: &str) -> &str {
    stack.rsplit('/').next().unwrap_or(stack)
}

/// A name that PCL can have.
fn identifier(name: &str) -> String {
    let mut result = String::with_capacity(name.len());
    let mut is_next_upper = false;
    for char in name.chars() {
        if char.is_alphanumeric() || char == '_' {
            if is_next_upper && !result.is_empty() {
                result.extend(char.to_uppercase());
            } else {
                result.push(char);
            }
            is_next_upper = false;
        } else {
            is_next_upper = true;
        }
    }
    let is_start = result.starts_with(|char: char| char.is_alphabetic() || char == '_');
    let is_word = matches!(result.as_str(), "null" | "true" | "false" | "for" | "range");
    if !is_start || is_word {
        result.insert(0, '_');
    }
    result
}

/// The attribute for a name that is not the identifier.
fn logical(identifier: &str, name: &str) -> String {
    if identifier == name {
        String::new()
    } else {
        format!(" __logicalName = {}\n", hcl::quoted(name))
    }
}

struct Translation<'a> {
    writer: Writer<'a>,
    text: String,
    comments: Comments,
}

impl Translation<'_> {
    fn name(&self, name: &EcoString) -> String {
        self.writer.names.get(name).cloned().unwrap_or_default()
    }

    fn comments_at(&mut self, subject: &Subject) {
        self.comments.write(subject, &mut self.text);
    }

    fn config(&mut self, config: &ConfigDecl) {
        let name = self.name(&config.key.text);
        self.comments_at(&Subject::Declared(config.key.text.to_string()));
        let ty = config.ty.as_ref().and_then(config_type);
        let ty = ty.map(|ty| format!(" {}", hcl::quoted(&ty)));
        let _ = writeln!(self.text, "config {name}{} {{", ty.unwrap_or_default());
        let key = config.name.as_ref().unwrap_or(&config.key.text);
        self.text.push_str(&logical(&name, key));
        if let Some(description) = &config.description {
            let _ = writeln!(self.text, " description = {}", hcl::quoted(description));
        }
        if config.secret == Some(true) {
            self.text.push_str(" secret = true\n");
        }
        if let Some(default) = &config.default {
            let mut scope = Scope::default();
            let default = scope.expression(default);
            let default = self.writer.expression(&default);
            let _ = writeln!(self.text, " default = {default}");
        }
        self.text.push_str("}\n");
    }

    fn resource(&mut self, resource: &ResourceDecl) {
        let name = self.name(&resource.key.text);
        let token = hcl::quoted(&resource.type_token);
        let read = resource.read();
        let word = if read.is_some() { "read" } else { "resource" };
        let own = resource.key.text.to_string();
        self.comments_at(&Subject::Declared(own.clone()));
        let _ = writeln!(self.text, "{word} {name} {token} {{");
        self.text.push_str(&logical(&name, resource.logical_name()));
        if let Some((get, id)) = read {
            let id = self.writer.expression(id);
            let _ = writeln!(self.text, " id = {id}");
            for (key, value) in &get.state {
                self.attribute(&key.text, value);
            }
        }
        match &resource.properties {
            Properties::None => {}
            Properties::Map(entries) => {
                for (key, value) in entries {
                    let property = Subject::Property(own.clone(), key.text.to_string());
                    self.comments_at(&property);
                    self.attribute(&key.text, value);
                }
            }
            Properties::Expr(expr) => {
                let what = "properties that are one expression have no form in PCL";
                self.writer.error(expr.span, what);
            }
        }
        self.options(resource.options());
        self.text.push_str("}\n");
    }

    fn attribute(&mut self, name: &str, value: &crate::syntax::expression::Expr) {
        if !hcl::is_identifier(name) {
            let what = format!("the property '{name}' cannot be named in PCL");
            return self.writer.error(value.span, what);
        }
        let value = self.writer.expression(value);
        let _ = writeln!(self.text, " {name} = {value}");
    }

    fn options(&mut self, options: &ResourceOptions) {
        let mut written = Vec::new();
        for (name, expr) in [
            ("parent", &options.parent),
            ("provider", &options.provider),
            ("providers", &options.providers),
            ("dependsOn", &options.depends_on),
            ("protect", &options.protect),
            ("deletedWith", &options.deleted_with),
            ("replaceWith", &options.replace_with),
            ("replacementTrigger", &options.replacement_trigger),
            ("envVarMappings", &options.env_var_mappings),
        ] {
            if let Some(expr) = expr {
                written.push((name, self.writer.expression(expr)));
            }
        }
        for (name, flag) in [
            ("retainOnDelete", options.retain_on_delete),
            ("deleteBeforeReplace", options.delete_before_replace),
        ] {
            written.extend(flag.map(|flag| (name, flag.to_string())));
        }
        for (name, paths) in [
            ("ignoreChanges", &options.ignore_changes),
            ("hideDiffs", &options.hide_diffs),
            ("replaceOnChanges", &options.replace_on_changes),
            (
                "additionalSecretOutputs",
                &options.additional_secret_outputs,
            ),
        ] {
            if !paths.is_empty() {
                let paths: Vec<String> = paths.iter().map(|path| hcl::quoted(path)).collect();
                written.push((name, hcl::list(&paths)));
            }
        }
        if let Some(import) = &options.import {
            written.push(("import", hcl::quoted(import)));
        }
        if let Some((version, _)) = &options.version {
            written.push(("version", hcl::quoted(version)));
        }
        if let Some(url) = &options.download_url {
            written.push(("pluginDownloadURL", hcl::quoted(url)));
        }
        if let Some(timeouts) = &options.custom_timeouts {
            let all = [
                ("create", &timeouts.create),
                ("update", &timeouts.update),
                ("delete", &timeouts.delete),
                ("read", &timeouts.read),
            ];
            let entries = all.into_iter().filter_map(|(name, value)| {
                let value = value.as_ref()?;
                Some((name.to_owned(), self.writer.expression(value)))
            });
            let entries: Vec<(String, String)> = entries.collect();
            written.push(("customTimeouts", hcl::object(&entries)));
        }
        if !options.aliases.is_empty() {
            let aliases = options.aliases.iter().map(|it| self.alias(it));
            let aliases: Vec<String> = aliases.collect();
            written.push(("aliases", hcl::list(&aliases)));
        }
        if written.is_empty() {
            return;
        }
        self.text.push_str(" options {\n");
        for (name, value) in written {
            let _ = writeln!(self.text, "  {name} = {value}");
        }
        self.text.push_str(" }\n");
    }

    fn alias(&mut self, alias: &AliasDecl) -> String {
        match alias {
            AliasDecl::Urn(urn) => self.writer.expression(urn),
            AliasDecl::Spec {
                name,
                type_token,
                stack,
                project,
                parent,
                no_parent,
            } => {
                if let Some(expr) = stack.as_ref().or(project.as_ref()) {
                    let what = "aliases of other stacks and projects have no form in PCL";
                    self.writer.error(expr.span, what);
                }
                let mut entries = Vec::new();
                for (key, value) in [("name", name), ("type", type_token), ("parent", parent)] {
                    if let Some(value) = value {
                        entries.push((key.to_owned(), self.writer.expression(value)));
                    }
                }
                if *no_parent {
                    entries.push(("noParent".to_owned(), "true".to_owned()));
                }
                hcl::object(&entries)
            }
        }
    }
}

fn config_type(ty: &ConfigType) -> Option<String> {
    Some(match ty {
        ConfigType::String => "string".to_owned(),
        ConfigType::Number => "number".to_owned(),
        ConfigType::Integer => "int".to_owned(),
        ConfigType::Bool => "bool".to_owned(),
        ConfigType::Object => "any".to_owned(),
        ConfigType::List(element) => format!("list({})", config_type(element)?),
    })
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn entries_become_blocks() {
        let yaml = "config:\n  size: {type: integer, default: 3}\nvariables:\n  a-b: ${size}\nresources:\n  pet:\n    type: random:RandomPet\n    name: my-pet\n    properties: {length: \"${a-b}\"}\n    options: {protect: true, ignoreChanges: [\"tags.x\"]}\noutputs:\n  pet: ${pet.id}\n";
        let made = program_as_pcl("Main.yaml", yaml);
        assert_eq!(made.problems, Vec::<String>::new());
        assert_eq!(
            made.text,
            "config size \"int\" {\n default = 3\n}\naB = size\nresource pet \"random:RandomPet\" {\n __logicalName = \"my-pet\"\n length = aB\n options {\n  protect = true\n  ignoreChanges = [\"tags.x\"]\n }\n}\noutput pet {\n value = pet.id\n}\n"
        );
    }

    #[test]
    fn comments_stay_at_what_they_are_about() {
        let yaml = "# The program.\n\n# All.\nresources:\n  # A pet.\n  # It is tame.\n  pet:\n    type: random:RandomPet\n    properties:\n      # Words.\n      length: 2 # not more\noutputs:\n  # Its name.\n  pet: ${pet.id}\n";
        let made = program_as_pcl("Main.yaml", yaml);
        assert_eq!(
            made.text,
            "# The program.\n\n# All.\n# A pet.\n# It is tame.\nresource pet \"random:RandomPet\" {\n# Words.\n# not more\n length = 2\n}\n# Its name.\noutput pet {\n value = pet.id\n}\n"
        );
    }

    #[test]
    fn stacks_become_resources() {
        let yaml = "outputs:\n  x: ${unfinished\n";
        assert!(!program_as_pcl("Main.yaml", yaml).problems.is_empty());
        let yaml = "outputs:\n  x:\n    fn::stackReference: [org/proj/dev, url]\n";
        let made = program_as_pcl("Main.yaml", yaml);
        assert!(
            made.text.contains("getOutput(devStack, \"url\")"),
            "{}",
            made.text
        );
    }
}
