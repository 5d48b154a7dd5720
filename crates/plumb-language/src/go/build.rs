//! Builds of programs (`languages.md` 5).
//!
//! Go's build cache contains compiled packages but no executables, and linking takes most of the remaining time. Therefore
//! executables are cached:
//!
//! 1. Each program has a folder in the cache, named after the hash of its source path, with a lock file.
//! 2. While holding the lock, `go build` updates the executable, which is fast if nothing has changed, and a hard link
//!    with a unique name is created. The link is what runs, so that another build cannot replace a running file.
//! 3. The link is deleted with the [`Executable`]. Folders of programs that have not been built for [`KEPT`] are
//!    deleted too.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use plumb_plugin::OutputLevel;
use plumb_plugin::language::ProgramInfo;
use sha2::{Digest, Sha256};

use super::link::has_sources;
use super::settings::{Form, Source, go};
use crate::compiled::{CompiledError, Executable, Failures, prebuilt, say};
use crate::{LanguageOptions, ToolError};

/// First bytes of an archive of object files.
const ARCHIVE: &[u8; 8] = b"!<arch>\n";

/// Time after which unused executables are deleted.
pub(super) const KEPT: Duration = Duration::from_hours(14 * 24);

/// Executable of the program; builds it if necessary.
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
                // `go run` has its own exit code, independent of the program's.
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
        other => {
            other?;
            check_is_program(directory, target)
        }
    }
}

/// Fails if the compiler has written an archive, as it does for packages other than `main`.
fn check_is_program(directory: &Path, target: &Path) -> Result<(), CompiledError> {
    let mut start = [0; ARCHIVE.len()];
    let read = File::open(target).and_then(|mut file| file.read(&mut start));
    read.map_err(CompiledError::file("read", target))?;
    if start == *ARCHIVE {
        return Err(CompiledError::NotMain {
            directory: directory.to_owned(),
        });
    }
    Ok(())
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
    // Errors while deleting old executables do not affect this program.
    let _ = tokio::task::spawn_blocking(move || prune(&cache, SystemTime::now())).await;
    let path = link.to_path_buf();
    Ok(Executable {
        kept: Some(link),
        ..Executable::at(path)
    })
}

/// Name in the cache: the hash of `content`.
pub(super) fn fingerprint(content: &[u8]) -> String {
    let digest = Sha256::digest(content);
    digest.iter().take(16).fold(String::new(), |mut hex, byte| {
        use std::fmt::Write;
        // Writing to a string cannot fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// Waits for the lock at `path`, which is released when the file is closed.
async fn locked(path: PathBuf) -> Result<File, CompiledError> {
    let failed = CompiledError::file("lock", path.clone());
    let file = tokio::task::spawn_blocking(move || -> io::Result<File> {
        let file = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)?;
        file.lock()?;
        // The modification time records the last build.
        file.set_modified(SystemTime::now())?;
        Ok(file)
    })
    .await
    .unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()));
    file.map_err(failed)
}

/// Deletes the folders of programs that have not been built for [`KEPT`].
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
