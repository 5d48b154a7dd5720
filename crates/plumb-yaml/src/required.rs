//! Packages that a program uses, determined before it runs (`yaml-runtime.md` 9).

use std::collections::BTreeMap;

use plumb_resource::provider::Parameterization;

use crate::component::ComponentsError;
use crate::diagnostic;
use crate::load::{LoadError, Loaded};
use crate::packages::{self, DeclarationError, PackageDeclaration};
use crate::syntax::program::{Syntax, package_of};

/// A package that a program uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequiredPackage {
    /// Name of the plugin.
    pub name: String,
    /// Version of the plugin; empty if the program does not specify one.
    pub version: String,
    /// Download URL of the plugin; empty if the program does not specify one.
    pub download_url: String,
    /// Parameter of a parameterized package.
    pub parameterization: Option<Parameterization>,
}

/// Error while determining a program's packages.
#[derive(Debug, thiserror::Error)]
pub enum RequiredPackagesError {
    /// The program cannot be read.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// A package declaration is invalid.
    #[error(transparent)]
    Declaration(#[from] DeclarationError),
    /// The folder contains a plugin that cannot be read.
    #[error(transparent)]
    Components(#[from] ComponentsError),
    /// The program has errors; contains all of them as text.
    #[error("{0}")]
    Syntax(String),
}

/// Packages that a program uses, sorted by name.
pub(crate) fn required_packages(
    program: &Loaded,
) -> Result<Vec<RequiredPackage>, RequiredPackagesError> {
    if program.diagnostics.iter().any(crate::Diagnostic::is_error) {
        let source = &program.syntax.source;
        let text = diagnostic::joined(&program.diagnostics, source);
        return Err(RequiredPackagesError::Syntax(text));
    }
    let declarations = packages::find_declarations(&program.directory)?;
    Ok(of_bodies([&program.syntax], &declarations))
}

/// Packages of the resources and invokes in `bodies`, sorted by name.
pub(crate) fn of_bodies<'a>(
    bodies: impl IntoIterator<Item = &'a Syntax>,
    declarations: &[PackageDeclaration],
) -> Vec<RequiredPackage> {
    let mut used: BTreeMap<&str, (&str, &str)> = BTreeMap::new();
    let uses = bodies.into_iter().flat_map(|syntax| {
        let resources = syntax.resources.iter().map(|resource| {
            let options = resource.options();
            (resource.package(), &options.version, &options.download_url)
        });
        let invokes = syntax.calls.invokes.iter().map(|invoke| {
            let options = &invoke.options;
            (
                package_of(&invoke.token),
                &options.version,
                &options.download_url,
            )
        });
        resources.chain(invokes)
    });
    for (package, version, download_url) in uses {
        let entry = used.entry(package).or_default();
        if let (Some((version, _)), true) = (version, entry.0.is_empty()) {
            entry.0 = version;
        }
        if let (Some(url), true) = (download_url, entry.1.is_empty()) {
            entry.1 = url;
        }
    }
    used.remove("pulumi");
    from_used(used, declarations)
}

/// Packages for `used`, which maps names to version and download URL; either may be empty.
fn from_used(
    used: BTreeMap<&str, (&str, &str)>,
    declarations: &[PackageDeclaration],
) -> Vec<RequiredPackage> {
    let mut required = Vec::new();
    for (package, (version, download_url)) in used {
        let declared: Vec<_> = declarations
            .iter()
            .filter(|declared| declared.namespace() == package)
            .collect();
        required.extend(declared.iter().map(|declared| {
            RequiredPackage {
                name: declared.name.clone(),
                version: declared.version.clone(),
                download_url: declared.download_url.clone(),
                parameterization: declared
                    .parameterization
                    .clone()
                    .or_else(|| declared.extension.clone()),
            }
        }));
        if declared.is_empty() {
            required.push(RequiredPackage {
                name: package.to_owned(),
                version: version.to_owned(),
                download_url: download_url.to_owned(),
                parameterization: None,
            });
        }
    }
    required.sort_by(|left, right| (&left.name, &left.version).cmp(&(&right.name, &right.version)));
    required.dedup();
    required
}
