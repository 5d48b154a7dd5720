//! `gen-completion`, and completion requests from shells.
//!
//! The generated scripts contain no knowledge of commands: for each word they run the program with `__complete`, the
//! preceding words and the word to complete. The program prints one candidate per line, followed by a tab and a description;
//! the last line is `:files` if the word can also be a file name, and `:none` otherwise.

use clap::Args;
use plumb_backend::StackFilter;
use plumb_operate::context::IfMissing;
use plumb_operate::{Context, Error, ExitStatus};

use crate::args::complete::{Wanted, wanted};
use crate::args::shown_tree;

/// Generate completion scripts
///
/// The script for the given shell (bash, zsh, fish) is printed on standard out. It completes commands and flags, and what they are
/// about: stacks, URNs, configuration keys.
///
/// Examples:
///   source <(plumb gen-completion bash)
///   plumb gen-completion zsh > ~/.zsh/completions/_plumb
///   plumb gen-completion fish > ~/.config/fish/completions/plumb.fish
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct CompletionArgs {
    /// The shell
    #[arg(required = true)]
    pub shell: String,
}

/// The words of a command line; the last one is to be completed.
#[derive(Args, Debug)]
pub struct CompleteArgs {
    /// The words
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub words: Vec<String>,
}

const BASH: &str = include_str!("../../templates/completion/bash.sh");
const ZSH: &str = include_str!("../../templates/completion/zsh.sh");
const FISH: &str = include_str!("../../templates/completion/fish.fish");

/// Runs `gen-completion`.
pub fn run(args: CompletionArgs, ctx: &Context) -> Result<ExitStatus, Error> {
    let script = match args.shell.as_str() {
        "bash" => BASH,
        "zsh" => ZSH,
        "fish" => FISH,
        other => return Err(Error::user(format!("\"{other}\" is not a supported shell"))),
    };
    ctx.printer
        .data(&script.replace("PROGRAM", &ctx.environment.program));
    Ok(ExitStatus::Success)
}

/// Runs `__complete`. Errors yield no candidates instead of messages, because a message would disturb the user's input.
pub fn complete(args: &CompleteArgs, ctx: &Context) -> Result<ExitStatus, Error> {
    let (before, word) = match args.words.split_last() {
        Some((word, before)) => (before, word.as_str()),
        None => (&[][..], ""),
    };
    let asked = wanted(
        &shown_tree(&ctx.environment),
        &ctx.environment,
        before,
        word,
    );
    let mut may_be_file = false;
    let mut candidates: Vec<(String, String)> = Vec::new();
    let plain = |all: Vec<String>| all.into_iter().map(|it| (it, String::new())).collect();
    match asked.wanted {
        Wanted::Words(words) => candidates = words,
        Wanted::Stacks => candidates = plain(stacks(ctx).unwrap_or_default()),
        Wanted::Urns => candidates = plain(urns(asked.stack.as_deref(), ctx).unwrap_or_default()),
        Wanted::ConfigKeys => {
            candidates = plain(keys(asked.stack.as_deref(), ctx).unwrap_or_default());
        }
        Wanted::Files => may_be_file = true,
        Wanted::Nothing => {}
    }
    if let Some(words) = &asked.of_do
        && asked.prefix.is_empty()
    {
        candidates.extend(plumb_do::candidates(words, word, ctx));
    }
    let mut out = String::new();
    for (candidate, about) in candidates {
        let candidate = format!("{}{candidate}", asked.prefix);
        if candidate.starts_with(word) {
            out.extend([candidate.as_str(), "\t", about.as_str(), "\n"]);
        }
    }
    out.push_str(if may_be_file { ":files\n" } else { ":none\n" });
    ctx.printer.data(&out);
    Ok(ExitStatus::Success)
}

fn stacks(ctx: &Context) -> Result<Vec<String>, Error> {
    let filter = StackFilter {
        project: ctx.project_name()?.cloned(),
        tag: None,
    };
    let stacks = ctx.backend()?.stack_names(&filter)?;
    stacks.iter().map(|stack| ctx.shown_name(stack)).collect()
}

fn urns(stack: Option<&str>, ctx: &Context) -> Result<Vec<String>, Error> {
    let stack = ctx.require_stack(stack, IfMissing::Fail)?;
    let state = ctx.load_state(&stack)?;
    let resources = state.opaque().map(|snapshot| snapshot.resources.as_slice());
    let resources = resources.unwrap_or_default();
    Ok(resources
        .iter()
        .map(|state| state.urn.to_string())
        .collect())
}

fn keys(stack: Option<&str>, ctx: &Context) -> Result<Vec<String>, Error> {
    let project = ctx.project()?;
    let mut keys: Vec<String> = project
        .project
        .config
        .keys()
        .map(ToString::to_string)
        .collect();
    if let Ok(stack) = ctx.require_stack(stack, IfMissing::Fail) {
        let settings = ctx.stack_settings(&stack, None)?;
        let config = settings.file.config();
        keys.extend(
            config
                .iter()
                .map(|(key, _)| key.display_in(stack.project_name())),
        );
    }
    keys.sort();
    keys.dedup();
    Ok(keys)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::surface::surface;

    #[test]
    fn scripts_ask_the_program() {
        for script in [BASH, ZSH, FISH] {
            assert!(script.contains("PROGRAM __complete"), "{script}");
        }
        assert!(
            surface(&crate::args::command_tree())
                .iter()
                .any(|command| command.path == ["__complete"])
        );
    }
}
