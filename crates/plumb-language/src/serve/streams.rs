//! Answers that come bit by bit: installations and plugins.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use plumb_plugin::language::{PluginEvent, PluginLaunch};
use plumb_plugin::process::{Exit, Launch, Process};
use plumb_plugin::{OutputLevel, OutputLine, OutputSink, OutputStream};
use plumb_proto::pulumirpc as pb;
use plumb_proto::pulumirpc::run_plugin_response::Output;
use tokio::sync::mpsc::{self, UnboundedSender};
use tokio_util::sync::CancellationToken;
use tonic::Status;

/// How long an interrupted plugin may take to end.
const GRACE: Duration = Duration::from_secs(5);

/// Where the parts of an answer go. They wait there for the engine: a tool must not be held up by what it prints.
pub(super) type Parts<T> = UnboundedSender<Result<T, Status>>;

/// A sink that sends what tools print.
pub(super) fn installation_output(parts: Parts<pb::InstallDependenciesResponse>) -> OutputSink {
    Arc::new(move |line: OutputLine| {
        if line.level == OutputLevel::Debug {
            return;
        }
        let text = format!("{}\n", line.text).into_bytes();
        let part = match line.stream {
            OutputStream::Stdout => pb::InstallDependenciesResponse {
                stdout: text,
                stderr: Vec::new(),
            },
            OutputStream::Stderr => pb::InstallDependenciesResponse {
                stdout: Vec::new(),
                stderr: text,
            },
        };
        // When nobody listens any more, the installation goes on.
        let _ = parts.send(Ok(part));
    })
}

/// Runs a plugin until it ends, nobody listens to it, or `stop` fires.
pub(super) async fn run_plugin(
    launch: PluginLaunch,
    parts: Parts<pb::RunPluginResponse>,
    stop: CancellationToken,
) {
    let send = |output| {
        parts.send(Ok(pb::RunPluginResponse {
            output: Some(output),
        }))
    };
    match launch {
        PluginLaunch::Command {
            program,
            args,
            environment,
            working_directory,
        } => {
            let launch = Launch {
                source: "plugin".into(),
                program: program.clone(),
                args,
                environment,
                working_directory,
                level: OutputLevel::Info,
                keep_blank_lines: true,
                output: plugin_output(parts.clone()),
            };
            match Process::spawn(launch) {
                Ok(process) => {
                    let exit = until_end(&process, &parts, &stop).await;
                    // Nobody may listen any more.
                    let _ = send(Output::Exitcode(code_of(&exit)));
                }
                Err(error) => {
                    let message = format!("could not run {}: {error}", program.display());
                    let _ = parts.send(Err(Status::unknown(message)));
                }
            }
        }
        PluginLaunch::Running(mut events) => loop {
            let event = tokio::select! {
                event = events.next() => event,
                () = parts.closed() => None,
                () = stop.cancelled() => None,
            };
            let sent = match event {
                Some(PluginEvent::Stdout(bytes)) => send(Output::Stdout(bytes)),
                Some(PluginEvent::Stderr(bytes)) => send(Output::Stderr(bytes)),
                Some(PluginEvent::Exited(code)) => send(Output::Exitcode(code)),
                Some(PluginEvent::Failed(message)) => parts.send(Err(Status::unknown(message))),
                None => break,
            };
            if sent.is_err() {
                break;
            }
        },
    }
}

async fn until_end(
    process: &Process,
    parts: &Parts<pb::RunPluginResponse>,
    stop: &CancellationToken,
) -> Exit {
    tokio::select! {
        exit = process.wait() => exit,
        () = parts.closed() => process.stop(GRACE).await,
        () = stop.cancelled() => process.stop(GRACE).await,
    }
}

fn plugin_output(parts: Parts<pb::RunPluginResponse>) -> OutputSink {
    Arc::new(move |line: OutputLine| {
        let text = format!("{}\n", line.text).into_bytes();
        let output = match line.stream {
            OutputStream::Stdout => Output::Stdout(text),
            OutputStream::Stderr => Output::Stderr(text),
        };
        // When nobody listens any more, the plugin is about to be stopped.
        let _ = parts.send(Ok(pb::RunPluginResponse {
            output: Some(output),
        }));
    })
}

/// The exit code as a shell would have it.
fn code_of(exit: &Exit) -> i32 {
    match exit {
        Exit::Code(code) => *code,
        Exit::Signal(signal) => 128 + signal,
        Exit::Unknown => -1,
    }
}

/// A channel for the parts of an answer, and the answer.
pub(super) fn parts<T: Send + 'static>() -> (Parts<T>, tonic::codegen::BoxStream<T>) {
    let (sender, mut receiver) = mpsc::unbounded_channel();
    let stream = futures::stream::poll_fn(move |context| receiver.poll_recv(context));
    (sender, Box::pin(stream))
}
