//! `Pulumi.yaml` (`cli.md` 14.1, 14.2).

mod decode;
mod edit;
mod new;
mod other;

pub use edit::ProjectFile;
pub use new::file_text;
pub use other::{PluginProject, PolicyProject};

use indexmap::IndexMap;
use serde_json::{Map, Value as Json};

use crate::config::{ConfigType, Key};

/// A project.
#[derive(Debug, Clone, PartialEq)]
pub struct Project {
    /// Name.
    pub name: String,
    /// Language runtime of its program; `None` for an empty project.
    pub runtime: Option<Runtime>,
    /// Folder or file of the program, relative to the project.
    pub main: Option<String>,
    /// Description.
    pub description: Option<String>,
    /// Author.
    pub author: Option<String>,
    /// Website.
    pub website: Option<String>,
    /// Licence.
    pub license: Option<String>,
    /// Supported versions of the command line, as a range.
    pub required_version: Option<String>,
    /// Declared settings.
    pub config: IndexMap<Key, Declaration>,
    /// Folder of the stacks' settings files, relative to the project.
    pub stack_config_dir: Option<String>,
    /// URL of the backend for its stacks.
    pub backend_url: Option<String>,
    /// Whether every operation starts with a refresh.
    pub refresh_always: bool,
    /// Template data for `new`.
    pub template: Option<Template>,
    /// Packages used by the project, by name.
    pub packages: IndexMap<String, PackageSpec>,
    /// Plugins that are loaded from folders.
    pub plugins: PluginOverrides,
}

/// A language runtime and its options.
#[derive(Debug, Clone, PartialEq)]
pub struct Runtime {
    /// Name, such as `nodejs` or `python`.
    pub name: String,
    /// Options for the language host.
    pub options: Map<String, Json>,
}

/// Declaration of a setting.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Declaration {
    /// Key, as the project writes it: with or without its namespace.
    pub written: String,
    /// Type; `None` if only a value is given.
    pub r#type: Option<ConfigType>,
    /// Description.
    pub description: Option<String>,
    /// Whether the value must be encrypted.
    pub secret: bool,
    /// Default for stacks that do not set a value.
    pub default: Option<Json>,
    /// Fixed value.
    pub value: Option<Json>,
}

/// A package used by the project.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PackageSpec {
    /// Name, path or URL.
    pub source: String,
    /// Requested version.
    pub version: Option<String>,
    /// Parameters for parameterized packages.
    pub parameters: Vec<String>,
    /// Base64 checksums of the plugin by platform.
    pub checksums: IndexMap<String, String>,
    /// Download URL of the plugin.
    pub plugin_download_url: Option<String>,
    /// Extensions of the package.
    pub extensions: Vec<String>,
}

/// Plugins that are loaded from folders.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PluginOverrides {
    /// Resource providers.
    pub providers: Vec<PluginOverride>,
    /// Language hosts.
    pub languages: Vec<PluginOverride>,
    /// Analyzers.
    pub analyzers: Vec<PluginOverride>,
}

/// A plugin that is loaded from a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PluginOverride {
    /// Name.
    pub name: String,
    /// Folder or binary, relative to the project.
    pub path: String,
    /// Version that it replaces; `None` for all versions.
    pub version: Option<String>,
}

/// Template data for `new`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Template {
    /// Displayed name.
    pub display_name: Option<String>,
    /// Description of the created project.
    pub description: Option<String>,
    /// Message printed at the end.
    pub quickstart: Option<String>,
    /// Whether the template is listed first.
    pub important: bool,
    /// Additional metadata.
    pub metadata: IndexMap<String, String>,
    /// Settings to prompt for.
    pub config: IndexMap<String, TemplateSetting>,
}

/// A setting that `new` prompts for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TemplateSetting {
    /// Text of the prompt.
    pub description: Option<String>,
    /// Default answer.
    pub default: Option<String>,
    /// Whether the answer must be encrypted.
    pub secret: bool,
}

impl PackageSpec {
    /// Parses `source[@version]`.
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

    /// Whether the package has only a source and a version, and can be written as
    /// `source[@version]`.
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
