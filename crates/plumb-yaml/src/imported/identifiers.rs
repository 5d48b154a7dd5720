//! Names of resources in programs.

use std::collections::BTreeSet;

use plumb_resource::Urn;

/// Names that are taken; languages distinguish neither case nor separators for sure.
#[derive(Debug, Default)]
pub(super) struct Taken(BTreeSet<String>);

impl Taken {
    /// Takes a name; returns whether it was free.
    pub(super) fn insert(&mut self, name: &str) -> bool {
        self.0.insert(name.replace(['-', '_'], "").to_lowercase())
    }

    /// A free name for a resource: its own, with its type where another has the same, and with a number where that is not
    /// enough.
    pub(super) fn name_of(&mut self, urn: &Urn) -> String {
        let name = plain(urn.name());
        let kind = urn.type_text().rsplit(':').next().unwrap_or_default();
        let longer = format!("{name}-{}", plain(kind));
        let numbered = (2..).map(|number| format!("{longer}-{number}"));
        let mut wanted = [name.clone(), longer.clone()].into_iter().chain(numbered);
        wanted.find(|it| self.insert(it)).unwrap_or(name)
    }
}

/// The text with other characters for those that a reference cannot contain.
pub(super) fn plain(text: &str) -> String {
    let plain = text.chars().map(|it| match it {
        '.' => '_',
        '_' | '-' => it,
        _ if it.is_alphanumeric() => it,
        _ => '-',
    });
    plain.collect()
}
