//! How addresses become files, and ways between them.

use std::fmt::Write as _;

use super::address::{PageAt, relative};
use super::guide::Guide;

/// Forms of documentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DocsFormat {
    /// A tree of Markdown files.
    Markdown,
    /// A tree of JSON files, for other tools.
    Json,
    /// A web site that needs no server.
    Site,
}

impl DocsFormat {
    /// The format of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "markdown" | "md" => DocsFormat::Markdown,
            "json" => DocsFormat::Json,
            "site" | "html" => DocsFormat::Site,
            _ => return None,
        })
    }
}

/// The links of one page.
pub(crate) struct Links<'g, 'p, 'd> {
    pub(crate) guide: &'g Guide<'p, 'd>,
    pub(crate) format: DocsFormat,
    /// The file of the page.
    pub(crate) from: String,
}

impl<'g, 'p, 'd> Links<'g, 'p, 'd> {
    pub(crate) fn of(guide: &'g Guide<'p, 'd>, format: DocsFormat, page: PageAt) -> Self {
        Links {
            from: file_of(guide, format, page),
            guide,
            format,
        }
    }

    /// The way to another page.
    pub(crate) fn to(&self, page: PageAt) -> String {
        escaped(&relative(
            &self.from,
            &file_of(self.guide, self.format, page),
        ))
    }

    /// The way to a file.
    pub(crate) fn to_file(&self, path: &str) -> String {
        relative(&self.from, path)
    }
}

/// The file of a page.
pub(crate) fn file_of(guide: &Guide<'_, '_>, format: DocsFormat, page: PageAt) -> String {
    let address = guide.addresses.address(page);
    let is_index = matches!(page, PageAt::Package | PageAt::Module(_));
    let below = |name: &str| match address {
        "" => name.to_owned(),
        address => format!("{address}/{name}"),
    };
    match format {
        DocsFormat::Markdown => below("_index.md"),
        DocsFormat::Json => below("_index.json"),
        DocsFormat::Site if is_index => below("index.html"),
        DocsFormat::Site => format!("{address}.html"),
    }
}

/// A path as it stands in a link: what is not of plain letters is escaped byte by byte.
fn escaped(path: &str) -> String {
    if path.is_ascii() {
        return path.to_owned();
    }
    let mut result = String::with_capacity(path.len() + 8);
    for byte in path.bytes() {
        if byte.is_ascii() {
            result.push(char::from(byte));
        } else {
            let _ = write!(result, "%{byte:02X}");
        }
    }
    result
}

/// Whether a link in a description leads somewhere. Relative ones were made for other web sites.
pub(crate) fn leads_somewhere(destination: &str) -> bool {
    let lower = destination.trim().to_ascii_lowercase();
    ["https://", "http://", "mailto:"]
        .iter()
        .any(|scheme| lower.starts_with(scheme))
}
