//! Flags of operations that the service runs remotely.
//!
//! Libraries that run this program look for these flags in its help, with `PULUMI_EXPERIMENTAL` on, before they allow a
//! remote operation. Without `--remote` the other flags have no effect, as in the reference.

use clap::Args;
use plumb_operate::Error;

/// Names of the flags, shown in help only if experimental features are on.
pub(crate) const FLAGS: [&str; 19] = [
    "remote",
    "suppress_stream_logs",
    "remote_inherit_settings",
    "remote_env",
    "remote_env_secret",
    "remote_pre_run_command",
    "remote_skip_install_dependencies",
    "remote_git_branch",
    "remote_git_commit",
    "remote_git_repo_dir",
    "remote_git_auth_access_token",
    "remote_git_auth_ssh_private_key",
    "remote_git_auth_ssh_private_key_path",
    "remote_git_auth_password",
    "remote_git_auth_username",
    "remote_executor_image",
    "remote_executor_image_username",
    "remote_executor_image_password",
    "remote_agent_pool_id",
];

/// How and where the service runs an operation.
#[derive(Args, Clone, Debug, Default)]
pub struct RemoteArgs {
    /// Run the operation remotely (needs the service)
    #[arg(long, hide = true)]
    pub remote: bool,
    /// Do not show what a remote operation prints
    #[arg(long, hide = true)]
    pub suppress_stream_logs: bool,
    /// Take the settings of the stack for remote operations
    #[arg(long, hide = true)]
    pub remote_inherit_settings: bool,
    /// Variable of the operation, as NAME=VALUE
    #[arg(long, hide = true, action = clap::ArgAction::Append)]
    pub remote_env: Vec<String>,
    /// Secret variable of the operation, as NAME=VALUE
    #[arg(long, hide = true, action = clap::ArgAction::Append)]
    pub remote_env_secret: Vec<String>,
    /// Command to run before the operation
    #[arg(long, hide = true, action = clap::ArgAction::Append)]
    pub remote_pre_run_command: Vec<String>,
    /// Do not install dependencies before the operation
    #[arg(long, hide = true)]
    pub remote_skip_install_dependencies: bool,
    /// Branch of the repository to deploy
    #[arg(long, hide = true)]
    pub remote_git_branch: Option<String>,
    /// Commit of the repository to deploy
    #[arg(long, hide = true)]
    pub remote_git_commit: Option<String>,
    /// Folder of the project in the repository
    #[arg(long, hide = true)]
    pub remote_git_repo_dir: Option<String>,
    /// Access token for the repository
    #[arg(long, hide = true)]
    pub remote_git_auth_access_token: Option<String>,
    /// Private key for the repository
    #[arg(long, hide = true)]
    pub remote_git_auth_ssh_private_key: Option<String>,
    /// File of the private key for the repository
    #[arg(long, hide = true)]
    pub remote_git_auth_ssh_private_key_path: Option<String>,
    /// Password for the repository, or for its private key
    #[arg(long, hide = true)]
    pub remote_git_auth_password: Option<String>,
    /// User name for the repository
    #[arg(long, hide = true)]
    pub remote_git_auth_username: Option<String>,
    /// Image of the container to run in
    #[arg(long, hide = true)]
    pub remote_executor_image: Option<String>,
    /// User name for the image
    #[arg(long, hide = true)]
    pub remote_executor_image_username: Option<String>,
    /// Password for the image
    #[arg(long, hide = true)]
    pub remote_executor_image_password: Option<String>,
    /// Agents to run the operation on
    #[arg(long, hide = true)]
    pub remote_agent_pool_id: Option<String>,
}

impl RemoteArgs {
    /// Error for `--remote`, which needs the service.
    pub(super) fn check(&self) -> Result<(), Error> {
        if self.remote {
            return Err(Error::needs_service("`--remote`"));
        }
        Ok(())
    }
}
