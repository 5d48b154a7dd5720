//! Values on the wire.

mod decode;
mod encode;

pub(crate) use decode::Decoder;
pub(crate) use encode::Encoder;

/// Keys and markers of the wire format.
mod signature {
    pub(super) const KEY: &str = "4dabf18193072939515e22adb298388d";
    pub(super) const ASSET: &str = "c44067f5952c0a294b673a41bacd8c17";
    pub(super) const ARCHIVE: &str = "0def7320c3a5731c473e5ecbe6d01bc7";
    pub(super) const SECRET: &str = "1b47061264138c4ac30d75fd1eb44270";
    pub(super) const RESOURCE: &str = "5cf8f73096256a8f31e491e813e4eb8e";
    pub(super) const OUTPUT: &str = "d0e6a833031e9bbcd3f4e8bde6ca49a4";
}

/// The text that stands for an unknown value.
pub(crate) const UNKNOWN: &str = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

use prost_types::value::Kind;
use prost_types::{Struct, Value as Wire};

pub(crate) fn text(text: impl Into<String>) -> Wire {
    kind(Kind::StringValue(text.into()))
}

pub(crate) fn kind(kind: Kind) -> Wire {
    Wire { kind: Some(kind) }
}

fn special<const N: usize>(signature: &str, fields: [(&str, Wire); N]) -> Wire {
    let mut members = Struct::default();
    members
        .fields
        .insert(signature::KEY.to_owned(), text(signature));
    for (name, value) in fields {
        members.fields.insert(name.to_owned(), value);
    }
    kind(Kind::StructValue(members))
}

/// The secret form of a value.
fn secret(value: Wire) -> Wire {
    special(signature::SECRET, [("value", value)])
}
