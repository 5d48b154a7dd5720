//! Conversion of YAML events to [`Node`] trees. JSON is read as YAML.

use granit_parser::{Event, Options, Parser, ScalarStyle, Span as YamlSpan};

use super::node::{Key, Node, NodeKind, plain_scalar};
use super::source::Span;
use crate::diagnostic::Diagnostic;

type Events<'input> = Parser<'input, granit_parser::StrInput<'input>>;

/// Maximum nesting depth of collections. upstream: same limit.
const MAX_DEPTH: usize = 10_000;

/// Reads the first document of `text`; `None` for an empty one.
pub(crate) fn read_document(text: &str) -> Result<Option<Node>, Diagnostic> {
    let mut options = Options::default();
    options.set_emit_comments(false);
    options.flow_nesting_limit = MAX_DEPTH;
    options.block_nesting_limit = MAX_DEPTH;
    let mut reader = Reader {
        events: Parser::new_from_str_with_options(text, options),
        length: text.len(),
    };
    loop {
        match reader.next()? {
            Some((Event::StreamStart | Event::DocumentStart(..), _)) => {}
            Some((Event::StreamEnd | Event::DocumentEnd, _)) | None => return Ok(None),
            Some((event, span)) => return reader.node(event, span).map(Some),
        }
    }
}

struct Reader<'input> {
    events: Events<'input>,
    length: usize,
}

impl<'input> Reader<'input> {
    fn next(&mut self) -> Result<Option<(Event<'input>, Span)>, Diagnostic> {
        match self.events.next_event() {
            None => Ok(None),
            Some(Ok((event, span))) => Ok(Some((event, self.span(&span)))),
            Some(Err(error)) => {
                let at = error
                    .marker()
                    .byte_offset()
                    .unwrap_or(0)
                    .min(self.length.saturating_sub(1));
                let message = error.info();
                Err(Diagnostic::error(
                    Span::new(at, at + 1),
                    format!("invalid YAML: {message}"),
                ))
            }
        }
    }

    fn span(&self, span: &YamlSpan) -> Span {
        let start = span.start.byte_offset().unwrap_or(0).min(self.length);
        Span::new(
            start,
            span.end.byte_offset().unwrap_or(start).min(self.length),
        )
    }

    fn node(&mut self, event: Event<'input>, span: Span) -> Result<Node, Diagnostic> {
        match event {
            Event::Scalar(text, style, _, tag) => {
                let suffix = tag
                    .as_ref()
                    .filter(|tag| tag.is_yaml_core_schema())
                    .map(|tag| tag.suffix().to_owned());
                let kind = match suffix.as_deref() {
                    Some("str") => NodeKind::String((&*text).into()),
                    Some(_) => plain_scalar(&text),
                    None if style == ScalarStyle::Plain && tag.is_none() => plain_scalar(&text),
                    None => NodeKind::String((&*text).into()),
                };
                Ok(Node { kind, span })
            }
            Event::SequenceStart(..) => self.list(span),
            Event::MappingStart(..) => self.map(span),
            Event::Alias(_) | Event::UnresolvedAlias(_) => {
                // The span of an alias covers its name without the asterisk.
                let name = Span {
                    end: span.end.saturating_sub(1),
                    ..span
                };
                Err(Diagnostic::error(name, "alias nodes are not supported"))
            }
            _ => Err(Diagnostic::error(
                span,
                "invalid YAML: unexpected end of the document",
            )),
        }
    }

    fn list(&mut self, start: Span) -> Result<Node, Diagnostic> {
        let mut items = Vec::new();
        loop {
            match self.expect(start)? {
                (Event::SequenceEnd, end) => {
                    let span =
                        collection_span(start, items.last().map(|item: &Node| item.span), end);
                    return Ok(Node {
                        kind: NodeKind::List(items),
                        span,
                    });
                }
                (event, span) => items.push(self.node(event, span)?),
            }
        }
    }

    fn map(&mut self, start: Span) -> Result<Node, Diagnostic> {
        let mut entries: Vec<(Key, Node)> = Vec::new();
        loop {
            match self.expect(start)? {
                (Event::MappingEnd, end) => {
                    let span =
                        collection_span(start, entries.last().map(|(_, node)| node.span), end);
                    return Ok(Node {
                        kind: NodeKind::Map(entries),
                        span,
                    });
                }
                (event, span) => {
                    let key = self.node(event, span)?;
                    let NodeKind::String(text) = key.kind else {
                        return Err(Diagnostic::error(key.span, "mapping keys must be strings"));
                    };
                    let (event, span) = self.expect(start)?;
                    let mut value = self.node(event, span)?;
                    if value.kind == NodeKind::Null && value.span.start == value.span.end {
                        value.span = key.span;
                    }
                    entries.push((
                        Key {
                            text,
                            span: key.span,
                        },
                        value,
                    ));
                }
            }
        }
    }

    fn expect(&mut self, open: Span) -> Result<(Event<'input>, Span), Diagnostic> {
        self.next()?
            .ok_or_else(|| Diagnostic::error(open, "invalid YAML: unexpected end of the document"))
    }
}

/// Span of a collection: a block collection ends with its last member, a flow collection with its
/// bracket.
fn collection_span(start: Span, last: Option<Span>, end: Span) -> Span {
    match last {
        _ if end.end > end.start => start.to(end),
        Some(last) => start.to(last),
        None => start,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_and_styles_are_kept() {
        let text = "a: {b: [1, '2'], c: !!str 3}\nd: |\n  x\n";
        let node = read_document(text).unwrap().unwrap();
        let NodeKind::Map(entries) = &node.kind else {
            panic!()
        };
        assert_eq!(
            &text[entries[0].1.span.start as usize..entries[0].1.span.end as usize],
            "{b: [1, '2'], c: !!str 3}"
        );
        let NodeKind::Map(inner) = &entries[0].1.kind else {
            panic!()
        };
        let NodeKind::List(items) = &inner[0].1.kind else {
            panic!()
        };
        assert_eq!(items[0].kind, NodeKind::Number(1.0));
        assert_eq!(items[1].kind, NodeKind::String("2".into()));
        assert_eq!(inner[1].1.kind, NodeKind::String("3".into()));
        assert_eq!(entries[1].1.kind, NodeKind::String("x\n".into()));
    }

    /// Maximum depth of a program, on a stack as large as that of the threads that parse programs.
    #[test]
    fn collections_stand_ten_thousand_deep_and_no_deeper() {
        let deep = |levels: usize| format!("a: {}1{}", "[".repeat(levels), "]".repeat(levels));
        let read = move || {
            let fits = read_document(&deep(9_990)).is_ok();
            let problem = read_document(&deep(10_010)).unwrap_err().summary;
            (fits, problem)
        };
        let thread = std::thread::Builder::new().stack_size(64 << 20);
        let (fits, problem) = thread.spawn(read).unwrap().join().unwrap();
        assert!(fits);
        assert_eq!(problem, "invalid YAML: recursion limit exceeded");
    }

    #[test]
    fn what_is_not_supported_is_said() {
        assert_eq!(
            read_document("a: &x 1\nb: *x").unwrap_err().summary,
            "alias nodes are not supported"
        );
        assert_eq!(
            read_document("1: a").unwrap_err().summary,
            "mapping keys must be strings"
        );
        assert!(
            read_document("a: [1")
                .unwrap_err()
                .summary
                .starts_with("invalid YAML: ")
        );
        assert_eq!(read_document("# nothing\n").unwrap(), None);
    }
}
