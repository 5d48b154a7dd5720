//! Runtime options of a Go program.

use std::path::{Path, PathBuf};

use plumb_plugin::language::ProgramInfo;
use plumb_plugin::process::Environment;

use crate::compiled::{CompiledError, text_option};
use crate::tool::{Tool, find_executable, variable};

/// Purpose for which an executable is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// To run: without debugging information.
    Small,
    /// To debug: with debugging information, and without optimizations.
    Debugged,
}

impl Form {
    /// Flags for the compiler.
    pub(super) fn flags(self) -> &'static [&'static str] {
        match self {
            Form::Small => &["-trimpath", "-ldflags", "-w -s"],
            Form::Debugged => &["-gcflags", "all=-N -l"],
        }
    }

    /// File name of such executables in the cache.
    pub(super) fn name(self) -> &'static str {
        match self {
            Form::Small => "program",
            Form::Debugged => "debugged",
        }
    }
}

/// Source of a program's executable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// Prebuilt: the name or the path of a command.
    Prebuilt(String),
    /// Built, and cached for the next run.
    Built,
    /// Built into this file.
    BuiltInto(PathBuf),
    /// Built and run by `go run`.
    GoRun,
}

impl Source {
    /// Source according to the project file and the environment.
    pub(super) fn of(info: &ProgramInfo, environment: &Environment) -> Result<Self, CompiledError> {
        let binary = text_option(info, "binary")?;
        let target = text_option(info, "buildTarget")?;
        Ok(match (binary, target) {
            (Some(_), Some(_)) => {
                return Err(CompiledError::Exclusive {
                    options: ("binary", "buildTarget"),
                });
            }
            (Some(binary), None) => Source::Prebuilt(binary.to_owned()),
            (None, Some(target)) => Source::BuiltInto(info.program_directory.join(target)),
            (None, None) if is_on(environment, "PULUMI_GO_USE_RUN") => Source::GoRun,
            (None, None) => Source::Built,
        })
    }
}

/// The Go tool with `args`, run in `directory`.
pub(super) fn go(
    args: &[&str],
    environment: &Environment,
    directory: &Path,
) -> Result<Tool, CompiledError> {
    let program =
        find_executable("go", environment, directory).ok_or(CompiledError::NoTool {
            tool: "go",
            advice: "install Go from https://go.dev/dl, or name a program that is built already with the runtime option \
                     `binary` in Pulumi.yaml",
        })?;
    Ok(Tool {
        program,
        args: args.iter().map(Into::into).collect(),
        environment: environment.clone(),
        working_directory: directory.to_owned(),
    })
}

/// Whether a variable has a value that Go parses as true.
fn is_on(environment: &Environment, name: &str) -> bool {
    matches!(
        variable(environment, name),
        Some("1" | "t" | "T" | "true" | "TRUE" | "True")
    )
}
