//! Values while a program is evaluated.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ecow::EcoString;
use plumb_resource::{ResourceId, Urn};
use plumb_value::{Archive, Asset, PropertyMap, ResourceReference};

/// A value, perhaps with outputs inside.
///
/// [`Val::Output`] says where a value comes from; what has no output around it comes from the program itself.
#[derive(Clone, Debug, PartialEq)]
pub enum Val {
    /// Nothing.
    Null,
    /// A truth value.
    Bool(bool),
    /// A number.
    Number(f64),
    /// A text.
    String(EcoString),
    /// Several values.
    List(Arc<Vec<Val>>),
    /// Values by name.
    Object(Arc<BTreeMap<EcoString, Val>>),
    /// An asset.
    Asset(Arc<Asset>),
    /// An archive.
    Archive(Arc<Archive>),
    /// A resource.
    Resource(Arc<ResourceVal>),
    /// A resource that is known by its URN alone.
    Reference(Arc<ResourceReference>),
    /// A value that was, or will be, computed.
    Output(Arc<Output>),
    /// Takes the place of what could not be evaluated: the reason has been told, or belongs to the engine.
    Poison,
}

/// A value that was, or will be, computed.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    /// The value; `None` while unknown.
    pub value: Option<Val>,
    /// Whether it is secret.
    pub secret: bool,
    /// Resources that it was computed from.
    pub deps: Deps,
}

/// A registered or read resource.
#[derive(Debug)]
pub struct ResourceVal {
    /// Its URN.
    pub urn: Urn,
    /// Its id.
    pub id: ResourceId,
    /// Whether a provider manages it, so that it has an id.
    pub custom: bool,
    /// Its type.
    pub type_token: EcoString,
    /// Its name.
    pub name: EcoString,
    /// Its outputs.
    pub outputs: Arc<PropertyMap>,
    /// Whether outputs that are missing are unknown rather than null.
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
    /// For a provider resource, the package that it provides.
    pub fn provided_package(&self) -> Option<&str> {
        self.type_token.strip_prefix("pulumi:providers:")
    }

    /// For a provider resource, the text that requests name it by.
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

    /// An output that is not known yet.
    pub fn unknown(secret: bool, deps: Deps) -> Val {
        Val::Output(Arc::new(Output {
            value: None,
            secret,
            deps,
        }))
    }

    /// The kind of value with its article, as messages about arguments have it.
    pub fn described(&self) -> &'static str {
        match self {
            Val::Null => "nil",
            Val::Bool(_) => "a boolean",
            Val::Number(_) => "a number",
            Val::String(_) => "a string",
            Val::List(_) => "a list",
            Val::Object(_) => "an object",
            Val::Asset(_) => "an asset",
            Val::Archive(_) => "an archive",
            Val::Resource(_) | Val::Reference(_) => "a resource",
            Val::Output(_) => "an output",
            Val::Poison => "an invalid value",
        }
    }

    /// The kind of value in the words of Go, which some messages have.
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

    /// What messages call this kind of value.
    pub fn kind(&self) -> &'static str {
        match self {
            Val::Null => "null",
            Val::Bool(_) => "boolean",
            Val::Number(_) => "number",
            Val::String(_) => "string",
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

/// A set of resources, shared. Growing a set that nobody else holds does not copy it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Deps(Option<Arc<BTreeSet<Urn>>>);

impl Deps {
    /// The set of one resource.
    pub fn one(urn: Urn) -> Self {
        Deps(Some(Arc::new(BTreeSet::from([urn]))))
    }

    /// Whether there are none.
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

    /// Adds `other`.
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
