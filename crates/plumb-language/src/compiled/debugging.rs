//! Outcomes of programs under a debugger.

use std::fs;
use std::path::{Path, PathBuf};

use plumb_plugin::language::RunOutcome;

use super::CompiledError;
use crate::LanguageOptions;
use crate::program;

/// Messages of Delve about the end of the program: in replies to clients, and in the log for users. The exit status
/// follows.
const ENDINGS: [&str; 2] = ["\"exited\":true,\"exitStatus\":", "has exited with status "];

/// Logs of packets that debug servers send: of LLDB, and of GDB. The text of the packet follows.
const PACKETS: [&str; 2] = ["send packet: $", "putpkt (\"$"];

/// The end of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    Exited(i32),
    /// By a signal.
    Killed(i32),
}

/// An empty log for the debugger `name` on `port`. Debuggers exit successfully; [`outcome`] reads the exit status of the
/// program from the log.
pub(crate) fn new_debugger_log(
    options: &LanguageOptions,
    name: &str,
    port: u16,
) -> Result<PathBuf, CompiledError> {
    let folder = options.cache_directory.join(name);
    fs::create_dir_all(&folder).map_err(CompiledError::file("create", &folder))?;
    let log = folder.join(port.to_string());
    // Discard the log of an earlier program on the same port.
    fs::write(&log, "").map_err(CompiledError::file("write", &log))?;
    Ok(log)
}

/// Outcome of a program, read from the log of its debugger.
pub(super) fn outcome(log: &Path) -> RunOutcome {
    let text = fs::read(log).unwrap_or_default();
    match ending(&String::from_utf8_lossy(&text)) {
        Some(Ending::Exited(code)) => program::outcome(code),
        Some(Ending::Killed(signal)) => {
            RunOutcome::Failed(format!("signal {signal} has ended the program"))
        }
        None => RunOutcome::Failed(
            "the debugger has gone before the program had ended, and the program with it"
                .to_owned(),
        ),
    }
}

fn ending(log: &str) -> Option<Ending> {
    let of_delve = ENDINGS.iter().find_map(|ending| {
        let (_, behind) = log.rsplit_once(ending)?;
        let is_number = |c: char| c.is_ascii_digit() || c == '-';
        behind.split(|c| !is_number(c)).next()?.parse().ok()
    });
    of_delve.map(Ending::Exited).or_else(|| {
        let mut packets = log.lines().rev().filter_map(packet);
        packets.find_map(ending_of_server)
    })
}

/// The packet in a line of a log.
fn packet(line: &str) -> Option<&str> {
    PACKETS
        .iter()
        .find_map(|before| line.split_once(before).map(|(_, packet)| packet))
}

/// `W` and `X` with two hexadecimal digits: the exit status, and the signal that ended the program.
fn ending_of_server(packet: &str) -> Option<Ending> {
    let number = || i32::from_str_radix(packet.get(1..3)?, 16).ok();
    match packet.as_bytes().first()? {
        b'W' => number().map(Ending::Exited),
        b'X' => number().map(Ending::Killed),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_thing_that_is_said_of_the_end_counts() {
        for (log, end) in [
            (
                "-> {\"Pid\":7,\"exited\":true,\"exitStatus\":32,\"When\":\"\"}",
                Some(Ending::Exited(32)),
            ),
            (
                "Process 7 has exited with status 0\n",
                Some(Ending::Exited(0)),
            ),
            (
                "Process 7 has exited with status -1\nx",
                Some(Ending::Exited(-1)),
            ),
            ("debug layer=rpc stopping\n", None),
            (
                "1.0 <   7> send packet: $T05thread:1;#b9\n1.1 <   7> send packet: $W20#b9\n1.2 <   1> read packet: +\n",
                Some(Ending::Exited(32)),
            ),
            (
                "[remote] putpkt_binary_1: putpkt (\"$X0b#e9\"); [looking for ack]\n",
                Some(Ending::Killed(11)),
            ),
            ("putpkt (\"$OK#9a\"); [looking for ack]\n", None),
        ] {
            assert_eq!(ending(log), end, "{log}");
        }
    }
}
