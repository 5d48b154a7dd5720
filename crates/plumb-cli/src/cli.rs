//! The program and its verbs.

use clap::{Args, Parser, Subcommand};
use plumb_operate::{Context, Error, ExitStatus};

use crate::args::GlobalArgs;
use crate::commands::{
    about, cancel, ci, completion, config, console, convert, describe, r#do, doctor, events, help,
    history, install, login, logout, logs, new, operations, org, own, package, plugin, policy,
    project, provider, replay, schema, stack, state, trace, version, whoami, why,
};

/// Plumb - infrastructure as code
///
/// To begin with Plumb, run `plumb new`: it creates a project and a stack. After that, the usual commands are `up`,
/// which makes what the program says, `preview`, which shows what that would be, and `destroy`, which takes everything down.
#[derive(Parser, Debug)]
#[command(
    name = "pulumi",
    disable_help_flag = true,
    disable_help_subcommand = true,
    disable_version_flag = true,
    subcommand_required = true
)]
pub struct Cli {
    /// Shared flags.
    #[command(flatten)]
    pub globals: GlobalArgs,
    /// The verb.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// The verbs.
#[derive(Subcommand, Debug)]
#[expect(missing_docs, reason = "the arguments of each say what it is for")]
pub enum Command {
    #[command(alias = "update")]
    Up(operations::args::UpArgs),
    #[command(alias = "pre")]
    Preview(operations::args::PreviewArgs),
    Refresh(operations::args::RefreshArgs),
    #[command(aliases = ["down", "dn"])]
    Destroy(operations::args::DestroyArgs),
    Import(operations::args::ImportArgs),
    #[command(aliases = ["create", "setup"])]
    New(new::NewArgs),
    Why(why::WhyArgs),
    Drift(operations::args::DriftArgs),
    Doctor(doctor::DoctorArgs),
    Ci(ci::CiArgs),
    History(history::StackHistoryArgs),
    Config(config::ConfigArgs),
    Stack(stack::StackArgs),
    State(state::StateArgs),
    Install(install::InstallArgs),
    Cancel(cancel::CancelArgs),
    Login(login::LoginArgs),
    /// Log out of a backend
    Logout(logout::LogoutArgs),
    /// Display the current logged-in user
    Whoami(whoami::WhoamiArgs),
    /// Manage organization configuration
    Org(org::OrgArgs),
    /// Manage projects
    Project(project::ProjectArgs),
    /// Manage language and resource provider plugins
    Plugin(plugin::PluginArgs),
    Version(version::VersionArgs),
    #[command(name = "self")]
    Own(own::OwnArgs),
    About(about::AboutArgs),
    Help(help::HelpArgs),
    #[command(alias = "completion")]
    GenCompletion(completion::CompletionArgs),
    Convert(convert::ConvertArgs),
    ExportProgram(convert::ExportProgramArgs),
    GenDocs(package::GenDocsArgs),
    /// Work with packages
    Package(package::PackageArgs),
    /// Analyze package schemas
    Schema(schema::SchemaArgs),
    Policy(policy::PolicyArgs),
    Provider(provider::ProviderArgs),
    Logs(logs::LogsArgs),
    Watch(operations::args::WatchArgs),
    Console(console::ConsoleArgs),
    Do(r#do::DoArgs),
    /// Work with templates of the service
    #[command(hide = true)]
    Template(LaterArgs),
    #[command(hide = true)]
    ReplayEvents(replay::ReplayArgs),
    /// Work with recorded events
    #[command(hide = true)]
    Events(events::EventsArgs),
    #[command(hide = true)]
    ViewTrace(trace::ViewTraceArgs),
    #[command(hide = true)]
    ConvertTrace(trace::ConvertTraceArgs),
    /// Describe the command line as JSON
    #[command(hide = true)]
    GenerateCliSpec(describe::SpecArgs),
    /// Describe the command line as Markdown
    #[command(hide = true)]
    GenMarkdown(describe::FolderArgs),
    /// Describe the command line as manual pages
    #[command(hide = true)]
    GenMan(describe::FolderArgs),
    /// Answer shells that complete words
    #[command(name = "__complete", hide = true)]
    Complete(completion::CompleteArgs),
    /// Manage environments
    Env(LaterArgs),
    /// Manage deployments of the service
    Deployment(LaterArgs),
    /// Call the service
    #[command(hide = true)]
    Api(LaterArgs),
    /// Search resources across stacks
    #[command(hide = true)]
    Insights(LaterArgs),
    /// Talk to an agent
    #[command(hide = true)]
    Neo(LaterArgs),
}

/// Arguments of commands that are known and not built.
#[derive(Args, Debug)]
pub struct LaterArgs {
    /// Whatever follows
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub words: Vec<String>,
}

impl Command {
    /// Runs the command.
    pub fn run(self, ctx: &Context) -> Result<ExitStatus, Error> {
        match self {
            Command::Up(args) => operations::up(args, ctx),
            Command::Preview(args) => operations::preview(args, ctx),
            Command::Refresh(args) => operations::refresh(args, ctx),
            Command::Destroy(args) => operations::destroy(args, ctx),
            Command::Import(args) => operations::import(args, ctx),
            Command::Why(args) => why::run(args, ctx),
            Command::Drift(args) => operations::drift(args, ctx),
            Command::Doctor(args) => doctor::run(args, ctx),
            Command::Ci(args) => ci::run(&args, ctx),
            Command::History(args) => history::run(args, ctx),
            Command::New(args) => new::run(args, ctx),
            Command::Config(args) => config::run(args, ctx),
            Command::Stack(args) => stack::run(args, ctx),
            Command::State(args) => state::run(args, ctx),
            Command::Install(args) => install::run(args, ctx),
            Command::Cancel(args) => cancel::run(args, ctx),
            Command::Login(args) => login::run(&args, ctx),
            Command::Logout(args) => logout::run(args, ctx),
            Command::Whoami(args) => whoami::run(args, ctx),
            Command::Org(args) => org::run(args, ctx),
            Command::Project(args) => project::run(args, ctx),
            Command::Plugin(args) => plugin::run(args, ctx),
            Command::Version(args) => version::run(args, ctx),
            Command::Own(args) => own::run(args, ctx),
            Command::About(args) => about::run(args, ctx),
            Command::Help(args) => help::run(&args, ctx),
            Command::GenCompletion(args) => completion::run(args, ctx),
            Command::Convert(args) => convert::run(&args, ctx),
            Command::ExportProgram(args) => convert::export(&args, ctx),
            Command::GenDocs(args) => package::docs(args, ctx),
            Command::Package(args) => package::run(args, ctx),
            Command::Schema(args) => schema::run(args, ctx),
            Command::Policy(args) => policy::run(args, ctx),
            Command::Provider(args) => provider::run(&args, ctx),
            Command::Logs(args) => logs::run(args, ctx),
            Command::Watch(args) => operations::watch(args, ctx),
            Command::Console(args) => console::run(args, ctx),
            Command::Do(args) => r#do::run(args, ctx),
            Command::ReplayEvents(args) => replay::run(args, ctx),
            Command::Events(args) => events::run(&args),
            Command::ViewTrace(args) => trace::view(&args, ctx),
            Command::ConvertTrace(args) => trace::convert(&args, ctx),
            Command::GenerateCliSpec(args) => describe::spec(&args, ctx),
            Command::GenMarkdown(args) => describe::markdown(args, ctx),
            Command::GenMan(args) => describe::manual(args, ctx),
            Command::Complete(args) => completion::complete(&args, ctx),
            Command::Template(_) => Err(Error::needs_service("`template`")
                .hint("`plumb new --list-templates` lists the templates that are here")),
            Command::Env(_) => Err(Error::needs_service("`env`").hint(
                "keep values in `plumb config`, what all stacks share under `config` in Pulumi.yaml, and secrets with \
                 `plumb config set --secret`",
            )),
            Command::Deployment(_) => Err(Error::needs_service("`deployment`")
                .hint("run `plumb up --yes` where your builds run")),
            Command::Api(_) => Err(Error::needs_service("`api`")
                .hint("most commands print JSON with `--json` or `--output json`")),
            Command::Insights(_) => Err(Error::needs_service("`insights`")
                .hint("`plumb stack --output json` lists the resources of a stack")),
            Command::Neo(_) => Err(Error::needs_service("`neo`")),
        }
    }
}
