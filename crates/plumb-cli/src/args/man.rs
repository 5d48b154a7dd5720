//! The command line as manual pages.

use std::fmt::Write as _;

use plumb_display::with_program;

use super::reference::{file_name, shown};
use super::surface::{CommandSurface, FlagSurface};

/// A page for every command that help lists, of the program by this name: the name of its file, and its text.
pub fn pages(commands: &[CommandSurface], program: &str) -> Vec<(String, String)> {
    let listed = commands.iter().filter(|command| !command.is_hidden);
    listed
        .map(|command| {
            let name = file_name(command, program).replace('_', "-");
            (
                format!("{name}.1"),
                with_program(&page(command, &name, program), program).into_owned(),
            )
        })
        .collect()
}

fn page(command: &CommandSurface, name: &str, program: &str) -> String {
    let mut out = format!(".TH \"{}\" 1\n.SH NAME\n", name.to_uppercase());
    let _ = writeln!(out, "{} \\- {}", escaped(name), escaped(&command.about));
    let words = command.usage();
    let _ = writeln!(
        out,
        ".SH SYNOPSIS\n.B {}\n{} [flags]",
        escaped(&shown(command, program)),
        escaped(words.trim())
    );
    out.push_str(".SH DESCRIPTION\n");
    for paragraph in command.description.split("\n\n") {
        let _ = writeln!(out, ".PP\n{}", escaped(paragraph.trim()));
    }
    let listed = || command.flags.iter().filter(|flag| !flag.is_hidden);
    flags(
        "FLAGS",
        listed().filter(|flag| !flag.is_inherited),
        &mut out,
    );
    flags(
        "FLAGS OF COMMANDS ABOVE",
        listed().filter(|flag| flag.is_inherited),
        &mut out,
    );
    out
}

fn flags<'f>(title: &str, flags: impl Iterator<Item = &'f FlagSurface>, out: &mut String) {
    let mut flags = flags.peekable();
    if flags.peek().is_none() {
        return;
    }
    let _ = writeln!(out, ".SH {title}");
    for flag in flags {
        let short = flag
            .short
            .map(|short| format!("-{short}, "))
            .unwrap_or_default();
        let name = escaped(&format!("{short}--{}", flag.name));
        let default = flag
            .default
            .as_ref()
            .map(|value| format!(" (default {value})"));
        let text = format!("{}{}", flag.help, default.unwrap_or_default());
        let _ = writeln!(
            out,
            ".TP\n\\fB{name}\\fR \\fI{}\\fR\n{}",
            flag.kind,
            escaped(&text)
        );
    }
}

/// The text escaped for the manual page formatter.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for (index, line) in text.lines().enumerate() {
        if index > 0 {
            out.push('\n');
        }
        if line.starts_with(['.', '\'']) {
            out.push_str("\\&");
        }
        out.push_str(&line.replace('\\', "\\e").replace('-', "\\-"));
    }
    out
}
