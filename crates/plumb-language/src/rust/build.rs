//! Bringing a program up to date.
//!
//! Cargo writes a list of what it made to standard output, and to standard error what people read. The second has two
//! parts: lines of progress, which the engine shows as long as they are new, and diagnostics. Warnings go to the output of
//! the program; errors become the reason why it could not be built.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use plumb_plugin::language::ProgramInfo;
use plumb_plugin::{OutputLevel, OutputLine, OutputStream};
use serde::Deserialize;

use super::{cargo, flags};
use crate::LanguageOptions;
use crate::compiled::{CompiledError, say};

/// How many lines of diagnostics a failed build shows.
const SHOWN: usize = 80;

/// The shortest time between two lines of progress.
const PACE: Duration = Duration::from_millis(400);

/// Cargo's message about an artifact.
#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    manifest_path: PathBuf,
    #[serde(default)]
    executable: Option<PathBuf>,
}

/// Brings the program up to date; answers where it is.
pub(super) async fn build(
    options: &LanguageOptions,
    info: &ProgramInfo,
) -> Result<PathBuf, CompiledError> {
    let directory = &info.program_directory;
    let manifest = directory.join("Cargo.toml");
    if !manifest.is_file() {
        return Err(CompiledError::NoSources {
            wanted: "a Cargo.toml",
            directory: directory.clone(),
        });
    }
    let args = ["build", "--message-format=json-render-diagnostics"];
    let mut tool = cargo(&args, options, info)?;
    tool.args.extend(flags(info)?.iter().map(Into::into));
    let mut listener = Listener::default();
    let (heard, mut lines) = tokio::sync::mpsc::unbounded_channel();
    let building = tool.converse(move |line| {
        // The listener below outlives the tool.
        let _ = heard.send(line);
    });
    let listening = async {
        while let Some(line) = lines.recv().await {
            listener.hear(options, line).await;
        }
    };
    let (built, ()) = tokio::join!(building, listening);
    let (exit, made) = built?;
    if !exit.success() {
        return Err(CompiledError::Compile {
            directory: directory.clone(),
            output: listener.diagnostics(),
        });
    }
    listener.pass_on(options);
    the_only(&made, &manifest, directory)
}

/// The executable of the program among everything that was made.
fn the_only(made: &str, manifest: &Path, directory: &Path) -> Result<PathBuf, CompiledError> {
    let manifest = manifest
        .canonicalize()
        .unwrap_or_else(|_| manifest.to_owned());
    let mut programs: Vec<PathBuf> = made
        .lines()
        .filter_map(|line| serde_json::from_str::<Message>(line).ok())
        .filter(|message| message.manifest_path == manifest)
        .filter_map(|message| message.executable)
        .collect();
    match (programs.pop(), programs.is_empty()) {
        (Some(program), true) => Ok(program),
        (Some(_), false) => Err(CompiledError::ManyBinaries {
            directory: directory.to_owned(),
        }),
        (None, _) => Err(CompiledError::NoSources {
            wanted: "a crate with a binary",
            directory: directory.to_owned(),
        }),
    }
}

/// Tells progress from diagnostics.
#[derive(Default)]
struct Listener {
    diagnostics: Vec<String>,
    told: Option<Instant>,
}

impl Listener {
    async fn hear(&mut self, options: &LanguageOptions, line: String) {
        let Some(verb) = verb(&line) else {
            self.diagnostics.push(line);
            return;
        };
        // A program that is up to date is not worth a line.
        if verb == "Finished" {
            return;
        }
        if self.told.is_none_or(|told| told.elapsed() > PACE) {
            say(&options.engine_address, line.trim_start()).await;
            self.told = Some(Instant::now());
        }
    }

    /// The first diagnostics: later errors are often the result of earlier ones.
    fn diagnostics(mut self) -> Vec<String> {
        if self.diagnostics.len() > SHOWN {
            let hidden = self.diagnostics.len() - SHOWN;
            self.diagnostics.truncate(SHOWN);
            self.diagnostics.push(format!("… and {hidden} more lines"));
        }
        self.diagnostics
    }

    /// Shows the warnings of a program that was built.
    fn pass_on(self, options: &LanguageOptions) {
        for text in self.diagnostics {
            (options.output)(OutputLine {
                source: "cargo".into(),
                stream: OutputStream::Stderr,
                level: OutputLevel::Info,
                text,
            });
        }
    }
}

/// The verb with which Cargo says how far it is, aligned to the right in the first twelve columns.
fn verb(line: &str) -> Option<&str> {
    let verb = line.get(..12)?.trim_start();
    let is_verb = line.as_bytes().get(12) == Some(&b' ')
        && verb.starts_with(|first: char| first.is_ascii_uppercase())
        && verb.chars().all(|letter| letter.is_ascii_alphabetic());
    is_verb.then_some(verb)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_told_from_diagnostics() {
        for (line, said) in [
            ("   Compiling plumb-sdk v0.1.0", "Compiling"),
            (
                "    Finished `dev` profile [unoptimized] target(s) in 0.10s",
                "Finished",
            ),
            ("  Downloaded syn v2.0.0", "Downloaded"),
            ("    Updating crates.io index", "Updating"),
        ] {
            assert_eq!(verb(line), Some(said));
        }
        for line in [
            "warning: unused variable: `x`",
            "  --> src/main.rs:3:9",
            "3 |     let x = 1;",
            "",
            "error[E0425]: cannot find function `f`",
        ] {
            assert_eq!(verb(line), None);
        }
    }

    #[test]
    fn a_failed_build_shows_the_first_diagnostics() {
        let listener = Listener {
            diagnostics: (0..100).map(|number| number.to_string()).collect(),
            told: None,
        };
        let shown = listener.diagnostics();
        assert_eq!(shown.len(), SHOWN + 1);
        assert_eq!(shown[0], "0");
        assert_eq!(shown[SHOWN], "… and 20 more lines");
    }
}
