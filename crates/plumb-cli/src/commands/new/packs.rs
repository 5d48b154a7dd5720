//! New component packages and policy packs (`cli.md` 10, 11).

use std::path::Path;

use clap::Args;
use plumb_operate::{Context, Error, ExitStatus, prompt};

use super::instantiate::{self, Naming};
use super::template::{self, Kind};
use super::{folder_for, runtime, sanitized};

/// Creates a new component package from a template
///
/// A component package is a plugin whose components programs of every language can use. The template is a folder, an address, or
/// the name of a built-in one (typescript, python, rust) or of one of github.com/pulumi/templates-packages.
#[derive(Args, Debug)]
pub struct PackageNewArgs {
    /// The package description; if not specified, that of the template
    #[arg(long)]
    pub description: Option<String>,
    /// The location to place the generated package; if not specified, the current directory is used
    #[arg(short, long)]
    pub dir: Option<String>,
    /// Forces content to be generated even if it would change existing files
    #[arg(short, long)]
    pub force: bool,
    /// Generate the package only; do not install dependencies
    #[arg(short, long)]
    pub generate_only: bool,
    /// The package name; if not specified, the name of the folder
    #[arg(short, long)]
    pub name: Option<String>,
    /// Use locally cached templates without making any network requests
    #[arg(short, long)]
    pub offline: bool,
    /// Skip prompts and proceed with default values
    #[arg(short, long)]
    pub yes: bool,
    /// The template
    pub template: Option<String>,
}

/// Creates a new policy pack
///
/// The template is a folder, an address, or the name of a built-in one (cel, python, rego, rust, typescript) or of one of
/// github.com/pulumi/templates-policy.
#[derive(Args, Debug)]
pub struct PolicyNewArgs {
    /// The location to place the generated policy pack; if not specified, the current directory is used
    #[arg(long)]
    pub dir: Option<String>,
    /// Forces content to be generated even if it would change existing files
    #[arg(short, long)]
    pub force: bool,
    /// Generate the policy pack only; do not install dependencies
    #[arg(short, long)]
    pub generate_only: bool,
    /// Use locally cached templates without making any network requests
    #[arg(short, long)]
    pub offline: bool,
    /// Additional options for the language runtime (format: key1=value1,key2=value2)
    #[arg(long, action = clap::ArgAction::Append, value_delimiter = ',')]
    pub runtime_options: Vec<String>,
    /// The template
    pub template: Option<String>,
}

/// Options for a new pack.
struct Pack<'a> {
    kind: Kind,
    template: Option<&'a str>,
    dir: Option<&'a str>,
    name: Option<&'a str>,
    description: Option<&'a str>,
    force: bool,
    generate_only: bool,
    offline: bool,
    yes: bool,
    runtime_options: &'a [String],
}

/// Runs `package new`.
pub fn component(args: PackageNewArgs, ctx: &Context) -> Result<ExitStatus, Error> {
    let pack = Pack {
        kind: Kind::Component,
        template: args.template.as_deref(),
        dir: args.dir.as_deref(),
        name: args.name.as_deref(),
        description: args.description.as_deref(),
        force: args.force,
        generate_only: args.generate_only,
        offline: args.offline,
        yes: args.yes,
        runtime_options: &[],
    };
    ctx.printer
        .line(&format!("Created component package '{}'", pack.make(ctx)?));
    pack.finish("component package", ctx)
}

/// Runs `policy new`.
pub fn policy(args: PolicyNewArgs, ctx: &Context) -> Result<ExitStatus, Error> {
    let pack = Pack {
        kind: Kind::Policy,
        template: args.template.as_deref(),
        dir: args.dir.as_deref(),
        name: None,
        description: None,
        force: args.force,
        generate_only: args.generate_only,
        offline: args.offline,
        yes: !ctx.is_interactive(),
        runtime_options: &args.runtime_options,
    };
    pack.make(ctx)?;
    ctx.printer.line("Created Policy Pack!");
    pack.finish("Policy Pack", ctx)
}

impl Pack<'_> {
    /// Writes the files; returns the name of the new pack.
    fn make(&self, ctx: &Context) -> Result<String, Error> {
        let options = runtime::parse_options(self.runtime_options)?;
        let template = match self.template {
            Some(name) => template::find(self.kind, name, self.offline, ctx)?,
            None if ctx.is_interactive() => template::choose(self.kind, ctx)?,
            None => {
                let known = template::names(self.kind).join(", ");
                return Err(Error::user(format!(
                    "a template must be named when nobody can be asked; there are {known}"
                )));
            }
        };
        let folder = folder_for(self.dir, self.force, ctx)?;
        let name = match self.name {
            Some(name) => name.to_owned(),
            None if self.yes || self.kind == Kind::Policy || !ctx.is_interactive() => {
                sanitized(&folder)
            }
            None => prompt::text("Package name", Some(&sanitized(&folder)))?,
        };
        let naming = Naming {
            name: &name,
            description: self.description.unwrap_or(&template.description),
        };
        instantiate::copy(&template, &naming, &folder)?;
        let manifest = folder.join(self.kind.manifest());
        runtime::set_options(&manifest, &options)?;
        runtime::adapt(&manifest, &folder, &name, self.yes, ctx)?;
        Ok(name)
    }

    fn finish(&self, what: &str, ctx: &Context) -> Result<ExitStatus, Error> {
        let folder = ctx.environment.cwd.join(self.dir.unwrap_or("."));
        if self.generate_only {
            ctx.printer.note(&format!(
                "To install dependencies for the {what}, run `pulumi install`"
            ));
            return Ok(ExitStatus::Success);
        }
        let manifest = folder.join(self.kind.manifest());
        runtime::install(&manifest, &folder, self.kind == Kind::Component, ctx)?;
        ctx.printer.line(&format!(
            "Your new {what} is ready to go! {}",
            ctx.emoji_or("✨", "")
        ));
        ctx.printer.line("");
        ctx.printer
            .line(&next_step(self.kind, self.dir.map(Path::new)));
        Ok(ExitStatus::Success)
    }
}

/// Installs the dependencies of a component package or a policy pack.
pub(crate) fn install_pack(manifest: &Path, ctx: &Context) -> Result<(), Error> {
    let folder = manifest.parent().unwrap_or(Path::new("/"));
    let is_plugin = manifest.ends_with(Kind::Component.manifest());
    runtime::install(manifest, folder, is_plugin, ctx)
}

fn next_step(kind: Kind, dir: Option<&Path>) -> String {
    let path = dir.unwrap_or(Path::new(".")).display();
    match kind {
        Kind::Policy => format!(
            "To run it with an update of a project, run `plumb up --policy-pack {path}` there"
        ),
        Kind::Component | Kind::Project => {
            format!("To use its components in a project, run `plumb package add {path}` there")
        }
    }
}
