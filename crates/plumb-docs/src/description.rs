//! Parser for descriptions (`schema.md` 14).
//!
//! 1. Markers of the web documentation and shortcodes around examples are removed.
//! 2. Consecutive fenced code blocks in different languages become one [`Part::Code`], with a variant per language.
//! 3. Text below the heading "Example Usage" becomes examples; text below "Import" moves to the end of the page.
//!
//! All other text stays Markdown, unchanged.

use plumb_codegen::markdown::replace_references;

use super::language::{PerLanguage, ProgramLanguage};

/// A parsed description.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Description {
    pub(crate) text: Prose,
    pub(crate) examples: Vec<Example>,
    pub(crate) import: Prose,
}

/// An example with an optional title.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Example {
    pub(crate) title: String,
    pub(crate) body: Prose,
}

/// Parts of a text, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Prose(pub(crate) Vec<Part>);

/// A part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// Markdown text.
    Text(String),
    /// A code block in several languages.
    Code(PerLanguage<String>),
}

impl Prose {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Removes code in languages other than `languages`.
    fn keep(&mut self, languages: &[ProgramLanguage]) {
        for part in &mut self.0 {
            if let Part::Code(code) = part {
                let kept = code
                    .iter()
                    .filter(|(language, _)| languages.contains(language));
                *code = kept
                    .map(|(language, text)| (language, text.clone()))
                    .collect();
            }
        }
        self.0
            .retain(|part| !matches!(part, Part::Code(code) if code.is_empty()));
    }

    /// Removes whitespace that only separated parts, and empty parts.
    fn trim(&mut self) {
        for part in &mut self.0 {
            if let Part::Text(text) = part {
                text.truncate(text.trim_end().len());
            }
        }
        self.0
            .retain(|part| !matches!(part, Part::Text(text) if text.is_empty()));
    }

    fn has_code(&self) -> bool {
        self.0.iter().any(|part| matches!(part, Part::Code(_)))
    }

    fn text(&mut self, line: &str) {
        if let Some(Part::Text(text)) = self.0.last_mut() {
            text.push_str(line);
        } else if !line.trim().is_empty() {
            self.0.push(Part::Text(line.to_owned()));
        }
    }

    fn code(&mut self, language: ProgramLanguage, text: String) {
        if let Some(Part::Text(last)) = self.0.last()
            && last.trim().is_empty()
        {
            self.0.pop();
        }
        match self.0.last_mut() {
            Some(Part::Code(code)) if code.get(language).is_none() => code.set(language, text),
            _ => self
                .0
                .push(Part::Code([(language, text)].into_iter().collect())),
        }
    }
}

/// Section to which the current line belongs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Text,
    Examples,
    Import,
}

/// Parses a description. Examples whose code is in none of `languages` are dropped.
pub(crate) fn read(text: &str, languages: &[ProgramLanguage]) -> Description {
    let mut description = Description::default();
    if !has_structure(text) {
        description.text.text(text.trim_matches(['\n', '\r']));
        return description;
    }
    let mut place = Place::Text;
    let mut lines = text.split_inclusive('\n');
    while let Some(line) = lines.next() {
        let bare = line.trim();
        if is_mark(bare) {
            if bare == "{{% examples %}}" {
                place = Place::Examples;
            } else if bare == "{{% /examples %}}" {
                place = Place::Text;
            }
            continue;
        }
        match heading(line, &mut place) {
            Heading::Text => {}
            Heading::Begins => continue,
            Heading::Example(title) => {
                description.examples.push(Example {
                    title,
                    ..Example::default()
                });
                continue;
            }
        }
        let prose = description.at(place);
        if !bare.starts_with("```") {
            prose.text(line);
            continue;
        }
        let language = ProgramLanguage::of_fence(bare.trim_start_matches('`'));
        let is_closed = bare.trim_start_matches('`').contains("```");
        let fenced = if is_closed {
            String::new()
        } else {
            until_fence(&mut lines, bare)
        };
        match language {
            Some(language) if !is_closed => prose.code(language, dedented(line, &fenced)),
            _ => {
                prose.text(line);
                prose.text(&fenced);
            }
        }
    }
    description.finish(languages)
}

/// Whether a description contains anything but plain text.
fn has_structure(text: &str) -> bool {
    text.contains("```") || text.contains("{{% ") || text.contains("\n## ") || text.contains("<!--")
}

/// Whether a line is a marker that readers should not see.
fn is_mark(line: &str) -> bool {
    matches!(
        line,
        "{{% examples %}}" | "{{% /examples %}}" | "{{% example %}}" | "{{% /example %}}"
    ) || (line.starts_with("<!--") && line.ends_with("PulumiCodeChooser -->"))
}

/// Meaning of a heading.
enum Heading {
    /// Ordinary text.
    Text,
    /// Start of the examples or of the import section; the heading itself is dropped.
    Begins,
    /// Title of an example.
    Example(String),
}

fn heading(line: &str, place: &mut Place) -> Heading {
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    let Some(title) = line[level..].strip_prefix(' ').map(str::trim) else {
        return Heading::Text;
    };
    match (level, title.to_ascii_lowercase().as_str()) {
        (1..=3, "example usage" | "examples" | "example" | "example usages") => {
            *place = Place::Examples;
            Heading::Begins
        }
        (1..=3, "import") => {
            *place = Place::Import;
            Heading::Begins
        }
        (3 | 4, _) if *place == Place::Examples => Heading::Example(title.to_owned()),
        (1 | 2, _) => {
            *place = Place::Text;
            Heading::Text
        }
        _ => Heading::Text,
    }
}

/// Lines up to and including the closing fence.
fn until_fence<'t>(lines: &mut impl Iterator<Item = &'t str>, open: &str) -> String {
    let ticks = open.bytes().take_while(|byte| *byte == b'`').count();
    let mut text = String::new();
    for line in lines {
        text.push_str(line);
        let bare = line.trim();
        if bare.len() >= ticks && bare.bytes().all(|byte| byte == b'`') {
            break;
        }
    }
    text
}

/// Code without its closing fence, and without the indentation of its opening fence.
fn dedented(open: &str, fenced: &str) -> String {
    let indent = open.len() - open.trim_start().len();
    let mut lines: Vec<&str> = fenced.lines().collect();
    let is_end =
        |line: &&str| !line.trim().is_empty() && line.trim().bytes().all(|byte| byte == b'`');
    if lines.last().is_some_and(is_end) {
        lines.pop();
    }
    let own = |line: &&str| {
        let spaces = line.bytes().take_while(|byte| *byte == b' ').count();
        line[spaces.min(indent)..].trim_end().to_owned()
    };
    let lines: Vec<String> = lines.iter().map(own).collect();
    lines.join("\n")
}

impl Description {
    fn at(&mut self, place: Place) -> &mut Prose {
        match place {
            Place::Text => &mut self.text,
            Place::Import => &mut self.import,
            Place::Examples => {
                if self.examples.is_empty() {
                    self.examples.push(Example::default());
                }
                let last = self.examples.len() - 1;
                &mut self.examples[last].body
            }
        }
    }

    fn finish(mut self, languages: &[ProgramLanguage]) -> Self {
        let had_code: Vec<bool> = self.examples.iter().map(|it| it.body.has_code()).collect();
        self.text.keep(languages);
        self.import.keep(languages);
        for example in &mut self.examples {
            example.body.keep(languages);
        }
        let mut had_code = had_code.into_iter();
        self.examples.retain(|example| {
            let lost_all = had_code.next().unwrap_or(false) && !example.body.has_code();
            !(lost_all || example.body.is_empty() && example.title.is_empty())
        });
        self.text.trim();
        self.import.trim();
        for example in &mut self.examples {
            example.body.trim();
        }
        self
    }
}

/// First sentence of a description as one line of plain text, for lists and page heads.
pub(crate) fn summary(text: &str) -> String {
    let mut words = String::new();
    let mut in_fence = false;
    for line in text.lines() {
        let line = line.trim();
        if line.starts_with("```") {
            in_fence = !in_fence;
        }
        let is_said = !in_fence
            && !line.is_empty()
            && !line.starts_with(['#', '`', '|', '>', '!'])
            && !is_mark(line)
            && !line.starts_with("<!--");
        if !is_said {
            if words.is_empty() {
                continue;
            }
            break;
        }
        if !words.is_empty() {
            words.push(' ');
        }
        words.push_str(line);
    }
    let plain = without_marks(&words);
    shortened(first_sentence(&plain))
}

fn first_sentence(text: &str) -> &str {
    let end = text.match_indices(". ").find(|(at, _)| {
        let before = &text[..*at];
        !before.ends_with("e.g") && !before.ends_with("i.e") && !before.ends_with("etc")
    });
    end.map_or(text, |(at, _)| &text[..=at])
}

/// Maximum length of a summary, in characters.
const SUMMARY: usize = 200;

fn shortened(text: &str) -> String {
    if text.chars().count() <= SUMMARY {
        return text.to_owned();
    }
    let cut: String = text.chars().take(SUMMARY).collect();
    let whole = cut
        .rsplit_once(' ')
        .map_or(cut.as_str(), |(whole, _)| whole);
    format!("{}…", whole.trim_end_matches([',', ';', ':']))
}

/// Plain text of a line of Markdown.
fn without_marks(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    use pulldown_cmark::{Event, Parser};
    let line = replace_references(line, |name| format!("`{name}`"));
    for event in Parser::new(&line) {
        match event {
            Event::Text(piece) | Event::Code(piece) => text.push_str(&piece),
            Event::SoftBreak | Event::HardBreak => text.push(' '),
            _ => {}
        }
    }
    text.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [ProgramLanguage; 6] = ProgramLanguage::ALL;

    fn code(pairs: &[(ProgramLanguage, &str)]) -> Part {
        let pairs = pairs
            .iter()
            .map(|(language, text)| (*language, (*text).to_owned()));
        Part::Code(pairs.collect())
    }

    fn text(text: &str) -> Part {
        Part::Text(text.to_owned())
    }

    #[test]
    fn examples_have_titles_and_code_in_languages() {
        use ProgramLanguage::{Go, Typescript};
        let description = read(
            "Head.\n\n{{% examples %}}\n## Example Usage\n{{% example %}}\n### One\n\nWords.\n\n```typescript\na\n```\n\n```go\nb\n```\n\
             {{% /example %}}\n{{% /examples %}}\n\n## Import\n\n```sh\n$ pulumi import x\n```\n",
            &ALL,
        );
        assert_eq!(description.text.0, [text("Head.")]);
        assert_eq!(description.examples.len(), 1);
        assert_eq!(description.examples[0].title, "One");
        assert_eq!(
            description.examples[0].body.0,
            [text("Words."), code(&[(Typescript, "a"), (Go, "b")])]
        );
        assert_eq!(
            description.import.0,
            [text("```sh\n$ pulumi import x\n```")]
        );
    }

    #[test]
    fn code_of_the_same_language_is_another_piece() {
        use ProgramLanguage::{Go, Typescript};
        let description = read(
            "<!--Start PulumiCodeChooser -->\n```typescript\na\n```\n```go\nb\n```\n<!--End PulumiCodeChooser -->\n```typescript\nc\n```\n## More\n\nrest\n",
            &ALL,
        );
        assert_eq!(
            description.text.0,
            [
                code(&[(Typescript, "a"), (Go, "b")]),
                code(&[(Typescript, "c")]),
                text("## More\n\nrest")
            ]
        );
    }

    #[test]
    fn examples_without_code_for_the_languages_go() {
        let source = "## Example Usage\n### One\n```go\nb\n```\n### Two\n```python\nx\n```\n";
        let description = read(source, &[ProgramLanguage::Python]);
        assert_eq!(description.examples.len(), 1);
        assert_eq!(description.examples[0].title, "Two");
    }

    #[test]
    fn unclosed_and_indented_fences_are_read_to_their_end() {
        let description = read("```go\nnever closed", &ALL);
        assert_eq!(
            description.text.0,
            [code(&[(ProgramLanguage::Go, "never closed")])]
        );
        let description = read("- item\n\n  ```go\n  a\n    b\n  ```\n", &ALL);
        assert_eq!(
            description.text.0[1],
            code(&[(ProgramLanguage::Go, "a\n  b")])
        );
    }

    #[test]
    fn summaries_are_one_sentence_of_plain_text() {
        for (source, expected) in [
            (
                "# Title\n\nThe `box`, e.g. a *big* one. More.",
                "The box, e.g. a big one.",
            ),
            ("", ""),
            ("```go\nx\n```\nAfter code", "After code"),
            (
                "See {{% ref #/types/a:b:C %}} <b>now</b>.",
                "See #/types/a:b:C now.",
            ),
        ] {
            assert_eq!(summary(source), expected, "{source}");
        }
        assert!(summary(&"word ".repeat(100)).chars().count() <= 201);
    }
}
