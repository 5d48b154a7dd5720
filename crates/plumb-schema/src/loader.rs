//! Where schemas come from.

use std::sync::Arc;

use async_trait::async_trait;

use crate::PackageSchema;

/// Which package's schema is wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct PackageQuery {
    /// Name of the plugin.
    pub name: String,
    /// Exact version; `None` for whatever is at hand.
    pub version: Option<semver::Version>,
    /// Where to download the plugin from.
    pub download_url: Option<String>,
    /// Parameter that makes another package of the plugin.
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
    /// The package called `name`, whatever version there is.
    pub fn named(name: &str) -> Self {
        PackageQuery {
            name: name.to_owned(),
            ..PackageQuery::default()
        }
    }
}

/// A schema that exists could not be loaded.
#[derive(Debug, thiserror::Error)]
#[error("the schema of package '{package}' cannot be loaded")]
pub struct SchemaLoadError {
    /// Name of the package.
    pub package: String,
    /// Why.
    #[source]
    pub source: Box<dyn std::error::Error + Send + Sync>,
}

impl SchemaLoadError {
    /// Why, down to the first cause.
    pub fn reason(&self) -> String {
        let mut text = self.source.to_string();
        let mut cause = self.source.source();
        while let Some(error) = cause {
            text = format!("{text}: {error}");
            cause = error.source();
        }
        text
    }
}

/// Finds schemas of packages.
#[async_trait]
pub trait SchemaLoader: Send + Sync {
    /// The schema of a package; `None` when there is no way to have one, so that the caller does without.
    async fn load(
        &self,
        query: &PackageQuery,
    ) -> Result<Option<Arc<PackageSchema>>, SchemaLoadError>;
}
