//! Flags of the operations (`cli.md` 3.1).

use clap::{ArgGroup, Args};
use plumb_operate::Environment;

use super::remote::RemoteArgs;

/// Flags that every operation has.
#[derive(Args, Clone, Debug, Default)]
pub struct CommonArgs {
    /// The name of the stack to operate on. Defaults to the current stack
    #[arg(short, long)]
    pub stack: Option<String>,
    /// Use the configuration values in the specified file rather than detecting the file name
    #[arg(long)]
    pub config_file: Option<String>,
    /// Optional message to associate with the operation
    #[arg(short, long)]
    pub message: Option<String>,
    /// Print detailed debugging output during resource operations
    #[arg(short, long)]
    pub debug: bool,
    /// Display the operation as a rich diff showing the overall change
    #[arg(long)]
    pub diff: bool,
    /// Serialize the diffs, operations, and overall output as JSON
    #[arg(short, long)]
    pub json: bool,
    /// Format of the result: default or json
    #[arg(long, default_value = "default", hide = true)]
    pub output: String,
    /// Allow P resource operations to run in parallel at once (1 for no parallelism)
    #[arg(short, long, default_value_t = Environment::default_parallel())]
    pub parallel: i32,
    /// Suppress display of stack outputs (in case they contain sensitive values)
    #[arg(long)]
    pub suppress_outputs: bool,
    /// Suppress display of periodic progress dots
    #[arg(long)]
    pub suppress_progress: bool,
    /// Show a row for each resource when the operation is over, also if there are many that are alike
    #[arg(long)]
    pub all_rows: bool,
    /// Suppress display of the state permalink
    #[arg(long, num_args = 0..=1)]
    pub suppress_permalink: Option<String>,
    /// Do not install plugins before the operation starts
    #[arg(long)]
    pub skip_plugin_pre_install: bool,
    /// Use no plugin that plumb.lock does not name
    #[arg(long)]
    pub locked: bool,
    /// Log events to a file at this path, or to a server at tcp://host:port
    #[arg(long, hide = true)]
    pub event_log: Option<String>,
    /// How the command was started
    #[arg(long, hide = true)]
    pub exec_kind: Option<String>,
    /// Which program started the command
    #[arg(long, hide = true)]
    pub exec_agent: Option<String>,
}

/// Files with a report of the operation, or of its preview if nothing follows that.
#[derive(Args, Clone, Debug, Default)]
pub struct ReportArgs {
    /// Write what changes to a file as a page of HTML that needs no network
    #[arg(long)]
    pub html: Option<String>,
    /// Write what changes to a file as Markdown, for comments and summaries of pipelines
    #[arg(long)]
    pub markdown: Option<String>,
    /// Whether the files are for the program itself, so that no message mentions them.
    #[arg(skip)]
    pub is_internal: bool,
}

/// Flags of the operations that can run the program.
#[derive(Args, Clone, Debug, Default)]
pub struct ProgramArgs {
    /// Config to use during the operation and save to the stack config file
    #[arg(short, long, action = clap::ArgAction::Append)]
    pub config: Vec<String>,
    /// Config keys contain a path to a property in a map or list to set
    #[arg(long)]
    pub config_path: bool,
    /// The address of an existing language runtime host to connect to
    #[arg(long, hide = true)]
    pub client: Option<String>,
    /// Specify a resource URN to operate on. Other resources will not be touched
    #[arg(short, long, action = clap::ArgAction::Append)]
    pub target: Vec<String>,
    /// Allow operating on dependents of the targets
    #[arg(long)]
    pub target_dependents: bool,
    /// Skip the check of the stack's configuration
    #[arg(long)]
    pub skip_config_validation: bool,
    /// Show detailed resource replacement creates and deletes instead of a single step
    #[arg(long)]
    pub show_replacement_steps: bool,
    /// Show resources that needn't be updated because they haven't changed, alongside those that do
    #[arg(long)]
    pub show_sames: bool,
    /// Display full resource URNs
    #[arg(long)]
    pub urns: bool,
    /// Run the program to determine up-to-date state for providers
    #[arg(long, num_args = 0..=1)]
    pub run_program: Option<bool>,
    /// Create the stack if it does not exist
    #[arg(long)]
    pub create: bool,
    /// Use another environment in place of one that the stack imports (not supported yet)
    #[arg(long, hide = true, action = clap::ArgAction::Append)]
    pub override_env: Vec<String>,
    /// How and where the service runs the operation
    #[command(flatten)]
    pub remote: RemoteArgs,
    /// Accepted and ignored
    #[arg(long, hide = true)]
    pub neo: bool,
    /// Accepted and ignored
    #[arg(long, hide = true)]
    pub copilot: bool,
    /// Accepted and ignored
    #[arg(long, hide = true)]
    pub neo_task_on_failure: bool,
}

/// Flags of `up` and `preview`.
#[derive(Args, Clone, Debug, Default)]
pub struct UpdateArgs {
    /// Return an error if any changes occur
    #[arg(long)]
    pub expect_no_changes: bool,
    /// Allow ignoring dependents of the excluded resources
    #[arg(long)]
    pub exclude_dependents: bool,
    /// Specify a resource URN to replace
    #[arg(long, action = clap::ArgAction::Append)]
    pub replace: Vec<String>,
    /// Specify a resource URN to operate on and to replace
    #[arg(long, action = clap::ArgAction::Append)]
    pub target_replace: Vec<String>,
    /// Run one or more policy packs as part of this operation
    #[arg(long, action = clap::ArgAction::Append, value_delimiter = ',')]
    pub policy_pack: Vec<String>,
    /// Path to a JSON file with the config of the policy pack of the corresponding --policy-pack flag
    #[arg(long, action = clap::ArgAction::Append, value_delimiter = ',')]
    pub policy_pack_config: Vec<String>,
    /// Refresh the state of the stack's resources before this operation
    #[arg(short, long, num_args = 0..=1, default_missing_value = "true")]
    pub refresh: Option<String>,
    /// Show configuration keys and values
    #[arg(long)]
    pub show_config: bool,
    /// Show resources that are being read in, alongside those being managed directly in the stack
    #[arg(long)]
    pub show_reads: bool,
    /// Show per-resource policy remediation details instead of a summary
    #[arg(long)]
    pub show_policy_remediations: bool,
    /// Show secret outputs in the CLI output
    #[arg(long)]
    pub show_secrets: bool,
    /// Display full length of stack outputs
    #[arg(long)]
    pub show_full_output: bool,
    /// Modify protected resources too
    #[arg(long)]
    pub ignore_protect: bool,
    /// Enable the ability to attach a debugger to the program and source based plugins being executed
    #[arg(long, action = clap::ArgAction::Append, num_args = 0..=1)]
    pub attach_debugger: Vec<String>,
}

/// Create or update the resources in a stack
///
/// The program of the project says which resources the stack is to have. What has to happen for that is shown first, and happens
/// when it is confirmed. With a template, its program is taken instead: it is fetched into a temporary folder.
///
/// Examples:
///   plumb up                        shows what will happen, asks, and does it
///   plumb up --yes --stack prod     does it without asking, in the stack prod
///   plumb up --target URN           leaves everything else alone
#[derive(Args, Clone, Debug, Default)]
#[command(verbatim_doc_comment)]
#[command(group = ArgGroup::new("up-targets").args(["target", "exclude"]).multiple(false))]
#[command(group = ArgGroup::new("up-format").args(["json", "output"]).multiple(false))]
pub struct UpArgs {
    /// Shared flags.
    #[command(flatten)]
    pub common: CommonArgs,
    /// Shared flags.
    #[command(flatten)]
    pub program: ProgramArgs,
    /// Shared flags.
    #[command(flatten)]
    pub update: UpdateArgs,
    /// Specify a resource URN to leave alone
    #[arg(long, action = clap::ArgAction::Append)]
    pub exclude: Vec<String>,
    /// Continue updating resources even if an error is encountered
    #[arg(long)]
    pub continue_on_error: bool,
    /// The provider that should be used to encrypt and decrypt secrets when a stack is created
    #[arg(long, default_value = "default")]
    pub secrets_provider: String,
    /// Do not calculate a preview before performing the update
    #[arg(short = 'f', long)]
    pub skip_preview: bool,
    /// Automatically approve and perform the update after previewing it
    #[arg(short, long)]
    pub yes: bool,
    /// Path to a plan file to use for the update
    #[arg(long, hide = true)]
    pub plan: Option<String>,
    /// Accept only the steps of the preview
    #[arg(long, hide = true)]
    pub strict: bool,
    /// Files with a report.
    #[command(flatten)]
    pub report: ReportArgs,
    /// A template, or its address
    pub template: Option<String>,
}

/// Show a preview of updates to a stack's resources
///
/// Nothing is changed, and the stack is not taken.
///
/// Examples:
///   plumb preview --diff                     shows every property that would change
///   plumb preview --save-plan plan.json      keeps what would happen, for `up --plan plan.json`
///   plumb preview --import-file import.json  lists what would be created, for `import --file import.json`
#[derive(Args, Clone, Debug)]
#[command(verbatim_doc_comment)]
#[command(group = ArgGroup::new("preview-targets").args(["target", "exclude"]).multiple(false))]
#[command(group = ArgGroup::new("preview-format").args(["json", "output"]).multiple(false))]
pub struct PreviewArgs {
    /// Shared flags.
    #[command(flatten)]
    pub common: CommonArgs,
    /// Shared flags.
    #[command(flatten)]
    pub program: ProgramArgs,
    /// Shared flags.
    #[command(flatten)]
    pub update: UpdateArgs,
    /// Specify a resource URN to leave alone
    #[arg(short = 'x', long, action = clap::ArgAction::Append)]
    pub exclude: Vec<String>,
    /// Save the operations proposed by the preview to a plan file at the given path
    #[arg(long)]
    pub save_plan: Option<String>,
    /// Save any creates seen during the preview into an import file to use with import
    #[arg(long)]
    pub import_file: Option<String>,
    /// Look around in the changes when the preview is over: by component or by kind, with a filter
    #[arg(long)]
    pub browse: bool,
    /// Files with a report.
    #[command(flatten)]
    pub report: ReportArgs,
}

/// Refresh the resources in a stack
///
/// The state of the stack is made what the world is. No resource is changed by that; the next update may.
#[derive(Args, Clone, Debug)]
#[command(group = ArgGroup::new("refresh-targets").args(["target", "exclude"]).multiple(false))]
#[command(group = ArgGroup::new("refresh-format").args(["json", "output"]).multiple(false))]
pub struct RefreshArgs {
    /// Shared flags.
    #[command(flatten)]
    pub common: CommonArgs,
    /// Shared flags.
    #[command(flatten)]
    pub program: ProgramArgs,
    /// Return an error if any changes occur during this refresh
    #[arg(long)]
    pub expect_no_changes: bool,
    /// Specify a resource URN to leave alone
    #[arg(short = 'x', long, action = clap::ArgAction::Append)]
    pub exclude: Vec<String>,
    /// Allow ignoring dependents of the excluded resources
    #[arg(long)]
    pub exclude_dependents: bool,
    /// Only show a preview of the refresh, but don't perform the refresh itself
    #[arg(long)]
    pub preview_only: bool,
    /// Do not calculate a preview before performing the refresh
    #[arg(short = 'f', long)]
    pub skip_preview: bool,
    /// Automatically approve and perform the refresh after previewing it
    #[arg(short, long)]
    pub yes: bool,
    /// Files with a report.
    #[command(flatten)]
    pub report: ReportArgs,
    /// Skip importing pending creates in interactive mode
    #[arg(long)]
    pub skip_pending_creates: bool,
    /// Clear all pending creates, dropping them from the state
    #[arg(long)]
    pub clear_pending_creates: bool,
    /// A list of URNs of pending creates followed by the IDs to import
    #[arg(long, action = clap::ArgAction::Append)]
    pub import_pending_creates: Vec<String>,
}

/// Show how what exists differs from the stack's state
///
/// Reads every resource from its provider and compares it with the state. Nothing is changed. The exit code is 0 if nothing
/// differs and 2 if something does.
#[derive(Args, Clone, Debug)]
pub struct DriftArgs {
    /// Shared flags.
    #[command(flatten)]
    pub common: CommonArgs,
    /// Shared flags.
    #[command(flatten)]
    pub program: ProgramArgs,
    /// Specify a resource URN to leave alone
    #[arg(short = 'x', long, action = clap::ArgAction::Append)]
    pub exclude: Vec<String>,
    /// Files with a report.
    #[command(flatten)]
    pub report: ReportArgs,
}

/// Destroy all existing resources in the stack
///
/// The stack itself stays, with its history and settings, unless `--remove` says otherwise.
#[derive(Args, Clone, Debug)]
#[command(group = ArgGroup::new("destroy-targets").args(["target", "exclude"]).multiple(false))]
#[command(group = ArgGroup::new("destroy-protected").args(["exclude_protected", "ignore_protect"]).multiple(false))]
#[command(group = ArgGroup::new("destroy-format").args(["json", "output"]).multiple(false))]
pub struct DestroyArgs {
    /// Shared flags.
    #[command(flatten)]
    pub common: CommonArgs,
    /// Shared flags.
    #[command(flatten)]
    pub program: ProgramArgs,
    /// Specify a resource URN to leave alone
    #[arg(short = 'x', long, action = clap::ArgAction::Append)]
    pub exclude: Vec<String>,
    /// Refresh the state of the stack's resources before this operation
    #[arg(short, long, num_args = 0..=1, default_missing_value = "true")]
    pub refresh: Option<String>,
    /// Only show a preview of the destroy, but don't perform the destroy itself
    #[arg(long)]
    pub preview_only: bool,
    /// Do not calculate a preview before performing the destroy
    #[arg(short = 'f', long)]
    pub skip_preview: bool,
    /// Automatically approve and perform the destroy after previewing it
    #[arg(short, long)]
    pub yes: bool,
    /// Continue to perform the destroy operation despite the occurrence of errors
    #[arg(long)]
    pub continue_on_error: bool,
    /// Show configuration keys and values
    #[arg(long)]
    pub show_config: bool,
    /// Display full length of stack outputs
    #[arg(long)]
    pub show_full_output: bool,
    /// Destroy protected resources too
    #[arg(long)]
    pub ignore_protect: bool,
    /// Do not destroy protected resources. Destroy all other resources
    #[arg(long)]
    pub exclude_protected: bool,
    /// Files with a report.
    #[command(flatten)]
    pub report: ReportArgs,
    /// Remove the stack and its config file after all resources in the stack have been deleted
    #[arg(long)]
    pub remove: bool,
}

/// Import resources into an existing stack
///
/// Resources that exist already are adopted: one that the words name, or all that a file lists. They are protected afterwards
/// unless `--protect=false` says otherwise. Their declarations are printed in the language of the project.
///
/// Examples:
///   plumb import aws:s3/bucket:Bucket logs my-logs-bucket
///   plumb import aws:s3/bucket:Bucket logs my-logs-bucket --parent site=URN --out logs.yaml
///   plumb import --file resources.json --yes
///   plumb import --discover aws:s3/bucket:Bucket --filter '^logs-'
#[derive(Args, Clone, Debug)]
#[command(verbatim_doc_comment)]
#[command(group = ArgGroup::new("import-format").args(["json", "output"]).multiple(false))]
pub struct ImportArgs {
    /// Shared flags.
    #[command(flatten)]
    pub common: CommonArgs,
    /// Display full resource URNs
    #[arg(long)]
    pub urns: bool,
    /// The name and URN of the parent resource in the format name=urn
    #[arg(long)]
    pub parent: Option<String>,
    /// The name and URN of the provider to use for the import in the format name=urn
    #[arg(long)]
    pub provider: Option<String>,
    /// The property names to use for the import
    #[arg(long, action = clap::ArgAction::Append, value_delimiter = ',')]
    pub properties: Vec<String>,
    /// The path to a JSON-encoded file containing a list of resources to import
    #[arg(short, long)]
    pub file: Option<String>,
    /// The path to the file that will contain the generated resource declarations
    #[arg(short, long)]
    pub out: Option<String>,
    /// Generate resource declaration code for the imported resources
    #[arg(long, default_value_t = true, action = clap::ArgAction::Set, num_args = 0..=1)]
    pub generate_code: bool,
    /// Mark the imported resources as protected
    #[arg(long, default_value_t = true, action = clap::ArgAction::Set, num_args = 0..=1)]
    pub protect: bool,
    /// Invoke a converter to import the resources
    #[arg(long)]
    pub from: Option<String>,
    /// When used with --from, write a JSON-encoded file containing the resources that would be imported
    #[arg(long)]
    pub generate_resources: Option<String>,
    /// List the resources of a type that exist and are in no stack, and import a choice of them; flags of the list follow --
    #[arg(long, conflicts_with_all = ["file", "from", "parent", "provider", "properties"])]
    pub discover: Option<String>,
    /// With --discover, leave out resources of which neither the name nor the ID matches the regular expression
    #[arg(long, requires = "discover")]
    pub filter: Option<String>,
    /// Only show a preview of the import, but don't perform the import itself
    #[arg(long)]
    pub preview_only: bool,
    /// Do not calculate a preview before performing the import
    #[arg(long)]
    pub skip_preview: bool,
    /// Automatically approve and perform the import after previewing it
    #[arg(short, long)]
    pub yes: bool,
    /// Type, name and ID of a resource, or arguments for the converter
    pub arguments: Vec<String>,
}

/// Update a stack continuously as files change
///
/// The stack is updated, without a preview, and again whenever a file of the project changes, until the command is interrupted.
#[derive(Args, Clone, Debug)]
pub struct WatchArgs {
    /// The name of the stack to operate on. Defaults to the current stack
    #[arg(short, long)]
    pub stack: Option<String>,
    /// Use the configuration values in the specified file rather than detecting the file name
    #[arg(long)]
    pub config_file: Option<String>,
    /// Optional message to associate with each update
    #[arg(short, long)]
    pub message: Option<String>,
    /// Print detailed debugging output during resource operations
    #[arg(short, long)]
    pub debug: bool,
    /// Allow P resource operations to run in parallel at once (1 for no parallelism)
    #[arg(short, long, default_value_t = Environment::default_parallel())]
    pub parallel: i32,
    /// Do not install plugins before the operation starts
    #[arg(long)]
    pub skip_plugin_pre_install: bool,
    /// How the command was started
    #[arg(long, hide = true)]
    pub exec_kind: Option<String>,
    /// Config to use during the operation and save to the stack config file
    #[arg(short, long, action = clap::ArgAction::Append)]
    pub config: Vec<String>,
    /// Config keys contain a path to a property in a map or list to set
    #[arg(long)]
    pub config_path: bool,
    /// Show detailed resource replacement creates and deletes instead of a single step
    #[arg(long)]
    pub show_replacement_steps: bool,
    /// Show resources that needn't be updated because they haven't changed, alongside those that do
    #[arg(long)]
    pub show_sames: bool,
    /// Display full resource URNs
    #[arg(long)]
    pub urns: bool,
    /// Use another environment in place of one that the stack imports (not supported yet)
    #[arg(long, hide = true, action = clap::ArgAction::Append)]
    pub override_env: Vec<String>,
    /// The provider that should be used to encrypt and decrypt secrets when a stack is created
    #[arg(long, default_value = "default")]
    pub secrets_provider: String,
    /// Run one or more policy packs as part of each update
    #[arg(long, action = clap::ArgAction::Append, value_delimiter = ',')]
    pub policy_pack: Vec<String>,
    /// Path to a JSON file with the config of the policy pack of the corresponding --policy-pack flag
    #[arg(long, action = clap::ArgAction::Append, value_delimiter = ',')]
    pub policy_pack_config: Vec<String>,
    /// Refresh the state of the stack's resources before each update
    #[arg(short, long)]
    pub refresh: bool,
    /// Show configuration keys and values
    #[arg(long)]
    pub show_config: bool,
    /// A file or folder to watch; the project by default
    #[arg(long, action = clap::ArgAction::Append)]
    pub path: Vec<String>,
}
