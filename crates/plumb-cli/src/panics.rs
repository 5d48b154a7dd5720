//! Panic hook: writes a report, and tells the user where it is. The journal preserves the state, as after any other end of
//! the process.

use std::backtrace::Backtrace;
use std::fmt::Write as _;
use std::panic::PanicHookInfo;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use jiff::Timestamp;
use plumb_operate::{Environment, Printer, VERSION};
use plumb_project::files;

/// Whether a report has been written.
static REPORTED: AtomicBool = AtomicBool::new(false);

/// Installs the hook, which replaces the message of the Rust runtime.
pub(crate) fn install(environment: &Environment) {
    let folder = environment.pulumi_home.join("logs");
    let words = environment.arguments.first().cloned().unwrap_or_default();
    let program = environment.program.clone();
    std::panic::set_hook(Box::new(move |info| {
        let first = !REPORTED.swap(true, Ordering::SeqCst);
        if !first {
            return;
        }
        let path = write_report(&folder, &words, info);
        // On stdout, because programs that run this one look for the message there.
        let printer = Printer::new(plumb_events::ColorMode::Never, &program);
        printer.data(&printer.named(&banner(path.as_ref())));
    }));
}

fn banner(path: Option<&PathBuf>) -> String {
    let report = path.map_or_else(String::new, |path| {
        format!("A report is in {}; it has no secrets.\n", path.display())
    });
    format!(
        "================================================================================\n\
         The Pulumi CLI encountered a fatal error. This is a bug!\n\
         What was done so far is not lost: the next command reads it from the journal.\n\
         {report}\
         Please report it with the report, the command, and what you see if you run it again.\n\
         ================================================================================\n"
    )
}

/// Writes a report for developers. A message built at run time may contain secrets, so only a constant message is
/// included.
fn write_report(
    folder: &std::path::Path,
    command: &str,
    info: &PanicHookInfo<'_>,
) -> Option<PathBuf> {
    let mut text = format!(
        "plumb {VERSION}, command `{command}`, {}\n",
        Timestamp::now()
    );
    if let Some(location) = info.location() {
        let _ = writeln!(text, "at {location}");
    }
    if let Some(message) = info.payload().downcast_ref::<&'static str>() {
        let _ = writeln!(text, "{message}");
    }
    let _ = writeln!(text, "\n{}", Backtrace::force_capture());
    let name = format!(
        "plumb-defect-{}-{}.txt",
        Timestamp::now().strftime("%Y%m%dT%H%M%S"),
        std::process::id()
    );
    let path = folder.join(name);
    files::create_private_folder(folder).ok()?;
    let mut file = files::create_private(&path).ok()?;
    std::io::Write::write_all(&mut file, text.as_bytes()).ok()?;
    Some(path)
}
