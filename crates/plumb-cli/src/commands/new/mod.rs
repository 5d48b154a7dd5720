//! `new` (`cli.md` 8).

mod builtin;
mod git;
mod instantiate;
mod packs;
mod runtime;
mod template;

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use plumb_backend::StackFilter;
use plumb_operate::context::{NewStack, Stack, StackSecrets, StateFallback};
use plumb_operate::identity::Code;
use plumb_operate::{Context, Error, ExitStatus, prompt};
use plumb_project::config::{ConfigMap, Key, KeyPath, NewValue};
use plumb_project::files::{self, Access};
use plumb_project::project::TemplateSetting;
use plumb_project::{ProjectFile, ProjectName};

use crate::commands::install;
use instantiate::Naming;
use template::{Kind, Template};

pub(crate) use packs::install_pack;
pub use packs::{PackageNewArgs, PolicyNewArgs, component, policy};

/// Create a new project
///
/// A template is a folder, the address of a repository (with the branch and the folder behind `/tree/`), or the name of a
/// built-in one (csharp, go, java, javascript, python, rust, typescript, yaml) or of one of the public repository
/// github.com/pulumi/templates. The new project gets a stack, its configuration is asked for, and what its program depends
/// on is installed.
#[derive(Args, Debug)]
pub struct NewArgs {
    /// Config to save
    #[arg(short, long, action = clap::ArgAction::Append)]
    pub config: Vec<String>,
    /// Config keys contain a path to a property in a map or list to set
    #[arg(long)]
    pub config_path: bool,
    /// The project name; if not specified, a prompt will request it
    #[arg(short, long)]
    pub name: Option<String>,
    /// The project description; if not specified, a prompt will request it
    #[arg(short, long)]
    pub description: Option<String>,
    /// The stack name; either an existing stack or stack to create
    #[arg(short, long)]
    pub stack: Option<String>,
    /// The location to place the generated project; if not specified, the current directory is used
    #[arg(long)]
    pub dir: Option<String>,
    /// Forces content to be generated even if it would change existing files
    #[arg(short, long)]
    pub force: bool,
    /// Generate the project only; do not create a stack, save config, or install dependencies
    #[arg(short, long)]
    pub generate_only: bool,
    /// Use locally cached templates without making any network requests
    #[arg(short, long)]
    pub offline: bool,
    /// Skip prompts and proceed with default values
    #[arg(short, long)]
    pub yes: bool,
    /// The type of the provider that should be used to encrypt and decrypt secrets
    #[arg(long, default_value = "default")]
    pub secrets_provider: String,
    /// Additional options for the language runtime (format: key1=value1,key2=value2)
    #[arg(long, action = clap::ArgAction::Append, value_delimiter = ',')]
    pub runtime_options: Vec<String>,
    /// List locally installed templates and exit
    #[arg(short, long)]
    pub list_templates: bool,
    /// Store stack configuration remotely
    #[arg(long, hide = true)]
    pub remote_stack_config: bool,
    /// Accepted and ignored
    #[arg(short, long, hide = true)]
    pub template_mode: bool,
    /// Accepted and ignored
    #[arg(long, hide = true)]
    pub ai: Option<String>,
    /// Accepted and ignored
    #[arg(long, hide = true)]
    pub language: Option<String>,
    /// The template
    pub template: Option<String>,
}

/// Runs `new`.
pub fn run(args: NewArgs, ctx: &Context) -> Result<ExitStatus, Error> {
    if args.list_templates {
        for template in template::all(Kind::Project, !args.offline, ctx)? {
            ctx.printer
                .line(&format!("{:<12}{}", template.name, template.description));
        }
        return Ok(ExitStatus::Success);
    }
    if args.remote_stack_config {
        return Err(Error::needs_service("`--remote-stack-config`"));
    }
    if !args.yes && !ctx.is_interactive() {
        return Err(
            Error::user("non-interactive mode requires --yes flag").known(Code::NotConfirmed)
        );
    }
    if let Some((template, folder)) = make(&args, Purpose::Project, ctx)? {
        say_next_steps(&args, &template, &folder, ctx);
    }
    Ok(ExitStatus::Success)
}

/// The purpose of a new project.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Purpose {
    /// A permanent project, whose name must be unused.
    Project,
    /// A project for a single update, possibly of an existing stack.
    Update,
}

/// Creates the project, and its stack unless only files are requested. Returns its template and its folder, or `None` for a
/// project without a template.
fn make(
    args: &NewArgs,
    purpose: Purpose,
    ctx: &Context,
) -> Result<Option<(Template, PathBuf)>, Error> {
    if let Some(name) = args.name.as_deref().filter(|name| !name.is_empty()) {
        checked_name(name)?;
    }
    check_folder(args.dir.as_deref(), args.force, ctx)?;
    if let Some(name) = args.name.as_deref().filter(|name| !name.is_empty()) {
        compare_names(name, args)?;
        if purpose == Purpose::Project {
            check_unused(name, args, ctx)?;
        }
    }
    let template = choose_template(args, ctx)?;
    let options = runtime::parse_options(&args.runtime_options)?;
    // Created after the template is found, because a local template may have the name of the folder.
    let folder = folder_for(args.dir.as_deref(), args.force, ctx)?;
    let Some(template) = template else {
        empty_project(args, &folder, ctx)?;
        return Ok(None);
    };
    let (name, description) = naming(args, &template, &folder, ctx)?;
    let naming = Naming {
        name: &name,
        description: &description,
    };
    instantiate::copy(&template, &naming, &folder)?;
    let manifest = folder.join(Kind::Project.manifest());
    runtime::set_options(&manifest, &options)?;
    runtime::adapt(&manifest, &folder, &name, args.yes, ctx)?;
    ctx.printer.line(&format!("Created project '{name}'"));
    ctx.printer.line("");
    let inner = ctx.in_folder(&folder)?;
    if !args.generate_only {
        let stack = make_stack(args, &inner)?;
        if save_config(args, &template, &stack, &inner)? {
            ctx.printer.line("Saved config");
            ctx.printer.line("");
        }
        install::packages(inner.project()?, true, &inner)?;
        install::dependencies(inner.project()?, false, &inner)?;
    }
    Ok(Some((template, folder)))
}

/// Options for an update from a template.
pub(crate) struct TemplateUpdate<'a> {
    pub(crate) template: &'a str,
    pub(crate) stack: Option<&'a str>,
    pub(crate) config: &'a [String],
    pub(crate) config_path: bool,
    pub(crate) secrets_provider: &'a str,
    pub(crate) yes: bool,
}

/// Creates a project from a template in an empty folder, for a single update; its name is that of the template.
pub(crate) fn for_update(
    update: &TemplateUpdate<'_>,
    folder: &Path,
    ctx: &Context,
) -> Result<(), Error> {
    let last = update.template.trim_end_matches('/').rsplit('/').next();
    let name = sanitized(Path::new(last.unwrap_or_default().trim_end_matches(".git")));
    let is_qualified = update
        .stack
        .is_some_and(|stack| stack.matches('/').count() == 2);
    let args = NewArgs {
        config: update.config.to_vec(),
        config_path: update.config_path,
        // A qualified stack name contains the project.
        name: (!is_qualified).then_some(name),
        description: None,
        stack: update.stack.map(ToOwned::to_owned),
        dir: Some(folder.to_string_lossy().into_owned()),
        force: false,
        generate_only: false,
        offline: false,
        yes: update.yes,
        secrets_provider: update.secrets_provider.to_owned(),
        runtime_options: Vec::new(),
        list_templates: false,
        remote_stack_config: false,
        template_mode: false,
        ai: None,
        language: None,
        template: Some(update.template.to_owned()),
    };
    make(&args, Purpose::Update, ctx).map(drop)
}

fn choose_template(args: &NewArgs, ctx: &Context) -> Result<Option<Template>, Error> {
    match &args.template {
        Some(name) => template::find(Kind::Project, name, args.offline, ctx).map(Some),
        None if args.yes => Ok(None),
        None => template::choose(Kind::Project, ctx).map(Some),
    }
}

/// Checks that the folder can be used for a new project.
fn check_folder(dir: Option<&str>, force: bool, ctx: &Context) -> Result<(), Error> {
    let folder = ctx.environment.cwd.join(dir.unwrap_or_default());
    if force || !folder.exists() {
        return Ok(());
    }
    instantiate::check_empty(&folder)
}

/// Folder for the new project, which must be empty unless `force` is set.
fn folder_for(dir: Option<&str>, force: bool, ctx: &Context) -> Result<PathBuf, Error> {
    let folder = match dir {
        Some(dir) => ctx.environment.cwd.join(dir),
        None => ctx.environment.cwd.clone(),
    };
    fs::create_dir_all(&folder).map_err(|error| Error::from(error).context(folder.display()))?;
    if !force {
        instantiate::check_empty(&folder)?;
    }
    Ok(folder)
}

/// Creates a project without a program, which supports settings and stacks.
fn empty_project(args: &NewArgs, folder: &Path, ctx: &Context) -> Result<(), Error> {
    let given = args.name.as_deref().filter(|name| !name.is_empty());
    let name = match given {
        Some(name) => checked_name(name)?,
        None => sanitized(folder),
    };
    let mut file = ProjectFile::parse("Pulumi.yaml", "")?;
    file.set_text("name", &name);
    if let Some(description) = &args.description {
        file.set_text("description", description);
    }
    files::write_text(&folder.join("Pulumi.yaml"), &file.to_text(), Access::Shared)?;
    ctx.printer.line(&format!("Created project '{name}'"));
    Ok(())
}

/// Project in a fully qualified stack name.
fn project_of_stack(args: &NewArgs) -> Option<&str> {
    let parts: Vec<&str> = args.stack.as_deref()?.split('/').collect();
    match parts.as_slice() {
        [_, project, _] => Some(project),
        _ => None,
    }
}

fn compare_names(name: &str, args: &NewArgs) -> Result<(), Error> {
    match project_of_stack(args).filter(|_| !args.generate_only) {
        Some(project) if project != name => Err(Error::user(format!(
            "project name (--name {name}) and stack reference project name (--stack {project}) must be the same"
        ))),
        _ => Ok(()),
    }
}

/// Rejects the name of a project that has stacks, unless the user confirms.
fn check_unused(name: &str, args: &NewArgs, ctx: &Context) -> Result<(), Error> {
    if args.generate_only || !has_stacks(name, ctx)? {
        return Ok(());
    }
    let text = format!("a project with this name already exists: {name}");
    if ctx.is_interactive() && !args.yes {
        let question = format!("A project with the name `{name}` already exists.");
        let choices = vec![format!("Use '{name}' anyway"), "Stop".to_owned()];
        if prompt::select(&question, choices)? == 0 {
            return Ok(());
        }
    }
    Err(Error::user(text))
}

fn has_stacks(name: &str, ctx: &Context) -> Result<bool, Error> {
    let filter = StackFilter {
        project: Some(ProjectName::unchecked(name)),
        ..StackFilter::default()
    };
    Ok(!ctx.backend()?.stack_names(&filter)?.is_empty())
}

fn naming(
    args: &NewArgs,
    template: &Template,
    folder: &Path,
    ctx: &Context,
) -> Result<(String, String), Error> {
    let default = if template.project_name == "${PROJECT}" || template.project_name.is_empty() {
        sanitized(folder)
    } else {
        template.project_name.clone()
    };
    let given = args.name.as_deref().filter(|name| !name.is_empty());
    let name = match (given, project_of_stack(args)) {
        (_, Some(project)) => checked_name(project)?,
        (Some(name), None) => checked_name(name)?,
        (None, None) if args.yes => {
            check_unused(&default, args, ctx).map_err(|error| {
                let text = error.text().unwrap_or_default();
                Error::user(format!("'{default}' is not a valid project name. {text}"))
            })?;
            default
        }
        (None, None) => {
            let name = checked_name(&prompt::text("Project name", Some(&default))?)?;
            check_unused(&name, args, ctx)?;
            name
        }
    };
    let description = match &args.description {
        Some(description) => description.clone(),
        None if args.yes => template.suggested_description.clone(),
        None => prompt::text("Project description", Some(&template.suggested_description))?,
    };
    Ok((name, description))
}

fn checked_name(name: &str) -> Result<String, Error> {
    ProjectName::parse(name).map_err(|error| {
        Error::from(error).context(format!("'{name}' is not a valid project name"))
    })?;
    Ok(name.to_owned())
}

/// The folder's name without characters that project names must not contain.
fn sanitized(folder: &Path) -> String {
    let name = folder
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    let name: String = name
        .chars()
        .filter(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
        .take(100)
        .collect();
    if ProjectName::parse(&name).is_ok() {
        name
    } else {
        "project".to_owned()
    }
}

fn make_stack(args: &NewArgs, ctx: &Context) -> Result<Stack, Error> {
    let name = match &args.stack {
        Some(name) => name.clone(),
        None if args.yes => "dev".to_owned(),
        None => prompt::text("Stack name", Some("dev"))?,
    };
    let stack = ctx.stack_named(&name)?;
    if !stack.backend.stack_exists(&stack.reference)? {
        let new = NewStack {
            secrets_provider: Some(&args.secrets_provider),
            config_file: None,
        };
        ctx.create_stack(&stack, new)?;
        ctx.printer.line("");
    }
    ctx.select_stack(&stack)?;
    Ok(stack)
}

/// Saves the settings from the command line, and those that the template prompts for.
fn save_config(
    args: &NewArgs,
    template: &Template,
    stack: &Stack,
    ctx: &Context,
) -> Result<bool, Error> {
    let mut settings = ctx.stack_settings(stack, None)?;
    let secrets = ctx.stack_secrets(&settings, stack, None, StateFallback::IfEnabled)?;
    let mut values = FirstValues {
        config: settings.file.config().clone(),
        project: stack.project_name(),
        secrets: &secrets,
    };
    for pair in &args.config {
        values.take(pair, args.config_path, template)?;
    }
    let mut wanted: Vec<_> = template.spec.config.iter().collect();
    wanted.sort_by(|left, right| left.0.cmp(right.0));
    for (name, setting) in wanted {
        values.ask(name, setting, args.yes)?;
    }
    let config = values.config;
    if config == *settings.file.config() {
        return Ok(false);
    }
    settings.file.set_config(&config);
    settings.save(Some(&secrets))?;
    Ok(true)
}

/// Initial settings of a stack.
struct FirstValues<'a> {
    config: ConfigMap,
    project: &'a str,
    secrets: &'a StackSecrets,
}

impl FirstValues<'_> {
    /// Adds a setting given as `KEY=VALUE`.
    fn take(&mut self, pair: &str, is_path: bool, template: &Template) -> Result<(), Error> {
        // upstream: a key alone gets an empty value.
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        let path = if is_path {
            KeyPath::parse(key, self.project)?
        } else {
            KeyPath::of(Key::parse_in(key, self.project)?)
        };
        let setting = template.spec.config.get(key);
        let is_secret = setting.is_some_and(|setting| setting.secret);
        self.set(&path, value.to_owned(), is_secret)
    }

    /// Prompts for a template's setting that is not set; uses its default if prompts are disabled.
    fn ask(
        &mut self,
        name: &str,
        setting: &TemplateSetting,
        takes_default: bool,
    ) -> Result<(), Error> {
        let key = Key::parse_in(name, self.project)?;
        if self.config.get(&key).is_some() {
            return Ok(());
        }
        let default = setting.default.clone().unwrap_or_default();
        let question = match &setting.description {
            Some(description) => format!("{description} ({name})"),
            None => name.to_owned(),
        };
        let answer = match (takes_default, setting.secret) {
            (true, _) => default,
            (false, true) => prompt::secret(&question)?,
            (false, false) => prompt::text(&question, Some(&default))?,
        };
        if answer.is_empty() {
            return Ok(());
        }
        self.set(&KeyPath::of(key), answer, setting.secret)
    }

    fn set(&mut self, path: &KeyPath, value: String, is_secret: bool) -> Result<(), Error> {
        let value = if is_secret {
            NewValue::Secure(self.secrets.encrypt(&value)?)
        } else {
            NewValue::Untyped(value)
        };
        Ok(self.config.set_path(path, value)?)
    }
}

fn say_next_steps(args: &NewArgs, template: &Template, folder: &Path, ctx: &Context) {
    ctx.printer.line(&format!(
        "Your new project is ready to go! {}",
        ctx.emoji_or("✨", "")
    ));
    ctx.printer.line("");
    let mut steps = Vec::new();
    if *folder != ctx.environment.cwd {
        steps.push(format!("cd {}", args.dir.as_deref().unwrap_or_default()));
    }
    if args.generate_only {
        let program = ctx.printer.program();
        steps.push(format!("{program} install"));
        steps.push(format!("{program} stack init"));
    }
    match steps.as_slice() {
        [] => ctx
            .printer
            .note("To perform an initial deployment, run `pulumi up`"),
        [step] => ctx.printer.note(&format!(
            "To perform an initial deployment, run '{step}', then, run `pulumi up`"
        )),
        steps => {
            ctx.printer
                .line("To perform an initial deployment, run the following commands:");
            ctx.printer.line("");
            for (index, step) in steps.iter().enumerate() {
                ctx.printer.line(&format!("   {}. {step}", index + 1));
            }
            ctx.printer.line("");
            ctx.printer.note("Then, run `pulumi up`");
        }
    }
    ctx.printer.line("");
    if let Some(quickstart) = &template.spec.quickstart {
        ctx.printer.line(quickstart);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folder_names_become_project_names() {
        assert_eq!(sanitized(Path::new("/a/My App!")), "MyApp");
        assert_eq!(sanitized(Path::new("/a/pulumi")), "project");
        assert_eq!(sanitized(Path::new("/")), "project");
    }
}
