//! Update plans as files (`cli.md` 3.7): `preview --save-plan` writes one, `up --plan` keeps to one.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::Path;

use jiff::Timestamp;
use plumb_project::config::ConfigMap;
use plumb_state::plan::{Plan, PlanFile, PlanHead};
use plumb_state::{Manifest, RawJson, SecretCodec};

use crate::{Error, VERSION};

/// The path of a plan, and how the user wrote it.
#[derive(Clone, Copy)]
pub(super) struct PlanPath<'a> {
    pub(super) path: &'a Path,
    pub(super) shown: &'a str,
}

impl PlanPath<'_> {
    /// The error of a system call in the words of the reference, which scripts look for.
    fn failed(self, call: &str, error: &std::io::Error) -> Error {
        let text = error.to_string();
        let reason = text.split(" (os error").next().unwrap_or_default();
        let mut reason = reason.to_owned();
        if let Some(first) = reason.get_mut(..1) {
            first.make_ascii_lowercase();
        }
        Error::user(format!("{call} {}: {reason}", self.shown))
    }
}

/// Reads a plan.
pub(super) fn read(named: PlanPath<'_>, codec: &dyn SecretCodec) -> Result<Plan, Error> {
    let mut bytes = Vec::new();
    File::open(named.path)
        .map_err(|error| named.failed("open", &error))?
        .read_to_end(&mut bytes)
        .map_err(|error| named.failed("read", &error))?;
    let shown = named.path.display();
    let file = PlanFile::parse(&bytes).map_err(|error| {
        Error::from(error).context(format_args!("could not read the plan {shown}"))
    })?;
    Ok(file.decrypt(codec)?)
}

/// Writes a plan; its secrets are encrypted unless they are to be seen.
///
/// The file keeps its place on disk where there is one, because callers open a file first and read it afterwards.
pub(super) fn write(
    named: PlanPath<'_>,
    plan: &Plan,
    config: &ConfigMap,
    codec: &dyn SecretCodec,
    show_secrets: bool,
) -> Result<(), Error> {
    let config = (!config.is_empty())
        .then(|| RawJson::parse(&config.to_json().to_string()))
        .transpose()?;
    let head = PlanHead {
        manifest: Manifest::new(Timestamp::now(), VERSION),
        config,
    };
    let text = if show_secrets {
        plan.file_with_secrets_exposed(&head)
    } else {
        plan.encrypt(codec)?.file(&head)
    };
    let mut file = private(named.path).map_err(|error| named.failed("open", &error))?;
    file.write_all(text.as_bytes())
        .map_err(|error| named.failed("write", &error))
}

/// An empty file for a plan, which only its owner may read: it has settings and inputs.
fn private(path: &Path) -> std::io::Result<File> {
    let mut options = File::options();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path)?;
    #[cfg(unix)]
    if file.metadata()?.is_file() {
        use std::os::unix::fs::PermissionsExt as _;
        file.set_permissions(std::fs::Permissions::from_mode(0o600))?;
    }
    Ok(file)
}
