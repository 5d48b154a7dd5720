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
    /// The text in front of the brace.
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
    plumb_pcl::comments(structure.decor().prefix())
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
