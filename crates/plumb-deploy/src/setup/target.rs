//! Which resources an operation is about (`engine.md` 4.1).

use plumb_resource::Urn;
use rustc_hash::FxHashSet;

/// URNs and patterns from the command line.
///
/// A run asks for each resource whether it is in the set, and the set may have thousands of URNs: those are looked up,
/// and only patterns are tried one by one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UrnSet {
    /// In the order in which they were given, repeated ones too.
    literals: Vec<String>,
    lookup: FxHashSet<String>,
    patterns: Vec<String>,
}

impl UrnSet {
    /// The set of `texts`: URNs, or patterns when they hold a `*`.
    pub fn new(texts: impl IntoIterator<Item = String>) -> Self {
        let (patterns, literals): (Vec<String>, Vec<String>) =
            texts.into_iter().partition(|text| text.contains('*'));
        UrnSet {
            lookup: literals.iter().cloned().collect(),
            literals,
            patterns,
        }
    }

    /// Whether the set says anything; an empty set means no constraint.
    pub fn is_constrained(&self) -> bool {
        !self.literals.is_empty() || !self.patterns.is_empty()
    }

    /// Whether `urn` matches. An empty set matches nothing: callers ask [`UrnSet::is_constrained`] first.
    pub fn matches(&self, urn: &Urn) -> bool {
        self.lookup.contains(urn.as_str())
            || self
                .patterns
                .iter()
                .any(|pattern| glob_matches(pattern, urn.as_str()))
    }

    /// The texts that are not patterns.
    pub fn literals(&self) -> impl Iterator<Item = &str> {
        self.literals.iter().map(String::as_str)
    }
}

/// Whether `pattern` matches the whole of `text`: `**` stands for anything, `*` for anything without a colon.
fn glob_matches(pattern: &str, text: &str) -> bool {
    let Some(star) = pattern.find('*') else {
        return pattern == text;
    };
    let (head, rest) = pattern.split_at(star);
    let Some(tail) = text.strip_prefix(head) else {
        return false;
    };
    let (crosses_colons, rest) = match rest.strip_prefix("**") {
        Some(rest) => (true, rest),
        None => (false, &rest[1..]),
    };
    let mut ends = tail
        .char_indices()
        .map(|(at, c)| (at, Some(c)))
        .chain([(tail.len(), None)]);
    loop {
        let Some((at, next)) = ends.next() else {
            return false;
        };
        if glob_matches(rest, &tail[at..]) {
            return true;
        }
        if next == Some(':') && !crosses_colons {
            return false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stops_at_colons_and_two_do_not() {
        let urn = Urn::parse("urn:pulumi:s::p::a:b:C::name").unwrap();
        let matches = |text: &str| UrnSet::new([text.to_owned()]).matches(&urn);
        assert!(matches("urn:pulumi:s::p::a:b:C::*"));
        assert!(matches("**C::name"));
        assert!(matches("**name"));
        assert!(matches("urn:pulumi:s::p::a:*:C::name"));
        assert!(!matches("urn:pulumi:s::p::*::name"));
        assert!(!matches("**::nam"));
        assert!(matches("urn:pulumi:s::p::a:b:C::name"));
    }
}
