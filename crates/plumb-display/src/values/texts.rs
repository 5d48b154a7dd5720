//! Changes of strings: as documents, by characters or by lines.

use plumb_resource::StepOp;

use super::{At, Title, ValuePrinter, is_same_document};
use crate::diff::Change;
use crate::text_diff::{Kind, Part, characters, lines};
use crate::{embedded, quoted};

/// Number of unchanged lines around changed ones.
const CONTEXT: usize = 2;

impl ValuePrinter<'_> {
    /// Prints the change of a string in the current line, and ends the line.
    pub(super) fn text_update(&mut self, old: &str, new: &str, at: At) {
        if self.document_update(old, new, at) {
            return;
        }
        if old.contains('\n') || new.contains('\n') {
            self.line_update(&lines(old, new), at.deeper(1));
        } else {
            self.character_update(&characters(old, new), at);
        }
    }

    /// Prints the change of a document; returns false if one of the strings is not a document.
    fn document_update(&mut self, old: &str, new: &str, at: At) -> bool {
        let Some((old_language, old_document)) = embedded::parse(old) else {
            return false;
        };
        let Some((new_language, new_document)) = embedded::parse(new) else {
            return false;
        };
        if is_same_document(&old_document, &new_document) {
            // Only the formatting differs.
            let quotes = |text: &str| quoted::quoted(text.as_bytes());
            self.text_update(&quotes(old), &quotes(new), at);
            return true;
        }
        if old_language == new_language {
            self.piece(at.op, &format!("({}) ", old_language.name()));
        } else {
            let names = (old_language.name(), new_language.name());
            self.piece(at.op, &format!("({} => {}) ", names.0, names.1));
        }
        match self.compare(&old_document, &new_document) {
            Change::Update(difference) => self.update(Title::None, &difference, at),
            // Only hidden keys differ.
            Change::Same(_) | Change::Add(_) | Change::Delete(_) => {
                self.value(&old_document, at.colored(StepOp::Same));
            }
        }
        true
    }

    fn character_update(&mut self, parts: &[Part<char>], at: At) {
        self.piece(at.op, "\"");
        self.side(parts, Kind::Delete);
        self.piece(at.op, "\"");
        self.piece(at.op, " => ");
        self.piece(at.op, "\"");
        self.side(parts, Kind::Insert);
        self.piece(at.op, "\"\n");
    }

    /// Prints the old text with deletions marked, or the new text with insertions marked.
    fn side(&mut self, parts: &[Part<char>], shown: Kind) {
        for part in parts
            .iter()
            .filter(|part| part.kind == Kind::Same || part.kind == shown)
        {
            let text: String = part.items.iter().collect();
            self.piece(op_of(part.kind), &quoted::escaped(text.as_bytes()));
        }
    }

    fn line_update(&mut self, parts: &[(Kind, String)], at: At) {
        self.piece(at.op, "\n");
        for (idx, (kind, text)) in parts.iter().enumerate() {
            let shown: Vec<&str> = text
                .split('\n')
                .filter(|line| !line.trim().is_empty())
                .collect();
            let op = op_of(*kind);
            let at = match kind {
                Kind::Same => at.plain(op),
                Kind::Insert | Kind::Delete => at.signed(op),
            };
            // Of unchanged lines, only those next to a change are shown.
            let (head, tail) = match kind {
                Kind::Insert | Kind::Delete => (shown.len(), 0),
                Kind::Same if idx == 0 => context(shown.len(), 0, CONTEXT),
                Kind::Same if idx + 1 == parts.len() => context(shown.len(), CONTEXT, 0),
                Kind::Same => context(shown.len(), CONTEXT, CONTEXT),
            };
            self.lines(&shown[..head], at);
            if head + tail < shown.len() {
                self.line(at, "...\n");
            }
            self.lines(&shown[shown.len() - tail..], at);
        }
    }

    fn lines(&mut self, lines: &[&str], at: At) {
        for line in lines {
            let line = self.cut(line);
            self.line(at, &line);
            self.out.push('\n');
        }
    }
}

/// Numbers of lines to show at the start and at the end; all lines if that would omit only one.
fn context(count: usize, head: usize, tail: usize) -> (usize, usize) {
    if count > head + tail + 1 {
        (head, tail)
    } else {
        (count, 0)
    }
}

fn op_of(kind: Kind) -> StepOp {
    match kind {
        Kind::Same => StepOp::Same,
        Kind::Insert => StepOp::Create,
        Kind::Delete => StepOp::Delete,
    }
}
