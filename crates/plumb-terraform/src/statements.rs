//! Blocks of a module: variables, locals, outputs, resources, data sources and calls of modules.

use hcl_edit::Span;
use hcl_edit::expr::{Expression, ObjectKey};
use hcl_edit::structure::{Attribute, Block};
use plumb_eval::hcl;

use crate::convert::Converter;
use crate::inputs::object_of;
use crate::module::{Many, Module, source_of};
use crate::names::{Declared, camel};
use crate::packages::Kind;
use crate::scope::{Meaning, Scope, Typed};
use crate::shape::Shape;
use crate::text::{Entry, Statement, head};

/// Attributes and blocks that are options of resources, not inputs.
const META: [&str; 9] = [
    "count",
    "for_each",
    "provider",
    "depends_on",
    "lifecycle",
    "timeouts",
    "provisioner",
    "connection",
    "alias",
];

/// The data source that reads the state of another configuration.
pub(crate) const REMOTE_STATE: &str = "terraform_remote_state";

/// The resource of the engine that keeps a value.
const STASH: &str = "pulumi:index:Stash";

impl<'c> Converter<'_, 'c> {
    pub(crate) fn variable_block(&self, block: &Block) -> String {
        let name = block.labels[0].as_str();
        let declared = Declared::Variable(name.to_owned());
        let own = self.module.names.get(&declared).unwrap_or(name).to_owned();
        let mut statement = Statement {
            head: format!("config {own}"),
            ..Statement::default()
        };
        let key = camel(name);
        if key != own {
            let entry = Entry::new("__logicalName", hcl::quoted(&key));
            statement.entries.push(entry);
        }
        for attribute in block.body.attributes() {
            let value = &attribute.value;
            let text = || self.text(value, &Scope::default());
            let entry = match attribute.key.as_str() {
                "type" => {
                    let ty = type_of(value);
                    statement.head = head("config", &own, &ty);
                    continue;
                }
                key @ ("default" | "description" | "nullable") => Entry::new(key, text()),
                "sensitive" => Entry::new("secret", text()),
                _ => {
                    self.left_out(attribute, "this rule for a variable is not converted");
                    continue;
                }
            };
            let comments = crate::text::comments(attribute);
            statement.entries.push(Entry { comments, ..entry });
        }
        for validation in block.body.blocks() {
            let what = validation.ident.as_str();
            self.left_out(
                validation,
                format!("the {what} of a variable is not converted"),
            );
        }
        statement.print()
    }

    pub(crate) fn local(&self, attribute: &Attribute) -> String {
        let name = attribute.key.as_str();
        let declared = Declared::Local(name.to_owned());
        let own = self.module.names.get(&declared).unwrap_or(name);
        format!(
            "{own} = {}\n",
            self.text(&attribute.value, &Scope::default())
        )
    }

    pub(crate) fn output_block(&self, block: &Block) -> String {
        let name = block.labels[0].as_str();
        let mut statement = Statement {
            head: format!("output {}", camel(name)),
            ..Statement::default()
        };
        let is_secret = block.body.get_attribute("sensitive");
        let is_secret = is_secret.is_some_and(|it| it.value.as_bool() == Some(true));
        for attribute in block.body.attributes() {
            match attribute.key.as_str() {
                "value" => {
                    let value = self.convert_to(&attribute.value, &Shape::Whole, &Scope::default());
                    let value = value.text;
                    let value = if is_secret {
                        format!("secret({value})")
                    } else {
                        value
                    };
                    let comments = crate::text::comments(attribute);
                    let entry = Entry::new("value", value);
                    statement.entries.push(Entry { comments, ..entry });
                }
                "description" | "sensitive" => {}
                _ => self.left_out(attribute, "this rule for an output is not converted"),
            }
        }
        for condition in block.body.blocks() {
            let what = condition.ident.as_str();
            self.left_out(condition, format!("the {what} of an output is not checked"));
        }
        statement.print()
    }

    pub(crate) fn resource_block(&self, block: &Block) -> String {
        let (kind, name) = (block.labels[0].as_str(), block.labels[1].as_str());
        let declared = Declared::Resource(kind.to_owned(), name.to_owned());
        let own = self.module.names.get(&declared).unwrap_or(name).to_owned();
        let Kind { token, fields } = self.kind_of(block);
        let fields = fields.as_ref().map(|it| &it.inputs);
        self.note_unknown(block, kind, &token, fields.is_some());
        let mut statement = Statement {
            head: head("resource", &own, &token),
            ..Statement::default()
        };
        if own != name {
            let entry = Entry::new("__logicalName", hcl::quoted(name));
            statement.entries.push(entry);
        }
        let (scope, range) = self.range(&block.body, &Scope::default());
        let scope = self.with_self(&own, &declared, block, &scope);
        let mut skipped = META.to_vec();
        if kind == "terraform_data" {
            skipped.push("triggers_replace");
        }
        let inputs = self.inputs(&block.body, fields, &skipped, &scope);
        statement.entries.extend(inputs);
        statement.entries = self.each_once(block, statement.entries);
        if token == STASH && !statement.entries.iter().any(|it| it.key == "input") {
            statement.entries.push(Entry::new("input", "true"));
        }
        statement.options.extend(range);
        statement
            .options
            .extend(self.options(block, fields, &scope));
        statement
            .options
            .extend(self.replacement(kind, block, &scope));
        statement.options.extend(self.imported(kind, name));
        statement.options = self.each_once(block, statement.options);
        let mut text = statement.print();
        text.push_str(&self.provisioners(&own, block, &scope));
        text
    }

    /// The trigger that replaces a resource of [`STASH`].
    fn replacement(&self, kind: &str, block: &Block, scope: &Scope) -> Option<Entry> {
        let name = match kind {
            "terraform_data" => "triggers_replace",
            "null_resource" => "triggers",
            _ => return None,
        };
        let attribute = block.body.get_attribute(name)?;
        let trigger = self.text(&attribute.value, scope);
        Some(Entry::new("replacementTrigger", trigger))
    }

    /// The id from a block that imports the resource.
    fn imported(&self, kind: &str, name: &str) -> Option<Entry> {
        let files = self.module.source.files.iter();
        let mut blocks = files.flat_map(|it| it.body.get_blocks("import"));
        let block = blocks.find(|it| {
            let to = it.body.get_attribute("to");
            to.is_some_and(|to| crate::module::address(&to.value) == format!("{kind}.{name}"))
        })?;
        let id = block.body.get_attribute("id")?;
        Some(Entry::new(
            "import",
            self.text(&id.value, &Scope::default()),
        ))
    }

    /// The scope in which `self` is the resource.
    fn with_self(&self, own: &str, declared: &Declared, block: &Block, scope: &Scope) -> Scope {
        let all = self.member(declared, block);
        let itself = match Many::of(&block.body) {
            Many::One => all,
            Many::Count => Typed::new(format!("{own}[range.value]"), all.shape.element()),
            Many::Each => Typed::new(format!("{own}[range.key]"), all.shape.element()),
        };
        scope.with("self", Meaning::Itself(itself))
    }

    fn note_unknown(&self, block: &Block, kind: &str, token: &str, is_known: bool) {
        if is_known {
            return;
        }
        let (provider, _) = crate::module::provider_of(kind, &block.body);
        let text = if self.context.packages.has_schema(&provider) {
            format!("no type of the package is known for {kind}; {token} is a guess")
        } else {
            let package = self.context.packages.name_of(&provider);
            format!("there is no schema of the package {package:?}, so names and types are guesses")
        };
        self.note(&block.labels[0], text);
    }

    /// The outputs of another configuration: those of a stack, whose name is a setting.
    fn remote_state(&self, block: &Block, own: &str) -> String {
        if Many::of(&block.body) != Many::One {
            let missing = self.missing(&block.labels[0], "several states are not read at once");
            return format!("{own} = {}\n", missing.text);
        }
        let setting = format!("{own}Stack");
        let text = format!(
            "set {setting} to the stack that has the outputs of this state, such as organization/project/dev"
        );
        self.note(block, text);
        let name = block.labels[1].as_str();
        let config = Statement {
            head: head("config", &setting, "string"),
            ..Statement::default()
        };
        let mut reference = Statement {
            head: head("resource", own, "pulumi:pulumi:StackReference"),
            ..Statement::default()
        };
        if own != name {
            let entry = Entry::new("__logicalName", hcl::quoted(name));
            reference.entries.push(entry);
        }
        reference.entries.push(Entry::new("name", setting));
        format!("{}\n{}", config.print(), reference.print())
    }

    pub(crate) fn data_block(&self, block: &Block) -> String {
        let (kind, name) = (block.labels[0].as_str(), block.labels[1].as_str());
        let declared = Declared::Data(kind.to_owned(), name.to_owned());
        let own = self.module.names.get(&declared).unwrap_or(name).to_owned();
        if kind == REMOTE_STATE {
            return self.remote_state(block, &own);
        }
        let Kind { token, fields } = self.kind_of(block);
        let fields = fields.as_ref().map(|it| &it.inputs);
        self.note_unknown(block, kind, &token, fields.is_some());
        let body = &block.body;
        let root = Scope::default();
        let (scope, around) = if let Some(count) = body.get_attribute("count") {
            let range = self.text(&count.value, &root);
            let scope = root.with("count", Meaning::Index("index".to_owned()));
            (
                scope,
                Some((format!("[for index in range({range}) : "), "]")),
            )
        } else if let Some(each) = body.get_attribute("for_each") {
            let collection = self.each(&each.value, &root);
            let value = Typed::new("entry", collection.shape.element());
            let key = "key".to_owned();
            let scope = root.with("each", Meaning::Entry { key, value });
            let intro = format!("{{ for key, entry in {} : key => ", collection.text);
            (scope, Some((intro, " }")))
        } else {
            (root, None)
        };
        let arguments = object_of(&self.inputs(body, fields, &META, &scope));
        let mut options: Vec<(String, String)> = Vec::new();
        if let Some(provider) = self.provider(kind, body) {
            options.push(("provider".to_owned(), provider));
        }
        if let Some(depends) = self.depends_on(body) {
            options.push((depends.key, depends.value));
        }
        let options = match &options[..] {
            [] => String::new(),
            options => format!(", {}", hcl::object(options)),
        };
        let call = format!("invoke({}, {arguments}{options})", hcl::quoted(&token));
        match around {
            Some((before, behind)) => format!("{own} = {before}{call}{behind}\n"),
            None => format!("{own} = {call}\n"),
        }
    }

    /// A call of a module; `None` if the module is not there.
    pub(crate) fn call_block(&self, block: &Block) -> Option<String> {
        let name = block.labels[0].as_str();
        let called = self.module.source.calls.get(name).copied().flatten();
        let Some(place) = called else {
            let name = source_of(block);
            let hint = if name.starts_with('.') {
                "it is outside of the folder that is converted"
            } else {
                "run terraform init first, so that it is in .terraform/modules"
            };
            self.note(block, format!("the module {name:?} is not there: {hint}"));
            return None;
        };
        let declared = Declared::Call(name.to_owned());
        let own = self.module.names.get(&declared).unwrap_or(name).to_owned();
        let module: &Module<'c> = &self.context.modules[place];
        let folder = relative(&self.module.target, &module.target);
        let mut statement = Statement {
            head: head("component", &own, &folder),
            ..Statement::default()
        };
        if own != name {
            let entry = Entry::new("__logicalName", hcl::quoted(name));
            statement.entries.push(entry);
        }
        let (scope, range) = self.range(&block.body, &Scope::default());
        for attribute in block.body.attributes() {
            let key = attribute.key.as_str();
            let skipped = [
                "source",
                "version",
                "count",
                "for_each",
                "providers",
                "depends_on",
            ];
            if skipped.contains(&key) {
                continue;
            }
            if !module.variables.contains_key(key) {
                self.left_out(attribute, format!("the module has no variable {key:?}"));
                continue;
            }
            // A module that has defaults of its own gives them where it uses the value.
            let wanted = if self.type_in(module, key).has_defaults() {
                Shape::Unknown
            } else {
                Shape::Whole
            };
            let value = self.convert_to(&attribute.value, &wanted, &scope);
            let comments = crate::text::comments(attribute);
            let entry = Entry::new(&camel(key), value.text);
            statement.entries.push(Entry { comments, ..entry });
        }
        statement.entries = self.each_once(block, statement.entries);
        statement.options.extend(range);
        let providers = self.providers_for(&block.body);
        if !providers.is_empty() {
            let entry = Entry::new("providers", hcl::list(&providers));
            statement.options.push(entry);
        }
        statement.options.extend(self.depends_on(&block.body));
        Some(statement.print())
    }

    /// The providers that a called module uses.
    fn providers_for(&self, body: &hcl_edit::structure::Body) -> Vec<String> {
        let Some(attribute) = body.get_attribute("providers") else {
            let own = self.module.providers.iter().filter(|it| it.alias.is_none());
            return own
                .filter_map(|it| self.explicit_provider(it.name, None))
                .collect();
        };
        let Expression::Object(object) = &attribute.value else {
            return Vec::new();
        };
        let mut providers = Vec::new();
        for (_, value) in object {
            let text = crate::module::address(value.expr());
            let (name, alias) = match text.split_once('.') {
                Some((name, alias)) => (name, Some(alias)),
                None => (text.as_str(), None),
            };
            match self.explicit_provider(name, alias) {
                Some(provider) if !providers.contains(&provider) => providers.push(provider),
                Some(_) => {}
                None if alias.is_none() => {}
                None => self.note(
                    value.expr(),
                    "this provider is configured nowhere in the module",
                ),
            }
        }
        providers
    }

    /// The text of a block that is not converted, as comments.
    pub(crate) fn kept(&self, node: &impl Span) -> String {
        crate::text::commented(self.original(node).lines())
    }
}

/// A type as PCL writes it.
fn type_of(expression: &Expression) -> String {
    match expression {
        Expression::Variable(name) => match name.as_str() {
            name @ ("string" | "number" | "bool" | "any") => name.to_owned(),
            "list" | "set" => "list(any)".to_owned(),
            "map" => "map(any)".to_owned(),
            _ => "any".to_owned(),
        },
        // Types were texts once.
        Expression::String(name) => match name.as_str() {
            "list" => "list(any)".to_owned(),
            "map" => "map(any)".to_owned(),
            name => name.to_owned(),
        },
        Expression::FuncCall(call) => {
            let inner = call.args.get(0);
            match (call.name.name.as_str(), inner) {
                ("list" | "set", Some(inner)) => format!("list({})", type_of(inner)),
                ("map", Some(inner)) => format!("map({})", type_of(inner)),
                ("optional", Some(inner)) => {
                    format!("optional({})", type_of(inner))
                }
                ("tuple", Some(Expression::Array(items))) => {
                    let items: Vec<String> = items.iter().map(type_of).collect();
                    format!("tuple([{}])", items.join(", "))
                }
                ("object", Some(Expression::Object(object))) => {
                    let fields = object.iter().map(|(key, value)| {
                        let key = match key {
                            ObjectKey::Ident(name) => name.as_str(),
                            ObjectKey::Expression(key) => key.as_str().unwrap_or_default(),
                        };
                        format!("{}={}", hcl::key(key), type_of(value.expr()))
                    });
                    format!("object({{{}}})", fields.collect::<Vec<_>>().join(", "))
                }
                _ => "any".to_owned(),
            }
        }
        _ => "any".to_owned(),
    }
}

/// The path from one folder to another, as the source of a component.
fn relative(from: &str, to: &str) -> String {
    let steps = |path: &str| -> Vec<String> {
        let steps = path.split('/').filter(|it| !it.is_empty());
        steps.map(str::to_owned).collect()
    };
    let (from, to) = (steps(from), steps(to));
    let shared = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    let ups = from.len() - shared;
    let mut parts = vec!["..".to_owned(); ups];
    parts.extend_from_slice(&to[shared..]);
    let path = parts.join("/");
    if ups == 0 { format!("./{path}") } else { path }
}

#[cfg(test)]
mod tests {
    use super::relative;

    #[test]
    fn folders_are_reached_from_each_other() {
        assert_eq!(relative("", "modules/a"), "./modules/a");
        assert_eq!(relative("modules/a", "modules/b"), "../b");
        assert_eq!(relative("modules/a", "modules/a/b"), "./b");
    }
}
