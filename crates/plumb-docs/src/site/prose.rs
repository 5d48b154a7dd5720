//! Descriptions as HTML.
//!
//! Descriptions are untrusted. **HTML in a description never becomes markup**: common tags are dropped, everything else
//! is shown as text. Links lead to the web or are removed, and images become links, so that reading a page makes no
//! requests. Fragments that this module inserts itself, for references and for words in several languages, are not parsed
//! with the text: a mark of two private-use characters stands in for each, and is replaced in text events only.

use std::fmt::Write as _;

use plumb_codegen::markdown::{language_spans, replace_references};
use pulldown_cmark::{CodeBlockKind, CowStr, Event, Parser, Tag, TagEnd, html};

use super::html::{escape, only_for};
use crate::description::{Description, Part, Prose};
use crate::language::{PerLanguage, ProgramLanguage};
use crate::links::{Links, leads_somewhere};
use crate::markdown_text::EXTENSIONS;

const OPEN: char = '\u{e000}';
const CLOSE: char = '\u{e001}';

/// Context of a text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Level {
    /// On a page, below its title.
    Page,
    /// Below a property or another small item, which has no sections.
    Detail,
}

/// HTML of a text with its code blocks.
pub(crate) fn prose(
    prose: &Prose,
    languages: &[ProgramLanguage],
    level: Level,
    links: &Links<'_, '_, '_>,
) -> String {
    let mut result = String::new();
    for part in &prose.0 {
        match part {
            Part::Text(text) => result.push_str(&markdown(text, level, links)),
            Part::Code(code) => result.push_str(&choices(code, languages)),
        }
    }
    result
}

/// Description of a small item, including its examples.
pub(crate) fn detail(
    description: &Description,
    languages: &[ProgramLanguage],
    links: &Links<'_, '_, '_>,
) -> String {
    let mut result = prose(&description.text, languages, Level::Detail, links);
    for example in &description.examples {
        result.push_str(&prose(&example.body, languages, Level::Detail, links));
    }
    result.push_str(&prose(&description.import, languages, Level::Detail, links));
    result
}

/// Code block with a variant per language. Readers of a language without a variant see the first one, with a notice.
pub(crate) fn choices(code: &PerLanguage<String>, languages: &[ProgramLanguage]) -> String {
    let has = |language: &ProgramLanguage| code.get(*language).is_some();
    let missing: Vec<ProgramLanguage> = languages.iter().copied().filter(|it| !has(it)).collect();
    let mut result = String::from("<div class=\"choices\">");
    for (index, (language, text)) in code.iter().enumerate() {
        let mut readers = vec![language];
        if index == 0 && !missing.is_empty() {
            readers.extend(&missing);
            let _ = write!(
                result,
                "<p class=\"missing\"{}>This example is not told in your language yet. In {}:</p>",
                only_for(&missing),
                language.title()
            );
        }
        result.push_str(&code_block(text, Some(language), &readers));
    }
    result.push_str("</div>");
    result
}

/// Code block for readers of some languages.
pub(crate) fn code_block(
    text: &str,
    language: Option<ProgramLanguage>,
    readers: &[ProgramLanguage],
) -> String {
    let label = language.map_or("", ProgramLanguage::title);
    format!(
        "<pre tabindex=\"0\"{} data-label=\"{label}\"><code>{}</code></pre>",
        only_for(readers),
        escape(text)
    )
}

/// Markdown as HTML.
pub(crate) fn markdown(text: &str, level: Level, links: &Links<'_, '_, '_>) -> String {
    let mut fragments = Vec::new();
    let marked = with_marks(text, links, &mut fragments);
    let mut events = Events {
        level,
        fragments: &fragments,
        list: Vec::new(),
        dropped: Vec::new(),
        block: None,
    };
    for event in Parser::new_ext(&marked, EXTENSIONS) {
        events.take(event);
    }
    let mut result = String::with_capacity(marked.len() * 2);
    html::push_html(&mut result, events.list.into_iter());
    result
}

/// The text with a mark in place of each inserted fragment; the mark holds the fragment's index.
fn with_marks(text: &str, links: &Links<'_, '_, '_>, fragments: &mut Vec<String>) -> String {
    let is_private = |char: char| char == OPEN || char == CLOSE;
    let bare = text.replace(is_private, "");
    let mut mark = |fragment: String| {
        fragments.push(fragment);
        format!("{OPEN}{}{CLOSE}", fragments.len() - 1)
    };
    let marked = language_spans(&bare, |span| {
        let words = ProgramLanguage::ALL.into_iter();
        let words: PerLanguage<String> = words
            .map(|language| {
                let word = span.word(language.span());
                let word = word.as_deref().unwrap_or(span.inner);
                (language, inline_code(word))
            })
            .collect();
        mark(worded(&words))
    });
    replace_references(&marked, |destination| {
        let reference = links.guide.reference(&without_marks(destination));
        let text = format!("<code>{}</code>", escape(&without_marks(&reference.text)));
        mark(match reference.page {
            Some(page) => {
                let anchor = reference
                    .anchor
                    .map(|it| format!("#{it}"))
                    .unwrap_or_default();
                format!(
                    "<a href=\"{}{}\">{text}</a>",
                    escape(&links.to(page)),
                    escape(&anchor)
                )
            }
            None => text,
        })
    })
}

fn without_marks(text: &str) -> String {
    text.replace([OPEN, CLOSE], "")
}

/// A word, in a code span if it is in backquotes.
fn inline_code(word: &str) -> String {
    let inner = word.trim_matches('`');
    if inner.len() < word.len() {
        format!("<code>{}</code>", escape(inner))
    } else {
        escape(word)
    }
}

/// HTML with a variant per language.
fn worded(words: &PerLanguage<String>) -> String {
    let groups = words.grouped();
    if let [(_, only)] = &groups[..] {
        return (*only).clone();
    }
    let mut result = String::new();
    for (languages, word) in &groups {
        let _ = write!(result, "<span{}>{word}</span>", only_for(languages));
    }
    result
}

/// Tags that are dropped while their text is kept.
const DROPPED: [&str; 34] = [
    "a",
    "b",
    "big",
    "blockquote",
    "center",
    "code",
    "details",
    "div",
    "em",
    "font",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "hr",
    "i",
    "img",
    "kbd",
    "li",
    "ol",
    "p",
    "pre",
    "small",
    "span",
    "strong",
    "sub",
    "summary",
    "sup",
    "table",
    "td",
    "tr",
    "ul",
];

/// Converter from Markdown events to HTML events.
struct Events<'f, 't> {
    level: Level,
    fragments: &'f [String],
    list: Vec<Event<'t>>,
    /// For each open link, whether it is dropped.
    dropped: Vec<bool>,
    /// Text of the current block of HTML.
    block: Option<String>,
}

impl<'t> Events<'_, 't> {
    fn take(&mut self, event: Event<'t>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(end) => self.end(end),
            Event::Text(text) => self.text(&text),
            Event::Code(text) => {
                self.raw("<code>");
                self.text(&text);
                self.raw("</code>");
            }
            Event::Html(text) => match &mut self.block {
                Some(block) => block.push_str(&text),
                None => self.foreign(&text),
            },
            Event::InlineHtml(text) => self.foreign(&text),
            Event::SoftBreak | Event::HardBreak | Event::Rule => self.list.push(event),
            // Events of extensions that are not enabled, so they do not occur.
            Event::InlineMath(text) | Event::DisplayMath(text) | Event::FootnoteReference(text) => {
                self.text(&text);
            }
            Event::TaskListMarker(_) => {}
        }
    }

    fn raw(&mut self, html: &'static str) {
        self.list.push(Event::InlineHtml(CowStr::Borrowed(html)));
    }

    fn start(&mut self, tag: Tag<'t>) {
        match tag {
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                let leads = leads_somewhere(&dest_url) && !dest_url.contains([OPEN, CLOSE]);
                // HTML forbids links within links.
                let leads = leads && !self.dropped.contains(&false);
                self.dropped.push(!leads);
                if leads {
                    let way = format!("<a href=\"{}\" rel=\"noopener\">", escape(&dest_url));
                    self.list.push(Event::InlineHtml(way.into()));
                }
            }
            Tag::Heading { level, .. } => match self.level {
                Level::Detail => self.raw("<p><strong>"),
                Level::Page => self.raw(heading(level, false)),
            },
            Tag::HtmlBlock => self.block = Some(String::new()),
            Tag::CodeBlock(_) => self
                .list
                .push(Event::Start(Tag::CodeBlock(CodeBlockKind::Indented))),
            Tag::Table(columns) => {
                self.raw("<div class=\"wide\" tabindex=\"0\">");
                self.list.push(Event::Start(Tag::Table(columns)));
            }
            other => self.list.push(Event::Start(other)),
        }
    }

    fn end(&mut self, end: TagEnd) {
        match end {
            TagEnd::Link | TagEnd::Image => {
                if self.dropped.pop() == Some(false) {
                    self.raw("</a>");
                }
            }
            TagEnd::Heading(level) => match self.level {
                Level::Detail => self.raw("</strong></p>"),
                Level::Page => self.raw(heading(level, true)),
            },
            TagEnd::HtmlBlock => {
                let block = self.block.take().unwrap_or_default();
                let text = without_tags(&block);
                if !text.trim().is_empty() {
                    self.list.push(Event::Start(Tag::Paragraph));
                    self.text(text.trim());
                    self.list.push(Event::End(TagEnd::Paragraph));
                }
            }
            TagEnd::Table => {
                self.list.push(Event::End(TagEnd::Table));
                self.raw("</div>");
            }
            other => self.list.push(Event::End(other)),
        }
    }

    /// Emits a text, with marks replaced by their fragments.
    fn text(&mut self, text: &str) {
        let mut rest = text;
        while let Some((before, behind)) = rest.split_once(OPEN) {
            self.plain(before);
            let (number, behind) = behind.split_once(CLOSE).unwrap_or((behind, ""));
            let fragment = number
                .parse()
                .ok()
                .and_then(|it: usize| self.fragments.get(it));
            if let Some(fragment) = fragment {
                self.list.push(Event::InlineHtml(fragment.clone().into()));
            }
            rest = behind;
        }
        self.plain(rest);
    }

    fn plain(&mut self, text: &str) {
        if !text.is_empty() {
            self.list.push(Event::InlineHtml(escape(text).into()));
        }
    }

    /// Handles a piece of HTML, or text that looks like it.
    fn foreign(&mut self, html: &str) {
        if tag_name(html) == Some("br") {
            self.list.push(Event::HardBreak);
            return;
        }
        self.text(&without_tags(html));
    }
}

/// Tag of a heading; only the title of the page has the first level.
fn heading(level: pulldown_cmark::HeadingLevel, is_end: bool) -> &'static str {
    use pulldown_cmark::HeadingLevel::{H1, H2, H3};
    match (level, is_end) {
        (H1 | H2, false) => "<h2>",
        (H1 | H2, true) => "</h2>",
        (H3, false) => "<h3>",
        (H3, true) => "</h3>",
        (_, false) => "<h4>",
        (_, true) => "</h4>",
    }
}

/// Name of the tag at the start of a text.
fn tag_name(html: &str) -> Option<&str> {
    let inner = html.strip_prefix('<')?;
    let inner = inner.strip_prefix('/').unwrap_or(inner);
    let end = inner.find(|char: char| !char.is_ascii_alphanumeric())?;
    Some(&inner[..end])
}

/// The text without comments and common tags.
fn without_tags(html: &str) -> String {
    let mut result = String::with_capacity(html.len());
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        result.push_str(&rest[..at]);
        rest = &rest[at..];
        let is_known = |name: &str| DROPPED.contains(&name.to_ascii_lowercase().as_str());
        let end = if rest.starts_with("<!--") {
            rest.find("-->").map(|end| end + 3)
        } else if tag_name(rest).is_some_and(is_known) {
            rest.find('>').map(|end| end + 1)
        } else {
            None
        };
        let Some(end) = end else {
            result.push('<');
            rest = &rest[1..];
            continue;
        };
        rest = &rest[end..];
    }
    result.push_str(rest);
    result
}
