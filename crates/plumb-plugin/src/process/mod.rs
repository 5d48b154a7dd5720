//! Child processes with their own process group.
//!
//! [`Process`] is a handle: a task owns the child, reads its output line by line and ends the whole group when the child
//! has ended or the handle is dropped. **No process of the group outlives the handle.**

mod busy;
mod lines;
mod port;
mod stream;
mod tail;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use process_wrap::tokio::{ChildWrapper, CommandWrap};
use tokio::process::Command;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinSet;

use crate::output::{OutputLevel, OutputSink, OutputStream};
use crate::trace_context;
pub use busy::retry_busy;
pub use port::{PluginTimeouts, StartError, StartProblem, start_with_port};
pub(crate) use port::{connect, start_from_stream};
pub use tail::Indented;
use tail::Tail;

/// Time to read the rest of the pipes after the child has ended.
const DRAIN: Duration = Duration::from_secs(1);

/// Environment variables of a process.
pub type Environment = BTreeMap<OsString, OsString>;

/// A process to start.
#[derive(Clone)]
pub struct Launch {
    /// Source of the output lines, usually the file name of the program.
    pub source: Arc<str>,
    /// The executable.
    pub program: PathBuf,
    /// Arguments of the process.
    pub args: Vec<OsString>,
    /// Complete environment of the process; nothing is inherited.
    pub environment: Environment,
    /// Working directory of the process.
    pub working_directory: PathBuf,
    /// Importance of the output lines.
    pub level: OutputLevel,
    /// Whether lines without text are reported too.
    pub keep_blank_lines: bool,
    /// Receiver of the output lines.
    pub output: OutputSink,
}

/// Exit of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Exit code.
    Code(i32),
    /// Terminating signal.
    Signal(i32),
    /// Not known.
    Unknown,
}

impl Exit {
    /// Whether the process succeeded.
    pub fn is_success(&self) -> bool {
        *self == Exit::Code(0)
    }

    fn of(status: io::Result<std::process::ExitStatus>) -> Self {
        let Ok(status) = status else {
            return Exit::Unknown;
        };
        #[cfg(unix)]
        if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
            return Exit::Signal(signal);
        }
        status.code().map_or(Exit::Unknown, Exit::Code)
    }
}

impl std::fmt::Display for Exit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Exit::Code(code) => write!(f, "exit status {code}"),
            Exit::Signal(signal) => write!(f, "signal {signal}"),
            Exit::Unknown => f.write_str("unknown exit status"),
        }
    }
}

enum Control {
    Interrupt,
    Kill,
}

/// A running process; see the module for the lifetime of the group.
pub struct Process {
    id: u32,
    control: mpsc::Sender<Control>,
    exit: watch::Receiver<Option<Exit>>,
    tail: Arc<Tail>,
}

impl Process {
    /// Starts the process. Must be called inside a runtime.
    pub fn spawn(launch: Launch) -> io::Result<Self> {
        Self::spawn_inner(launch, None)
    }

    /// Starts the process and returns the first line of its standard output; the sender is dropped if there is none.
    fn spawn_with_first_line(launch: Launch) -> io::Result<(Self, oneshot::Receiver<Vec<u8>>)> {
        let (sender, receiver) = oneshot::channel();
        Ok((Self::spawn_inner(launch, Some(sender))?, receiver))
    }

    fn spawn_inner(
        launch: Launch,
        first_line: Option<oneshot::Sender<Vec<u8>>>,
    ) -> io::Result<Self> {
        let mut command = Command::new(&launch.program);
        command
            .args(&launch.args)
            .env_clear()
            .envs(&launch.environment)
            .envs(trace_context::variable())
            .current_dir(&launch.working_directory)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut command = CommandWrap::from(command);
        #[cfg(unix)]
        command.wrap(process_wrap::tokio::ProcessGroup::leader());
        #[cfg(windows)]
        command.wrap(process_wrap::tokio::JobObject);
        let mut group = Group {
            child: retry_busy(|| command.spawn())?,
            has_ended: false,
        };
        let id = group.child.id().unwrap_or_default();

        let tail = Arc::new(Tail::default());
        let mut readers = JoinSet::new();
        if let Some(stdout) = group.child.stdout().take() {
            let sink = lines::LineSink::new(&launch, OutputStream::Stdout, tail.clone());
            readers.spawn(lines::forward(stdout, sink, first_line));
        }
        if let Some(stderr) = group.child.stderr().take() {
            let sink = lines::LineSink::new(&launch, OutputStream::Stderr, tail.clone());
            readers.spawn(lines::forward(stderr, sink, None));
        }
        let (control, commands) = mpsc::channel(4);
        let (exited, exit) = watch::channel(None);
        // Owned by the handle through the control channel, because the task ends the group when the channel closes.
        tokio::spawn(supervise(group, readers, commands, exited));
        Ok(Process {
            id,
            control,
            exit,
            tail,
        })
    }

    /// The process id.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// Exit of the process, if it has ended.
    pub fn try_exit(&self) -> Option<Exit> {
        self.exit.borrow().clone()
    }

    /// Waits for the end of the process and of its output.
    pub async fn wait(&self) -> Exit {
        let mut exit = self.exit.clone();
        match exit.wait_for(Option::is_some).await {
            Ok(exit) => exit.clone().unwrap_or(Exit::Unknown),
            Err(_) => Exit::Unknown,
        }
    }

    /// The last lines of output, oldest first.
    pub fn last_output(&self) -> Vec<String> {
        self.tail.lines()
    }

    /// Interrupts the group, as the terminal would.
    pub async fn interrupt(&self) {
        // A closed channel means that the process has ended already.
        let _ = self.control.send(Control::Interrupt).await;
    }

    /// Kills the group.
    pub async fn kill(&self) {
        let _ = self.control.send(Control::Kill).await;
    }

    /// Interrupts the group, and kills it if it has not ended within `grace`.
    pub async fn stop(&self, grace: Duration) -> Exit {
        if let Some(exit) = self.try_exit() {
            return exit;
        }
        self.interrupt().await;
        if let Ok(exit) = tokio::time::timeout(grace, self.wait()).await {
            return exit;
        }
        self.kill().await;
        self.wait().await
    }
}

/// The child and its group; kills the group when dropped.
struct Group {
    child: Box<dyn ChildWrapper>,
    has_ended: bool,
}

impl Group {
    fn kill(&mut self) {
        // Fails when no process of the group is left, which is the desired result.
        let _ = self.child.start_kill();
    }

    #[cfg(unix)]
    fn interrupt(&mut self) {
        const SIGINT: i32 = 2;
        let _ = self.child.signal(SIGINT);
    }

    #[cfg(not(unix))]
    fn interrupt(&mut self) {
        self.kill();
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if !self.has_ended {
            self.kill();
        }
    }
}

async fn supervise(
    mut group: Group,
    mut readers: JoinSet<()>,
    mut commands: mpsc::Receiver<Control>,
    exited: watch::Sender<Option<Exit>>,
) {
    // Kept open, because programs may take the end of their standard input as a request to stop.
    let stdin = group.child.stdin().take();
    let status = loop {
        tokio::select! {
            status = group.child.wait() => break status,
            command = commands.recv() => match command {
                Some(Control::Interrupt) => group.interrupt(),
                Some(Control::Kill) => group.kill(),
                None => {
                    group.kill();
                    break group.child.wait().await;
                }
            },
        }
    };
    group.kill();
    group.has_ended = true;
    drop(stdin);
    let drained = tokio::time::timeout(DRAIN, async {
        while readers.join_next().await.is_some() {}
    })
    .await;
    if drained.is_err() {
        readers.shutdown().await;
    }
    exited.send_replace(Some(Exit::of(status)));
}
