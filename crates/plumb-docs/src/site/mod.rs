//! Static web site: pages, a style sheet and a script, all of which work from a local folder without a server.
//!
//! Pages are complete without the script. The script shows one language at a time, remembers the choice, and adds the
//! search.

mod html;
mod page;
mod prose;
mod sections;

pub(crate) use page::print;

use plumb_codegen::{FilePath, GenerateError};

use super::address::PageAt;
use super::guide::Guide;
use super::links::{DocsFormat, file_of};

/// Files shared by all pages.
const STYLE: &str = "assets/style.css";
const SCRIPT: &str = "assets/docs.js";
const SEARCH: &str = "assets/search.js";

/// Content security policy: no external content, and no script but ours. Names the scheme `file:`, because local files
/// have no origin.
const POLICY: &str = "default-src 'none'; style-src 'self' file:; script-src 'self' file:; img-src 'self' file:; base-uri 'none'; form-action 'none'";

/// Files of the site besides its pages.
pub(crate) fn assets(guide: &Guide<'_, '_>) -> Result<Vec<(FilePath, String)>, GenerateError> {
    Ok(vec![
        (FilePath::new(STYLE)?, include_str!("style.css").to_owned()),
        (FilePath::new(SCRIPT)?, include_str!("docs.js").to_owned()),
        (FilePath::new(SEARCH)?, search(guide)),
    ])
}

/// Search index: name, kind, module and file of each page.
fn search(guide: &Guide<'_, '_>) -> String {
    let mut text = String::from("window.plumbDocs=[\n");
    for at in guide.addresses.pages(guide.package) {
        let kind = match at {
            PageAt::Package => continue,
            PageAt::Module(_) => "module",
            PageAt::Resource(_) => "resource",
            PageAt::Function(_) => "function",
            PageAt::Type(position) if guide.is_enum(position) => "enum",
            PageAt::Type(_) => "type",
        };
        let module = match at {
            PageAt::Module(_) => "",
            _ => &guide.addresses.modules[guide.addresses.owner(at)].name,
        };
        let entry = serde_json::json!([
            guide.title(at),
            kind,
            module,
            file_of(guide, DocsFormat::Site, at)
        ]);
        text.push_str(&entry.to_string());
        text.push_str(",\n");
    }
    text.push_str("];\n");
    text
}
