//! Text with colour tags in lines of a width.

use plumb_events::strip_color;
use unicode_width::UnicodeWidthChar;

use crate::color::RESET;

/// The lines of `text`, none wider than `columns`. Each begins with the colours that are in force there, and ends without.
/// The rest of a line that is too long is indented like its beginning, and a little more.
pub(super) fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let mut lines = Vec::new();
    // Tags since the last reset.
    let mut colors = String::new();
    for line in text.trim_end_matches('\n').split('\n') {
        let mut out = colors.clone();
        let mut used = 0;
        let hanging = hanging(line, columns);
        let mut rest = line;
        while let Some(letter) = rest.chars().next() {
            if let Some(end) = rest.strip_prefix("<{%").and_then(|tag| tag.find("%}>")) {
                let (tag, after) = rest.split_at(end + 6);
                if tag == RESET {
                    colors.clear();
                } else {
                    colors.push_str(tag);
                }
                out.push_str(tag);
                rest = after;
                continue;
            }
            let wide = letter.width().unwrap_or(0);
            if used + wide > columns && used > hanging {
                push(&mut lines, &out);
                out = format!("{colors}{:hanging$}", "");
                used = hanging;
            }
            used += wide;
            out.push(letter);
            rest = &rest[letter.len_utf8()..];
        }
        push(&mut lines, &out);
    }
    // Text that ends with a reset on a line of its own has no last line.
    if lines
        .last()
        .is_some_and(|line| strip_color(line).is_empty())
    {
        lines.pop();
    }
    lines
}

/// Indentation of the lines that a line goes on in.
fn hanging(line: &str, columns: usize) -> usize {
    let plain = strip_color(line);
    let beginning = plain.len() - plain.trim_start_matches(' ').len() + 2;
    if beginning <= columns / 2 {
        beginning
    } else {
        0
    }
}

fn push(lines: &mut Vec<String>, line: &str) {
    if line.contains("<{%") && !line.ends_with(RESET) {
        lines.push(format!("{line}{RESET}"));
    } else {
        lines.push(line.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_go_on_in_the_next_line() {
        let green = "<{%fg 2%}>";
        assert_eq!(
            wrapped(&format!("{green}a\nb{RESET}\nc\n{RESET}"), 10),
            [
                format!("{green}a{RESET}"),
                format!("{green}b{RESET}"),
                "c".to_owned()
            ]
        );
        assert_eq!(
            wrapped(&format!("{green}abcdef{RESET}g"), 4),
            [
                format!("{green}abcd{RESET}"),
                format!("{green}  ef{RESET}"),
                "  g".to_owned()
            ]
        );
    }

    #[test]
    fn no_line_is_wider_than_the_columns() {
        assert_eq!(wrapped("日本語x", 5), ["日本", "  語x"]);
        assert_eq!(wrapped("    abcd", 5), ["    a", "bcd"]);
        assert_eq!(wrapped("日", 1), ["日"]);
        assert_eq!(wrapped("", 5), [""; 0]);
    }
}
