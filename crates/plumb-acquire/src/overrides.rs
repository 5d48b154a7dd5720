//! Addresses of plugins overridden by the user: `PULUMI_PLUGIN_DOWNLOAD_URL_OVERRIDES`.

use regex::Regex;

/// Name of the variable.
const VARIABLE: &str = "PULUMI_PLUGIN_DOWNLOAD_URL_OVERRIDES";

/// Patterns for addresses of sources, and their replacements.
#[derive(Clone, Debug, Default)]
pub struct Overrides(Vec<(Regex, String)>);

/// Errors of parsing overrides.
#[derive(Debug, thiserror::Error)]
pub enum OverrideError {
    /// A pair has no `=`.
    #[error("{VARIABLE} has {text:?}; expected are pairs `regexp=URL`, separated by commas")]
    Pair {
        /// The text.
        text: String,
    },
    /// A pattern is not a valid regular expression.
    #[error("{VARIABLE} has a pattern that cannot be understood")]
    Pattern(#[from] regex::Error),
}

impl Overrides {
    /// Parses the value of the variable.
    pub fn parse(text: &str) -> Result<Self, OverrideError> {
        let pairs = text.split(',').filter(|pair| !pair.trim().is_empty());
        let overrides = pairs.map(|pair| {
            let (pattern, url) = pair.split_once('=').ok_or_else(|| OverrideError::Pair {
                text: pair.to_owned(),
            })?;
            Ok((Regex::new(pattern.trim())?, url.trim().to_owned()))
        });
        overrides
            .collect::<Result<_, OverrideError>>()
            .map(Overrides)
    }

    /// Whether there are no overrides.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The replacement for `url`, from the first matching pattern.
    pub(crate) fn apply(&self, url: &str) -> Option<String> {
        let mut pairs = self.0.iter();
        pairs.find_map(|(pattern, replacement)| {
            let captures = pattern.captures(url)?;
            Some(substituted(replacement, &captures))
        })
    }
}

/// Replaces `$0`, `$1` and `${group}` by the captures of the pattern. Any other `$` is kept, because addresses have
/// placeholders of their own.
fn substituted(template: &str, captures: &regex::Captures<'_>) -> String {
    let mut result = String::new();
    let mut rest = template;
    while let Some(at) = rest.find('$') {
        result.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let braced = rest.strip_prefix('{').and_then(|rest| rest.split_once('}'));
        let (found, length) = if digits > 0 {
            let group = rest[..digits].parse().ok();
            (group.and_then(|group| captures.get(group)), digits)
        } else if let Some((name, _)) = braced {
            (captures.name(name), name.len() + 2)
        } else {
            (None, 0)
        };
        if let Some(found) = found {
            result.push_str(found.as_str());
        } else {
            result.push('$');
            result.push_str(&rest[..length]);
        }
        rest = &rest[length..];
    }
    result.push_str(rest);
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_pattern_that_occurs_counts() {
        let overrides = Overrides::parse(
            r"^https://foo=https://bar,github://[^/]+/(?<owner>\w+)/pulumi-(\w+)=https://mirror/${owner}/$2/${VERSION},.*=https://all/$0",
        )
        .unwrap();
        let apply = |url| overrides.apply(url).unwrap();
        assert_eq!(apply("https://foo/x"), "https://bar");
        assert_eq!(
            apply("github://api.github.com/pulumi/pulumi-aws"),
            "https://mirror/pulumi/aws/${VERSION}"
        );
        assert_eq!(apply("gitlab://h/1"), "https://all/gitlab://h/1");
        assert_eq!(Overrides::parse("").unwrap().apply("x"), None);
    }

    #[test]
    fn nonsense_is_refused() {
        assert!(matches!(
            Overrides::parse("x"),
            Err(OverrideError::Pair { .. })
        ));
        assert!(matches!(
            Overrides::parse("(=y"),
            Err(OverrideError::Pattern(_))
        ));
    }
}
