//! Lenient version parser, with the error messages of the reference.

use semver::Version;

/// Parses a version; accepts surrounding whitespace, a leading `v`, and missing minor and patch
/// numbers.
pub fn parse_version(text: &str) -> Result<Version, String> {
    let text = text.trim();
    let text = text.strip_prefix('v').unwrap_or(text);
    let mut parts: Vec<&str> = text.splitn(3, '.').collect();
    let last = parts.last().copied().unwrap_or_default();
    if parts.len() < 3 && last.contains(['+', '-']) {
        return Err("Short version cannot contain PreRelease/Build meta data".to_owned());
    }
    parts.resize(3, "0");
    let (patch, _) = parts[2].split_at(parts[2].find(['-', '+']).unwrap_or(parts[2].len()));
    for (kind, number) in [("Major", parts[0]), ("Minor", parts[1]), ("Patch", patch)] {
        check_number(kind, number)?;
    }
    Version::parse(&parts.join(".")).map_err(|error| error.to_string())
}

fn check_number(kind: &str, number: &str) -> Result<(), String> {
    if !number.bytes().all(|byte| byte.is_ascii_digit()) {
        let kind = kind.to_lowercase();
        return Err(format!(
            "Invalid character(s) found in {kind} number {number:?}"
        ));
    }
    if number.len() > 1 && number.starts_with('0') {
        return Err(format!(
            "{kind} number must not contain leading zeroes {number:?}"
        ));
    }
    if number.is_empty() {
        return Err("strconv.ParseUint: parsing \"\": invalid syntax".to_owned());
    }
    if number.parse::<u64>().is_err() {
        return Err(format!(
            "strconv.ParseUint: parsing {number:?}: value out of range"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_versions_are_filled_up() {
        for (text, expected) in [
            ("v1.0", "1.0.0"),
            (" 2 ", "2.0.0"),
            ("1.2.3-a+b", "1.2.3-a+b"),
        ] {
            assert_eq!(parse_version(text).unwrap().to_string(), expected);
        }
    }

    #[test]
    fn what_is_no_version_says_which_number_is_wrong() {
        for (text, expected) in [
            ("one", "Invalid character(s) found in major number \"one\""),
            ("1.x", "Invalid character(s) found in minor number \"x\""),
            (
                "1.2.3.4",
                "Invalid character(s) found in patch number \"3.4\"",
            ),
            (
                "01.2.3",
                "Major number must not contain leading zeroes \"01\"",
            ),
            (
                "1-rc",
                "Short version cannot contain PreRelease/Build meta data",
            ),
            ("", "strconv.ParseUint: parsing \"\": invalid syntax"),
        ] {
            assert_eq!(parse_version(text).unwrap_err(), expected, "{text}");
        }
    }
}
