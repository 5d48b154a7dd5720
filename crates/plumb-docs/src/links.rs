//! File paths of addresses, and relative links between them.

use std::fmt::Write as _;

use super::address::{PageAt, relative};
use super::guide::Guide;

/// Output formats of documentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DocsFormat {
    /// A tree of Markdown files.
    Markdown,
    /// A tree of JSON files, for other tools.
    Json,
    /// A static web site, readable without a server.
    Site,
}

impl DocsFormat {
    /// Format with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "markdown" | "md" => DocsFormat::Markdown,
            "json" => DocsFormat::Json,
            "site" | "html" => DocsFormat::Site,
            _ => return None,
        })
    }
}

/// Link builder for one page.
pub(crate) struct Links<'g, 'p, 'd> {
    pub(crate) guide: &'g Guide<'p, 'd>,
    pub(crate) format: DocsFormat,
    /// File of the page.
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

    /// Relative link to another page.
    pub(crate) fn to(&self, page: PageAt) -> String {
        escaped(&relative(
            &self.from,
            &file_of(self.guide, self.format, page),
        ))
    }

    /// Relative link to a file.
    pub(crate) fn to_file(&self, path: &str) -> String {
        relative(&self.from, path)
    }
}

/// File of a page.
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

/// Percent-encoded form of a path's non-ASCII bytes, for use in a link.
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

/// Whether a link in a description has a target. Relative links do not, because they were written
/// for another web site.
pub(crate) fn leads_somewhere(destination: &str) -> bool {
    let lower = destination.trim().to_ascii_lowercase();
    ["https://", "http://", "mailto:"]
        .iter()
        .any(|scheme| lower.starts_with(scheme))
}
