//! JSON objects whose member names are matched without regard to case.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, Visitor};

/// A string that borrows from the file if possible.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Text<'de>(pub(crate) Cow<'de, str>);

impl std::ops::Deref for Text<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl<'de> Deserialize<'de> for Text<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;
        impl<'de> Visitor<'de> for TextVisitor {
            type Value = Text<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Borrowed(text)))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(TextVisitor)
    }
}

/// Name in `names` for a member called `key`: an exact match, otherwise one that ignores case.
pub(crate) fn canonical(key: &str, names: &'static [&'static str]) -> Option<&'static str> {
    let exact = names.iter().find(|name| **name == key);
    exact
        .or_else(|| names.iter().find(|name| name.eq_ignore_ascii_case(key)))
        .copied()
}

/// Declares a struct for a JSON object. Members may be missing, null, or spelled in another case; undeclared members
/// are kept as text.
macro_rules! wire_object {
    ($(#[$meta:meta])* $name:ident { $($field:ident: $type:ty = $json:literal,)* }) => {
        $(#[$meta])*
        #[derive(Default)]
        pub(crate) struct $name<'de> {
            $(pub(crate) $field: $type,)*
            pub(crate) unknown: Vec<($crate::file::Text<'de>, &'de serde_json::value::RawValue)>,
        }

        impl<'de> serde::Deserialize<'de> for $name<'de> {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct ObjectVisitor;
                impl<'de> serde::de::Visitor<'de> for ObjectVisitor {
                    type Value = $name<'de>;

                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str("an object")
                    }

                    fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<$name<'de>, A::Error> {
                        const NAMES: &[&str] = &[$($json),*];
                        let mut object = $name::default();
                        while let Some(key) = map.next_key::<$crate::file::Text<'de>>()? {
                            match $crate::file::canonical(&key, NAMES) {
                                $(Some($json) => {
                                    if let Some(value) = map.next_value::<Option<$type>>()? {
                                        object.$field = value;
                                    }
                                })*
                                _ => object.unknown.push((key, map.next_value()?)),
                            }
                        }
                        Ok(object)
                    }
                }
                deserializer.deserialize_map(ObjectVisitor)
            }
        }
    };
}
pub(crate) use wire_object;
