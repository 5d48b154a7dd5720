//! `preview --html`: the file of the page, which `plumb-display` makes.

use std::io::Write as _;
use std::path::Path;

use plumb_project::files;

use super::request::OperationRequest;
use super::screen::Form;
use super::session::RunResult;
use crate::{Context, Error, go};

/// Writes the page of a preview, if one is wanted. After a failure, it shows how far the preview went and why it failed.
pub(super) fn write(
    ctx: &Context,
    request: &OperationRequest,
    ran: &RunResult,
    form: Form,
) -> Result<(), Error> {
    let (Some(file), Some(page)) = (&request.html, &ran.seen.page) else {
        return Ok(());
    };
    let update = request.update.as_ref();
    let has_secrets = update.is_some_and(|update| update.show_secrets);
    save(&ctx.environment.cwd.join(file), page, has_secrets)
        .map_err(|error| Error::user(go::open(file, &error)))?;
    if form == Form::Human {
        ctx.printer.info(&format!("Wrote the preview to `{file}`"));
    }
    Ok(())
}

/// Writes the file; a page with secrets is readable by its owner alone.
fn save(path: &Path, page: &str, has_secrets: bool) -> std::io::Result<()> {
    if has_secrets {
        files::create_private(path)?.write_all(page.as_bytes())
    } else {
        std::fs::write(path, page)
    }
}
