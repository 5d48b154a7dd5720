//! Text for exit statuses and scripts, in the form of the real plugin.

use std::fmt::Write as _;
use std::process::ExitStatus;

/// Text of an exit status, such as `exit status 3` or `signal: killed`.
pub(super) fn describe(status: ExitStatus) -> String {
    match status.code() {
        Some(code) => format!("exit status {code}"),
        None => describe_signal(status),
    }
}

#[cfg(unix)]
fn describe_signal(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt as _;

    let Some(signal) = status.signal() else {
        return "ended abnormally".to_owned();
    };
    let name = match signal {
        1 => "hangup",
        2 => "interrupt",
        3 => "quit",
        4 => "illegal instruction",
        5 => "trace/breakpoint trap",
        6 => "aborted",
        8 => "floating point exception",
        9 => "killed",
        11 => "segmentation fault",
        13 => "broken pipe",
        14 => "alarm clock",
        15 => "terminated",
        other => return format!("signal: signal {other}"),
    };
    let core = if status.core_dumped() {
        " (core dumped)"
    } else {
        ""
    };
    format!("signal: {name}{core}")
}

#[cfg(not(unix))]
fn describe_signal(_: ExitStatus) -> String {
    "ended abnormally".to_owned()
}

/// The script in double quotes, with escapes.
pub(super) fn quoted(script: &str) -> String {
    let mut text = String::with_capacity(script.len() + 2);
    text.push('"');
    for letter in script.chars() {
        match letter {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            '\u{07}' => text.push_str("\\a"),
            '\u{08}' => text.push_str("\\b"),
            '\u{0b}' => text.push_str("\\v"),
            '\u{0c}' => text.push_str("\\f"),
            control if control.is_ascii_control() => {
                write!(text, "\\x{:02x}", control as u32).expect("writing to a string cannot fail");
            }
            other => text.push(other),
        }
    }
    text.push('"');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_are_quoted_on_one_line() {
        assert_eq!(
            quoted("echo \"a\\b\"\n\tx\u{1}é'"),
            r#""echo \"a\\b\"\n\tx\x01é'""#
        );
    }
}
