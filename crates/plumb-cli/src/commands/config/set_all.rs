//! `config set-all`.

use clap::Args;
use plumb_operate::go::json::{self, Form};
use plumb_operate::{Context, Error};
use plumb_project::config::{ConfigMap, Key, KeyPath, NewValue, Tree};
use serde_json::Value as Json;

use super::{Target, TargetArgs, parse_path};

/// Set multiple configuration values
#[derive(Args, Debug)]
pub struct SetAllArgs {
    /// Marks a value as plaintext (unencrypted)
    #[arg(long, action = clap::ArgAction::Append)]
    pub plaintext: Vec<String>,
    /// Marks a value as secret to be encrypted
    #[arg(long, action = clap::ArgAction::Append)]
    pub secret: Vec<String>,
    /// Parse the keys as paths in a map or list rather than raw strings
    #[arg(long)]
    pub path: bool,
    /// Read values from a JSON string in the format produced by 'config --json'
    #[arg(long)]
    pub json: Option<String>,
}

pub(super) fn run(args: SetAllArgs, target: &TargetArgs, ctx: &Context) -> Result<(), Error> {
    let has_others = !args.plaintext.is_empty() || !args.secret.is_empty() || args.path;
    if args.json.is_some() && has_others {
        return Err(Error::user(
            "the --json option cannot be used with the --plaintext, --secret or --path options",
        ));
    }
    let mut target = Target::open(target, ctx)?;
    let mut config = target.settings.file.config().clone();
    for pair in &args.plaintext {
        let (path, value) = parse_pair(pair, args.path, target.stack.project_name())?;
        config.set_path(&path, NewValue::Untyped(value))?;
    }
    for pair in &args.secret {
        let (path, value) = parse_pair(pair, args.path, target.stack.project_name())?;
        config.set_path(&path, NewValue::Secure(target.secrets.encrypt(&value)?))?;
    }
    if let Some(json) = &args.json {
        set_json(&mut config, json, &target)?;
    }
    target.settings.file.set_config(&config);
    target.save()
}

/// Splits `key=value`; the key may be quoted, so that it can hold `=`.
fn parse_pair(pair: &str, is_path: bool, project: &str) -> Result<(KeyPath, String), Error> {
    let malformed = || Error::user("config value must be in the form [key]=[value]");
    let quote = pair
        .chars()
        .next()
        .filter(|first| matches!(first, '"' | '\''));
    let (key, value) = match quote {
        Some(quote) => {
            let end = pair[1..].find(quote).ok_or_else(malformed)? + 1;
            let value = pair[end + 1..].strip_prefix('=').ok_or_else(malformed)?;
            (&pair[1..end], value)
        }
        None => pair.split_once('=').ok_or_else(malformed)?,
    };
    Ok((parse_path(key, is_path, project)?, value.to_owned()))
}

/// The document that `config --json` prints.
const ENTRIES: Form = Form::Map(
    "map[string]config.configValueJSON",
    &Form::Struct(
        "config",
        "configValueJSON",
        &[
            ("value", Form::Text("string")),
            ("objectValue", Form::Any),
            ("secret", Form::Bool),
        ],
    ),
);

fn set_json(config: &mut ConfigMap, text: &str, target: &Target) -> Result<(), Error> {
    let entries = json::unmarshal(text, ENTRIES)
        .map_err(|why| Error::user(format!("could not parse --json argument: {why}")))?;
    let Json::Object(entries) = entries else {
        return Ok(());
    };
    for (name, entry) in entries {
        let Some(text) = entry.get("value").and_then(Json::as_str) else {
            let text = format!("value for --json object key {name:?} is nil");
            return Err(Error::user(text));
        };
        let project = target.stack.project_name();
        let key = Key::parse_in(&name, project).map_err(|error| {
            Error::from(error).context(format!("invalid --json object key {name:?}"))
        })?;
        let is_secret = entry.get("secret") == Some(&Json::Bool(true));
        if entry.get("objectValue").is_none() {
            let value = if is_secret {
                NewValue::Secure(target.secrets.encrypt(text)?)
            } else {
                NewValue::Untyped(text.to_owned())
            };
            config.set_path(&KeyPath::of(key), value)?;
            continue;
        }
        let tree = object_value(text, is_secret, target)?;
        // An object's key is a path.
        let path = KeyPath::parse(&name, project)?;
        config
            .set_path(&path, NewValue::Typed(tree))
            .map_err(|error| {
                Error::from(error).context(format!("could not set --json config for {name:?}"))
            })?;
    }
    Ok(())
}

/// Parses an object. The input does not mark which leaves are secret, so all strings of a secret object
/// are encrypted.
fn object_value(text: &str, is_secret: bool, target: &Target) -> Result<Tree, Error> {
    let object = json::unmarshal(text, Form::Any).map_err(Error::user)?;
    let tree = Tree::from_json(&object);
    if is_secret {
        encrypt_texts(tree, target)
    } else {
        Ok(tree)
    }
}

fn encrypt_texts(tree: Tree, target: &Target) -> Result<Tree, Error> {
    Ok(match tree {
        Tree::Text(text) => Tree::Secure(target.secrets.encrypt(&text)?),
        Tree::List(items) => Tree::List(
            items
                .into_iter()
                .map(|item| encrypt_texts(item, target))
                .collect::<Result<_, _>>()?,
        ),
        Tree::Map(entries) => {
            let entries = entries
                .into_iter()
                .map(|(key, item)| Ok((key, encrypt_texts(item, target)?)));
            Tree::Map(entries.collect::<Result<_, Error>>()?)
        }
        Tree::Null | Tree::Bool(_) | Tree::Number(_) | Tree::Secure(_) => tree,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_split_at_the_first_equals_sign_outside_a_quoted_key() {
        let split = |pair: &str| {
            parse_pair(pair, false, "p")
                .map(|(path, value)| (path.key.to_string(), value))
                .ok()
        };
        assert_eq!(split("a=b=c"), Some(("p:a".to_owned(), "b=c".to_owned())));
        assert_eq!(
            split("\"a=b\"=c"),
            Some(("p:a=b".to_owned(), "c".to_owned()))
        );
        assert_eq!(split("'x'="), Some(("p:x".to_owned(), String::new())));
        assert_eq!(split("a"), None);
        assert_eq!(split("\"a"), None);
    }
}
