//! Descriptions in Markdown as Go doc comments.
//!
//! Go has its own small markup for comments: headings begin with `# `, code is indented by a tab, list items by spaces, and
//! blank lines separate them. The result is stable under `gofmt`, for any text:
//!
//! 1. [`blocks`] parses the text into headings, paragraphs, lists and code.
//! 2. Adjacent blocks that Go would read as one block are joined or written in a simpler form.
//! 3. Lines with a special meaning in Go (link definitions, implicit headings, quotes) are changed.

/// A block of a comment.
enum Block {
    Heading(String),
    Paragraph(Vec<String>),
    Code(Vec<String>),
    List(List),
}

struct List {
    /// Whether the first item is numbered.
    is_numbered: bool,
    items: Vec<ListItem>,
}

struct ListItem {
    number: String,
    paragraphs: Vec<Vec<String>>,
}

/// Comment lines for a description.
pub(super) fn lines(text: &str) -> Vec<String> {
    let mut blocks = plain_where_needed(merged(blocks(text)));
    let is_open = |block: &Block| matches!(block, Block::Heading(_) | Block::Paragraph(_));
    if !blocks.is_empty() && !blocks.iter().any(is_open) {
        // Go removes the common indentation of a comment, so a comment of nothing but code would not be code.
        blocks.insert(0, Block::Paragraph(vec!["Example:".to_owned()]));
    }
    let mut lines = Vec::new();
    for (index, block) in blocks.iter().enumerate() {
        if index > 0 {
            lines.push(String::new());
        }
        let next_is_open = blocks.get(index + 1).is_some_and(is_open);
        write(block, index > 0 && next_is_open, &mut lines);
    }
    lines
}

/// Line-by-line parser of blocks.
#[derive(Default)]
struct Reader {
    blocks: Vec<Block>,
    /// Whether the next line can continue the last block.
    is_open: bool,
}

fn blocks(text: &str) -> Vec<Block> {
    let mut reader = Reader::default();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let line = clean(line);
        let bare = line.trim();
        if bare.starts_with("```") && !bare[3..].contains("```") {
            let code = lines
                .by_ref()
                .map(clean)
                .take_while(|line| !line.trim().starts_with("```"));
            reader.blocks.push(Block::Code(code.collect()));
            reader.is_open = false;
        } else {
            reader.line(&line, bare);
        }
    }
    reader.blocks
}

/// The line without characters that Go sources forbid, and without trailing whitespace.
fn clean(line: &str) -> String {
    let is_fit = |char: &char| *char == '\t' || !(char.is_control() || *char == '\u{feff}');
    line.chars()
        .filter(is_fit)
        .collect::<String>()
        .trim_end()
        .to_owned()
}

impl Reader {
    fn line(&mut self, line: &str, bare: &str) {
        if bare.is_empty() {
            self.is_open = false;
            return;
        }
        let indent = line.len() - line.trim_start().len();
        if let Some(heading) = heading(bare) {
            self.blocks.push(Block::Heading(heading));
            self.is_open = false;
            return;
        }
        if let Some((number, text)) = marker(bare) {
            self.item(number, text);
        } else if self.is_open {
            self.go_on(bare);
        } else if indent >= 2 && matches!(self.blocks.last(), Some(Block::List(_))) {
            if let Some(item) = self.last_item() {
                item.paragraphs.push(vec![bare.to_owned()]);
            }
        } else if indent >= 4 {
            self.blocks.push(Block::Code(vec![line.to_owned()]));
        } else {
            self.blocks.push(Block::Paragraph(vec![bare.to_owned()]));
        }
        self.is_open = !matches!(self.blocks.last(), Some(Block::Code(_)));
    }

    fn last_item(&mut self) -> Option<&mut ListItem> {
        match self.blocks.last_mut() {
            Some(Block::List(list)) => list.items.last_mut(),
            _ => None,
        }
    }

    fn item(&mut self, number: &str, text: &str) {
        let item = ListItem {
            number: number.to_owned(),
            paragraphs: vec![vec![text.to_owned()]],
        };
        match self.blocks.last_mut() {
            Some(Block::List(list)) => list.items.push(item),
            _ => self.blocks.push(Block::List(List {
                is_numbered: !number.is_empty(),
                items: vec![item],
            })),
        }
    }

    fn go_on(&mut self, bare: &str) {
        match self.blocks.last_mut() {
            Some(Block::Paragraph(lines)) => lines.push(bare.to_owned()),
            Some(Block::List(list)) => {
                let item = list.items.last_mut();
                if let Some(lines) = item.and_then(|item| item.paragraphs.last_mut()) {
                    lines.push(bare.to_owned());
                }
            }
            _ => self.blocks.push(Block::Paragraph(vec![bare.to_owned()])),
        }
    }
}

fn heading(line: &str) -> Option<String> {
    let text = line.trim_start_matches('#');
    let level = line.len() - text.len();
    let is_heading = (1..=6).contains(&level) && text.starts_with([' ', '\t']);
    let text = text.trim();
    (is_heading && !text.is_empty()).then(|| quotes(text))
}

/// Number (empty for a bullet) and text of a list item.
fn marker(line: &str) -> Option<(&str, &str)> {
    let (number, rest) = if let Some(rest) = line.strip_prefix(['•', '*', '+', '-']) {
        ("", rest)
    } else {
        let digits = line.len()
            - line
                .trim_start_matches(|char: char| char.is_ascii_digit())
                .len();
        let (number, rest) = line.split_at(digits);
        if number.is_empty() {
            return None;
        }
        (number, rest.strip_prefix(['.', ')'])?)
    };
    let text = rest.trim();
    (rest.starts_with([' ', '\t']) && !text.is_empty()).then_some((number, text))
}

/// Joins adjacent code blocks.
fn merged(blocks: Vec<Block>) -> Vec<Block> {
    let mut result: Vec<Block> = Vec::with_capacity(blocks.len());
    for block in blocks {
        match (result.last_mut(), block) {
            (Some(Block::Code(before)), Block::Code(lines)) => {
                before.push(String::new());
                before.extend(lines);
            }
            (_, block) => result.push(block),
        }
    }
    for block in &mut result {
        if let Block::Code(lines) = block {
            dedent(lines);
        }
    }
    result.retain(|block| !matches!(block, Block::Code(lines) if lines.is_empty()));
    result
}

/// Removes the common indentation, and empty lines at both ends.
fn dedent(lines: &mut Vec<String>) {
    let end = lines
        .iter()
        .rposition(|line| !line.is_empty())
        .map_or(0, |last| last + 1);
    lines.truncate(end);
    let start = lines.iter().position(|line| !line.is_empty()).unwrap_or(0);
    lines.drain(..start);
    let space =
        |line: &String| line[..line.len() - line.trim_start_matches([' ', '\t']).len()].to_owned();
    let mut filled = lines.iter().filter(|line| !line.is_empty());
    let Some(mut common) = filled.next().map(space) else {
        return;
    };
    for line in filled {
        let same = common
            .bytes()
            .zip(line.bytes())
            .take_while(|(one, other)| one == other);
        common.truncate(same.count());
    }
    for line in lines.iter_mut().filter(|line| !line.is_empty()) {
        line.drain(..common.len());
    }
}

/// Turns some lists into paragraphs: a list next to code, because Go would read one as part of the other, and all lists of a
/// comment that has nothing else.
fn plain_where_needed(blocks: Vec<Block>) -> Vec<Block> {
    let is_code: Vec<bool> = blocks
        .iter()
        .map(|block| matches!(block, Block::Code(_)))
        .collect();
    let is_alone = blocks.iter().all(|block| matches!(block, Block::List(_)));
    let is_beside_code = |index: usize| {
        index.checked_sub(1).is_some_and(|before| is_code[before])
            || is_code.get(index + 1) == Some(&true)
    };
    let mut result = Vec::with_capacity(blocks.len());
    for (index, block) in blocks.into_iter().enumerate() {
        match block {
            Block::List(list) if is_alone || is_beside_code(index) => {
                result.push(Block::Paragraph(plain(&list)));
            }
            block => result.push(block),
        }
    }
    result
}

fn plain(list: &List) -> Vec<String> {
    let mut lines = Vec::new();
    for item in &list.items {
        let mark = if item.number.is_empty() {
            "-".to_owned()
        } else {
            format!("{}.", item.number)
        };
        let mut mark = Some(mark);
        for line in item.paragraphs.iter().flatten() {
            lines.push(match mark.take() {
                Some(mark) => format!("{mark} {line}"),
                None => line.clone(),
            });
        }
    }
    lines
}

fn write(block: &Block, is_between: bool, lines: &mut Vec<String>) {
    match block {
        Block::Heading(text) => lines.push(format!("# {text}")),
        Block::Paragraph(text) => match &text[..] {
            [line] if is_between && is_like_heading(&quotes(line)) => {
                lines.push(format!("# {}", quotes(line)));
            }
            text => lines.extend(text.iter().map(|line| text_line(line))),
        },
        Block::Code(text) => {
            let indented = |line: &String| {
                if line.is_empty() {
                    String::new()
                } else {
                    format!("\t{line}")
                }
            };
            lines.extend(text.iter().map(indented));
        }
        Block::List(list) => write_list(list, lines),
    }
}

fn write_list(list: &List, lines: &mut Vec<String>) {
    let is_loose = list.items.iter().any(|item| item.paragraphs.len() > 1);
    let is_mixed = list
        .items
        .iter()
        .any(|item| item.number.is_empty() == list.is_numbered);
    for (index, item) in list.items.iter().enumerate() {
        if index > 0 && is_loose {
            lines.push(String::new());
        }
        let mark = if is_mixed || !list.is_numbered {
            "  - ".to_owned()
        } else {
            format!(" {}. ", item.number)
        };
        for (number, paragraph) in item.paragraphs.iter().enumerate() {
            if number > 0 {
                lines.push(String::new());
            }
            for (row, line) in paragraph.iter().enumerate() {
                let indent = if number == 0 && row == 0 {
                    &mark
                } else {
                    "    "
                };
                lines.push(format!("{indent}{}", text_line(line)));
            }
        }
    }
}

/// A line of text, escaped where Go gives it another meaning.
fn text_line(line: &str) -> String {
    let line = quotes(line);
    match line
        .strip_prefix('[')
        .and_then(|rest| rest.split_once("]:"))
    {
        Some((name, link)) if link.contains("://") => format!("{name}:{link}"),
        _ => line,
    }
}

/// Changes doubled backquotes and apostrophes, which would become typographic quotes.
fn quotes(line: &str) -> String {
    if !line.contains("``") && !line.contains("''") {
        return line.to_owned();
    }
    let mut result = String::with_capacity(line.len());
    let mut chars = line.chars().peekable();
    while let Some(char) = chars.next() {
        let mut is_many = false;
        while matches!(char, '`' | '\'') && chars.next_if_eq(&char).is_some() {
            is_many = true;
        }
        result.push(if is_many && char == '\'' { '"' } else { char });
    }
    result
}

/// Whether Go reads a paragraph of this one line, between other blocks, as a heading.
fn is_like_heading(line: &str) -> bool {
    let is_title = line.starts_with(|char: char| char.is_alphabetic() && char.is_uppercase())
        && line.ends_with(|char: char| char.is_alphabetic() || char.is_numeric());
    let has_sign = line.contains(|char| ";:!?+*/=[]{}_^°&§~%#@<\">\\".contains(char));
    let is_genitive = |rest: &str| rest == "s" || rest.starts_with("s ");
    let is_inside = |rest: &str| !rest.is_empty() && !rest.starts_with(' ');
    is_title
        && !has_sign
        && line
            .match_indices('\'')
            .all(|(at, _)| is_genitive(&line[at + 1..]))
        && line
            .match_indices('.')
            .all(|(at, _)| is_inside(&line[at + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        assert_eq!(lines(text), expected, "{text}");
    }

    #[test]
    fn code_is_indented_and_headings_have_one_mark() {
        check(
            "Head\n## Example Usage\n```go\na := 1\n\tb\n```\nTail",
            &[
                "Head",
                "",
                "# Example Usage",
                "",
                "\ta := 1",
                "\t\tb",
                "",
                "Tail",
            ],
        );
        check("```go\n    x\n```", &["Example:", "", "\tx"]);
    }

    #[test]
    fn lists_are_lists_except_beside_code() {
        check(
            "A:\n* one\n  more\n* two\n",
            &["A:", "", "  - one", "    more", "  - two"],
        );
        check(
            "A:\n1. one\n\n   more\n2. two",
            &["A:", "", " 1. one", "", "    more", "", " 2. two"],
        );
        check("A:\n* one\n1. two", &["A:", "", "  - one", "  - two"]);
        check("* one\n```\nx\n```\n", &["- one", "", "\tx"]);
        check("* one\n* two", &["- one", "- two"]);
    }

    #[test]
    fn what_go_would_read_otherwise_is_changed() {
        check(
            "a\n\nIt is a title\n\nb",
            &["a", "", "# It is a title", "", "b"],
        );
        check("a\n\nIt is not.\n\nb", &["a", "", "It is not.", "", "b"]);
        check("[a]: http://b", &["a: http://b"]);
        check("``a`` ''b''", &["`a` \"b\""]);
        check("a\u{0}b\u{feff}\r\n  c", &["ab", "c"]);
    }
}
