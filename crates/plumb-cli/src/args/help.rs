//! Help texts in cobra's layout (`cli.md` 1.1).

use std::fmt::Write as _;

use clap::{Arg, ArgAction, Command};
use plumb_display::with_program;

use super::flags::{Flag, Takes};
use super::scan::{KNOWN_NAME, is_group, shown_path};
use crate::args::PERSISTENT;

/// Groups of commands in the help of the program itself.
const ROOT_GROUPS: [(&str, &[&str]); 8] = [
    (
        "Stack Management",
        &[
            "new", "config", "stack", "console", "import", "refresh", "state", "install",
        ],
    ),
    ("Deployment", &["up", "destroy", "preview", "cancel"]),
    ("Environment", &["env"]),
    (
        "Pulumi Cloud",
        &["login", "logout", "whoami", "org", "project", "deployment"],
    ),
    ("Policy", &["policy"]),
    ("Plugin", &["plugin", "schema", "package"]),
    ("Other", &["version", "about", "help", "gen-completion"]),
    ("Experimental", &["convert", "watch", "logs"]),
];

/// The help of the command at `path`, of the program by this name.
pub(super) fn text(tree: &Command, path: &[String], program: &str) -> String {
    let mut levels = vec![tree];
    for name in path {
        if let Some(sub) = levels[levels.len() - 1].find_subcommand(name) {
            levels.push(sub);
        }
    }
    let command = levels[levels.len() - 1];
    let shown = shown_path(program, path);
    let mut out = String::new();
    let about = command.get_long_about().or_else(|| command.get_about());
    if let Some(about) = about {
        out.push_str(about.to_string().trim_end());
        out.push_str("\n\n");
    }
    usage(command, &shown, &mut out);
    let aliases: Vec<&str> = command.get_all_aliases().collect();
    if !aliases.is_empty() {
        let _ = writeln!(
            out,
            "\nAliases:\n  {}, {}",
            command.get_name(),
            aliases.join(", ")
        );
    }
    if path.is_empty() {
        root_commands(command, &mut out);
    } else {
        commands(
            "Available Commands",
            command.get_subcommands().filter(|sub| !sub.is_hide_set()),
            &mut out,
        );
    }
    let is_own = |arg: &&Arg| !arg.is_positional() && !arg.is_hide_set();
    let own: Vec<&Arg> = command.get_arguments().filter(is_own).collect();
    flag_block("Flags", &own, true, &mut out);
    let above = levels[..levels.len() - 1].iter().rev();
    let persistent: Vec<&Arg> = above
        .flat_map(|level| level.get_arguments())
        .filter(is_own)
        .filter(|arg| arg.get_help_heading() == Some(PERSISTENT))
        .collect();
    flag_block("Global Flags", &persistent, false, &mut out);
    if command.has_subcommands() {
        let _ = writeln!(
            out,
            "\nUse `{shown} [command] --help` for more information about a command."
        );
    }
    if path.is_empty() && program != KNOWN_NAME {
        out.push_str("Use `plumb help topics` for pages about ideas and tasks, such as `plumb help secrets`.\n");
    }
    with_program(&out, program).into_owned()
}

fn usage(command: &Command, shown: &str, out: &mut String) {
    out.push_str("Usage:\n");
    if !is_group(command) {
        let words: String = command.get_positionals().map(positional).collect();
        // Every command has at least `--help`.
        let _ = writeln!(out, "  {shown}{words} [flags]");
    }
    if command.has_subcommands() {
        let _ = writeln!(out, "  {shown} [command]");
    }
}

fn positional(arg: &Arg) -> String {
    let name = arg.get_id().as_str().replace('_', "-");
    let many = if matches!(arg.get_action(), ArgAction::Append) {
        "..."
    } else {
        ""
    };
    if arg.is_required_set() {
        format!(" <{name}>{many}")
    } else {
        format!(" [{name}]{many}")
    }
}

fn root_commands(command: &Command, out: &mut String) {
    for (title, names) in ROOT_GROUPS {
        let subs = names
            .iter()
            .filter_map(|name| command.find_subcommand(name));
        commands(title, subs, out);
    }
    let is_grouped = |name: &str| ROOT_GROUPS.iter().any(|(_, names)| names.contains(&name));
    let rest = command
        .get_subcommands()
        .filter(|sub| !sub.is_hide_set() && !is_grouped(sub.get_name()));
    commands("Additional Commands", rest, out);
}

fn commands<'c>(title: &str, subs: impl Iterator<Item = &'c Command>, out: &mut String) {
    let subs: Vec<&Command> = subs.collect();
    let Some(longest) = subs.iter().map(|sub| sub.get_name().len()).max() else {
        return;
    };
    let _ = writeln!(out, "\n{title}:");
    for sub in subs {
        let about = sub.get_about().map(ToString::to_string).unwrap_or_default();
        let _ = writeln!(
            out,
            "  {:width$}{about}",
            sub.get_name(),
            width = longest + 8
        );
    }
}

fn flag_block(title: &str, args: &[&Arg], with_help: bool, out: &mut String) {
    let mut rows: Vec<(String, String, String)> = args.iter().map(|arg| flag_row(arg)).collect();
    if with_help {
        rows.push((
            "help".to_owned(),
            "  -h, --help".to_owned(),
            "Show this help".to_owned(),
        ));
    }
    if rows.is_empty() {
        return;
    }
    rows.sort_by(|a, b| a.0.cmp(&b.0));
    let width = rows
        .iter()
        .map(|(_, left, _)| left.len())
        .max()
        .unwrap_or(0)
        + 3;
    let _ = writeln!(out, "\n{title}:");
    for (_, left, right) in rows {
        out.push_str(format!("{left:width$}{right}").trim_end());
        out.push('\n');
    }
}

fn flag_row(arg: &Arg) -> (String, String, String) {
    let flag = Flag {
        arg,
        level: 0,
        command: "",
    };
    let name = flag.name().to_owned();
    let short = arg
        .get_short()
        .map_or_else(|| "    ".to_owned(), |short| format!("-{short}, "));
    let kind = match flag.takes() {
        Takes::Bool => "",
        Takes::Int => " int",
        Takes::Text if flag.is_slice() => " strings",
        Takes::Text if flag.is_list() => " stringArray",
        Takes::Format | Takes::Text => " string",
    };
    let bare = match (flag.takes(), flag.bare_value()) {
        (Takes::Bool, _) | (_, None) => String::new(),
        (_, Some(value)) => format!("[=\"{value}\"]"),
    };
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let default: Vec<&str> = arg
        .get_default_values()
        .iter()
        .filter_map(|value| value.to_str())
        .collect();
    let default = match default.as_slice() {
        [] | ["" | "false" | "0"] => String::new(),
        [value] if kind == " string" => format!(" (default \"{value}\")"),
        values => format!(" (default {})", values.join(",")),
    };
    (
        name.clone(),
        format!("  {short}--{name}{kind}{bare}"),
        format!("{help}{default}"),
    )
}
