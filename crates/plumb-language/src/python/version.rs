//! Conversion of Python's version numbers to semantic versions (`languages.md` 4.4).

use semver::Version;

/// Semantic version of a PEP 440 version; `None` if it has an epoch or a local part, or is invalid.
pub(super) fn to_semantic(text: &str) -> Option<Version> {
    let text = text.trim().to_ascii_lowercase();
    let text = text.strip_prefix('v').unwrap_or(&text);
    let release_end = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (release, mut rest) = text.split_at(release_end);
    let (release, dangling_dot) = match release.strip_suffix('.') {
        Some(release) => (release, true),
        None => (release, false),
    };
    let mut numbers = release
        .split('.')
        .map(|part| part.parse::<u64>().ok())
        .collect::<Option<Vec<u64>>>()?;
    if numbers.len() > 3 || (dangling_dot && !rest.starts_with("post") && !rest.starts_with("dev"))
    {
        return None;
    }
    numbers.resize(3, 0);

    let mut pre = String::new();
    for (short, long) in [("rc", "rc"), ("a", "alpha"), ("b", "beta")] {
        if let Some(after) = rest.strip_prefix(short) {
            let (number, after) = take_number(after)?;
            pre = format!("-{long}.{number}");
            rest = after;
            break;
        }
    }
    let mut build = String::new();
    for name in ["post", "dev"] {
        if let Some(after) = rest.strip_prefix('.').unwrap_or(rest).strip_prefix(name) {
            let (number, after) = take_number(after)?;
            build = format!("{build}{name}{number}");
            rest = after;
        }
    }
    if !rest.is_empty() {
        return None;
    }
    let separator = if build.is_empty() { "" } else { "+" };
    Version::parse(&format!(
        "{}.{}.{}{pre}{separator}{build}",
        numbers[0], numbers[1], numbers[2]
    ))
    .ok()
}

fn take_number(text: &str) -> Option<(u64, &str)> {
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    Some((
        if digits.is_empty() {
            0
        } else {
            digits.parse().ok()?
        },
        rest,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_translated() {
        for (text, expected) in [
            ("1.2.3", Some("1.2.3")),
            ("1.2", Some("1.2.0")),
            ("4", Some("4.0.0")),
            ("1.0.0a3", Some("1.0.0-alpha.3")),
            ("1.0b1", Some("1.0.0-beta.1")),
            ("2.0.0rc10", Some("2.0.0-rc.10")),
            ("1.2.3.post4", Some("1.2.3+post4")),
            ("1.2.3.dev5", Some("1.2.3+dev5")),
            ("1.2.3.post4.dev5", Some("1.2.3+post4dev5")),
            ("1.2.3a1.dev5", Some("1.2.3-alpha.1+dev5")),
            ("1!1.2.3", None),
            ("1.2.3+local", None),
            ("1.2.3.4", None),
            ("1.2.", None),
            ("abc", None),
        ] {
            assert_eq!(
                to_semantic(text)
                    .map(|version| version.to_string())
                    .as_deref(),
                expected,
                "{text}"
            );
        }
    }
}
