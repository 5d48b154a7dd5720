//! `self`: what this program is, where it comes from, and what has changed in it.

mod origin;

use std::path::{Path, PathBuf};

use clap::Args;
use plumb_operate::json::{Indent, pretty};
use plumb_operate::own_version::{BUILD, COMMIT, OWN_VERSION};
use plumb_operate::{Context, Error, ExitStatus, VERSION};
use serde::Serialize;

use self::origin::{Origin, Places};
use super::help;
use crate::book::Book;

/// Say what this program is, where it comes from, and what has changed in it
///
/// `plumb self` names the version, the file and how it was installed. `plumb self --changes` shows what has changed in
/// this version.
///
/// Plumb does not look for newer versions, and sends nothing about itself or its use anywhere.
#[derive(Args, Clone, Copy, Debug)]
pub struct OwnArgs {
    /// Show what has changed in this version
    #[arg(long, conflicts_with = "json")]
    pub changes: bool,
    /// Emit output as JSON
    #[arg(short, long)]
    pub json: bool,
}

/// JSON output.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Document {
    version: &'static str,
    /// Version of the reference.
    compatible_with: &'static str,
    commit: &'static str,
    build: &'static str,
    program: PathBuf,
    installed: Origin,
}

/// Runs `self`.
pub fn run(args: OwnArgs, ctx: &Context) -> Result<ExitStatus, Error> {
    if args.changes {
        let text = changes(&Book::open());
        help::show(&text, ctx);
        return Ok(ExitStatus::Success);
    }
    let program = std::env::current_exe().map_err(|error| {
        Error::user(format!("could not find the file of this program: {error}"))
    })?;
    let cargo = ctx.environment.non_empty("CARGO_HOME").map(PathBuf::from);
    let home = ctx.environment.get("HOME").map(Path::new);
    let places = Places {
        root: PathBuf::from("/"),
        cargo: cargo.or_else(|| Some(home?.join(".cargo"))),
    };
    let document = Document {
        version: OWN_VERSION,
        compatible_with: VERSION.trim_start_matches('v'),
        commit: COMMIT,
        build: BUILD,
        installed: Origin::of(&program, &places),
        program,
    };
    if args.json {
        ctx.printer.data(&pretty(&document, Indent::Two));
    } else {
        for line in lines(&document) {
            ctx.printer.line(&line);
        }
    }
    Ok(ExitStatus::Success)
}

fn lines(document: &Document) -> Vec<String> {
    vec![
        format!("Plumb {}, compatible with Pulumi {}", document.version, document.compatible_with),
        String::new(),
        format!("Program    {}", document.program.display()),
        format!("Build      {}, commit {}", document.build, document.commit),
        format!("Installed  {}", document.installed.how()),
        format!("To update  {}", document.installed.update()),
        String::new(),
        format!("`plumb self --changes` shows what has changed in {}.", document.version),
        "Plumb does not look for newer versions, and sends nothing about itself or its use anywhere.".to_owned(),
    ]
}

/// The part of the changelog about this version, under its own title.
fn changes(book: &Book) -> String {
    let text = book.changelog();
    let begins = |line: &str, version: &str| {
        let rest = line.strip_prefix("## ").unwrap_or_default();
        rest.split([' ', ']'])
            .next()
            .is_some_and(|it| it.trim_start_matches('[') == version)
    };
    let from_here = text
        .split_inclusive('\n')
        .skip_while(|line| !begins(line, OWN_VERSION));
    let mut part = String::new();
    for (nth, line) in from_here.enumerate() {
        if nth > 0 && line.starts_with("## ") {
            break;
        }
        part.push_str(line.strip_prefix('#').unwrap_or(line));
    }
    part
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_changes_are_those_of_this_version() {
        let text = changes(&Book::open());
        assert!(text.starts_with(&format!("# {OWN_VERSION}")), "{text}");
        assert!(text.contains("\n## Added\n"), "{text}");
        assert_eq!(text.matches("\n# ").count(), 0);
    }
}
