//! Text with colour tags as HTML.

use std::fmt::Write as _;

/// The text for HTML, without control characters other than line breaks and tabs.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(letter),
            letter if letter.is_control() => out.push('\u{fffd}'),
            letter => out.push(letter),
        }
    }
    out
}

/// Style of the text after some tags.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Style {
    color: Option<u8>,
    bold: bool,
    underlined: bool,
}

impl Style {
    fn apply(&mut self, tag: &str) {
        match tag.split_once(' ') {
            Some(("fg", color)) => self.color = color.parse().ok(),
            Some(_) => {}
            None => match tag {
                "reset" => *self = Style::default(),
                "bold" => self.bold = true,
                "underline" => self.underlined = true,
                _ => {}
            },
        }
    }

    fn write(self, text: &str, out: &mut String) {
        if text.is_empty() {
            return;
        }
        if self == Style::default() {
            out.push_str(&escaped(text));
            return;
        }
        out.push_str("<span class=\"");
        if let Some(color) = self.color {
            let _ = write!(out, "f{color} ");
        }
        out.push_str(if self.bold { "b " } else { "" });
        out.push_str(if self.underlined { "u" } else { "" });
        let _ = write!(out, "\">{}</span>", escaped(text));
    }
}

/// Text with colour tags, each as a class of an element around what it colours. Links are left out.
pub(super) fn tagged(text: &str) -> String {
    let (mut out, mut rest, mut style) = (
        String::with_capacity(text.len() * 2),
        text,
        Style::default(),
    );
    while let Some(start) = rest.find("<{%") {
        let Some(length) = rest[start..].find("%}>") else {
            break;
        };
        style.write(&rest[..start], &mut out);
        style.apply(&rest[start + 3..start + length]);
        rest = &rest[start + length + 3..];
    }
    style.write(rest, &mut out);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_become_classes_and_text_stays_text() {
        let text =
            "a<{%fg 2%}><{%bold%}><b>\n<{%reset%}>&<{%fg \"><script>%}>x<{%link http://y%}>z<{%";
        assert_eq!(
            tagged(text),
            "a<span class=\"f2 b \">&lt;b&gt;\n</span>&amp;xz&lt;{%"
        );
    }
}
