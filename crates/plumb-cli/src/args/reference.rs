//! The command line as Markdown, generated from its declarations.

use std::fmt::Write as _;

use plumb_display::with_program;
use plumb_operate::NAME;

use super::surface::{CommandSurface, FlagKind, FlagSurface};

/// `docs/cli.md`: every command and flag in tables.
pub fn reference(commands: &[CommandSurface]) -> String {
    let mut out = String::from(
        "# The command line\n\n\
         Written by the program from its own declarations (`PLUMB_WRITE_DOCS=1 cargo test -p plumb-cli surface`); a test fails when it is out of date.\n\n\
         The program is called `plumb`, and does the same under the name `pulumi`. What it says calls it by the name that it was \
         started by. Flags may stand before or behind the command and its words. Every flag can be given by a variable: `PULUMI_OPTION_` and its name \
         in capitals, with `_` for `-`; the command line wins. Commands and flags in *italics* are not listed by `--help`.\n",
    );
    let root = commands.first();
    let shared: &[FlagSurface] = root.map(|it| it.flags.as_slice()).unwrap_or_default();
    out.push_str("\n## Flags of every command\n");
    flag_table(shared.iter(), &mut out);
    out.push_str("\n## Commands\n\n| Command | What it does |\n|---|---|\n");
    for command in commands.iter().skip(1) {
        let name = shown(command, NAME);
        let link = format!("[`{}`](#{})", command.path.join(" "), anchor(&name));
        let link = if command.is_hidden {
            format!("*{link}*")
        } else {
            link
        };
        let _ = writeln!(out, "| {link} | {} |", cell(&command.about));
    }
    for command in commands.iter().skip(1) {
        section(command, shared, &mut out);
    }
    out
}

/// A page for every command that help lists, of the program by this name: its name and its text.
pub fn pages(commands: &[CommandSurface], program: &str) -> Vec<(String, String)> {
    let listed = commands.iter().filter(|command| !command.is_hidden);
    let page = |command: &CommandSurface| {
        let mut text = format!(
            "# {}\n\n{}\n",
            shown(command, program),
            command.description.trim_end()
        );
        usage(command, program, &mut text);
        let own = || command.flags.iter().filter(|flag| !flag.is_hidden);
        if own().any(|flag| !flag.is_inherited) {
            text.push_str("\n## Flags\n");
            flag_table(own().filter(|flag| !flag.is_inherited), &mut text);
        }
        if own().any(|flag| flag.is_inherited) {
            text.push_str("\n## Flags of commands above\n");
            flag_table(own().filter(|flag| flag.is_inherited), &mut text);
        }
        let below: Vec<&CommandSurface> = commands
            .iter()
            .filter(|it| !it.is_hidden && is_below(it, command))
            .collect();
        if !below.is_empty() {
            text.push_str("\n## Commands\n\n");
        }
        for sub in below {
            let _ = writeln!(
                text,
                "* [{}]({}.md) - {}",
                shown(sub, program),
                file_name(sub, program),
                sub.about
            );
        }
        (
            format!("{}.md", file_name(command, program)),
            with_program(&text, program).into_owned(),
        )
    };
    listed.map(page).collect()
}

fn is_below(command: &CommandSurface, above: &CommandSurface) -> bool {
    let depth = above.path.len();
    command.path.len() == depth + 1 && command.path[..depth] == above.path
}

pub(super) fn file_name(command: &CommandSurface, program: &str) -> String {
    shown(command, program).replace(' ', "_")
}

pub(super) fn shown(command: &CommandSurface, program: &str) -> String {
    super::scan::shown_path(program, &command.path)
}

fn anchor(title: &str) -> String {
    title.replace(' ', "-")
}

fn section(command: &CommandSurface, shared: &[FlagSurface], out: &mut String) {
    let _ = writeln!(
        out,
        "\n### {}\n\n{}",
        shown(command, NAME),
        command.description.trim_end()
    );
    usage(command, NAME, out);
    if !command.aliases.is_empty() {
        let _ = writeln!(out, "\nOther names: `{}`.", command.aliases.join("`, `"));
    }
    let is_shared = |flag: &&FlagSurface| {
        shared
            .iter()
            .any(|it| it.name == flag.name && flag.is_inherited)
    };
    flag_table(command.flags.iter().filter(|flag| !is_shared(flag)), out);
}

fn usage(command: &CommandSurface, program: &str, out: &mut String) {
    if command.is_group {
        return;
    }
    let words = command.usage();
    let _ = writeln!(
        out,
        "\n```\n{}{words} [flags]\n```",
        shown(command, program)
    );
}

fn flag_table<'f>(flags: impl Iterator<Item = &'f FlagSurface>, out: &mut String) {
    let mut flags = flags.peekable();
    if flags.peek().is_none() {
        return;
    }
    out.push_str("\n| Flag | Kind | Default | Meaning |\n|---|---|---|---|\n");
    for flag in flags {
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} |",
            flag_name(flag),
            flag.kind,
            default(flag),
            cell(&flag.help)
        );
    }
}

fn flag_name(flag: &FlagSurface) -> String {
    let bare = flag.bare.as_ref().map(|value| format!("[={value}]"));
    let bare = bare.unwrap_or_default();
    let name = match flag.short {
        Some(short) => format!("`-{short}`, `--{}{bare}`", flag.name),
        None => format!("`--{}{bare}`", flag.name),
    };
    if flag.is_hidden {
        format!("*{name}*")
    } else {
        name
    }
}

/// Default of a flag. That of `--parallel` is described instead, because it depends on the machine.
fn default(flag: &FlagSurface) -> String {
    match (&flag.default, flag.kind) {
        (Some(_), FlagKind::Int) if flag.name == "parallel" && flag.short.is_some() => {
            "4 × processors".to_owned()
        }
        (Some(value), _) => format!("`{value}`"),
        (None, _) => String::new(),
    }
}

fn cell(text: &str) -> String {
    let text = text.replace('|', "\\|").replace('\n', " ");
    // Every second part is code, in which angle brackets are no tags.
    let parts = text.split('`').enumerate();
    let parts = parts.map(|(at, part)| match at % 2 {
        0 => part.replace('<', "&lt;"),
        _ => part.to_owned(),
    });
    parts.collect::<Vec<_>>().join("`")
}
