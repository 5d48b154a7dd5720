//! Text within a paragraph: pieces with a style, broken into lines.

use unicode_width::UnicodeWidthStr as _;

const RESET: &str = "<{%reset%}>";
/// The start of a tag as text: a tag in its middle keeps it from being one.
const MARK_OF_TAGS: &str = "<{<{%reset%}>%";

/// Style of a piece of text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Style {
    #[default]
    Plain,
    Emphasis,
    Strong,
    Code,
    Link,
    Heading,
}

impl Style {
    fn tags(self) -> &'static str {
        match self {
            Style::Plain => "",
            Style::Emphasis | Style::Link => "<{%underline%}>",
            Style::Strong => "<{%bold%}>",
            Style::Code => "<{%fg 6%}>",
            Style::Heading => "<{%fg 13%}><{%bold%}>",
        }
    }
}

/// A piece of text in one style.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Piece {
    text: String,
    style: Style,
}

/// Text in several styles. A line break in it is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Text(Vec<Piece>);

impl Text {
    pub(super) fn push(&mut self, text: &str, style: Style) {
        if text.is_empty() {
            return;
        }
        match self.0.last_mut() {
            Some(last) if last.style == style => last.text.push_str(text),
            _ => self.0.push(Piece {
                text: text.to_owned(),
                style,
            }),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Text without styles.
    pub(super) fn plain(&self) -> String {
        self.0.iter().map(|piece| piece.text.as_str()).collect()
    }

    pub(super) fn width(&self) -> usize {
        self.0.iter().map(|piece| piece.text.width()).sum()
    }

    /// Width of the longest word.
    pub(super) fn longest_word(&self) -> usize {
        self.lines_of_words()
            .iter()
            .flatten()
            .map(Text::width)
            .max()
            .unwrap_or_default()
    }

    /// The text with colour tags.
    pub(super) fn painted(&self) -> String {
        let mut out = String::new();
        for piece in &self.0 {
            let text = piece.text.replace("<{%", MARK_OF_TAGS);
            match piece.style.tags() {
                "" => out.push_str(&text),
                tags => out.extend([tags, &text, RESET]),
            }
        }
        out
    }

    /// Lines of at most `width` columns. Longer words have a line of their own.
    pub(super) fn wrapped(&self, width: usize) -> Vec<Text> {
        let mut lines = Vec::new();
        for words in self.lines_of_words() {
            let (mut line, mut used) = (Text::default(), 0);
            for word in words {
                let length = word.width();
                if used > 0 && used + 1 + length > width {
                    lines.push(std::mem::take(&mut line));
                    used = 0;
                }
                if used > 0 {
                    line.push_space(&word);
                    used += 1;
                }
                used += length;
                line.append(word);
            }
            lines.push(line);
        }
        lines
    }

    /// Lines of at most `width` columns; longer words are cut.
    pub(super) fn cut(&self, width: usize) -> Vec<Text> {
        let lines = self.wrapped(width).into_iter();
        lines.flat_map(|line| line.chunks(width)).collect()
    }

    fn chunks(self, width: usize) -> Vec<Text> {
        if self.width() <= width {
            return vec![self];
        }
        let (mut lines, mut line, mut used) = (Vec::new(), Text::default(), 0);
        for piece in &self.0 {
            for letter in piece.text.chars() {
                let letter = letter.to_string();
                let length = letter.width();
                if used > 0 && used + length > width {
                    lines.push(std::mem::take(&mut line));
                    used = 0;
                }
                line.push(&letter, piece.style);
                used += length;
            }
        }
        lines.push(line);
        lines
    }

    /// A space, in the style of both sides if it is the same.
    fn push_space(&mut self, next: &Text) {
        let before = self.0.last().map(|piece| piece.style);
        let after = next.0.first().map(|piece| piece.style);
        let style = before.filter(|style| Some(*style) == after);
        self.push(" ", style.unwrap_or_default());
    }

    pub(super) fn append(&mut self, other: Text) {
        for piece in other.0 {
            self.push(&piece.text, piece.style);
        }
    }

    /// Words of each line of the text. A word may have several styles.
    fn lines_of_words(&self) -> Vec<Vec<Text>> {
        let mut lines = vec![Vec::new()];
        let mut word = Text::default();
        let mut end = |word: &mut Text, is_line: bool| {
            let last = lines.len() - 1;
            if !word.is_empty() {
                lines[last].push(std::mem::take(word));
            }
            if is_line {
                lines.push(Vec::new());
            }
        };
        for piece in &self.0 {
            let mut rest = piece.text.as_str();
            while let Some(at) = rest.find([' ', '\n']) {
                word.push(&rest[..at], piece.style);
                end(&mut word, rest[at..].starts_with('\n'));
                rest = &rest[at + 1..];
            }
            word.push(rest, piece.style);
        }
        end(&mut word, false);
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(pieces: &[(&str, Style)]) -> Text {
        let mut text = Text::default();
        for (piece, style) in pieces {
            text.push(piece, *style);
        }
        text
    }

    #[test]
    fn lines_break_between_words_of_any_style() {
        let text = text(&[
            ("see ", Style::Plain),
            ("a b", Style::Code),
            (", then", Style::Plain),
        ]);
        let lines = |width: usize| {
            let lines = text.wrapped(width);
            lines.iter().map(Text::plain).collect::<Vec<_>>()
        };
        assert_eq!(lines(80), ["see a b, then"]);
        assert_eq!(lines(6), ["see a", "b,", "then"]);
        assert_eq!(
            text.wrapped(80)[0].painted(),
            "see <{%fg 6%}>a b<{%reset%}>, then"
        );
    }

    #[test]
    fn text_about_tags_is_no_tag() {
        let text = text(&[("<{%fg 1%}>", Style::Code)]).painted();
        for mode in [
            plumb_events::ColorMode::Never,
            plumb_events::ColorMode::Always,
        ] {
            assert!(
                plumb_display::colorize(&text, mode).contains("%fg 1%}>"),
                "{text}"
            );
        }
        assert_eq!(plumb_events::strip_color(&text), "<{%fg 1%}>");
    }

    #[test]
    fn long_words_stay_whole_or_are_cut() {
        let text = text(&[("abcdefgh ij\nk", Style::Plain)]);
        let plain = |lines: Vec<Text>| lines.iter().map(Text::plain).collect::<Vec<_>>();
        assert_eq!(plain(text.wrapped(5)), ["abcdefgh", "ij", "k"]);
        assert_eq!(plain(text.cut(5)), ["abcde", "fgh", "ij", "k"]);
        assert_eq!(text.longest_word(), 8);
    }
}
