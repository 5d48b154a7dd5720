//! Construction of the tree from parser events.

use std::collections::HashMap;
use std::sync::Arc;

use granit_parser::{Event, Parser, Span, StructureStyle, Tag};

use super::comments::{self, FoundComment};
use super::node::{
    Alias, Data, Document, Item, Layout, Mapping, Node, Position, Scalar, ScalarStyle, Sequence,
};

/// Error for invalid YAML.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message} (line {}, column {})", position.line, position.column)]
pub struct SyntaxError {
    /// Position of the error.
    pub position: Position,
    /// Message of the parser.
    pub message: String,
}

/// Maximum nesting depth. upstream: same limit.
const MAX_DEPTH: usize = 10_000;

/// Parses a single document. A byte order mark is skipped; a second document is an error.
pub fn parse(text: &str) -> Result<Document, SyntaxError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let options = granit_parser::options! {
        emit_anchor_events: true,
        max_buffered_comment_events: usize::MAX,
        flow_nesting_limit: MAX_DEPTH,
        block_nesting_limit: MAX_DEPTH,
    };
    let mut builder = Builder {
        events: Parser::new_from_str_with_options(text, options),
        peeked: None,
        comments: Vec::new(),
        anchors: HashMap::new(),
        lines: text.lines().collect(),
        ends: Vec::new(),
    };
    builder.document()
}

struct Builder<'t> {
    events: Parser<'t, granit_parser::StrInput<'t>>,
    peeked: Option<(Event<'t>, Span)>,
    comments: Vec<FoundComment>,
    anchors: HashMap<usize, (String, Arc<Node>)>,
    lines: Vec<&'t str>,
    /// Last line of each scalar and flow collection that is an entry of a block collection, with its start position.
    ends: Vec<(Position, usize)>,
}

impl<'t> Builder<'t> {
    /// The next event other than a comment; comments are collected.
    fn next(&mut self) -> Result<(Event<'t>, Span), SyntaxError> {
        if let Some(event) = self.peeked.take() {
            return Ok(event);
        }
        loop {
            let Some(event) = self.events.next() else {
                return Ok((Event::StreamEnd, Span::default()));
            };
            let (event, span) = event.map_err(|error| SyntaxError {
                position: Position {
                    line: error.marker().line(),
                    column: error.marker().col() + 1,
                },
                message: error.info(),
            })?;
            let Event::Comment(body, _) = &event else {
                return Ok((event, span));
            };
            let position = position(&span);
            let before = self.lines.get(position.line - 1).map_or("", |line| line);
            let own_line = before
                .chars()
                .take(position.column - 1)
                .all(char::is_whitespace);
            self.comments.push(FoundComment {
                position,
                text: format!("#{body}").trim_end().to_owned(),
                own_line,
            });
        }
    }

    fn peek(&mut self) -> Result<&Event<'t>, SyntaxError> {
        let event = self.next()?;
        Ok(&self.peeked.insert(event).0)
    }

    fn document(&mut self) -> Result<Document, SyntaxError> {
        let mut root = None;
        loop {
            let (event, span) = self.next()?;
            match event {
                Event::StreamEnd => break,
                Event::StreamStart | Event::DocumentEnd => {}
                Event::DocumentStart(..) if root.is_some() => {
                    let message = "only one document is expected in this file".to_owned();
                    return Err(SyntaxError {
                        position: position(&span),
                        message,
                    });
                }
                Event::DocumentStart(..) => root = Some(self.node()?),
                other => return Err(unexpected(&other, &span)),
            }
        }
        let mut document = Document {
            head: Vec::new(),
            root,
            foot: Vec::new(),
        };
        if document.root.as_ref().is_some_and(is_absent) {
            document.root = None;
        }
        comments::attach(&mut document, &self.comments, &self.lines, &self.ends);
        Ok(document)
    }

    fn node(&mut self) -> Result<Node, SyntaxError> {
        let (event, span) = self.next()?;
        let at = position(&span);
        match event {
            Event::Scalar(text, style, id, tag) => {
                let mut scalar = Scalar {
                    text: text.into_owned(),
                    style: scalar_style(style),
                };
                if span.is_empty() && scalar.style == ScalarStyle::Plain {
                    // An empty scalar; the parser reports `~`.
                    scalar.text.clear();
                }
                let anchor = self.anchor(id)?;
                self.ends.push((at, self.last_line(&span)));
                Ok(self.finish(Data::Scalar(scalar), tag.as_deref(), id, anchor, at))
            }
            Event::SequenceStart(style, id, tag) => {
                let anchor = self.anchor(id)?;
                let mut items = Vec::new();
                while !matches!(self.peek()?, Event::SequenceEnd) {
                    items.push(Item::new(self.node()?));
                }
                let (_, end) = self.next()?;
                let layout = self.close(style, at, &end);
                let at = if layout == Layout::Block {
                    self.dash(at)
                } else {
                    at
                };
                Ok(self.finish(
                    Data::Sequence(Sequence { layout, items }),
                    tag.as_deref(),
                    id,
                    anchor,
                    at,
                ))
            }
            Event::MappingStart(style, id, tag) => {
                let anchor = self.anchor(id)?;
                let mut entries = Vec::new();
                while !matches!(self.peek()?, Event::MappingEnd) {
                    let key = self.node()?;
                    entries.push((key, Item::new(self.node()?)));
                }
                let (_, end) = self.next()?;
                let layout = self.close(style, at, &end);
                Ok(self.finish(
                    Data::Mapping(Mapping { layout, entries }),
                    tag.as_deref(),
                    id,
                    anchor,
                    at,
                ))
            }
            Event::Alias(id) => {
                let Some((name, target)) = self.anchors.get(&id).cloned() else {
                    let message = "a value cannot contain itself".to_owned();
                    return Err(SyntaxError {
                        position: at,
                        message,
                    });
                };
                self.ends.push((at, at.line));
                let data = Data::Alias(Alias { name, target });
                Ok(Node {
                    data,
                    tag: None,
                    anchor: None,
                    position: at,
                })
            }
            other => Err(unexpected(&other, &span)),
        }
    }

    /// Name of the anchor `id`. Its event follows that of the node.
    fn anchor(&mut self, id: usize) -> Result<Option<String>, SyntaxError> {
        if id == 0 || !matches!(self.peek()?, Event::Anchor(..)) {
            return Ok(None);
        }
        match self.next()? {
            (Event::Anchor(_, name), _) => Ok(Some(name.into_owned())),
            (other, span) => Err(unexpected(&other, &span)),
        }
    }

    fn finish(
        &mut self,
        data: Data,
        tag: Option<&Tag>,
        id: usize,
        anchor: Option<String>,
        at: Position,
    ) -> Node {
        let node = Node {
            data,
            tag: tag.map(short_tag),
            anchor,
            position: at,
        };
        if let Some(name) = &node.anchor {
            self.anchors
                .insert(id, (name.clone(), Arc::new(node.clone())));
        }
        node
    }

    fn close(&mut self, style: StructureStyle, at: Position, end: &Span) -> Layout {
        if style == StructureStyle::Block {
            return Layout::Block;
        }
        self.ends.push((at, end.end.line()));
        Layout::Flow
    }

    /// Position of a list's first dash. If the list is indented like its key, the parser reports the first element
    /// instead.
    fn dash(&self, at: Position) -> Position {
        let line = self.lines.get(at.line - 1).copied().unwrap_or_default();
        let mut rest = line.chars().skip(at.column - 1);
        if rest.next() == Some('-') && rest.next().is_none_or(char::is_whitespace) {
            return at;
        }
        let indentation = line.chars().take_while(|c| c.is_whitespace()).count();
        Position {
            column: indentation + 1,
            ..at
        }
    }

    /// Last line with text of the scalar at `span`.
    fn last_line(&self, span: &Span) -> usize {
        let mut line = span.end.line();
        if span.end.col() == 0 && line > span.start.line() {
            line -= 1;
        }
        while line > span.start.line()
            && self
                .lines
                .get(line - 1)
                .is_none_or(|l| comments::is_not_content(l))
        {
            line -= 1;
        }
        line
    }
}

/// Whether the node is the parser's placeholder for an empty document.
fn is_absent(node: &Node) -> bool {
    let Data::Scalar(scalar) = &node.data else {
        return false;
    };
    scalar.text.is_empty()
        && scalar.style == ScalarStyle::Plain
        && node.tag.is_none()
        && node.anchor.is_none()
}

fn position(span: &Span) -> Position {
    Position {
        line: span.start.line(),
        column: span.start.col() + 1,
    }
}

fn unexpected(event: &Event<'_>, span: &Span) -> SyntaxError {
    let what = match event {
        Event::Alias(_) | Event::UnresolvedAlias(_) => "alias",
        Event::Scalar(..) => "value",
        Event::SequenceStart(..) | Event::SequenceEnd => "list",
        Event::MappingStart(..) | Event::MappingEnd => "map",
        Event::DocumentStart(..) => "second document",
        _ => "end",
    };
    SyntaxError {
        position: position(span),
        message: format!("unexpected {what}"),
    }
}

fn scalar_style(style: granit_parser::ScalarStyle) -> ScalarStyle {
    match style {
        granit_parser::ScalarStyle::Plain => ScalarStyle::Plain,
        granit_parser::ScalarStyle::SingleQuoted => ScalarStyle::SingleQuoted,
        granit_parser::ScalarStyle::DoubleQuoted => ScalarStyle::DoubleQuoted,
        granit_parser::ScalarStyle::Literal => ScalarStyle::Literal,
        granit_parser::ScalarStyle::Folded => ScalarStyle::Folded,
    }
}

fn short_tag(tag: &Tag) -> String {
    match tag.core_suffix() {
        Some(suffix) => format!("!!{suffix}"),
        None if tag.handle() == "tag:yaml.org,2002:" => format!("!!{}", tag.suffix()),
        None => format!("{}{}", tag.handle(), tag.suffix()),
    }
}
