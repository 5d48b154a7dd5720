//! Programs under a debug server: `gdbserver`, or `lldb-server` where there is none.
//!
//! The server starts the program and stops it before its first instruction. LLDB (also in editors, as CodeLLDB) and GDB
//! connect to it.

use std::ffi::OsString;
use std::path::PathBuf;

use plumb_plugin::language::ProgramInfo;
use serde_json::{Map, json};

use crate::LanguageOptions;
use crate::compiled::{CompiledError, Executable, Failures, Purpose, new_debugger_log};
use crate::debugging::{Waiting, free_port, until_listening};
use crate::tool::find_executable;

/// Port that debuggers try first.
const PORT: u16 = 57135;

/// A debug server on this machine.
#[derive(Debug)]
pub(super) enum Server {
    Gdb(PathBuf),
    /// Sends the standard output of the program to the debugger. It cannot run plugins, because the engine reads their port
    /// from it.
    Lldb(PathBuf),
}

/// The debug server, found on the PATH.
pub(super) fn find(
    options: &LanguageOptions,
    info: &ProgramInfo,
    purpose: Purpose,
) -> Result<Server, CompiledError> {
    let find = |name: &str| find_executable(name, &options.environment, &info.program_directory);
    if let Some(path) = find("gdbserver") {
        return Ok(Server::Gdb(path));
    }
    if let (Some(path), Purpose::Program) = (find("lldb-server"), purpose) {
        return Ok(Server::Lldb(path));
    }
    Err(CompiledError::NoTool {
        tool: "gdbserver",
        advice: "debuggers of Rust programs work through it, and those of programs also through `lldb-server`; install \
                 the package `gdbserver` or `lldb` of your system",
    })
}

/// Wraps the executable in a command of the server that waits for a client.
pub(super) fn wait(
    options: &LanguageOptions,
    server: Server,
    executable: Executable,
) -> Result<(Executable, Waiting), CompiledError> {
    let port = free_port(PORT).map_err(CompiledError::NoPort)?;
    let log = new_debugger_log(options, "debug-server", port)?;
    let program = executable.path.to_string_lossy().into_owned();
    let address = format!("127.0.0.1:{port}");
    // The servers always exit successfully; their logs have the exit status of the program.
    let logged = log.as_os_str();
    let (path, mut args) = match server {
        Server::Gdb(path) => {
            let mut file = OsString::from("--debug-file=");
            file.push(logged);
            let args = [
                "--once".into(),
                "--remote-debug".into(),
                file,
                address.into(),
            ];
            (path, args.to_vec())
        }
        Server::Lldb(path) => {
            let args = [
                "gdbserver",
                "--log-channels",
                "gdb-remote packets",
                "--log-file",
            ];
            let mut args: Vec<OsString> = args.map(OsString::from).to_vec();
            args.extend([logged.to_owned(), address.into(), "--".into()]);
            (path, args)
        }
    };
    args.push(executable.path.into());
    args.extend(executable.args);
    let debugged = Executable {
        path,
        args,
        failures: Failures::InLog(log),
        ..executable
    };
    let waiting = Waiting {
        config: config(&program, port),
        port,
        ready: Box::pin(until_listening(port)),
    };
    Ok((debugged, waiting))
}

/// A configuration for the editor extension CodeLLDB, with what others need beside it.
fn config(program: &str, port: u16) -> Map<String, serde_json::Value> {
    let config = json!({
        "name": "Pulumi: Program (Rust)",
        "type": "lldb",
        "request": "attach",
        "targetCreateCommands": [format!("target create \"{program}\"")],
        "processCreateCommands": [format!("gdb-remote 127.0.0.1:{port}")],
        "program": program,
        "host": "127.0.0.1",
        "port": port,
    });
    match config {
        serde_json::Value::Object(config) => config,
        _ => Map::new(),
    }
}
