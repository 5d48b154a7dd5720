//! Pages of the book, for `plumb help TOPIC`.
//!
//! `build/book.rs` packs them into the binary. The name of a page is that of its file; an overview (`README.md`) has the name of its
//! folder. Where two pages have the same file name, the later one is named after its title.

use std::io::Read as _;
use std::path::{Component, Path, PathBuf};

use flate2::read::GzDecoder;
use pulldown_cmark::{Event, Parser, Tag, TagEnd};

/// The pages, packed by the build script.
const PACKED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/book.gz"));

/// A page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// The name that readers type.
    pub name: String,
    /// Part of the book; empty for the page before all parts.
    pub part: String,
    /// Title in the table of contents.
    pub title: String,
    /// Path below `docs`.
    pub path: String,
    /// Text in Markdown.
    pub text: String,
}

/// All pages in the order of the book.
#[derive(Clone, Debug)]
pub struct Book {
    pages: Vec<Page>,
}

/// Maximum number of typing errors in a name that is still similar.
const FAR: usize = 2;
/// Maximum number of similar names.
const MOST: usize = 4;

impl Book {
    /// Unpacks the pages.
    pub fn open() -> Self {
        let mut all = String::new();
        GzDecoder::new(PACKED)
            .read_to_string(&mut all)
            .expect("the build script packed the pages");
        Book { pages: pages(&all) }
    }

    /// Text of the changelog.
    pub fn changelog(&self) -> &str {
        self.find("changelog").map_or("", |page| &page.text)
    }

    /// All pages.
    pub fn pages(&self) -> &[Page] {
        &self.pages
    }

    /// The page by this name or title, in any case, with spaces or dashes.
    pub fn find(&self, name: &str) -> Option<&Page> {
        let name = slug(name);
        let named = self.pages.iter().find(|page| page.name == name);
        named.or_else(|| self.pages.iter().find(|page| slug(&page.title) == name))
    }

    /// Names of the pages that a reader may have meant, the nearest first.
    pub fn near(&self, name: &str) -> Vec<&str> {
        let name = slug(name);
        let mut near: Vec<(usize, &str)> = self
            .pages
            .iter()
            .filter_map(|page| Some((distance(page, &name)?, page.name.as_str())))
            .collect();
        near.sort_unstable();
        near.into_iter().take(MOST).map(|(_, name)| name).collect()
    }

    /// The page at a relative address in the links of `from`.
    pub fn linked(&self, from: &Page, address: &str) -> Option<&Page> {
        let path = path_of(from, address);
        self.pages.iter().find(|page| page.path == path)
    }
}

/// Path below `docs` of a relative address in the links of a page.
pub fn path_of(from: &Page, address: &str) -> String {
    let address = address.split('#').next().unwrap_or_default();
    let folder = Path::new(&from.path).parent().unwrap_or(Path::new(""));
    let mut path = PathBuf::new();
    for part in folder.join(address).components() {
        match part {
            Component::ParentDir => {
                path.pop();
            }
            Component::CurDir => {}
            part => path.push(part),
        }
    }
    path.to_string_lossy().replace('\\', "/")
}

impl Page {
    /// First sentence of the page, without markup.
    pub fn summary(&self) -> String {
        let mut text = String::new();
        let mut is_inside = false;
        for event in Parser::new(&self.text) {
            match event {
                Event::Start(Tag::Paragraph) => is_inside = true,
                // A paragraph that is only an image has no text.
                Event::End(TagEnd::Paragraph) if !text.trim().is_empty() => break,
                Event::Start(Tag::Image { .. }) => is_inside = false,
                Event::Text(part) if is_inside => text.push_str(&part),
                Event::Code(part) if is_inside => text.extend(["`", &part, "`"]),
                Event::SoftBreak | Event::HardBreak => text.push(' '),
                _ => {}
            }
        }
        let end = text.find(". ").map_or(text.len(), |at| at + 1);
        text[..end].trim().trim_end_matches(':').to_owned()
    }
}

fn pages(packed: &str) -> Vec<Page> {
    let (index, mut texts) = packed.split_once("\n\n").unwrap_or((packed, ""));
    let mut pages: Vec<Page> = Vec::new();
    for line in index.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let [part, title, path, length] = fields[..] else {
            continue;
        };
        let length = length.parse().unwrap_or_default();
        let (text, rest) = texts.split_at(length);
        texts = rest;
        let mut name = name_of(path);
        if pages.iter().any(|page| page.name == name) {
            name = slug(title);
        }
        pages.push(Page {
            name,
            part: part.to_owned(),
            title: title.to_owned(),
            path: path.to_owned(),
            text: text.to_owned(),
        });
    }
    pages
}

fn name_of(path: &str) -> String {
    let path = Path::new(path.strip_suffix("/README.md").unwrap_or(path));
    slug(&path.file_stem().unwrap_or_default().to_string_lossy())
}

/// The text in the form of names: lower case, words joined by dashes.
fn slug(text: &str) -> String {
    let words = text.split(|letter: char| !letter.is_alphanumeric());
    let words: Vec<String> = words
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    words.join("-")
}

/// Distance of a name from a page, if the page is similar: by its name rather than by its title.
fn distance(page: &Page, name: &str) -> Option<usize> {
    let of_name = similarity(&page.name, name).map(|far| 2 * far);
    let of_title = similarity(&slug(&page.title), name).map(|far| 2 * far + 1);
    of_name.into_iter().chain(of_title).min()
}

/// Distance of a name from words joined by dashes: equal words are nearest; beginnings of words count as one error.
fn similarity(words: &str, name: &str) -> Option<usize> {
    let each = || words.split('-').chain([words]);
    if name.len() < 2 {
        return None;
    }
    let errors = each().map(|word| strsim::damerau_levenshtein(word, name));
    // In short names, two errors make another word.
    let errors = errors
        .min()
        .filter(|errors| *errors <= FAR.min(name.len() / 3));
    let is_beginning = name.len() > 2 && each().any(|word| word.starts_with(name));
    errors.into_iter().chain(is_beginning.then_some(1)).min()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn pages_are_complete_and_have_names_of_their_own() {
        let book = Book::open();
        let names: BTreeSet<&str> = book.pages().iter().map(|page| page.name.as_str()).collect();
        assert_eq!(names.len(), book.pages().len());
        for page in book.pages() {
            assert!(page.text.starts_with("# "), "{}", page.path);
            assert!(page.summary().len() > 20, "{}", page.path);
        }
        assert!(names.contains("json") && !names.contains("readme"));
        assert!(!names.contains("cli") && !names.contains("engine"));
    }

    #[test]
    fn a_page_is_found_by_its_name_and_its_title() {
        let book = Book::open();
        let path = |name: &str| book.find(name).map(|page| page.path.as_str());
        assert_eq!(path("secrets"), Some("concepts/secrets.md"));
        assert_eq!(path("secrets-providers"), Some("secrets.md"));
        assert_eq!(path("Secrets providers"), Some("secrets.md"));
        assert_eq!(
            path("A first stack in a minute"),
            Some("start/first-stack.md")
        );
        assert_eq!(path("nothing"), None);
    }

    #[test]
    fn similar_names_are_found() {
        let book = Book::open();
        assert_eq!(book.near("secerts")[0], "secrets");
        assert_eq!(book.near("drift"), ["refresh-and-drift"]);
        assert_eq!(book.near("replac")[0], "replacement");
        assert!(book.near("xylophone").is_empty());
    }

    #[test]
    fn links_lead_to_pages() {
        let book = Book::open();
        let state = book.find("state").unwrap();
        let linked = |address| book.linked(state, address).map(|page| page.name.as_str());
        assert_eq!(linked("../backends.md#servers"), Some("backends"));
        assert_eq!(linked("aliases.md"), Some("aliases"));
        assert_eq!(linked("../inside/journal.md"), None);
        assert_eq!(path_of(state, "../inside/journal.md"), "inside/journal.md");
    }
}
