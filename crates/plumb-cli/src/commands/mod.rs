//! One file per verb.

pub mod about;
pub mod cancel;
pub mod ci;
pub mod completion;
pub mod config;
pub mod console;
pub mod convert;
pub mod describe;
pub mod r#do;
pub mod doctor;
pub mod events;
pub mod help;
pub mod history;
pub mod install;
mod language;
pub mod login;
pub mod logout;
pub mod logs;
pub mod new;
pub mod operations;
pub mod org;
pub mod own;
pub mod package;
pub mod plugin;
pub mod policy;
pub mod project;
pub mod provider;
pub mod replay;
pub mod schema;
pub mod stack;
pub mod state;
pub mod trace;
pub mod version;
pub mod whoami;
pub mod why;

use plumb_operate::identity::Code;
use plumb_operate::{Context, Error};

/// Shows `warning` and asks for confirmation; the answer must be `expected`.
pub(crate) fn confirm_by_name(
    ctx: &Context,
    is_yes: bool,
    warning: &str,
    expected: &str,
) -> Result<bool, Error> {
    if is_yes {
        return Ok(true);
    }
    if !ctx.is_interactive() {
        return Err(
            Error::user("non-interactive mode requires --yes flag").known(Code::NotConfirmed)
        );
    }
    ctx.printer
        .styled_line(&plumb_operate::Printer::attention(warning));
    let question =
        format!("Please confirm that this is what you'd like to do by typing `{expected}`:");
    if plumb_operate::prompt::text(&question, None)? == expected {
        return Ok(true);
    }
    ctx.printer.line("confirmation declined");
    Ok(false)
}

/// Name given as a flag or as a positional word; `None` if there is neither.
pub(crate) fn one_name(
    flag: Option<String>,
    word: Option<String>,
) -> Result<Option<String>, Error> {
    match (flag, word) {
        (Some(_), Some(_)) => Err(Error::user(
            "only one of --stack or argument stack name may be specified, not both",
        )),
        (flag, word) => Ok(flag.or(word)),
    }
}
