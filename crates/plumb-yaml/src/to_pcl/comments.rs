//! Comments of a program in YAML.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use plumb_project::yaml::{Item, Node, parse};

/// Sections whose entries have names that expressions use.
const SECTIONS: [&str; 4] = ["config", "configuration", "variables", "resources"];

/// The part of a program that a comment stands above.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Subject {
    Program,
    /// A setting, a variable or a resource; these have different names.
    Declared(String),
    /// A property of a resource.
    Property(String, String),
    Output(String),
}

/// The comments of a program.
#[derive(Debug, Default)]
pub(super) struct Comments(BTreeMap<Subject, Vec<String>>);

impl Comments {
    /// The comments in a program; a text that is no YAML has none. Those of a section go to its first entry, and those of the
    /// program to none.
    pub(super) fn of(text: &str) -> Self {
        let mut comments = Comments::default();
        let Ok(document) = parse(text) else {
            return comments;
        };
        comments.add(Subject::Program, &document.head);
        for (section, entries) in document.root.iter().flat_map(entries_of) {
            if section == "outputs" {
                comments.add_section(entries, Subject::Output);
            } else if SECTIONS.contains(&section.as_str()) {
                comments.add_section(entries, Subject::Declared);
            }
        }
        comments
    }

    fn add_section(&mut self, section: &Item, subject: fn(String) -> Subject) {
        let mut above = section.comments.head.as_slice();
        for (name, item) in entries_of(&section.value) {
            self.add(subject(name.clone()), std::mem::take(&mut above));
            self.add_item(subject(name.clone()), item);
            let properties = entries_of(&item.value).filter(|(key, _)| key == "properties");
            for (key, property) in properties.flat_map(|(_, it)| entries_of(&it.value)) {
                self.add_item(Subject::Property(name.clone(), key), property);
            }
        }
    }

    fn add_item(&mut self, subject: Subject, item: &Item) {
        let lines = item.comments.head.iter().chain(&item.comments.line);
        self.add(subject, lines);
    }

    fn add<'l>(&mut self, subject: Subject, lines: impl IntoIterator<Item = &'l String>) {
        let lines = lines.into_iter().filter(|it| !it.is_empty());
        let mut lines = lines.cloned().peekable();
        if lines.peek().is_some() {
            self.0.entry(subject).or_default().extend(lines);
        }
    }

    /// Writes the comments about something as lines of PCL.
    pub(super) fn write(&self, subject: &Subject, out: &mut String) {
        for line in self.0.get(subject).into_iter().flatten() {
            let _ = writeln!(out, "{line}");
        }
    }
}

fn entries_of(node: &Node) -> impl Iterator<Item = (String, &Item)> {
    let entries = node.as_mapping().map(|it| it.entries.as_slice());
    let entries = entries.unwrap_or_default().iter();
    entries.filter_map(|(key, item)| Some((key.key_text()?, item)))
}
