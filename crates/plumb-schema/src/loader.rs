//! Interface to the source of schemas.

use std::sync::Arc;

use async_trait::async_trait;

use crate::PackageSchema;

/// Request for the schema of a package.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct PackageQuery {
    /// Name of the plugin.
    pub name: String,
    /// Exact version; `None` for any available one.
    pub version: Option<semver::Version>,
    /// Address to download the plugin from.
    pub download_url: Option<String>,
    /// Parameter that makes the plugin serve another package.
    pub parameterization: Option<QueryParameterization>,
}

/// A parameter in a [`PackageQuery`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct QueryParameterization {
    /// Name of the resulting package.
    pub name: String,
    /// Version of the resulting package.
    pub version: String,
    /// Opaque parameter.
    pub value: Vec<u8>,
}

impl PackageQuery {
    /// The package called `name`, in any version.
    pub fn named(name: &str) -> Self {
        PackageQuery {
            name: name.to_owned(),
            ..PackageQuery::default()
        }
    }
}

/// Error of loading an existing schema.
#[derive(Debug, thiserror::Error)]
#[error("the schema of package '{package}' cannot be loaded")]
pub struct SchemaLoadError {
    /// Name of the package.
    pub package: String,
    /// Cause.
    #[source]
    pub source: Box<dyn std::error::Error + Send + Sync>,
}

impl SchemaLoadError {
    /// All causes, from the outermost to the innermost.
    pub fn causes(&self) -> String {
        let mut text = self.source.to_string();
        let mut cause = self.source.source();
        while let Some(error) = cause {
            let said = error.to_string();
            // The message of some errors ends with that of their cause, which is then not repeated.
            if !text.ends_with(&said) {
                text = format!("{text}: {said}");
            }
            cause = error.source();
        }
        text
    }
}

/// Source of package schemas.
#[async_trait]
pub trait SchemaLoader: Send + Sync {
    /// The schema of a package; `None` if there is none, so that the caller continues without.
    async fn load(
        &self,
        query: &PackageQuery,
    ) -> Result<Option<Arc<PackageSchema>>, SchemaLoadError>;
}
