//! Pages as JSON, for other documentation tools.

use plumb_codegen::vocabulary::ResourceAt;
use serde_json::{Map, Value, json};

use super::address::{Addresses, PageAt};
use super::description::{Description, Example, Part, Prose};
use super::guide::Guide;
use super::language::PerLanguage;
use super::links::{DocsFormat, Links, file_of};
use super::markdown;
use super::markdown_text::resolved;
use super::model::{
    Body, Entry, Function, Index, Kind, Member, Method, Outcome, Page, Property, Resource, Shape,
    TypeLink, TypeSection, TypeText,
};

/// JSON text of a page.
pub(crate) fn print(page: &Page, guide: &Guide<'_, '_>) -> String {
    let printer = Printer(Links::of(guide, DocsFormat::Json, page.at));
    pretty(&printer.page(page))
}

fn pretty(value: &Value) -> String {
    // Serialization cannot fail, because a `Value` has only string keys.
    let mut text = serde_json::to_string_pretty(value).unwrap_or_default();
    text.push('\n');
    text
}

/// Tree of modules, resources and functions. Links are relative to the tree's folder.
pub(crate) fn tree(guide: &Guide<'_, '_>, format: DocsFormat) -> String {
    pretty(&Value::Array(branches(guide, format, 0)))
}

fn branches(guide: &Guide<'_, '_>, format: DocsFormat, position: usize) -> Vec<Value> {
    let module = &guide.addresses.modules[position];
    let leaf = |at: PageAt, kind: Kind| {
        json!({
            "name": guide.title(at),
            "type": kind.word(),
            "link": file_of(guide, format, at),
        })
    };
    let mut list = Vec::new();
    for &child in &module.children {
        let mut branch = leaf(Addresses::module_page(child), Kind::Module);
        let children = branches(guide, format, child);
        if !children.is_empty() {
            branch["children"] = Value::Array(children);
        }
        list.push(branch);
    }
    let mut resources: Vec<PageAt> = Vec::new();
    if position == 0 && guide.package.provider.is_some() {
        resources.push(PageAt::Resource(ResourceAt::Provider));
    }
    let own = module.resources.iter();
    resources.extend(own.map(|it| PageAt::Resource(ResourceAt::Position(*it))));
    resources.sort_by_key(|at| guide.title(*at));
    list.extend(resources.into_iter().map(|at| leaf(at, Kind::Resource)));
    let functions = module.functions.iter();
    list.extend(functions.map(|it| leaf(PageAt::Function(*it), Kind::Function)));
    list
}

struct Printer<'g, 'p, 'd>(Links<'g, 'p, 'd>);

/// An object without null, false and empty members.
fn object<const N: usize>(members: [(&str, Value); N]) -> Value {
    let says_something = |value: &Value| match value {
        Value::Null => false,
        Value::Bool(flag) => *flag,
        Value::String(text) => !text.is_empty(),
        Value::Array(list) => !list.is_empty(),
        Value::Object(map) => !map.is_empty(),
        Value::Number(_) => true,
    };
    let members = members
        .into_iter()
        .filter(|(_, value)| says_something(value));
    Value::Object(
        members
            .map(|(name, value)| (name.to_owned(), value))
            .collect(),
    )
}

fn per_language<T>(values: &PerLanguage<T>, to_value: impl Fn(&T) -> Value) -> Value {
    let pairs = values
        .iter()
        .map(|(language, value)| (language.key().to_owned(), to_value(value)));
    Value::Object(pairs.collect::<Map<String, Value>>())
}

fn texts(values: &PerLanguage<String>) -> Value {
    per_language(values, |text| text.as_str().into())
}

fn lists(values: &PerLanguage<Vec<String>>) -> Value {
    per_language(values, |list| list.clone().into())
}

impl Printer<'_, '_, '_> {
    fn page(&self, page: &Page) -> Value {
        let languages = page.languages.iter().map(|language| language.word());
        let head = object([
            ("kind", page.kind.word().into()),
            ("title", page.title.as_str().into()),
            ("tag", page.tag.as_str().into()),
            ("token", page.token.clone().into()),
            ("summary", page.summary.as_str().into()),
            ("languages", languages.collect::<Vec<_>>().into()),
            ("names", texts(&page.names)),
            ("imports", texts(&page.imports)),
            ("deprecation", page.deprecation.clone().into()),
            ("description", self.prose(&page.description.text)),
            ("examples", self.examples(&page.description)),
            ("import", self.prose(&page.description.import)),
            ("package", self.details()),
        ]);
        let body = match &page.body {
            Body::Index(index) => self.index(index),
            Body::Resource(resource) => self.resource(resource),
            Body::Function(function) => self.function(function),
            Body::Type(section) => merged(
                self.shape(&section.shape),
                object([("usedBy", self.entries(&page.users))]),
            ),
        };
        merged(head, body)
    }

    fn details(&self) -> Value {
        let package = self.0.guide.package;
        let about = &package.about;
        object([
            ("name", package.name.into()),
            ("displayName", about.display_name.into()),
            (
                "version",
                package.version.as_ref().map(ToString::to_string).into(),
            ),
            ("publisher", about.publisher.into()),
            ("homepage", about.homepage.into()),
            ("repository", about.repository.into()),
            ("license", about.license.into()),
            ("notes", about.attribution.into()),
        ])
    }

    /// Markdown text, with the code of each language as a fenced block.
    fn prose(&self, prose: &Prose) -> Value {
        let mut text = String::new();
        for part in &prose.0 {
            match part {
                Part::Text(markdown) => text.push_str(&resolved(markdown, &self.0)),
                Part::Code(code) => markdown::fences(code, &mut text),
            }
        }
        text.trim_end().into()
    }

    fn examples(&self, description: &Description) -> Value {
        let example = |example: &Example| {
            let parts = example.body.0.iter().map(|part| match part {
                Part::Text(markdown) => {
                    json!({"text": resolved(markdown, &self.0).trim_end()})
                }
                Part::Code(code) => {
                    let pairs = code.iter();
                    let pairs =
                        pairs.map(|(it, text)| (it.word().to_owned(), text.as_str().into()));
                    json!({"code": Value::Object(pairs.collect())})
                }
            });
            object([
                ("title", example.title.as_str().into()),
                ("parts", parts.collect::<Vec<_>>().into()),
            ])
        };
        description
            .examples
            .iter()
            .map(example)
            .collect::<Vec<_>>()
            .into()
    }

    fn entries(&self, list: &[Entry]) -> Value {
        let entry = |entry: &Entry| {
            object([
                ("name", entry.name.as_str().into()),
                ("link", self.0.to(entry.at).into()),
                ("summary", entry.summary.as_str().into()),
                ("isDeprecated", entry.is_deprecated.into()),
            ])
        };
        list.iter().map(entry).collect::<Vec<_>>().into()
    }

    fn index(&self, index: &Index) -> Value {
        object([
            ("modules", self.entries(&index.modules)),
            ("resources", self.entries(&index.resources)),
            ("functions", self.entries(&index.functions)),
            ("types", self.entries(&index.types)),
            ("config", self.properties(&index.config)),
        ])
    }

    fn resource(&self, resource: &Resource) -> Value {
        let lookup = resource.lookup.as_ref().map(|lookup| {
            object([
                ("signatures", lists(&lookup.signatures)),
                ("state", self.properties(&lookup.state)),
            ])
        });
        object([
            ("constructors", lists(&resource.constructors)),
            ("inputs", self.properties(&resource.inputs)),
            ("outputs", self.properties(&resource.outputs)),
            ("lookup", lookup.into()),
            (
                "methods",
                resource
                    .methods
                    .iter()
                    .map(|it| self.method(it))
                    .collect::<Vec<_>>()
                    .into(),
            ),
            ("supportingTypes", self.types(&resource.types)),
            ("aliases", resource.aliases.clone().into()),
        ])
    }

    fn function(&self, function: &Function) -> Value {
        let call = object([
            ("plain", lists(&function.plain)),
            ("output", lists(&function.output)),
        ]);
        object([
            ("signatures", call),
            ("arguments", self.properties(&function.arguments)),
            ("result", self.outcome(&function.outcome)),
            ("supportingTypes", self.types(&function.types)),
        ])
    }

    fn method(&self, method: &Method) -> Value {
        object([
            ("id", method.id.as_str().into()),
            ("name", method.name.as_str().into()),
            ("names", texts(&method.names)),
            ("signatures", lists(&method.signatures)),
            ("deprecation", method.deprecation.clone().into()),
            ("description", self.prose(&method.description.text)),
            ("examples", self.examples(&method.description)),
            ("arguments", self.properties(&method.arguments)),
            ("result", self.outcome(&method.outcome)),
        ])
    }

    fn outcome(&self, outcome: &Outcome) -> Value {
        match outcome {
            Outcome::Nothing => Value::Null,
            Outcome::Object(properties) => object([("properties", self.properties(properties))]),
            Outcome::Value(ty) => self.type_text(ty),
        }
    }

    fn types(&self, sections: &[TypeSection]) -> Value {
        let section = |section: &TypeSection| {
            let head = object([
                ("id", section.id.as_str().into()),
                ("name", section.name.as_str().into()),
                ("names", texts(&section.names)),
                ("link", self.0.to(section.at).into()),
                ("description", self.prose(&section.description.text)),
            ]);
            merged(head, self.shape(&section.shape))
        };
        sections.iter().map(section).collect::<Vec<_>>().into()
    }

    fn shape(&self, shape: &Shape) -> Value {
        match shape {
            Shape::Object(properties) => object([("properties", self.properties(properties))]),
            Shape::Enum {
                underlying,
                members,
            } => object([
                ("underlying", (*underlying).into()),
                (
                    "members",
                    members
                        .iter()
                        .map(|it| self.member(it))
                        .collect::<Vec<_>>()
                        .into(),
                ),
            ]),
        }
    }

    fn member(&self, member: &Member) -> Value {
        let mut value = object([
            ("names", texts(&member.names)),
            ("description", self.prose(&member.description.text)),
            ("deprecation", member.deprecation.clone().into()),
        ]);
        value["value"] = scalar(&member.value);
        value
    }

    fn properties(&self, properties: &[Property]) -> Value {
        properties
            .iter()
            .map(|it| self.property(it))
            .collect::<Vec<_>>()
            .into()
    }

    fn property(&self, property: &Property) -> Value {
        let head = object([
            ("id", property.id.as_str().into()),
            ("name", property.name.as_str().into()),
            ("names", texts(&property.names)),
            ("description", self.prose(&property.description.text)),
            ("examples", self.examples(&property.description)),
            ("deprecation", property.deprecation.clone().into()),
            ("isRequired", property.is_required.into()),
            ("isInput", property.is_input.into()),
            ("isSecret", property.is_secret.into()),
            ("isReplaceOnChanges", property.is_replace_on_changes.into()),
            ("environment", property.environment.clone().into()),
        ]);
        let mut value = merged(head, self.type_text(&property.ty));
        for (name, literal) in [
            ("const", &property.constant),
            ("default", &property.default),
        ] {
            if let Some(literal) = literal {
                value[name] = scalar(literal);
            }
        }
        value
    }

    fn type_text(&self, ty: &TypeText) -> Value {
        let link = |link: &TypeLink| {
            object([
                ("name", link.neutral.as_str().into()),
                ("link", self.0.to(link.at).into()),
            ])
        };
        object([
            ("type", ty.neutral.as_str().into()),
            ("types", texts(&ty.texts)),
            (
                "references",
                ty.links.iter().map(link).collect::<Vec<_>>().into(),
            ),
        ])
    }
}

fn scalar(literal: &str) -> Value {
    serde_json::from_str(literal).unwrap_or_else(|_| literal.into())
}

fn merged(mut one: Value, other: Value) -> Value {
    if let (Value::Object(one), Value::Object(other)) = (&mut one, other) {
        one.extend(other);
    }
    one
}
