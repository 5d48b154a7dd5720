//! What can be wrong with a schema.

/// A schema, or a part of it, cannot be read.
#[derive(Debug, Clone, thiserror::Error)]
pub enum SchemaError {
    /// The document is not JSON of the right shape.
    #[error("the schema cannot be read: {message}")]
    Document {
        /// What the JSON reader says.
        message: String,
    },
    /// One member cannot be read.
    #[error("{section} '{token}' cannot be read: {message}")]
    Member {
        /// Which section: resource, function, type.
        section: &'static str,
        /// Token of the member.
        token: String,
        /// What the JSON reader says.
        message: String,
    },
    /// The provider answered an empty schema, which means that it has none.
    #[error("the provider has no schema")]
    Empty,
    /// The schema has no name.
    #[error("no package name provided")]
    Nameless,
}
