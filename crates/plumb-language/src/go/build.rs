//! Building programs (`languages.md` 5).
//!
//! Go's own cache holds compiled packages but no executables, and linking a program takes longer than anything else that
//! is left to do. So executables are kept:
//!
//! 1. Each program has a folder in the cache, named by the path of its sources, and a lock.
//! 2. Under the lock, `go build` brings the executable in it up to date, which takes no time when nothing has changed, and
//!    a link with a name of its own is made. What is run is the link: another build cannot get under it.
//! 3. The link is removed with the [`Executable`]. What nobody has built for [`KEPT`] goes as well.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use plumb_plugin::OutputLevel;
use plumb_plugin::language::ProgramInfo;
use sha2::{Digest, Sha256};

use super::link::has_sources;
use super::settings::{Form, Source, go};
use crate::compiled::{CompiledError, Executable, Failures, prebuilt, say};
use crate::{LanguageOptions, ToolError};

/// How long executables are kept that nobody asks for.
pub(super) const KEPT: Duration = Duration::from_hours(14 * 24);

/// Builds the program if it is to be built.
pub(super) async fn executable(
    options: &LanguageOptions,
    info: &ProgramInfo,
    form: Form,
) -> Result<Executable, CompiledError> {
    let directory = &info.program_directory;
    match Source::of(info, &options.environment)? {
        Source::Prebuilt(name) => Ok(Executable::at(prebuilt(&name, info, options)?)),
        Source::BuiltInto(target) => {
            build(options, directory, &target, form).await?;
            Ok(Executable::at(target))
        }
        Source::GoRun if form == Form::Small => {
            let tool = go(&["run"], &options.environment, directory)?;
            let mut args = tool.args;
            args.push(directory.into());
            Ok(Executable {
                path: tool.program,
                args,
                // The tool ends with a code of its own, whatever the program ends with.
                failures: Failures::AllReported,
                ..Executable::default()
            })
        }
        Source::Built | Source::GoRun => build_and_keep(options, directory, form).await,
    }
}

/// Runs `go build` with `target` as its output.
async fn build(
    options: &LanguageOptions,
    directory: &Path,
    target: &Path,
    form: Form,
) -> Result<(), CompiledError> {
    if !has_sources(directory) {
        return Err(CompiledError::NoSources {
            wanted: "a file that ends in .go",
            directory: directory.to_owned(),
        });
    }
    let args = ["build", "-buildvcs=false", "-o"];
    let mut tool = go(&args, &options.environment, directory)?;
    tool.args.push(target.into());
    tool.args.extend(form.flags().iter().map(OsString::from));
    say(&options.engine_address, "Compiling the program ...").await;
    let built = tool.run(&options.output, OutputLevel::Debug).await;
    say(&options.engine_address, "Finished compiling").await;
    match built {
        Err(ToolError::Failed { output, .. }) => Err(CompiledError::Compile {
            directory: directory.to_owned(),
            output,
        }),
        other => Ok(other?),
    }
}

async fn build_and_keep(
    options: &LanguageOptions,
    directory: &Path,
    form: Form,
) -> Result<Executable, CompiledError> {
    let cache = options.cache_directory.join("go");
    let folder = cache.join(fingerprint(directory.as_os_str().as_encoded_bytes()));
    fs::create_dir_all(&folder).map_err(CompiledError::file("create", &folder))?;
    let lock = locked(folder.join("lock")).await?;
    let target = folder.join(form.name());
    build(options, directory, &target, form).await?;
    let link = tempfile::Builder::new()
        .prefix("run-")
        .make_in(&folder, |path| fs::hard_link(&target, path))
        .map_err(CompiledError::file("link", &target))?
        .into_temp_path();
    drop(lock);
    // What is in the way of tidying up is in nobody else's.
    let _ = tokio::task::spawn_blocking(move || prune(&cache, SystemTime::now())).await;
    let path = link.to_path_buf();
    Ok(Executable {
        kept: Some(link),
        ..Executable::at(path)
    })
}

/// A name for something in the cache, made of the hash of `content`.
pub(super) fn fingerprint(content: &[u8]) -> String {
    let digest = Sha256::digest(content);
    digest.iter().take(16).fold(String::new(), |mut hex, byte| {
        use std::fmt::Write;
        // Writing to a string cannot fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// Waits for the lock at `path`; it is given back when the file is closed.
async fn locked(path: PathBuf) -> Result<File, CompiledError> {
    let failed = CompiledError::file("lock", path.clone());
    let file = tokio::task::spawn_blocking(move || -> io::Result<File> {
        let file = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)?;
        file.lock()?;
        // The time says when the program was last built.
        file.set_modified(SystemTime::now())?;
        Ok(file)
    })
    .await
    .unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()));
    file.map_err(failed)
}

/// Removes the folders of programs that nobody has built for long.
fn prune(cache: &Path, now: SystemTime) -> io::Result<()> {
    for entry in fs::read_dir(cache)? {
        let folder = entry?.path();
        let built = fs::metadata(folder.join("lock"))?.modified()?;
        if now.duration_since(built).is_ok_and(|age| age > KEPT) {
            fs::remove_dir_all(&folder)?;
        }
    }
    Ok(())
}
