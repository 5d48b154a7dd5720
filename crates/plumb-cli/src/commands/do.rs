//! `do` (`cli.md` 12), which `plumb-do` carries out.

use clap::{ArgAction, Args, Subcommand};
use plumb_do::DoRequest;
use plumb_operate::{Context, Error, ExitStatus};

use crate::args::help_of;

/// Work with single resources and functions, without a program
///
/// The commands come from the schema of a package: `plumb do PACKAGE` lists what it has, and `--help` behind a member shows
/// its inputs. The package is taken from the word, or from --package, which takes a name (with @VERSION or without) or the
/// path of a plugin, and parameters behind it: --package "NAME@VERSION PARAMETER".
///
/// Functions are called by their names and answer JSON. Resources have the operations create, read, patch, upsert, delete
/// and list; the selected stack keeps what they make, and they take its name for it. With --stateless nobody keeps it, and
/// they take the id of the object.
///
/// Inputs come from flags, --PROPERTY VALUE, and from a file, --input-file, in YAML, JSON or PCL (--input). A plus sign
/// behind a flag, --PROPERTY+ VALUE, reads an expression: `fn::secret`, `${name.property}`, lists and maps. The provider is
/// configured by its usual variables, by --provider-file, and by flags, --PACKAGE:PROPERTY.
#[derive(Args, Debug)]
pub struct DoArgs {
    /// Run the operation in preview mode
    #[arg(long)]
    pub dry_run: bool,
    /// Show secret values in output
    #[arg(long)]
    pub show_secrets: bool,
    /// Output format of results: default or json
    #[arg(long, default_value = "default")]
    pub output: String,
    /// Work directly with the provider, without a stack that keeps what is made
    #[arg(long)]
    pub stateless: bool,
    /// The package: a name, perhaps with @version, or the path of a plugin; parameters may follow
    #[arg(long)]
    pub package: Option<String>,
    /// Show help
    #[arg(short = 'h', long = "help", hide = true, action = ArgAction::SetTrue)]
    pub wants_help: bool,
    /// A command that is not about a package.
    #[command(subcommand)]
    pub verb: Option<DoVerb>,
    /// The member, the operation and its inputs
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub arguments: Vec<String>,
}

/// Commands of `do` that are not about a package.
#[derive(Subcommand, Debug)]
#[expect(missing_docs, reason = "the arguments of each say what it is for")]
pub enum DoVerb {
    ShowResources(ShowResourcesArgs),
}

/// Show the identifiers that expressions of `do` can use for the resources of the stack
///
/// Each identifier can be used in expressions of inputs in place of the resource, as in ${name.property}. What
/// --resources-file says goes before the identifiers shown here.
#[derive(Args, Debug)]
pub struct ShowResourcesArgs {
    /// Output format: text or json
    #[arg(short, long, default_value = "text")]
    pub output: String,
}

/// Runs `do`.
pub fn run(args: DoArgs, ctx: &Context) -> Result<ExitStatus, Error> {
    if let Some(DoVerb::ShowResources(args)) = &args.verb {
        return show_resources(args, ctx);
    }
    let request = DoRequest {
        dry_run: args.dry_run,
        show_secrets: args.show_secrets,
        is_json: match args.output.as_str() {
            "" | "default" => false,
            "json" => true,
            other => {
                return Err(Error::user(format!(
                    "unsupported output format {other:?} (supported: default, json)"
                )));
            }
        },
        stateless: args.stateless,
        package: args.package,
        wants_help: args.wants_help,
        arguments: args.arguments,
    };
    let done = plumb_do::run(&request, ctx)?;
    Ok(done.unwrap_or_else(|| {
        ctx.printer.data(&help_of(&["do"], &ctx.environment));
        ExitStatus::Success
    }))
}

/// Runs `do show-resources`.
fn show_resources(args: &ShowResourcesArgs, ctx: &Context) -> Result<ExitStatus, Error> {
    let is_json = match args.output.as_str() {
        "" | "default" | "text" => false,
        "json" => true,
        other => {
            return Err(Error::user(format!(
                "unsupported output format {other:?}; supported values are text and json"
            )));
        }
    };
    plumb_do::names::show(is_json, ctx)
}
