//! Colour tags in texts: `<{%fg 1%}>`, `<{%bold%}>`, `<{%reset%}>`.

use std::borrow::Cow;

/// Treatment of colour tags.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ColorMode {
    /// Tags become terminal codes.
    Always,
    /// Tags are removed.
    #[default]
    Never,
    /// Tags are kept unchanged.
    Raw,
    /// The terminal decides.
    Auto,
}

impl ColorMode {
    /// The name in events and flags.
    pub fn as_str(self) -> &'static str {
        match self {
            ColorMode::Always => "always",
            ColorMode::Never => "never",
            ColorMode::Raw => "raw",
            ColorMode::Auto => "auto",
        }
    }

    /// The mode with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "always" => ColorMode::Always,
            "never" => ColorMode::Never,
            "raw" => ColorMode::Raw,
            "auto" => ColorMode::Auto,
            _ => return None,
        })
    }
}

/// The text without colour tags. Terminal codes for colours and links that programs wrote into it are removed as well.
pub fn strip_color(text: &str) -> Cow<'_, str> {
    let plain = strip(text, "<{%", |rest| Some(rest.find("%}>")? + 3));
    if !plain.contains('\u{1b}') {
        return plain;
    }
    let plain = and_then(plain, |text| strip(text, ESCAPE, terminal_color));
    and_then(plain, |text| {
        strip(text, LINK, |rest| Some(rest.find(END)? + END.len()))
    })
}

fn and_then(text: Cow<'_, str>, next: impl Fn(&str) -> Cow<'_, str>) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(text) => next(text),
        Cow::Owned(text) => Cow::Owned(next(&text).into_owned()),
    }
}

/// Start of a terminal code.
const ESCAPE: &str = "\u{1b}[";
/// Start of a terminal link; [`END`] ends its address.
const LINK: &str = "\u{1b}]8;";
const END: &str = "\u{1b}\\";

/// Length of a code for colours and styles, which is numbers followed by `m`; `None` for other codes.
fn terminal_color(rest: &str) -> Option<usize> {
    let numbers = rest.find(|c: char| !c.is_ascii_digit() && c != ';')?;
    rest[numbers..].starts_with('m').then_some(numbers + 1)
}

/// Removes each section that begins with `start`; `length` returns the length of its rest, or `None` to keep the section.
fn strip<'a>(text: &'a str, start: &str, length: impl Fn(&str) -> Option<usize>) -> Cow<'a, str> {
    if !text.contains(start) {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(start) {
        let behind = at + start.len();
        let Some(length) = length(&rest[behind..]) else {
            plain.push_str(&rest[..behind]);
            rest = &rest[behind..];
            continue;
        };
        plain.push_str(&rest[..at]);
        rest = &rest[behind + length..];
    }
    plain.push_str(rest);
    Cow::Owned(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_and_terminal_colours_are_dropped_and_all_else_stays() {
        for (text, plain) in [
            ("plain", "plain"),
            ("<{%fg 2%}>a<{%reset%}>b", "ab"),
            ("\u{1b}[90m    at f\u{1b}[39m", "    at f"),
            ("\u{1b}[38;5;1mred\u{1b}[m", "red"),
            ("open <{%fg", "open <{%fg"),
            ("\u{1b}]8;;file:///x\u{1b}\\a\u{1b}]8;;\u{1b}\\b", "ab"),
            ("open \u{1b}]8;;x", "open \u{1b}]8;;x"),
            ("up \u{1b}[2A and \u{1b}[", "up \u{1b}[2A and \u{1b}["),
        ] {
            assert_eq!(strip_color(text), plain);
        }
    }
}
