//! Long texts on terminals, shown by the user's pager.

use std::io::Write as _;
use std::process::{Command, Stdio};

use plumb_operate::{Environment, Printer, output};

/// The pager where the user names none.
const PAGER: &str = "less";
/// Settings of `less`, where the user has none: leave if the text fits, show colours, keep the screen.
const LESS: &str = "FRX";

/// Writes a text with colour tags to standard output; through a pager if that is a terminal and the text is longer than its screen.
pub(crate) fn show(text: &str, environment: &Environment, printer: &Printer) {
    let is_long = text.lines().count() >= output::terminal_size().height;
    let is_page = is_long
        && environment.stdout_is_terminal
        && environment.stdin_is_terminal
        && environment.get("TERM") != Some("dumb")
        && !environment.is_read_aloud();
    let shown = is_page && page(&printer.rendered(text), environment).is_some();
    if !shown {
        printer.styled(text);
    }
}

/// Runs the pager; `None` if there is none, or if it cannot be started.
fn page(text: &str, environment: &Environment) -> Option<()> {
    let words = pager(environment)?;
    let (program, words) = words.split_first()?;
    let mut command = Command::new(program);
    command.args(words).stdin(Stdio::piped());
    if environment.get("LESS").is_none() {
        command.env("LESS", LESS);
    }
    let mut pager = command.spawn().ok()?;
    if let Some(mut input) = pager.stdin.take() {
        // A reader who leaves early closes the pipe.
        let _ = input.write_all(text.as_bytes());
    }
    let _ = pager.wait();
    Some(())
}

/// Words of the pager's command line; `None` if the user wants none.
fn pager(environment: &Environment) -> Option<Vec<String>> {
    let command = environment.get("PAGER").unwrap_or(PAGER);
    let words = shlex::split(command)?;
    (!words.is_empty() && words != ["cat"]).then_some(words)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn the_user_chooses_the_pager() {
        let of = |value: Option<&str>| {
            let variables = value.map(|value| ("PAGER".into(), value.into()));
            pager(&Environment::for_tests(BTreeMap::from_iter(variables)))
        };
        let words = |words: &[&str]| Some(words.iter().map(ToString::to_string).collect());
        assert_eq!(of(None), words(&["less"]));
        assert_eq!(of(Some("most -s 'a b'")), words(&["most", "-s", "a b"]));
        assert_eq!(of(Some("")), None);
        assert_eq!(of(Some("cat")), None);
    }
}
