//! The schema of a provider: what its types say about themselves.
//!
//! | Rust | Schema |
//! |---|---|
//! | `bool`, integers, floats, `String` | boolean, integer, number, string |
//! | `Option<T>` | a property that need not be there |
//! | `Vec<T>`, `BTreeMap<String, T>` | array, object of any names |
//! | [`Value`] | anything |
//! | `AssetOrArchive`, `Archive` | an asset or an archive, an archive |
//! | a struct with [`Properties`](plumb_macros::Properties) | an object type of the package |
//! | an enum with [`EnumType`](plumb_macros::EnumType) | an enum of the package |
//! | `Input<T>`, `Output<T>` of components | `T`; what is no `Input` is plain |

mod defaults;
mod package;
mod types;
mod validate;

use std::collections::{BTreeMap, HashMap};

use plumb::{Archive, Asset, AssetOrArchive, Input, Output, Value};

pub use types::{Definition, EnumValue, Property, Type, Types};

pub(crate) use defaults::{Environment, add_defaults, parse_texts};
pub(crate) use package::{Package, Spec, SpecKind};
pub(crate) use validate::{Failure, validate};

/// A type that values of properties have.
pub trait Described {
    /// Whether a property of this type has to be there.
    const IS_REQUIRED: bool = true;
    /// Whether a property of this type takes values that are there later.
    const TAKES_OUTPUTS: bool = false;

    /// The type, after its parts are among `types`.
    fn describe(types: &mut Types) -> Type;
}

/// A struct whose fields are properties: the derive macro [`Properties`](plumb_macros::Properties) implements it.
pub trait Properties {
    /// Name of the struct.
    const NAME: &'static str;
    /// Documentation of the struct.
    const DESCRIPTION: &'static str;

    /// The properties, after the types of their values are among `types`.
    fn properties(types: &mut Types) -> Vec<Property>;
}

impl Properties for () {
    const NAME: &'static str = "Nothing";
    const DESCRIPTION: &'static str = "";

    fn properties(_: &mut Types) -> Vec<Property> {
        Vec::new()
    }
}

macro_rules! simple {
    ($($variant:ident: $($type:ty),+;)+) => {$($(
        impl Described for $type {
            fn describe(_: &mut Types) -> Type {
                Type::$variant
            }
        }
    )+)+};
}

simple! {
    Boolean: bool;
    Integer: i8, i16, i32, i64, u8, u16, u32, u64, usize;
    Number: f32, f64;
    String: String;
    Any: Value;
    AssetOrArchive: Asset, AssetOrArchive;
    Archive: Archive;
}

impl<T: Described> Described for Option<T> {
    const IS_REQUIRED: bool = false;
    const TAKES_OUTPUTS: bool = T::TAKES_OUTPUTS;

    fn describe(types: &mut Types) -> Type {
        T::describe(types)
    }
}

impl<T: Described> Described for Vec<T> {
    const TAKES_OUTPUTS: bool = T::TAKES_OUTPUTS;

    fn describe(types: &mut Types) -> Type {
        Type::List(Box::new(T::describe(types)))
    }
}

impl<T: Described> Described for BTreeMap<String, T> {
    const TAKES_OUTPUTS: bool = T::TAKES_OUTPUTS;

    fn describe(types: &mut Types) -> Type {
        Type::Map(Box::new(T::describe(types)))
    }
}

impl<T: Described, S> Described for HashMap<String, T, S> {
    const TAKES_OUTPUTS: bool = T::TAKES_OUTPUTS;

    fn describe(types: &mut Types) -> Type {
        Type::Map(Box::new(T::describe(types)))
    }
}

impl<T: Described> Described for Box<T> {
    const IS_REQUIRED: bool = T::IS_REQUIRED;
    const TAKES_OUTPUTS: bool = T::TAKES_OUTPUTS;

    fn describe(types: &mut Types) -> Type {
        T::describe(types)
    }
}

impl<T: Described> Described for Input<T> {
    const IS_REQUIRED: bool = T::IS_REQUIRED;
    const TAKES_OUTPUTS: bool = true;

    fn describe(types: &mut Types) -> Type {
        T::describe(types)
    }
}

impl<T: Described> Described for Output<T> {
    const IS_REQUIRED: bool = T::IS_REQUIRED;
    const TAKES_OUTPUTS: bool = true;

    fn describe(types: &mut Types) -> Type {
        T::describe(types)
    }
}
