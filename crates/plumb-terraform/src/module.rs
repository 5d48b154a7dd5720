//! A module: what it declares, and by what names that is converted.

use std::collections::{BTreeMap, BTreeSet};

use hcl_edit::expr::{Expression, TraversalOperator};
use hcl_edit::structure::{Block, BlockLabel, Body};

use crate::circles::circles;
use crate::names::{Declared, Names};
use crate::source::{ModuleSource, text_of};

/// A module with an index of its declarations.
#[derive(Debug)]
pub(crate) struct Module<'c> {
    pub(crate) source: &'c ModuleSource,
    /// Folder of the converted files; empty for the root.
    pub(crate) target: String,
    pub(crate) names: Names,
    pub(crate) locals: BTreeMap<&'c str, &'c Expression>,
    pub(crate) outputs: BTreeMap<&'c str, &'c Block>,
    pub(crate) variables: BTreeMap<&'c str, &'c Block>,
    resources: BTreeMap<(&'c str, &'c str), &'c Block>,
    data: BTreeMap<(&'c str, &'c str), &'c Block>,
    pub(crate) calls: BTreeMap<&'c str, &'c Block>,
    pub(crate) providers: Vec<ProviderBlock<'c>>,
    /// Former and current addresses of moved resources, without the module.
    pub(crate) moved: Vec<(String, String)>,
    /// References that have to be left out of calls of modules: the call, and the declaration it refers to.
    pub(crate) circles: BTreeSet<(String, Declared)>,
}

/// The configuration of a provider.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProviderBlock<'c> {
    pub(crate) name: &'c str,
    pub(crate) alias: Option<&'c str>,
    pub(crate) block: &'c Block,
}

/// Number of instances of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Many {
    One,
    /// A number of instances, from `count`.
    Count,
    /// One instance for each entry of a map or set, from `for_each`.
    Each,
}

impl Many {
    pub(crate) fn of(body: &Body) -> Self {
        if body.has_attribute("count") {
            Many::Count
        } else if body.has_attribute("for_each") {
            Many::Each
        } else {
            Many::One
        }
    }
}

impl<'c> Module<'c> {
    pub(crate) fn new(source: &'c ModuleSource, target: String) -> Self {
        let mut module = Module {
            source,
            target,
            names: Names::default(),
            locals: BTreeMap::new(),
            outputs: BTreeMap::new(),
            variables: BTreeMap::new(),
            resources: BTreeMap::new(),
            data: BTreeMap::new(),
            calls: BTreeMap::new(),
            providers: Vec::new(),
            moved: Vec::new(),
            circles: circles(source),
        };
        for file in &source.files {
            for block in file.body.blocks() {
                module.declare(block);
            }
        }
        module.names = Names::of(&module.declared());
        module
    }

    fn declare(&mut self, block: &'c Block) {
        let labels: Vec<&str> = block.labels.iter().map(BlockLabel::as_str).collect();
        match (block.ident.as_str(), &labels[..]) {
            ("variable", [name]) => {
                self.variables.insert(name, block);
            }
            ("output", [name]) => {
                self.outputs.insert(name, block);
            }
            ("locals", []) => {
                let locals = block.body.attributes();
                self.locals
                    .extend(locals.map(|it| (it.key.as_str(), &it.value)));
            }
            ("resource", [kind, name]) => {
                self.resources.insert((kind, name), block);
            }
            ("data", [kind, name]) => {
                self.data.insert((kind, name), block);
            }
            ("module", [name]) => {
                self.calls.insert(name, block);
            }
            ("provider", [name]) => {
                let alias = block.body.get_attribute("alias");
                let alias = alias.and_then(|it| it.value.as_str());
                self.providers.push(ProviderBlock { name, alias, block });
            }
            ("moved", []) => {
                let end = |name: &str| Some(address(&block.body.get_attribute(name)?.value));
                if let (Some(from), Some(to)) = (end("from"), end("to")) {
                    self.moved.push((from, to));
                }
            }
            _ => {}
        }
    }

    /// Declarations in the order in which they get names.
    fn declared(&self) -> Vec<Declared> {
        let mut declared: Vec<Declared> = Vec::new();
        let text = |it: &str| it.to_owned();
        declared.extend(self.variables.keys().map(|it| Declared::Variable(text(it))));
        declared.extend(self.calls.keys().map(|it| Declared::Call(text(it))));
        let mut seen = BTreeSet::new();
        for file in &self.source.files {
            for block in file.body.blocks() {
                if let [kind, name] = &block.labels[..] {
                    let (kind, name) = (text(kind.as_str()), text(name.as_str()));
                    let it = match block.ident.as_str() {
                        "resource" => Declared::Resource(kind, name),
                        "data" => Declared::Data(kind, name),
                        _ => continue,
                    };
                    if seen.insert(it.clone()) {
                        declared.push(it);
                    }
                }
            }
        }
        declared.extend(self.locals.keys().map(|it| Declared::Local(text(it))));
        for it in &self.providers {
            declared.push(Declared::Provider(
                text(it.name),
                text(it.alias.unwrap_or_default()),
            ));
        }
        declared
    }

    pub(crate) fn resource(&self, kind: &str, name: &str) -> Option<&'c Block> {
        self.resources.get(&(kind, name)).copied()
    }

    pub(crate) fn data(&self, kind: &str, name: &str) -> Option<&'c Block> {
        self.data.get(&(kind, name)).copied()
    }

    pub(crate) fn provider(&self, name: &str, alias: Option<&str>) -> Option<ProviderBlock<'c>> {
        let mut providers = self.providers.iter();
        providers
            .find(|it| it.name == name && it.alias == alias)
            .copied()
    }
}

/// Name and alias of the provider of a resource or data source.
pub(crate) fn provider_of(kind: &str, body: &Body) -> (String, Option<String>) {
    let own = kind.split('_').next().unwrap_or(kind);
    let Some(attribute) = body.get_attribute("provider") else {
        return (own.to_owned(), None);
    };
    let text = match &attribute.value {
        Expression::String(text) => text.value().clone(),
        other => address(other),
    };
    match text.split_once('.') {
        Some((name, alias)) => (name.to_owned(), Some(alias.to_owned())),
        None => (text, None),
    }
}

/// A reference as Terraform writes it, such as `aws_vpc.main[0]`.
pub(crate) fn address(expression: &Expression) -> String {
    match expression {
        Expression::Variable(name) => name.as_str().to_owned(),
        Expression::Traversal(it) => {
            let mut text = address(&it.expr);
            for operator in &it.operators {
                match operator.value() {
                    TraversalOperator::GetAttr(name) => {
                        text.push('.');
                        text.push_str(name.as_str());
                    }
                    TraversalOperator::Index(Expression::String(key)) => {
                        text = format!("{text}[\"{}\"]", key.value());
                    }
                    TraversalOperator::Index(Expression::Number(number)) => {
                        text = format!("{text}[{}]", number.value());
                    }
                    _ => {}
                }
            }
            text
        }
        _ => String::new(),
    }
}

/// Names of the providers that the modules use, without those that Terraform has built in.
pub(crate) fn providers(modules: &[ModuleSource]) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for block in modules
        .iter()
        .flat_map(|it| &it.files)
        .flat_map(|it| it.body.blocks())
    {
        let kind = block.labels.first().map(BlockLabel::as_str);
        match (block.ident.as_str(), kind) {
            ("resource" | "data", Some(kind)) => {
                names.insert(provider_of(kind, &block.body).0);
            }
            ("provider", Some(name)) => {
                names.insert(name.to_owned());
            }
            _ => {}
        }
    }
    for built_in in crate::packages::BUILT_IN {
        names.remove(built_in);
    }
    names
}

/// Packages of providers with a name of their own: the last part of `source` in `required_providers`.
pub(crate) fn sources(modules: &[ModuleSource]) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let files = modules.iter().flat_map(|it| &it.files);
    let settings = files.flat_map(|it| it.body.get_blocks("terraform"));
    for block in settings.flat_map(|it| it.body.get_blocks("required_providers")) {
        for attribute in block.body.attributes() {
            let Expression::Object(object) = &attribute.value else {
                continue;
            };
            let source = object.iter().find_map(|(key, value)| {
                let is_source = key.as_ident().is_some_and(|it| it.as_str() == "source")
                    || key.as_expr().and_then(Expression::as_str) == Some("source");
                is_source.then(|| value.expr().as_str()).flatten()
            });
            if let Some(name) = source.and_then(|it| it.rsplit('/').next()) {
                found.insert(attribute.key.as_str().to_owned(), name.to_owned());
            }
        }
    }
    found
}

/// The `source` of a module call, for messages.
pub(crate) fn source_of(call: &Block) -> String {
    text_of(call, "source").unwrap_or_else(|| "nowhere".to_owned())
}
