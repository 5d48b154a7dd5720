//! Documentation of packages (`codegen.md` 9).
//!
//! 1. Each language provides its names and signatures ([`plumb_codegen::vocabulary`]), from the models that its SDK generator uses.
//! 2. `guide` assigns an address to each page and resolves references in descriptions.
//! 3. `lower` builds one `Page` at a time, in which everything but the layout is decided. `description`
//!    parses descriptions, so that examples appear in the language that the reader has chosen.
//! 4. `markdown`, `json` and `site` print pages.
//!
//! **Every internal link has a target**, even with hostile names; **a description cannot inject markup** of its own. This crate does not
//! write to disk.
//!
//! Start with [`generate_docs`].

mod address;
mod description;
mod guide;
mod json;
mod language;
mod links;
mod lower;
mod markdown;
mod markdown_text;
mod model;
mod properties;
mod site;
mod users;
mod yaml;

pub use links::DocsFormat;

use plumb_codegen::{FilePath, GenerateError, Sink, parallel};
use plumb_schema::bound::Package;

use address::PageAt;
use guide::Guide;

/// A language without documentation, and why.
#[derive(Debug)]
pub struct MissingLanguage {
    /// Display name.
    pub language: &'static str,
    /// Why no SDK can be generated for it.
    pub reason: GenerateError,
}

/// Writes the documentation of a package to `sink`. Returns the languages that are omitted because no SDK of the package
/// can be generated for them.
pub fn generate_docs(
    package: &Package<'_>,
    format: DocsFormat,
    sink: &mut dyn Sink,
) -> Result<Vec<MissingLanguage>, GenerateError> {
    let (guide, missing) = Guide::new(package);
    let pages = guide.addresses.pages(package);
    let make = |at: &PageAt| -> Result<Vec<(FilePath, String)>, GenerateError> {
        let page = guide.page(*at);
        let text = match format {
            DocsFormat::Markdown => markdown::print(&page, &guide),
            DocsFormat::Json => json::print(&page, &guide),
            DocsFormat::Site => site::print(&page, &guide),
        };
        let path = FilePath::new(&links::file_of(&guide, format, *at))?;
        Ok(vec![(path, text)])
    };
    parallel::write(&pages, make, sink)?;
    match format {
        DocsFormat::Site => {
            for (path, text) in site::assets(&guide)? {
                sink.file(path, text)?;
            }
        }
        DocsFormat::Markdown | DocsFormat::Json => {
            sink.file(FilePath::new("tree.json")?, json::tree(&guide, format))?;
        }
    }
    let missing = missing
        .into_iter()
        .map(|(language, reason)| MissingLanguage {
            language: language.title(),
            reason,
        });
    Ok(missing.collect())
}
