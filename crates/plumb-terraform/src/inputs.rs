//! Bodies of blocks as the inputs of a resource, the arguments of a function, or an object within these.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use hcl_edit::Span;
use hcl_edit::expr::Expression;
use hcl_edit::structure::{Attribute, Block, Body, Structure};
use plumb_eval::hcl;

use crate::convert::Converter;
use crate::functions::std_call;
use crate::names::camel;
use crate::scope::{Meaning, Scope, Typed};
use crate::shape::{Fields, Shape};
use crate::text::{Entry, comments};

/// Nested blocks of one name.
struct Nested<'b> {
    name: &'b str,
    blocks: Vec<&'b Block>,
}

/// Converted form of a nested block.
enum Item {
    One(String),
    Several(String),
}

impl Converter<'_, '_> {
    /// The entries of a body, without the attributes and blocks in `skipped`.
    pub(crate) fn inputs(
        &self,
        body: &Body,
        fields: Option<&Fields>,
        skipped: &[&str],
        scope: &Scope,
    ) -> Vec<Entry> {
        let mut entries = Vec::new();
        let mut places: BTreeMap<&str, usize> = BTreeMap::new();
        let mut nested: Vec<(usize, Nested<'_>)> = Vec::new();
        for structure in body {
            match structure {
                Structure::Attribute(it) if skipped.contains(&it.key.as_str()) => {}
                Structure::Attribute(it) => entries.push(self.input(it, fields, scope)),
                Structure::Block(block) => {
                    let name = name_of(block);
                    if skipped.contains(&name) {
                        continue;
                    }
                    let place = *places.entry(name).or_insert_with(|| {
                        let blocks = Vec::new();
                        nested.push((entries.len(), Nested { name, blocks }));
                        nested.len() - 1
                    });
                    nested[place].1.blocks.push(block);
                }
            }
        }
        // From the last place to the first, so that places stay right.
        for (place, it) in nested.into_iter().rev() {
            entries.insert(place, self.nested(&it, fields, scope));
        }
        self.each_once(body, entries)
    }

    /// The entries without those whose key was there before, as when an attribute and a block become the same property.
    pub(crate) fn each_once(&self, node: &impl Span, entries: Vec<Entry>) -> Vec<Entry> {
        let mut kept: Vec<Entry> = Vec::with_capacity(entries.len());
        for entry in entries {
            if kept.iter().any(|it| it.key == entry.key) {
                let key = &entry.key;
                self.note(
                    node,
                    format!("{key:?} is set twice; only the first value is converted"),
                );
            } else {
                kept.push(entry);
            }
        }
        kept
    }

    fn input(&self, attribute: &Attribute, fields: Option<&Fields>, scope: &Scope) -> Entry {
        let name = attribute.key.as_str();
        let found = fields.map(|it| it.find(name));
        if let Some(None) = found {
            let text = format!("the package has no property for {name:?}; look for its name");
            self.note(attribute, text);
        }
        let (key, shape) = match found.flatten() {
            Some(found) if matches!(found.shape, Shape::Unknown) => (found.name, Shape::Whole),
            Some(found) => (found.name, found.shape),
            None => (camel(name), Shape::Whole),
        };
        Entry {
            comments: comments(attribute),
            key,
            value: self.convert_to(&attribute.value, &shape, scope).text,
        }
    }

    fn nested(&self, nested: &Nested<'_>, fields: Option<&Fields>, scope: &Scope) -> Entry {
        let found = fields.map(|it| it.find(nested.name));
        let first = nested.blocks[0];
        if let Some(None) = found {
            let name = nested.name;
            let text =
                format!("the package has no property for the block {name:?}; look for its name");
            self.note(first, text);
        }
        let (key, shape) = match found.flatten() {
            Some(found) => (found.name, found.shape),
            None => (camel(nested.name), Shape::Unknown.list_of()),
        };
        let (inner, is_list) = match &shape {
            Shape::List(inner) => ((**inner).clone(), true),
            Shape::Unknown => (Shape::Unknown, true),
            other => (other.clone(), false),
        };
        let fields = match &inner {
            Shape::Object(fields) => Some(fields),
            _ => None,
        };
        let items = nested.blocks.iter();
        let items: Vec<Item> = items.map(|it| self.item(it, fields, scope)).collect();
        Entry {
            comments: comments(first),
            key,
            value: if is_list { list_of(items) } else { only(items) },
        }
    }

    fn item(&self, block: &Block, fields: Option<&Fields>, scope: &Scope) -> Item {
        if block.ident.as_str() != "dynamic" {
            return Item::One(self.body_object(&block.body, fields, scope));
        }
        let (Some(each), Some(content)) = (
            block.body.get_attribute("for_each"),
            block.body.get_blocks("content").next(),
        ) else {
            let missing = self.missing(block, "a dynamic block needs for_each and content");
            return Item::Several(missing.text);
        };
        let label = block.labels.first().map_or("", |it| it.as_str());
        let iterator = match block.body.get_attribute("iterator").map(|it| &it.value) {
            Some(Expression::Variable(name)) => name.as_str().to_owned(),
            Some(Expression::String(name)) => name.value().clone(),
            _ => label.to_owned(),
        };
        let collection = self.convert(&each.value, scope);
        let value = scope.fresh("entry");
        let key = scope.fresh("key");
        let is_set = self.is_set(&each.value);
        let meaning = Meaning::Entry {
            key: if is_set { value.clone() } else { key.clone() },
            value: Typed::new(value.clone(), collection.shape.element()),
        };
        let inside = scope.with(&iterator, meaning);
        let content = self.body_object(&content.body, fields, &inside);
        let names = if !is_set && mentions(&content, &key) {
            format!("{key}, {value}")
        } else {
            value
        };
        Item::Several(format!("[for {names} in {} : {content}]", collection.text))
    }

    /// A body as an object.
    pub(crate) fn body_object(
        &self,
        body: &Body,
        fields: Option<&Fields>,
        scope: &Scope,
    ) -> String {
        object_of(&self.inputs(body, fields, &[], scope))
    }
}

/// The name of a nested block; of a dynamic one, the name of what it makes.
fn name_of(block: &Block) -> &str {
    match block.labels.first() {
        Some(label) if block.ident.as_str() == "dynamic" => label.as_str(),
        _ => block.ident.as_str(),
    }
}

/// Whether `text` has the word `name`.
pub(crate) fn mentions(text: &str, name: &str) -> bool {
    let is_word = |char: char| char.is_alphanumeric() || char == '_';
    text.match_indices(name).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let behind = text[at + name.len()..].chars().next();
        !before.is_some_and(|it| is_word(it) || it == '.') && !behind.is_some_and(is_word)
    })
}

/// Entries as an object over several lines.
pub(crate) fn object_of(entries: &[Entry]) -> String {
    if entries.is_empty() {
        return "{}".to_owned();
    }
    let mut out = "{\n".to_owned();
    for entry in entries {
        for comment in &entry.comments {
            // Writing to a string cannot fail.
            let _ = writeln!(out, "  # {comment}");
        }
        let key = hcl::key(&entry.key);
        let value = entry.value.replace('\n', "\n  ");
        let _ = writeln!(out, "  {key} = {value}");
    }
    out.push('}');
    out
}

/// The only item of what the package has without a list. Several dynamic blocks are there for different conditions.
fn only(mut items: Vec<Item>) -> String {
    match &mut items[..] {
        [Item::One(text)] => std::mem::take(text),
        _ => format!("singleOrNone({})", list_of(items)),
    }
}

fn list_of(items: Vec<Item>) -> String {
    let mut lists: Vec<String> = Vec::new();
    let mut plain: Vec<String> = Vec::new();
    for item in items {
        match item {
            Item::One(text) => plain.push(text),
            Item::Several(text) => {
                if !plain.is_empty() {
                    lists.push(hcl::list(&std::mem::take(&mut plain)));
                }
                lists.push(text);
            }
        }
    }
    if !plain.is_empty() || lists.is_empty() {
        lists.push(hcl::list(&plain));
    }
    match &mut lists[..] {
        [one] => std::mem::take(one),
        _ => std_call("concat", &[("input".to_owned(), hcl::list(&lists))]),
    }
}
