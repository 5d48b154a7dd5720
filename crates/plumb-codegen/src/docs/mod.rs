//! Documentation of packages (`codegen.md` 9).
//!
//! 1. Each language tells what it calls things ([`vocabulary`]), by the models that its SDKs are made of.
//! 2. [`guide`] gives each page an address, and knows what references in descriptions point to.
//! 3. [`lower`] makes a [`model::Page`] at a time, in which everything is decided; descriptions are taken apart
//!    ([`description`]), so that examples can be told in the language that a reader has chosen.
//! 4. [`markdown`], [`json`] and [`site`] lay pages out.
//!
//! Every link leads to a page that there is, however hostile names are; a description never becomes markup of its own.

mod address;
mod description;
mod guide;
mod json;
pub(crate) mod language;
mod links;
mod lower;
mod markdown;
mod markdown_text;
mod model;
mod properties;
mod site;
mod users;
pub(crate) mod vocabulary;
mod yaml;

pub use links::DocsFormat;

use plumb_schema::bound::Package;

use crate::{FilePath, GenerateError, Sink, parallel};
use address::PageAt;
use guide::Guide;

/// A language that documentation says nothing about, and why.
#[derive(Debug)]
pub struct MissingLanguage {
    /// Its name for people.
    pub language: &'static str,
    /// Why there is no SDK for it.
    pub reason: GenerateError,
}

/// Makes the documentation of a package, and hands its files to `sink`. Answers which languages are left out because they
/// can have no SDK of the package.
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
