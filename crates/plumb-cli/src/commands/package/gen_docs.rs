//! `gen-docs` and `package gen-docs`.

use std::fs;
use std::io;
use std::path::Path;

use clap::Args;
use plumb_docs::DocsFormat;
use plumb_operate::packages::SchemaText;
use plumb_operate::{Context, Error};

use super::gen_sdk::{Folder, replace_version};

/// Generate documentation of a package or schema
///
/// Each resource, function and nested type gets a page that tells its names, types and examples in all languages. `site` is a
/// small web site that needs no server: open its `index.html`. `markdown` and `json` are trees of files, with a `tree.json`
/// for navigation. The package is a schema file, the name of a plugin, with a version (`NAME@VERSION`) or without, or the
/// path of a plugin's program or folder. A folder that this command has written before is emptied first; one with anything
/// else in it is left alone.
#[derive(Args, Debug)]
pub struct GenDocsArgs {
    /// The form of the documentation: [site|markdown|json]
    #[arg(long, default_value = "site")]
    pub format: String,
    /// The directory to write the documentation to
    #[arg(short, long, default_value = "./package-docs")]
    pub out: String,
    /// The version of the package to name in the documentation
    #[arg(long)]
    pub version: Option<String>,
    /// A URL to download plugins from
    #[arg(long)]
    pub server: Option<String>,
    /// The package
    pub source: String,
    /// Parameters that make another package of it
    pub parameters: Vec<String>,
}

/// File that marks folders written by this command.
const MARK: &str = ".plumb-docs";

pub(crate) fn run(args: GenDocsArgs, ctx: &Context) -> Result<(), Error> {
    let format = DocsFormat::from_name(&args.format).ok_or_else(|| {
        Error::user(format!(
            "unknown format {:?}; there are site, markdown and json",
            args.format
        ))
    })?;
    let schema =
        SchemaText::load_from(&args.source, &args.parameters, args.server.as_deref(), ctx)?;
    let document = schema.document()?;
    let mut bound = schema.bind(&document, true, ctx)?;
    if !bound.is_usable() {
        return Err(Error::user("the schema is not valid"));
    }
    if let Some(version) = &args.version {
        replace_version(&mut bound.package, version, ctx)?;
    }
    let out = ctx.environment.cwd.join(&args.out);
    check_folder(&out)?;
    let mut folder = Folder::empty(out.clone())?;
    fs::write(out.join(MARK), "")?;
    let missing = plumb_docs::generate_docs(&bound.package, format, &mut folder)?;
    for language in missing {
        ctx.printer.info(&format!(
            "The documentation says nothing of {}, which can have no SDK of this package: {}",
            language.language, language.reason
        ));
    }
    ctx.printer.info(&format!(
        "Documentation has been written to {}",
        out.display()
    ));
    if format == DocsFormat::Site {
        let index = out.join("index.html");
        ctx.printer
            .info(&format!("Open {} in a browser", index.display()));
    }
    Ok(())
}

/// Checks that the folder is empty or was written by this command, because its contents are deleted.
fn check_folder(out: &Path) -> Result<(), Error> {
    let mut entries = match fs::read_dir(out) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => {
            return Err(Error::from(error).context(format!("could not read {}", out.display())));
        }
    };
    if out.join(MARK).exists() || entries.next().is_none() {
        return Ok(());
    }
    let what = format!(
        "{} is not empty, and no documentation of a package",
        out.display()
    );
    Err(Error::user(what).hint("choose another folder with `--out`, or empty it"))
}
