//! `gen-completion`.

use clap::Args;
use clap_complete::Shell;

use crate::{Context, Error, ExitStatus, args};

/// Generate completion scripts
///
/// The script for the given shell (bash, zsh, fish) is printed on standard out.
#[derive(Args, Debug)]
pub struct CompletionArgs {
    /// The shell
    #[arg(required = true)]
    pub shell: String,
}

/// Runs `gen-completion`.
pub fn run(args: CompletionArgs, ctx: &Context) -> Result<ExitStatus, Error> {
    let shell = match args.shell.as_str() {
        "bash" => Shell::Bash,
        "zsh" => Shell::Zsh,
        "fish" => Shell::Fish,
        other => return Err(Error::user(format!("\"{other}\" is not a supported shell"))),
    };
    let mut script = Vec::new();
    clap_complete::generate(
        shell,
        &mut args::command_tree(),
        ctx.environment.program.as_str(),
        &mut script,
    );
    ctx.printer.data(&String::from_utf8_lossy(&script));
    Ok(ExitStatus::Success)
}
