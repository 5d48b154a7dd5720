//! `whoami`.

use clap::{ArgGroup, Args};
use plumb_operate::json::wants_json;
use plumb_operate::json::{Indent, pretty};
use plumb_operate::{Context, Error, ExitStatus};
use serde::Serialize;

/// Display the current logged-in user
#[derive(Args, Debug)]
#[command(group = ArgGroup::new("whoami-format").args(["output", "json"]).multiple(false))]
pub struct WhoamiArgs {
    /// Print detailed whoami information
    #[arg(short, long)]
    pub verbose: bool,
    /// Emit output as JSON
    #[arg(short, long, hide = true)]
    pub json: bool,
    /// Format of the result: default or json
    #[arg(long, default_value = "default")]
    pub output: String,
}

/// JSON output. It has no organizations, because file stores have none.
#[derive(Serialize)]
struct Document {
    user: String,
    url: String,
}

/// Runs `whoami`.
pub fn run(args: WhoamiArgs, ctx: &Context) -> Result<ExitStatus, Error> {
    let user = ctx.environment.user_name();
    let url = ctx.backend()?.shown_url();
    if wants_json(args.json, &args.output)? {
        ctx.printer
            .data(&pretty(&Document { user, url }, Indent::Two));
    } else if args.verbose {
        ctx.printer.line(&format!("User: {user}"));
        ctx.printer.line("Organizations: ");
        ctx.printer.line(&format!("Backend URL: {url}"));
        ctx.printer.line("Token type: personal");
    } else {
        ctx.printer.line(&user);
    }
    Ok(ExitStatus::Success)
}
