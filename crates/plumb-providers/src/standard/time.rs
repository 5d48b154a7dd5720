//! Points in time, as RFC 3339 writes them.

use jiff::tz::{Offset, TimeZone};
use jiff::{SignedDuration, Timestamp};
use plumb_value::Value;

use super::args::{Answer, Args};

fn instant(text: &str) -> Result<Timestamp, String> {
    text.parse()
        .map_err(|error| format!("{text:?} is not a timestamp: {error}"))
}

/// The offset that a timestamp is written with; `None` for `Z`.
fn offset(text: &str) -> Option<Offset> {
    let (_, time) = text.split_once(['T', 't', ' '])?;
    let at = time.rfind(['+', '-'])?;
    let (hours, minutes) = time[at + 1..].split_once(':')?;
    let seconds = hours.parse::<i32>().ok()? * 3600 + minutes.parse::<i32>().ok()? * 60;
    let seconds = if time[at..].starts_with('-') {
        -seconds
    } else {
        seconds
    };
    Offset::from_seconds(seconds).ok()
}

pub(super) fn now() -> Value {
    Timestamp::now()
        .strftime("%Y-%m-%dT%H:%M:%SZ")
        .to_string()
        .into()
}

pub(super) fn add(args: &Args<'_>) -> Answer {
    let text = args.text("timestamp")?;
    let duration = duration(args.text("duration")?)?;
    let moved = instant(text)?
        .checked_add(duration)
        .map_err(|error| error.to_string())?;
    Ok(match offset(text) {
        None => moved.strftime("%Y-%m-%dT%H:%M:%SZ").to_string().into(),
        Some(offset) => {
            let moved = moved.to_zoned(TimeZone::fixed(offset));
            moved.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string().into()
        }
    })
}

pub(super) fn compare(args: &Args<'_>) -> Answer {
    let (a, b) = (
        instant(args.text("timestampa")?)?,
        instant(args.text("timestampb")?)?,
    );
    Ok(f64::from(a.cmp(&b) as i8).into())
}

/// A duration such as `-2h15m` or `1.5s`.
fn duration(text: &str) -> Result<SignedDuration, String> {
    let wrong = || format!("{text:?} is not a duration, such as 2h15m");
    let (is_negative, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Ok(SignedDuration::ZERO);
    }
    let mut seconds = 0.0;
    if rest.is_empty() {
        return Err(wrong());
    }
    while !rest.is_empty() {
        let end = rest.find(|it: char| !it.is_ascii_digit() && it != '.');
        let (number, behind) = rest.split_at(end.ok_or_else(wrong)?);
        let number: f64 = number.parse().map_err(|_| wrong())?;
        let units = [
            ("ns", 1e-9),
            ("us", 1e-6),
            ("µs", 1e-6),
            ("ms", 1e-3),
            ("h", 3600.0),
            ("m", 60.0),
            ("s", 1.0),
        ];
        let mut units = units.iter();
        let (unit, length) = units
            .find(|(unit, _)| behind.starts_with(unit))
            .ok_or_else(wrong)?;
        seconds += number * length;
        rest = &behind[unit.len()..];
    }
    let seconds = if is_negative { -seconds } else { seconds };
    SignedDuration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}
