//! Text with indentation.

/// Collects lines. Indentation is its business, not that of those who write.
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

    /// A line; an empty one has no indentation.
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

    /// Whole lines, as they are.
    pub(crate) fn text(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Lines between an opening and a closing one.
    pub(crate) fn block(&mut self, open: &[&str], close: &str, body: impl FnOnce(&mut Self)) {
        self.line(open);
        self.indent();
        body(self);
        self.dedent();
        self.line(&[close]);
    }

    /// Lines that stand deeper.
    pub(crate) fn indented(&mut self, body: impl FnOnce(&mut Self)) {
        self.indent();
        body(self);
        self.dedent();
    }

    /// What follows stands deeper, until [`Writer::dedent`].
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
