//! Programs under the debugger Delve (`languages.md` 5).

use std::ffi::OsString;
use std::path::PathBuf;

use plumb_plugin::language::ProgramInfo;
use serde_json::{Map, json};

use crate::LanguageOptions;
use crate::compiled::{CompiledError, Executable, Failures, new_debugger_log};
use crate::debugging::{Waiting, free_port, until_listening};
use crate::tool::find_executable;

/// Port that debuggers try first.
const PORT: u16 = 57134;

/// Delve, found on the PATH.
pub(super) fn find(
    options: &LanguageOptions,
    info: &ProgramInfo,
) -> Result<PathBuf, CompiledError> {
    find_executable("dlv", &options.environment, &info.program_directory).ok_or(
        CompiledError::NoTool {
            tool: "dlv",
            advice: "debuggers of Go programs work through it; install it with \
                     `go install github.com/go-delve/delve/cmd/dlv@latest` and put the folder where that lands on the PATH",
        },
    )
}

/// Wraps the executable in a Delve command that waits for a client.
pub(super) fn wait(
    options: &LanguageOptions,
    debugger: PathBuf,
    executable: Executable,
) -> Result<(Executable, Waiting), CompiledError> {
    let port = free_port(PORT).map_err(CompiledError::NoPort)?;
    let log = new_debugger_log(options, "delve", port)?;
    let mut args: Vec<OsString> = [
        "--headless=true",
        "--api-version=2",
        "--log",
        // Delve always exits successfully; this log contains the program's exit status.
        "--log-output=rpc,dap",
        "--log-dest",
    ]
    .map(OsString::from)
    .to_vec();
    args.push(log.clone().into());
    args.extend([format!("--listen=127.0.0.1:{port}"), "exec".to_owned()].map(OsString::from));
    args.push(executable.path.into());
    args.push("--".into());
    args.extend(executable.args);
    let mut config = Map::new();
    config.insert("name".to_owned(), json!("Pulumi: Program (Go)"));
    config.insert("type".to_owned(), json!("go"));
    config.insert("request".to_owned(), json!("attach"));
    config.insert("mode".to_owned(), json!("remote"));
    config.insert("host".to_owned(), json!("127.0.0.1"));
    config.insert("port".to_owned(), json!(port));
    let debugged = Executable {
        path: debugger,
        args,
        failures: Failures::InLog(log),
        ..executable
    };
    let ready = Box::pin(until_listening(port));
    Ok((
        debugged,
        Waiting {
            config,
            port,
            ready,
        },
    ))
}
