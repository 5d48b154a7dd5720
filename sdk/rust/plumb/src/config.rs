//! Configuration of the stack.
//!
//! A struct with `#[derive(Config)]` reads everything at once and reports all problems together; [`Config`] reads one value.

use std::collections::BTreeMap;

use crate::context::Ctx;
use crate::output::Output;
use crate::value::{FromValue, IntoValue, Secret, Value};
use crate::{Error, Result};

/// A struct of configuration values: `#[derive(Config)]` implements it.
///
/// ```no_run
/// use plumb::prelude::*;
///
/// #[derive(Config)]
/// struct Settings {
///     #[config(default = 8)]
///     length: i64,
///     /// Stays a secret.
///     token: Secret<String>,
///     #[config(namespace = "aws")]
///     region: Option<String>,
/// }
///
/// fn program(ctx: &Ctx) -> plumb::Result<()> {
///     let settings: Settings = ctx.config()?;
///     Ok(())
/// }
/// ```
pub trait ReadConfig: Sized {
    /// Reads the values; problems go to the reader.
    fn read(reader: &mut ConfigReader<'_>) -> Option<Self>;
}

/// A type of a configuration value.
///
/// Values are text: simple types parse it, and everything else is JSON.
///
/// ```
/// use std::time::Duration;
///
/// /// Seconds, as in `plumb config set timeout 30`.
/// struct Seconds(Duration);
///
/// impl plumb::ConfigValue for Seconds {
///     fn parse(text: &str) -> Result<Self, String> {
///         let seconds = text.parse().map_err(|_| "a number of seconds".to_owned())?;
///         Ok(Seconds(Duration::from_secs(seconds)))
///     }
/// }
/// ```
pub trait ConfigValue: Sized {
    /// Whether a secret stays one in this type.
    const KEEPS_SECRETS: bool = false;

    /// Reads the text; the error completes "has to be".
    fn parse(text: &str) -> Result<Self, String>;

    /// The value of a key that is not set, for types that have one.
    fn unset() -> Option<Self> {
        None
    }
}

impl ConfigValue for String {
    fn parse(text: &str) -> Result<Self, String> {
        Ok(text.to_owned())
    }
}

impl ConfigValue for bool {
    fn parse(text: &str) -> Result<Self, String> {
        match text {
            "true" | "True" => Ok(true),
            "false" | "False" => Ok(false),
            _ => Err("`true` or `false`".to_owned()),
        }
    }
}

macro_rules! numbers {
    ($what:literal: $($type:ty),+) => {$(
        impl ConfigValue for $type {
            fn parse(text: &str) -> Result<Self, String> {
                text.parse().map_err(|_| $what.to_owned())
            }
        }
    )+};
}

numbers!("an integer in range": i8, i16, i32, i64, u8, u16, u32, u64, usize);
numbers!("a number": f32, f64);

impl ConfigValue for Value {
    fn parse(text: &str) -> Result<Self, String> {
        Value::from_json(text).map_err(|_| "JSON".to_owned())
    }
}

fn json<T: FromValue>(text: &str) -> Result<T, String> {
    T::from_value(Value::parse(text)?)
        .map_err(|mismatch| format!("JSON of another shape: {mismatch}"))
}

impl<T: FromValue> ConfigValue for Vec<T> {
    fn parse(text: &str) -> Result<Self, String> {
        json(text)
    }
}

impl<T: FromValue> ConfigValue for BTreeMap<String, T> {
    fn parse(text: &str) -> Result<Self, String> {
        json(text)
    }
}

impl<T: ConfigValue> ConfigValue for Option<T> {
    const KEEPS_SECRETS: bool = T::KEEPS_SECRETS;

    fn parse(text: &str) -> Result<Self, String> {
        T::parse(text).map(Some)
    }

    fn unset() -> Option<Self> {
        Some(None)
    }
}

impl<T: ConfigValue> ConfigValue for Secret<T> {
    const KEEPS_SECRETS: bool = true;

    fn parse(text: &str) -> Result<Self, String> {
        T::parse(text).map(Secret::new)
    }
}

/// Configuration values of one namespace.
///
/// ```no_run
/// # use plumb::prelude::*;
/// # fn f(ctx: &Ctx) -> plumb::Result<()> {
/// let values = ctx.values();
/// let length: i64 = values.require("length")?;
/// let prefix: Option<String> = values.get("prefix")?;
/// let token: Output<String> = values.require_secret("token")?;
/// let region: Option<String> = ctx.values_of("aws").get("region")?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Config {
    ctx: Ctx,
    namespace: String,
}

impl Ctx {
    /// Reads a struct of configuration values; the error lists all problems.
    pub fn config<T: ReadConfig>(&self) -> Result<T> {
        let mut reader = ConfigReader {
            ctx: self,
            problems: Vec::new(),
        };
        let value = T::read(&mut reader);
        match (value, reader.problems.as_slice()) {
            (Some(value), []) => Ok(value),
            (_, problems) => Err(Error::at(problems.join("\n"), None)),
        }
    }

    /// Values of the project's own namespace.
    pub fn values(&self) -> Config {
        self.values_of(&self.program.settings.project)
    }

    /// Values of another namespace, such as `aws`.
    pub fn values_of(&self, namespace: &str) -> Config {
        Config {
            ctx: self.clone(),
            namespace: namespace.to_owned(),
        }
    }
}

impl Config {
    /// A value, if it is set.
    ///
    /// A warning is shown if the value is a secret and `T` does not keep secrets: read such a value as [`Secret`] or with
    /// [`get_secret`](Config::get_secret).
    pub fn get<T: ConfigValue>(&self, key: &str) -> Result<Option<T>> {
        let full = self.full(key);
        if !T::KEEPS_SECRETS && self.ctx.program.settings.secret_keys.contains(&full) {
            self.ctx.warn(format!(
                "the configuration variable `{}` is a secret and may be shown: read it as `Secret<T>` or with `get_secret`",
                self.shown(key)
            ));
        }
        self.read(key)
    }

    fn read<T: ConfigValue>(&self, key: &str) -> Result<Option<T>> {
        let Some(text) = self.text(key) else {
            return Ok(None);
        };
        let parsed = T::parse(text).map(Some);
        parsed.map_err(|expected| Error::at(invalid(&self.full(key), &expected), None))
    }

    /// A value; not being set is an error that says how to set it.
    pub fn require<T: ConfigValue>(&self, key: &str) -> Result<T> {
        let value = self.get(key)?;
        value.ok_or_else(|| Error::at(missing(&self.shown(key), false), None))
    }

    /// A secret value as an output, if it is set.
    pub fn get_secret<T>(&self, key: &str) -> Result<Option<Output<T>>>
    where
        T: ConfigValue + IntoValue + FromValue + Clone + Send + Sync + 'static,
    {
        let value = self.read::<T>(key)?;
        Ok(value.map(|value| self.ctx.output::<T, _>(value).secret()))
    }

    /// A secret value as an output; not being set is an error that says how to set it.
    pub fn require_secret<T>(&self, key: &str) -> Result<Output<T>>
    where
        T: ConfigValue + IntoValue + FromValue + Clone + Send + Sync + 'static,
    {
        let value = self.get_secret(key)?;
        value.ok_or_else(|| Error::at(missing(&self.shown(key), true), None))
    }

    fn full(&self, key: &str) -> String {
        format!("{}:{key}", self.namespace)
    }

    /// The key as the user writes it: without the namespace of the project.
    fn shown(&self, key: &str) -> String {
        if self.namespace == self.ctx.project() {
            key.to_owned()
        } else {
            self.full(key)
        }
    }

    fn text(&self, key: &str) -> Option<&String> {
        self.ctx.program.settings.config.get(&self.full(key))
    }
}

fn missing(key: &str, is_secret: bool) -> String {
    let flag = if is_secret { "--secret " } else { "" };
    format!(
        "the configuration variable `{key}` is missing; set it with `plumb config set {flag}{key} <value>`"
    )
}

fn invalid(key: &str, expected: &str) -> String {
    // The text is not shown, because it may be a secret.
    format!("the configuration variable `{key}` has to be {expected}")
}

/// Reads the values of a struct and collects the problems.
#[derive(Debug)]
pub struct ConfigReader<'a> {
    ctx: &'a Ctx,
    problems: Vec<String>,
}

impl ConfigReader<'_> {
    /// Reads one value: for the derive macro.
    pub fn value<T: ConfigValue>(
        &mut self,
        namespace: Option<&str>,
        key: &str,
        default: Option<T>,
    ) -> Option<T> {
        let config = match namespace {
            Some(namespace) => self.ctx.values_of(namespace),
            None => self.ctx.values(),
        };
        match config.get(key) {
            Ok(Some(value)) => Some(value),
            Ok(None) => {
                let value = default.or_else(T::unset);
                if value.is_none() {
                    self.problems
                        .push(missing(&config.shown(key), T::KEEPS_SECRETS));
                }
                value
            }
            Err(error) => {
                self.problems.push(error.to_string());
                None
            }
        }
    }
}
