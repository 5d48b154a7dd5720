//! Times in state files: RFC 3339 with as many fractional digits as needed.

use std::fmt::Write;

use jiff::Timestamp;
use jiff::fmt::temporal::Pieces;
use jiff::tz::Offset;

/// Text of a time with an offset from UTC.
pub(super) fn time_text(time: Timestamp, offset: Offset) -> String {
    let local = offset.to_datetime(time);
    let mut text = local.strftime("%Y-%m-%dT%H:%M:%S").to_string();
    let nanoseconds = local.subsec_nanosecond();
    if nanoseconds != 0 {
        let digits = format!("{nanoseconds:09}");
        text.push('.');
        text.push_str(digits.trim_end_matches('0'));
    }
    match offset.seconds() / 60 {
        0 => text.push('Z'),
        minutes => {
            let sign = if minutes < 0 { '-' } else { '+' };
            let (hours, minutes) = (minutes.abs() / 60, minutes.abs() % 60);
            write!(text, "{sign}{hours:02}:{minutes:02}").expect("writing to a string cannot fail");
        }
    }
    text
}

/// Parses a time and its offset.
pub(super) fn parse_time(text: &str) -> Result<(Timestamp, Offset), jiff::Error> {
    let time: Timestamp = text.parse()?;
    let offset = Pieces::parse(text)?
        .to_numeric_offset()
        .unwrap_or(Offset::UTC);
    Ok((time, offset))
}
