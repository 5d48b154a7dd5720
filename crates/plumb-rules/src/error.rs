//! Errors of loading packs.

use std::io;
use std::path::PathBuf;

/// Reason why a pack cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// A file or folder cannot be read.
    #[error("could not read {}", path.display())]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// Cause.
        #[source]
        source: io::Error,
    },
    /// A file does not have the expected form.
    #[error("{}: {message}", path.display())]
    Form {
        /// The file.
        path: PathBuf,
        /// Description of the mistake.
        message: String,
    },
    /// A file of rules cannot be compiled. The message names the place.
    #[error("the rules do not compile\n{}", .0.trim())]
    Compile(String),
    /// Two policies have the same name.
    #[error("the policy {name:?} is declared in {} and in {}", first.display(), second.display())]
    Duplicate {
        /// Name of the policy.
        name: String,
        /// File with the first declaration.
        first: PathBuf,
        /// File with the other declaration.
        second: PathBuf,
    },
    /// The pack would check nothing.
    #[error("{} has no policies: {advice}", folder.display())]
    Empty {
        /// Folder of the pack.
        folder: PathBuf,
        /// Text about how a policy looks.
        advice: &'static str,
    },
    /// `inputFormat` has a value without a meaning.
    #[error(
        "`inputFormat: {0}` in PulumiPolicy.yaml is not known; there is `kubernetes-admission`"
    )]
    InputFormat(String),
}
