//! Time limits as text: `1h30m`, `16m40s`, `1.5s`.

/// Error for a text that is not a duration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unable to parse customTimeout Value {text}")]
pub struct DurationError {
    /// The rejected text.
    pub text: String,
}

/// Units and their length in nanoseconds. A unit comes before any other that is a prefix of it.
const UNITS: [(&str, u64); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("μs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60 * 1_000_000_000),
    ("h", 3_600 * 1_000_000_000),
];

/// Nanoseconds in a second.
const SECOND: u64 = 1_000_000_000;

/// Parses a duration and returns its length in seconds.
///
/// A duration is an optional sign and numbers with units, such as `1h30m` or `-1.5h`; `0` alone needs no unit.
pub fn parse_seconds(text: &str) -> Result<f64, DurationError> {
    let nanoseconds = parse_nanoseconds(text).ok_or_else(|| DurationError {
        text: text.to_owned(),
    })?;
    Ok(nanoseconds as f64 / SECOND as f64)
}

/// Formats seconds as a duration, rounded to nanoseconds: `90.5` is `1m30.5s`.
///
/// Durations below a second use the largest unit that leaves a number of one or more: `1.5ms`.
#[allow(clippy::cast_sign_loss, reason = "the number has lost its sign")]
pub fn format_seconds(seconds: f64) -> String {
    let nanoseconds = (seconds.abs() * SECOND as f64).round() as u64;
    let sign = if seconds < 0.0 && nanoseconds > 0 {
        "-"
    } else {
        ""
    };
    format!("{sign}{}", format_nanoseconds(nanoseconds))
}

fn parse_nanoseconds(text: &str) -> Option<i64> {
    let (negative, mut rest) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    if rest == "0" {
        return Some(0);
    }
    if rest.is_empty() {
        return None;
    }
    let mut total: u64 = 0;
    while !rest.is_empty() {
        let (part, remainder) = parse_part(rest)?;
        total = total.checked_add(part)?;
        rest = remainder;
    }
    match i64::try_from(total) {
        Ok(total) if negative => Some(-total),
        Ok(total) => Some(total),
        Err(_) if negative && total == 1 << 63 => Some(i64::MIN),
        Err(_) => None,
    }
}

/// Parses one number with its unit; returns nanoseconds and the rest of the text.
fn parse_part(text: &str) -> Option<(u64, &str)> {
    let (whole, rest) = split_digits(text);
    let (fraction, rest) = match rest.strip_prefix('.') {
        Some(after) => split_digits(after),
        None => ("", rest),
    };
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let unit_end = rest
        .find(|c: char| c == '.' || c.is_ascii_digit())
        .unwrap_or(rest.len());
    let (unit_name, rest) = rest.split_at(unit_end);
    let unit = UNITS.iter().find(|(name, _)| *name == unit_name)?.1;
    let whole: u64 = if whole.is_empty() {
        0
    } else {
        whole.parse().ok()?
    };
    let nanoseconds = whole
        .checked_mul(unit)?
        .checked_add(scale_fraction(fraction, unit))?;
    Some((nanoseconds, rest))
}

fn split_digits(text: &str) -> (&str, &str) {
    text.split_at(
        text.find(|c: char| !c.is_ascii_digit())
            .unwrap_or(text.len()),
    )
}

/// Nanoseconds of `0.<digits>` units, rounded down.
fn scale_fraction(digits: &str, unit: u64) -> u64 {
    let (mut numerator, mut denominator) = (0_u128, 1_u128);
    for digit in digits.bytes().take(18) {
        numerator = numerator * 10 + u128::from(digit - b'0');
        denominator *= 10;
    }
    u64::try_from(numerator * u128::from(unit) / denominator)
        .expect("a fraction of a unit is less than the unit")
}

fn format_nanoseconds(nanoseconds: u64) -> String {
    match nanoseconds {
        0 => "0s".to_owned(),
        1..1_000 => format!("{nanoseconds}ns"),
        1_000..1_000_000 => format!("{}µs", decimal(nanoseconds, 1_000)),
        1_000_000..SECOND => format!("{}ms", decimal(nanoseconds, 1_000_000)),
        _ => {
            let minutes = nanoseconds / SECOND / 60;
            let seconds = format!("{}s", decimal(nanoseconds % (60 * SECOND), SECOND));
            match (minutes / 60, minutes % 60) {
                (0, 0) => seconds,
                (0, minutes) => format!("{minutes}m{seconds}"),
                (hours, minutes) => format!("{hours}h{minutes}m{seconds}"),
            }
        }
    }
}

/// `value / unit` as a decimal without trailing zeros; `unit` is a power of ten.
fn decimal(value: u64, unit: u64) -> String {
    let digits = unit.ilog10() as usize;
    let fraction = format!("{:0digits$}", value % unit);
    let fraction = fraction.trim_end_matches('0');
    if fraction.is_empty() {
        (value / unit).to_string()
    } else {
        format!("{}.{fraction}", value / unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn durations_are_read() {
        let cases = [
            ("5m", 300.0),
            ("1h30m", 5400.0),
            ("16m40s", 1000.0),
            ("1h0m0s", 3600.0),
            ("1.5h", 5400.0),
            (".5s", 0.5),
            ("5.s", 5.0),
            ("-2s", -2.0),
            ("+2s", 2.0),
            ("0", 0.0),
            ("-0", 0.0),
            ("300ms", 0.3),
            ("10us", 0.000_01),
            ("10µs", 0.000_01),
            ("10μs", 0.000_01),
            ("7ns", 0.000_000_007),
            ("1s1h", 3601.0),
            ("2562047h47m16.854775807s", 9_223_372_036.854_776),
        ];
        for (text, seconds) in cases {
            assert_eq!(parse_seconds(text), Ok(seconds), "{text}");
        }
    }

    #[test]
    fn other_text_is_refused() {
        for text in [
            "",
            "-",
            "5",
            "m",
            "5x",
            "5 m",
            "1h-3m",
            ".s",
            "1.2.3s",
            "s5",
            "2562047h47m16.854775808s",
            "1e3s",
        ] {
            assert_eq!(
                parse_seconds(text),
                Err(DurationError {
                    text: text.to_owned()
                }),
                "{text}"
            );
        }
    }

    #[test]
    fn durations_are_written() {
        let cases = [
            (0.0, "0s"),
            (5.0, "5s"),
            (300.0, "5m0s"),
            (1000.0, "16m40s"),
            (3600.0, "1h0m0s"),
            (5400.0, "1h30m0s"),
            (90.5, "1m30.5s"),
            (0.0015, "1.5ms"),
            (0.000_01, "10µs"),
            (0.000_000_007, "7ns"),
            (-2.0, "-2s"),
        ];
        for (seconds, text) in cases {
            assert_eq!(format_seconds(seconds), text);
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_again(milliseconds in 0..1_000_000_000_u64) {
            let seconds = milliseconds as f64 / 1000.0;
            prop_assert_eq!(parse_seconds(&format_seconds(seconds)), Ok(seconds));
        }
    }
}
