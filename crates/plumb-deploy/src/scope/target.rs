//! Which resources an operation is about (`engine.md` 4.1).

use plumb_resource::Urn;

/// URNs and patterns from the command line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UrnSet {
    literals: Vec<Urn>,
    raw: Vec<String>,
}

impl UrnSet {
    /// The set of `texts`: URNs, or patterns when they hold a `*`.
    pub fn new(texts: impl IntoIterator<Item = String>) -> Self {
        let raw: Vec<String> = texts.into_iter().collect();
        let literals = raw
            .iter()
            .filter(|text| !text.contains('*'))
            .filter_map(|text| Urn::parse(text).ok())
            .collect();
        UrnSet { literals, raw }
    }

    /// Whether the set says anything; an empty set means no constraint.
    pub fn is_constrained(&self) -> bool {
        !self.raw.is_empty()
    }

    /// Whether `urn` matches. An empty set matches nothing: callers ask [`UrnSet::is_constrained`] first.
    pub fn matches(&self, urn: &Urn) -> bool {
        self.literals.contains(urn)
            || self.raw.iter().any(|text| {
                if text.contains('*') {
                    glob_matches(text, urn.as_str())
                } else {
                    text == urn.as_str()
                }
            })
    }

    /// The texts that are not patterns.
    pub fn literals(&self) -> impl Iterator<Item = &str> {
        self.raw
            .iter()
            .map(String::as_str)
            .filter(|text| !text.contains('*'))
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
