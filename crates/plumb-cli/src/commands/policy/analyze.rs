//! `policy analyze` (`cli.md` 11).

use clap::{ArgGroup, Args};
use plumb_operate::operations::{self, AnalysisRequest, PackFlags};
use plumb_operate::{Context, Error, ExitStatus};

/// Run policy packs over the state of a stack
///
/// The packs look at every resource of the state, and at all of them together, as they would in an update that changes nothing.
/// Changes that they would make are shown and not made. The state is that of a stack, or of a file that `stack export` has written,
/// which needs neither a stack nor a login. Ends with an error if something violates a mandatory policy.
#[derive(Args, Debug)]
#[command(group = ArgGroup::new("analyze-format").args(["json", "diff"]).multiple(false))]
#[command(group = ArgGroup::new("analyze-state").args(["file", "stack"]).multiple(false))]
pub struct AnalyzeArgs {
    /// The name of the stack to operate on. Defaults to the current stack
    #[arg(short, long)]
    pub stack: Option<String>,
    /// A file with the state to look at, as `stack export` writes it
    #[arg(long)]
    pub file: Option<String>,
    /// Display violations as a rich diff
    #[arg(long)]
    pub diff: bool,
    /// Emit output as JSON
    #[arg(short, long)]
    pub json: bool,
    /// Run one or more policy packs
    #[arg(long, action = clap::ArgAction::Append, value_delimiter = ',')]
    pub policy_pack: Vec<String>,
    /// Path to a JSON file with the config of the policy pack of the corresponding --policy-pack flag
    #[arg(long, action = clap::ArgAction::Append, value_delimiter = ',')]
    pub policy_pack_config: Vec<String>,
}

/// Runs `policy analyze`.
pub(super) fn run(args: AnalyzeArgs, ctx: &Context) -> Result<ExitStatus, Error> {
    operations::analyze(
        ctx,
        &AnalysisRequest {
            stack: args.stack,
            file: args.file,
            diff: args.diff,
            json: args.json,
            packs: PackFlags {
                packs: args.policy_pack,
                configs: args.policy_pack_config,
            },
        },
    )
}
