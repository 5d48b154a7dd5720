//! Values from the wire.

use std::collections::BTreeMap;

use prost_types::value::Kind;
use prost_types::{Struct, Value as Wire};

use super::{UNKNOWN, signature};
use crate::Error;
use crate::output::{Cell, Output, Resolved};
use crate::program::Program;
use crate::resource::{Dependencies, Handle};
use crate::value::{Archive, Asset, AssetOrArchive, Value};

/// How markers are read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// One secret makes the whole property secret: for outputs.
    Hoisted,
    /// Markers stay where they are: for values that travel back, as in transforms.
    Marked,
}

/// Reads values for a program.
pub(crate) struct Decoder<'a> {
    /// None for providers, which no resources and no outputs reach.
    program: Option<&'a Program>,
    form: Form,
    secret: bool,
    dependencies: Dependencies,
}

type Members = BTreeMap<String, Wire>;

impl<'a> Decoder<'a> {
    /// Reads one property, whose markers become those of the result.
    pub(crate) fn property(program: &'a Program, wire: Wire) -> Result<Resolved<Value>, Error> {
        let mut decoder = Decoder {
            program: Some(program),
            form: Form::Hoisted,
            secret: false,
            dependencies: Dependencies::default(),
        };
        let value = decoder.value(wire)?;
        Ok(Resolved {
            value: (value != Value::Unknown).then_some(value),
            secret: decoder.secret,
            dependencies: decoder.dependencies,
        })
    }

    /// Reads the properties of an object, each for itself.
    pub(crate) fn properties(
        program: &'a Program,
        members: Option<Struct>,
    ) -> Result<BTreeMap<String, Resolved<Value>>, Error> {
        let members = members.unwrap_or_default().fields.into_iter();
        members
            .map(|(key, wire)| Ok((key, Decoder::property(program, wire)?)))
            .collect()
    }

    /// Reads an object with all markers where they are.
    pub(crate) fn marked(
        program: &'a Program,
        members: Option<Struct>,
    ) -> Result<BTreeMap<String, Value>, Error> {
        Decoder::keeping_marks(Some(program)).members(members.unwrap_or_default().fields)
    }

    /// Reads an object for a provider: a resource is its ID, or its URN if it has none.
    pub(crate) fn for_provider(members: Option<Struct>) -> Result<BTreeMap<String, Value>, Error> {
        Decoder::keeping_marks(None).members(members.unwrap_or_default().fields)
    }

    fn keeping_marks(program: Option<&'a Program>) -> Self {
        Decoder {
            program,
            form: Form::Marked,
            secret: false,
            dependencies: Dependencies::default(),
        }
    }

    fn members(&mut self, members: Members) -> Result<BTreeMap<String, Value>, Error> {
        let members = members.into_iter();
        members
            .map(|(key, wire)| Ok((key, self.value(wire)?)))
            .collect()
    }

    fn value(&mut self, wire: Wire) -> Result<Value, Error> {
        Ok(match wire.kind {
            None | Some(Kind::NullValue(_)) => Value::Null,
            Some(Kind::BoolValue(value)) => Value::Bool(value),
            Some(Kind::NumberValue(number)) => Value::Number(number),
            Some(Kind::StringValue(text)) if text == UNKNOWN => self.unknown(),
            Some(Kind::StringValue(text)) => Value::String(text),
            Some(Kind::ListValue(list)) => {
                let values = list.values.into_iter();
                Value::List(values.map(|it| self.value(it)).collect::<Result<_, _>>()?)
            }
            Some(Kind::StructValue(members)) => self.object(members.fields)?,
        })
    }

    /// Outside of a preview, an unknown value is one that will never be there.
    fn unknown(&self) -> Value {
        if self.form == Form::Marked || self.program.is_none_or(|it| it.settings.is_preview) {
            Value::Unknown
        } else {
            Value::Null
        }
    }

    fn object(&mut self, mut members: Members) -> Result<Value, Error> {
        let Some(Kind::StringValue(signature)) = members
            .get(signature::KEY)
            .and_then(|wire| wire.kind.clone())
        else {
            return Ok(Value::Map(self.members(members)?));
        };
        match signature.as_str() {
            signature::SECRET => {
                let inner = self.value(members.remove("value").unwrap_or_default())?;
                self.secret = true;
                Ok(match self.form {
                    Form::Hoisted => inner,
                    Form::Marked => Value::Secret(Box::new(inner)),
                })
            }
            signature::ASSET => Ok(Value::Asset(asset(&mut members)?)),
            signature::ARCHIVE => Ok(Value::Archive(archive(&mut members)?)),
            signature::RESOURCE => self.resource(&mut members),
            signature::OUTPUT => self.output(members),
            other => Err(Error::at(
                format!("the engine sent a value with the unknown signature `{other}`"),
                None,
            )),
        }
    }

    fn resource(&mut self, members: &mut Members) -> Result<Value, Error> {
        let urn = string(members, "urn").ok_or_else(|| {
            Error::at(
                "the engine sent a reference to a resource without its URN",
                None,
            )
        })?;
        let id = string(members, "id");
        Ok(match self.program {
            Some(program) => Value::Resource(Handle::reference(program, urn, id)),
            None => match id {
                None => Value::String(urn),
                Some(id) if id.is_empty() || id == UNKNOWN => Value::Unknown,
                Some(id) => Value::String(id),
            },
        })
    }

    fn output(&mut self, mut members: Members) -> Result<Value, Error> {
        let secret = matches!(
            members.get("secret").and_then(|wire| wire.kind.as_ref()),
            Some(Kind::BoolValue(true))
        );
        let mut dependencies = Dependencies::default();
        if let Some(program) = self.program
            && let Some(Kind::ListValue(urns)) =
                members.remove("dependencies").and_then(|it| it.kind)
        {
            for urn in urns.values {
                if let Some(Kind::StringValue(urn)) = urn.kind {
                    dependencies.insert(Handle::dependency(program, urn));
                }
            }
        }
        let value = match members.remove("value") {
            Some(wire) => self.value(wire)?,
            None => Value::Unknown,
        };
        if self.form == Form::Hoisted {
            self.secret |= secret;
            self.dependencies.extend(&dependencies);
            return Ok(value);
        }
        // A plain marker says all there is to say, unless there are dependencies.
        if dependencies.is_empty() {
            return Ok(if secret {
                Value::Secret(Box::new(value))
            } else {
                value
            });
        }
        let state = Resolved {
            value: (value != Value::Unknown).then_some(value),
            secret,
            dependencies,
        };
        Ok(Value::Output(Output::dynamic(Cell::ready(Ok(state)))))
    }
}

fn string(members: &mut Members, key: &str) -> Option<String> {
    match members.remove(key)?.kind? {
        Kind::StringValue(text) => Some(text),
        _ => None,
    }
}

fn asset(members: &mut Members) -> Result<Asset, Error> {
    let path = string(members, "path").filter(|it| !it.is_empty());
    let uri = string(members, "uri").filter(|it| !it.is_empty());
    match (path, string(members, "text"), uri) {
        (Some(path), _, _) => Ok(Asset::File(path)),
        (None, _, Some(uri)) => Ok(Asset::Remote(uri)),
        (None, Some(text), None) => Ok(Asset::Text(text)),
        (None, None, None) => Err(Error::at("the engine sent an asset without content", None)),
    }
}

fn archive(members: &mut Members) -> Result<Archive, Error> {
    if let Some(Kind::StructValue(inner)) = members.remove("assets").and_then(|it| it.kind) {
        let inner = inner.fields.into_iter().map(|(name, wire)| {
            let Some(Kind::StructValue(member)) = wire.kind else {
                return Err(Error::at(
                    "the engine sent an archive of something else",
                    None,
                ));
            };
            let mut member = member.fields;
            let member = match string(&mut member, signature::KEY).as_deref() {
                Some(signature::ARCHIVE) => AssetOrArchive::Archive(archive(&mut member)?),
                _ => AssetOrArchive::Asset(asset(&mut member)?),
            };
            Ok((name, member))
        });
        return Ok(Archive::Assets(inner.collect::<Result<_, _>>()?));
    }
    let path = string(members, "path").filter(|it| !it.is_empty());
    match (path, string(members, "uri")) {
        (Some(path), _) => Ok(Archive::Path(path)),
        (None, Some(uri)) => Ok(Archive::Remote(uri)),
        (None, None) => Err(Error::at(
            "the engine sent an archive without content",
            None,
        )),
    }
}
