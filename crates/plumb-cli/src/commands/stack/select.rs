//! `stack select`.

use clap::Args;
use plumb_operate::context::{IfMissing, NewStack};
use plumb_operate::identity::Code;
use plumb_operate::{Context, Error, ExitStatus};

use super::TargetArgs;
use crate::commands::one_name;

/// Switch the current workspace to the given stack
///
/// Other commands work on the selected stack unless they are told otherwise. Without a name, the stack is asked for.
#[derive(Args, Debug)]
pub struct SelectArgs {
    /// If selected stack does not exist, create it
    #[arg(short, long)]
    pub create: bool,
    /// Use with --create flag, the type of the provider that should be used to encrypt and decrypt secrets
    #[arg(long)]
    pub secrets_provider: Option<String>,
    /// The name of the stack
    pub name: Option<String>,
}

pub(super) fn run(args: SelectArgs, target: &TargetArgs, ctx: &Context) -> Result<(), Error> {
    let Some(name) = one_name(target.stack.clone(), args.name)? else {
        if !ctx.is_interactive() {
            return Err(Error::with_status(
                ExitStatus::StackNotFound,
                "no stack selected; specify a stack name with --stack",
            )
            .known(Code::NoStackSelected));
        }
        // Clear the selection, so that the prompt does not offer it as the answer.
        ctx.unselect_stack()?;
        let stack = ctx.require_stack(None, IfMissing::Offer)?;
        return ctx.select_stack(&stack);
    };
    let missing = if args.create {
        IfMissing::Create
    } else {
        IfMissing::Fail
    };
    let new = NewStack {
        secrets_provider: args.secrets_provider.as_deref(),
        config_file: None,
    };
    let stack = ctx.require_stack_with(Some(&name), missing, new)?;
    ctx.select_stack(&stack)
}
