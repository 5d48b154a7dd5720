//! Module, packages and folders of an SDK (`codegen.md` 4.1).

use plumb_schema::bound::Package;

use super::names;
use super::settings::Settings;
use crate::GenerateError;

/// Paths of an SDK.
pub(super) struct Layout {
    /// Path of the Go module; `None` if the SDK is part of another module.
    pub(super) module_path: Option<String>,
    /// Import path of the root package.
    pub(super) base: String,
    /// Folder of the root package within the SDK; empty for the SDK's top folder.
    pub(super) folder: String,
    /// Name of the root package.
    pub(super) package: String,
    /// Folder of the additional packages with generic types; empty for the main packages.
    pub(super) tree: &'static str,
}

impl Layout {
    pub(super) fn new(
        package: &Package<'_>,
        settings: &Settings<'_>,
        is_whole: bool,
    ) -> Result<Self, GenerateError> {
        let name = package.name.replace('-', "");
        let base_name = settings.import_base_path.map_or(name.as_str(), last_step);
        let imported_path = is_whole.then(|| imported_path(package, settings));
        let base = match (settings.import_base_path, &imported_path) {
            (Some(base), _) if !is_whole || settings.module_path.is_none() => base.to_owned(),
            (_, Some(module)) => format!("{module}/{base_name}"),
            (_, None) => format!(
                "{}/sdk{}/go/{}",
                root(package),
                version_step(package),
                package.name
            ),
        };
        let module_path = imported_path.map(|path| declared_path(package, settings, path));
        let folder = match settings.root_package_name {
            Some(_) if !is_whole => String::new(),
            _ => base_name.to_owned(),
        };
        let package = settings
            .root_package_name
            .map_or_else(|| names::package(base_name), names::word);
        check("the import path", &base)?;
        check("the folder of helpers", settings.internal_module)?;
        if let Some(path) = &module_path {
            check("the module path", path)?;
        }
        Ok(Layout {
            module_path,
            base,
            folder,
            package,
            tree: "",
        })
    }

    /// Folder of a module.
    pub(super) fn folder_of(&self, module: &str) -> String {
        joined(&joined(&self.folder, self.tree), &module.to_lowercase())
    }

    /// Import path of a module.
    pub(super) fn import_of(&self, module: &str) -> String {
        joined(&joined(&self.base, self.tree), &module.to_lowercase())
    }

    /// Folder of the shared helpers.
    pub(super) fn shared_folder_of(&self, helpers: &str) -> String {
        joined(&self.folder, helpers)
    }

    /// Import path of the shared helpers.
    pub(super) fn shared_import_of(&self, helpers: &str) -> String {
        joined(&self.base, helpers)
    }

    /// Go package name of a module.
    pub(super) fn package_of(&self, module: &str) -> String {
        if module.is_empty() {
            self.package.clone()
        } else {
            names::package(&module.to_lowercase())
        }
    }
}

/// Checks that a path is a valid Go import path.
pub(super) fn check(what: &'static str, path: &str) -> Result<(), GenerateError> {
    let is_fit = |char: char| char.is_ascii_alphanumeric() || "-._~+@!/".contains(char);
    let is_wrong = |step: &str| step.is_empty() || step.starts_with('.') || step.ends_with('.');
    if path.chars().all(is_fit) && !path.split('/').any(is_wrong) {
        return Ok(());
    }
    Err(GenerateError::Name {
        what,
        name: path.escape_debug().to_string(),
        why: "it cannot be imported in Go",
    })
}

/// Path by which programs import the module.
fn imported_path(package: &Package<'_>, settings: &Settings<'_>) -> String {
    if let Some(path) = settings.module_path {
        path.to_owned()
    } else if let Some((folder, _)) = settings
        .import_base_path
        .and_then(|base| base.rsplit_once('/'))
    {
        folder.to_owned()
    } else {
        format!("{}/sdk/go{}", root(package), version_step(package))
    }
}

/// Path that `go.mod` declares. Published extensions declare only their name, because programs map the import path to the
/// SDK's folder with `replace`.
fn declared_path(package: &Package<'_>, settings: &Settings<'_>, imported: String) -> String {
    let parameterization = package.parameterization.as_ref();
    let is_extension = parameterization.is_some_and(|it| it.is_extension);
    let is_set = settings.module_path.is_some() || settings.import_base_path.is_some();
    if is_extension && !is_set {
        package.name.to_owned()
    } else {
        imported
    }
}

/// Repository of the SDK.
fn root(package: &Package<'_>) -> String {
    let repository = package.about.repository.and_then(repository);
    repository.unwrap_or_else(|| match package.namespace {
        Some(namespace) => format!("github.com/{namespace}/pulumi-{}", package.name),
        None => format!("example.com/pulumi-{}", package.name),
    })
}

/// Host and path of a repository.
pub(crate) fn repository(url: &str) -> Option<String> {
    let (_, path) = url.split_once("://")?;
    let path = path
        .split(['?', '#'])
        .next()
        .unwrap_or(path)
        .trim_end_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path);
    (!path.is_empty() && !path.contains(char::is_whitespace)).then(|| path.to_owned())
}

/// Suffix of import paths for major versions 2 and above.
fn version_step(package: &Package<'_>) -> String {
    match &package.version {
        Some(version) if version.major >= 2 => format!("/v{}", version.major),
        _ => String::new(),
    }
}

pub(super) fn joined(folder: &str, path: &str) -> String {
    match (folder.is_empty(), path.is_empty()) {
        (_, true) => folder.to_owned(),
        (true, false) => path.to_owned(),
        (false, false) => format!("{folder}/{path}"),
    }
}

pub(super) fn last_step(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
