//! SDKs made from package schemas (`codegen.md` A), and documentation of packages (`codegen.md` B).
//!
//! Each language is a compiler of its own: it takes a bound package, decides every name, type and import ("lowering"), and
//! prints what was decided. Printing knows layout and nothing else. What comes out goes file by file to a [`Sink`], so that
//! an SDK of a hundred megabytes never stands in memory; the same package gives the same bytes.
//!
//! **No file leaves its folder**: paths are made of checked segments ([`FilePath`]), and what schemas say is escaped where it
//! is printed. This crate writes nothing to disk and finds no packages.
//!
//! Start with [`generate`] and [`generate_docs`].

mod classes;
mod csharp;
mod docs;
mod files;
mod go;
mod java;
mod markdown;
mod modules;
mod nodejs;
mod parallel;
mod plugin;
mod python;
mod settings;
mod uses;
mod words;
mod writer;

use plumb_schema::bound::Package;

pub use docs::{DocsFormat, MissingLanguage, generate_docs};
pub use files::{FileMap, FilePath, Sink};

/// Languages that SDKs exist for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// Node.js, in TypeScript.
    Nodejs,
    /// Python.
    Python,
    /// Go.
    Go,
    /// .NET, in C#.
    Dotnet,
    /// Java.
    Java,
}

impl Language {
    /// All of them, in the order in which they are generated.
    pub const ALL: [Language; 5] = [
        Language::Dotnet,
        Language::Go,
        Language::Java,
        Language::Nodejs,
        Language::Python,
    ];

    /// The language of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "nodejs" | "typescript" | "javascript" => Language::Nodejs,
            "python" => Language::Python,
            "go" => Language::Go,
            "dotnet" | "csharp" | "c#" => Language::Dotnet,
            "java" => Language::Java,
            _ => return None,
        })
    }

    /// The name, which is also that of the folder of its SDKs.
    pub fn name(self) -> &'static str {
        match self {
            Language::Nodejs => "nodejs",
            Language::Python => "python",
            Language::Go => "go",
            Language::Dotnet => "dotnet",
            Language::Java => "java",
        }
    }
}

/// What an SDK is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To be published.
    Published,
    /// To be used from a folder within a project.
    Local,
}

/// Why there is no SDK.
#[derive(Debug, thiserror::Error)]
pub enum GenerateError {
    /// The schema asks for something that is not built.
    #[error("the schema asks for {what}, which is not supported yet")]
    Unsupported {
        /// What.
        what: &'static str,
    },
    /// A block of the schema for the language makes no sense.
    #[error("`language.{language}.{key}` of the schema must be {expected}")]
    Setting {
        /// Which block.
        language: &'static str,
        /// Which key of it.
        key: String,
        /// What it must be.
        expected: &'static str,
    },
    /// A name cannot be had in the language.
    #[error("{what} `{name}` cannot be generated: {why}")]
    Name {
        /// What is called so.
        what: &'static str,
        /// Its name.
        name: String,
        /// Why not.
        why: &'static str,
    },
    /// Two things would have the same file.
    #[error("two things of the package would have the same file, {0}")]
    SameFile(FilePath),
    /// A file cannot be written.
    #[error("{path} cannot be written")]
    Write {
        /// Which.
        path: FilePath,
        /// Why.
        #[source]
        source: std::io::Error,
    },
}

/// Makes the SDK of a package, and hands its files to `sink`.
pub fn generate(
    package: &Package<'_>,
    language: Language,
    purpose: Purpose,
    sink: &mut dyn Sink,
) -> Result<(), GenerateError> {
    generate_with(package, language, purpose, &FileMap::default(), sink)
}

/// The same with files that people wrote, which become part of the SDK as they are. SDKs for Node.js and Python offer what is
/// in them from the module that their folder stands for.
pub fn generate_with(
    package: &Package<'_>,
    language: Language,
    purpose: Purpose,
    written: &FileMap,
    sink: &mut dyn Sink,
) -> Result<(), GenerateError> {
    if language != Language::Python {
        for (path, text) in &written.0 {
            sink.file(path.clone(), text.clone())?;
        }
    }
    match language {
        Language::Nodejs => nodejs::generate(package, purpose, written, sink),
        Language::Go => go::generate(package, purpose, sink),
        Language::Java => java::generate(package, purpose, sink),
        Language::Python => python::generate(package, written, sink),
        Language::Dotnet => csharp::generate(package, purpose, sink),
    }
}
