//! Generators of SDKs (`codegen.md` A) from package schemas.
//!
//! Each language is a compiler of its own: it takes a bound package, decides every name, type and import ("lowering"), and
//! prints the result. Printers decide layout only. Files are passed to a [`Sink`] one at a time, so that an SDK of a hundred
//! megabytes is never in memory as a whole. The same package always gives the same bytes.
//!
//! **No file is written outside its folder**: paths consist of checked segments ([`FilePath`]), and text from schemas is
//! escaped where it is printed. This crate does not write to disk and does not find packages.
//!
//! Start with [`generate`]; generators of programs take names from [`programs`], and documentation from [`vocabulary`].

mod classes;
mod csharp;
mod files;
mod go;
mod java;
mod kinds;
pub mod markdown;
mod modules;
mod nodejs;
pub mod parallel;
mod plugin;
pub mod programs;
mod python;
mod rust;
mod settings;
pub mod uses;
pub mod vocabulary;
mod words;
mod writer;

use std::collections::BTreeMap;

use plumb_schema::bound::Package;

pub use files::{FileMap, FilePath, Sink};

/// Languages with SDKs.
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
    /// Rust.
    Rust,
}

impl Language {
    /// Languages of published packages, in the order of generation. SDKs for Rust are generated in the projects that use
    /// them.
    pub const ALL: [Language; 5] = [
        Language::Dotnet,
        Language::Go,
        Language::Java,
        Language::Nodejs,
        Language::Python,
    ];

    /// Language with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "nodejs" | "typescript" | "javascript" => Language::Nodejs,
            "python" => Language::Python,
            "go" => Language::Go,
            "dotnet" | "csharp" | "c#" => Language::Dotnet,
            "java" => Language::Java,
            "rust" => Language::Rust,
            _ => return None,
        })
    }

    /// Name, which is also the name of its SDK folder.
    pub fn name(self) -> &'static str {
        match self {
            Language::Nodejs => "nodejs",
            Language::Python => "python",
            Language::Go => "go",
            Language::Dotnet => "dotnet",
            Language::Java => "java",
            Language::Rust => "rust",
        }
    }
}

/// Use of an SDK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Published in a registry.
    Published,
    /// Used from a folder within a project.
    Local,
}

/// Inputs of an SDK besides its package.
#[derive(Debug, Default)]
pub struct Supplement {
    /// Hand-written files. They are copied unchanged; SDKs for Node.js and Python also export their contents from the module
    /// of the file's folder.
    pub written: FileMap,
    /// Files or folders with the SDKs of other packages, by name of the package (`pulumi` is the core SDK): the SDK depends
    /// on these instead of published versions, where its manifest names dependencies (Node.js, Go).
    pub local_dependencies: BTreeMap<String, String>,
}

/// Errors of SDK generation.
#[derive(Debug, thiserror::Error)]
pub enum GenerateError {
    /// The schema uses a feature that is not implemented.
    #[error("the schema asks for {what}, which is not supported yet")]
    Unsupported {
        /// The feature.
        what: &'static str,
    },
    /// The schema's block for the language is invalid.
    #[error("`language.{language}.{key}` of the schema must be {expected}")]
    Setting {
        /// Name of the block.
        language: &'static str,
        /// Key in the block.
        key: String,
        /// Expected value.
        expected: &'static str,
    },
    /// A name cannot be expressed in the language.
    #[error("{what} `{name}` cannot be generated: {why}")]
    Name {
        /// Kind of the named item.
        what: &'static str,
        /// The name.
        name: String,
        /// Reason.
        why: &'static str,
    },
    /// Two items have the same file.
    #[error("two things of the package would have the same file, {0}")]
    SameFile(FilePath),
    /// A file cannot be written.
    #[error("{path} cannot be written")]
    Write {
        /// Path of the file.
        path: FilePath,
        /// Cause.
        #[source]
        source: std::io::Error,
    },
}

/// Generates the SDK of a package into `sink`.
pub fn generate(
    package: &Package<'_>,
    language: Language,
    purpose: Purpose,
    sink: &mut dyn Sink,
) -> Result<(), GenerateError> {
    generate_with(package, language, purpose, &Supplement::default(), sink)
}

/// Generates an SDK that has more inputs than its package.
pub fn generate_with(
    package: &Package<'_>,
    language: Language,
    purpose: Purpose,
    supplement: &Supplement,
    sink: &mut dyn Sink,
) -> Result<(), GenerateError> {
    let Supplement {
        written,
        local_dependencies,
    } = supplement;
    if language != Language::Python {
        for (path, text) in &written.0 {
            sink.file(path.clone(), text.clone())?;
        }
    }
    match language {
        Language::Nodejs => nodejs::generate(package, purpose, supplement, sink),
        Language::Go => go::generate(package, purpose, local_dependencies, sink),
        Language::Java => java::generate(package, purpose, sink),
        Language::Python => python::generate(package, written, sink),
        Language::Dotnet => csharp::generate(package, purpose, sink),
        Language::Rust => rust::generate(package, local_dependencies, sink),
    }
}
