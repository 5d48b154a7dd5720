//! Values of plain scalars, and the styles that keep strings strings.

use super::node::{Scalar, ScalarStyle};

/// Key that merges the entries of other maps, if it is plain.
pub(crate) const MERGE_KEY: &str = "<<";

/// Value of a scalar.
#[derive(Debug, Clone, PartialEq)]
pub enum Resolved {
    /// `null`, `~`, or empty.
    Null,
    /// Boolean.
    Bool(bool),
    /// Integer with at most 64 bits, signed or unsigned.
    Integer(i128),
    /// Other number, including infinities and NaN.
    Float(f64),
    /// Date or time, as written.
    Timestamp(String),
    /// String.
    String(String),
}

impl Resolved {
    /// Text form, as used for configuration values.
    pub fn to_text(&self) -> String {
        match self {
            Resolved::Null => String::new(),
            Resolved::Bool(value) => value.to_string(),
            Resolved::Integer(value) => value.to_string(),
            Resolved::Float(value) => float_text(*value),
            Resolved::Timestamp(text) | Resolved::String(text) => text.clone(),
        }
    }
}

/// Shortest digits that identify the number, in the format of Go's JSON encoder.
pub(crate) fn float_text(value: f64) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "+Inf" } else { "-Inf" }.to_owned();
    }
    let size = value.abs();
    if size != 0.0 && !(1e-6..1e21).contains(&size) {
        let text = format!("{value:e}");
        return match text.split_once('e') {
            Some((digits, exponent)) if !exponent.starts_with('-') => {
                format!("{digits}e+{exponent}")
            }
            _ => text,
        };
    }
    format!("{value}")
}

/// Value of `scalar` with an optional explicit tag.
pub(crate) fn resolve(scalar: &Scalar, tag: Option<&str>) -> Resolved {
    let plain = || resolve_plain(&scalar.text);
    match tag {
        None if scalar.style == ScalarStyle::Plain => plain(),
        Some("!!null" | "!!bool" | "!!int" | "!!timestamp") => plain(),
        Some("!!float") => match plain() {
            Resolved::Integer(value) => Resolved::Float(value as f64),
            other => other,
        },
        _ => Resolved::String(scalar.text.clone()),
    }
}

/// Value of an untagged plain scalar.
pub fn resolve_plain(text: &str) -> Resolved {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Resolved::Null,
        "true" | "True" | "TRUE" => return Resolved::Bool(true),
        "false" | "False" | "FALSE" => return Resolved::Bool(false),
        ".nan" | ".NaN" | ".NAN" => return Resolved::Float(f64::NAN),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => {
            return Resolved::Float(f64::INFINITY);
        }
        "-.inf" | "-.Inf" | "-.INF" => return Resolved::Float(f64::NEG_INFINITY),
        _ => {}
    }
    match text.as_bytes()[0] {
        b'0'..=b'9' | b'+' | b'-' => {
            if is_timestamp(text) {
                return Resolved::Timestamp(text.to_owned());
            }
            number(&text.replace('_', "")).unwrap_or_else(|| Resolved::String(text.to_owned()))
        }
        b'.' if is_float(text) => text
            .parse()
            .map_or_else(|_| Resolved::String(text.to_owned()), Resolved::Float),
        _ => Resolved::String(text.to_owned()),
    }
}

fn number(text: &str) -> Option<Resolved> {
    if let Some(value) = integer(text) {
        return Some(Resolved::Integer(value));
    }
    is_float(text)
        .then(|| text.parse().ok())
        .flatten()
        .filter(|value: &f64| value.is_finite())
        .map(Resolved::Float)
}

/// Integer with the prefixes of Go source code (`0x`, `0o`, `0b`, or a leading zero for octal).
fn integer(text: &str) -> Option<i128> {
    let (negative, signed, digits) = match text.as_bytes().first()? {
        b'-' => (true, true, &text[1..]),
        b'+' => (false, true, &text[1..]),
        _ => (false, false, text),
    };
    let lower = digits.to_ascii_lowercase();
    let (radix, digits) = if let Some(rest) = lower.strip_prefix("0x") {
        (16, rest)
    } else if let Some(rest) = lower.strip_prefix("0o") {
        (8, rest)
    } else if let Some(rest) = lower.strip_prefix("0b") {
        (2, rest)
    } else if lower.len() > 1 && lower.starts_with('0') {
        (8, &lower[1..])
    } else {
        (10, lower.as_str())
    };
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_alphanumeric()) {
        return None;
    }
    let size = i128::from(u64::from_str_radix(digits, radix).ok()?);
    let value = if negative { -size } else { size };
    let fits = value >= i128::from(i64::MIN) && (value <= i128::from(i64::MAX) || !signed);
    fits.then_some(value)
}

/// Whether the text matches `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`.
fn is_float(text: &str) -> bool {
    let rest = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (mantissa, exponent) = match rest.find(['e', 'E']) {
        Some(at) => (&rest[..at], Some(&rest[at + 1..])),
        None => (rest, None),
    };
    let digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    let mantissa_ok = match mantissa.split_once('.') {
        Some(("", fraction)) => digits(fraction),
        Some((whole, fraction)) => digits(whole) && (fraction.is_empty() || digits(fraction)),
        None => digits(mantissa),
    };
    mantissa_ok && exponent.is_none_or(|e| digits(e.strip_prefix(['-', '+']).unwrap_or(e)))
}

/// Whether the text is a date such as `2006-1-2`, optionally followed by `T`, `t` or a space and a time with optional
/// fraction and zone.
fn is_timestamp(text: &str) -> bool {
    let bytes = text.as_bytes();
    if bytes.len() < 8 || !bytes[..4].iter().all(u8::is_ascii_digit) || bytes[4] != b'-' {
        return false;
    }
    let (date, time) = match text.find(['T', 't', ' ']) {
        Some(at) => (&text[..at], Some((&text[at..=at], &text[at + 1..]))),
        None => (text, None),
    };
    let mut parts = date.split('-').skip(1);
    let (Some(month), Some(day), None) = (parts.next(), parts.next(), parts.next()) else {
        return false;
    };
    let date_ok = is_date(date, month, day);
    date_ok && time.is_none_or(|(separator, time)| is_time_of_day(time, separator == " "))
}

fn is_date(date: &str, month: &str, day: &str) -> bool {
    let year: u32 = date[..4].parse().unwrap_or(0);
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let days = match month.parse() {
        Ok(2) if leap => 29,
        Ok(2) => 28,
        Ok(4 | 6 | 9 | 11) => 30,
        _ => 31,
    };
    in_range(month, 1, 12) && in_range(day, 1, days)
}

fn is_time_of_day(text: &str, bare: bool) -> bool {
    let zone_at = text.find(['Z', '+', '-']).unwrap_or(text.len());
    let (clock, zone) = text.split_at(zone_at);
    let clock = match clock.split_once('.') {
        Some((clock, fraction))
            if !fraction.is_empty() && fraction.bytes().all(|b| b.is_ascii_digit()) =>
        {
            clock
        }
        Some(_) => return false,
        None => clock,
    };
    let parts: Vec<&str> = clock.split(':').collect();
    let [hour, minute, second] = parts.as_slice() else {
        return false;
    };
    let zone_ok = match zone {
        "" => bare,
        "Z" => !bare,
        _ => !bare && zone.len() == 6 && zone.as_bytes()[3] == b':',
    };
    zone_ok && in_range(hour, 0, 23) && in_range(minute, 0, 59) && in_range(second, 0, 59)
}

fn in_range(text: &str, low: u8, high: u8) -> bool {
    (1..=2).contains(&text.len()) && text.parse::<u8>().is_ok_and(|n| (low..=high).contains(&n))
}

/// Style for a new string that is read as the same string.
pub(crate) fn style_for_string(text: &str) -> ScalarStyle {
    if text.contains('\n') && can_be_block(text) {
        return ScalarStyle::Literal;
    }
    let stays_text = matches!(resolve_plain(text), Resolved::String(_))
        && !is_old_bool(text)
        && !is_base_60(text);
    if !stays_text {
        return ScalarStyle::DoubleQuoted;
    }
    quoting_needed(text, ScalarStyle::Plain)
}

/// `wanted`, or the weakest stronger quoting that can represent `text` on one line.
pub(crate) fn quoting_needed(text: &str, wanted: ScalarStyle) -> ScalarStyle {
    if has_special(text) || text.contains('\n') {
        return ScalarStyle::DoubleQuoted;
    }
    match wanted {
        ScalarStyle::Plain if !can_be_plain(text) => ScalarStyle::SingleQuoted,
        ScalarStyle::Plain | ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted => wanted,
        ScalarStyle::Literal | ScalarStyle::Folded => ScalarStyle::DoubleQuoted,
    }
}

/// Whether a literal block can represent the text: only printable characters, no space at the start or before a line
/// break.
pub(crate) fn can_be_block(text: &str) -> bool {
    !has_special(text)
        && !text.starts_with(['\n', ' '])
        && !text.contains(" \n")
        && !text.ends_with(' ')
}

/// Whether multi-line quotes can represent the text: no whitespace next to line breaks.
pub(crate) fn can_be_quoted_lines(text: &str) -> bool {
    let lines = || text.split('\n');
    text.contains('\n')
        && !has_special(text)
        && !text.starts_with('\n')
        && !text.ends_with('\n')
        && !lines().any(|line| line.starts_with(' ') || line.ends_with(' '))
}

/// Whether `c` is unescaped in YAML text. upstream: go-yaml escapes tabs and characters beyond the basic plane.
pub(crate) fn is_printable(c: char) -> bool {
    matches!(c, '\n' | ' '..='~' | '\u{85}' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fefe}' | '\u{ff00}'..='\u{fffd}')
        && !matches!(c, '\u{2028}' | '\u{2029}')
}

fn has_special(text: &str) -> bool {
    text.chars().any(|c| !is_printable(c))
}

fn can_be_plain(text: &str) -> bool {
    let Some(first) = text.chars().next() else {
        return false;
    };
    let second_is_blank = text.chars().nth(1).is_none_or(|c| c == ' ');
    let bad_start = match first {
        '#' | ',' | '[' | ']' | '{' | '}' | '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%'
        | '@' | '`' | ' ' => true,
        '?' | ':' | '-' => second_is_blank,
        _ => text.starts_with("---") || text.starts_with("..."),
    };
    !(bad_start
        || text.starts_with("---")
        || text.ends_with(' ')
        || text.ends_with(':')
        || text.contains(": ")
        || text.contains(" #"))
}

fn is_old_bool(text: &str) -> bool {
    matches!(
        text,
        "y" | "Y"
            | "yes"
            | "Yes"
            | "YES"
            | "on"
            | "On"
            | "ON"
            | "n"
            | "N"
            | "no"
            | "No"
            | "NO"
            | "off"
            | "Off"
            | "OFF"
    )
}

/// Whether the text is a number such as `1:30`, which older readers interpret as minutes and seconds.
fn is_base_60(text: &str) -> bool {
    let rest = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (whole, fraction) = rest.split_once('.').unwrap_or((rest, ""));
    let mut parts = whole.split(':');
    let first = parts.next().unwrap_or_default();
    let rest: Vec<&str> = parts.collect();
    first.starts_with(|c: char| c.is_ascii_digit())
        && first.bytes().all(|b| b.is_ascii_digit() || b == b'_')
        && !rest.is_empty()
        && rest.iter().all(|part| in_range(part, 0, 59))
        && fraction.bytes().all(|b| b.is_ascii_digit() || b == b'_')
}
