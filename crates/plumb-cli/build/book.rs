//! The pages of the book that `plumb help TOPIC` shows, in one text.
//!
//! `docs/SUMMARY.md` names the pages. Those of its parts "Inside" are left out, because they are for people who change the code,
//! and so is the page of commands, because `plumb help COMMAND` has its content. The text begins with a line for each page
//! (part, title, path and length in bytes, separated by tabs) and an empty line; the texts follow in the same order.

use std::fmt::Write as _;
use std::path::Path;
use std::{fs, io};

const SUMMARY: &str = "SUMMARY.md";
/// The last page of the part "Reference". It is at the root of the repository.
const CHANGELOG: &str = "CHANGELOG.md";
const LEFT_OUT: [&str; 1] = ["cli.md"];
const PARTS_LEFT_OUT: [&str; 1] = ["Inside"];
/// Lines around programs in other languages (`tests/translations.py`).
const TRANSLATIONS: &str = "<!-- languages -->\n";
const END_OF_TRANSLATIONS: &str = "<!-- end of languages -->\n";
const INSTEAD: &str = "In another language: `plumb convert --language python --out ../in-python`, or `typescript`, `go`, `java`, `csharp`, `rust`.\n";

/// The pages below the folder `docs`.
pub(super) fn pages(docs: &Path) -> io::Result<String> {
    println!("cargo:rerun-if-changed=build/book.rs");
    let summary = read(&docs.join(SUMMARY))?;
    let (mut index, mut texts) = (String::new(), String::new());
    let mut part = "";
    for line in summary.lines() {
        if let Some(title) = line.strip_prefix("# ") {
            // The page before all parts stands below the heading of the table of contents.
            part = if title == "Summary" { "" } else { title };
        }
        let Some((title, path)) = link(line) else {
            continue;
        };
        if LEFT_OUT.contains(&path) || PARTS_LEFT_OUT.contains(&part) {
            continue;
        }
        let text = without_translations(&read(&docs.join(path))?);
        let _ = writeln!(index, "{part}\t{title}\t{path}\t{}", text.len());
        texts.push_str(&text);
    }
    let changelog = read(&docs.join("..").join(CHANGELOG))?;
    let _ = writeln!(
        index,
        "Reference\tChangelog\t../{CHANGELOG}\t{}",
        changelog.len()
    );
    texts.push_str(&changelog);
    Ok(format!("{index}\n{texts}"))
}

/// The text without the programs in other languages, which fill several screens.
fn without_translations(text: &str) -> String {
    let mut parts = text.split(TRANSLATIONS);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = part.split_once(END_OF_TRANSLATIONS);
        out.extend([INSTEAD, rest.map_or("", |(_, rest)| rest)]);
    }
    out
}

/// Title and path of the link in a line of the summary.
fn link(line: &str) -> Option<(&str, &str)> {
    let (title, rest) = line.split_once('[')?.1.split_once("](")?;
    Some((title, rest.split_once(')')?.0))
}

fn read(path: &Path) -> io::Result<String> {
    println!("cargo:rerun-if-changed={}", path.display());
    fs::read_to_string(path)
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
}
