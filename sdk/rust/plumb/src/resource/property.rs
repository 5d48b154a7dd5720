//! Names of properties that the compiler checks.

use std::fmt;
use std::marker::PhantomData;

use crate::output::Field;

/// A property of the resource type `R`, for options and tests. Generated packages have a constant for each.
///
/// ```
/// use plumb::prelude::*;
/// use plumb::{Handle, Property};
///
/// #[derive(Clone, Debug)]
/// pub struct Bucket(Handle);
/// plumb::resource!(Bucket, "aws:s3/bucket:Bucket");
///
/// impl Bucket {
///     pub const TAGS: Property<Bucket> = Property::new("tags");
/// }
///
/// let options = opts::<kind::Custom>().ignore_changes([Bucket::TAGS.key("owner")]);
/// ```
pub struct Property<R> {
    name: &'static str,
    of: PhantomData<fn(R)>,
}

impl<R> Property<R> {
    /// The property called `name` on the wire.
    pub const fn new(name: &'static str) -> Self {
        Property {
            name,
            of: PhantomData,
        }
    }

    /// The member called `key`.
    pub fn key(self, key: &str) -> PropertyPath {
        PropertyPath::from(self).key(key)
    }

    /// The item at `index`.
    pub fn at(self, index: usize) -> PropertyPath {
        PropertyPath::from(self).at(index)
    }

    /// The field of an object.
    pub fn field<T, U>(self, field: Field<T, U>) -> PropertyPath {
        PropertyPath::from(self).field(field)
    }
}

impl<R> Clone for Property<R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R> Copy for Property<R> {}

impl<R> fmt::Debug for Property<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl<R> AsRef<str> for Property<R> {
    fn as_ref(&self) -> &str {
        self.name
    }
}

impl<R> From<Property<R>> for String {
    fn from(property: Property<R>) -> Self {
        property.name.to_owned()
    }
}

/// The path of a property, or of a part of one, as in `tags["team.name"]` and `rules[0].port`.
///
/// ```
/// use plumb::{Handle, Property};
/// const RULES: Property<Handle> = Property::new("rules");
/// assert_eq!(RULES.at(0).key("port").to_string(), "rules[0].port");
/// assert_eq!(RULES.key("a.b").to_string(), r#"rules["a.b"]"#);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PropertyPath(String);

impl PropertyPath {
    /// The member called `key`.
    #[must_use]
    pub fn key(self, key: &str) -> Self {
        let is_plain = |letter: char| !matches!(letter, '.' | '[' | ']' | '"' | '\\');
        if !key.is_empty() && key.chars().all(is_plain) {
            return PropertyPath(format!("{}.{key}", self.0));
        }
        let quoted = key.replace('\\', "\\\\").replace('"', "\\\"");
        PropertyPath(format!("{}[\"{quoted}\"]", self.0))
    }

    /// The item at `index`.
    #[must_use]
    pub fn at(self, index: usize) -> Self {
        PropertyPath(format!("{}[{index}]", self.0))
    }

    /// The field of an object.
    #[must_use]
    pub fn field<T, U>(self, field: Field<T, U>) -> Self {
        self.key(field.name())
    }
}

impl fmt::Display for PropertyPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<R> From<Property<R>> for PropertyPath {
    fn from(property: Property<R>) -> Self {
        PropertyPath(property.name.to_owned())
    }
}

impl From<PropertyPath> for String {
    fn from(path: PropertyPath) -> Self {
        path.0
    }
}
