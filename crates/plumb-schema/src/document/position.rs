//! Conversion of byte offsets to lines and columns.

/// Converts offsets in ascending order, in one pass over the text for all of them.
pub(crate) struct Positions<'t> {
    text: &'t str,
    at: usize,
    line: u32,
    column: u32,
}

impl<'t> Positions<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Positions {
            text,
            at: 0,
            line: 1,
            column: 1,
        }
    }

    /// Line and column, both from one, columns in characters. `offset` must not be less than the previous one.
    pub(crate) fn of(&mut self, offset: usize) -> (u32, u32) {
        let mut end = offset.clamp(self.at, self.text.len());
        while !self.text.is_char_boundary(end) {
            end -= 1;
        }
        let passed = &self.text[self.at.min(end)..end];
        let newlines = passed.bytes().filter(|byte| *byte == b'\n').count();
        let last_line = passed
            .rfind('\n')
            .map_or(passed, |newline| &passed[newline + 1..]);
        if newlines > 0 {
            self.line += newlines as u32;
            self.column = 1;
        }
        self.column += last_line.chars().count() as u32;
        self.at = self.at.max(end);
        (self.line, self.column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_are_counted_from_one_and_in_characters() {
        let mut positions = Positions::new("ab\nüx\n\nz");
        assert_eq!(positions.of(0), (1, 1));
        assert_eq!(positions.of(1), (1, 2));
        assert_eq!(positions.of(1), (1, 2));
        assert_eq!(positions.of(3), (2, 1));
        assert_eq!(positions.of(5), (2, 2));
        assert_eq!(positions.of(8), (4, 1));
        assert_eq!(positions.of(99), (4, 2));
    }
}
