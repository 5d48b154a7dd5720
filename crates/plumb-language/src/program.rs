//! Programs as processes: how they get the configuration, and how they end (`languages.md` 1).

use std::ffi::OsString;
use std::io;
use std::time::Duration;

use plumb_plugin::language::{RunOutcome, RunRequest};
use plumb_plugin::process::{Environment, Exit, Launch, Process};
use tokio_util::sync::CancellationToken;

use crate::debugging::Waiting;

/// The exit code of programs whose failure has been reported.
const REPORTED: i32 = 32;
/// How long an interrupted program may take to end.
const GRACE: Duration = Duration::from_secs(5);

/// Runs a program to its end, or until `cancel` fires. It may wait for a debugger, of which the engine is to hear.
pub(crate) async fn run_debugged(
    launch: Launch,
    waiting: Option<Waiting>,
    engine_address: &str,
    cancel: CancellationToken,
) -> io::Result<RunOutcome> {
    let process = Process::spawn(launch)?;
    let announcing = async {
        if let Some(waiting) = waiting {
            waiting.announce(engine_address, Some(process.id())).await;
        }
        std::future::pending::<Exit>().await
    };
    let exit = tokio::select! {
        exit = process.wait() => exit,
        exit = announcing => exit,
        () = cancel.cancelled() => {
            process.stop(GRACE).await;
            return Ok(RunOutcome::Bailed);
        }
    };
    Ok(match exit {
        Exit::Code(code) => outcome(code),
        Exit::Signal(signal) => RunOutcome::Failed(format!("program was ended by signal {signal}")),
        Exit::Unknown => RunOutcome::Failed("program ended, and nobody knows how".to_owned()),
    })
}

/// What the exit code of a program says.
pub(crate) fn outcome(code: i32) -> RunOutcome {
    match code {
        0 => RunOutcome::Succeeded,
        REPORTED => RunOutcome::Bailed,
        code => RunOutcome::Failed(format!("program exited with non-zero exit code: {code}")),
    }
}

/// Gives a program its configuration, with keys spelled by `key`.
pub(crate) fn add_configuration(
    environment: &mut Environment,
    request: &RunRequest,
    key: impl Fn(&str) -> String,
) {
    let json = |value: serde_json::Value| OsString::from(value.to_string());
    if request.config.is_empty() {
        environment.remove(&OsString::from("PULUMI_CONFIG"));
    } else {
        let config = request.config.iter();
        let config = config
            .map(|(name, value)| (key(name), value.clone().into()))
            .collect();
        environment.insert(
            "PULUMI_CONFIG".into(),
            json(serde_json::Value::Object(config)),
        );
    }
    environment.insert(
        "PULUMI_CONFIG_SECRET_KEYS".into(),
        json(serde_json::json!(request.config_secret_keys)),
    );
}
