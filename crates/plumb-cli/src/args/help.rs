//! Help texts in cobra's layout (`cli.md` 1.1).

use std::fmt::Write as _;

use clap::{Arg, ArgAction, Command};
use plumb_display::with_program;
use plumb_operate::Environment;
use plumb_operate::output::terminal_size;

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

/// Flags that the short help of a command with many has, if the command has them.
const OFTEN: [&str; 30] = [
    "browse",
    "config",
    "copy",
    "diff",
    "dir",
    "exclude",
    "file",
    "filter",
    "force",
    "from",
    "html",
    "json",
    "language",
    "local",
    "message",
    "name",
    "out",
    "parallel",
    "path",
    "policy-pack",
    "preview-only",
    "refresh",
    "replace",
    "secret",
    "show-secrets",
    "skip-preview",
    "stack",
    "target",
    "template",
    "yes",
];
/// Most flags that are all in the short help.
const FEW: usize = 12;
/// Widest text, because longer lines are hard to read.
const WIDEST: usize = 110;

/// How much a help says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Length {
    /// The purpose of the command, and the flags that are used often: `-h`.
    Short,
    /// Everything: `--help`.
    #[default]
    Long,
}

/// How a help is written.
pub(super) struct Manner<'e> {
    /// The name that the program was started by.
    program: &'e str,
    length: Length,
    /// Columns of the terminal; `None` for lines of any length.
    width: Option<usize>,
}

impl<'e> Manner<'e> {
    /// Help for the terminal, or what stands in its place. Started as `pulumi`, there is one help, and its lines are those that
    /// scripts know.
    pub(super) fn of(environment: &'e Environment, length: Length) -> Self {
        let program = environment.program.as_str();
        let is_own = program != KNOWN_NAME;
        Manner {
            program,
            length: if is_own { length } else { Length::Long },
            width: (is_own && environment.stdout_is_terminal)
                .then(|| terminal_size().width.clamp(40, WIDEST)),
        }
    }

    /// Lines of a paragraph.
    fn paragraph(&self, text: &str) -> String {
        let Some(width) = self.width else {
            return text.to_owned();
        };
        let paragraphs = text.split('\n').map(|line| filled(line, 0, width));
        paragraphs.collect::<Vec<_>>().join("\n")
    }

    /// A row of a table: `left`, and behind it a text that begins in this column.
    fn row(&self, left: &str, column: usize, text: &str) -> String {
        let text = match self.width {
            Some(width) if column + 20 <= width => filled(text, column, width),
            _ => text.to_owned(),
        };
        format!("{left:column$}{text}").trim_end().to_owned()
    }
}

/// The text in lines that end at `width` and begin in column `indent`, where the first one stands already.
fn filled(text: &str, indent: usize, width: usize) -> String {
    let lines = textwrap::wrap(text, width.saturating_sub(indent));
    lines.join(&format!("\n{:indent$}", ""))
}

/// The help of the command at `path`.
pub(super) fn text(tree: &Command, path: &[String], manner: &Manner<'_>) -> String {
    let program = manner.program;
    let is_short = manner.length == Length::Short;
    let mut levels = vec![tree];
    for name in path {
        if let Some(sub) = levels[levels.len() - 1].find_subcommand(name) {
            levels.push(sub);
        }
    }
    let command = levels[levels.len() - 1];
    let shown = shown_path(program, path);
    let mut out = String::new();
    let about = command.get_long_about().filter(|_| !is_short);
    if let Some(about) = about.or_else(|| command.get_about()) {
        out.push_str(&manner.paragraph(about.to_string().trim_end()));
        out.push_str("\n\n");
    }
    usage(command, &shown, &mut out);
    let aliases: Vec<&str> = command.get_all_aliases().collect();
    if !aliases.is_empty() && !is_short {
        let _ = writeln!(
            out,
            "\nAliases:\n  {}, {}",
            command.get_name(),
            aliases.join(", ")
        );
    }
    if path.is_empty() {
        root_commands(command, manner, &mut out);
    } else {
        commands(
            "Available Commands",
            command.get_subcommands().filter(|sub| !sub.is_hide_set()),
            manner,
            &mut out,
        );
    }
    let is_own = |arg: &&Arg| !arg.is_positional() && !arg.is_hide_set();
    let own: Vec<&Arg> = command.get_arguments().filter(is_own).collect();
    let shown_flags = if is_short { often(&own) } else { own.clone() };
    flag_block("Flags", &shown_flags, true, manner, &mut out);
    if is_short && !path.is_empty() {
        let left_out = own.len() - shown_flags.len();
        let all = match left_out {
            0 => format!("\n`{shown} --help` says more.\n"),
            count => format!("\n`{shown} --help` says more, and has {count} more flags.\n"),
        };
        out.push_str(&all);
        return with_program(&out, program).into_owned();
    }
    let above = levels[..levels.len() - 1].iter().rev();
    let persistent: Vec<&Arg> = above
        .flat_map(|level| level.get_arguments())
        .filter(is_own)
        .filter(|arg| arg.get_help_heading() == Some(PERSISTENT))
        .collect();
    flag_block("Global Flags", &persistent, false, manner, &mut out);
    if command.has_subcommands() {
        let _ = writeln!(
            out,
            "\nUse `{shown} [command] --help` for more information about a command."
        );
    }
    if path.is_empty() && program != KNOWN_NAME {
        let pages = "Use `plumb help topics` for pages about ideas and tasks, such as `plumb help secrets`.";
        out.extend([&manner.paragraph(pages), "\n"]);
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

/// The flags that are used often, if there are many.
fn often<'c>(flags: &[&'c Arg]) -> Vec<&'c Arg> {
    let is_often = |arg: &&Arg| arg.get_long().is_some_and(|name| OFTEN.contains(&name));
    let often: Vec<&Arg> = flags.iter().copied().filter(is_often).collect();
    if flags.len() <= FEW || often.is_empty() {
        flags.to_vec()
    } else {
        often
    }
}

fn root_commands(command: &Command, manner: &Manner<'_>, out: &mut String) {
    for (title, names) in ROOT_GROUPS {
        let subs = names
            .iter()
            .filter_map(|name| command.find_subcommand(name));
        // The service is one of several backends here.
        let title = match title {
            "Pulumi Cloud" if manner.program != KNOWN_NAME => "Backends",
            title => title,
        };
        commands(title, subs, manner, out);
    }
    let is_grouped = |name: &str| ROOT_GROUPS.iter().any(|(_, names)| names.contains(&name));
    let rest = command
        .get_subcommands()
        .filter(|sub| !sub.is_hide_set() && !is_grouped(sub.get_name()));
    commands("Additional Commands", rest, manner, out);
}

fn commands<'c>(
    title: &str,
    subs: impl Iterator<Item = &'c Command>,
    manner: &Manner<'_>,
    out: &mut String,
) {
    let subs: Vec<&Command> = subs.collect();
    let Some(longest) = subs.iter().map(|sub| sub.get_name().len()).max() else {
        return;
    };
    let _ = writeln!(out, "\n{title}:");
    for sub in subs {
        let about = sub.get_about().map(ToString::to_string).unwrap_or_default();
        let left = format!("  {}", sub.get_name());
        let _ = writeln!(out, "{}", manner.row(&left, longest + 10, &about));
    }
}

fn flag_block(title: &str, args: &[&Arg], with_help: bool, manner: &Manner<'_>, out: &mut String) {
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
        out.push_str(&manner.row(&left, width, &right));
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
