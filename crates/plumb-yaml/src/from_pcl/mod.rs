//! YAML programs made of PCL (`codegen.md` 10, `yaml-runtime.md` 12).
//!
//! 1. `hcl-edit` reads every file.
//! 2. Blocks become entries of `configuration`, `resources`, `outputs` and `pulumi`, attributes become entries of `variables`,
//!    all in the order of the text, with the comments above them.
//! 3. `expression` turns expressions into values, references and calls of functions. A property of something that YAML has no
//!    path to becomes a variable first: `length(xs).a` refers to a variable for `length(xs)`.
//!
//! Names and types are not checked here: the check of the YAML program does that when it runs. Constructs that YAML has no
//! form for (conditions, operators, loops, components, hooks) are reported with their places.

mod entries;
mod expression;

use std::collections::BTreeSet;

use hcl_edit::Decorate as _;
use hcl_edit::expr::Expression;
use hcl_edit::structure::{Attribute, Block, Body, Structure};
use plumb_project::yaml::{Document, Node, emit};

use crate::imported::{add, has_entries, list, put, short_token};
use entries::{comments, config_type, insert_properties, logical_name};

/// One file of a PCL program.
#[derive(Clone, Debug)]
pub struct PclFile {
    /// The name that problems mention.
    pub name: String,
    /// The content.
    pub text: String,
}

/// A YAML program, as far as it could be made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Translated {
    /// The program; empty if PCL said nothing.
    pub text: String,
    /// Constructs without a form in YAML, each with its place.
    pub problems: Vec<String>,
}

/// Options whose lists name properties of the resource itself.
const PATH_OPTIONS: [&str; 4] = [
    "ignoreChanges",
    "hideDiffs",
    "replaceOnChanges",
    "additionalSecretOutputs",
];

/// Options that are written as they are.
const PLAIN_OPTIONS: [&str; 15] = [
    "aliases",
    "customTimeouts",
    "deleteBeforeReplace",
    "deletedWith",
    "dependsOn",
    "envVarMappings",
    "import",
    "parent",
    "pluginDownloadURL",
    "protect",
    "provider",
    "replaceWith",
    "replacementTrigger",
    "retainOnDelete",
    "version",
];

/// Translates a program.
pub fn from_pcl(files: &[PclFile]) -> Translated {
    let mut translator = Translator {
        file: None,
        names: BTreeSet::new(),
        config: Node::empty_mapping(),
        resources: Node::empty_mapping(),
        variables: Node::empty_mapping(),
        outputs: Node::empty_mapping(),
        settings: Node::empty_mapping(),
        problems: Vec::new(),
    };
    let mut bodies = Vec::new();
    for file in files {
        match hcl_edit::parser::parse_body(&file.text) {
            Ok(body) => {
                translator.names.extend(declared_names(&body));
                bodies.push((file, body));
            }
            Err(error) => {
                let message = format!("syntax error: {}", error.message());
                let problem = placed(file, error.location().offset(), &message);
                translator.problems.push(problem);
            }
        }
    }
    for (file, body) in &bodies {
        translator.file = Some(file);
        body.iter().for_each(|it| translator.structure(it));
    }
    translator.finish()
}

/// Names that variables made here must not take.
fn declared_names(body: &Body) -> Vec<String> {
    let name = |structure: &Structure| match structure {
        Structure::Attribute(attribute) => Some(attribute.key.as_str().to_owned()),
        Structure::Block(block) => block.labels.first().map(|it| it.as_str().to_owned()),
    };
    body.iter().filter_map(name).collect()
}

/// `message` behind file, line and column of `offset`.
fn placed(file: &PclFile, offset: usize, message: &str) -> String {
    let before = file.text.get(..offset).unwrap_or(&file.text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default();
    format!(
        "{}:{line}:{}: {message}",
        file.name,
        column.chars().count() + 1
    )
}

struct Translator<'a> {
    file: Option<&'a PclFile>,
    /// Names that are taken.
    names: BTreeSet<String>,
    config: Node,
    resources: Node,
    variables: Node,
    outputs: Node,
    settings: Node,
    problems: Vec<String>,
}

impl Translator<'_> {
    fn finish(self) -> Translated {
        let mut root = Node::empty_mapping();
        let sections = [
            // upstream: the generator writes the older of the two names of this section.
            ("configuration", self.config),
            ("resources", self.resources),
            ("variables", self.variables),
            ("outputs", self.outputs),
            ("pulumi", self.settings),
        ];
        for (name, section) in sections {
            if has_entries(&section) {
                put(&mut root, name, section);
            }
        }
        let text = if has_entries(&root) {
            emit(&Document {
                head: Vec::new(),
                root: Some(root),
                foot: Vec::new(),
            })
        } else {
            String::new()
        };
        Translated {
            text,
            problems: self.problems,
        }
    }

    fn problem(&mut self, node: &impl hcl_edit::Span, message: &str) {
        let offset = node.span().unwrap_or_default().start;
        let problem = match self.file {
            Some(file) => placed(file, offset, message),
            None => message.to_owned(),
        };
        self.problems.push(problem);
    }

    fn structure(&mut self, structure: &Structure) {
        match structure {
            Structure::Attribute(attribute) => {
                let value = self.value(&attribute.value);
                let comments = comments(attribute.decor().prefix());
                add(&mut self.variables, attribute.key.as_str(), value, comments);
            }
            Structure::Block(block) => self.block(block),
        }
    }

    fn block(&mut self, block: &Block) {
        match block.ident.as_str() {
            "config" => self.config_entry(block),
            "resource" => self.resource(block, false),
            "read" => self.resource(block, true),
            "output" => self.output(block),
            "pulumi" => {
                if let Some(range) = block.body.get_attribute("requiredVersionRange") {
                    let range = self.value(&range.value);
                    put(&mut self.settings, "requiredVersion", range);
                }
            }
            // Declarations of packages are files beside the program.
            "package" => {}
            other => {
                let message = format!("YAML programs have no form for `{other}` blocks");
                self.problem(block, &message);
            }
        }
    }

    fn config_entry(&mut self, block: &Block) {
        let Some(name) = block.labels.first() else {
            return self.problem(block, "a `config` block needs a name");
        };
        let mut entry = Node::empty_mapping();
        let default = block.body.get_attribute("default");
        let ty = block.labels.get(1).map(|label| config_type(label.as_str()));
        let ty = ty.or_else(|| default.is_none().then(|| "object".to_owned()));
        if let Some(ty) = ty {
            put(&mut entry, "type", Node::string(ty));
        }
        for (key, in_yaml) in [
            ("__logicalName", "name"),
            ("description", "description"),
            ("secret", "secret"),
            ("default", "default"),
        ] {
            if let Some(attribute) = block.body.get_attribute(key) {
                let value = self.value(&attribute.value);
                put(&mut entry, in_yaml, value);
            }
        }
        add(
            &mut self.config,
            name.as_str(),
            entry,
            comments(block.decor().prefix()),
        );
    }

    fn output(&mut self, block: &Block) {
        let Some(name) = block.labels.first() else {
            return self.problem(block, "an `output` block needs a name");
        };
        let Some(value) = block.body.get_attribute("value") else {
            return self.problem(block, "an `output` block needs a `value`");
        };
        let value = self.value(&value.value);
        let key = logical_name(&block.body).unwrap_or(name.as_str());
        add(
            &mut self.outputs,
            key,
            value,
            comments(block.decor().prefix()),
        );
    }

    fn resource(&mut self, block: &Block, is_read: bool) {
        let [name, token, ..] = block.labels.as_slice() else {
            return self.problem(block, "a resource needs a name and a type");
        };
        let mut entry = Node::empty_mapping();
        put(
            &mut entry,
            "type",
            Node::string(short_token(token.as_str())),
        );
        if let Some(logical) = logical_name(&block.body).filter(|it| *it != name.as_str()) {
            put(&mut entry, "name", Node::string(logical));
        }
        let mut properties = Node::empty_mapping();
        let mut id = None;
        for structure in &block.body {
            match structure {
                Structure::Attribute(it) if it.has_key("__logicalName") => {}
                Structure::Attribute(it) if is_read && it.has_key("id") => {
                    id = Some(self.value(&it.value));
                }
                Structure::Attribute(it) => {
                    let value = self.value(&it.value);
                    let comments = comments(it.decor().prefix());
                    add(&mut properties, it.key.as_str(), value, comments);
                }
                Structure::Block(options) if options.has_ident("options") => {
                    let options = self.options(&options.body);
                    put(&mut entry, "options", options);
                }
                Structure::Block(other) => {
                    let message = format!("a resource has no `{}` block", other.ident.as_str());
                    self.problem(other, &message);
                }
            }
        }
        insert_properties(&mut entry, properties, id);
        add(
            &mut self.resources,
            name.as_str(),
            entry,
            comments(block.decor().prefix()),
        );
    }

    fn options(&mut self, body: &Body) -> Node {
        let mut options = Node::empty_mapping();
        for structure in body {
            let attribute = match structure {
                Structure::Attribute(attribute) => attribute,
                Structure::Block(block) => {
                    self.problem(block, "an option is an attribute, not a block");
                    continue;
                }
            };
            let key = attribute.key.as_str();
            if let Some(value) = self.option(key, attribute) {
                put(&mut options, key, value);
            }
        }
        options
    }

    fn option(&mut self, key: &str, attribute: &Attribute) -> Option<Node> {
        match (key, &attribute.value) {
            (key, Expression::Array(paths)) if PATH_OPTIONS.contains(&key) => {
                let paths = paths.iter().map(|path| self.property_path(path)).collect();
                Some(list(paths))
            }
            ("providers", Expression::Object(providers)) => {
                let values = providers.iter().map(|(_, value)| self.value(value.expr()));
                Some(list(values.collect()))
            }
            ("providers", value) => Some(self.value(value)),
            (key, value) if PLAIN_OPTIONS.contains(&key) => Some(self.value(value)),
            (key, _) => {
                let message = format!("YAML programs have no form for the option `{key}`");
                self.problem(attribute, &message);
                None
            }
        }
    }

    /// A name that nothing in the program has.
    fn fresh_name(&mut self) -> String {
        let mut number = 1;
        loop {
            let name = format!("value{number}");
            if self.names.insert(name.clone()) {
                return name;
            }
            number += 1;
        }
    }
}

#[cfg(test)]
mod tests;
