//! Pieces of PCL text with their comments.

use std::fmt::Write as _;

use hcl_edit::Decorate;
use plumb_eval::hcl;

/// An attribute.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) comments: Vec<String>,
    pub(crate) key: String,
    pub(crate) value: String,
}

impl Entry {
    pub(crate) fn new(key: &str, value: impl Into<String>) -> Self {
        Entry {
            comments: Vec::new(),
            key: key.to_owned(),
            value: value.into(),
        }
    }
}

/// A block, with blocks inside that have attributes only.
#[derive(Clone, Debug, Default)]
pub(crate) struct Statement {
    /// What stands in front of the brace.
    pub(crate) head: String,
    pub(crate) entries: Vec<Entry>,
    /// The block called `options`.
    pub(crate) options: Vec<Entry>,
}

impl Statement {
    pub(crate) fn print(&self) -> String {
        let mut out = format!("{} {{\n", self.head);
        print_entries(&self.entries, "  ", &mut out);
        if !self.options.is_empty() {
            out.push_str("  options {\n");
            print_entries(&self.options, "    ", &mut out);
            out.push_str("  }\n");
        }
        out.push_str("}\n");
        out
    }
}

fn print_entries(entries: &[Entry], indent: &str, out: &mut String) {
    for entry in entries {
        for comment in &entry.comments {
            // Writing to a string cannot fail.
            let _ = writeln!(out, "{indent}# {comment}");
        }
        let _ = writeln!(out, "{indent}{} = {}", entry.key, entry.value);
    }
}

/// The head of a block with a name and a text.
pub(crate) fn head(word: &str, name: &str, text: &str) -> String {
    format!("{word} {name} {}", hcl::quoted(text))
}

/// The comments above a structure, without their marks.
pub(crate) fn comments(structure: &impl Decorate) -> Vec<String> {
    let above = structure.decor().prefix();
    comments_of(&above.map(|it| it.to_string()).unwrap_or_default())
}

pub(crate) fn comments_of(text: &str) -> Vec<String> {
    let mut comments = Vec::new();
    let mut is_in_block = false;
    for line in text.lines() {
        let mut line = line.trim();
        if !is_in_block && let Some(rest) = line.strip_prefix("/*") {
            is_in_block = true;
            line = rest.trim_start_matches('*');
        }
        if is_in_block {
            let ended = line.strip_suffix("*/");
            is_in_block = ended.is_none();
            let inner = ended.unwrap_or(line).trim();
            let inner = inner.strip_prefix('*').unwrap_or(inner).trim();
            if !inner.is_empty() {
                comments.push(inner.to_owned());
            }
        } else if let Some(words) = line.strip_prefix("//").or_else(|| line.strip_prefix('#')) {
            comments.push(
                words
                    .strip_prefix(' ')
                    .unwrap_or(words)
                    .trim_end()
                    .to_owned(),
            );
        }
    }
    comments
}

/// Lines as comments.
pub(crate) fn commented<'l>(lines: impl IntoIterator<Item = &'l str>) -> String {
    let mut out = String::new();
    for line in lines {
        let line = format!("# {line}");
        let _ = writeln!(out, "{}", line.trim_end());
    }
    out
}
