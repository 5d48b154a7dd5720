//! The last preview or update of each stack: what it did to every resource, and why. Recorded in one file per stack below
//! the home folder, which `why` reads. The file contains no secrets.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use plumb_display::RunExplanation;
use plumb_project::files::{self, Access};
use serde::{Deserialize, Serialize};

use crate::context::Stack;
use crate::{Context, Error};

/// A recorded run.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordedRun {
    /// End of the run.
    pub time: Timestamp,
    /// Changes to the resources, with their reasons.
    #[serde(flatten)]
    pub run: RunExplanation,
}

/// Path of the file for the last run of a stack.
pub fn path(ctx: &Context, stack: &Stack) -> PathBuf {
    let readable = |text: &str| -> String {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        text.chars()
            .map(|c| if is_plain(c) { c } else { '_' })
            .collect()
    };
    let folder = ctx.environment.pulumi_home.join("plumb").join("runs");
    let (place, name) = (
        readable(&stack.backend.shown_url()),
        readable(&stack.reference.qualified()),
    );
    folder.join(place).join(format!("{name}.json"))
}

/// Writes a run. Errors are ignored, because they must not fail the operation.
pub(super) fn write(path: &Path, run: &RunExplanation) {
    let recorded = RecordedRun {
        time: Timestamp::now(),
        run: run.clone(),
    };
    let written = serde_json::to_string(&recorded)
        .map_err(Error::from)
        .and_then(|text| {
            if let Some(folder) = path.parent() {
                files::create_private_folder(folder)?;
            }
            Ok(files::write_text(path, &text, Access::Private)?)
        });
    if let Err(error) = written {
        let error = error.text().unwrap_or_default();
        tracing::warn!(path = %path.display(), error, "the run is not written down for `why`");
    }
}

/// Last run of a stack; `None` if there is no record.
pub fn last(ctx: &Context, stack: &Stack) -> Result<Option<RecordedRun>, Error> {
    let path = path(ctx, stack);
    let Some(text) = files::read_text(&path)? else {
        return Ok(None);
    };
    let run =
        serde_json::from_str(&text).map_err(|error| Error::from(error).context(path.display()))?;
    Ok(Some(run))
}
