//! Sources of templates: built-in ones, folders, and repositories.

use std::fs;
use std::path::{Component, Path, PathBuf};

use plumb_operate::{Context, Error, prompt};
use plumb_project::Project;
use plumb_project::project::Template as TemplateSpec;
use plumb_project::yaml::{self, Node};

use super::builtin::{BUILT_IN, BuiltIn};
use super::git::{Address, git, has_extension};

/// A template with its files.
pub(super) struct Template {
    /// Kind.
    pub(super) kind: Kind,
    /// Name.
    pub(super) name: String,
    /// Name in its project file.
    pub(super) project_name: String,
    /// Description.
    pub(super) description: String,
    /// Description for the new project, unless the user gives one: that of the template's project file, where this is not a
    /// placeholder.
    pub(super) suggested_description: String,
    /// Prompts and messages.
    pub(super) spec: TemplateSpec,
    /// Files.
    pub(super) files: Vec<TemplateFile>,
}

/// A file of a template.
pub(super) struct TemplateFile {
    /// Path relative to the project.
    pub(super) path: PathBuf,
    pub(super) content: Vec<u8>,
    pub(super) is_executable: bool,
}

/// Kind of a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Projects.
    Project,
    /// Packages of components.
    Component,
    /// Policy packs.
    Policy,
}

impl Kind {
    /// Name of the manifest.
    pub(super) fn manifest(self) -> &'static str {
        match self {
            Kind::Project => "Pulumi.yaml",
            Kind::Component => "PulumiPlugin.yaml",
            Kind::Policy => "PulumiPolicy.yaml",
        }
    }

    /// Environment variables for the folder, the repository and the branch of the user's templates.
    fn variables(self) -> [&'static str; 3] {
        match self {
            Kind::Project => [
                "PULUMI_TEMPLATE_PATH",
                "PULUMI_TEMPLATE_GIT_REPOSITORY",
                "PULUMI_TEMPLATE_BRANCH",
            ],
            Kind::Component => [
                "PULUMI_PACKAGE_TEMPLATE_PATH",
                "PULUMI_PACKAGE_TEMPLATE_GIT_REPOSITORY",
                "PULUMI_PACKAGE_TEMPLATE_BRANCH",
            ],
            Kind::Policy => [
                "PULUMI_POLICY_TEMPLATE_PATH",
                "PULUMI_POLICY_TEMPLATE_GIT_REPOSITORY",
                "PULUMI_POLICY_TEMPLATE_BRANCH",
            ],
        }
    }

    /// Repository of the templates that are neither built in nor the user's own.
    fn public_repository(self) -> &'static str {
        match self {
            Kind::Project => "https://github.com/pulumi/templates.git",
            Kind::Component => "https://github.com/pulumi/templates-packages.git",
            Kind::Policy => "https://github.com/pulumi/templates-policy.git",
        }
    }

    /// Folder for cloned template repositories, below the home folder.
    fn cache(self) -> &'static str {
        match self {
            Kind::Project => "templates",
            Kind::Component => "templates-package",
            Kind::Policy => "templates-policy",
        }
    }
}

/// Placeholder for the description of the new project.
pub(super) const DESCRIPTION: &str = "${DESCRIPTION}";

/// Folders that are never copied.
const SKIPPED: [&str; 2] = [".git", ".pulumi.template.yaml"];

/// Names of the built-in templates.
pub(super) fn names(kind: Kind) -> Vec<&'static str> {
    let of_kind = BUILT_IN.iter().filter(|(of, ..)| *of == kind);
    of_kind.map(|(_, name, _)| *name).collect()
}

/// Available templates: the built-in ones, and those in the user's folder or repository. Without `may_fetch`, uses the
/// repository as of the last fetch.
pub(super) fn all(kind: Kind, may_fetch: bool, ctx: &Context) -> Result<Vec<Template>, Error> {
    let of_kind = BUILT_IN.iter().filter(|(of, ..)| *of == kind);
    let mut templates: Vec<Template> = of_kind.map(built_in).collect::<Result<_, _>>()?;
    if let Some(root) = own_folder(kind, may_fetch, ctx)? {
        let entries =
            fs::read_dir(&root).map_err(|error| Error::from(error).context(root.display()))?;
        for entry in entries
            .flatten()
            .filter(|entry| entry.path().join(kind.manifest()).is_file())
        {
            let own = from_folder(kind, &entry.path())?;
            templates.retain(|template| template.name != own.name);
            templates.push(own);
        }
    }
    templates.sort_by(|left, right| left.name.cmp(&right.name));
    Ok(templates)
}

/// Template chosen by the user from [`all`].
pub(super) fn choose(kind: Kind, ctx: &Context) -> Result<Template, Error> {
    let mut all = all(kind, true, ctx)?;
    let choices = all
        .iter()
        .map(|template| format!("{:<12}{}", template.name, template.description))
        .collect();
    let index = prompt::select("Please choose a template:", choices)?;
    Ok(all.swap_remove(index))
}

/// Template named by the user: a folder, an address, one of [`all`], or one of the public repository.
pub(super) fn find(
    kind: Kind,
    name: &str,
    is_offline: bool,
    ctx: &Context,
) -> Result<Template, Error> {
    let folder = ctx.environment.cwd.join(name);
    if folder.is_dir() {
        return from_folder(kind, &folder);
    }
    if let Some(address) = Address::parse(name) {
        return from_address(kind, name, &address, is_offline, ctx);
    }
    let mut templates = all(kind, !is_offline, ctx)?;
    let position = |name: &str| templates.iter().position(|it| it.name == name);
    let found = position(name).or_else(|| position(known_as(kind, name)?));
    if let Some(index) = found {
        return Ok(templates.swap_remove(index));
    }
    let not_found = |place: &str| {
        format!(
            "template '{name}' not found: it is neither a folder, nor an address, nor one of {}, nor {place}",
            names(kind).join(", ")
        )
    };
    if kind
        .variables()
        .iter()
        .any(|it| ctx.environment.non_empty(it).is_some())
    {
        return Err(Error::user(not_found("among your own templates")));
    }
    let repository = kind.public_repository();
    let folder = cloned(kind, repository, None, !is_offline, ctx)
        .map_err(|error| error.context(not_found(&format!("can {repository} be fetched"))))?;
    match folder {
        Some(folder) if is_name(name) && folder.join(name).join(kind.manifest()).is_file() => {
            from_folder(kind, &folder.join(name))
        }
        Some(_) => Err(Error::user(not_found(&format!("in {repository}")))),
        None => Err(Error::user(not_found(&format!(
            "may {repository} be fetched, because of `--offline`"
        )))),
    }
}

/// Whether a text is the name of something within a folder.
fn is_name(text: &str) -> bool {
    let mut parts = Path::new(text).components();
    matches!(
        (parts.next(), parts.next()),
        (Some(Component::Normal(_)), None)
    )
}

/// Name of the built-in template for a name from the public repository of templates: `component-nodejs` is `typescript` here.
fn known_as(kind: Kind, name: &str) -> Option<&str> {
    match (kind, name.strip_prefix("component-")?) {
        (Kind::Component, "nodejs") => Some("typescript"),
        (Kind::Component, language) => Some(language),
        (Kind::Project | Kind::Policy, _) => None,
    }
}

fn from_address(
    kind: Kind,
    name: &str,
    address: &Address,
    is_offline: bool,
    ctx: &Context,
) -> Result<Template, Error> {
    let failed = |error: Error| error.context(format!("template '{name}' not found"));
    if is_offline {
        return Err(failed(Error::user("`--offline` forbids to fetch it")));
    }
    if has_extension(&address.repository, "zip") {
        return Err(failed(Error::user(
            "templates in zip archives are not supported yet; unpack it, and name the folder",
        )));
    }
    let scratch = tempfile::tempdir()?;
    let folder = address
        .fetch(&scratch.path().join("repository"), ctx)
        .map_err(failed)?;
    if folder.join(kind.manifest()).is_file() {
        let mut template = from_folder(kind, &folder)?;
        if address.tree.is_empty() && address.folder.is_empty() {
            let last = address.repository.rsplit('/').next().unwrap_or_default();
            last.trim_end_matches(".git").clone_into(&mut template.name);
        }
        return Ok(template);
    }
    // A folder with several templates: the user chooses one.
    let mut found = Vec::new();
    for entry in fs::read_dir(&folder)?.flatten() {
        if entry.path().join(kind.manifest()).is_file() {
            found.push(from_folder(kind, &entry.path())?);
        }
    }
    found.sort_by(|left: &Template, right| left.name.cmp(&right.name));
    let listed: Vec<String> = found.iter().map(|template| template.name.clone()).collect();
    match found.len() {
        0 => Err(failed(Error::user(format!(
            "there is no {} in it",
            kind.manifest()
        )))),
        1 => Ok(found.remove(0)),
        _ if ctx.is_interactive() => {
            Ok(found.swap_remove(prompt::select("Please choose a template:", listed)?))
        }
        _ => Err(failed(Error::user(format!(
            "it has several templates; name the folder of one: {}",
            listed.join(", ")
        )))),
    }
}

/// Folder of the user's own templates: a local folder, or a repository cached in the home folder.
fn own_folder(kind: Kind, may_fetch: bool, ctx: &Context) -> Result<Option<PathBuf>, Error> {
    let [path, repository, branch] = kind.variables().map(|name| ctx.environment.non_empty(name));
    if let Some(path) = path {
        return Ok(Some(ctx.environment.cwd.join(path)));
    }
    let Some(repository) = repository else {
        return Ok(None);
    };
    cloned(kind, repository, branch, may_fetch, ctx)
}

/// The folder with a clone of a repository. Without `may_fetch`, the clone as of the last fetch, if there is one.
fn cloned(
    kind: Kind,
    repository: &str,
    branch: Option<&str>,
    may_fetch: bool,
    ctx: &Context,
) -> Result<Option<PathBuf>, Error> {
    let target = ctx.environment.pulumi_home.join(kind.cache());
    if !may_fetch {
        return Ok(target.is_dir().then_some(target));
    }
    fs::create_dir_all(&ctx.environment.pulumi_home)?;
    // The former clone stays until there is another one.
    let fresh = tempfile::tempdir_in(&ctx.environment.pulumi_home)?;
    let fresh = fresh.path().join(kind.cache());
    let into = fresh.to_string_lossy().into_owned();
    let mut words = vec!["clone", "--quiet", "--depth", "1"];
    if let Some(branch) = branch {
        words.extend(["--branch", branch]);
    }
    words.extend(["--", repository, &into]);
    git(&words, ctx)?;
    if target.exists() {
        fs::remove_dir_all(&target)?;
    }
    fs::rename(&fresh, &target)?;
    Ok(Some(target))
}

fn built_in((kind, name, files): &BuiltIn) -> Result<Template, Error> {
    let files = files.iter().map(|(path, content)| TemplateFile {
        path: PathBuf::from(path),
        content: content.as_bytes().to_vec(),
        is_executable: false,
    });
    of_files(*kind, name, files.collect())
}

fn from_folder(kind: Kind, folder: &Path) -> Result<Template, Error> {
    let mut files = Vec::new();
    collect(folder, Path::new(""), &mut files)
        .map_err(|error| Error::from(error).context(folder.display()))?;
    files.sort_by(|left, right| left.path.cmp(&right.path));
    let name = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let name = name
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    of_files(kind, &name, files)
}

fn of_files(kind: Kind, name: &str, files: Vec<TemplateFile>) -> Result<Template, Error> {
    let broken = |error: Error| error.context(format!("template '{name}' is currently broken"));
    let file = files
        .iter()
        .find(|file| file.path == Path::new(kind.manifest()))
        .ok_or_else(|| broken(Error::user(format!("it has no {}", kind.manifest()))))?;
    let text = String::from_utf8_lossy(&file.content);
    if kind != Kind::Project {
        let description = described(&text).map_err(broken)?;
        return Ok(Template {
            kind,
            name: name.to_owned(),
            project_name: String::new(),
            suggested_description: description.clone(),
            description,
            spec: TemplateSpec::default(),
            files,
        });
    }
    let project = Project::parse("Pulumi.yaml", &text).map_err(|error| broken(error.into()))?;
    let spec = project.template.unwrap_or_default();
    let of_project = project.description.unwrap_or_default();
    let of_template = spec.description.clone().unwrap_or_default();
    let suggested_description = if of_project == DESCRIPTION {
        of_template.clone()
    } else {
        of_project
    };
    let description = if of_template.is_empty() {
        suggested_description.clone()
    } else {
        of_template
    };
    Ok(Template {
        kind,
        name: name.to_owned(),
        project_name: project.name,
        description,
        suggested_description,
        spec,
        files,
    })
}

/// Description in a manifest other than a project file.
fn described(text: &str) -> Result<String, Error> {
    let document = yaml::parse(text)?;
    let root = document.root.as_ref().and_then(Node::as_mapping);
    let template = root
        .and_then(|root| root.get("template"))
        .and_then(Node::as_mapping);
    let places = [template, root].into_iter().flatten();
    let mut told = places.filter_map(|place| place.get("description").and_then(Node::as_str));
    Ok(told.next().unwrap_or_default())
}

fn collect(root: &Path, below: &Path, files: &mut Vec<TemplateFile>) -> std::io::Result<()> {
    for entry in fs::read_dir(root.join(below))? {
        let entry = entry?;
        let path = below.join(entry.file_name());
        if SKIPPED.iter().any(|skipped| entry.file_name() == *skipped) {
            continue;
        }
        let metadata = fs::metadata(entry.path())?;
        if metadata.is_dir() {
            collect(root, &path, files)?;
        } else {
            let is_executable = is_executable(&metadata);
            files.push(TemplateFile {
                path,
                content: fs::read(entry.path())?,
                is_executable,
            });
        }
    }
    Ok(())
}

#[cfg(unix)]
fn is_executable(metadata: &fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    metadata.permissions().mode() & 0o100 != 0
}

#[cfg(not(unix))]
fn is_executable(_metadata: &fs::Metadata) -> bool {
    false
}
