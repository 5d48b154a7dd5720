//! Update plans as files (`cli.md` 3.7): `preview --save-plan` writes one, `up --plan` is constrained by one.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::Path;

use jiff::Timestamp;
use plumb_project::config::ConfigMap;
use plumb_project::files::create_private;
use plumb_state::plan::{Plan, PlanFile, PlanHead};
use plumb_state::{Manifest, RawJson, SecretCodec};

use crate::{Error, VERSION, go};

/// Path of a plan, and its text on the command line.
#[derive(Clone, Copy)]
pub(super) struct PlanPath<'a> {
    pub(super) path: &'a Path,
    pub(super) shown: &'a str,
}

impl PlanPath<'_> {
    /// Error of a system call with the wording of the reference, which scripts match.
    fn failed(self, call: &str, error: &std::io::Error) -> Error {
        Error::user(format!("{call} {}: {}", self.shown, go::reason(error)))
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

/// Writes a plan. Secrets are encrypted, unless they are to be shown.
///
/// An existing file is overwritten in place, because callers open a file first and read it afterwards.
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
    // Readable only by the owner, because it contains settings and inputs.
    let mut file = create_private(named.path).map_err(|error| named.failed("open", &error))?;
    file.write_all(text.as_bytes())
        .map_err(|error| named.failed("write", &error))
}
