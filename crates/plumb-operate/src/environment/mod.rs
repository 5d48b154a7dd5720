//! Environment of the process, read once.

pub mod ci;
mod system;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use plumb_display::CiSystem;
use plumb_events::ColorMode;

use crate::Error;

pub use system::{arch_name, os_name};

/// Environment variables, folders and terminals of the process.
#[derive(Clone, Debug)]
pub struct Environment {
    variables: BTreeMap<OsString, OsString>,
    /// The user's home folder.
    pub home: PathBuf,
    /// Folder for settings, plugins and logins: `PULUMI_HOME`, or `.pulumi` in the home folder.
    pub pulumi_home: PathBuf,
    /// The working directory.
    pub cwd: PathBuf,
    /// The words after the program's name.
    pub arguments: Vec<String>,
    /// Name the program was started with, usually `plumb` or `pulumi`.
    pub program: String,
    /// Whether standard input is a terminal.
    pub stdin_is_terminal: bool,
    /// Whether standard output is a terminal.
    pub stdout_is_terminal: bool,
    /// Whether standard error is a terminal.
    pub stderr_is_terminal: bool,
}

impl Environment {
    /// Reads the environment of this process.
    pub fn of_process() -> Result<Self, Error> {
        let cwd = std::env::current_dir().map_err(|error| {
            Error::user(format!("the working directory cannot be read: {error}"))
        })?;
        let mut words = std::env::args_os();
        let program = words.next().unwrap_or_default();
        let program = Path::new(&program).file_stem().map_or_else(
            || crate::NAME.to_owned(),
            |name| name.to_string_lossy().into_owned(),
        );
        let variables: BTreeMap<OsString, OsString> = std::env::vars_os().collect();
        let home = std::env::home_dir().unwrap_or_else(|| cwd.clone());
        let pulumi_home = variables
            .get(OsStr::new("PULUMI_HOME"))
            .filter(|home| !home.is_empty())
            .map_or_else(|| home.join(".pulumi"), |home| cwd.join(home));
        Ok(Environment {
            variables,
            home,
            pulumi_home,
            cwd,
            arguments: words
                .map(|word| word.to_string_lossy().into_owned())
                .collect(),
            program,
            stdin_is_terminal: std::io::stdin().is_terminal(),
            stdout_is_terminal: std::io::stdout().is_terminal(),
            stderr_is_terminal: std::io::stderr().is_terminal(),
        })
    }

    /// An environment with only these variables, for tests.
    #[doc(hidden)]
    pub fn for_tests(variables: BTreeMap<OsString, OsString>) -> Self {
        Environment {
            variables,
            home: PathBuf::from("/home/tester"),
            pulumi_home: PathBuf::from("/home/tester/.pulumi"),
            cwd: PathBuf::from("/work"),
            arguments: Vec::new(),
            program: "plumb".to_owned(),
            stdin_is_terminal: false,
            stdout_is_terminal: false,
            stderr_is_terminal: false,
        }
    }

    /// Value of a variable; an empty value counts as set.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.variables
            .get(OsStr::new(name))
            .and_then(|value| value.to_str())
    }

    /// Value of a variable that is not empty.
    pub fn non_empty(&self, name: &str) -> Option<&str> {
        self.get(name).filter(|value| !value.is_empty())
    }

    /// Whether a variable is `1` or `true`, in any case.
    pub fn is_on(&self, name: &str) -> bool {
        self.get(name)
            .is_some_and(|value| value == "1" || value.eq_ignore_ascii_case("true"))
    }

    /// Sets a variable for child processes.
    pub fn set(&mut self, name: &str, value: &str) {
        self.variables.insert(name.into(), value.into());
    }

    /// All variables, for child processes.
    pub fn variables(&self) -> &BTreeMap<OsString, OsString> {
        &self.variables
    }

    /// Whether prompts are allowed (`cli.md` 1.5).
    pub fn is_interactive(&self, non_interactive: bool) -> bool {
        if self.is_on("PULUMI_TEST_INTERACTIVE") {
            return true;
        }
        !non_interactive
            && self.stdin_is_terminal
            && self.stdout_is_terminal
            && self.get("TERM") != Some("dumb")
            && !ci::is_present(self)
    }

    /// Colour mode for `--color auto`.
    pub fn auto_color(&self) -> ColorMode {
        if self.get("NO_COLOR").is_some() || !self.stdout_is_terminal {
            ColorMode::Never
        } else {
            ColorMode::Always
        }
    }

    /// User name for locks and logins.
    pub fn user_name(&self) -> String {
        system_user().unwrap_or_else(|| {
            ["USER", "LOGNAME", "USERNAME"]
                .iter()
                .find_map(|name| self.non_empty(name).map(ToOwned::to_owned))
                .unwrap_or_default()
        })
    }

    /// Name of the machine.
    pub fn host_name(&self) -> String {
        system_host()
            .or_else(|| self.non_empty("COMPUTERNAME").map(ToOwned::to_owned))
            .unwrap_or_default()
    }

    /// Default number of parallel operations: four per processor.
    pub fn default_parallel() -> i32 {
        std::thread::available_parallelism().map_or(4, |count| {
            i32::try_from(count.get() * 4).unwrap_or(i32::MAX)
        })
    }

    /// Whether a screen reader is used.
    pub fn is_read_aloud(&self) -> bool {
        self.is_on("ACCESSIBLE")
    }

    /// Whether the terminal is known to support links (OSC 8).
    pub fn knows_links(&self) -> bool {
        let programs = ["iTerm.app", "WezTerm", "vscode", "ghostty", "Hyper"];
        let is_known = self
            .get("TERM_PROGRAM")
            .is_some_and(|name| programs.contains(&name));
        let marks = [
            "VTE_VERSION",
            "KITTY_WINDOW_ID",
            "WT_SESSION",
            "KONSOLE_VERSION",
            "DOMTERM",
        ];
        self.get("TERM") != Some("dumb")
            && (is_known || marks.iter().any(|name| self.non_empty(name).is_some()))
    }

    /// Whether the terminal has only ASCII characters, according to the locale or to the kind of terminal.
    pub fn has_few_characters(&self) -> bool {
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"];
        let locale = locale.iter().find_map(|name| self.non_empty(name));
        // Without a locale, as in containers, the terminal usually supports UTF-8.
        let is_other = locale.is_some_and(|locale| {
            let locale = locale.to_ascii_lowercase();
            !locale.contains("utf-8") && !locale.contains("utf8")
        });
        let is_console = self.get("TERM") == Some("linux");
        // The old Windows console; newer terminals set one of these variables.
        let marks = ["WT_SESSION", "TERM_PROGRAM", "ConEmuANSI"];
        let is_old = cfg!(windows) && marks.iter().all(|name| self.non_empty(name).is_none());
        is_other || is_console || is_old
    }

    /// Continuous integration system, if its markup is supported.
    pub fn ci_system(&self) -> Option<CiSystem> {
        if self.is_on("PULUMI_DISABLE_CI_DETECTION") {
            None
        } else if self.is_on("GITHUB_ACTIONS") {
            Some(CiSystem::GitHub)
        } else if self.is_on("GITLAB_CI") {
            Some(CiSystem::GitLab)
        } else {
            None
        }
    }
}

#[cfg(unix)]
fn system_host() -> Option<String> {
    rustix::system::uname()
        .nodename()
        .to_str()
        .ok()
        .map(ToOwned::to_owned)
}

#[cfg(not(unix))]
fn system_host() -> Option<String> {
    None
}

/// User name from the system's user database, or the user id if it is not listed.
#[cfg(unix)]
fn system_user() -> Option<String> {
    let id = rustix::process::getuid().as_raw().to_string();
    let listed = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    listed.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)? == id).then(|| name.to_owned())
    })
}

#[cfg(not(unix))]
fn system_user() -> Option<String> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn has_few_characters(variables: &[(&str, &str)]) -> bool {
        let variables = variables.iter();
        let variables =
            variables.map(|(name, value)| (OsString::from(name), OsString::from(value)));
        Environment::for_tests(variables.collect()).has_few_characters()
    }

    #[test]
    #[cfg(not(windows))]
    fn the_locale_and_the_terminal_tell_which_characters_there_are() {
        assert!(!has_few_characters(&[]));
        assert!(!has_few_characters(&[
            ("LANG", "en_GB.UTF-8"),
            ("TERM", "xterm")
        ]));
        assert!(!has_few_characters(&[("LC_ALL", "C.utf8"), ("LANG", "C")]));
        assert!(has_few_characters(&[
            ("LC_ALL", "POSIX"),
            ("LANG", "en_GB.UTF-8")
        ]));
        assert!(has_few_characters(&[
            ("LC_ALL", ""),
            ("LANG", "de_DE.ISO-8859-1")
        ]));
        assert!(has_few_characters(&[
            ("LANG", "C.UTF-8"),
            ("TERM", "linux")
        ]));
    }
}
