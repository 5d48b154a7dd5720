//! Packages: their default providers, and recorded plugin information (`engine.md` 3.2, 3.3, 8.8).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ecow::EcoString;
use plumb_resource::ProviderRef;
use plumb_state::Extension;
use plumb_value::PropertyMap;

use super::Model;
use crate::story::{Operation, Package, Res, package_of};
use crate::world::{Trace, Violation};

impl Model<'_> {
    /// Default provider of a package, with the version for providers without an explicit one.
    pub(super) fn default_of(&self, package: &str) -> Option<ProviderRef> {
        let version = self.versions.get(package).cloned();
        self.defaults.get(&(package.to_owned(), version)).cloned()
    }

    /// Default provider for a resource; without one, that of the package `test`. A registered package uses the version
    /// in its registration.
    pub(super) fn default_for(&self, res: Option<&Res>) -> Option<ProviderRef> {
        let package = res.and_then(|res| self.program.package(res));
        match package {
            Some(package) => {
                let key = (package.serves().to_owned(), Some(package.served_version()));
                self.defaults.get(&key).cloned()
            }
            None => self.default_of(res.map_or("test", |res| package_of(&res.type_name))),
        }
    }

    /// The registered package with a parameter that a default provider of this version serves.
    pub(super) fn parameterized(&self, package: &str, version: Option<&str>) -> Option<String> {
        let mut packages = self.program.packages.iter();
        let is_it = |it: &&Package| {
            it.parameter.is_some()
                && it.serves() == package
                && version == Some(it.served_version().as_str())
        };
        packages.find(is_it).map(|it| it.name.clone())
    }

    /// Adds information about the plugin to the inputs of a provider.
    pub(super) fn write_plugin(&mut self, res: &Res, inputs: &mut PropertyMap) {
        let package = self.program.package(res);
        let Some(parameter) = package.and_then(Package::parameterization) else {
            let version = res.version.as_ref().filter(|_| package.is_none());
            let version = version.or(package.map(|it| &it.version));
            let default = self.versions.get(package_of(&res.type_name));
            if let Some(version) = version.or(default) {
                inputs.insert("version", version.as_str());
                inputs.insert("__internal", PropertyMap::new());
            }
            return;
        };
        self.coverage.reach("PARAM-03");
        let plugin = package.map(|package| (package.plugin.as_str(), package.version.as_str()));
        let (name, version) = plugin.unwrap_or_default();
        let internal = PropertyMap::new()
            .with("name", name)
            .with("version", version)
            .with("parameterization", STANDARD.encode(&parameter.value));
        inputs.insert("version", parameter.version.as_str());
        inputs.insert("__internal", internal);
    }

    /// Extension of a resource, by its reference in the state.
    pub(super) fn extension_of(&mut self, res: &Res) -> Option<EcoString> {
        let package = self.program.package(res)?;
        self.coverage
            .reach(match (&package.parameter, &package.extension) {
                (Some(_), _) => "PARAM-02",
                (_, Some(_)) => "EXT-01",
                _ => "PARAM-01",
            });
        let extension = recorded(package)?;
        Some(extension.reference())
    }
}

fn recorded(package: &Package) -> Option<Extension> {
    let extension = package.extension()?;
    Some(Extension {
        name: extension.name,
        version: extension.version,
        value: extension.value,
    })
}

/// Checks that the state has the extensions of all resources, with their content.
pub(super) fn compare(operation: &Operation, trace: &Trace) -> Result<(), Violation> {
    let wrong = |what: String| Err(Violation::new("model: packages", what));
    let extensions = &trace.after.extensions;
    for (reference, extension) in extensions {
        if extension.reference() != *reference {
            return wrong(format!("{reference} stands for {extension:?}"));
        }
    }
    for state in &trace.after.resources {
        let reference = state.extension_ref.as_ref();
        if reference.is_some_and(|reference| !extensions.contains_key(reference)) {
            return wrong(format!("the extension of {} is lost", state.urn.name()));
        }
    }
    let programs = operation.program.packages.iter().filter_map(recorded);
    for extension in programs {
        let known = extensions.get(&extension.reference());
        if known.is_some_and(|known| *known != extension) {
            return wrong(format!("{known:?} is kept for {extension:?}"));
        }
    }
    Ok(())
}
