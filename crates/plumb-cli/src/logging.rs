//! Where log lines go (`cli.md` 1.2): nowhere, to stderr, or to a file of the run.

use std::io;
use std::path::PathBuf;
use std::sync::Mutex;

use jiff::Timestamp;
use plumb_project::files;
use tracing_subscriber::filter::{LevelFilter, filter_fn};
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};
use tracing_subscriber::registry::Registry;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::cli::GlobalArgs;
use crate::own_version::{COMMIT, OWN_VERSION};
use crate::trace::{TARGET, Trace};
use crate::{Environment, Printer};

/// The level from which on the log has values: what goes over the wire.
const WIRE: i32 = 10;

/// The log of a run, until it ends.
#[must_use]
pub struct Log {
    file: Option<PathBuf>,
}

impl Log {
    /// Starts the log that the flags ask for, and the trace. Without `--verbose` there is no log.
    pub(crate) fn start(
        globals: &GlobalArgs,
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

    /// Tells where the log is.
    pub fn end(self, printer: &Printer) {
        if let Some(path) = self.file {
            printer.info(&format!(
                "The log file for this run is at {}",
                path.display()
            ));
        }
    }
}

/// Begins each log with what it is about. Programs that ask for a log rely on there being something in it.
fn announce(globals: &GlobalArgs) {
    let command = globals.command.join(" ");
    tracing::info!(command, version = OWN_VERSION, commit = COMMIT, "started");
}

/// Sends log lines and spans where they are to go.
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
    // Somebody may have set up a log before; theirs stays.
    let _ = tracing_subscriber::registry()
        .with(spans)
        .with(lines)
        .try_init();
}
