//! Versions in the forms used by plugins and their folders.

use semver::Version;

/// Parses a version leniently: surrounding space, a leading `v`, missing minor and patch numbers, and leading zeros are
/// accepted.
pub fn parse_tolerant(text: &str) -> Option<Version> {
    let text = text.trim();
    let text = text.strip_prefix(['v', 'V']).unwrap_or(text);
    if let Ok(version) = Version::parse(text) {
        return Some(version);
    }
    let end = text.find(['-', '+']).unwrap_or(text.len());
    let (numbers, suffix) = text.split_at(end);
    let mut parts: Vec<u64> = Vec::with_capacity(3);
    for part in numbers.split('.') {
        parts.push(part.parse().ok()?);
    }
    if parts.len() > 3 || (parts.len() < 3 && !suffix.is_empty()) {
        return None;
    }
    parts.resize(3, 0);
    Version::parse(&format!("{}.{}.{}{suffix}", parts[0], parts[1], parts[2])).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn incomplete_versions_are_filled_up() {
        for (text, expected) in [
            ("1.2.3", Some("1.2.3")),
            (" v1.2 ", Some("1.2.0")),
            ("4", Some("4.0.0")),
            ("1.02.3-beta.1+x", Some("1.2.3-beta.1+x")),
            ("1.2-beta", None),
            ("1.2.3.4", None),
            ("", None),
            ("latest", None),
        ] {
            assert_eq!(
                parse_tolerant(text)
                    .map(|version| version.to_string())
                    .as_deref(),
                expected,
                "{text}"
            );
        }
    }
}
