//! The stack that a pack looks at.

use std::collections::BTreeMap;

use crate::protocol as pb;

/// The stack that a pack looks at.
///
/// ```no_run
/// use plumb_policy::prelude::*;
///
/// fn pack(info: &Info) -> Result<Pack> {
///     let level = if info.stack() == "prod" { Level::Mandatory } else { Level::Advisory };
///     Ok(Pack::new("house", "1.0.0").level(level))
/// }
///
/// fn main() -> std::process::ExitCode {
///     plumb_policy::serve(pack)
/// }
/// ```
#[derive(Clone, Debug, Default)]
pub struct Info {
    pub(crate) project: String,
    pub(crate) stack: String,
    pub(crate) organization: String,
    pub(crate) is_preview: bool,
    pub(crate) config: BTreeMap<String, String>,
    pub(crate) tags: BTreeMap<String, String>,
}

impl Info {
    pub(crate) fn of(request: pb::AnalyzerStackConfigureRequest) -> Self {
        let config = request.config.into_iter();
        Info {
            project: request.project,
            stack: request.stack,
            organization: request.organization,
            is_preview: request.dry_run,
            config: config.map(|(key, it)| (short(&key), it)).collect(),
            tags: request.tags,
        }
    }

    /// Name of the project.
    pub fn project(&self) -> &str {
        &self.project
    }

    /// Name of the stack.
    pub fn stack(&self) -> &str {
        &self.stack
    }

    /// Name of the organization.
    pub fn organization(&self) -> &str {
        &self.organization
    }

    /// Whether this is a preview, in which properties may be unknown.
    pub fn is_preview(&self) -> bool {
        self.is_preview
    }

    /// A variable of the configuration; one without a namespace is of the project.
    pub fn config(&self, key: &str) -> Option<&str> {
        let full = if key.contains(':') {
            key.to_owned()
        } else {
            format!("{}:{key}", self.project)
        };
        self.config.get(&full).map(String::as_str)
    }

    /// A tag of the stack.
    pub fn tag(&self, name: &str) -> Option<&str> {
        self.tags.get(name).map(String::as_str)
    }
}

/// `aws:region` of `aws:config:region`.
fn short(key: &str) -> String {
    match key.split_once(":config:") {
        Some((namespace, name)) => format!("{namespace}:{name}"),
        None => key.to_owned(),
    }
}
