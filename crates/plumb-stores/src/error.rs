//! Errors while opening a store.

/// Error while opening a store.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The kind of store is not part of this build.
    #[error("this build has no stores of type `{scheme}`")]
    NotBuilt {
        /// Scheme of the address.
        scheme: &'static str,
    },
    /// Settings are contradictory or missing.
    #[error("unable to open bucket {url}: {problem}")]
    Settings {
        /// Address, without passwords.
        url: String,
        /// Error in the settings.
        problem: String,
    },
    /// A file named in the settings cannot be read.
    #[error("could not read {path}")]
    File {
        /// Path of the file.
        path: String,
        /// Cause.
        #[source]
        source: std::io::Error,
    },
    /// The server cannot be reached, or rejects the user.
    #[error("unable to open bucket {url}")]
    Connect {
        /// Address, without passwords.
        url: String,
        /// Cause.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}
