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
pub(crate) enum Val {
    Null,
    Bool(bool),
    Number(f64),
    String(EcoString),
    List(Arc<Vec<Val>>),
    Object(Arc<BTreeMap<EcoString, Val>>),
    Asset(Arc<Asset>),
    Archive(Arc<Archive>),
    Resource(Arc<ResourceVal>),
    /// A resource that is known by its URN alone.
    Reference(Arc<ResourceReference>),
    Output(Arc<Output>),
    /// Takes the place of what could not be evaluated: the reason has been told, or belongs to the engine.
    Poison,
}

/// A value that was, or will be, computed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Output {
    /// The value; `None` while unknown.
    pub(crate) value: Option<Val>,
    /// Whether it is secret.
    pub(crate) secret: bool,
    /// Resources that it was computed from.
    pub(crate) deps: Deps,
}

/// A registered or read resource.
#[derive(Debug)]
pub(crate) struct ResourceVal {
    pub(crate) urn: Urn,
    pub(crate) id: ResourceId,
    /// Whether a provider manages it, so that it has an id.
    pub(crate) custom: bool,
    pub(crate) type_token: EcoString,
    pub(crate) name: EcoString,
    pub(crate) outputs: Arc<PropertyMap>,
    /// Whether outputs that are missing are unknown rather than null.
    pub(crate) partial: bool,
    /// Providers for children, by package.
    pub(crate) providers: Providers,
}

/// Provider references by package.
pub(crate) type Providers = Arc<BTreeMap<EcoString, EcoString>>;

impl PartialEq for ResourceVal {
    fn eq(&self, other: &Self) -> bool {
        self.urn == other.urn
    }
}

impl ResourceVal {
    /// For a provider resource, the package that it provides.
    pub(crate) fn provided_package(&self) -> Option<&str> {
        self.type_token.strip_prefix("pulumi:providers:")
    }

    /// For a provider resource, the text that requests name it by.
    pub(crate) fn provider_ref(&self) -> EcoString {
        let id = match &self.id {
            ResourceId::Known(id) => id.as_str(),
            ResourceId::None | ResourceId::Unknown => plumb_resource::UNKNOWN_SENTINEL,
        };
        format!("{}::{id}", self.urn).into()
    }
}

impl Val {
    pub(crate) fn list(items: Vec<Val>) -> Val {
        Val::List(Arc::new(items))
    }

    pub(crate) fn unknown(secret: bool, deps: Deps) -> Val {
        Val::Output(Arc::new(Output {
            value: None,
            secret,
            deps,
        }))
    }

    /// What messages call this kind of value.
    pub(crate) fn kind(&self) -> &'static str {
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
pub(crate) struct Deps(Option<Arc<BTreeSet<Urn>>>);

impl Deps {
    pub(crate) fn one(urn: Urn) -> Self {
        Deps(Some(Arc::new(BTreeSet::from([urn]))))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.as_ref().is_none_or(|urns| urns.is_empty())
    }

    /// The resources, sorted.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Urn> {
        self.0.iter().flat_map(|urns| urns.iter())
    }

    /// The resources, sorted.
    pub(crate) fn to_vec(&self) -> Vec<Urn> {
        self.iter().cloned().collect()
    }

    pub(crate) fn merge(&mut self, other: &Deps) {
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
