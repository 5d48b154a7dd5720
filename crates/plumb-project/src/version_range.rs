//! Version ranges in `requiredPulumiVersion`: all comparators of an alternative must hold, `||` separates
//! alternatives, and `x` matches any number.

use semver::Version;

/// A range of versions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionRange(Vec<Vec<Comparator>>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Comparator {
    op: Op,
    /// Lowest matching version.
    from: Version,
    until: Until,
}

/// Upper bound of the matching versions.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Until {
    /// Only the one version.
    Same,
    /// All versions below this one.
    Before(Version),
    /// No bound.
    Never,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Op {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// Error for an invalid version range.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid version range {text:?}: could not understand {part:?}")]
pub struct VersionRangeError {
    /// The invalid range.
    pub text: String,
    /// The invalid part.
    pub part: String,
}

impl VersionRange {
    /// Parses a range.
    pub fn parse(text: &str) -> Result<Self, VersionRangeError> {
        let error = |part: &str| VersionRangeError {
            text: text.to_owned(),
            part: part.to_owned(),
        };
        let mut alternatives = Vec::new();
        for alternative in text.split("||") {
            let comparators: Vec<Comparator> = words(alternative)
                .iter()
                .map(|word| comparator(word).ok_or_else(|| error(word)))
                .collect::<Result<_, _>>()?;
            if comparators.is_empty() {
                return Err(error(alternative));
            }
            alternatives.push(comparators);
        }
        Ok(VersionRange(alternatives))
    }

    /// Whether the range contains `version`.
    pub fn contains(&self, version: &Version) -> bool {
        self.0
            .iter()
            .any(|all| all.iter().all(|comparator| comparator.holds(version)))
    }
}

/// Words of a range, split at whitespace; an operator is joined with the version after it.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match words.last_mut() {
            Some(last) if last.chars().all(|c| "<>=!".contains(c)) => last.push_str(word),
            _ => words.push(word.to_owned()),
        }
    }
    words
}

fn comparator(word: &str) -> Option<Comparator> {
    let digits = word.find(|c: char| !"<>=!".contains(c))?;
    let op = match &word[..digits] {
        "" | "=" | "==" => Op::Equal,
        "!" | "!=" => Op::NotEqual,
        "<" => Op::Less,
        "<=" => Op::LessOrEqual,
        ">" => Op::Greater,
        ">=" => Op::GreaterOrEqual,
        _ => return None,
    };
    let text = word[digits..].strip_prefix('v').unwrap_or(&word[digits..]);
    if let Ok(version) = Version::parse(text) {
        return Some(Comparator {
            op,
            from: version,
            until: Until::Same,
        });
    }
    let mut numbers = Vec::new();
    for part in text.split('.') {
        if matches!(part, "x" | "X" | "*") {
            break;
        }
        numbers.push(part.parse::<u64>().ok()?);
    }
    let (from, until) = match numbers.as_slice() {
        [] => (Version::new(0, 0, 0), Until::Never),
        [major] => (
            Version::new(*major, 0, 0),
            Until::Before(Version::new(major + 1, 0, 0)),
        ),
        [major, minor] => (
            Version::new(*major, *minor, 0),
            Until::Before(Version::new(*major, minor + 1, 0)),
        ),
        _ => return None,
    };
    Some(Comparator { op, from, until })
}

impl Comparator {
    fn holds(&self, version: &Version) -> bool {
        let below = version.cmp_precedence(&self.from).is_lt();
        let above = match &self.until {
            Until::Same => version.cmp_precedence(&self.from).is_gt(),
            Until::Before(end) => version.cmp_precedence(end).is_ge(),
            Until::Never => false,
        };
        match self.op {
            Op::Equal => !below && !above,
            Op::NotEqual => below || above,
            Op::Less => below,
            Op::LessOrEqual => !above,
            Op::Greater => above,
            Op::GreaterOrEqual => !below,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_hold_as_written() {
        let check = |range: &str, version: &str, expected: bool| {
            let range_ok = VersionRange::parse(range)
                .unwrap()
                .contains(&Version::parse(version).unwrap());
            assert_eq!(range_ok, expected, "{range} {version}");
        };
        check(">=3.1.0 <4.0.0", "3.260.0", true);
        check(">= 3.1.0 < 4.0.0", "4.0.0", false);
        check("<2.0.0 || >=3.0.0", "2.5.0", false);
        check("<2.0.0 || >=3.0.0", "3.0.0", true);
        check("3.x", "3.9.1", true);
        check(">3.1.x", "3.1.9", false);
        check("!=3.2.0", "3.2.0", false);
        check("3.260.0", "3.260.0", true);
        for wrong in ["", "abc", ">=", "1.2.3.4", ">=1 ||"] {
            assert!(VersionRange::parse(wrong).is_err(), "{wrong}");
        }
    }
}
