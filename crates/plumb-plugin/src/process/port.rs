//! Start of a plugin and connection to the port that it prints (`protocol.md` 15.3).

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use futures::stream::BoxStream;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep, timeout};
use tonic::transport::Endpoint;

use super::{Exit, Indented, Launch, Process};
use crate::language::PluginEvent;
use crate::output::{OutputLevel, OutputSink};
use crate::trace_context::{Connection, TraceContext};

/// Progress marks that some tools print before the port.
const PROGRESS_MARKS: [&str; 2] = ["\u{1b}]9;4;3;\u{1b}\\", "\u{1b}]9;4;0;\u{1b}\\"];

/// Time for a plugin to end after it closed its output.
const EXIT_GRACE: Duration = Duration::from_secs(2);

/// Time limits of plugins.
#[derive(Clone, Copy, Debug)]
pub struct PluginTimeouts {
    /// Limit for printing the port; at least five minutes for plugins in source form, which may have to be compiled first.
    pub port: Duration,
    /// Limit for accepting a connection and answering.
    pub connect: Duration,
    /// Limit for the answer to Cancel, and for the end after an interrupt; then the plugin is killed.
    pub stop: Duration,
}

impl Default for PluginTimeouts {
    fn default() -> Self {
        PluginTimeouts {
            port: Duration::from_mins(1),
            connect: Duration::from_secs(10),
            stop: Duration::from_secs(5),
        }
    }
}

impl PluginTimeouts {
    /// Limits for a plugin in source form.
    pub(crate) fn for_sources(self) -> Self {
        PluginTimeouts {
            port: self.port.max(Duration::from_mins(5)),
            ..self
        }
    }

    /// Limits for a plugin that waits for a debugger.
    pub(crate) fn for_debuggers(self) -> Self {
        PluginTimeouts {
            port: Duration::from_hours(24),
            ..self
        }
    }
}

/// Error for a plugin that could not be started, with its last output.
#[derive(Debug, thiserror::Error)]
#[error("{plugin} plugin [{}] {problem}{}", path.display(), LastOutput(output))]
pub struct StartError {
    /// Name and kind: `random (resource)`.
    pub plugin: String,
    /// The executable.
    pub path: PathBuf,
    /// Cause.
    pub problem: StartProblem,
    /// Last lines of output of the plugin.
    pub output: Vec<String>,
}

/// Causes of a failed start.
#[derive(Debug, thiserror::Error)]
pub enum StartProblem {
    /// The operating system refused to start the process.
    #[error("could not be started: {0}")]
    Spawn(#[source] io::Error),
    /// The process ended before it printed a port.
    #[error("could not be read: {0}; it ended before it wrote its port to stdout")]
    Ended(Exit),
    /// The process closed its standard output without printing a port, and still runs.
    #[error("could not be read: EOF; it closed stdout without a port")]
    Closed,
    /// No port was printed in time.
    #[error("did not write its port to stdout within {} s", .0.as_secs_f64())]
    NoPort(Duration),
    /// The first line is not a port.
    #[error("wrote an invalid port to stdout: {0:?}")]
    InvalidPort(String),
    /// The port cannot be reached.
    #[error("did not come alive within {} s: {reason}", after.as_secs_f64())]
    Unreachable {
        /// Duration of the attempts.
        after: Duration,
        /// Error of the last attempt.
        reason: String,
    },
    /// The process ended after it printed its port.
    #[error("ended right after its start: {0}")]
    EndedLater(Exit),
    /// The handshake failed.
    #[error("failed to handshake: {0}")]
    Handshake(String),
}

struct LastOutput<'a>(&'a [String]);

impl fmt::Display for LastOutput<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return Ok(());
        }
        write!(f, "\nIts last output was:{}", Indented(self.0))
    }
}

/// Starts a plugin called `plugin` (name and kind, for messages) and connects to the port that it prints.
pub async fn start_with_port(
    plugin: &str,
    launch: Launch,
    timeouts: PluginTimeouts,
) -> Result<(Process, Connection), StartError> {
    let path = launch.program.clone();
    match Process::spawn_with_first_line(launch) {
        Ok((process, first_line)) => {
            finish_start(plugin, path, process, first_line, timeouts).await
        }
        Err(error) => Err(StartError {
            plugin: plugin.to_owned(),
            path,
            problem: StartProblem::Spawn(error),
            output: Vec::new(),
        }),
    }
}

/// [`start_with_port`] for a plugin with sources in `path` that a language host runs.
pub(crate) async fn start_from_stream(
    plugin: &str,
    path: PathBuf,
    events: BoxStream<'static, PluginEvent>,
    output: (OutputLevel, OutputSink),
    timeouts: PluginTimeouts,
) -> Result<(Process, Connection), StartError> {
    let (process, first_line) = Process::from_stream(plugin.into(), events, output.0, output.1);
    finish_start(plugin, path, process, first_line, timeouts).await
}

async fn finish_start(
    plugin: &str,
    path: PathBuf,
    process: Process,
    first_line: oneshot::Receiver<Vec<u8>>,
    timeouts: PluginTimeouts,
) -> Result<(Process, Connection), StartError> {
    match read_port_and_connect(&process, first_line, timeouts).await {
        Ok(channel) => Ok((process, channel)),
        Err(problem) => {
            process.kill().await;
            process.wait().await;
            Err(StartError {
                plugin: plugin.to_owned(),
                path,
                problem,
                output: process.last_output(),
            })
        }
    }
}

async fn read_port_and_connect(
    process: &Process,
    first_line: oneshot::Receiver<Vec<u8>>,
    timeouts: PluginTimeouts,
) -> Result<Connection, StartProblem> {
    let port = match timeout(timeouts.port, first_line).await {
        Ok(Ok(line)) => parse_port(&line)?,
        Ok(Err(_)) => return Err(end_without_port(process).await),
        Err(_) => return Err(StartProblem::NoPort(timeouts.port)),
    };
    let address = format!("127.0.0.1:{port}");
    tokio::select! {
        connected = connect(&address, timeouts.connect) => {
            connected.map_err(|reason| StartProblem::Unreachable { after: timeouts.connect, reason })
        }
        exit = process.wait() => Err(StartProblem::EndedLater(exit)),
    }
}

async fn end_without_port(process: &Process) -> StartProblem {
    match timeout(EXIT_GRACE, process.wait()).await {
        Ok(exit) => StartProblem::Ended(exit),
        Err(_) => StartProblem::Closed,
    }
}

fn parse_port(line: &[u8]) -> Result<u16, StartProblem> {
    let line = String::from_utf8_lossy(line);
    let mut text = line.clone().into_owned();
    for mark in PROGRESS_MARKS {
        text = text.replace(mark, "");
    }
    match text.trim().parse::<u16>() {
        Ok(port) if port != 0 => Ok(port),
        _ => Err(StartProblem::InvalidPort(line.chars().take(200).collect())),
    }
}

/// Connects to `host:port`, with retries until `limit` has passed; the error is that of the last attempt.
pub(crate) async fn connect(address: &str, limit: Duration) -> Result<Connection, String> {
    let endpoint = Endpoint::from_shared(format!("http://{address}"))
        .map_err(|error| error.to_string())?
        .initial_stream_window_size(Some(1 << 20))
        .initial_connection_window_size(Some(4 << 20))
        .connect_timeout(limit);
    let deadline = Instant::now() + limit;
    loop {
        let error = match endpoint.connect().await {
            Ok(channel) => return Ok(TraceContext::over(channel)),
            Err(error) => error,
        };
        if Instant::now() >= deadline {
            let mut text = error.to_string();
            let mut cause = std::error::Error::source(&error);
            while let Some(inner) = cause {
                text = format!("{text}: {inner}");
                cause = inner.source();
            }
            return Err(text);
        }
        sleep(Duration::from_millis(10)).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_decimal_numbers_with_space_and_marks_around_them() {
        let parse = |text: &str| parse_port(text.as_bytes()).ok();
        assert_eq!(
            parse("\u{1b}]9;4;3;\u{1b}\\ 4711 \u{1b}]9;4;0;\u{1b}\\\r"),
            Some(4711)
        );
        for text in ["", "0", "65536", "-1", "port 4711", "0x10"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
