//! Parsing of the words after `do` into a request.

use std::collections::BTreeMap;

use plumb_operate::Error;
use plumb_operate::identity::Code;
use plumb_schema::Constant;

use super::shape::{Kind, Meaning, Own, Reading, Shape, Side};

/// Value given for a property.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Said {
    /// A value of the property's type.
    Value(Constant),
    /// An integer, which may be too large for a double.
    Integer(i64),
    /// An expression in the format of the input file.
    Expression(String),
}

/// Given values, by property name in the schema.
pub(super) type Given = BTreeMap<String, Said>;

/// A parsed request.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Asked {
    /// The positional word.
    pub(super) word: Option<String>,
    pub(super) inputs: Given,
    pub(super) input_file: Option<String>,
    /// Format of files and expressions; `None` for the default.
    pub(super) format: Option<String>,
    pub(super) provider: Given,
    pub(super) provider_file: Option<String>,
    /// URN of the provider whose configuration is used.
    pub(super) provider_urn: Option<String>,
    pub(super) resources_file: Option<String>,
    pub(super) yes: bool,
    pub(super) all: bool,
    pub(super) count: u64,
}

impl Asked {
    /// Parses `words` according to `shape`.
    pub(super) fn read(shape: &Shape, words: &[String]) -> Result<Self, Error> {
        let mut asked = Asked::default();
        let mut positional = Vec::new();
        // Flag that has set each property.
        let mut set_by: BTreeMap<(bool, String), String> = BTreeMap::new();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let Some(text) = word.strip_prefix("--") else {
                positional.push(word.clone());
                continue;
            };
            let (name, value) = match text.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (text, None),
            };
            let flag = shape.flag(name).ok_or_else(|| unknown(shape, name))?;
            let bare = bare_value(&flag.meaning);
            let value = match (value, bare) {
                (Some(value), _) => value,
                (None, Some(bare)) => bare.to_owned(),
                (None, None) => words
                    .next()
                    .cloned()
                    .ok_or_else(|| Error::user(format!("flag needs an argument: --{name}")))?,
            };
            match &flag.meaning {
                Meaning::Own(own) => asked.set_own(*own, value)?,
                Meaning::Property {
                    side,
                    name: property,
                    kind,
                    reading,
                } => {
                    let key = (*side == Side::Provider, property.clone());
                    if let Some(other) = set_by.insert(key, name.to_owned())
                        && other != name
                    {
                        return Err(both(&other, name));
                    }
                    let said = said(name, kind, *reading, value)?;
                    asked.given(*side).insert(property.clone(), said);
                }
            }
        }
        asked.word = word(shape, positional)?;
        if asked.all && asked.count > 0 {
            return Err(Error::user("--all and --count are mutually exclusive"));
        }
        Ok(asked)
    }

    fn given(&mut self, side: Side) -> &mut Given {
        match side {
            Side::Input => &mut self.inputs,
            Side::Provider => &mut self.provider,
        }
    }

    fn set_own(&mut self, own: Own, value: String) -> Result<(), Error> {
        match own {
            Own::InputFile => self.input_file = Some(value),
            Own::Format => self.format = Some(value),
            Own::ProviderFile => self.provider_file = Some(value),
            Own::Provider => self.provider_urn = Some(value),
            Own::ResourcesFile => self.resources_file = Some(value),
            Own::Yes => self.yes = truth("yes", &value)?,
            Own::All => self.all = truth("all", &value)?,
            Own::Count => {
                self.count = value.parse().map_err(|_| {
                    Error::user(format!("--count: {value:?} is not a number of resources"))
                })?;
            }
        }
        Ok(())
    }
}

fn bare_value(meaning: &Meaning) -> Option<&'static str> {
    let is_bare = match meaning {
        Meaning::Own(own) => own.is_switch(),
        Meaning::Property { kind, reading, .. } => {
            *kind == Kind::Bool && *reading == Reading::Value
        }
    };
    is_bare.then_some("true")
}

/// The positional word, if the command has one.
fn word(shape: &Shape, positional: Vec<String>) -> Result<Option<String>, Error> {
    let wanted = usize::from(shape.word.is_some());
    if positional.len() == wanted {
        return Ok(positional.into_iter().next());
    }
    let text = format!("accepts {wanted} arg(s), received {}", positional.len());
    Err(Error::user(match shape.word {
        Some(word) if positional.is_empty() => {
            format!(
                "{text}; {} needs the {word} of a resource",
                shape.operation.word()
            )
        }
        _ => text,
    }))
}

fn unknown(shape: &Shape, name: &str) -> Error {
    let error = Error::user(format!("unknown flag: --{name}")).known(Code::UnknownCommand);
    let names = shape.flags.iter().filter(|flag| flag.is_shown);
    let near = names
        .map(|flag| (strsim::levenshtein(name, &flag.name), flag.name.as_str()))
        .min();
    match near {
        Some((distance, meant)) if distance <= 2 => error.hint(format!("did you mean --{meant}?")),
        _ => error.hint("`--help` behind the command lists them"),
    }
}

fn both(first: &str, second: &str) -> Error {
    let mut names = [first, second];
    names.sort_unstable();
    let names = names.join(" ");
    Error::user(format!(
        "if any flags in the group [{names}] are set none of the others can be; [{names}] were all set"
    ))
}

/// Parses the value of a flag.
fn said(flag: &str, kind: &Kind, reading: Reading, value: String) -> Result<Said, Error> {
    if reading == Reading::Expression {
        return Ok(Said::Expression(value));
    }
    let wrong = |what: &str| Error::user(format!("--{flag}: {what} {value:?}"));
    Ok(match kind {
        Kind::Text => Said::Value(Constant::String(value)),
        Kind::Bool => Said::Value(Constant::Bool(truth(flag, &value)?)),
        Kind::Integer => Said::Integer(value.parse().map_err(|_| wrong("invalid integer value"))?),
        Kind::Number => {
            let number: f64 = value.parse().map_err(|_| wrong("invalid number value"))?;
            if !number.is_finite() {
                return Err(wrong("invalid number value"));
            }
            Said::Value(Constant::Number(number))
        }
        Kind::Choice(choices) => {
            let found = choices.iter().find(|choice| text_of(choice) == value);
            let choices: Vec<String> = choices.iter().map(text_of).collect();
            let none = || {
                Error::user(format!(
                    "--{flag}: {value:?} is none of {}",
                    choices.join(", ")
                ))
            };
            Said::Value(found.cloned().ok_or_else(none)?)
        }
        Kind::Compound => {
            return Err(Error::user(format!(
                "--{flag} takes an expression, which --{flag}+ reads, as in --{flag}+ '{{a: 1}}' or --{flag}+ '[1, 2]'"
            )));
        }
    })
}

/// Text of a constant, as users write it.
pub(super) fn text_of(constant: &Constant) -> String {
    match constant {
        Constant::Bool(value) => value.to_string(),
        Constant::Number(value) => value.to_string(),
        Constant::String(text) => text.clone(),
    }
}

fn truth(flag: &str, value: &str) -> Result<bool, Error> {
    match value {
        "1" | "t" | "T" | "TRUE" | "true" | "True" => Ok(true),
        "0" | "f" | "F" | "FALSE" | "false" | "False" => Ok(false),
        _ => Err(Error::user(format!(
            "--{flag}: invalid boolean value {value:?}"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use plumb_schema::{PackageSchema, Properties};

    use super::super::shape::{Keeping, Operation};
    use super::*;

    const SCHEMA: &str = r##"{
      "name": "pkg",
      "types": {"pkg:index:Size": {"type": "string", "enum": [{"value": "small"}, {"value": "large"}]}},
      "provider": {"inputProperties": {"region": {"type": "string"}}},
      "resources": {"pkg:index:Thing": {"inputProperties": {
        "name": {"type": "string"}, "maxSize": {"type": "integer"}, "ratio": {"type": "number"},
        "isOn": {"type": "boolean"}, "size": {"$ref": "#/types/pkg:index:Size"}, "tags": {"type": "object"}
      }}}
    }"##;

    fn read(operation: Operation, keeping: Keeping, line: &str) -> Result<Asked, String> {
        let schema = PackageSchema::parse(SCHEMA).unwrap();
        let thing = schema.resource("pkg:index:Thing").unwrap().unwrap();
        let provider = schema.provider().unwrap();
        let none = Properties::default();
        let inputs = if operation == Operation::Delete {
            &none
        } else {
            &thing.input_properties
        };
        let shape = Shape::new(
            operation,
            keeping,
            &schema,
            inputs,
            &provider.input_properties,
        );
        let words: Vec<String> = shlex::split(line).unwrap();
        Asked::read(&shape, &words).map_err(|error| error.text().unwrap_or_default())
    }

    fn create(line: &str) -> Result<Asked, String> {
        read(Operation::Create, Keeping::Nowhere, line)
    }

    #[test]
    fn flags_become_values_of_their_kinds() {
        let text = |text: &str| Said::Value(Constant::String(text.to_owned()));
        for (line, property, said) in [
            ("--name x", "name", text("x")),
            ("--name=x=y", "name", text("x=y")),
            ("--name -1", "name", text("-1")),
            ("--name ''", "name", text("")),
            ("--input:name x", "name", text("x")),
            (
                "--name+ '${a.b}'",
                "name",
                Said::Expression("${a.b}".to_owned()),
            ),
            ("--max-size -42", "maxSize", Said::Integer(-42)),
            ("--ratio 0.5", "ratio", Said::Value(Constant::Number(0.5))),
            ("--is-on", "isOn", Said::Value(Constant::Bool(true))),
            ("--is-on=false", "isOn", Said::Value(Constant::Bool(false))),
            ("--size large", "size", text("large")),
            (
                "--tags+ '{a: 1}'",
                "tags",
                Said::Expression("{a: 1}".to_owned()),
            ),
        ] {
            let asked = create(line).unwrap();
            assert_eq!(asked.inputs.get(property), Some(&said), "{line}");
        }
        let asked = create("--pkg:region eu --provider-file p.yaml --yes").unwrap();
        assert_eq!(asked.provider.get("region"), Some(&text("eu")));
        assert_eq!(
            (asked.provider_file.as_deref(), asked.yes),
            (Some("p.yaml"), true)
        );
    }

    #[test]
    fn mistakes_are_told() {
        for (line, expected) in [
            ("--nam x", "unknown flag: --nam; did you mean --name?"),
            (
                "--something x",
                "unknown flag: --something; `--help` behind the command lists them",
            ),
            ("--name", "flag needs an argument: --name"),
            ("--max-size x", "--max-size: invalid integer value \"x\""),
            (
                "--max-size 1.5",
                "--max-size: invalid integer value \"1.5\"",
            ),
            ("--ratio nan", "--ratio: invalid number value \"nan\""),
            ("--is-on=maybe", "--is-on: invalid boolean value \"maybe\""),
            ("--size huge", "--size: \"huge\" is none of small, large"),
            (
                "--tags x",
                "--tags takes an expression, which --tags+ reads, as in --tags+ '{a: 1}' or --tags+ '[1, 2]'",
            ),
            (
                "--name x --input:name y",
                "if any flags in the group [input:name name] are set none of the others can be; [input:name name] were all set",
            ),
            ("thing", "accepts 0 arg(s), received 1"),
        ] {
            assert_eq!(create(line).unwrap_err(), expected, "{line}");
        }
    }

    #[test]
    fn words_are_counted() {
        let delete = |line: &str| read(Operation::Delete, Keeping::Nowhere, line);
        assert_eq!(delete("id-1").unwrap().word.as_deref(), Some("id-1"));
        assert_eq!(
            delete("").unwrap_err(),
            "accepts 1 arg(s), received 0; delete needs the id of a resource"
        );
        assert_eq!(delete("a b").unwrap_err(), "accepts 1 arg(s), received 2");
        let list = |line: &str| read(Operation::List, Keeping::Nowhere, line);
        assert_eq!(list("--count 3").unwrap().count, 3);
        assert_eq!(
            list("--all --count 3").unwrap_err(),
            "--all and --count are mutually exclusive"
        );
    }
}
