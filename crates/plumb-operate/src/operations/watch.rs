//! `watch`: an update after every change to the project's files (`cli.md` 3.5).

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use plumb_display::WatchLines;

use super::course;
use super::request::OperationRequest;
use crate::context::IfMissing;
use crate::signals::StopSignals;
use crate::{Context, Error, ExitStatus};

/// Polling interval of the files.
const INTERVAL: Duration = Duration::from_millis(500);

/// Folders that programs and tools write to.
const SKIPPED: [&str; 11] = [
    ".git",
    ".hg",
    ".pulumi",
    ".venv",
    "__pycache__",
    "bin",
    "node_modules",
    "obj",
    "sdks",
    "target",
    "venv",
];

/// Updates the stack at once, and after every change to `paths` until interrupted. Without paths, the whole project is watched.
pub fn watch(
    ctx: &Context,
    request: &OperationRequest,
    paths: &[String],
) -> Result<ExitStatus, Error> {
    let roots = roots(paths, ctx)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let mut signals = runtime.block_on(async { StopSignals::listen() })?;
    // Without a selected stack, every update would ask for one.
    ctx.require_stack(request.stack.name.as_deref(), IfMissing::Offer)?;
    loop {
        let before = seen(&roots);
        let stop = match course::run(ctx, request) {
            Ok(status) => status == ExitStatus::Cancelled,
            Err(error) => {
                if let Some(text) = error.text() {
                    ctx.printer.error(&text);
                }
                false
            }
        };
        if stop {
            return Ok(ExitStatus::Success);
        }
        let waiting = WatchLines::text("", "Waiting for changes...", &clock());
        ctx.printer.styled(&waiting);
        let changed = runtime.block_on(async {
            loop {
                tokio::select! {
                    () = signals.next() => return false,
                    () = tokio::time::sleep(INTERVAL) => {}
                }
                if seen(&roots) != before {
                    return true;
                }
            }
        });
        if !changed {
            return Ok(ExitStatus::Success);
        }
    }
}

fn roots(paths: &[String], ctx: &Context) -> Result<Vec<PathBuf>, Error> {
    let project = ctx.project()?;
    if paths.is_empty() {
        return Ok(vec![project.root().to_owned()]);
    }
    let mut roots = Vec::new();
    for path in paths {
        let path = ctx.environment.cwd.join(path);
        if !path.exists() {
            return Err(Error::user(format!(
                "there is nothing to watch at {}",
                path.display()
            )));
        }
        roots.push(path);
    }
    Ok(roots)
}

/// Time of the last change and length of each file.
fn seen(roots: &[PathBuf]) -> BTreeMap<PathBuf, (SystemTime, u64)> {
    let mut files = BTreeMap::new();
    for root in roots {
        look(root, &mut files);
    }
    files
}

fn look(path: &Path, files: &mut BTreeMap<PathBuf, (SystemTime, u64)>) {
    let Ok(metadata) = fs::metadata(path) else {
        return;
    };
    if metadata.is_file() {
        let time = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        files.insert(path.to_owned(), (time, metadata.len()));
        return;
    }
    for entry in fs::read_dir(path).into_iter().flatten().flatten() {
        // A link may lead back to one of its own parents.
        let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
        if !is_link && !SKIPPED.iter().any(|skipped| entry.file_name() == *skipped) {
            look(&entry.path(), files);
        }
    }
}

/// Time prefix of the lines of `watch`.
pub(super) fn clock() -> String {
    jiff::Zoned::now().strftime("%H:%M:%S.%3f").to_string()
}
