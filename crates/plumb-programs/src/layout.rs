//! Layout of code: expressions that fit are on one line, others are broken at their brackets.

/// Maximum width of a line.
const WIDTH: usize = 100;

/// A piece of code with its possible line breaks.
#[derive(Clone, Debug)]
pub(crate) enum Doc {
    /// Literal text, which may contain line breaks.
    Text(String),
    /// A space, or a line break in a broken group.
    Line,
    /// Empty, or a line break in a broken group.
    Soft,
    /// Text that appears only in a broken group.
    Broken(&'static str),
    /// A line break, which breaks the enclosing groups.
    Hard,
    /// Content that is indented by one more level.
    Nest(Box<Doc>),
    /// Pieces that are broken together.
    Group(Vec<Doc>),
    /// A sequence of pieces.
    Row(Vec<Doc>),
}

impl Doc {
    pub(crate) fn text(text: impl Into<String>) -> Doc {
        Doc::Text(text.into())
    }

    /// Items between brackets, with a trailing comma in broken form if the language allows that.
    pub(crate) fn list(open: &str, items: Vec<Doc>, close: &str) -> Doc {
        Doc::between(open, items, close, Doc::Soft)
    }

    /// Items between brackets, with spaces inside the brackets on one line.
    pub(crate) fn spaced_list(open: &str, items: Vec<Doc>, close: &str) -> Doc {
        Doc::between(open, items, close, Doc::Line)
    }

    /// Items between brackets, without a trailing comma.
    pub(crate) fn arguments(open: &str, items: Vec<Doc>, close: &str) -> Doc {
        let mut doc = Doc::between(open, items, close, Doc::Soft);
        if let Doc::Group(pieces) = &mut doc
            && let Some(Doc::Nest(inner)) = pieces.get_mut(1)
            && let Doc::Row(row) = &mut **inner
        {
            row.pop();
        }
        doc
    }

    /// Arguments of a call; a single one starts and ends directly at the brackets.
    pub(crate) fn call(open: &str, mut args: Vec<Doc>) -> Doc {
        if args.len() == 1 {
            Doc::hugged(open, args.remove(0), ")")
        } else {
            Doc::arguments(open, args, ")")
        }
    }

    fn between(open: &str, items: Vec<Doc>, close: &str, edge: Doc) -> Doc {
        if items.is_empty() {
            return Doc::Text(format!("{open}{close}"));
        }
        let mut inner = vec![edge.clone()];
        for (at, item) in items.into_iter().enumerate() {
            if at > 0 {
                inner.push(Doc::text(","));
                inner.push(Doc::Line);
            }
            inner.push(item);
        }
        inner.push(Doc::Broken(","));
        Doc::Group(vec![
            Doc::text(open),
            Doc::Nest(Box::new(Doc::Row(inner))),
            edge,
            Doc::text(close),
        ])
    }

    /// A call whose only argument starts and ends directly at the brackets.
    pub(crate) fn hugged(open: &str, item: Doc, close: &str) -> Doc {
        Doc::Row(vec![Doc::text(open), item, Doc::text(close)])
    }

    /// Text on one line; `None` if it contains line breaks.
    pub(crate) fn flat(&self) -> Option<String> {
        let mut text = String::new();
        self.write_flat(&mut text)?;
        Some(text)
    }

    fn write_flat(&self, text: &mut String) -> Option<()> {
        match self {
            Doc::Text(piece) if piece.contains('\n') => return None,
            Doc::Text(piece) => text.push_str(piece),
            Doc::Line => text.push(' '),
            Doc::Soft | Doc::Broken(_) => {}
            Doc::Hard => return None,
            Doc::Nest(inner) => inner.write_flat(text)?,
            Doc::Group(pieces) | Doc::Row(pieces) => {
                for piece in pieces {
                    piece.write_flat(text)?;
                }
            }
        }
        Some(())
    }

    /// Text after `column` characters on a line with the indentation `indent`.
    pub(crate) fn render(&self, indent: usize, column: usize, step: usize) -> String {
        let mut renderer = Renderer {
            text: String::new(),
            column,
            step,
        };
        renderer.write(self, indent, false);
        renderer.text
    }
}

struct Renderer {
    text: String,
    column: usize,
    step: usize,
}

impl Renderer {
    fn write(&mut self, doc: &Doc, indent: usize, is_broken: bool) {
        match doc {
            Doc::Text(text) => self.push(text),
            Doc::Line if !is_broken => self.push(" "),
            Doc::Soft | Doc::Broken(_) if !is_broken => {}
            Doc::Broken(text) => self.push(text),
            Doc::Line | Doc::Soft | Doc::Hard => {
                self.text.push('\n');
                self.text.extend(std::iter::repeat_n(' ', indent));
                self.column = indent;
            }
            Doc::Nest(inner) => self.write(inner, indent + self.step, is_broken),
            Doc::Row(pieces) => {
                for piece in pieces {
                    self.write(piece, indent, is_broken);
                }
            }
            Doc::Group(pieces) => {
                let flat = doc.flat();
                let fits = flat.is_some_and(|flat| self.column + flat.chars().count() <= WIDTH);
                for piece in pieces {
                    self.write(piece, indent, !fits);
                }
            }
        }
    }

    fn push(&mut self, text: &str) {
        self.text.push_str(text);
        match text.rsplit_once('\n') {
            Some((_, last)) => self.column = last.chars().count(),
            None => self.column += text.chars().count(),
        }
    }
}

/// Statements of a file, by line.
pub(crate) struct Lines {
    text: String,
    indent: usize,
    step: usize,
}

impl Lines {
    pub(crate) fn new(step: usize) -> Self {
        Lines {
            text: String::new(),
            indent: 0,
            step,
        }
    }

    pub(crate) fn deeper(&mut self) {
        self.indent += self.step;
    }

    pub(crate) fn shallower(&mut self) {
        self.indent = self.indent.saturating_sub(self.step);
    }

    /// Writes one statement.
    pub(crate) fn line(&mut self, doc: &Doc) {
        self.text.extend(std::iter::repeat_n(' ', self.indent));
        let rendered = doc.render(self.indent, self.indent, self.step);
        self.text.push_str(&rendered);
        self.text.push('\n');
    }

    /// Writes one line of text.
    pub(crate) fn plain(&mut self, text: &str) {
        self.line(&Doc::text(text));
    }

    /// Appends text as it is.
    pub(crate) fn raw(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Writes an empty line, except at the beginning of the text or a block, and after another one.
    pub(crate) fn blank(&mut self) {
        let is_first = self.text.is_empty() || self.text.ends_with("{\n");
        if !is_first && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    pub(crate) fn into_text(self) -> String {
        self.text
    }
}

#[cfg(test)]
mod tests {
    use super::Doc;

    fn list(count: usize) -> Doc {
        let items = (0..count).map(|at| Doc::text(format!("item number {at}")));
        Doc::list("f(", items.collect(), ")")
    }

    #[test]
    fn groups_break_only_where_they_must() {
        assert_eq!(list(2).render(0, 0, 4), "f(item number 0, item number 1)");
        let broken = list(8).render(0, 0, 4);
        assert!(broken.starts_with("f(\n    item number 0,\n"), "{broken}");
        assert!(broken.ends_with("item number 7,\n)"), "{broken}");
    }

    #[test]
    fn inner_groups_stay_on_their_lines() {
        let doc = Doc::list("g(", vec![list(1), list(8)], ")");
        let text = doc.render(0, 0, 2);
        assert!(
            text.starts_with("g(\n  f(item number 0),\n  f(\n    item"),
            "{text}"
        );
    }
}
