//! YAML documents as trees with source positions.

use ecow::EcoString;

use super::source::Span;

/// A node of a YAML document.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    pub(crate) kind: NodeKind,
    pub(crate) span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum NodeKind {
    Null,
    Bool(bool),
    Number(f64),
    String(EcoString),
    List(Vec<Node>),
    Map(Vec<(Key, Node)>),
}

/// A key of a mapping.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Key {
    pub(crate) text: EcoString,
    pub(crate) span: Span,
}

impl Node {
    /// Text of a string node.
    pub(crate) fn as_str(&self) -> Option<&EcoString> {
        match &self.kind {
            NodeKind::String(text) => Some(text),
            _ => None,
        }
    }
}

/// Value of a plain scalar in the core schema; text if it is no other value.
pub(crate) fn plain_scalar(text: &str) -> NodeKind {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return NodeKind::Null,
        "true" | "True" | "TRUE" => return NodeKind::Bool(true),
        "false" | "False" | "FALSE" => return NodeKind::Bool(false),
        ".nan" | ".NaN" | ".NAN" => return NodeKind::Number(f64::NAN),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => {
            return NodeKind::Number(f64::INFINITY);
        }
        "-.inf" | "-.Inf" | "-.INF" => return NodeKind::Number(f64::NEG_INFINITY),
        _ => {}
    }
    number(text).map_or_else(|| NodeKind::String(text.into()), NodeKind::Number)
}

/// Number: an integer in Go's notations, or a float in YAML's.
fn number(text: &str) -> Option<f64> {
    let first = *text.as_bytes().first()?;
    if !first.is_ascii_digit() && !matches!(first, b'+' | b'-' | b'.') {
        return None;
    }
    let digits = text.replace('_', "");
    integer(&digits).or_else(|| is_float(&digits).then(|| digits.parse().ok()).flatten())
}

fn integer(text: &str) -> Option<f64> {
    let (negative, magnitude) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let lower = magnitude.to_ascii_lowercase();
    let (radix, digits) = match lower.get(..2) {
        Some("0x") => (16, &lower[2..]),
        Some("0o") => (8, &lower[2..]),
        Some("0b") => (2, &lower[2..]),
        _ if lower.len() > 1 && lower.starts_with('0') => (8, &lower[1..]),
        _ => (10, lower.as_str()),
    };
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let value = u64::from_str_radix(digits, radix).ok()? as f64;
    Some(if negative { -value } else { value })
}

/// Whether the text matches `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`.
fn is_float(text: &str) -> bool {
    let text = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let mantissa_fits = match mantissa.split_once('.') {
        Some((whole, fraction)) => {
            digits(whole) && digits(fraction) && !(whole.is_empty() && fraction.is_empty())
        }
        None => !mantissa.is_empty() && digits(mantissa),
    };
    mantissa_fits
        && exponent.is_none_or(|exponent| {
            let exponent = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
            !exponent.is_empty() && digits(exponent)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &NodeKind) {
        assert_eq!(&plain_scalar(text), expected, "{text}");
    }

    #[test]
    fn scalars_follow_the_core_schema() {
        for (text, value) in [
            ("1", 1.0),
            ("-3", -3.0),
            ("0x10", 16.0),
            ("0o17", 15.0),
            ("017", 15.0),
            ("1_000", 1000.0),
            ("1.5", 1.5),
            (".5", 0.5),
            ("1e3", 1000.0),
            ("18446744073709551615", 18_446_744_073_709_551_615.0),
        ] {
            check(text, &NodeKind::Number(value));
        }
        check("~", &NodeKind::Null);
        check("True", &NodeKind::Bool(true));
        for text in [
            "yes",
            "1.2.3",
            "2020-01-01",
            "0x",
            "-",
            "+",
            ".",
            "1e",
            "08x",
            "a",
        ] {
            check(text, &NodeKind::String(text.into()));
        }
    }
}
