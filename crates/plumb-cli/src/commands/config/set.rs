//! `config set`.

use std::io::Read;

use clap::{ArgGroup, Args};
use plumb_operate::identity::{Code, Subject};
use plumb_operate::{Context, Error, prompt};
use plumb_project::config::{KeyPath, NewValue, PathError, Tree};

use super::{Target, TargetArgs};

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
    let path = parsed_path(&args, &target)?;
    let text = match args.value {
        Some(value) => value,
        None => read_value(args.secret, args.raw, ctx)?,
    };
    let value = match &args.r#type {
        Some(name) => NewValue::Typed(typed(name, &text).map_err(|error| {
            if args.path {
                error.context(COULD_NOT)
            } else {
                error
            }
        })?),
        None if args.secret => NewValue::Secure(target.secrets.encrypt(&text)?),
        None => NewValue::Untyped(text.clone()),
    };
    if !args.plaintext && !args.secret {
        refuse_secret(&args.key, &path, &text)?;
    }
    let mut config = target.settings.file.config().clone();
    config
        .set_path(&path, value)
        .map_err(|error| Error::from(error).context(COULD_NOT))?;
    target.settings.file.set_config(&config);
    target.save()
}

/// Prefix of errors about the path of the value.
const COULD_NOT: &str = "could not set config";

fn parsed_path(args: &SetArgs, target: &Target) -> Result<KeyPath, Error> {
    let project = target.stack.project_name();
    match args.path.then(|| KeyPath::parse(&args.key, project)) {
        Some(Err(error @ PathError::Key(_))) => {
            Err(Error::from(error).context("invalid configuration key"))
        }
        Some(path) => path.map_err(|error| Error::from(error).context(COULD_NOT)),
        None => target.path(&args.key, false),
    }
}

/// Rejects a plaintext value that is probably a secret. The whole path counts as the name.
fn refuse_secret(written: &str, path: &KeyPath, text: &str) -> Result<(), Error> {
    let name = written.rsplit(':').next().unwrap_or_default();
    if !looks_like_a_secret(name, text) {
        return Ok(());
    }
    let namespace = path.key.namespace();
    Err(Error::user(format!(
        "config value for '{namespace}:{name}' looks like a secret; rerun with --secret to encrypt it, or --plaintext if \
         you meant to store in plaintext"
    ))
    .about(Code::LooksLikeSecret, Subject::Setting(written.to_owned())))
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

/// Integers below this one are written without an exponent.
const EXACT: f64 = 1e15;

fn typed(name: &str, text: &str) -> Result<Tree, Error> {
    Ok(match name {
        "string" => Tree::Text(text.to_owned()),
        "bool" => match text {
            "1" | "t" | "T" | "true" | "TRUE" | "True" => Tree::Bool(true),
            "0" | "f" | "F" | "false" | "FALSE" | "False" => Tree::Bool(false),
            _ => {
                let wrong = format!("could not parse {text:?} as bool");
                return Err(Error::user(wrong));
            }
        },
        "int" => {
            let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
            let is_number = !digits.is_empty() && digits.bytes().all(|it| it.is_ascii_digit());
            let number = text.parse::<i64>();
            let number = number.map_err(|_| no_number("Atoi", text, is_number))?;
            Tree::Number(number.into())
        }
        "float" => {
            let is_number = text.parse::<f64>().is_ok_and(f64::is_infinite)
                && text.bytes().any(|it| it.is_ascii_digit());
            let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
            let number = number.ok_or_else(|| no_number("ParseFloat", text, is_number))?;
            if number.fract() == 0.0 && number.abs() < EXACT {
                return Ok(Tree::Number((number as i64).into()));
            }
            let number = serde_json::Number::from_f64(number);
            Tree::Number(number.ok_or_else(|| no_number("ParseFloat", text, false))?)
        }
        _ => {
            return Err(Error::user(format!(
                "invalid type {name:?}; must be one of string, int, bool, or float"
            )));
        }
    })
}

fn no_number(function: &str, text: &str, is_too_large: bool) -> Error {
    let why = if is_too_large {
        "value out of range"
    } else {
        "invalid syntax"
    };
    Error::user(format!("strconv.{function}: parsing {text:?}: {why}"))
}

/// Substrings of names that suggest a secret.
const SECRET_NAMES: [&str; 6] = ["passwd", "pass", "password", "pwd", "secret", "token"];

/// Number of characters of a value that are examined.
const LOOKED_AT: usize = 16;
/// Entropy in bits from which a value counts as random.
const MANY_BITS: f64 = 50.0;

/// Minimum length of a run of one character that counts as repeated.
const SHORTEST_REPEAT: usize = 3;

/// Minimum length of a run of lower-case letters that counts as a word, and its entropy in bits.
const SHORTEST_WORD: usize = 4;
const BITS_OF_WORD: f64 = 10.0;

/// Whether a value is probably a secret: its key suggests one, and the value looks random.
fn looks_like_a_secret(name: &str, text: &str) -> bool {
    let name = name.to_lowercase();
    if !SECRET_NAMES.iter().any(|part| name.contains(part)) {
        return false;
    }
    let chars: Vec<char> = text.chars().take(LOOKED_AT).collect();
    // A repeated character says no more than a single one.
    let runs = chars.chunk_by(|a, b| a == b);
    let chars: Vec<char> = runs
        .flat_map(|run| {
            if run.len() < SHORTEST_REPEAT {
                run
            } else {
                &run[..1]
            }
        })
        .copied()
        .collect();
    let has = |test: fn(&char) -> bool| chars.iter().any(test);
    let classes: [(bool, f64); 4] = [
        (has(char::is_ascii_lowercase), 26.0),
        (has(char::is_ascii_uppercase), 26.0),
        (has(char::is_ascii_digit), 10.0),
        (has(|c| !c.is_ascii_alphanumeric()), 33.0),
    ];
    let mixed = classes.iter().filter(|(is_used, _)| *is_used).count() > 1;
    let used = classes.iter().filter(|(is_used, _)| *is_used);
    let alphabet: f64 = used.map(|(_, size)| size).sum();
    let bits = |run: &[char]| {
        if run.len() >= SHORTEST_WORD && run[0].is_ascii_lowercase() {
            BITS_OF_WORD
        } else {
            alphabet.max(1.0).log2() * run.len() as f64
        }
    };
    let runs = chars.chunk_by(|a, b| a.is_ascii_lowercase() == b.is_ascii_lowercase());
    mixed && runs.map(bits).sum::<f64>() >= MANY_BITS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_random_values_under_telling_names_look_like_secrets() {
        let check = looks_like_a_secret;
        assert!(check("dbPassword", "aB3$kf92LmQx8z"));
        assert!(!check("dbPassword", "changeme"));
        assert!(!check("secret", "line1\\nline2"));
        assert!(!check("color", "aB3$kf92LmQx8z"));
        assert!(!check("token", "AAAABBBBccccDDDD1111"));
        assert!(!check("token", "zzzzzzzzzzzzzzZ1"));
    }

    #[test]
    fn typed_values_must_have_their_type() {
        assert_eq!(typed("int", "7").unwrap(), Tree::Number(7.into()));
        assert_eq!(typed("string", "7").unwrap(), Tree::Text("7".to_owned()));
        assert_eq!(typed("bool", "T").unwrap(), Tree::Bool(true));
        let wrong = |kind, text| typed(kind, text).unwrap_err().text().unwrap();
        let too_large = "strconv.Atoi: parsing \"99999999999999999999\": value out of range";
        assert_eq!(wrong("int", "99999999999999999999"), too_large);
        let no_number = "strconv.ParseFloat: parsing \"x\": invalid syntax";
        assert_eq!(wrong("float", "x"), no_number);
        let too_large = "strconv.ParseFloat: parsing \"1e400\": value out of range";
        assert_eq!(wrong("float", "1e400"), too_large);
        assert!(typed("float", "inf").is_err());
        assert!(typed("bool", "yes").is_err());
        assert!(typed("list", "x").is_err());
    }
}
