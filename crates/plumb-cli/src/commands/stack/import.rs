//! `stack import`.

use std::io::Read;

use clap::Args;
use plumb_state::edit::{drop_pending_operations, import_problems};
use plumb_state::file::{ParseError, parse_deployment};

use super::{TargetArgs, stack_of};
use crate::commands::config::refresh::secrets_of;
use crate::context::{Stack, StackState};
use crate::{Context, Error};

/// Import a deployment from standard in into an existing stack
///
/// A deployment that was exported from a stack using `stack export` and hand-edited to correct inconsistencies due to failed
/// updates, manual changes to cloud resources, etc. can be reimported to the stack using this command.
#[derive(Args, Debug)]
pub struct ImportArgs {
    /// A filename to read stack input from
    #[arg(long)]
    pub file: Option<String>,
    /// Force the import to occur, even if apparent errors are discovered beforehand (not recommended)
    #[arg(short, long)]
    pub force: bool,
}

pub(super) fn run(args: ImportArgs, target: &TargetArgs, ctx: &Context) -> Result<(), Error> {
    let stack = stack_of(target, ctx)?;
    let bytes = read(args.file.as_deref(), ctx)?;
    let deployment = parse_deployment(&bytes).map_err(|error| refusal(error, &stack))?;
    let mut problems: Vec<String> = import_problems(deployment.opaque(), stack.name())
        .iter()
        .map(ToString::to_string)
        .collect();
    if args.force {
        for problem in &problems {
            ctx.printer.warning(problem);
        }
    } else if !problems.is_empty() {
        problems.push(
            "importing this file could be dangerous; rerun with --force to proceed anyway"
                .to_owned(),
        );
        return Err(Error::several(problems));
    }
    let provider = deployment.opaque().secrets_provider.clone();
    let mut snapshot = ctx.encrypted_state(StackState::File(Box::new(deployment)))?;
    for pending in drop_pending_operations(&mut snapshot) {
        ctx.printer.warning(&format!(
            "removing pending operation '{}' on '{}'",
            pending.operation.as_str(),
            pending.resource.urn
        ));
    }
    let update = ctx.take_stack(&stack)?;
    update.replace(&snapshot)?;
    if let Some(provider) = provider {
        adopt(&provider, &stack, ctx)?;
    }
    ctx.printer.line("Import complete.");
    Ok(())
}

fn read(file: Option<&str>, ctx: &Context) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    match file {
        Some(file) => {
            let path = ctx.environment.cwd.join(file);
            bytes = std::fs::read(&path).map_err(|error| {
                Error::from(error).context(format!("could not open file {}", path.display()))
            })?;
        }
        None => {
            std::io::stdin().lock().read_to_end(&mut bytes)?;
        }
    }
    Ok(bytes)
}

fn refusal(error: ParseError, stack: &Stack) -> Error {
    match error {
        ParseError::TooNew { .. } | ParseError::UnknownFeatures { .. } => Error::user(format!(
            "the stack '{}' is newer than what this version of the Pulumi CLI understands. Please update your version \
             of the Pulumi CLI",
            stack.shown
        )),
        ParseError::TooOld => Error::user(format!("the stack '{}' is too old", stack.shown)),
        // Where the text is not JSON, the parser speaks of itself alone.
        ParseError::Json(_) => Error::from(error).context("could not deserialize deployment"),
        other => Error::from(other),
    }
}

/// Writes the secrets provider of the imported state into the settings, if they have none.
fn adopt(
    provider: &plumb_state::SecretsProvider,
    stack: &Stack,
    ctx: &Context,
) -> Result<(), Error> {
    let mut settings = ctx.stack_settings(stack, None)?;
    if settings.path.is_none() {
        return Ok(());
    }
    let has_ciphertexts = settings
        .file
        .config()
        .iter()
        .any(|(_, value)| value.is_secret());
    let wanted = secrets_of(provider);
    if settings.file.secrets() == wanted || has_ciphertexts {
        return Ok(());
    }
    settings.file.set_secrets(&wanted);
    settings.save(None)
}
