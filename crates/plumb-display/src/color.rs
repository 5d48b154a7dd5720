//! Colour tags (`cli.md` 18.1).
//!
//! Texts inside this crate contain tags such as `<{%fg 2%}>`. [`colorize`] converts them to terminal codes,
//! removes them, or keeps them.

use std::borrow::Cow;

use plumb_events::{ColorMode, strip_color};

pub(crate) const RESET: &str = "<{%reset%}>";
pub(crate) const BOLD: &str = "<{%bold%}>";
pub(crate) const HEADLINE: &str = "<{%fg 13%}><{%bold%}>";
pub(crate) const INFO: &str = "<{%fg 5%}>";
pub(crate) const RESOURCE: &str = "<{%fg 12%}>";
pub(crate) const ERROR: &str = "<{%fg 1%}>";
pub(crate) const WARNING: &str = "<{%fg 3%}>";
pub(crate) const COLUMN_HEADER: &str = "<{%underline%}><{%fg 12%}>";

/// `text` with `style` before it and a reset after it.
pub(crate) fn paint(style: &str, text: impl AsRef<str>) -> String {
    let text = text.as_ref();
    if style.is_empty() || text.is_empty() {
        text.to_owned()
    } else {
        format!("{style}{text}{RESET}")
    }
}

/// Converts the colour tags in `text` according to `mode`. [`ColorMode::Auto`] removes them, because only the
/// caller knows the terminal.
pub fn colorize(text: &str, mode: ColorMode) -> Cow<'_, str> {
    match mode {
        ColorMode::Raw => Cow::Borrowed(text),
        ColorMode::Never | ColorMode::Auto => strip_color(text),
        ColorMode::Always => to_terminal(text),
    }
}

fn to_terminal(text: &str) -> Cow<'_, str> {
    if !text.contains("<{%") {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("<{%") {
        let Some(length) = rest[start..].find("%}>") else {
            break;
        };
        out.push_str(&rest[..start]);
        out.push_str(&terminal_code(&rest[start + 3..start + length]));
        rest = &rest[start + length + 3..];
    }
    out.push_str(rest);
    Cow::Owned(out)
}

fn terminal_code(tag: &str) -> Cow<'static, str> {
    match tag.split_once(' ') {
        Some(("fg", color)) => Cow::Owned(format!("\u{1b}[38;5;{color}m")),
        Some(("bg", color)) => Cow::Owned(format!("\u{1b}[48;5;{color}m")),
        Some(("link", address)) => Cow::Owned(format!("\u{1b}]8;;{address}\u{1b}\\")),
        _ => Cow::Borrowed(match tag {
            "bold" => "\u{1b}[1m",
            "underline" => "\u{1b}[4m",
            "reset" => "\u{1b}[0m",
            "link" => "\u{1b}]8;;\u{1b}\\",
            _ => "",
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_follow_the_mode() {
        let text = "<{%fg 2%}>a<{%bold%}>b<{%reset%}><{%bg 4%}>c";
        assert_eq!(colorize(text, ColorMode::Raw), text);
        assert_eq!(colorize(text, ColorMode::Never), "abc");
        assert_eq!(
            colorize(text, ColorMode::Always),
            "\u{1b}[38;5;2ma\u{1b}[1mb\u{1b}[0m\u{1b}[48;5;4mc"
        );
    }

    #[test]
    fn an_open_tag_is_text() {
        assert_eq!(colorize("a <{%fg b", ColorMode::Always), "a <{%fg b");
    }
}
