//! Times in the output of commands.

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// Time in JSON: UTC, with milliseconds.
pub(crate) fn json_time(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%S.%3fZ").to_string()
}

/// Relative time, such as "2 hours ago".
pub(crate) fn time_ago(time: Timestamp) -> String {
    let seconds = Timestamp::now().duration_since(time).as_secs();
    let (count, unit) = match seconds.unsigned_abs() {
        0 => return "now".to_owned(),
        count @ 1..=59 => (count, "second"),
        count @ 60..=3599 => (count / 60, "minute"),
        count @ 3600..=86_399 => (count / 3600, "hour"),
        count @ 86_400..=604_799 => (count / 86_400, "day"),
        count @ 604_800..=2_591_999 => (count / 604_800, "week"),
        count @ 2_592_000..=31_535_999 => (count / 2_592_000, "month"),
        count => (count / 31_536_000, "year"),
    };
    let plural = if count == 1 { "" } else { "s" };
    let direction = if seconds < 0 { "from now" } else { "ago" };
    format!("{count} {unit}{plural} {direction}")
}

/// Full form of a time.
pub(crate) fn full_time(time: Timestamp) -> String {
    let zoned = time.to_zoned(TimeZone::UTC);
    let fraction = time.subsec_nanosecond();
    let mut digits = format!(".{fraction:09}");
    let kept = digits.trim_end_matches('0').trim_end_matches('.').len();
    digits.truncate(kept);
    format!("{}{digits} +0000 UTC", zoned.strftime("%Y-%m-%d %H:%M:%S"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_two_forms() {
        let time: Timestamp = "2026-02-03T10:11:12.5Z".parse().unwrap();
        assert_eq!(json_time(time), "2026-02-03T10:11:12.500Z");
        assert_eq!(full_time(time), "2026-02-03 10:11:12.5 +0000 UTC");
        let time: Timestamp = "2026-02-03T10:11:12Z".parse().unwrap();
        assert_eq!(full_time(time), "2026-02-03 10:11:12 +0000 UTC");
    }
}
