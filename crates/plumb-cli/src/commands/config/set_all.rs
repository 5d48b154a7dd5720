//! `config set-all`.

use clap::Args;
use plumb_project::config::{ConfigMap, Key, KeyPath, NewValue, Tree, Value};
use serde_json::{Map, Value as Json};

use super::{Target, TargetArgs, parse_path};
use crate::{Context, Error};

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
    if let Some(json) = &args.json {
        set_json(&mut config, json, &target)?;
    }
    for pair in &args.plaintext {
        let (path, value) = parse_pair(pair, args.path, target.stack.project_name())?;
        config.set_path(&path, NewValue::Untyped(value))?;
    }
    for pair in &args.secret {
        let (path, value) = parse_pair(pair, args.path, target.stack.project_name())?;
        config.set_path(&path, NewValue::Secure(target.secrets.encrypt(&value)?))?;
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

fn set_json(config: &mut ConfigMap, text: &str, target: &Target) -> Result<(), Error> {
    let unreadable = |error: serde_json::Error| {
        if error.is_eof() {
            return Error::user("could not parse --json argument: unexpected end of JSON input");
        }
        Error::from(error).context("could not parse --json argument")
    };
    let entries: Map<String, Json> = serde_json::from_str(text).map_err(unreadable)?;
    for (key, entry) in entries {
        let key = Key::parse_in(&key, target.stack.project_name())?;
        let is_secret = entry.get("secret").and_then(Json::as_bool).unwrap_or(false);
        let object = entry.get("objectValue").filter(|json| !json.is_null());
        let value = match (object, entry.get("value").and_then(Json::as_str)) {
            (Some(object), _) => object_value(object, is_secret, target)?,
            (None, Some(text)) if is_secret => Value::Secure(target.secrets.encrypt(text)?),
            (None, Some(text)) => Value::Text(text.to_owned()),
            (None, None) => {
                return Err(Error::user(format!(
                    "the value of '{key}' is missing; use `config --json --show-secrets`"
                )));
            }
        };
        config.insert(key, value);
    }
    Ok(())
}

/// An object; of a secret one, which leaf was secret is not known, so every text is encrypted.
fn object_value(object: &Json, is_secret: bool, target: &Target) -> Result<Value, Error> {
    let tree = Tree::from_json(object);
    Ok(Value::Object(if is_secret {
        encrypt_texts(tree, target)?
    } else {
        tree
    }))
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
