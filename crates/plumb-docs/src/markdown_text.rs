//! Markdown of descriptions, embedded in other Markdown: references resolved, links without a target removed.

use std::ops::Range;

use plumb_codegen::markdown::{language_spans, replace_references};
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use super::links::{Links, leads_somewhere};

/// Markdown extensions enabled for descriptions.
pub(crate) const EXTENSIONS: Options = Options::ENABLE_TABLES.union(Options::ENABLE_STRIKETHROUGH);

/// Text of a description for a page.
pub(crate) fn resolved(text: &str, links: &Links<'_, '_, '_>) -> String {
    let text = without_dead_links(text);
    let text = language_spans(&text, |span| span.inner.to_owned());
    replace_references(&text, |destination| {
        let reference = links.guide.reference(destination);
        let name = reference.text.replace(['`', '\n'], "");
        match reference.page {
            Some(page) => format!("[`{name}`]({})", links.to(page)),
            None => format!("`{name}`"),
        }
    })
}

/// The text with each link without a target replaced by the link's text.
fn without_dead_links(text: &str) -> String {
    if !text.contains("](") && !text.contains("]:") && !text.contains("][") {
        return text.to_owned();
    }
    let mut result = String::with_capacity(text.len());
    let mut end = 0;
    for (whole, inner) in dead_links(text) {
        if whole.start < end {
            continue;
        }
        result.push_str(&text[end..whole.start]);
        result.push_str(&text[inner]);
        end = whole.end;
    }
    result.push_str(&text[end..]);
    result
}

/// Ranges of links without a target, each with the range of its text.
fn dead_links(text: &str) -> Vec<(Range<usize>, Range<usize>)> {
    let mut found = Vec::new();
    // The current dead link, with the range of its text so far.
    let mut open: Option<(Range<usize>, Option<Range<usize>>)> = None;
    for (event, range) in Parser::new_ext(text, EXTENSIONS).into_offset_iter() {
        match event {
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. })
                if open.is_none() && !leads_somewhere(&dest_url) =>
            {
                open = Some((range, None));
            }
            Event::End(TagEnd::Link | TagEnd::Image)
                if open.as_ref().is_some_and(|(whole, _)| *whole == range) =>
            {
                if let Some((whole, inner)) = open.take() {
                    let none = whole.start..whole.start;
                    found.push((whole, inner.unwrap_or(none)));
                }
            }
            _ => {
                if let Some((_, inner)) = &mut open {
                    *inner = Some(match inner.take() {
                        Some(known) => known.start.min(range.start)..known.end.max(range.end),
                        None => range,
                    });
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dead_links_become_what_they_say() {
        for (text, expected) in [
            ("a [b](c.html) d", "a b d"),
            (
                "[`x` and *y*](../z) [ok](https://e.com/x)",
                "`x` and *y* [ok](https://e.com/x)",
            ),
            ("![p](p.png)", "p"),
            ("[x][1]\n\n[1]: /docs/x\n", "x\n\n[1]: /docs/x\n"),
            ("[x](javascript:alert(1))", "x"),
            ("[](nowhere)", ""),
            ("`[x](y)`", "`[x](y)`"),
        ] {
            assert_eq!(without_dead_links(text), expected);
        }
    }
}
