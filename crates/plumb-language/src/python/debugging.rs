//! Python programs that wait for a debugger, with debugpy (`languages.md` 4.2).

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use plumb_plugin::OutputLevel;
use serde_json::{Map, json};

use super::PythonError;
use super::toolchain::Interpreter;
use crate::debugging::{Waiting, free_port, until_logged};
use crate::{LanguageOptions, ToolError};

/// Port that debuggers try first.
const PORT: u16 = 58791;
/// Message of debugpy when a debugger can attach.
const LISTENS: &str = "Adapter is accepting incoming client connections";

/// Inserts debugpy, with flags that make it wait, before the script or module in `args`.
pub(super) async fn wait(
    options: &LanguageOptions,
    interpreter: &Interpreter,
    directory: &Path,
    args: &mut Vec<OsString>,
) -> Result<Waiting, PythonError> {
    let probe = interpreter.tool(&["-c", "import debugpy"], directory);
    match probe.run(&options.output, OutputLevel::Debug).await {
        Err(ToolError::Failed { .. }) => {
            return Err(PythonError::NoDebugger {
                program: interpreter.program.clone(),
            });
        }
        other => other?,
    }
    let port = free_port(PORT).map_err(PythonError::NoPort)?;
    let log = options
        .cache_directory
        .join("debugpy")
        .join(port.to_string());
    // Discard the log of an earlier program on the same port, because it would match.
    let _ = fs::remove_dir_all(&log);
    fs::create_dir_all(&log).map_err(PythonError::file("create", &log))?;
    let listen = format!("127.0.0.1:{port}");
    let flags = [
        "-Xfrozen_modules=off",
        "-m",
        "debugpy",
        "--listen",
        &listen,
        "--wait-for-client",
        "--log-to",
    ];
    let flags = flags.map(OsString::from).into_iter();
    args.splice(0..0, flags.chain([log.clone().into_os_string()]));
    let mut config = Map::new();
    config.insert("name".to_owned(), json!("Pulumi: Program (Python)"));
    config.insert("type".to_owned(), json!("python"));
    config.insert("request".to_owned(), json!("attach"));
    config.insert(
        "connect".to_owned(),
        json!({"host": "127.0.0.1", "port": port}),
    );
    config.insert("justMyCode".to_owned(), json!(false));
    Ok(Waiting {
        config,
        port,
        ready: Box::pin(async move { until_logged(&log, LISTENS).await }),
    })
}
