//! `stack output`.

use clap::Args;
use plumb_operate::json::{Indent, pretty};
use plumb_operate::table::Table;
use plumb_operate::{Context, Error};
use plumb_state::{CiphertextCache, Snapshot};
use plumb_value::PropertyMap;

use super::{TargetArgs, stack_of};
use plumb_automation::values::{Secrets, map_json, value_json, value_text};

/// Show a stack's output properties
///
/// Without a name, all of them are shown.
#[derive(Args, Debug)]
pub struct OutputArgs {
    /// Emit output as JSON
    #[arg(short, long)]
    pub json: bool,
    /// Emit output as a shell script
    #[arg(long)]
    pub shell: bool,
    /// Display outputs which are marked as secret in plaintext
    #[arg(long)]
    pub show_secrets: bool,
    /// The name of an output
    pub property: Option<String>,
}

pub(super) fn run(args: OutputArgs, target: &TargetArgs, ctx: &Context) -> Result<(), Error> {
    if args.json && args.shell {
        return Err(Error::user("only one of --json and --shell may be set"));
    }
    let stack = stack_of(target, ctx)?;
    let root = stack.backend.load_root(&stack.reference)?;
    let decrypted = if args.show_secrets {
        let recorded = root.opaque().and_then(|it| it.secrets_provider.as_ref());
        let codec = ctx.codec_of(recorded)?;
        Some(root.decrypt(&codec, &mut CiphertextCache::new())?)
    } else {
        None
    };
    let outputs = outputs_of(decrypted.as_ref().or_else(|| root.opaque()));
    let secrets = if args.show_secrets {
        Secrets::Shown
    } else {
        Secrets::Hidden
    };
    let text = match &args.property {
        Some(name) => one(&outputs, name, secrets, &args)?,
        None if args.json => pretty(&map_json(&outputs, secrets), Indent::Two),
        None if args.shell => outputs
            .iter()
            .map(|(key, value)| shell_line(key.as_str(), &value_text(value, secrets)))
            .collect(),
        None => {
            ctx.printer.styled(&table(&outputs, secrets));
            return Ok(());
        }
    };
    ctx.printer.data(&text);
    Ok(())
}

/// Outputs of the root stack.
pub(crate) fn outputs_of(snapshot: Option<&Snapshot>) -> PropertyMap {
    let root = snapshot.and_then(|snapshot| {
        snapshot
            .resources
            .iter()
            .find(|state| state.urn.is_root_stack() && !state.delete)
    });
    root.map(|state| state.outputs.as_ref().clone())
        .unwrap_or_default()
}

fn one(
    outputs: &PropertyMap,
    name: &str,
    secrets: Secrets,
    args: &OutputArgs,
) -> Result<String, Error> {
    let value = outputs.get(name).ok_or_else(|| {
        Error::user(format!(
            "current stack does not have output property '{name}'"
        ))
    })?;
    Ok(if args.json {
        pretty(&value_json(value, secrets), Indent::Two)
    } else if args.shell {
        shell_line(name, &value_text(value, secrets))
    } else {
        format!("{}\n", value_text(value, secrets))
    })
}

/// Table of outputs, with a heading.
pub(crate) fn table(outputs: &PropertyMap, secrets: Secrets) -> String {
    let mut out = format!("Current stack outputs ({}):\n", outputs.len());
    if outputs.is_empty() {
        out.push_str("    No output values currently in this stack\n");
        return out;
    }
    let mut table = Table::new(["OUTPUT", "VALUE"]).indented("    ");
    for (key, value) in outputs {
        table.row([key.to_string(), value_text(value, secrets)]);
    }
    out.push_str(&table.render());
    out
}

fn shell_line(name: &str, value: &str) -> String {
    if cfg!(windows) {
        format!("${name} = '{}'\n", value.replace('\'', "''"))
    } else {
        format!("{name}={}\n", shell_quote(value))
    }
}

/// Characters that are escaped by a backslash.
const ESCAPED: &str = "\\'\"`${[|&;<>()*?!";

/// Quotes a word for POSIX shells: with backslashes, or in quotes if it contains whitespace.
fn shell_quote(word: &str) -> String {
    if word.is_empty() {
        return "''".to_owned();
    }
    if word.contains([' ', '\t', '\n']) {
        let parts = word.split('\'').map(|part| {
            if part.is_empty() {
                String::new()
            } else {
                format!("'{part}'")
            }
        });
        return parts.collect::<Vec<_>>().join("\\'");
    }
    let mut quoted = String::with_capacity(word.len());
    for (index, next) in word.chars().enumerate() {
        if ESCAPED.contains(next) || (index == 0 && next == '~') {
            quoted.push('\\');
        }
        quoted.push(next);
    }
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_for_shells() {
        for (word, expected) in [
            ("", "''"),
            ("42", "42"),
            ("two words", "'two words'"),
            ("[secret]", "\\[secret]"),
            ("~/x~", "\\~/x~"),
            ("it's", "it\\'s"),
            ("it's here", "'it'\\''s here'"),
            (r#"{"a":1}"#, r#"\{\"a\":1}"#),
        ] {
            assert_eq!(shell_quote(word), expected, "{word}");
        }
    }
}
