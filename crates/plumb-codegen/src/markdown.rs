//! Translation of descriptions for one language (`schema.md` 14).
//!
//! 1. Fenced code blocks of other languages are dropped; shell blocks and blocks without a language stay.
//! 2. An example that has lost all its code is dropped; markers around the others are removed.
//! 3. Spans with a word per language are replaced by the word for this language.
//! 4. References are replaced by the name of their target.
//!
//! All other lines are unchanged.

use std::borrow::Cow;

/// A language's identifiers in descriptions.
pub(crate) trait Dialect {
    /// Info string of its code blocks.
    const FENCE: &'static str;
    /// Attribute of spans with its words.
    const SPAN: &'static str;

    /// Text for the reference target `destination`.
    fn reference(&self, destination: &str) -> String;
}

/// The description for readers who use the language.
pub(crate) fn translate<'t, D: Dialect>(text: &'t str, dialect: &D) -> Cow<'t, str> {
    let mut text = Cow::Borrowed(text);
    if text.contains("```") || text.contains("{{% ") {
        text = Cow::Owned(filter::<D>(&text));
    }
    if text.contains("<span pulumi-lang-") {
        text = Cow::Owned(spans::<D>(&text));
    }
    if text.contains("{{% ref ") {
        text = Cow::Owned(replace_references(&text, |target| {
            dialect.reference(target)
        }));
    }
    text
}

/// The current example: the offset of its text, and whether it still has code.
struct Example {
    start: usize,
    has_code: bool,
}

fn filter<D: Dialect>(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut example: Option<Example> = None;
    let mut lines = text.split_inclusive('\n');
    while let Some(line) = lines.next() {
        let bare = line.trim();
        match bare {
            "{{% examples %}}" | "{{% /examples %}}" => continue,
            "{{% example %}}" => {
                example = Some(Example {
                    start: kept.len(),
                    has_code: false,
                });
                continue;
            }
            "{{% /example %}}" => {
                if let Some(example) = example.take().filter(|example| !example.has_code) {
                    kept.truncate(example.start);
                }
                continue;
            }
            _ => {}
        }
        let Some(info) = bare.strip_prefix("```") else {
            kept.push_str(line);
            continue;
        };
        let language = info.split_whitespace().next().unwrap_or_default();
        let is_kept = language.is_empty() || language == "sh" || language == D::FENCE;
        if let Some(example) = &mut example {
            example.has_code |= is_kept;
        }
        let mut keep = |line: &str| {
            if is_kept {
                kept.push_str(line);
            }
        };
        keep(line);
        // A fence that opens and closes on one line.
        if info.contains("```") {
            continue;
        }
        for line in lines.by_ref() {
            keep(line);
            if line.trim().starts_with("```") {
                break;
            }
        }
    }
    kept
}

/// Replaces `<span pulumi-lang-a="x" pulumi-lang-b="y">x</span>` by the attribute of the language.
fn spans<D: Dialect>(text: &str) -> String {
    language_spans(text, |span| match span.word(D::SPAN) {
        Some(word) => word.into_owned(),
        None => span.inner.to_owned(),
    })
}

/// A span with a word per language.
pub struct LanguageSpan<'t> {
    attributes: &'t str,
    /// Text for readers of no particular language.
    pub inner: &'t str,
}

impl<'t> LanguageSpan<'t> {
    /// Word of one language.
    pub fn word(&self, language: &str) -> Option<Cow<'t, str>> {
        attribute(self.attributes, language).map(unescape)
    }
}

/// Replaces each span with words per language by the result of a function.
pub fn language_spans(text: &str, mut put: impl FnMut(&LanguageSpan<'_>) -> String) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, opened)) = rest.split_once("<span pulumi-lang-") {
        kept.push_str(before);
        let Some((attributes, inner, behind)) = parts(opened) else {
            kept.push_str("<span pulumi-lang-");
            rest = opened;
            continue;
        };
        kept.push_str(&put(&LanguageSpan { attributes, inner }));
        rest = behind;
    }
    kept.push_str(rest);
    kept
}

/// Attributes, content and following text of a span that has been read up to its first attribute's language.
fn parts(opened: &str) -> Option<(&str, &str, &str)> {
    let (attributes, behind) = opened.split_once("\">")?;
    let (inner, behind) = behind.split_once("</span>")?;
    Some((attributes, inner, behind))
}

fn attribute<'t>(attributes: &'t str, language: &str) -> Option<&'t str> {
    let mut pairs = attributes.split("\" ");
    pairs.find_map(|pair| {
        let (name, value) = pair.split_once("=\"")?;
        (name.trim_start_matches("pulumi-lang-") == language).then_some(value)
    })
}

fn unescape(text: &str) -> Cow<'_, str> {
    if !text.contains('&') {
        return Cow::Borrowed(text);
    }
    Cow::Owned(
        text.replace("&lt;", "<")
            .replace("&gt;", ">")
            .replace("&quot;", "\"")
            .replace("&#34;", "\"")
            .replace("&#39;", "'")
            .replace("&amp;", "&"),
    )
}

/// Replaces each reference by the result of a function for its target.
pub fn replace_references(text: &str, mut put: impl FnMut(&str) -> String) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once("{{% ref ") {
        let Some((destination, behind)) = behind.split_once("%}}") else {
            break;
        };
        kept.push_str(before);
        kept.push_str(&put(destination.trim()));
        rest = behind;
    }
    kept.push_str(rest);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Node;

    impl Dialect for Node {
        const FENCE: &'static str = "typescript";
        const SPAN: &'static str = "nodejs";

        fn reference(&self, destination: &str) -> String {
            format!("<{destination}>")
        }
    }

    fn check(text: &str, expected: &str) {
        assert_eq!(translate(text, &Node), expected);
    }

    #[test]
    fn examples_without_code_for_the_language_are_dropped() {
        check(
            "Head\n\n{{% examples %}}\n## Examples\n{{% example %}}\n### One\n\n```typescript\na\n```\n```go\nb\n```\n\
             {{% /example %}}\n{{% example %}}\n### Two\n```go\nb\n```\n{{% /example %}}\n{{% /examples %}}\nTail",
            "Head\n\n## Examples\n### One\n\n```typescript\na\n```\nTail",
        );
        check(
            "```\nplain\n```\n```sh\nx\n```\n",
            "```\nplain\n```\n```sh\nx\n```\n",
        );
        check("```go\nnever closed", "");
    }

    #[test]
    fn spans_and_references_become_words() {
        check(
            "If <span pulumi-lang-nodejs=\"`aB`\" pulumi-lang-go=\"`AB`\">`x`</span>, see {{% ref #/types/a:b:C %}}.",
            "If `aB`, see <#/types/a:b:C>.",
        );
        check("<span pulumi-lang-go=\"y\">`x`</span>", "`x`");
        check("<span pulumi-lang-", "<span pulumi-lang-");
    }
}
