//! Tables, with cells that are broken into lines where the terminal is narrow.

use super::inline::Text;

/// Columns between two columns of a table.
const GAP: usize = 2;
/// Width that every column has at least, if there is as much for all of them.
const NARROWEST: usize = 10;

/// Lines of a table whose first row is its head, in at most `width` columns. An empty head is left out.
pub(super) fn lines(rows: &[Vec<Text>], width: usize) -> Vec<String> {
    let widths = widths(rows, width);
    let mut out = Vec::new();
    let has_head = rows
        .first()
        .is_some_and(|head| !head.iter().all(Text::is_empty));
    for (at, row) in rows.iter().enumerate().skip(usize::from(!has_head)) {
        let cells: Vec<Vec<Text>> = row
            .iter()
            .zip(&widths)
            .map(|(cell, width)| cell.cut(*width))
            .collect();
        let height = cells.iter().map(Vec::len).max().unwrap_or_default();
        out.extend((0..height).map(|line| line_of(&cells, &widths, line)));
        if at == 0 {
            let rules: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
            out.push(rules.join("  "));
        }
    }
    out
}

fn line_of(cells: &[Vec<Text>], widths: &[usize], line: usize) -> String {
    let mut out = String::new();
    let mut missing = 0;
    for (cell, width) in cells.iter().zip(widths) {
        let text = cell.get(line);
        out.push_str(&" ".repeat(missing));
        out.push_str(&text.map(Text::painted).unwrap_or_default());
        missing = width.saturating_sub(text.map_or(0, Text::width)) + GAP;
    }
    out.trim_end().to_owned()
}

/// Widths of the columns. Columns that need less than a fair share of the width get what they need; the others share the rest.
fn widths(rows: &[Vec<Text>], width: usize) -> Vec<usize> {
    let count = rows.iter().map(Vec::len).max().unwrap_or_default();
    let needed = |column: usize, of: fn(&Text) -> usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(of).max().unwrap_or_default().max(1)
    };
    let wanted: Vec<usize> = (0..count).map(|at| needed(at, Text::width)).collect();
    let mut left = width
        .saturating_sub(GAP * count.saturating_sub(1))
        .max(count);
    let mut widths = vec![0; count];
    let mut open: Vec<usize> = (0..count).collect();
    open.sort_by_key(|at| wanted[*at]);
    for (done, at) in open.iter().enumerate() {
        let share = left / (count - done);
        // A word is cut only where it takes more than half of the width, or leaves too little for the others.
        let word = needed(*at, Text::longest_word).min(width / 2);
        let most = left - share.min(NARROWEST) * (count - done - 1);
        widths[*at] = wanted[*at].min(share.max(word)).min(most);
        left -= widths[*at];
    }
    widths
}

#[cfg(test)]
mod tests {
    use super::super::inline::Style;
    use super::*;

    fn table(rows: &[&[&str]]) -> Vec<Vec<Text>> {
        let cell = |text: &&str| {
            let mut cell = Text::default();
            cell.push(text, Style::Plain);
            cell
        };
        rows.iter()
            .map(|row| row.iter().map(cell).collect())
            .collect()
    }

    #[test]
    fn cells_are_broken_only_where_the_table_is_too_wide() {
        let table = table(&[&["To", "Command"], &["forget a resource", "state rm URN"]]);
        assert_eq!(
            lines(&table, 80),
            [
                "To                 Command",
                "─────────────────  ────────────",
                "forget a resource  state rm URN",
            ]
        );
        assert_eq!(
            lines(&table, 24),
            [
                "To           Command",
                "───────────  ───────────",
                "forget a     state rm",
                "resource     URN",
            ]
        );
    }

    #[test]
    fn tables_fit_into_every_width() {
        let table = table(&[
            &["a", "b", "c"],
            &["one two three", "abcdefghijklmnop", "x y"],
        ]);
        for width in 12..60 {
            for line in lines(&table, width) {
                assert!(line.chars().count() <= width, "{width}: {line}");
            }
        }
    }
}
