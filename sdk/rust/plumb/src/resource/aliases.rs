//! Former identities of a resource.

use super::{Handle, Resource};
use crate::Error;
use crate::protocol as pb;

/// A former identity: a resource that was renamed or moved keeps its state.
///
/// Parts that are not given are those of the resource as it is now.
///
/// ```
/// use plumb::{Alias, opts, kind::Custom};
/// let options = opts::<Custom>().aliases([Alias::name("old-name"), Alias::new().no_parent()]);
/// ```
#[derive(Clone, Debug)]
pub struct Alias(Inner);

#[derive(Clone, Debug)]
enum Inner {
    Urn(String),
    Spec {
        spec: pb::alias::Spec,
        parent: Option<Handle>,
    },
}

impl Alias {
    /// An identity like that of the resource; change parts of it with the other functions.
    #[allow(
        clippy::new_without_default,
        reason = "an alias without a part says nothing"
    )]
    pub fn new() -> Self {
        Alias(Inner::Spec {
            spec: pb::alias::Spec::default(),
            parent: None,
        })
    }

    /// The resource under another name.
    pub fn name(name: impl Into<String>) -> Self {
        Alias::new().change(|spec| spec.name = name.into())
    }

    /// A complete URN.
    pub fn urn(urn: impl Into<String>) -> Self {
        Alias(Inner::Urn(urn.into()))
    }

    /// The resource had another type.
    #[must_use]
    pub fn token(self, token: impl Into<String>) -> Self {
        self.change(|spec| spec.r#type = token.into())
    }

    /// The resource was in another project.
    #[must_use]
    pub fn project(self, project: impl Into<String>) -> Self {
        self.change(|spec| spec.project = project.into())
    }

    /// The resource was in another stack.
    #[must_use]
    pub fn stack(self, stack: impl Into<String>) -> Self {
        self.change(|spec| spec.stack = stack.into())
    }

    /// The resource had another parent.
    #[must_use]
    pub fn parent(mut self, resource: &impl Resource) -> Self {
        if let Inner::Spec { parent, .. } = &mut self.0 {
            *parent = Some(resource.handle().clone());
        }
        self
    }

    /// The resource had the parent with this URN.
    #[must_use]
    pub fn parent_urn(self, urn: impl Into<String>) -> Self {
        self.change(|spec| spec.parent = Some(pb::alias::spec::Parent::ParentUrn(urn.into())))
    }

    /// The resource had no parent.
    #[must_use]
    pub fn no_parent(self) -> Self {
        self.change(|spec| spec.parent = Some(pb::alias::spec::Parent::NoParent(true)))
    }

    fn change(mut self, change: impl FnOnce(&mut pb::alias::Spec)) -> Self {
        if let Inner::Spec { spec, .. } = &mut self.0 {
            change(spec);
        }
        self
    }

    pub(crate) async fn encode(&self) -> Result<pb::Alias, Error> {
        let alias = match &self.0 {
            Inner::Urn(urn) => pb::alias::Alias::Urn(urn.clone()),
            Inner::Spec { spec, parent } => {
                let mut spec = spec.clone();
                if let Some(parent) = parent {
                    let urn = parent.registered_urn().await?;
                    spec.parent = Some(pb::alias::spec::Parent::ParentUrn(urn));
                }
                pb::alias::Alias::Spec(spec)
            }
        };
        Ok(pb::Alias { alias: Some(alias) })
    }
}

impl From<&str> for Alias {
    /// A URN, or else a name.
    fn from(text: &str) -> Self {
        if text.starts_with("urn:") {
            Alias::urn(text)
        } else {
            Alias::name(text)
        }
    }
}
