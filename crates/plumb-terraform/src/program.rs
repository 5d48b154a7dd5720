//! A whole configuration: a file of PCL for each file.

use std::collections::{BTreeMap, BTreeSet};

use hcl_edit::Decorate;
use hcl_edit::structure::{Block, Structure};
use serde_json::Value as Json;

use crate::convert::{Context, Converter};
use crate::coverage::Coverage;
use crate::module::{Module, providers, sources};
use crate::notes::Note;
use crate::packages::{Packages, package_of};
use crate::source::{Configuration, ModuleFile, ModuleSource, stem};
use crate::text::{commented, comments};

/// A converted configuration.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Converted {
    /// PCL by path.
    pub files: BTreeMap<String, String>,
    /// Notes on the parts that were not converted, by file and line.
    pub notes: Vec<Note>,
    /// Settings of the project, by key with the package: those of its default providers.
    pub settings: BTreeMap<String, Json>,
    /// Folders of the modules: in the configuration, and in the converted program, which reads files there.
    pub folders: Vec<(String, String)>,
    /// The share of the attributes of resources without a note.
    pub coverage: Coverage,
}

impl Configuration {
    /// The providers in use, with the packages that stand for them.
    pub fn providers(&self) -> Vec<(String, String)> {
        let sources = sources(&self.modules);
        let names = providers(&self.modules).into_iter();
        let pairs = names.map(|name| {
            let source = sources.get(&name).map_or(name.as_str(), String::as_str);
            let package = package_of(source).to_owned();
            (name, package)
        });
        pairs.collect()
    }

    /// Number of attributes and blocks of all resources.
    pub fn size(&self) -> usize {
        let files = self.modules.iter().flat_map(|it| &it.files);
        let blocks = files.flat_map(|it| it.body.get_blocks("resource"));
        blocks.map(|it| it.body.len()).sum()
    }
}

/// Converts a configuration with what is known of its packages.
pub fn convert(configuration: &Configuration, packages: &Packages) -> Converted {
    let context = Context::new(configuration, packages);
    let mut converted = Converted::default();
    for module in &context.modules {
        let folders = (module.source.folder.clone(), module.target.clone());
        converted.folders.push(folders);
        for file in &module.source.files {
            convert_file(&context, module, file, &mut converted);
            converted.coverage.add(file, &converted.notes);
        }
    }
    converted
}

/// The modules of a configuration, the root module first.
pub(crate) fn modules_of(configuration: &Configuration) -> Vec<Module<'_>> {
    let targets = targets(&configuration.modules);
    let modules = configuration.modules.iter().zip(targets);
    modules
        .map(|(source, target)| Module::new(source, target))
        .collect()
}

/// The folders of converted modules: as they were below the root module, modules from elsewhere in `modules`.
fn targets(modules: &[ModuleSource]) -> Vec<String> {
    let root = modules.first().map_or("", |it| it.folder.as_str());
    let mut taken = BTreeSet::new();
    let targets = modules.iter().enumerate().map(|(at, module)| {
        if at == 0 {
            return String::new();
        }
        let folder = module.folder.as_str();
        let inner = match root {
            "" => folder,
            root => folder.strip_prefix(&format!("{root}/")).unwrap_or(folder),
        };
        let wanted = match inner.strip_prefix(".terraform/modules/") {
            Some(installed) => format!("modules/{}", installed.replace(['.', '/'], "-")),
            // The root module is an example of a module above it.
            None if inner.is_empty() => "modules/root".to_owned(),
            None => inner.to_owned(),
        };
        let more = (2..).map(|number| format!("{wanted}-{number}"));
        let mut names = std::iter::once(wanted.clone()).chain(more);
        let name = names.find(|it| taken.insert(it.clone()));
        name.unwrap_or(wanted)
    });
    targets.collect()
}

fn convert_file<'c>(
    context: &Context<'c>,
    module: &Module<'c>,
    file: &ModuleFile,
    converted: &mut Converted,
) {
    let converter = Converter::new(context, module, file);
    let mut pieces = Vec::new();
    for structure in &file.body {
        match structure {
            Structure::Block(block) => converter.block(block, converted, &mut pieces),
            Structure::Attribute(attribute) => {
                converter.note(attribute, "an attribute outside of blocks means nothing");
                let text = converter.kept(attribute);
                converter.piece(Vec::new(), &text, &mut pieces, &mut converted.notes);
            }
        }
    }
    let rest = plumb_pcl::comments(file.body.decor().suffix());
    if !rest.is_empty() {
        pieces.push(commented(rest.iter().map(String::as_str)));
    }
    let text = pieces.join("\n");
    let stem = stem(file.name()).unwrap_or(file.name());
    let in_folder = |name: &str| match module.target.as_str() {
        "" => format!("{name}.pp"),
        folder => format!("{folder}/{name}.pp"),
    };
    let mut path = in_folder(stem);
    if converted.files.contains_key(&path) {
        // `main.tf` and `main.tf.json` may stand side by side.
        path = in_folder(&format!("{stem}-json"));
    }
    let laid_out = match plumb_pcl::format(&path, &text) {
        Ok(laid_out) => laid_out,
        Err(problem) => {
            converted.notes.push(Note {
                original: Vec::new(),
                file: file.source.name.clone(),
                line: 1,
                text: format!(
                    "the converted file cannot be read; please report this: {}",
                    problem.summary
                ),
            });
            text
        }
    };
    if !laid_out.trim().is_empty() {
        converted.files.insert(path, laid_out);
    }
}

impl Converter<'_, '_> {
    /// Converts a block into pieces of text.
    fn block(&self, block: &Block, converted: &mut Converted, pieces: &mut Vec<String>) {
        let above = comments(block);
        let text = match (block.ident.as_str(), block.labels.len()) {
            ("variable", 1) => Some(self.variable_block(block)),
            ("output", 1) => {
                let description = block.body.get_attribute("description");
                let description = description.and_then(|it| it.value.as_str());
                let comment = commented(description.unwrap_or_default().lines());
                Some(format!("{comment}{}", self.output_block(block)))
            }
            ("locals", 0) => return self.locals(block, above, converted, pieces),
            ("resource" | "data", 2) if self.is_left_out(block) => {
                let kind = block.labels[0].as_str();
                self.note(
                    &block.labels[0],
                    format!("no type of a package is known for {kind}, so it is left out"),
                );
                None
            }
            ("resource", 2) => Some(self.resource_block(block)),
            ("data", 2) => Some(self.data_block(block)),
            ("module", 1) => {
                self.call.replace(Some(block.labels[0].as_str().to_owned()));
                let text = self.call_block(block);
                self.call.replace(None);
                text
            }
            ("provider", 1) if self.is_provider_left_out(block.labels[0].as_str()) => {
                let text =
                    "the package of this provider is not known, so its settings are left out";
                self.note(&block.labels[0], text);
                None
            }
            ("provider", 1) => {
                self.project_settings(block, converted);
                let text = self.provider_block(block);
                if text.is_none() && above.is_empty() {
                    return;
                }
                Some(text.unwrap_or_default())
            }
            ("terraform", 0) => {
                self.settings(block);
                Some(String::new())
            }
            // What is known of a resource's past, and what is imported, is used where the resource is.
            ("moved" | "import", 0) => return,
            ("check", _) => {
                self.note(
                    block,
                    "checks are not converted; a policy pack can check the same",
                );
                None
            }
            ("removed", 0) => {
                self.note(block, "what was removed is not in the converted program");
                None
            }
            (other, _) => {
                self.note(
                    block,
                    format!("blocks of the kind {other:?} are not converted"),
                );
                None
            }
        };
        let text = text.unwrap_or_else(|| self.kept(block));
        self.piece(above, &text, pieces, &mut converted.notes);
    }

    /// Adds a piece with the comments above it and what it does not have of the original.
    fn piece(
        &self,
        above: Vec<String>,
        text: &str,
        pieces: &mut Vec<String>,
        notes: &mut Vec<Note>,
    ) {
        let mut piece = commented(above.iter().map(String::as_str));
        for note in self.take_notes() {
            piece.push_str(&commented(format!("TODO: {}", note.text).lines()));
            let original = note.original.iter().map(|line| format!("  {line}"));
            piece.push_str(&commented(
                original.collect::<Vec<_>>().iter().map(String::as_str),
            ));
            notes.push(note);
        }
        piece.push_str(text);
        if !piece.is_empty() {
            pieces.push(piece);
        }
    }

    fn locals(
        &self,
        block: &Block,
        above: Vec<String>,
        converted: &mut Converted,
        pieces: &mut Vec<String>,
    ) {
        let mut text = String::new();
        for attribute in block.body.attributes() {
            let comments = comments(attribute);
            text.push_str(&commented(comments.iter().map(String::as_str)));
            let last = self.module.locals.get(attribute.key.as_str());
            if last.is_some_and(|it| std::ptr::eq(*it, &raw const attribute.value)) {
                text.push_str(&self.local(attribute));
            } else {
                self.note(attribute, "this local value is declared twice");
                text.push_str(&self.kept(attribute));
            }
        }
        self.piece(above, &text, pieces, &mut converted.notes);
    }

    fn project_settings(&self, block: &Block, converted: &mut Converted) {
        if !std::ptr::eq(self.module, &raw const self.context.modules[0]) {
            return;
        }
        let providers = self.module.providers.iter();
        for provider in providers.filter(|it| std::ptr::eq(it.block, block)) {
            let settings = self.settings_of(provider).unwrap_or_default();
            converted.settings.extend(settings);
        }
    }

    fn settings(&self, block: &Block) {
        for inner in block.body.blocks() {
            let label = inner.labels.first().map_or("", |it| it.as_str());
            match inner.ident.as_str() {
                "backend" => self.note(inner, format!("the state was kept by the backend {label:?}; log in to a store with `plumb login`")),
                "cloud" => self.note(inner, "the state was kept by a service; log in to a store with `plumb login`"),
                _ => {}
            }
        }
    }
}
