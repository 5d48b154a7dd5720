//! `stack import`.

use std::io::Read;

use clap::Args;
use plumb_operate::context::{Stack, StackState};
use plumb_operate::{Context, Error, go};
use plumb_state::SecretsProvider;
use plumb_state::edit::{drop_pending_operations, import_problems};
use plumb_state::file::{ParseError, ResourceError, parse_deployment};

use super::{TargetArgs, stack_of};

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
    let deployment = parse_deployment(&bytes).map_err(|error| refusal(error, &bytes, &stack))?;
    let problems: Vec<String> = import_problems(deployment.opaque(), stack.name())
        .iter()
        .map(ToString::to_string)
        .collect();
    if args.force {
        for problem in &problems {
            ctx.printer.warning(problem);
        }
    } else if !problems.is_empty() {
        return Err(dangerous(problems));
    }
    if let Some(provider) = &deployment.opaque().secrets_provider {
        check_provider(provider, ctx)?;
    }
    let mut snapshot = ctx.encrypted_state(StackState::File(Box::new(deployment)))?;
    for pending in drop_pending_operations(&mut snapshot) {
        ctx.printer.warning(&format!(
            "removing pending operation '{}' on '{}' from snapshot",
            pending.operation.as_str(),
            pending.resource.urn
        ));
    }
    let update = ctx.take_stack(&stack)?;
    update.replace(&snapshot)?;
    ctx.printer.line("Import complete.");
    Ok(())
}

fn read(file: Option<&str>, ctx: &Context) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    match file {
        Some(file) => {
            let mut file =
                std::fs::File::open(ctx.environment.cwd.join(file)).map_err(|error| {
                    Error::user(format!("could not open file: {}", go::open(file, &error)))
                })?;
            file.read_to_end(&mut bytes)?;
        }
        None => {
            std::io::stdin().lock().read_to_end(&mut bytes)?;
        }
    }
    Ok(bytes)
}

fn refusal(error: ParseError, bytes: &[u8], stack: &Stack) -> Error {
    let shown = stack.name();
    match error {
        ParseError::TooNew { .. } => Error::user(format!(
            "the stack '{shown}' is newer than what this version of the Pulumi CLI understands. Please update your \
             version of the Pulumi CLI"
        )),
        ParseError::UnknownFeatures { features } => Error::user(format!(
            "the stack '{shown}' uses features that are not supported by this version of the Pulumi CLI: {}. Please \
             update your version of the Pulumi CLI",
            features.join(", ")
        )),
        ParseError::TooOld => Error::user(format!(
            "the stack '{shown}' is too old to be used by this version of the Pulumi CLI"
        )),
        ParseError::Json(error) if error.is_eof() && bytes.trim_ascii().is_empty() => {
            Error::user("EOF")
        }
        ParseError::Json(error) if error.is_eof() => Error::user("unexpected EOF"),
        ParseError::NotJson { .. } => Error::from(error),
        ParseError::Resource(ResourceError::Provider { urn, source }) => dangerous(vec![format!(
            "state file contains errors: failed to parse provider reference for resource {urn}: {source}"
        )]),
        other => undeserialized(other),
    }
}

fn undeserialized(error: impl std::error::Error + 'static) -> Error {
    Error::from(error).context("could not deserialize deployment")
}

/// Error for a state that could cause damage.
fn dangerous(mut problems: Vec<String>) -> Error {
    problems.push(
        "importing this file could be dangerous; rerun with --force to proceed anyway".to_owned(),
    );
    Error::several(problems)
}

/// Rejects secrets that cannot be decrypted with any available secrets provider.
fn check_provider(provider: &SecretsProvider, ctx: &Context) -> Result<(), Error> {
    let kind = &provider.type_name;
    let refused = |why: String| Error::user(format!("could not deserialize deployment: {why}"));
    if !plumb_secrets::is_known(kind) {
        return Err(refused(format!(
            "no known secrets provider for type \"{kind}\""
        )));
    }
    match ctx.open_provider(provider) {
        Ok(_) => Ok(()),
        Err(error) => Err(error.context(format!(
            "could not deserialize deployment: constructing secrets manager of type \"{kind}\""
        ))),
    }
}
