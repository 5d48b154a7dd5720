//! Project in the home folder, which holds resources of `do` outside of a project. Created on first use.

use std::fs;

use plumb_operate::context::{IfMissing, NewStack, Stack};
use plumb_operate::{Context, Error};
use plumb_project::files::{self, Access};

/// Name of the project and of its folder.
const PROJECT: &str = "default-global-project";
/// Name of its stack.
const STACK: &str = "default";

/// Context of the home project; `None` if the working directory has a project.
pub(super) fn context(ctx: &Context) -> Result<Option<Context>, Error> {
    if ctx.find_project()?.is_some() {
        return Ok(None);
    }
    let folder = ctx.environment.pulumi_home.join(PROJECT);
    fs::create_dir_all(&folder).map_err(|error| Error::from(error).context(folder.display()))?;
    let file = folder.join("Pulumi.yaml");
    if !file.exists() {
        files::write_text(&file, &format!("name: {PROJECT}\n"), Access::Shared)?;
    }
    let home = ctx.in_folder(&folder)?;
    if home.environment.non_empty("PULUMI_STACK").is_none() && home.selected_stack()?.is_none() {
        let stack = home.stack_named(STACK)?;
        if !stack.backend.stack_exists(&stack.reference)? {
            home.create_stack(&stack, NewStack::default())?;
        }
        home.select_stack(&stack)?;
    }
    Ok(Some(home))
}

/// The selected stack.
pub(super) fn stack(ctx: &Context) -> Result<Stack, Error> {
    ctx.require_stack(None, IfMissing::Fail)
}
