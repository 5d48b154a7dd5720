//! `config set`.

use std::io::Read;

use clap::{ArgGroup, Args};
use plumb_project::config::{KeyPath, NewValue, Tree};

use super::{Target, TargetArgs};
use crate::identity::{Code, Subject};
use crate::{Context, Error, prompt};

/// Set configuration value
///
/// Configuration values can be accessed when a stack is being deployed and used to configure behavior. If a value is not
/// present on the command line, it is read from standard input, or asked for.
#[derive(Args, Debug)]
#[command(group = ArgGroup::new("set-kind").args(["secret", "plaintext", "type"]).multiple(false))]
pub struct SetArgs {
    /// The key contains a path to a property in a map or list to set
    #[arg(long)]
    pub path: bool,
    /// Save the value as plaintext (unencrypted)
    #[arg(long)]
    pub plaintext: bool,
    /// Encrypt the value instead of storing it in plaintext
    #[arg(long)]
    pub secret: bool,
    /// Save the value as the given type. Allowed values are string, bool, int, and float
    #[arg(long = "type")]
    pub r#type: Option<String>,
    /// Do not remove a line break at the end of a value read from standard input
    #[arg(long)]
    pub raw: bool,
    /// The key
    #[arg(required = true)]
    pub key: String,
    /// The value
    pub value: Option<String>,
}

pub(super) fn run(args: SetArgs, target: &TargetArgs, ctx: &Context) -> Result<(), Error> {
    let mut target = Target::open(target, ctx)?;
    let path = target.path(&args.key, args.path)?;
    let text = match args.value {
        Some(value) => value,
        None => read_value(args.secret, args.raw, ctx)?,
    };
    let value = match &args.r#type {
        Some(name) => NewValue::Typed(typed(name, &text)?),
        None if args.secret => NewValue::Secure(target.secrets.encrypt(&text)?),
        None => {
            if !args.plaintext && !args.path && looks_like_a_secret(&path, &text) {
                return Err(Error::user(format!(
                    "config value for '{}' looks like a secret; rerun with --secret to encrypt it, or --plaintext if \
                     you meant to store in plaintext",
                    args.key
                ))
                .about(Code::LooksLikeSecret, Subject::Setting(args.key.clone())));
            }
            NewValue::Untyped(text)
        }
    };
    let mut config = target.settings.file.config().clone();
    config.set_path(&path, value)?;
    target.settings.file.set_config(&config);
    target.save()
}

fn read_value(is_secret: bool, is_raw: bool, ctx: &Context) -> Result<String, Error> {
    if ctx.is_interactive() {
        return if is_secret {
            prompt::secret("value")
        } else {
            prompt::text("value", None)
        };
    }
    if ctx.environment.stdin_is_terminal {
        return Err(Error::user(
            "config value must be specified in non-interactive mode",
        ));
    }
    let mut text = String::new();
    std::io::stdin().lock().read_to_string(&mut text)?;
    if !is_raw && text.ends_with('\n') {
        text.pop();
        if text.ends_with('\r') {
            text.pop();
        }
    }
    Ok(text)
}

/// Whole numbers below this one are written without an exponent.
const EXACT: f64 = 1e15;

fn typed(name: &str, text: &str) -> Result<Tree, Error> {
    let wrong = || Error::user(format!("could not parse {text:?} as {name}"));
    Ok(match name {
        "string" => Tree::Text(text.to_owned()),
        "bool" => match text {
            "true" => Tree::Bool(true),
            "false" => Tree::Bool(false),
            _ => return Err(wrong()),
        },
        "int" => Tree::Number(text.parse::<i64>().map_err(|_| wrong())?.into()),
        "float" => {
            let number = text.parse::<f64>().map_err(|_| wrong())?;
            if number.fract() == 0.0 && number.abs() < EXACT {
                return Ok(Tree::Number((number as i64).into()));
            }
            Tree::Number(serde_json::Number::from_f64(number).ok_or_else(wrong)?)
        }
        _ => {
            return Err(Error::user(format!(
                "unknown type {name:?}: allowed values are string, bool, int, and float"
            )));
        }
    })
}

/// Parts of names under which secrets are kept.
const SECRET_NAMES: [&str; 6] = ["passwd", "pass", "password", "pwd", "secret", "token"];

/// How many characters of a value are looked at.
const LOOKED_AT: usize = 16;
/// Bits of a value that nobody would choose to remember.
const MANY_BITS: f64 = 50.0;

/// Whether a value should probably be encrypted: its key says so, and it is not a word.
fn looks_like_a_secret(path: &KeyPath, text: &str) -> bool {
    let name = path.key.name().to_lowercase();
    if !SECRET_NAMES.iter().any(|part| name.contains(part)) {
        return false;
    }
    let chars: Vec<char> = text.chars().take(LOOKED_AT).collect();
    let has = |test: fn(&char) -> bool| chars.iter().any(test);
    let classes: [(bool, f64); 4] = [
        (has(char::is_ascii_lowercase), 26.0),
        (has(char::is_ascii_uppercase), 26.0),
        (has(char::is_ascii_digit), 10.0),
        (has(|c| !c.is_ascii_alphanumeric()), 33.0),
    ];
    let mixed = classes.iter().filter(|(is_used, _)| *is_used).count() > 1;
    let alphabet: f64 = classes
        .iter()
        .filter(|(is_used, _)| *is_used)
        .map(|(_, size)| size)
        .sum();
    mixed && alphabet.max(1.0).log2() * chars.len() as f64 >= MANY_BITS
}

#[cfg(test)]
mod tests {
    use plumb_project::config::Key;

    use super::*;

    #[test]
    fn only_random_values_under_telling_names_look_like_secrets() {
        let check =
            |name: &str, value: &str| looks_like_a_secret(&KeyPath::of(Key::new("p", name)), value);
        assert!(check("dbPassword", "aB3$kf92LmQx8z"));
        assert!(!check("dbPassword", "changeme"));
        assert!(!check("color", "aB3$kf92LmQx8z"));
    }

    #[test]
    fn typed_values_must_have_their_type() {
        assert_eq!(typed("int", "7").unwrap(), Tree::Number(7.into()));
        assert_eq!(typed("string", "7").unwrap(), Tree::Text("7".to_owned()));
        assert!(typed("int", "x").is_err());
        assert!(typed("bool", "yes").is_err());
        assert!(typed("list", "x").is_err());
    }
}
