//! Errors of the tolerant reader.

/// Error of parsing a schema or a part of it.
#[derive(Debug, Clone, thiserror::Error)]
pub enum SchemaError {
    /// The document is not JSON of the expected form.
    #[error("the schema cannot be read: {message}")]
    Document {
        /// Message of the JSON parser.
        message: String,
    },
    /// A member cannot be parsed.
    #[error("{section} '{token}' cannot be read: {message}")]
    Member {
        /// Kind of member: resource, function, type.
        section: &'static str,
        /// Token of the member.
        token: String,
        /// Message of the JSON parser.
        message: String,
    },
    /// The schema is empty, which is the answer of a provider without a schema.
    #[error("the provider has no schema")]
    Empty,
    /// The schema has no name.
    #[error("no package name provided")]
    Nameless,
}
