//! `policy` (`cli.md` 11).

mod analyze;
mod test;

use clap::{Args, Subcommand};
use plumb_operate::{Context, Error, ExitStatus};

use super::new;
use crate::cli::LaterArgs;

/// Manage policy packs
///
/// Policy packs check the resources that programs ask for, and warn about them, change them or refuse them. `--policy-pack` of `up` and `preview` runs one
/// from a folder, and `policy analyze` runs it over what there is. The commands for packs that a service keeps need one.
#[derive(Args, Debug)]
pub struct PolicyArgs {
    /// The verb.
    #[command(subcommand)]
    pub verb: PolicyVerb,
}

/// What to do with policy packs.
#[derive(Subcommand, Debug)]
#[expect(missing_docs, reason = "the arguments of each say what it is for")]
pub enum PolicyVerb {
    New(new::PolicyNewArgs),
    Analyze(analyze::AnalyzeArgs),
    Test(test::PolicyTestArgs),
    /// Publish a policy pack to the service
    Publish(LaterArgs),
    /// Enable a policy pack of the service
    Enable(LaterArgs),
    /// Disable a policy pack of the service
    Disable(LaterArgs),
    /// List the policy packs of the service
    #[command(alias = "ls")]
    List(LaterArgs),
    /// Remove a policy pack from the service
    #[command(alias = "rm")]
    Remove(LaterArgs),
    /// Check the configuration of a policy pack of the service
    #[command(hide = true)]
    ValidateConfig(LaterArgs),
    /// Install the policy packs that the service demands
    #[command(hide = true)]
    Install(LaterArgs),
    /// Manage policy groups of the service
    #[command(hide = true)]
    Group(LaterArgs),
    /// Show the compliance that the service has found
    #[command(hide = true)]
    Compliance(LaterArgs),
    /// Show issues that the service has found
    #[command(hide = true)]
    Issue(LaterArgs),
}

/// Runs a verb of `policy`.
pub fn run(args: PolicyArgs, ctx: &Context) -> Result<ExitStatus, Error> {
    let verb = match args.verb {
        PolicyVerb::New(args) => return new::policy(args, ctx),
        PolicyVerb::Analyze(args) => return analyze::run(args, ctx),
        PolicyVerb::Test(args) => return test::run(&args, ctx),
        PolicyVerb::Publish(_) => "publish",
        PolicyVerb::Enable(_) => "enable",
        PolicyVerb::Disable(_) => "disable",
        PolicyVerb::List(_) => "list",
        PolicyVerb::Remove(_) => "remove",
        PolicyVerb::ValidateConfig(_) => "validate-config",
        PolicyVerb::Install(_) => "install",
        PolicyVerb::Group(_) => "group",
        PolicyVerb::Compliance(_) => "compliance",
        PolicyVerb::Issue(_) => "issue",
    };
    Err(Error::needs_service(format_args!("`policy {verb}`"))
        .hint("run packs from folders, with `plumb up --policy-pack DIR`"))
}
