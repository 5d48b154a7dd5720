//! Update plans as files (`cli.md` 3.7): `preview --save-plan` writes one, `up --plan` keeps to one.

use std::path::Path;

use jiff::Timestamp;
use plumb_project::config::ConfigMap;
use plumb_project::files::{self, Access};
use plumb_state::plan::{Plan, PlanFile, PlanHead};
use plumb_state::{Manifest, RawJson, SecretCodec};

use crate::{Error, VERSION};

/// Reads a plan.
pub(super) fn read(path: &Path, codec: &dyn SecretCodec) -> Result<Plan, Error> {
    let shown = path.display();
    let bytes = std::fs::read(path)
        .map_err(|error| Error::user(format!("could not read the plan {shown}: {error}")))?;
    let file = PlanFile::parse(&bytes).map_err(|error| {
        Error::from(error).context(format_args!("could not read the plan {shown}"))
    })?;
    Ok(file.decrypt(codec)?)
}

/// Writes a plan; its secrets are encrypted unless they are to be seen.
pub(super) fn write(
    path: &Path,
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
    let (text, access) = if show_secrets {
        (plan.file_with_secrets_exposed(&head), Access::Private)
    } else {
        (plan.encrypt(codec)?.file(&head), Access::Shared)
    };
    Ok(files::write_text(path, &text, access)?)
}
