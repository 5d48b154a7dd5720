//! Markdown for terminals: text with colour tags, in lines of a given width.
//!
//! The text is read once, block by block. Paragraphs, items and cells become [`inline::Text`], which is broken into lines at the
//! width that its block leaves. Code keeps its lines. A link is followed by a number; the addresses are listed at the end. Comments
//! and other HTML are left out.

mod inline;
mod table;

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use inline::{Style, Text};

/// Indentation of code.
const CODE: &str = "    ";
/// Narrowest column of text, where lists are nested deeply.
const NARROWEST: usize = 20;

/// Lines of `markdown`, of at most `width` columns, with colour tags. `address` gives what is shown for the address of a link;
/// nothing is shown for `None`.
pub(crate) fn render(
    markdown: &str,
    width: usize,
    address: &dyn Fn(&str) -> Option<String>,
) -> String {
    let mut renderer = Renderer {
        width,
        address,
        lines: Vec::new(),
        indent: String::new(),
        marker: None,
        links: Vec::new(),
    };
    let mut events = Parser::new_ext(markdown, Options::ENABLE_TABLES);
    renderer.blocks(&mut events, None);
    renderer.list_links();
    let mut out = renderer.lines.join("\n");
    out.push('\n');
    out
}

struct Renderer<'r> {
    width: usize,
    address: &'r dyn Fn(&str) -> Option<String>,
    lines: Vec<String>,
    /// Text before each line.
    indent: String,
    /// Text before the next line instead of `indent`: the mark of a list item.
    marker: Option<String>,
    /// Addresses by their numbers, which begin at 1.
    links: Vec<String>,
}

impl Renderer<'_> {
    /// Renders blocks up to `end`, or to the end of the document.
    fn blocks<'e>(&mut self, events: &mut impl Iterator<Item = Event<'e>>, end: Option<TagEnd>) {
        let mut text = Text::default();
        while let Some(event) = events.next() {
            match event {
                Event::End(tag) if Some(tag) == end => break,
                Event::Start(tag) if is_block(&tag) => {
                    self.paragraph(&mut text);
                    self.block(tag, events);
                }
                Event::Rule => {
                    self.paragraph(&mut text);
                    self.gap();
                    self.line(&"─".repeat(self.room()));
                }
                other => self.inline(other, events, Style::Plain, &mut text),
            }
        }
        self.paragraph(&mut text);
    }

    fn block<'e>(&mut self, tag: Tag<'e>, events: &mut impl Iterator<Item = Event<'e>>) {
        match tag {
            Tag::Heading { level, .. } => self.heading(level, events),
            Tag::List(first) => self.list(first, events),
            Tag::CodeBlock(_) => self.code(events),
            Tag::Table(_) => self.table(events),
            Tag::BlockQuote(kind) => {
                self.gap();
                self.nested("> ", None, |it| {
                    it.blocks(events, Some(TagEnd::BlockQuote(kind)));
                });
            }
            Tag::HtmlBlock => drop(text_until(events, TagEnd::HtmlBlock)),
            other => {
                self.gap();
                self.blocks(events, Some(other.to_end()));
            }
        }
    }

    fn heading<'e>(&mut self, level: HeadingLevel, events: &mut impl Iterator<Item = Event<'e>>) {
        let mut text = Text::default();
        self.inlines(events, TagEnd::Heading(level), Style::Heading, &mut text);
        self.gap();
        for line in text.wrapped(self.room()) {
            self.line(&line.painted());
        }
        let rule = match level {
            HeadingLevel::H1 => "═",
            HeadingLevel::H2 => "─",
            _ => return,
        };
        self.line(&rule.repeat(text.width().min(self.room())));
    }

    fn list<'e>(&mut self, first: Option<u64>, events: &mut impl Iterator<Item = Event<'e>>) {
        if self.marker.is_none() && self.indent.is_empty() {
            self.gap();
        }
        let mut number = first;
        while let Some(event) = events.next() {
            match event {
                Event::Start(Tag::Item) => {
                    let marker = number.map_or("- ".to_owned(), |number| format!("{number}. "));
                    let indent = " ".repeat(marker.len());
                    self.nested(&indent, Some(marker), |it| {
                        it.blocks(events, Some(TagEnd::Item));
                    });
                    number = number.map(|number| number + 1);
                }
                Event::End(TagEnd::List(_)) => break,
                _ => {}
            }
        }
    }

    /// Runs `inside` with more indentation, and `marker` before its first line.
    fn nested(&mut self, indent: &str, marker: Option<String>, inside: impl FnOnce(&mut Self)) {
        let before = self.indent.clone();
        self.marker = marker.map(|marker| format!("{before}{marker}"));
        self.indent.push_str(indent);
        inside(self);
        self.indent = before;
        self.marker = None;
    }

    fn code<'e>(&mut self, events: &mut impl Iterator<Item = Event<'e>>) {
        let code = text_until(events, TagEnd::CodeBlock);
        self.gap();
        for line in code.lines() {
            let mut text = Text::default();
            text.push(line, Style::Code);
            self.line(&format!("{CODE}{}", text.painted()));
        }
    }

    fn table<'e>(&mut self, events: &mut impl Iterator<Item = Event<'e>>) {
        let mut rows: Vec<Vec<Text>> = Vec::new();
        while let Some(event) = events.next() {
            match event {
                Event::Start(Tag::TableHead | Tag::TableRow) => rows.push(Vec::new()),
                Event::Start(Tag::TableCell) => {
                    let style = if rows.len() == 1 {
                        Style::Strong
                    } else {
                        Style::Plain
                    };
                    let mut cell = Text::default();
                    self.inlines(events, TagEnd::TableCell, style, &mut cell);
                    rows.last_mut().expect("cells are in rows").push(cell);
                }
                Event::End(TagEnd::Table) => break,
                _ => {}
            }
        }
        self.gap();
        for line in table::lines(&rows, self.room()) {
            self.line(&line);
        }
    }

    /// Adds the text up to `end`.
    fn inlines<'e>(
        &mut self,
        events: &mut impl Iterator<Item = Event<'e>>,
        end: TagEnd,
        style: Style,
        text: &mut Text,
    ) {
        while let Some(event) = events.next() {
            if event == Event::End(end) {
                break;
            }
            self.inline(event, events, style, text);
        }
    }

    fn inline<'e>(
        &mut self,
        event: Event<'e>,
        events: &mut impl Iterator<Item = Event<'e>>,
        style: Style,
        text: &mut Text,
    ) {
        match event {
            Event::Text(part) => text.push(&part, style),
            // The marks are kept, because output without colours has no others.
            Event::Code(part) => {
                let style = if style == Style::Heading {
                    style
                } else {
                    Style::Code
                };
                text.push(&format!("`{part}`"), style);
            }
            Event::SoftBreak => text.push(" ", style),
            Event::HardBreak => text.push("\n", style),
            Event::Start(Tag::Emphasis) => {
                self.boxed_inlines(events, TagEnd::Emphasis, Style::Emphasis, text);
            }
            Event::Start(Tag::Strong) => {
                self.boxed_inlines(events, TagEnd::Strong, Style::Strong, text);
            }
            Event::Start(Tag::Link { dest_url, .. }) => {
                let mut label = Text::default();
                self.boxed_inlines(events, TagEnd::Link, Style::Link, &mut label);
                let number = self.link(&dest_url, &label.plain());
                text.append(label);
                if let Some(number) = number {
                    text.push(&format!("[{number}]"), style);
                }
            }
            Event::Start(Tag::Image { .. }) => {
                let label = text_until(events, TagEnd::Image);
                text.push(&format!("[picture: {label}]"), style);
            }
            _ => {}
        }
    }

    /// [`Renderer::inlines`] behind a pointer, because the type of the iterator must not grow with each level.
    fn boxed_inlines<'e>(
        &mut self,
        events: &mut impl Iterator<Item = Event<'e>>,
        end: TagEnd,
        style: Style,
        text: &mut Text,
    ) {
        let mut events: Box<dyn Iterator<Item = Event<'e>> + '_> = Box::new(events);
        self.inlines(&mut events, end, style, text);
    }

    /// Number of a link in the list at the end, unless its text says where it leads.
    fn link(&mut self, address: &str, label: &str) -> Option<usize> {
        if address == label {
            return None;
        }
        let shown = (self.address)(address)?;
        let known = self.links.iter().position(|known| *known == shown);
        let at = known.unwrap_or_else(|| {
            self.links.push(shown);
            self.links.len() - 1
        });
        Some(at + 1)
    }

    fn list_links(&mut self) {
        if self.links.is_empty() {
            return;
        }
        self.lines.push(String::new());
        let width = self.links.len().to_string().len() + 2;
        for (at, address) in self.links.iter().enumerate() {
            let number = format!("[{}]", at + 1);
            self.lines.push(format!("{number:>width$} {address}"));
        }
    }

    /// Writes the text as a paragraph, and empties it.
    fn paragraph(&mut self, text: &mut Text) {
        for line in std::mem::take(text).wrapped(self.room()) {
            if !line.is_empty() {
                self.line(&line.painted());
            }
        }
    }

    /// Columns for text.
    fn room(&self) -> usize {
        self.width.saturating_sub(self.indent.len()).max(NARROWEST)
    }

    /// An empty line before the next block, except at the start.
    fn gap(&mut self) {
        if self.lines.last().is_some_and(|line| !line.is_empty()) {
            self.lines.push(String::new());
        }
    }

    fn line(&mut self, text: &str) {
        let before = self.marker.take().unwrap_or_else(|| self.indent.clone());
        self.lines
            .push(format!("{before}{text}").trim_end().to_owned());
    }
}

fn is_block(tag: &Tag<'_>) -> bool {
    matches!(
        tag,
        Tag::Paragraph
            | Tag::Heading { .. }
            | Tag::BlockQuote(_)
            | Tag::CodeBlock(_)
            | Tag::HtmlBlock
            | Tag::List(_)
            | Tag::Table(_)
    )
}

/// Plain text up to the end of an element.
fn text_until<'e>(events: &mut impl Iterator<Item = Event<'e>>, end: TagEnd) -> String {
    let mut text = String::new();
    for event in events {
        match event {
            Event::End(tag) if tag == end => break,
            Event::Text(part) | Event::Code(part) => text.push_str(&part),
            Event::SoftBreak | Event::HardBreak => text.push(' '),
            _ => {}
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use plumb_display::colorize;
    use plumb_events::ColorMode;
    use pretty_assertions::assert_eq;

    use super::*;

    fn plain(markdown: &str, width: usize) -> String {
        let text = render(markdown, width, &|address| {
            (!address.starts_with('#')).then(|| address.to_owned())
        });
        colorize(&text, ColorMode::Never).into_owned()
    }

    #[test]
    fn blocks_are_separated_and_items_are_not() {
        let markdown = "# A *title*\n\nOne\ntwo.\n\n- a\n- b `c`\n  1. d\n  2. e\n\n<!-- run -->\n```sh\n$ x\n\n$ y\n```\n\n> q\n\n---\n\nEnd.";
        let expected = "A title\n═══════\n\nOne two.\n\n- a\n- b `c`\n  1. d\n  2. e\n\n    $ x\n\n    $ y\n\n> q\n\n\
                        ────────────────────\n\nEnd.\n";
        assert_eq!(plain(markdown, 20), expected);
    }

    #[test]
    fn items_with_paragraphs_are_apart_and_indented() {
        let markdown = "1. first item that\n   is long\n\n   and has more\n\n2. second\n";
        let expected = "1. first item that is\n   long\n\n   and has more\n\n2. second\n";
        assert_eq!(plain(markdown, 23), expected);
    }

    #[test]
    fn links_are_numbered_and_listed_once() {
        let markdown = "[a](x.md), [b](y.md) and [c](x.md); [here](#h), <https://z.example>.";
        let expected = "a[1], b[2] and c[1]; here, https://z.example.\n\n[1] x.md\n[2] y.md\n";
        assert_eq!(plain(markdown, 80), expected);
    }

    #[test]
    fn tables_have_styles_in_their_cells() {
        let markdown = "| A | B |\n|---|---|\n| `x` | *y* |\n";
        let text = render(markdown, 80, &|_| None);
        assert_eq!(
            text,
            "<{%bold%}>A<{%reset%}>    <{%bold%}>B<{%reset%}>\n───  ─\n<{%fg 6%}>`x`<{%reset%}>  <{%underline%}>y<{%reset%}>\n"
        );
    }
}
