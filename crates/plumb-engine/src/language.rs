//! Programs that run under a language host.

use std::sync::Arc;

use async_trait::async_trait;
use plumb_plugin::LanguageRuntime;
use plumb_plugin::language::{ProgramInfo, RunOutcome, RunRequest};
use tokio_util::sync::CancellationToken;

use crate::instances::with_causes;
use crate::monitor::ResourceMonitor;
use crate::program::{Program, ProgramContext, ProgramResult};
use crate::spans;

/// Origin of a program's language host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostOrigin {
    /// The host was started for the program, and knows the engine's address.
    Started,
    /// The host existed before, in the process that started the operation. The first argument of the program gives it the
    /// engine's address.
    Attached,
}

/// A program and the host of its language.
pub struct LanguageProgram {
    /// Host that runs the program.
    pub host: Arc<dyn LanguageRuntime>,
    /// Location of the program, and its options.
    pub info: ProgramInfo,
    /// Origin of the host.
    pub origin: HostOrigin,
    /// Whether the program waits for a debugger.
    pub attach_debugger: bool,
}

#[async_trait]
impl Program for LanguageProgram {
    fn needs_server(&self) -> bool {
        true
    }

    async fn run(
        &self,
        info: ProgramContext,
        _: Arc<dyn ResourceMonitor>,
        cancel: CancellationToken,
    ) -> ProgramResult {
        let request = RunRequest {
            info: self.info.clone(),
            working_directory: info.program_directory.clone(),
            project: info.project.clone(),
            stack: info.stack.clone(),
            organization: info.organization.clone(),
            args: match self.origin {
                HostOrigin::Started => Vec::new(),
                HostOrigin::Attached => vec![info.engine_address.clone()],
            },
            config: info.config.as_ref().clone(),
            config_secret_keys: info.config_secret_keys.as_ref().clone(),
            dry_run: info.dry_run,
            parallel: info.parallel,
            monitor_address: info.monitor_address.clone(),
            loader_target: info.engine_address.clone(),
            mapper_target: info.engine_address.clone(),
            attach_debugger: self.attach_debugger,
        };
        let run = self.host.run(request, cancel);
        match spans::within(spans::run(self.host.as_ref()), run).await {
            Ok(RunOutcome::Succeeded) => ProgramResult::Finished,
            Ok(RunOutcome::Bailed) => ProgramResult::Bailed,
            Ok(RunOutcome::Failed(message)) => ProgramResult::Failed { message },
            Err(error) => ProgramResult::Failed {
                message: with_causes(&error),
            },
        }
    }
}
