//! `export-program`: what a stack has, as a program in any language.
//!
//! 1. `plumb-yaml` declares the resources of the state in YAML; its secrets become settings.
//! 2. That is converted like any program ([`super`]).
//! 3. The settings file of the stack is copied beside it, with the new settings, so that the program can go on with the
//!    stack at once.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use clap::Args;
use plumb_pcl::{Leniency, Sources};
use plumb_project::config::{Key, KeyPath, NewValue, Value};
use plumb_resource::ResourceState;
use plumb_resource::provider::PluginSpec;
use plumb_schema::PackageSchema;
use plumb_state::Snapshot;
use plumb_yaml::imported::{Imported, Setting, WholeProgram, whole_program};

use super::source::laid_out;
use super::target::{self, Target};
use super::{bind, report};
use crate::commands::language::block_on;
use crate::commands::package::source::schemas;
use crate::context::{IfMissing, Stack, StackSecrets, StackSettings, StateFallback};
use crate::operate::plugin_of;
use crate::{Context, Error, ExitStatus};

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
    let stack = ctx.require_stack(args.stack.as_deref(), IfMissing::Fail)?;
    let state = ctx.load_state(&stack)?;
    let snapshot = ctx.decrypt_state(&state)?;
    let settings = ctx.stack_settings(&stack, None)?;
    let fallback = StateFallback::IfEnabled;
    let secrets = ctx.stack_secrets(&settings, &stack, state.provider(), fallback)?;
    let known = secret_settings(&settings, &secrets, stack.project_name())?;
    let made = program_of(&snapshot, known, ctx)?;
    let sources = as_pcl(&made.code.text)?;
    let folder = ctx
        .find_project()?
        .map_or(ctx.environment.cwd.as_path(), |it| it.root());
    let description = target::description(folder, folder, Some(stack.project_name()))?;
    let mut local = Vec::new();
    let files = if let Target::Pcl = target {
        target::pcl_files(&sources)
    } else {
        let (program, problems) = bind(&sources, Leniency::ALL, ctx)?;
        report(&problems, ctx)?;
        local = target.local_packages(&program);
        let (files, problems) = target.files(&program, &sources, &description, &local)?;
        report(&problems, ctx)?;
        files
    };
    target::write(&out, &files)?;
    target.write_sdks(&local, &out, ctx)?;
    target::write_description(&out, description, &target)?;
    write_settings(&settings, &made.settings, &secrets, &stack, &out)?;
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
        stack.name()
    ));
    Ok(ExitStatus::Success)
}

/// The secrets in the settings of the project, by value: the names of the settings.
fn secret_settings(
    settings: &StackSettings,
    secrets: &StackSecrets,
    project: &str,
) -> Result<BTreeMap<String, String>, Error> {
    let mut known = BTreeMap::new();
    for (key, value) in settings.file.config().iter() {
        if let Value::Secure(ciphertext) = value
            && key.namespace() == project
        {
            let text = secrets.decrypt(ciphertext)?;
            known.insert(text.expose().to_owned(), key.name().to_owned());
        }
    }
    Ok(known)
}

/// The program of all resources in a state.
fn program_of(
    snapshot: &Snapshot,
    known: BTreeMap<String, String>,
    ctx: &Context,
) -> Result<WholeProgram, Error> {
    let states = &snapshot.resources;
    let specs: Vec<PluginSpec> = states
        .iter()
        .map(|state| plugin_of(state, &PluginSpec::named(package_of(state)), snapshot))
        .collect();
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
    let outputs = root
        .map(|state| Arc::clone(&state.outputs))
        .unwrap_or_default();
    Ok(whole_program(&resources, &outputs, known))
}

/// The package that has the type of a resource.
fn package_of(state: &ResourceState) -> &str {
    let token = state.urn.type_text();
    match token.strip_prefix("pulumi:providers:") {
        Some(package) => package,
        None => token.split(':').next().unwrap_or_default(),
    }
}

fn as_pcl(yaml: &str) -> Result<Sources, Error> {
    let translated = plumb_yaml::program_as_pcl("main", yaml);
    if !translated.problems.is_empty() {
        return Err(Error::user(translated.problems.join("\n")));
    }
    let text = laid_out(&translated.text)?;
    Ok(Sources::new([("main.pp".to_owned(), text)]))
}

/// Copies the settings file of the stack, and adds settings.
fn write_settings(
    settings: &StackSettings,
    added: &[Setting],
    secrets: &StackSecrets,
    stack: &Stack,
    out: &Path,
) -> Result<(), Error> {
    let path = out.join(format!("Pulumi.{}.yaml", stack.name()));
    if let Some(from) = settings.path.as_ref().filter(|_| settings.exists()) {
        fs::copy(from, &path).map_err(|error| Error::from(error).context(path.display()))?;
    }
    let mut copy = StackSettings::read(&path, stack.project_name())?;
    let mut config = copy.file.config().clone();
    for setting in added {
        let key = Key::parse_in(&setting.name, stack.project_name())?;
        let value = NewValue::Secure(secrets.encrypt(&setting.value)?);
        let path = KeyPath {
            key,
            rest: Vec::new(),
        };
        config.set_path(&path, value)?;
    }
    copy.file.set_config(&config);
    copy.save(Some(secrets))
}
