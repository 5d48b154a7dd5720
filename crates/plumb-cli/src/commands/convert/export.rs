//! `export-program`: the resources of a stack as a program in any language.
//!
//! 1. `plumb-yaml` declares the resources of the state in YAML; its secrets become settings.
//! 2. That is converted like any program ([`super`]).
//! 3. The settings file of the stack is copied beside it, with the new settings, so that the program can be previewed on
//!    the stack at once.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use clap::Args;
use plumb_operate::context::{
    IfMissing, LoadedProject, Stack, StackSecrets, StackSettings, StateFallback,
};
use plumb_operate::operations::of_translated;
use plumb_operate::operations::plugin_of;
use plumb_operate::packages::schemas;
use plumb_operate::secret_settings::{known_secrets, save_secrets};
use plumb_operate::{Context, Error, ExitStatus};
use plumb_pcl::Leniency;
use plumb_resource::ResourceState;
use plumb_resource::provider::PluginSpec;
use plumb_schema::PackageSchema;
use plumb_state::Snapshot;
use plumb_yaml::imported::{self, Imported, Setting, WholeProgram, whole_program};

use super::target::{self, Target};
use crate::commands::language::block_on;

/// Write a program that declares what a stack has
///
/// Declares all resources of the stack in a new program, in python, typescript, go, java, csharp, rust, yaml or pcl. Properties
/// that depend on other resources refer to them, and secrets become settings. Components are left out, because their code is not in
/// the state; their resources are declared with aliases. The new project has the name and the settings of the stack, so that
/// a preview there shows what is different, which should be nothing.
#[derive(Args, Debug)]
pub struct ExportProgramArgs {
    /// The language of the program
    #[arg(long)]
    pub language: String,
    /// The directory to write the project to; it must not have one
    #[arg(long)]
    pub out: String,
    /// The name of the stack to operate on. Defaults to the current stack
    #[arg(short, long)]
    pub stack: Option<String>,
    /// Write the program only; do not install dependencies
    #[arg(long)]
    pub generate_only: bool,
}

/// Runs `export-program`.
pub fn run(args: &ExportProgramArgs, ctx: &Context) -> Result<ExitStatus, Error> {
    let target = Target::named(&args.language)?;
    let out = ctx.environment.cwd.join(&args.out);
    if out.join("Pulumi.yaml").exists() {
        return Err(Error::user(format!(
            "there is a project in {}; name another directory with --out",
            out.display()
        )));
    }
    let source = Source::open(args.stack.as_deref(), ctx)?;
    let made = source.program(&target, ctx)?;
    let translated = plumb_yaml::program_as_pcl("main", &made.code.text);
    let sources = of_translated(&translated, "main.pp")?;
    let project = ctx.find_project()?;
    let folder = project.map_or(ctx.environment.cwd.as_path(), LoadedProject::root);
    let name = source.stack.project_name();
    let description = target::description(folder, folder, Some(name))?;
    super::write_program(
        &sources,
        Leniency::ALL,
        &target,
        &description,
        &out,
        false,
        ctx,
    )?;
    target::write_description(&out, description, &target)?;
    source.write_settings(&made.settings, &out)?;
    for path in &made.files {
        target::copy_file(folder, &out, path)?;
    }
    for note in &made.code.notes {
        ctx.printer.warning(note);
    }
    if !args.generate_only && !matches!(target, Target::Pcl) {
        target::install(&out, ctx)?;
    }
    ctx.printer.info(&format!(
        "The program is in {}. To see what it lacks, run `plumb preview --stack {}` there.",
        args.out,
        source.stack.name()
    ));
    Ok(ExitStatus::Success)
}

/// The stack whose resources become a program.
struct Source {
    stack: Stack,
    /// State, decrypted.
    snapshot: Snapshot,
    settings: StackSettings,
    secrets: StackSecrets,
}

impl Source {
    fn open(name: Option<&str>, ctx: &Context) -> Result<Self, Error> {
        let stack = ctx.require_stack(name, IfMissing::Fail)?;
        let state = ctx.load_state(&stack)?;
        let snapshot = ctx.decrypt_state(&state)?;
        let settings = ctx.stack_settings(&stack, None)?;
        let fallback = StateFallback::IfEnabled;
        let secrets = ctx.stack_secrets(&settings, &stack, state.provider(), fallback)?;
        Ok(Source {
            stack,
            snapshot,
            settings,
            secrets,
        })
    }

    /// The program of all resources.
    fn program(&self, target: &Target, ctx: &Context) -> Result<WholeProgram, Error> {
        let states = &self.snapshot.resources;
        let specs = states
            .iter()
            .map(|state| plugin_of(state, &PluginSpec::named(package_of(state)), &self.snapshot));
        let specs: Vec<PluginSpec> = specs.collect();
        let packages: Vec<Option<Arc<PackageSchema>>> = block_on(schemas(&specs, ctx))??;
        let resources: Vec<Imported<'_>> = states
            .iter()
            .zip(packages)
            .map(|(state, package)| Imported {
                state,
                package,
                is_protected: state.protect,
            })
            .collect();
        let root = states.iter().find(|state| state.urn.is_root_stack());
        let outputs = root.map(|state| Arc::clone(&state.outputs));
        let outputs = outputs.unwrap_or_default();
        let project = self.stack.project_name();
        let target = imported::Target {
            known_secrets: known_secrets(&self.settings, &self.secrets, project)?,
            is_yaml: matches!(target, Target::Yaml),
            ..imported::Target::default()
        };
        Ok(whole_program(&resources, &outputs, target))
    }

    /// Copies the settings file of the stack, and adds settings.
    fn write_settings(&self, added: &[Setting], out: &Path) -> Result<(), Error> {
        let path = out.join(format!("Pulumi.{}.yaml", self.stack.name()));
        let former = self.settings.path.as_ref();
        if let Some(from) = former.filter(|_| self.settings.exists()) {
            fs::copy(from, &path).map_err(|error| Error::from(error).context(path.display()))?;
        }
        let project = self.stack.project_name();
        let mut copy = StackSettings::read(&path, project)?;
        save_secrets(&mut copy, &self.secrets, project, added)
    }
}

/// The package that has the type of a resource.
fn package_of(state: &ResourceState) -> &str {
    let token = &state.type_token;
    if token.is_provider() {
        token.name()
    } else {
        token.package()
    }
}
