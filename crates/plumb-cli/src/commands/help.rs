//! `help`: pages of the book. The help of commands is that of [`crate::args`], which finds them first.

use std::fmt::Write as _;

use clap::Args;
use plumb_operate::{Context, Error, ExitStatus, output};

use crate::book::{Book, Page, path_of};
use crate::{markdown, pager};

/// Show the help of a command, or a page of the book
///
/// `plumb help up` shows how a command is used. `plumb help topics` lists the pages of the book, which explain ideas and give
/// guidance: `plumb help secrets` shows one of them. Pages need no network. Where a command and a page have the same name,
/// `plumb help topic:NAME` shows the page.
///
/// On a terminal, long pages are shown by `$PAGER`, or by `less`.
#[derive(Args, Debug)]
pub struct HelpArgs {
    /// A command, or the name of a page
    pub words: Vec<String>,
}

/// The word that lists all pages.
const LIST: &str = "topics";
/// Prefix of names of pages.
const TOPIC: &str = "topic:";
/// Width of texts where there is no terminal.
const WIDTH: usize = 80;
/// Maximum width of texts, because longer lines are hard to read.
const WIDEST: usize = 100;

/// Runs `help` for words that are no command.
pub fn run(args: &HelpArgs, ctx: &Context) -> Result<ExitStatus, Error> {
    let words = args.words.join(" ");
    let name = words.strip_prefix(TOPIC).unwrap_or(&words).trim();
    let book = Book::open();
    let text = match book.find(name) {
        Some(page) => shown(page, &book, width(ctx)),
        None if name == LIST || name.is_empty() => list(&book, width(ctx)),
        None => return Err(unknown(name, &book)),
    };
    pager::show(&text, &ctx.environment, &ctx.printer);
    Ok(ExitStatus::Success)
}

/// Shows a text in Markdown whose links lead out of the book.
pub(super) fn show(text: &str, ctx: &Context) {
    let text = markdown::render(text, width(ctx), &|address| Some(address.to_owned()));
    pager::show(&text, &ctx.environment, &ctx.printer);
}

/// Names of all pages as they are typed, with their titles.
pub(crate) fn topics() -> Vec<(String, String)> {
    let book = Book::open();
    let pages = book.pages().iter();
    pages
        .map(|page| (typed(page), page.title.clone()))
        .collect()
}

fn width(ctx: &Context) -> usize {
    if ctx.environment.stdout_is_terminal {
        output::terminal_size().width.min(WIDEST)
    } else {
        WIDTH
    }
}

fn shown(page: &Page, book: &Book, width: usize) -> String {
    markdown::render(&page.text, width, &|address| {
        if address.starts_with('#') {
            return None;
        }
        if address.contains("://") {
            return Some(address.to_owned());
        }
        Some(match book.linked(page, address) {
            Some(linked) => format!("plumb help {}", typed(linked)),
            None => format!("docs/{}", path_of(page, address)),
        })
    })
}

/// The name of a page as it is typed: with a prefix, if a command has the same name.
fn typed(page: &Page) -> String {
    let tree = crate::args::command_tree();
    let is_command = page.name == LIST || tree.find_subcommand(&page.name).is_some();
    let prefix = if is_command { TOPIC } else { "" };
    format!("{prefix}{}", page.name)
}

fn list(book: &Book, width: usize) -> String {
    let rows: Vec<(String, &Page)> = book
        .pages()
        .iter()
        .map(|page| (typed(page), page))
        .collect();
    let longest = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let mut out = "Pages of the book; `plumb help NAME` shows one.\n".to_owned();
    let mut part = None;
    for (name, page) in rows {
        if part != Some(&page.part) {
            part = Some(&page.part);
            let _ = writeln!(
                out,
                "\n{}",
                plumb_operate::Printer::headline(part_title(page))
            );
        }
        let room = width.saturating_sub(longest + 4);
        let _ = writeln!(out, "  {name:longest$}  {}", cut(&page.summary(), room));
    }
    out
}

fn part_title(page: &Page) -> &str {
    if page.part.is_empty() {
        "Introduction"
    } else {
        &page.part
    }
}

/// The text in at most `width` characters, cut between words.
fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let start: String = text.chars().take(width.saturating_sub(1)).collect();
    let end = start.rfind(' ').unwrap_or(start.len());
    format!("{}…", start[..end].trim_end_matches([',', ':', ';', ' ']))
}

fn unknown(name: &str, book: &Book) -> Error {
    let near = book.near(name);
    let mut text = format!("there is no command and no topic `{name}`");
    if !near.is_empty() {
        text.push_str("\n\nDid you mean this?\n");
        for name in near {
            let page = book.find(name).map(typed).unwrap_or_default();
            let _ = writeln!(text, "\tplumb help {page}");
        }
    }
    text.push_str("\nRun `plumb help topics` for all topics.");
    Error::user(text).known(plumb_operate::identity::Code::UnknownCommand)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_page_is_hidden_by_a_command() {
        let names: Vec<String> = topics().into_iter().map(|(name, _)| name).collect();
        for name in [
            "secrets",
            "topic:state",
            "topic:stack",
            "topic:why",
            "journal",
        ] {
            assert_eq!(
                names.contains(&name.to_owned()),
                name != "journal",
                "{name}"
            );
        }
    }

    #[test]
    fn every_page_fits_into_the_width_outside_of_code() {
        let book = Book::open();
        for page in book.pages() {
            let text = shown(page, &book, 60);
            let text = plumb_display::colorize(&text, plumb_events::ColorMode::Never);
            for line in text.lines().filter(|line| !line.starts_with("    ")) {
                let is_one_word = !line.trim_start_matches(['-', ' ']).contains(' ');
                let is_link = line.starts_with(['[', ' ']) && line.contains("] ");
                assert!(
                    line.chars().count() <= 60 || is_one_word || is_link,
                    "{}: {line}",
                    page.path
                );
            }
        }
    }

    #[test]
    fn summaries_are_cut_between_words() {
        assert_eq!(cut("one two", 7), "one two");
        assert_eq!(cut("one, two", 7), "one…");
    }
}
