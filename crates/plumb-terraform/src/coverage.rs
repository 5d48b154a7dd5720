//! The share of the attributes of resources that was converted.

use std::collections::BTreeSet;

use hcl_edit::Span;
use hcl_edit::structure::{Block, Body, Structure};

use crate::notes::Note;
use crate::source::ModuleFile;

/// Resources with their attributes, those of nested blocks included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Number of resources.
    pub resources: usize,
    /// Number of their attributes.
    pub attributes: usize,
    /// Number of attributes without a note.
    pub converted: usize,
}

impl Coverage {
    /// Adds the resources of a file. `notes` are those on the configuration.
    pub(crate) fn add(&mut self, file: &ModuleFile, notes: &[Note]) {
        let own = notes.iter().filter(|it| it.file == file.source.name);
        let count = Count {
            file,
            noted: own.map(|it| it.line).collect(),
        };
        for block in file.body.get_blocks("resource") {
            self.resources += 1;
            count.block(block, false, self);
        }
    }
}

struct Count<'f> {
    file: &'f ModuleFile,
    /// Lines with a note.
    noted: BTreeSet<usize>,
}

impl Count<'_> {
    /// Counts the attributes of a block. A note on its first line is about all of them.
    fn block(&self, block: &Block, is_lost: bool, coverage: &mut Coverage) {
        let is_lost = is_lost || self.is_noted(&block.ident);
        self.body(&block.body, is_lost, coverage);
    }

    fn body(&self, body: &Body, is_lost: bool, coverage: &mut Coverage) {
        for structure in body {
            match structure {
                Structure::Attribute(it) => {
                    coverage.attributes += 1;
                    if !is_lost && !self.is_noted(it) {
                        coverage.converted += 1;
                    }
                }
                Structure::Block(block) => self.block(block, is_lost, coverage),
            }
        }
    }

    fn is_noted(&self, node: &impl Span) -> bool {
        let Some(span) = node.span() else {
            return false;
        };
        let line = |offset: usize| {
            let offset = u32::try_from(offset).unwrap_or(u32::MAX);
            self.file.source.position(offset).0
        };
        let last = span.end.saturating_sub(1).max(span.start);
        let lines = line(span.start)..=line(last);
        self.noted.range(lines).next().is_some()
    }
}
