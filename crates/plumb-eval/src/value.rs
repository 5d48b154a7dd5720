//! Values during the evaluation of a program.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ecow::EcoString;
use plumb_resource::{ResourceId, Urn};
use plumb_value::{Archive, Asset, PropertyMap, ResourceReference};

/// A value, possibly with outputs inside.
///
/// [`Val::Output`] records the origin of a value; a value without an output around it comes from the program itself.
#[derive(Clone, Debug, PartialEq)]
pub enum Val {
    /// Null.
    Null,
    /// A boolean.
    Bool(bool),
    /// A number.
    Number(f64),
    /// Text.
    String(EcoString),
    /// A string that is not UTF-8. It is passed on and encoded as it is; as a part of text, U+FFFD replaces what is not
    /// UTF-8.
    Bytes(Arc<[u8]>),
    /// A list.
    List(Arc<Vec<Val>>),
    /// An object.
    Object(Arc<BTreeMap<EcoString, Val>>),
    /// An asset.
    Asset(Arc<Asset>),
    /// An archive.
    Archive(Arc<Archive>),
    /// A resource.
    Resource(Arc<ResourceVal>),
    /// A resource of which only the URN is known.
    Reference(Arc<ResourceReference>),
    /// A computed value, known or not.
    Output(Arc<Output>),
    /// Replacement for a value that could not be evaluated. The reason has been reported already, or the engine reports it.
    Poison,
}

/// A computed value.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    /// The value; `None` if it is not known yet.
    pub value: Option<Val>,
    /// Whether the value is secret.
    pub secret: bool,
    /// Resources that the value was computed from.
    pub deps: Deps,
}

/// A registered or read resource.
#[derive(Debug)]
pub struct ResourceVal {
    /// URN of the resource.
    pub urn: Urn,
    /// Id of the resource.
    pub id: ResourceId,
    /// Whether a provider manages the resource, so that it has an id.
    pub custom: bool,
    /// Type of the resource.
    pub type_token: EcoString,
    /// Name of the resource.
    pub name: EcoString,
    /// Outputs of the resource.
    pub outputs: Arc<PropertyMap>,
    /// Whether missing outputs are unknown rather than null.
    pub partial: bool,
    /// Providers for children, by package.
    pub providers: Providers,
}

/// Provider references by package.
pub type Providers = Arc<BTreeMap<EcoString, EcoString>>;

impl PartialEq for ResourceVal {
    fn eq(&self, other: &Self) -> bool {
        self.urn == other.urn
    }
}

impl ResourceVal {
    /// The package that a provider resource serves; `None` for other resources.
    pub fn provided_package(&self) -> Option<&str> {
        self.type_token.strip_prefix("pulumi:providers:")
    }

    /// The reference to a provider resource in requests.
    pub fn provider_ref(&self) -> EcoString {
        let id = match &self.id {
            ResourceId::Known(id) => id.as_str(),
            ResourceId::None | ResourceId::Unknown => plumb_resource::UNKNOWN_SENTINEL,
        };
        format!("{}::{id}", self.urn).into()
    }
}

impl Val {
    /// A list of `items`.
    pub fn list(items: Vec<Val>) -> Val {
        Val::List(Arc::new(items))
    }

    /// The string of these bytes.
    pub fn from_bytes(bytes: Vec<u8>) -> Val {
        match String::from_utf8(bytes) {
            Ok(text) => Val::String(text.into()),
            Err(error) => Val::Bytes(error.into_bytes().into()),
        }
    }

    /// An unknown output.
    pub fn unknown(secret: bool, deps: Deps) -> Val {
        Val::Output(Arc::new(Output {
            value: None,
            secret,
            deps,
        }))
    }

    /// Kind of the value with its article, for messages about arguments.
    pub fn described(&self) -> &'static str {
        match self {
            Val::Null => "nil",
            Val::Bool(_) => "a boolean",
            Val::Number(_) => "a number",
            Val::String(_) | Val::Bytes(_) => "a string",
            Val::List(_) => "a list",
            Val::Object(_) => "an object",
            Val::Asset(_) => "an asset",
            Val::Archive(_) => "an archive",
            Val::Resource(_) | Val::Reference(_) => "a resource",
            Val::Output(_) => "an output",
            Val::Poison => "an invalid value",
        }
    }

    /// Name of the value's type in Go, for messages that contain it.
    pub fn go_type(&self) -> &'static str {
        match self {
            Val::Null => "<nil>",
            Val::Bool(_) => "bool",
            Val::Number(_) => "float64",
            Val::List(_) => "[]interface {}",
            Val::Object(_) => "map[string]interface {}",
            other => other.kind(),
        }
    }

    /// Kind of the value for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Val::Null => "null",
            Val::Bool(_) => "boolean",
            Val::Number(_) => "number",
            Val::String(_) | Val::Bytes(_) => "string",
            Val::List(_) => "list",
            Val::Object(_) => "object",
            Val::Asset(_) => "asset",
            Val::Archive(_) => "archive",
            Val::Resource(_) | Val::Reference(_) => "resource",
            Val::Output(_) => "output",
            Val::Poison => "invalid value",
        }
    }
}

/// A shared set of resources. Adding to a set with one owner does not copy it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Deps(Option<Arc<BTreeSet<Urn>>>);

impl Deps {
    /// The set of one resource.
    pub fn one(urn: Urn) -> Self {
        Deps(Some(Arc::new(BTreeSet::from([urn]))))
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.0.as_ref().is_none_or(|urns| urns.is_empty())
    }

    /// The resources, sorted.
    pub fn iter(&self) -> impl Iterator<Item = &Urn> {
        self.0.iter().flat_map(|urns| urns.iter())
    }

    /// The resources, sorted.
    pub fn to_vec(&self) -> Vec<Urn> {
        self.iter().cloned().collect()
    }

    /// Adds the resources of `other`.
    pub fn merge(&mut self, other: &Deps) {
        match (&mut self.0, &other.0) {
            (_, None) => {}
            (None, Some(_)) => self.0.clone_from(&other.0),
            (Some(mine), Some(theirs)) => {
                if !Arc::ptr_eq(mine, theirs) && !theirs.is_subset(mine) {
                    Arc::make_mut(mine).extend(theirs.iter().cloned());
                }
            }
        }
    }
}

impl FromIterator<Urn> for Deps {
    fn from_iter<I: IntoIterator<Item = Urn>>(urns: I) -> Self {
        let all: BTreeSet<Urn> = urns.into_iter().collect();
        Deps((!all.is_empty()).then(|| Arc::new(all)))
    }
}
