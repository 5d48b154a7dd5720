//! Programs that a converter plugin reads (`codegen.md` 14).

use std::path::Path;

use plumb_operate::operations::{InfoStream, StandaloneHost, tell};
use plumb_operate::{Context, Error};
use plumb_pcl::Sources;
use plumb_plugin::ProgramToConvert;
use tempfile::TempDir;

use plumb_automation::values::Secrets;

/// A program in PCL that a converter wrote.
pub(super) struct ConvertedProgram {
    pub(super) sources: Sources,
    /// Folder with its files, until this is dropped.
    pub(super) folder: TempDir,
}

impl ConvertedProgram {
    /// Runs the converter `name` on the program in `folder`, for a project in `out`.
    pub(super) fn read(
        name: &str,
        folder: &Path,
        out: &Path,
        arguments: &[String],
        ctx: &Context,
    ) -> Result<Self, Error> {
        let target = tempfile::tempdir()?;
        let mut host = StandaloneHost::open(ctx, Vec::new(), Secrets::Hidden, InfoStream::Stderr)?;
        let (plugins, address) = (host.host(), host.address());
        let program = ProgramToConvert {
            source: folder,
            target: target.path(),
            project: out,
            args: arguments,
        };
        let messages = host.run(async {
            let converter = plugins.converter(name).await.map_err(|error| {
                Error::from(error).context(format_args!("load converter plugin: load {name:?}"))
            })?;
            converter
                .convert_program(&address, &program)
                .await
                .map_err(Error::from)
        });
        host.close();
        tell(&messages?, ctx)?;
        let sources = Sources::in_folder(target.path())?;
        Ok(ConvertedProgram {
            sources,
            folder: target,
        })
    }
}
