//! Outcomes of programs under a debugger.

use std::fs;
use std::path::Path;

use plumb_plugin::language::RunOutcome;

use crate::program;

/// Messages of debuggers about the end of the program: in replies to clients, and in the log for users.
const ENDINGS: [&str; 2] = ["\"exited\":true,\"exitStatus\":", "has exited with status "];

/// Outcome of a program, read from the log of its debugger.
pub(super) fn outcome(log: &Path) -> RunOutcome {
    let text = fs::read(log).unwrap_or_default();
    match ending(&String::from_utf8_lossy(&text)) {
        Some(code) => program::outcome(code),
        None => RunOutcome::Failed(
            "the debugger has gone before the program had ended, and the program with it"
                .to_owned(),
        ),
    }
}

fn ending(log: &str) -> Option<i32> {
    ENDINGS.iter().find_map(|ending| {
        let (_, behind) = log.rsplit_once(ending)?;
        let is_number = |c: char| c.is_ascii_digit() || c == '-';
        behind.split(|c| !is_number(c)).next()?.parse().ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_thing_that_is_said_of_the_end_counts() {
        for (log, code) in [
            (
                "-> {\"Pid\":7,\"exited\":true,\"exitStatus\":32,\"When\":\"\"}",
                Some(32),
            ),
            ("Process 7 has exited with status 0\n", Some(0)),
            ("Process 7 has exited with status -1\nx", Some(-1)),
            ("debug layer=rpc stopping\n", None),
        ] {
            assert_eq!(ending(log), code, "{log}");
        }
    }
}
