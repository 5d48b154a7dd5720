//! Colour tags in texts: `<{%fg 1%}>`, `<{%bold%}>`, `<{%reset%}>`.

use std::borrow::Cow;

/// What to do with colour tags.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ColorMode {
    /// Turn them into terminal codes.
    Always,
    /// Leave them out.
    #[default]
    Never,
    /// Leave them as they are.
    Raw,
    /// Decide by the terminal.
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

/// The text without colour tags.
pub fn strip_color(text: &str) -> Cow<'_, str> {
    if !text.contains("<{%") {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("<{%") {
        let Some(length) = rest[start..].find("%}>") else {
            break;
        };
        plain.push_str(&rest[..start]);
        rest = &rest[start + length + 3..];
    }
    plain.push_str(rest);
    Cow::Owned(plain)
}
