//! Execution of a script.

use std::io;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use plumb_resource::Urn;
use plumb_value::{PropertyMap, Value};
use process_wrap::tokio::{ChildWrapper, CommandWrap};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{ChildStdin, Command};
use tokio_util::sync::CancellationToken;

use super::inputs::Inputs;
use super::status::{describe, quoted};
use crate::{BuiltinContext, LogRecord, LogSeverity};

const PREVIOUS_STDOUT: &str = "PULUMI_COMMAND_STDOUT";
const PREVIOUS_STDERR: &str = "PULUMI_COMMAND_STDERR";
/// Maximum wait for the remaining output of a killed script.
const LAST_OUTPUT: Duration = Duration::from_secs(2);

/// Error of a script; `script` is its text for messages.
#[derive(Debug, thiserror::Error)]
pub(super) enum Error {
    /// The working directory does not exist.
    #[error("chdir {}: no such file or directory: running {script}:\n", path.display())]
    Directory { path: PathBuf, script: String },
    /// The interpreter could not be started.
    #[error("{program}: {cause}: running {script}:\n")]
    Start {
        program: String,
        script: String,
        cause: io::Error,
    },
    /// Communication with the process failed.
    #[error("{cause}: running {script}:\n")]
    Pipe { script: String, cause: io::Error },
    /// The script exceeded its time limit and was killed.
    #[error("time limit of {limit:?} exceeded: running {script}:\n{output}")]
    TimedOut {
        limit: Duration,
        script: String,
        output: String,
    },
    /// The script failed; `output` is its standard output and standard error, interleaved.
    #[error("{}: running {script}:\n{output}", describe(*status))]
    Failed {
        status: ExitStatus,
        script: String,
        output: String,
    },
}

/// A script and its inputs.
pub(super) struct Script<'a> {
    /// Text for the interpreter.
    pub(super) text: &'a str,
    /// Time limit.
    pub(super) limit: Option<Duration>,
    pub(super) inputs: &'a Inputs,
    pub(super) previous: &'a Previous,
    /// Resource to which log messages are attached.
    pub(super) urn: Option<&'a Urn>,
}

impl Script<'_> {
    /// Text for messages.
    fn shown(&self) -> String {
        if self.inputs.has_secret_script {
            "[secret]".to_owned()
        } else {
            quoted(self.text)
        }
    }
}

/// Output of the previous run.
#[derive(Debug, Default)]
pub(super) struct Previous {
    stdout: String,
    stderr: String,
}

impl Previous {
    /// Reads the output from the outputs in state.
    pub(super) fn of(outputs: &PropertyMap) -> Self {
        let text = |name: &str| {
            let value = outputs.get(name).map(Value::without_secrets);
            value
                .as_ref()
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned()
        };
        Previous {
            stdout: text("stdout"),
            stderr: text("stderr"),
        }
    }
}

/// Output of a script, without the last line break.
#[derive(Debug)]
pub(super) struct Streams {
    pub(super) stdout: String,
    pub(super) stderr: String,
}

/// Runs `script` until it ends or reaches its time limit. Kills the process and its children when `cancelled` fires or
/// the future is dropped.
pub(super) async fn run(
    script: Script<'_>,
    context: &BuiltinContext,
    cancelled: &CancellationToken,
) -> Result<Streams, Error> {
    let Some(limit) = script.limit else {
        return run_until(&script, context, cancelled).await;
    };
    let stopped = cancelled.child_token();
    let mut running = std::pin::pin!(run_until(&script, context, &stopped));
    let ended = tokio::select! {
        result = &mut running => Some(result),
        () = tokio::time::sleep(limit) => None,
    };
    if let Some(result) = ended {
        return result;
    }
    stopped.cancel();
    match running.await {
        Err(Error::Failed { script, output, .. }) => Err(Error::TimedOut {
            limit,
            script,
            output,
        }),
        other => other,
    }
}

async fn run_until(
    script: &Script<'_>,
    context: &BuiltinContext,
    cancelled: &CancellationToken,
) -> Result<Streams, Error> {
    let mut child = Running::start(script, context)?;
    let pipe_error = |cause| Error::Pipe {
        script: script.shown(),
        cause,
    };
    let mixed = Mutex::new(Vec::new());
    let logging = script.inputs.logging;
    let stdout = Reader {
        mixed: &mixed,
        log: logging.has_stdout().then_some((context, script.urn)),
    };
    let stderr = Reader {
        mixed: &mixed,
        log: logging.has_stderr().then_some((context, script.urn)),
    };
    let (out, err) = (child.process.stdout().take(), child.process.stderr().take());
    let input = child.process.stdin().take();
    let (mut stdout_bytes, mut stderr_bytes) = (Vec::new(), Vec::new());
    {
        let talk = async {
            tokio::try_join!(
                stdout.read(out, &mut stdout_bytes),
                stderr.read(err, &mut stderr_bytes),
                feed(input, script.inputs.stdin.as_deref())
            )
        };
        let mut talk = std::pin::pin!(talk);
        let talked = tokio::select! {
            result = &mut talk => Some(result),
            () = cancelled.cancelled() => None,
        };
        if let Some(result) = talked {
            result.map_err(pipe_error)?;
        } else {
            child.kill();
            // Only a process outside of the process group can still hold the pipes, so do not wait longer.
            let _ = tokio::time::timeout(LAST_OUTPUT, talk).await;
        }
    }
    let status = child.wait(cancelled).await.map_err(pipe_error)?;
    if !status.success() {
        let output = mixed.into_inner().unwrap_or_else(PoisonError::into_inner);
        let output = String::from_utf8_lossy(&output).into_owned();
        return Err(Error::Failed {
            status,
            script: script.shown(),
            output,
        });
    }
    Ok(Streams {
        stdout: text(&stdout_bytes),
        stderr: text(&stderr_bytes),
    })
}

fn text(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text.strip_suffix('\n').unwrap_or(&text).to_owned()
}

/// A process with its process group, killed on drop.
struct Running {
    process: Box<dyn ChildWrapper>,
    ended: bool,
}

impl Running {
    fn start(script: &Script<'_>, context: &BuiltinContext) -> Result<Self, Error> {
        let dir = script.inputs.dir.as_deref().unwrap_or_default();
        let path = context.working_dir.join(dir);
        if !path.is_dir() {
            let path = if dir.is_empty() {
                path
            } else {
                PathBuf::from(dir)
            };
            return Err(Error::Directory {
                path,
                script: script.shown(),
            });
        }
        let (program, arguments) = interpreter(script.inputs);
        let mut command = Command::new(&program);
        command.args(arguments).arg(script.text);
        set_environment(&mut command, script, context);
        let stdin = if script.inputs.stdin.is_some() {
            Stdio::piped()
        } else {
            Stdio::null()
        };
        command
            .current_dir(&path)
            .stdin(stdin)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut command = CommandWrap::from(command);
        group(&mut command);
        let process = command.spawn().map_err(|cause| Error::Start {
            program,
            script: script.shown(),
            cause,
        })?;
        Ok(Running {
            process,
            ended: false,
        })
    }

    fn kill(&mut self) {
        // Fails if the process has already ended; other errors cannot be handled here.
        let _ = self.process.start_kill();
    }

    async fn wait(&mut self, cancelled: &CancellationToken) -> io::Result<ExitStatus> {
        let ended = tokio::select! {
            status = self.process.wait() => Some(status),
            () = cancelled.cancelled() => None,
        };
        let status = if let Some(status) = ended {
            status
        } else {
            self.kill();
            self.process.wait().await
        };
        self.ended = status.is_ok();
        status
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.ended {
            self.kill();
        }
    }
}

#[cfg(unix)]
fn group(command: &mut CommandWrap) {
    command.wrap(process_wrap::tokio::ProcessGroup::leader());
}

#[cfg(windows)]
fn group(command: &mut CommandWrap) {
    command.wrap(process_wrap::tokio::JobObject);
}

fn interpreter(inputs: &Inputs) -> (String, Vec<String>) {
    let default = if cfg!(windows) {
        ["cmd", "/C"]
    } else {
        ["/bin/sh", "-c"]
    };
    let mut words = inputs
        .interpreter
        .clone()
        .unwrap_or_else(|| default.map(str::to_owned).to_vec());
    let program = words.remove(0);
    (program, words)
}

fn set_environment(command: &mut Command, script: &Script<'_>, context: &BuiltinContext) {
    if let Some(environment) = &context.environment {
        command
            .env_clear()
            .envs(environment.iter().map(|(name, value)| (name, value)));
    }
    command.envs(&script.inputs.environment);
    let previous = [
        (PREVIOUS_STDOUT, &script.previous.stdout),
        (PREVIOUS_STDERR, &script.previous.stderr),
    ];
    if script.inputs.add_previous_output {
        command.envs(previous.into_iter().filter(|(_, text)| !text.is_empty()));
    }
}

async fn feed(stdin: Option<ChildStdin>, text: Option<&str>) -> io::Result<()> {
    let (Some(mut stdin), Some(text)) = (stdin, text) else {
        return Ok(());
    };
    match stdin.write_all(text.as_bytes()).await {
        // A script may ignore its standard input.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

/// Reader for one of the output streams.
struct Reader<'a> {
    mixed: &'a Mutex<Vec<u8>>,
    log: Option<(&'a BuiltinContext, Option<&'a Urn>)>,
}

impl Reader<'_> {
    async fn read(
        &self,
        stream: Option<impl AsyncRead + Unpin>,
        bytes: &mut Vec<u8>,
    ) -> io::Result<()> {
        let Some(mut stream) = stream else {
            return Ok(());
        };
        let mut chunk = vec![0; 8192];
        let mut logged = 0;
        loop {
            let length = stream.read(&mut chunk).await?;
            bytes.extend_from_slice(&chunk[..length]);
            self.mixed
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .extend_from_slice(&chunk[..length]);
            logged = self.log_lines(bytes, logged);
            if length == 0 {
                self.log_line(&bytes[logged..]);
                return Ok(());
            }
        }
    }

    /// Logs the complete lines after `from`; returns the start of the next line.
    fn log_lines(&self, bytes: &[u8], mut from: usize) -> usize {
        while let Some(length) = bytes[from..].iter().position(|byte| *byte == b'\n') {
            self.log_line(&bytes[from..=from + length]);
            from += length + 1;
        }
        from
    }

    fn log_line(&self, line: &[u8]) {
        let Some((context, urn)) = self.log.filter(|_| !line.is_empty()) else {
            return;
        };
        let line = String::from_utf8_lossy(line);
        let message = line.trim_end_matches('\n').trim_end_matches('\r');
        context.log.log(LogRecord {
            severity: LogSeverity::Info,
            urn,
            message,
            ephemeral: true,
        });
    }
}
