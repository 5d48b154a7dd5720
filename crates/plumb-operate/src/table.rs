//! Tables (`cli.md` 1.6): columns as wide as their widest cell, separated by two spaces, the last one not
//! padded.

use std::fmt::Write as _;

use plumb_events::strip_color;
use unicode_width::UnicodeWidthStr;

use crate::Printer;

const GAP: usize = 2;

/// Rows under headers.
#[derive(Debug, Clone)]
pub struct Table {
    headers: Vec<String>,
    rows: Vec<Row>,
    prefix: String,
}

/// A row, with optional text below it.
#[derive(Debug, Clone, Default)]
pub struct Row {
    /// Cells; they may have several lines.
    pub cells: Vec<String>,
    /// Text below the row, unchanged.
    pub details: String,
}

impl Table {
    /// A table without rows.
    pub fn new<'h>(headers: impl IntoIterator<Item = &'h str>) -> Self {
        Table {
            headers: headers.into_iter().map(ToOwned::to_owned).collect(),
            rows: Vec::new(),
            prefix: String::new(),
        }
    }

    /// Sets a prefix for each line.
    #[must_use]
    pub fn indented(mut self, prefix: &str) -> Self {
        prefix.clone_into(&mut self.prefix);
        self
    }

    /// Adds a row.
    pub fn row<C: Into<String>>(&mut self, cells: impl IntoIterator<Item = C>) {
        self.rows.push(Row {
            cells: cells.into_iter().map(Into::into).collect(),
            details: String::new(),
        });
    }

    /// Adds a row with text below it.
    pub fn row_with_details(&mut self, row: Row) {
        self.rows.push(row);
    }

    /// Lines of the table, with colour tags in the header.
    pub fn render(&self) -> String {
        let widths = self.widths();
        let mut out = String::new();
        let header = join(&self.headers, &widths);
        let _ = writeln!(out, "{}{}", self.prefix, Printer::headline(&header));
        for row in &self.rows {
            for line in lines_of(row, &widths) {
                let _ = writeln!(out, "{}{line}", self.prefix);
            }
            out.push_str(&row.details);
        }
        out
    }

    fn widths(&self) -> Vec<usize> {
        let mut widths: Vec<usize> = self.headers.iter().map(|header| columns(header)).collect();
        for row in &self.rows {
            for (cell, width) in row.cells.iter().zip(&mut widths) {
                let widest = cell.split('\n').map(columns).max().unwrap_or(0);
                *width = widest.max(*width);
            }
        }
        widths
    }
}

fn lines_of(row: &Row, widths: &[usize]) -> Vec<String> {
    let height = row
        .cells
        .iter()
        .map(|cell| cell.split('\n').count())
        .max()
        .unwrap_or(0)
        .max(1);
    let line = |index| {
        let cells: Vec<String> = row
            .cells
            .iter()
            .map(|cell| cell.split('\n').nth(index).unwrap_or_default().to_owned())
            .collect();
        join(&cells, widths)
    };
    (0..height).map(line).collect()
}

/// Width of a text in columns, without its colour tags.
fn columns(text: &str) -> usize {
    strip_color(text).width()
}

fn join(cells: &[String], widths: &[usize]) -> String {
    let mut line = String::new();
    for (index, cell) in cells.iter().enumerate() {
        line.push_str(cell);
        if index + 1 < cells.len() {
            let padding = widths
                .get(index)
                .copied()
                .unwrap_or(0)
                .saturating_sub(columns(cell))
                + GAP;
            line.extend(std::iter::repeat_n(' ', padding));
        }
    }
    line
}

/// Size in decimal units, with two digits.
pub fn human_size(bytes: u64) -> String {
    let units = ["B", "kB", "MB", "GB", "TB"];
    let mut amount = bytes as f64;
    let mut unit = 0;
    while amount >= 1000.0 && unit + 1 < units.len() {
        amount /= 1000.0;
        unit += 1;
    }
    if unit > 0 && amount < 10.0 {
        format!("{amount:.1} {}", units[unit])
    } else {
        format!("{amount:.0} {}", units[unit])
    }
}

#[cfg(test)]
mod tests {
    use plumb_display::colorize;
    use plumb_events::ColorMode;

    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let mut table = Table::new(["KEY", "VALUE"]).indented("    ");
        table.row(["a", "1"]);
        table.row(["longer", "two\nlines\n"]);
        let text = colorize(&table.render(), ColorMode::Never).into_owned();
        assert_eq!(
            text,
            "    KEY     VALUE\n    a       1\n    longer  two\n            lines\n            \n"
        );
    }

    #[test]
    fn an_empty_table_has_its_header() {
        let text = colorize(&Table::new(["KEY", "VALUE"]).render(), ColorMode::Never).into_owned();
        assert_eq!(text, "KEY  VALUE\n");
    }

    #[test]
    fn sizes_have_two_digits() {
        assert_eq!(
            [0, 999, 1500, 82_300_000].map(human_size),
            ["0 B", "999 B", "1.5 kB", "82 MB"]
        );
    }
}
