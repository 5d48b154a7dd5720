//! Durations in the syntax of Go: `5m`, `1h30m`, `1.5s`.

/// Number of seconds in a duration; `None` if `text` is malformed.
pub fn seconds(text: &str) -> Option<f64> {
    let (negative, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Some(0.0);
    }
    if rest.is_empty() {
        return None;
    }
    let mut total = 0.0;
    while !rest.is_empty() {
        let end = rest.find(|char: char| !char.is_ascii_digit() && char != '.')?;
        let number: f64 = rest[..end].parse().ok()?;
        rest = &rest[end..];
        let end = rest
            .find(|char: char| char.is_ascii_digit() || char == '.')
            .unwrap_or(rest.len());
        let unit = match &rest[..end] {
            "ns" => 1e-9,
            "us" | "µs" | "μs" => 1e-6,
            "ms" => 1e-3,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            _ => return None,
        };
        total += number * unit;
        rest = &rest[end..];
    }
    Some(if negative { -total } else { total })
}

#[cfg(test)]
mod tests {
    use super::seconds;

    #[test]
    fn durations_are_read() {
        for (text, expected) in [
            ("5m", Some(300.0)),
            ("1h30m", Some(5400.0)),
            ("1.5s", Some(1.5)),
            ("0", Some(0.0)),
            ("90", None),
            ("", None),
        ] {
            assert_eq!(seconds(text), expected, "{text}");
        }
    }
}
