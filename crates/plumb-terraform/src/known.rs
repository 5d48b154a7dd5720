//! Functions whose result is known when a configuration is converted: it is written as a value.

use std::fs;
use std::path::Path;

use globset::GlobBuilder;
use hcl_edit::expr::{Expression, FuncCall};
use hcl_edit::template::Element;
use plumb_eval::hcl;
use plumb_project::yaml;
use serde_json::Value as Json;

use crate::convert::Converter;
use crate::source::{Configuration, normal};

/// Maximum depth of folders below the one in which files are looked for.
const DEEPEST: usize = 32;

impl Converter<'_, '_> {
    /// The files in a folder that match a pattern, as a list; `None` if that is not known.
    pub(crate) fn file_set(&self, call: &FuncCall) -> Option<String> {
        let args: Vec<&Expression> = call.args.iter().collect();
        let [folder, pattern] = args[..] else {
            return None;
        };
        let folder = self.known_path(folder)?;
        let files = self
            .context
            .configuration
            .matching(&folder, pattern.as_str()?)?;
        self.note_of(call, "these are the files at the time of the conversion");
        let items: Vec<String> = files.iter().map(|it| hcl::quoted(it)).collect();
        Some(hcl::list(&items))
    }

    /// The value of a YAML document that is a plain text or a file; `None` if that is not known.
    pub(crate) fn yaml_value(&self, call: &FuncCall) -> Option<String> {
        let argument = call.args.iter().next()?;
        let text = match argument {
            Expression::FuncCall(inner) if inner.name.name.as_str() == "file" => {
                let path = self.known_path(inner.args.iter().next()?)?;
                let text = self.context.configuration.text(&path)?;
                self.note_of(call, "this is the file at the time of the conversion");
                text
            }
            plain => plain.as_str()?.to_owned(),
        };
        let document = yaml::parse(&text).ok()?;
        match document.root {
            Some(root) => Some(written(&yaml::to_json(&root).ok()?)),
            None => Some("null".to_owned()),
        }
    }

    /// Path of a file or folder within the configuration.
    fn known_path(&self, path: &Expression) -> Option<String> {
        let modules = &self.context.configuration.modules;
        let folder_of = |reference: &Expression| match crate::module::address(reference).as_str() {
            "path.module" => Some(self.module.source.folder.as_str()),
            "path.root" | "path.cwd" => Some(modules[0].folder.as_str()),
            _ => None,
        };
        let (folder, rest) = match path {
            Expression::String(plain) => (modules[0].folder.as_str(), plain.as_str().to_owned()),
            Expression::StringTemplate(template) => {
                let mut parts = template.iter();
                let Some(Element::Interpolation(first)) = parts.next() else {
                    return None;
                };
                let rest: Option<String> = parts
                    .map(|it| Some(it.as_literal()?.value().clone()))
                    .collect();
                (folder_of(&first.expr)?, rest?)
            }
            reference => (folder_of(reference)?, String::new()),
        };
        normal(&format!("{folder}/{rest}"))
    }
}

impl Configuration {
    /// Files below a folder whose paths from there match a pattern, in order; `None` if the pattern is not valid or there
    /// is no such folder.
    fn matching(&self, folder: &str, pattern: &str) -> Option<Vec<String>> {
        let glob = GlobBuilder::new(pattern)
            .literal_separator(true)
            .build()
            .ok()?;
        let glob = glob.compile_matcher();
        let mut files = Vec::new();
        files_below(&self.folder.join(folder), "", DEEPEST, &mut files)?;
        files.retain(|it| glob.is_match(it));
        files.sort();
        Some(files)
    }
}

/// Adds the files below a folder. Symbolic links are not followed, because they may lead out of the configuration.
fn files_below(folder: &Path, prefix: &str, depth: usize, files: &mut Vec<String>) -> Option<()> {
    for entry in fs::read_dir(folder).ok()? {
        let entry = entry.ok()?;
        let kind = entry.file_type().ok()?;
        let name = format!("{prefix}{}", entry.file_name().to_str()?);
        if kind.is_file() {
            files.push(name);
        } else if kind.is_dir() && depth > 0 {
            files_below(&entry.path(), &format!("{name}/"), depth - 1, files)?;
        }
    }
    Some(())
}

/// A value as an expression.
fn written(value: &Json) -> String {
    match value {
        Json::String(text) => hcl::quoted(text),
        Json::Array(items) => hcl::list(&items.iter().map(written).collect::<Vec<_>>()),
        Json::Object(entries) => {
            let entries = entries.iter().map(|(key, it)| (hcl::key(key), written(it)));
            hcl::object(&entries.collect::<Vec<_>>())
        }
        scalar => scalar.to_string(),
    }
}
