//! `package get-schema`.

use clap::Args;
use plumb_operate::packages::SchemaText;
use plumb_operate::{Context, Error};
use plumb_schema::Escapes;

/// Get the schema.json from a package
///
/// The package is a schema file, the name of a plugin, with a version (`NAME@VERSION`) or without, or the path of a
/// plugin's program or folder.
#[derive(Args, Debug)]
pub struct GetSchemaArgs {
    /// A URL to download plugins from
    #[arg(long)]
    pub server: Option<String>,
    /// The package
    pub source: String,
    /// Parameters that make another package of it
    pub parameters: Vec<String>,
}

pub(super) fn run(args: GetSchemaArgs, ctx: &Context) -> Result<(), Error> {
    let schema =
        SchemaText::load_from(&args.source, &args.parameters, args.server.as_deref(), ctx)?;
    let document = schema.document()?;
    ctx.printer.data(&document.to_json(Escapes::Html));
    if schema.bind(&document, true, ctx)?.is_usable() {
        Ok(())
    } else {
        Err(Error::user("the schema is not valid"))
    }
}
