//! Kinds of plugins.

use std::fmt;

/// Purpose of a plugin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PluginKind {
    /// Policy packs.
    Analyzer,
    /// Conversion from other formats.
    Converter,
    /// Language hosts.
    Language,
    /// Providers.
    Resource,
    /// Tools for the user.
    Tool,
}

impl PluginKind {
    /// The name in file names, messages and JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            PluginKind::Analyzer => "analyzer",
            PluginKind::Converter => "converter",
            PluginKind::Language => "language",
            PluginKind::Resource => "resource",
            PluginKind::Tool => "tool",
        }
    }

    /// The kind with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        [
            Self::Analyzer,
            Self::Converter,
            Self::Language,
            Self::Resource,
            Self::Tool,
        ]
        .into_iter()
        .find(|kind| kind.as_str() == name)
    }

    /// File name of the executable of the plugin called `name`, without a platform's suffix.
    pub fn file_name(self, name: &str) -> String {
        format!("pulumi-{self}-{name}")
    }
}

impl fmt::Display for PluginKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
