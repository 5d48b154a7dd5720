//! Entries of sections, and what stands around them.

use hcl_edit::RawString;
use hcl_edit::structure::Body;
use plumb_project::yaml::{Data, Item, Node};

use crate::imported::{has_entries, put};

/// Places properties, or what is read, between the type and the options.
pub(super) fn insert_properties(entry: &mut Node, properties: Node, id: Option<Node>) {
    let (key, value) = match id {
        Some(id) => {
            let mut get = Node::empty_mapping();
            put(&mut get, "id", id);
            if has_entries(&properties) {
                put(&mut get, "state", properties);
            }
            ("get", get)
        }
        None if has_entries(&properties) => ("properties", properties),
        None => return,
    };
    if let Data::Mapping(mapping) = &mut entry.data {
        let options = mapping
            .entries
            .iter()
            .position(|(key, _)| key.as_str().as_deref() == Some("options"));
        let at = options.unwrap_or(mapping.entries.len());
        mapping
            .entries
            .insert(at, (Node::key(key), Item::new(value)));
    }
}

pub(super) fn logical_name(body: &Body) -> Option<&str> {
    body.get_attribute("__logicalName")?.value.as_str()
}

/// The type of a setting, in the words of YAML programs.
pub(super) fn config_type(text: &str) -> String {
    let text = text.trim();
    let inner = |name: &str| {
        let rest = text.strip_prefix(name)?.trim_start();
        rest.strip_prefix('(')?.strip_suffix(')')
    };
    if let Some(element) = inner("list").or_else(|| inner("set")) {
        return format!("list<{}>", config_type(element));
    }
    if let Some(element) = inner("optional") {
        return config_type(element);
    }
    match text {
        "string" | "number" | "int" | "bool" => text.to_owned(),
        _ => "object".to_owned(),
    }
}

/// The comments in the text above something.
pub(super) fn comments(above: Option<&RawString>) -> Vec<String> {
    let text = above.map(|it| it.to_string()).unwrap_or_default();
    text.lines()
        .filter_map(|line| {
            let line = line.trim();
            let words = line.strip_prefix("//").or_else(|| line.strip_prefix('#'))?;
            Some(format!("# {}", words.trim()).trim_end().to_owned())
        })
        .collect()
}
