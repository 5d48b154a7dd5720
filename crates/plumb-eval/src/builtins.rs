//! Pure functions of the languages (`yaml-runtime.md` 6.3). Arguments contain no outputs.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use base64::engine::general_purpose::STANDARD;
use base64::{DecodeError, Engine as _};
use ecow::EcoString;
use plumb_value::{Archive, ArchiveSource, Asset, AssetSource};
use sha1::Digest as _;
use unicode_segmentation::UnicodeSegmentation as _;

use crate::access;
use crate::convert::{self, Form};
use crate::go_format;
use crate::lift::{self, Lifted};
use crate::value::Val;

/// Functions of one argument without side effects. Functions of several arguments take a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    /// Joins a list of strings.
    Join,
    /// Splits a string.
    Split,
    /// An element of a list, by index.
    Select,
    /// A value as JSON text.
    ToJson,
    /// Text in base64.
    ToBase64,
    /// The text encoded in base64.
    FromBase64,
    /// Makes a value secret.
    Secret,
    /// Removes the secret mark of a value.
    Unsecret,
    /// The text of a file.
    ReadFile,
    /// The content of a file in base64.
    FileBase64,
    /// The SHA-256 of a file in base64.
    FileBase64Sha256,
    /// The SHA-1 of a text in hex.
    Sha1,
    /// The number of elements, entries or characters.
    Length,
    /// The only element of a list.
    SingleOrNone,
    /// An asset with the given text.
    StringAsset,
    /// An asset from a file.
    FileAsset,
    /// An asset from an address.
    RemoteAsset,
    /// An archive from a file or folder.
    FileArchive,
    /// An archive from an address.
    RemoteArchive,
    /// An archive with the given members.
    AssetArchive,
    /// The name of a resource.
    ResourceName,
    /// The type of a resource.
    ResourceType,
}

impl Function {
    /// Whether the function creates an asset or archive.
    pub fn makes_asset(self) -> bool {
        matches!(
            self,
            Function::StringAsset
                | Function::FileAsset
                | Function::RemoteAsset
                | Function::FileArchive
                | Function::RemoteArchive
                | Function::AssetArchive
        )
    }
}

/// Calls `function`, named `name` in the program. The argument may contain outputs, and then the result is an output.
/// Relative paths start at `directory`.
pub fn call(
    function: Function,
    name: &str,
    argument: &Val,
    directory: &Path,
) -> Result<Val, String> {
    match function {
        Function::Secret => return Ok(lift::secret(argument, true)),
        Function::Unsecret => return Ok(lift::secret(argument, false)),
        _ => {}
    }
    let mut lifted = Lifted::default();
    let plain = match function {
        Function::Select | Function::SingleOrNone | Function::Length => {
            shallow(&mut lifted, argument)
        }
        Function::ResourceName | Function::ResourceType => lifted.strip_outer(argument),
        _ => lifted.strip(argument),
    };
    if lifted.poisoned || lifted.unknown {
        return Ok(lifted.wrap(Val::Null));
    }
    let result = compute(function, name, &plain, directory).map_err(|problem| {
        // The message might reveal the argument.
        if lifted.secret {
            format!("{name} failed; its argument is secret, so the reason is not shown")
        } else {
            problem
        }
    })?;
    Ok(lifted.wrap(result))
}

/// Removes outputs around an argument and, in an argument such as `[index, list]`, around its two elements. Outputs further
/// inside are kept, so that each element of the list keeps its own.
fn shallow(lifted: &mut Lifted, value: &Val) -> Val {
    let stripped = lifted.strip_outer(value);
    match &stripped {
        Val::List(items)
            if items.len() == 2 && matches!(items[1], Val::List(_) | Val::Output(_)) =>
        {
            Val::list(items.iter().map(|item| lifted.strip_outer(item)).collect())
        }
        _ => stripped,
    }
}

/// Computes `function`, named `name` in the program, without outputs. Relative paths start at `directory`.
fn compute(
    function: Function,
    name: &str,
    argument: &Val,
    directory: &Path,
) -> Result<Val, String> {
    match function {
        Function::Join => join(name, pair(argument)),
        Function::Split => split(pair(argument)),
        Function::Select => select(name, pair(argument)),
        Function::ToJson => {
            let mut text = String::new();
            let written = go_format::json(argument, &mut text);
            written.map_err(|what| format!("failed to encode JSON: {what} has no JSON form"))?;
            Ok(Val::String(text.into()))
        }
        Function::ToBase64 => Ok(Val::String(
            STANDARD
                .encode(bytes(&base64_wants(name), argument)?)
                .into(),
        )),
        Function::FromBase64 => from_base64(name, string(&base64_wants(name), argument)?),
        Function::Secret | Function::Unsecret => Ok(argument.clone()),
        Function::ReadFile => {
            let Val::String(path) = argument else {
                let found = argument.go_type();
                return Err(format!("Argument to {name} must be a string, got {found}"));
            };
            let failed = format!("Error reading file at path {path}");
            let bytes = read(path, directory).map_err(|error| format!("{failed}: {error}"))?;
            Ok(Val::from_bytes(bytes))
        }
        Function::FileBase64 => Ok(Val::String(
            STANDARD.encode(read_for(name, argument, directory)?).into(),
        )),
        Function::FileBase64Sha256 => {
            let digest = sha2::Sha256::digest(read_for(name, argument, directory)?);
            Ok(Val::String(STANDARD.encode(digest).into()))
        }
        Function::Sha1 => {
            let digest = sha1::Sha1::digest(bytes(&format!("{name} requires a string"), argument)?);
            Ok(Val::String(hex::encode(digest).into()))
        }
        Function::Length => length(name, argument),
        Function::SingleOrNone => single_or_none(name, argument),
        Function::StringAsset => Ok(asset(AssetSource::Text(asset_text(argument)?))),
        Function::FileAsset => Ok(asset(AssetSource::Path(asset_text(argument)?))),
        Function::RemoteAsset => Ok(asset(AssetSource::Uri(asset_text(argument)?))),
        Function::FileArchive => Ok(archive(ArchiveSource::Path(asset_text(argument)?))),
        Function::RemoteArchive => Ok(archive(ArchiveSource::Uri(asset_text(argument)?))),
        Function::AssetArchive => asset_archive(name, argument),
        Function::ResourceName => resource_fact(name, argument, |found, _| found),
        Function::ResourceType => resource_fact(name, argument, |_, token| token),
    }
}

fn pair(argument: &Val) -> (&Val, &Val) {
    match argument {
        Val::List(items) if items.len() == 2 => (&items[0], &items[1]),
        _ => (&Val::Null, &Val::Null),
    }
}

/// The text in `argument`; `wants` is the beginning of the error for other values.
fn string<'a>(wants: &str, argument: &'a Val) -> Result<&'a EcoString, String> {
    match argument {
        Val::String(text) => Ok(text),
        other => Err(format!("{wants}, got {}", other.described())),
    }
}

/// Bytes of the string in `argument`; `wants` is the beginning of the error for other values.
fn bytes<'a>(wants: &str, argument: &'a Val) -> Result<&'a [u8], String> {
    match argument {
        Val::Bytes(bytes) => Ok(bytes),
        other => string(wants, other).map(|text| text.as_bytes()),
    }
}

fn asset_text(argument: &Val) -> Result<EcoString, String> {
    match argument {
        Val::String(text) => Ok(text.clone()),
        other => Err(format!(
            "Argument to fn::* must be a string, got {}",
            other.go_type()
        )),
    }
}

fn join(name: &str, (delimiter, values): (&Val, &Val)) -> Result<Val, String> {
    let delimiter = match delimiter {
        Val::Null => "",
        Val::String(text) => text,
        other => {
            return Err(format!(
                "delimiter must be a string, not {}",
                other.described()
            ));
        }
    };
    let Val::List(items) = values else {
        return Err(format!(
            "the second argument to {name} must be a list, found {}",
            values.described()
        ));
    };
    let mut joined = String::new();
    for (at, item) in items.iter().enumerate() {
        let Val::String(text) = item else {
            let found = item.described();
            let wanted = format!("the second argument to {name} must be a list of strings");
            return Err(format!("{wanted}, found {found} at index {at}"));
        };
        if at > 0 {
            joined.push_str(delimiter);
        }
        joined.push_str(text);
    }
    Ok(Val::String(joined.into()))
}

fn split((delimiter, source): (&Val, &Val)) -> Result<Val, String> {
    let text = |value: &Val| match value {
        Val::String(text) => Ok(text.clone()),
        other => Err(format!("Must be a string, not {}", other.described())),
    };
    let (delimiter, source) = (text(delimiter)?, text(source)?);
    let parts: Vec<Val> = if delimiter.is_empty() {
        source
            .chars()
            .map(|char| Val::String(EcoString::from(char)))
            .collect()
    } else {
        source
            .split(delimiter.as_str())
            .map(|part| Val::String(part.into()))
            .collect()
    };
    Ok(Val::list(parts))
}

fn select(name: &str, (index, values): (&Val, &Val)) -> Result<Val, String> {
    let Val::Number(number) = index else {
        return Err(format!("index must be a number, not {}", index.described()));
    };
    if *number < 0.0 || number.fract() != 0.0 {
        return Err(format!(
            "index must be a positive integral, not {}",
            go_format::number(*number)
        ));
    }
    let Val::List(items) = values else {
        return Err(format!(
            "the second argument to {name} must be a list, found {}",
            values.described()
        ));
    };
    #[allow(clippy::cast_sign_loss)] // checked above
    let at = *number as usize;
    // Outputs of the other elements count as well: a secret element makes the result secret.
    let mut lifted = Lifted::default();
    let element = items
        .get(at)
        .map(|item| lifted.strip_elements(item))
        .ok_or_else(|| access::out_of_bounds(at, items.len()))?;
    lifted.strip_elements(values);
    Ok(lifted.wrap(element))
}

fn from_base64(name: &str, text: &str) -> Result<Val, String> {
    let bytes = STANDARD.decode(text).map_err(|error| {
        let at = match error {
            DecodeError::InvalidByte(at, _) => at,
            _ => text.len(),
        };
        format!("{name} unable to decode {text}, error: illegal base64 data at input byte {at}")
    })?;
    let text = String::from_utf8(bytes)
        .map_err(|_| format!("{name} output is not a valid UTF-8 string"))?;
    Ok(Val::String(text.into()))
}

fn base64_wants(name: &str) -> String {
    format!("expected argument to {name} to be a string")
}

/// Content of the file at the path `argument`.
fn read_for(name: &str, argument: &Val, directory: &Path) -> Result<Vec<u8>, String> {
    let path = string(&format!("{name} requires a string path"), argument)?;
    read(path, directory).map_err(|error| format!("{name} error reading file {path}: {error}"))
}

fn read(path: &str, directory: &Path) -> Result<Vec<u8>, String> {
    std::fs::read(directory.join(path)).map_err(|error| {
        let reason = error.to_string();
        let reason = reason.split(" (os error").next().unwrap_or_default();
        format!("open {path}: {}", reason.to_lowercase())
    })
}

fn length(name: &str, argument: &Val) -> Result<Val, String> {
    let length = match argument {
        Val::List(items) => items.len(),
        Val::Object(entries) => entries.len(),
        Val::String(text) => text.graphemes(true).count(),
        Val::Bytes(bytes) => String::from_utf8_lossy(bytes).graphemes(true).count(),
        other => {
            return Err(format!(
                "{name} requires a list, map, or string, got {}",
                other.described()
            ));
        }
    };
    Ok(Val::Number(length as f64))
}

fn single_or_none(name: &str, argument: &Val) -> Result<Val, String> {
    let Val::List(items) = argument else {
        return Err(format!(
            "{name} requires a list, got {}",
            argument.described()
        ));
    };
    match items.as_slice() {
        [] => Ok(Val::Null),
        [only] => Ok(only.clone()),
        more => Err(format!(
            "{name} expected a list of 0 or 1 elements, got {}",
            more.len()
        )),
    }
}

fn asset(source: AssetSource) -> Val {
    Val::Asset(Arc::new(Asset {
        hash: EcoString::new(),
        source,
    }))
}

fn archive(source: ArchiveSource) -> Val {
    Val::Archive(Arc::new(Archive {
        hash: EcoString::new(),
        source,
    }))
}

fn asset_archive(name: &str, argument: &Val) -> Result<Val, String> {
    let Val::Object(entries) = argument else {
        return Err(format!(
            "the argument to {name} must be an object, not {}",
            argument.kind()
        ));
    };
    let mut members = BTreeMap::new();
    for (member, value) in entries.iter() {
        if !matches!(value, Val::Asset(_) | Val::Archive(_)) {
            return Err(format!(
                "value of {member:?} in {name} must be an asset or archive"
            ));
        }
        members.insert(member.clone(), convert::to_value(value, Form::Plain));
    }
    Ok(archive(ArchiveSource::Assets(members)))
}

fn resource_fact(
    name: &str,
    argument: &Val,
    pick: fn(EcoString, EcoString) -> EcoString,
) -> Result<Val, String> {
    match argument {
        Val::Resource(resource) => Ok(Val::String(pick(
            resource.name.clone(),
            resource.type_token.clone(),
        ))),
        Val::Reference(reference) => {
            let urn =
                plumb_resource::Urn::parse(&reference.urn).map_err(|error| error.to_string())?;
            Ok(Val::String(pick(urn.name().into(), urn.type_text().into())))
        }
        other => Err(format!(
            "{name} requires a resource, got {}",
            other.described()
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(function: Function, argument: serde_json::Value, expected: serde_json::Value) {
        let found = compute(
            function,
            "fn::f",
            &convert::from_json(&argument),
            Path::new("/nowhere"),
        )
        .unwrap();
        assert_eq!(found, convert::from_json(&expected), "{function:?}");
    }

    fn check_error(function: Function, argument: serde_json::Value, expected: &str) {
        let found = compute(
            function,
            "fn::f",
            &convert::from_json(&argument),
            Path::new("/nowhere"),
        )
        .unwrap_err();
        assert_eq!(found, expected);
    }

    #[test]
    fn functions_compute() {
        use serde_json::json;
        check(Function::Join, json!([",", ["a", "b"]]), json!("a,b"));
        check(Function::Join, json!([null, ["a", "b"]]), json!("ab"));
        check(Function::Split, json!([",", "a,b,"]), json!(["a", "b", ""]));
        check(Function::Select, json!([1, ["a", "b"]]), json!("b"));
        check(
            Function::ToJson,
            json!({"b": 1, "a": "<"}),
            json!("{\"a\":\"\\u003c\",\"b\":1}"),
        );
        check(Function::ToBase64, json!("hi"), json!("aGk="));
        check(Function::FromBase64, json!("aGk="), json!("hi"));
        check(
            Function::Sha1,
            json!("abc"),
            json!("a9993e364706816aba3e25717850c26c9cd0d89d"),
        );
        check(Function::Length, json!("e\u{301}x"), json!(2));
        check(Function::Length, json!({"a": 1}), json!(1));
        check(Function::SingleOrNone, json!([]), json!(null));
        check(Function::SingleOrNone, json!(["x"]), json!("x"));
    }

    #[test]
    fn bytes_that_are_no_text_are_read_and_encoded_as_they_are() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("image"), [0, b'a', 0xff]).unwrap();
        let call =
            |function, argument: &Val| compute(function, "fn::f", argument, folder.path()).unwrap();
        let read = call(Function::ReadFile, &Val::String("image".into()));
        assert_eq!(read, Val::Bytes([0, b'a', 0xff].as_slice().into()));
        let encoded = Val::String("AGH/".into());
        assert_eq!(call(Function::ToBase64, &read), encoded);
        assert_eq!(call(Function::Length, &read), Val::Number(3.0));
        let mut text = String::new();
        go_format::display(&read, &mut text);
        assert_eq!(text, "\0a\u{fffd}");
    }

    #[test]
    fn wrong_arguments_are_explained() {
        use serde_json::json;
        let wanted =
            "the second argument to fn::f must be a list of strings, found a number at index 1";
        check_error(Function::Join, json!([",", ["a", 1]]), wanted);
        check_error(
            Function::Select,
            json!([1.5, []]),
            "index must be a positive integral, not 1.5",
        );
        check_error(
            Function::Select,
            json!([2, ["a"]]),
            "list index 2 out-of-bounds for list of length 1",
        );
        check_error(
            Function::FromBase64,
            json!("/w=="),
            "fn::f output is not a valid UTF-8 string",
        );
        let wanted = "fn::f expected a list of 0 or 1 elements, got 2";
        check_error(Function::SingleOrNone, json!([1, 2]), wanted);
        check_error(
            Function::StringAsset,
            json!(1),
            "Argument to fn::* must be a string, got float64",
        );
    }
}
