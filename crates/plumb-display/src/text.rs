//! Text helpers.

use std::time::Duration;

use plumb_events::strip_color;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

const MAX_LINES: usize = 3;
const MAX_LINE: usize = 150;

/// The type without its file part, which repeats the name: `random:index:RandomPet` for
/// `random:index/randomPet:RandomPet`.
pub(crate) fn short_type(type_token: &str) -> String {
    let parts: Vec<&str> = type_token.split(':').collect();
    let [package, module, name] = parts.as_slice() else {
        return type_token.to_owned();
    };
    let Some((folder, file)) = module.rsplit_once('/') else {
        return type_token.to_owned();
    };
    let mut letters = name.chars();
    let lower: String = letters
        .next()
        .map(|first| first.to_lowercase().chain(letters).collect())
        .unwrap_or_default();
    if lower.is_empty() || file != lower {
        return type_token.to_owned();
    }
    format!("{package}:{folder}:{name}")
}

/// End tag for [`linked`].
const END_OF_LINK: &str = "<{%link%}>";

/// Count with a noun, such as `1 error` or `2 errors`.
pub(crate) fn counted(count: usize, noun: &str) -> String {
    if count == 1 {
        format!("1 {noun}")
    } else {
        format!("{count} {noun}s")
    }
}

/// Duration in whole seconds, rounded up, in Go's format: `1m5s`.
pub(crate) fn go_duration(duration: Duration) -> String {
    let seconds = duration.as_secs() + u64::from(duration.subsec_nanos() > 0);
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match (hours, minutes) {
        (0, 0) => format!("{seconds}s"),
        (0, _) => format!("{minutes}m{seconds}s"),
        _ => format!("{hours}h{minutes}m{seconds}s"),
    }
}

/// Width of the text on a terminal, without colour tags.
pub(crate) fn width(text: &str) -> usize {
    strip_color(text).width()
}

/// The text padded with spaces.
pub(crate) fn pad(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

/// The text cut to `columns`; colour tags are kept and closed.
pub(crate) fn cut(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut used = 0;
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        if let Some(end) = rest.strip_prefix("<{%").and_then(|tag| tag.find("%}>")) {
            let length = end + 6;
            out.push_str(&rest[..length]);
            rest = &rest[length..];
            continue;
        }
        let letter_width = letter.width().unwrap_or(0);
        if used + letter_width + 1 > columns {
            break;
        }
        used += letter_width;
        out.push(letter);
        rest = &rest[letter.len_utf8()..];
    }
    if columns > 0 {
        out.push('…');
    }
    if text.contains("<{%link ") {
        out.push_str(END_OF_LINK);
    }
    if text.contains("<{%") {
        out.push_str(crate::color::RESET);
    }
    out
}

/// The text as a link to an address, in tags that [`crate::colorize`] converts to terminal codes.
pub fn linked(text: &str, address: Option<&str>) -> String {
    match address {
        Some(address) => format!("<{{%link {address}%}}>{text}{END_OF_LINK}"),
        None => text.to_owned(),
    }
}

/// The lines, each indented by `indent`.
pub(crate) fn lines(indent: &str, lines: &[String]) -> String {
    let mut out = String::new();
    for line in lines {
        out.push_str(indent);
        out.push_str(line);
        out.push('\n');
    }
    out
}

/// At most three lines of at most 150 bytes, possibly cut inside a character.
pub(crate) fn cut_lines(text: &str) -> Vec<u8> {
    let lines: Vec<&[u8]> = text.split('\n').map(str::as_bytes).collect();
    let mut out = Vec::new();
    for (idx, line) in lines.iter().take(MAX_LINES).enumerate() {
        if idx > 0 {
            out.push(b'\n');
        }
        out.extend_from_slice(&line[..line.len().min(MAX_LINE)]);
        if line.len() > MAX_LINE {
            out.extend_from_slice(b"...");
        }
    }
    if lines.len() > MAX_LINES {
        out.extend_from_slice(b"\n...");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_lose_a_file_that_repeats_the_name() {
        assert_eq!(
            short_type("random:index/randomPet:RandomPet"),
            "random:index:RandomPet"
        );
        assert_eq!(
            short_type("aws:s3/bucketV2:Bucket"),
            "aws:s3/bucketV2:Bucket"
        );
        assert_eq!(short_type("plain"), "plain");
    }

    #[test]
    fn durations_are_rounded_up() {
        assert_eq!(go_duration(Duration::from_millis(64_500)), "1m5s");
        assert_eq!(go_duration(Duration::from_hours(1)), "1h0m0s");
        assert_eq!(go_duration(Duration::ZERO), "0s");
    }

    #[test]
    fn cutting_counts_columns_and_keeps_tags() {
        assert_eq!(
            cut("<{%bold%}>abcdef<{%reset%}>", 4),
            "<{%bold%}>abc…<{%reset%}>"
        );
        assert_eq!(cut("日本語", 5), "日本…");
        assert_eq!(
            cut(&linked("abcdef", Some("file:///x")), 4),
            "<{%link file:///x%}>abc…<{%link%}><{%reset%}>"
        );
        assert_eq!(cut("abc", 3), "abc");
    }

    #[test]
    fn long_texts_are_cut() {
        assert_eq!(cut_lines("1\n2\n3\n4\n5"), b"1\n2\n3\n...");
        assert_eq!(
            cut_lines(&"x".repeat(151)),
            format!("{}...", "x".repeat(150)).as_bytes()
        );
    }
}
