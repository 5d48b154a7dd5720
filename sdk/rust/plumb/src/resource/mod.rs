//! Resources: what a program is made of.
//!
//! | Module | Content |
//! |---|---|
//! | [`handle`] | the handle that every typed resource wraps |
//! | [`register`] | from a constructor to the engine and back |
//! | [`options`] | resource options |
//! | [`property`] | names of properties that the compiler checks |
//! | [`aliases`] | former identities of a resource |
//! | [`providers`] | which provider a resource gets |
//! | [`dependencies`] | what a resource waits for, as the engine wants it |

mod aliases;
mod any;
mod dependencies;
mod handle;
mod options;
mod property;
mod providers;
mod register;
mod resolutions;

pub use aliases::Alias;
pub use any::{AnyProvider, AnyResource};
pub use handle::Handle;
pub use options::{ComponentLike, CustomLike, Options, ResourceLike, Timeouts, kind, opts};
pub use property::{Property, PropertyPath};

pub(crate) use dependencies::Dependencies;
pub(crate) use handle::{Kind, ProviderId, State};
pub(crate) use options::{Binding, OptionData};
pub(crate) use providers::package_of;
pub(crate) use register::{Registration, Way, monitor_error};
pub(crate) use resolutions::Resolutions;

use crate::output::Output;
use crate::value::{FromValue, IntoValue, Mismatch, Value};

/// A resource of any type.
///
/// Typed resources are cheap to clone; dropping one changes nothing.
///
/// ```
/// use plumb::prelude::*;
///
/// fn urns(resources: &[impl plumb::Resource]) -> Output<Vec<String>> {
///     let urns: Vec<_> = resources.iter().map(|it| it.urn()).collect();
///     Output::join_all(&urns)
/// }
/// ```
pub trait Resource: Clone + Send + Sync + 'static {
    /// The handle inside.
    fn handle(&self) -> &Handle;

    /// The typed resource for a handle, as when an output refers to a resource.
    fn from_handle(handle: Handle) -> Self;

    /// The URN, which identifies the resource in the stack.
    fn urn(&self) -> Output<String> {
        self.handle().urn()
    }

    /// This resource as an output: for outputs of components, and for inputs that take a resource.
    fn to_output(&self) -> Output<Self>
    where
        Self: FromValue,
    {
        Output::from_value(Value::Resource(self.handle().clone())).typed()
    }
}

impl Resource for Handle {
    fn handle(&self) -> &Handle {
        self
    }

    fn from_handle(handle: Handle) -> Self {
        handle
    }
}

impl FromValue for Handle {
    fn from_value(value: Value) -> Result<Self, Mismatch> {
        match value {
            Value::Resource(handle) => Ok(handle),
            other => Err(Mismatch::new("a resource", &other)),
        }
    }
}

impl IntoValue for Handle {
    fn into_value(self) -> Value {
        Value::Resource(self)
    }
}

impl IntoValue for &Handle {
    fn into_value(self) -> Value {
        Value::Resource(self.clone())
    }
}

/// A resource of one type of a package.
///
/// ```
/// use plumb::{Ctx, Handle, TypedResource};
///
/// #[derive(Clone, Debug)]
/// pub struct Bucket(Handle);
/// plumb::resource!(Bucket, "aws:s3/bucket:Bucket");
///
/// fn tag_buckets(ctx: &Ctx) {
///     ctx.stack_transform(|mut resource| async move {
///         if resource.is::<Bucket>() {
///             resource.set("tags", plumb::value!({ "owner": "infra" }));
///         }
///         Ok(resource)
///     });
/// }
/// ```
pub trait TypedResource: Resource {
    /// The token of the type.
    const TOKEN: &'static str;
}

/// Makes a type a resource: a tuple struct around a [`Handle`].
///
/// Generated packages use it; a program can use it to give a type to a resource of a package that it has no generated code
/// for.
///
/// ```
/// use plumb::{Ctx, Handle, Output, Resource as _};
///
/// /// Random text.
/// #[derive(Clone, Debug)]
/// pub struct RandomString(Handle);
/// plumb::resource!(RandomString, "random:index/randomString:RandomString");
///
/// impl RandomString {
///     pub fn result(&self) -> Output<String> {
///         self.handle().output("result")
///     }
/// }
/// ```
///
/// The token may be left out: then the type is no [`TypedResource`].
#[macro_export]
macro_rules! resource {
    ($type:ident, $token:expr) => {
        $crate::resource!($type);

        impl $crate::TypedResource for $type {
            const TOKEN: &'static str = $token;
        }
    };
    ($type:ident) => {
        impl $crate::Resource for $type {
            fn handle(&self) -> &$crate::Handle {
                &self.0
            }

            fn from_handle(handle: $crate::Handle) -> Self {
                $type(handle)
            }
        }

        impl $crate::FromValue for $type {
            fn from_value(value: $crate::Value) -> ::std::result::Result<Self, $crate::Mismatch> {
                <$crate::Handle as $crate::FromValue>::from_value(value).map($type)
            }
        }

        impl $crate::IntoValue for $type {
            fn into_value(self) -> $crate::Value {
                $crate::Value::Resource(self.0)
            }
        }

        impl $crate::IntoValue for &$type {
            fn into_value(self) -> $crate::Value {
                $crate::Value::Resource(self.0.clone())
            }
        }

        impl ::std::convert::From<&$type> for $crate::Input<$type> {
            fn from(resource: &$type) -> Self {
                $crate::Input::from_value($crate::IntoValue::into_value(resource))
            }
        }
    };
}
