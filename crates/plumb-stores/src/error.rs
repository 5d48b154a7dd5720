//! What can go wrong when a store is opened.

/// A store cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The program was built without this kind.
    #[error("this build has no stores of type `{scheme}`")]
    NotBuilt {
        /// The scheme of its address.
        scheme: &'static str,
    },
    /// The settings do not fit together, or one is missing.
    #[error("unable to open bucket {url}: {problem}")]
    Settings {
        /// The address, without passwords.
        url: String,
        /// What is wrong.
        problem: String,
    },
    /// A file that a setting names cannot be read.
    #[error("could not read {path}")]
    File {
        /// Which one.
        path: String,
        /// Why not.
        #[source]
        source: std::io::Error,
    },
    /// The server cannot be reached, or does not let this user in.
    #[error("unable to open bucket {url}")]
    Connect {
        /// The address, without passwords.
        url: String,
        /// Why not.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}
