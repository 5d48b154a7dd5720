//! Where log lines go (`cli.md` 1.2): nowhere, to stderr, or to a file of the run.

use std::fs::{self, File};
use std::path::PathBuf;
use std::sync::Mutex;

use jiff::Timestamp;
use tracing_subscriber::filter::LevelFilter;

use crate::cli::GlobalArgs;
use crate::{Environment, Printer};

/// The log of a run, until it ends.
#[must_use]
pub struct Log {
    file: Option<PathBuf>,
}

impl Log {
    /// Starts the log that the flags ask for. Without `--verbose` there is none.
    pub fn start(globals: &GlobalArgs, environment: &Environment, printer: &Printer) -> Self {
        warn_of_traces(globals, printer);
        let level = match globals.verbose {
            ..=0 => return Log { file: None },
            1..=3 => LevelFilter::INFO,
            4..=9 => LevelFilter::DEBUG,
            _ => LevelFilter::TRACE,
        };
        let lines = tracing_subscriber::fmt()
            .with_max_level(level)
            .with_ansi(false);
        if globals.logtostderr {
            // Somebody may have set up a log before; theirs stays.
            let _ = lines.with_writer(std::io::stderr).try_init();
            return Log { file: None };
        }
        let folder = environment.pulumi_home.join("logs");
        let name = format!(
            "pulumi-{}-{}.log",
            Timestamp::now().strftime("%Y%m%dT%H%M%S"),
            std::process::id()
        );
        let path = folder.join(name);
        match fs::create_dir_all(&folder).and_then(|()| File::create(&path)) {
            Ok(file) => {
                let _ = lines.with_writer(Mutex::new(file)).try_init();
                Log { file: Some(path) }
            }
            Err(error) => {
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

/// Says that flags which are known and do nothing do nothing, and what works instead.
fn warn_of_traces(globals: &GlobalArgs, printer: &Printer) {
    let asked = [
        ("tracing", globals.tracing.is_some()),
        ("otel-traces", globals.otel_traces.is_some()),
        ("profiling", globals.profiling.is_some()),
    ];
    for (flag, _) in asked.iter().filter(|(_, is_set)| *is_set) {
        printer.warning(&format!(
            "--{flag} has no effect: no traces are written. `--verbose 9 --logtostderr` shows what happens when, and \
             `--event-log` keeps what `replay-events` shows"
        ));
    }
}
