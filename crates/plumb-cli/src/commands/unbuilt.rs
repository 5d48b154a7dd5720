//! Commands that are declared but not implemented: their flags are parsed, and the error names an alternative.

use clap::Args;

use crate::{Error, ExitStatus};

/// Convert programs from one language to another (not supported yet)
///
/// Programs would be taken from YAML, PCL or another system, by a converter plugin, and written in the language named.
#[derive(Args, Debug)]
pub struct ConvertArgs {
    /// Which language plugin to use to generate the project
    #[arg(long)]
    pub language: Option<String>,
    /// Which converter plugin to use to read the source program
    #[arg(long, default_value = "yaml")]
    pub from: String,
    /// The output directory to write the converted project to
    #[arg(long, default_value = ".")]
    pub out: String,
    /// Generate the converted program only; do not install dependencies
    #[arg(long)]
    pub generate_only: bool,
    /// Any mapping files to use in the conversion
    #[arg(long, action = clap::ArgAction::Append, value_delimiter = ',')]
    pub mappings: Vec<String>,
    /// Fail the conversion on errors such as missing variables
    #[arg(long)]
    pub strict: bool,
    /// The name to use for the converted project
    #[arg(long)]
    pub name: Option<String>,
    /// Arguments for the converter
    pub arguments: Vec<String>,
}

/// Runs `convert`.
pub fn convert(args: &ConvertArgs) -> Result<ExitStatus, Error> {
    let language = args
        .language
        .as_deref()
        .ok_or_else(|| Error::user("required flag(s) \"language\" not set"))?;
    Err(Error::user(format!(
        "`convert` is not supported yet; begin a project in {language} with `plumb new`, and import what exists with \
         `plumb import`"
    )))
}
