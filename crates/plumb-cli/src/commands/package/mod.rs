//! `package` (`cli.md` 10).

mod add;
pub(crate) mod gen_docs;
mod gen_sdk;
mod get_mapping;
mod get_schema;
mod info;
pub(crate) mod local;
pub(crate) mod sdk;
pub(crate) mod target;

use clap::{Args, Subcommand};
use plumb_operate::{Context, Error, ExitStatus};

use super::new;
use crate::cli::LaterArgs;

pub use gen_docs::GenDocsArgs;

/// Work with Pulumi packages
#[derive(Args, Debug)]
pub struct PackageArgs {
    /// The verb.
    #[command(subcommand)]
    pub verb: PackageVerb,
}

/// What to do with packages.
#[derive(Subcommand, Debug)]
#[expect(missing_docs, reason = "the arguments of each say what it is for")]
pub enum PackageVerb {
    GetSchema(get_schema::GetSchemaArgs),
    GenSdk(gen_sdk::GenSdkArgs),
    GenDocs(gen_docs::GenDocsArgs),
    Info(info::InfoArgs),
    Add(add::AddArgs),
    GetMapping(get_mapping::GetMappingArgs),
    #[command(aliases = ["create", "setup"])]
    New(new::PackageNewArgs),
    /// Publish a package to the registry
    Publish(LaterArgs),
    /// Remove a package from the registry
    #[command(alias = "delete")]
    Remove(LaterArgs),
    /// Pack a package SDK to a language specific artifact
    #[command(hide = true)]
    PackSdk(LaterArgs),
    /// Publish a package SDK to a package registry
    #[command(hide = true)]
    PublishSdk(LaterArgs),
}

/// Runs `gen-docs`, which is also a top-level command.
pub fn docs(args: GenDocsArgs, ctx: &Context) -> Result<ExitStatus, Error> {
    gen_docs::run(args, ctx)?;
    Ok(ExitStatus::Success)
}

/// Runs a verb of `package`.
pub fn run(args: PackageArgs, ctx: &Context) -> Result<ExitStatus, Error> {
    match args.verb {
        PackageVerb::GetSchema(args) => get_schema::run(args, ctx)?,
        PackageVerb::GenSdk(args) => gen_sdk::run(args, ctx)?,
        PackageVerb::GenDocs(args) => gen_docs::run(args, ctx)?,
        PackageVerb::Info(args) => info::run(args, ctx)?,
        PackageVerb::Add(args) => add::run(args, ctx)?,
        PackageVerb::GetMapping(args) => get_mapping::run(args, ctx)?,
        PackageVerb::New(args) => return new::component(args, ctx),
        PackageVerb::PackSdk(_) => return Err(Error::unsupported("`package pack-sdk`")),
        PackageVerb::PublishSdk(_) => return Err(Error::unsupported("`package publish-sdk`")),
        PackageVerb::Publish(_) => return Err(Error::needs_service("`package publish`")),
        PackageVerb::Remove(_) => return Err(Error::needs_service("`package remove`")),
    }
    Ok(ExitStatus::Success)
}
