//! Packages that a program registers, with their plugins and parameterizations.

use std::collections::{BTreeMap, BTreeSet};

use plumb_resource::provider::Parameterization;

use super::{Program, Res, package_of};

/// Package that results from every parameterization.
const PARAMETERIZED: &str = "sub";
/// Name of every extension.
const EXTENSION: &str = "more";

/// A package that a program registers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Package {
    /// Name by which resources refer to the package.
    pub name: String,
    /// Name of the plugin.
    pub plugin: String,
    /// Version of the plugin.
    pub version: String,
    /// Replacement parameterization of the plugin, as `value@version`.
    pub parameter: Option<String>,
    /// Extension parameterization of the plugin, as `value@version`.
    pub extension: Option<String>,
}

fn parameterization(name: &str, text: &str) -> Parameterization {
    let (value, version) = text.split_once('@').unwrap_or((text, "0.1.0"));
    Parameterization {
        name: name.into(),
        version: version.into(),
        value: value.as_bytes().into(),
    }
}

impl Package {
    /// Parameterization that replaces the package of the plugin.
    pub fn parameterization(&self) -> Option<Parameterization> {
        let text = self.parameter.as_ref();
        text.map(|text| parameterization(PARAMETERIZED, text))
    }

    /// Parameterization that extends the package of the plugin.
    pub fn extension(&self) -> Option<Parameterization> {
        let text = self.extension.as_ref();
        text.map(|text| parameterization(EXTENSION, text))
    }

    /// Name of the package of its resources.
    pub fn serves(&self) -> &str {
        match &self.parameter {
            Some(_) => PARAMETERIZED,
            None => &self.plugin,
        }
    }

    /// Version by which its default provider is identified.
    pub fn served_version(&self) -> String {
        let parameter = self.parameterization();
        parameter.map_or_else(|| self.version.clone(), |it| it.version.to_string())
    }
}

impl Program {
    /// Registered package of a resource.
    pub fn package(&self, res: &Res) -> Option<&Package> {
        let name = res.package.as_ref()?;
        self.packages.iter().find(|package| package.name == *name)
    }

    /// Removes packages that cannot be distinguished: default providers are identified by the version of their package,
    /// extensions by their own content.
    pub(super) fn tidy_packages(&mut self) {
        let mut names = BTreeSet::new();
        let mut served: BTreeMap<(String, String), Package> = BTreeMap::new();
        let mut extended: BTreeMap<String, String> = BTreeMap::new();
        self.packages.retain(|package| {
            let has_one_base = package.extension.as_ref().is_none_or(|extension| {
                let version = package.version.clone();
                let base = extended.entry(extension.clone()).or_insert(version);
                *base == package.version
            });
            let anonymous = Package {
                name: String::new(),
                extension: None,
                ..package.clone()
            };
            let key = (package.serves().to_owned(), package.served_version());
            let known = served.entry(key).or_insert_with(|| anonymous.clone());
            let has_one_way = package.parameter.is_none() || package.extension.is_none();
            *known == anonymous && has_one_way && has_one_base && names.insert(package.name.clone())
        });
    }

    /// Removes the package of a resource if it does not match; the parameterized package requires one.
    pub(super) fn tidy_package_of(&self, res: &mut Res) {
        let is_of_program = res.snippet.is_none() && !res.is_component();
        let fits = |package: &Package| {
            is_of_program
                && package.serves() == package_of(&res.type_name)
                && (package.extension.is_none() || !res.is_provider())
        };
        let is_right = self.package(res).is_some_and(fits);
        if !is_right {
            res.package = None;
            if package_of(&res.type_name) == PARAMETERIZED {
                let plain = if res.is_provider() { "P.test" } else { "Thing" };
                plain.clone_into(&mut res.type_name);
            }
        }
    }
}
