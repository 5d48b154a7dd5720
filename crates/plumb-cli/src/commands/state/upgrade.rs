//! `state upgrade` (`state.md` 3.3).

use clap::Args;
use plumb_backend::{BackendError, LeftBehind, StoreOptions};
use plumb_operate::identity::Code;
use plumb_operate::{Context, Error, ExitStatus, prompt};
use plumb_project::{ProjectName, StackReference};
use plumb_state::edit::{StackIdentity, rename_stack};

/// Migrate the current backend to the latest supported version
///
/// Stacks of the legacy layout are moved below their projects. This has no effect on stores that have the present layout.
#[derive(Args, Debug)]
pub struct UpgradeArgs {
    /// Skip confirmation prompts
    #[arg(short, long)]
    pub yes: bool,
}

pub(super) fn run(args: UpgradeArgs, ctx: &Context) -> Result<(), Error> {
    let login = ctx.login()?;
    let adjust = |options: &StoreOptions| StoreOptions {
        ignore_deprecation_error: true,
        no_legacy_warning: true,
        ..options.clone()
    };
    let mut backend = ctx.open_file_backend(login.url(), &ctx.environment.cwd, adjust)?;
    if !args.yes {
        if !ctx.is_interactive() {
            return Err(
                Error::user("non-interactive mode requires --yes flag").known(Code::NotConfirmed)
            );
        }
        ctx.printer.line("This will upgrade the current backend to the latest supported version. Older versions of the CLI cannot read it then.");
        if !prompt::confirm("Do you want to proceed?")? {
            return Err(Error::shown(ExitStatus::Failure));
        }
    }
    let mut all = 0;
    let left = backend.upgrade(
        &mut |stack, guess| {
            let project = choose_project(stack, guess, ctx);
            all += usize::from(project.is_some());
            project
        },
        &mut |to, mut snapshot| {
            let identity = StackIdentity {
                stack: to.stack.as_str().into(),
                project: to.project.as_ref().map(|project| project.as_str().into()),
            };
            rename_stack(&mut snapshot, &identity);
            Ok(snapshot)
        },
    );
    match left {
        Ok(left) => {
            let failed = left.iter().filter(|it| it.error.is_some()).count();
            for LeftBehind { stack, error } in left {
                let why = error.map_or_else(
                    || "its project is not known".to_owned(),
                    |error| plumb_operate::error::chain(&error),
                );
                ctx.printer
                    .warning(&format!("skipping stack \"{}\": {why}", stack.stack));
            }
            ctx.printer.info(&format!(
                "Upgraded {} stack(s) to project mode",
                all - failed
            ));
            Ok(())
        }
        Err(BackendError::NotLegacy) => {
            ctx.printer.info("Upgraded 0 stack(s) to project mode");
            Ok(())
        }
        Err(error) => Err(error.into()),
    }
}

fn choose_project(
    stack: &StackReference,
    guess: Option<&str>,
    ctx: &Context,
) -> Option<ProjectName> {
    if let Some(guess) = guess {
        return ProjectName::parse(guess).ok();
    }
    if !ctx.is_interactive() {
        return None;
    }
    let answer = prompt::text(&format!("Project of stack {}:", stack.stack), None).ok()?;
    ProjectName::parse(&answer).ok()
}
