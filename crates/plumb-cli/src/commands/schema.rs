//! `schema` (`cli.md` 10).

mod editor;

use clap::{Args, Subcommand};
use plumb_operate::packages::SchemaText;
use plumb_operate::{Context, Error, ExitStatus};

/// Analyze package schemas
#[derive(Args, Debug)]
pub struct SchemaArgs {
    /// The verb.
    #[command(subcommand)]
    pub verb: SchemaVerb,
}

/// What to do with schemas.
#[derive(Subcommand, Debug)]
#[expect(missing_docs, reason = "the arguments of each say what it is for")]
pub enum SchemaVerb {
    Check(CheckArgs),
    ExportEditor(editor::ExportEditorArgs),
}

/// Check a Pulumi package schema for errors
///
/// All that is wrong is told at once, each with its place. The schema is a file, `-` for JSON on standard input, the name of
/// a plugin, or the path of one.
#[derive(Args, Debug)]
pub struct CheckArgs {
    /// Whether references to nonexistent types should be considered errors
    #[arg(long)]
    pub allow_dangling_references: bool,
    /// A URL to download plugins from
    #[arg(long)]
    pub server: Option<String>,
    /// The schema
    pub source: String,
    /// Parameters that make another package of it
    pub parameters: Vec<String>,
}

/// Runs a verb of `schema`.
pub fn run(args: SchemaArgs, ctx: &Context) -> Result<ExitStatus, Error> {
    match args.verb {
        SchemaVerb::Check(args) => check(&args, ctx),
        SchemaVerb::ExportEditor(args) => editor::run(&args, ctx),
    }
}

fn check(args: &CheckArgs, ctx: &Context) -> Result<ExitStatus, Error> {
    let schema = if args.source == "-" {
        SchemaText::from_stdin()?
    } else {
        SchemaText::load_from(&args.source, &args.parameters, args.server.as_deref(), ctx)?
    };
    let document = schema.document()?;
    if schema
        .bind(&document, args.allow_dangling_references, ctx)?
        .is_usable()
    {
        return Ok(ExitStatus::Success);
    }
    Err(Error::user("schema validation failed"))
}
