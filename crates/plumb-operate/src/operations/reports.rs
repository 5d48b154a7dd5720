//! `--html` and `--markdown`: files with a report of an operation, which `plumb-display` makes.

use std::io::Write as _;
use std::path::Path;

use plumb_display::ChangeReport;
use plumb_project::files;

use super::request::{OperationRequest, ReportFiles};
use super::screen::Form;
use crate::{Context, Error, go};

/// Maximum size of a report in Markdown, in bytes. Comments on GitHub have at most 65,536 characters.
const MARKDOWN: usize = 60_000;

impl ReportFiles {
    /// Whether any report is wanted.
    pub(super) fn is_wanted(&self) -> bool {
        self.html.is_some() || self.markdown.is_some()
    }
}

/// Writes the wanted files. After a failure, they show how far the operation went and why it failed.
pub(super) fn write(
    ctx: &Context,
    request: &OperationRequest,
    report: Option<&ChangeReport>,
) -> Result<(), Error> {
    let Some(report) = report else {
        return Ok(());
    };
    let has_secrets = request.display.show_secrets;
    let write = |file: &str, text: &str| -> Result<(), Error> {
        save(&ctx.environment.cwd.join(file), text, has_secrets)
            .map_err(|error| Error::user(go::open(file, &error)))?;
        if request.form == Form::Human && !request.report.is_internal {
            let noun = request.kind.word();
            ctx.printer.info(&format!("Wrote the {noun} to `{file}`"));
        }
        Ok(())
    };
    if let Some(file) = &request.report.html {
        write(file, &report.to_html())?;
    }
    if let Some(file) = &request.report.markdown {
        write(file, &report.to_markdown(MARKDOWN))?;
    }
    Ok(())
}

/// Writes the file; a report with secrets is readable by its owner alone.
fn save(path: &Path, text: &str, has_secrets: bool) -> std::io::Result<()> {
    if has_secrets {
        files::create_private(path)?.write_all(text.as_bytes())
    } else {
        std::fs::write(path, text)
    }
}
