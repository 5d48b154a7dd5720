//! `Pulumi.yaml` (`cli.md` 14.1, 14.2).

mod decode;
mod edit;
mod other;

pub use edit::ProjectFile;
pub use other::{PluginProject, PolicyProject};

use indexmap::IndexMap;
use serde_json::{Map, Value as Json};

use crate::config::{ConfigType, Key};

/// A project.
#[derive(Debug, Clone, PartialEq)]
pub struct Project {
    /// Its name.
    pub name: String,
    /// What runs its program; none for an empty project.
    pub runtime: Option<Runtime>,
    /// The program's folder or file, relative to the project.
    pub main: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// Who made it.
    pub author: Option<String>,
    /// Where to read about it.
    pub website: Option<String>,
    /// Its licence.
    pub license: Option<String>,
    /// The versions of the command line that it works with, as a range.
    pub required_version: Option<String>,
    /// Declared settings.
    pub config: IndexMap<Key, Declaration>,
    /// Folder of the stack settings files, relative to the project.
    pub stack_config_dir: Option<String>,
    /// Where its stacks are kept.
    pub backend_url: Option<String>,
    /// Whether every operation starts with a refresh.
    pub refresh_always: bool,
    /// What `new` asks and says.
    pub template: Option<Template>,
    /// Packages that the project uses, by name.
    pub packages: IndexMap<String, PackageSpec>,
    /// Plugins to be taken from folders.
    pub plugins: PluginOverrides,
}

/// A language runtime and its options.
#[derive(Debug, Clone, PartialEq)]
pub struct Runtime {
    /// `nodejs`, `python`, …
    pub name: String,
    /// Options for the language host.
    pub options: Map<String, Json>,
}

/// One declared setting.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Declaration {
    /// Its type; none when only a value is given.
    pub r#type: Option<ConfigType>,
    /// What it is for.
    pub description: Option<String>,
    /// Whether its value must be encrypted.
    pub secret: bool,
    /// Used when the stack has no value.
    pub default: Option<Json>,
    /// A fixed value.
    pub value: Option<Json>,
}

/// A package that the project uses.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PackageSpec {
    /// Name, path, or address.
    pub source: String,
    /// Version, when one is asked for.
    pub version: Option<String>,
    /// Parameters for parameterized packages.
    pub parameters: Vec<String>,
    /// Base64 checksums of the plugin by platform.
    pub checksums: IndexMap<String, String>,
    /// Where plugins are downloaded from.
    pub plugin_download_url: Option<String>,
    /// Extensions of the package.
    pub extensions: Vec<String>,
}

/// Plugins to be taken from folders.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PluginOverrides {
    /// Providers.
    pub providers: Vec<PluginOverride>,
    /// Language hosts.
    pub languages: Vec<PluginOverride>,
    /// Analyzers.
    pub analyzers: Vec<PluginOverride>,
}

/// A plugin to be taken from a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PluginOverride {
    /// Its name.
    pub name: String,
    /// Folder or binary, relative to the project.
    pub path: String,
    /// The version that it stands for; all when none is given.
    pub version: Option<String>,
}

/// What `new` needs to know of a template.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Template {
    /// Name shown to people.
    pub display_name: Option<String>,
    /// What it makes.
    pub description: Option<String>,
    /// Printed at the end.
    pub quickstart: Option<String>,
    /// Listed first.
    pub important: bool,
    /// Anything else.
    pub metadata: IndexMap<String, String>,
    /// Settings to ask for.
    pub config: IndexMap<String, TemplateSetting>,
}

/// A setting that `new` asks for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TemplateSetting {
    /// The question.
    pub description: Option<String>,
    /// The answer offered.
    pub default: Option<String>,
    /// Whether the answer must be encrypted.
    pub secret: bool,
}

impl PackageSpec {
    /// Reads `source[@version]`.
    pub fn parse(text: &str) -> Self {
        let (source, version) = match text.rsplit_once('@') {
            Some((source, version)) if !source.is_empty() && !version.contains(['/', ':']) => {
                (source, Some(version.to_owned()))
            }
            _ => (text, None),
        };
        PackageSpec {
            source: source.to_owned(),
            version,
            ..PackageSpec::default()
        }
    }

    /// Whether `source[@version]` says everything.
    pub fn is_short(&self) -> bool {
        let PackageSpec {
            source: _,
            version: _,
            parameters,
            checksums,
            plugin_download_url,
            extensions,
        } = self;
        parameters.is_empty()
            && checksums.is_empty()
            && plugin_download_url.is_none()
            && extensions.is_empty()
    }
}
