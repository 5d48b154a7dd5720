//! Programs: the sources of registrations in a deployment.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use crate::monitor::ResourceMonitor;

/// Data of the deployment for a program.
#[derive(Clone, Debug)]
pub struct ProgramContext {
    /// Project name.
    pub project: String,
    /// Stack name.
    pub stack: String,
    /// Organization name.
    pub organization: String,
    /// Configuration, `namespace:key` to plain text (JSON for structured values).
    pub config: Arc<BTreeMap<String, String>>,
    /// Keys of the configuration that are secret.
    pub config_secret_keys: Arc<Vec<String>>,
    /// Whether this is a preview.
    pub dry_run: bool,
    /// Maximum number of parallel operations.
    pub parallel: i32,
    /// Whether programs may send references to resources.
    pub resource_references: bool,
    /// Folder of `Pulumi.yaml`.
    pub root_directory: std::path::PathBuf,
    /// Folder of the program: the root folder, or the folder given by `main`.
    pub program_directory: std::path::PathBuf,
    /// `host:port` of the resource monitor; empty for programs that run in process.
    pub monitor_address: String,
    /// `host:port` of the engine service; empty for programs that run in process.
    pub engine_address: String,
}

/// Result of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProgramResult {
    /// The program made all its registrations.
    Finished,
    /// The program failed and has already reported the error to the user.
    Bailed,
    /// The program failed.
    Failed {
        /// Error message for the user.
        message: String,
    },
}

/// A program of a project, ready to run.
#[async_trait]
pub trait Program: Send + Sync {
    /// Whether the program uses the monitor over gRPC (`true`) or the one passed to [`Program::run`].
    fn needs_server(&self) -> bool;

    /// Runs the program to its end. Ends early when `cancel` fires.
    async fn run(
        &self,
        info: ProgramContext,
        monitor: Arc<dyn ResourceMonitor>,
        cancel: CancellationToken,
    ) -> ProgramResult;
}
