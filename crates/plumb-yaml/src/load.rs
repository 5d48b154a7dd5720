//! Search and parsing of a project's program (`yaml-runtime.md` 1).

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::diagnostic::Diagnostic;
use crate::syntax::program::{self, Syntax};
use crate::syntax::source::SourceFile;

/// Possible program files, in order of precedence.
pub(crate) const PROGRAM_FILES: [&str; 3] = ["Main.json", "Main.yaml", "Pulumi.yaml"];

/// Error for an unreadable program.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The folder contains no program file.
    #[error("reading template Main.json: missing template file")]
    Missing {
        /// The folder.
        directory: PathBuf,
    },
    /// A program file cannot be read.
    #[error("cannot read {path}", path = path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Cause.
        #[source]
        source: std::io::Error,
    },
}

/// A parsed program with its diagnostics.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) directory: PathBuf,
    pub(crate) syntax: Syntax,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

impl Loaded {
    /// Reads and parses the program in `directory`.
    pub(crate) fn from(directory: &Path) -> Result<Self, LoadError> {
        let (syntax, diagnostics) = program::parse(&source_of(directory)?);
        Ok(Loaded {
            directory: directory.to_owned(),
            syntax,
            diagnostics,
        })
    }

    /// Parses the text of a program without a file.
    pub(crate) fn of_text(text: &str) -> Self {
        let name = PROGRAM_FILES[2];
        let source = SourceFile::new(name, PathBuf::from(name), text.to_owned());
        let (syntax, diagnostics) = program::parse(&Arc::new(source));
        Loaded {
            directory: PathBuf::new(),
            syntax,
            diagnostics,
        }
    }
}

/// Reads the program file in `directory`.
fn source_of(directory: &Path) -> Result<Arc<SourceFile>, LoadError> {
    for name in PROGRAM_FILES {
        let path = directory.join(name);
        match std::fs::read_to_string(&path) {
            Ok(text) => {
                let text = text
                    .strip_prefix('\u{feff}')
                    .map(str::to_owned)
                    .unwrap_or(text);
                return Ok(Arc::new(SourceFile::new(name, path, text)));
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(source) => return Err(LoadError::Read { path, source }),
        }
    }
    Err(LoadError::Missing {
        directory: directory.to_owned(),
    })
}
