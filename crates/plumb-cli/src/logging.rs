//! Destination of log lines (`cli.md` 1.2): none, standard error, or a file per run.

use std::io;
use std::path::PathBuf;
use std::sync::Mutex;

use jiff::Timestamp;
use plumb_operate::context::Globals;
use plumb_operate::own_version::{COMMIT, OWN_VERSION};
use plumb_operate::trace::{TARGET, Trace};
use plumb_operate::{Environment, Printer};
use plumb_project::files;
use tracing_subscriber::filter::{LevelFilter, filter_fn};
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};
use tracing_subscriber::registry::Registry;
use tracing_subscriber::util::SubscriberInitExt as _;

/// Log level from which wire traffic with values is logged.
const WIRE: i32 = 10;

/// Log of a run.
#[must_use]
pub struct Log {
    file: Option<PathBuf>,
}

impl Log {
    /// Starts the log and the trace according to the flags. There is no log without `--verbose`.
    pub(crate) fn start(
        globals: &Globals,
        environment: &Environment,
        printer: &Printer,
        trace: &Trace,
    ) -> Self {
        if globals.verbose >= WIRE {
            let level = globals.verbose;
            printer.warning(&format!("log level {level} may write secrets to the log"));
        }
        let level = match globals.verbose {
            ..=0 => {
                record(None::<fn() -> io::Sink>, LevelFilter::OFF, trace);
                return Log { file: None };
            }
            1..=3 => LevelFilter::INFO,
            4..WIRE => LevelFilter::DEBUG,
            WIRE.. => LevelFilter::TRACE,
        };
        if globals.logtostderr {
            record(Some(io::stderr), level, trace);
            announce(globals);
            return Log { file: None };
        }
        let folder = environment.pulumi_home.join("logs");
        let name = format!(
            "pulumi-{}-{}.log",
            Timestamp::now().strftime("%Y%m%dT%H%M%S"),
            std::process::id()
        );
        let path = folder.join(name);
        match files::create_private_folder(&folder).and_then(|()| files::create_private(&path)) {
            Ok(file) => {
                record(Some(Mutex::new(file)), level, trace);
                announce(globals);
                Log { file: Some(path) }
            }
            Err(error) => {
                record(None::<fn() -> io::Sink>, level, trace);
                printer.warning(&format!("no log is written: {}: {error}", path.display()));
                Log { file: None }
            }
        }
    }

    /// Prints the path of the log file.
    pub fn end(self, printer: &Printer) {
        if let Some(path) = self.file {
            printer.info(&format!(
                "The log file for this run is at {}",
                path.display()
            ));
        }
    }
}

/// Logs the command and versions first, because programs that request a log expect it not to be empty.
fn announce(globals: &Globals) {
    let command = globals.command.join(" ");
    tracing::info!(command, version = OWN_VERSION, commit = COMMIT, "started");
}

/// Installs the subscribers for log lines and spans.
fn record<W>(lines: Option<W>, level: LevelFilter, trace: &Trace)
where
    W: for<'w> MakeWriter<'w> + Send + Sync + 'static,
{
    let spans = trace.layer::<Registry>();
    if lines.is_none() && spans.is_none() {
        return;
    }
    let lines = lines.map(|writer| {
        tracing_subscriber::fmt::layer()
            .with_ansi(false)
            .with_writer(writer)
            .with_filter(filter_fn(|it| it.target() != TARGET))
            .with_filter(level)
    });
    // Fails if a subscriber is already installed, which is then kept.
    let _ = tracing_subscriber::registry()
        .with(spans)
        .with(lines)
        .try_init();
}
