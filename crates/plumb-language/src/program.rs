//! Program processes: configuration and outcome (`languages.md` 1).

use std::ffi::OsString;
use std::io;
use std::time::Duration;

use plumb_plugin::language::{RunOutcome, RunRequest};
use plumb_plugin::process::{Environment, Exit, Launch, Process};
use tokio_util::sync::CancellationToken;

use crate::debugging::Waiting;

/// Exit code of a program that has already reported its error.
const REPORTED: i32 = 32;
/// Time for an interrupted program to end.
const GRACE: Duration = Duration::from_secs(5);

/// Runs a program until it ends or `cancel` fires. If it waits for a debugger, informs the engine.
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

/// Outcome for a program's exit code.
pub(crate) fn outcome(code: i32) -> RunOutcome {
    match code {
        0 => RunOutcome::Succeeded,
        REPORTED => RunOutcome::Bailed,
        code => RunOutcome::Failed(format!("program exited with non-zero exit code: {code}")),
    }
}

/// Sets the configuration of a program, with keys converted by `key`.
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
