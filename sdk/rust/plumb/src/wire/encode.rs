//! Values to the wire, with the resources that they depend on.
//!
//! Encoding waits: outputs inside are awaited, resources have to be registered. It collects the dependencies of all of
//! them, because the engine wants them by property.

use std::collections::BTreeMap;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use prost_types::value::Kind;
use prost_types::{ListValue, Struct, Value as Wire};

use super::{UNKNOWN, kind, secret, signature, special, text};
use crate::Error;
use crate::output::Resolved;
use crate::resource::{Dependencies, Handle, ProviderId};
use crate::value::{Archive, Asset, AssetOrArchive, Value};

/// How values are written.
#[derive(Clone, Copy, Default)]
pub(crate) struct Encoder<'a> {
    /// Whether outputs are written with their markers, for a receiver that makes outputs of them again.
    pub(crate) keeps_outputs: bool,
    /// Whether a resource that is passed by value is no dependency.
    pub(crate) excludes_resources: bool,
    /// The resource whose input it is: dependencies on itself are dropped.
    pub(crate) owner: Option<&'a Handle>,
}

impl Encoder<'_> {
    /// Writes the members of an object; the error names the one that failed.
    pub(crate) async fn members(
        &self,
        values: &BTreeMap<String, Value>,
        mut collected: impl FnMut(&str, Dependencies),
    ) -> Result<Struct, Error> {
        let mut members = Struct::default();
        for (key, value) in values {
            let mut dependencies = Dependencies::default();
            let wire = self.value(value, &mut dependencies).await?;
            members.fields.insert(key.clone(), wire);
            collected(key, dependencies);
        }
        Ok(members)
    }

    /// Writes a value.
    pub(crate) fn value<'b>(
        &'b self,
        value: &'b Value,
        dependencies: &'b mut Dependencies,
    ) -> BoxFuture<'b, Result<Wire, Error>> {
        async move {
            Ok(match value {
                Value::Null => kind(Kind::NullValue(0)),
                Value::Bool(value) => kind(Kind::BoolValue(*value)),
                Value::Number(number) => kind(Kind::NumberValue(*number)),
                Value::String(value) => text(value),
                Value::Unknown => text(UNKNOWN),
                Value::Secret(inner) => secret(self.value(inner, dependencies).await?),
                Value::Asset(asset) => self::asset(asset),
                Value::Archive(archive) => self::archive(archive),
                Value::Resource(handle) => self.resource(handle, dependencies).await?,
                Value::Output(output) => {
                    let state = output.cell().settled().await?;
                    dependencies.extend(&state.dependencies);
                    self.output(&state).await?
                }
                Value::List(values) => {
                    let mut items = Vec::with_capacity(values.len());
                    for value in values {
                        items.push(self.value(value, dependencies).await?);
                    }
                    kind(Kind::ListValue(ListValue { values: items }))
                }
                Value::Map(values) => {
                    let mut members = Struct::default();
                    for (key, value) in values {
                        let wire = self.value(value, dependencies).await?;
                        members.fields.insert(key.clone(), wire);
                    }
                    kind(Kind::StructValue(members))
                }
            })
        }
        .boxed()
    }

    async fn output(&self, state: &Resolved<Value>) -> Result<Wire, Error> {
        // Resources inside the value are among the dependencies of the output already.
        let mut inside = Dependencies::default();
        let plain = Encoder {
            keeps_outputs: false,
            ..*self
        };
        let value = match &state.value {
            Some(value) => Some(plain.value(value, &mut inside).await?),
            None => None,
        };
        if !self.keeps_outputs {
            let value = value.unwrap_or_else(|| text(UNKNOWN));
            return Ok(if state.secret { secret(value) } else { value });
        }
        let urns = state.dependencies.expand(self.owner).await?;
        let urns = urns.into_iter().map(text).collect();
        let mut form = special(
            signature::OUTPUT,
            [
                ("secret", kind(Kind::BoolValue(state.secret))),
                (
                    "dependencies",
                    kind(Kind::ListValue(ListValue { values: urns })),
                ),
            ],
        );
        if let (Some(value), Some(Kind::StructValue(members))) = (value, &mut form.kind) {
            members.fields.insert("value".to_owned(), value);
        }
        Ok(form)
    }

    async fn resource(
        &self,
        handle: &Handle,
        dependencies: &mut Dependencies,
    ) -> Result<Wire, Error> {
        if !self.excludes_resources {
            dependencies.insert(handle.clone());
        }
        let state = handle.state().await?;
        let mut form = special(signature::RESOURCE, [("urn", text(&state.urn))]);
        let id = match &state.id {
            ProviderId::None => return Ok(form),
            // The engine finds a provider by its ID.
            ProviderId::Unknown if handle.provided_package().is_some() => UNKNOWN,
            ProviderId::Unknown => "",
            ProviderId::Known(id) => id,
        };
        if let Some(Kind::StructValue(members)) = &mut form.kind {
            members.fields.insert("id".to_owned(), text(id));
        }
        Ok(form)
    }
}

fn asset(asset: &Asset) -> Wire {
    let (field, value) = match asset {
        Asset::Text(value) => ("text", value),
        Asset::File(value) => ("path", value),
        Asset::Remote(value) => ("uri", value),
    };
    special(signature::ASSET, [(field, text(value))])
}

fn archive(archive: &Archive) -> Wire {
    let (field, value) = match archive {
        Archive::Path(value) => ("path", text(value)),
        Archive::Remote(value) => ("uri", text(value)),
        Archive::Assets(members) => {
            let members = members.iter().map(|(name, member)| {
                let wire = match member {
                    AssetOrArchive::Asset(asset) => self::asset(asset),
                    AssetOrArchive::Archive(archive) => self::archive(archive),
                };
                (name.clone(), wire)
            });
            let fields = members.collect();
            ("assets", kind(Kind::StructValue(Struct { fields })))
        }
    };
    special(signature::ARCHIVE, [(field, value)])
}
