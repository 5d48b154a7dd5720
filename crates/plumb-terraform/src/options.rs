//! Options of resources: what Terraform calls meta-arguments.

use hcl_edit::expr::{Expression, Traversal, TraversalOperator};
use hcl_edit::structure::{Block, Body};
use plumb_eval::hcl;

use crate::convert::Converter;
use crate::module::{Many, provider_of};
use crate::names::{Declared, camel};
use crate::scope::{Meaning, Scope, Typed};
use crate::shape::{Fields, Shape};
use crate::text::Entry;
use crate::variable_type::VariableType;

impl Converter<'_, '_> {
    /// The scope in a body that may be there several times, and the range.
    pub(crate) fn range(&self, body: &Body, scope: &Scope) -> (Scope, Option<Entry>) {
        if let Some(count) = body.get_attribute("count") {
            let range = self.text(&count.value, scope);
            let index = Meaning::Index("range.value".to_owned());
            return (scope.with("count", index), Some(Entry::new("range", range)));
        }
        let Some(each) = body.get_attribute("for_each") else {
            return (scope.clone(), None);
        };
        let collection = self.each(&each.value, scope);
        let meaning = Meaning::Entry {
            key: "range.key".to_owned(),
            value: Typed::new("range.value", collection.shape.element()),
        };
        let range = Entry::new("range", collection.text);
        (scope.with("each", meaning), Some(range))
    }

    /// The collection of `for_each` as a map. A set becomes a map whose keys are its values.
    pub(crate) fn each(&self, each: &Expression, scope: &Scope) -> Typed {
        let inner = match each {
            Expression::FuncCall(call) if call.name.name.as_str() == "toset" => call.args.get(0),
            _ => None,
        };
        let collection = self.convert(inner.unwrap_or(each), scope);
        if !self.is_set(each) {
            return as_map(collection, scope);
        }
        let name = scope.fresh("entry");
        let text = format!("{{ for {name} in {} : {name} => {name} }}", collection.text);
        Typed::new(text, collection.shape.element().map_of())
    }

    /// Whether an expression makes a set, whose keys are its values.
    pub(crate) fn is_set(&self, expression: &Expression) -> bool {
        match expression {
            Expression::FuncCall(call) => matches!(
                call.name.name.as_str(),
                "toset" | "setunion" | "setsubtract" | "setintersection"
            ),
            Expression::Parenthesis(inner) => self.is_set(inner.inner()),
            Expression::Conditional(it) => {
                self.is_set(&it.true_expr) || self.is_set(&it.false_expr)
            }
            Expression::Traversal(it) if it.operators.len() == 1 => {
                match attributes(expression)[..] {
                    ["local", name] => self
                        .module
                        .locals
                        .get(name)
                        .is_some_and(|it| self.is_set(it)),
                    ["var", name] => {
                        let block = self.module.variables.get(name);
                        let ty = block.and_then(|it| it.body.get_attribute("type"));
                        ty.is_some_and(|it| is_set_type(&it.value))
                    }
                    _ => false,
                }
            }
            _ => false,
        }
    }

    /// Options from the attributes and blocks of a resource.
    pub(crate) fn options(
        &self,
        block: &Block,
        inputs: Option<&Fields>,
        scope: &Scope,
    ) -> Vec<Entry> {
        let body = &block.body;
        let kind = block.labels[0].as_str();
        let mut options = Vec::new();
        if let Some(provider) = self.provider(kind, body) {
            options.push(Entry::new("provider", provider));
        }
        options.extend(self.depends_on(body));
        for lifecycle in body.get_blocks("lifecycle") {
            self.lifecycle(lifecycle, body, inputs, scope, &mut options);
        }
        for timeouts in body.get_blocks("timeouts") {
            let known = ["create", "update", "delete", "read"];
            let entries = timeouts.body.attributes();
            let entries: Vec<(String, String)> = entries
                .filter(|it| known.contains(&it.key.as_str()))
                .map(|it| (it.key.as_str().to_owned(), self.text(&it.value, scope)))
                .collect();
            if !entries.is_empty() {
                options.push(Entry::new("customTimeouts", hcl::object(&entries)));
            }
        }
        options
    }

    /// The provider to use, unless it is the default one of the package.
    pub(crate) fn provider(&self, kind: &str, body: &Body) -> Option<String> {
        let (name, alias) = provider_of(kind, body);
        self.explicit_provider(&name, alias.as_deref())
    }

    /// The name of a configured provider, unless its settings are those of the project.
    pub(crate) fn explicit_provider(&self, name: &str, alias: Option<&str>) -> Option<String> {
        let found = self.module.provider(name, alias)?;
        if self.is_provider_left_out(name) {
            return None;
        }
        if alias.is_none() && self.settings_of(&found).is_some() {
            return None;
        }
        let alias = alias.unwrap_or_default().to_owned();
        let declared = Declared::Provider(name.to_owned(), alias);
        self.module.names.get(&declared).map(str::to_owned)
    }

    pub(crate) fn depends_on(&self, body: &Body) -> Option<Entry> {
        let attribute = body.get_attribute("depends_on")?;
        let Expression::Array(items) = &attribute.value else {
            self.left_out(attribute, "depends_on is not a list");
            return None;
        };
        let found: Vec<String> = items.iter().filter_map(|it| self.dependency(it)).collect();
        (!found.is_empty()).then(|| Entry::new("dependsOn", hcl::list(&found)))
    }

    /// The resource or component that a reference names, or all that its range makes; `None` for what is neither.
    fn dependency(&self, reference: &Expression) -> Option<String> {
        let name = |steps: &[&str]| match steps {
            ["module", name, ..] => {
                let declared = Declared::Call((*name).to_owned());
                let block = self.module.calls.get(name)?;
                let is_there = self.module.source.calls.get(*name)?.is_some();
                is_there.then_some((declared, *block))
            }
            ["data", ..] => None,
            [kind, name, ..] => {
                let declared = Declared::Resource((*kind).to_owned(), (*name).to_owned());
                let block = self.module.resource(kind, name)?;
                (!self.is_left_out(block)).then_some((declared, block))
            }
            _ => None,
        };
        let steps = attributes(reference);
        if let [root, path @ ..] = &steps[..]
            && self.is_circle(root, path)
        {
            self.left_out(
                reference,
                "this needs the module, so the module cannot wait for it",
            );
            return None;
        }
        let Some((declared, block)) = name(&steps) else {
            if steps.first() == Some(&"data") {
                // Functions are called when their arguments are known, so there is nothing to wait for.
                return None;
            }
            self.missing(reference, "a dependency on this is not converted");
            return None;
        };
        let own = self.module.names.get(&declared)?.to_owned();
        if Many::of(&block.body) != Many::One
            && let Expression::Traversal(it) = reference
            && let Some(index) = index_of(it)
        {
            let index = self.text(index, &Scope::default());
            return Some(format!("{own}[{index}]"));
        }
        Some(own)
    }

    fn lifecycle(
        &self,
        block: &Block,
        resource: &Body,
        inputs: Option<&Fields>,
        scope: &Scope,
        options: &mut Vec<Entry>,
    ) {
        for attribute in block.body.attributes() {
            match attribute.key.as_str() {
                "prevent_destroy" => {
                    options.push(Entry::new("protect", self.text(&attribute.value, scope)));
                }
                "ignore_changes" => {
                    let paths = self.ignored(&attribute.value, resource, inputs);
                    if !paths.is_empty() {
                        options.push(Entry::new("ignoreChanges", hcl::list(&paths)));
                    }
                }
                "replace_triggered_by" => {
                    let trigger = self.text(&attribute.value, scope);
                    options.push(Entry::new("replacementTrigger", trigger));
                }
                // Replacements are created before what they replace is deleted, unless their names would clash.
                "create_before_destroy" => {}
                _ => self.left_out(attribute, "this rule of the life cycle is not converted"),
            }
        }
        for condition in block.body.blocks() {
            let what = condition.ident.as_str();
            self.left_out(
                condition,
                format!("a {what} is not checked by the converted program"),
            );
        }
    }

    fn ignored(&self, list: &Expression, resource: &Body, inputs: Option<&Fields>) -> Vec<String> {
        if let Expression::Variable(name) = list
            && name.as_str() == "all"
        {
            let skipped = ["count", "for_each", "provider", "depends_on"];
            let names = resource.attributes().map(|it| it.key.as_str());
            let names = names.filter(|it| !skipped.contains(it));
            return names.map(|name| property(name, inputs)).collect();
        }
        let Expression::Array(items) = list else {
            return Vec::new();
        };
        let paths = items.iter().map(|item| match item {
            Expression::Variable(name) => property(name.as_str(), inputs),
            Expression::String(text) => property(text.value(), inputs),
            Expression::Traversal(it) => self.path_of(it, inputs),
            other => {
                self.missing(other, "this is not the path of a property")
                    .text
            }
        });
        paths.collect()
    }

    fn path_of(&self, path: &Traversal, inputs: Option<&Fields>) -> String {
        let Expression::Variable(root) = &path.expr else {
            return String::new();
        };
        let found = inputs.and_then(|it| it.find(root.as_str()));
        let base = match found {
            Some(found) => Typed::new(found.name, found.shape),
            None => Typed::unknown(camel(root.as_str())),
        };
        self.follow(base, &path.operators, &Scope::default()).text
    }
}

/// A collection that has to be a map, in a form that says so if its type does not.
fn as_map(collection: Typed, scope: &Scope) -> Typed {
    let is_known = matches!(
        collection.shape,
        Shape::Map(_)
            | Shape::Object(_)
            | Shape::Variable(VariableType::Map(_) | VariableType::Object(_))
    );
    if is_known {
        return collection;
    }
    let (key, scope) = scope.with_fresh("key");
    let entry = scope.fresh("entry");
    let text = format!(
        "{{ for {key}, {entry} in {} : {key} => {entry} }}",
        collection.text
    );
    Typed::new(text, collection.shape.element().map_of())
}

fn is_set_type(ty: &Expression) -> bool {
    matches!(ty, Expression::FuncCall(call) if call.name.name.as_str() == "set")
}

fn property(name: &str, inputs: Option<&Fields>) -> String {
    let found = inputs.and_then(|it| it.find(name));
    found.map_or_else(|| camel(name), |it| it.name)
}

/// The attributes that a reference begins with, its root first.
fn attributes(reference: &Expression) -> Vec<&str> {
    match reference {
        Expression::Variable(name) => vec![name.as_str()],
        Expression::Traversal(it) => {
            let mut names = attributes(&it.expr);
            names.extend(it.operators.iter().map_while(|it| match it.value() {
                TraversalOperator::GetAttr(name) => Some(name.as_str()),
                _ => None,
            }));
            names
        }
        _ => Vec::new(),
    }
}

fn index_of(reference: &Traversal) -> Option<&Expression> {
    reference.operators.iter().find_map(|it| match it.value() {
        TraversalOperator::Index(index) => Some(index),
        _ => None,
    })
}
