//! Text builder with indentation.

/// Collects lines and indents them, so that callers need not.
pub(crate) struct Writer {
    text: String,
    indent: usize,
}

impl Writer {
    pub(crate) fn new() -> Self {
        Writer {
            text: String::with_capacity(4096),
            indent: 0,
        }
    }

    /// Appends a line; an empty one gets no indentation.
    pub(crate) fn line(&mut self, parts: &[&str]) {
        if parts.iter().any(|part| !part.is_empty()) {
            for _ in 0..self.indent {
                self.text.push_str("    ");
            }
            for part in parts {
                self.text.push_str(part);
            }
        }
        self.text.push('\n');
    }

    pub(crate) fn blank(&mut self) {
        self.text.push('\n');
    }

    /// Appends lines unchanged.
    pub(crate) fn text(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Appends an opening line, the indented lines of `body`, and a closing line.
    pub(crate) fn block(&mut self, open: &[&str], close: &str, body: impl FnOnce(&mut Self)) {
        self.line(open);
        self.indent();
        body(self);
        self.dedent();
        self.line(&[close]);
    }

    /// Indents the lines of `body`.
    pub(crate) fn indented(&mut self, body: impl FnOnce(&mut Self)) {
        self.indent();
        body(self);
        self.dedent();
    }

    /// Indents all following lines, until [`Writer::dedent`].
    pub(crate) fn indent(&mut self) {
        self.indent += 1;
    }

    pub(crate) fn dedent(&mut self) {
        self.indent -= 1;
    }

    pub(crate) fn finish(self) -> String {
        self.text
    }
}
