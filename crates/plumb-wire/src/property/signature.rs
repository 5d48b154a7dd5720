//! Signatures of special values (`protocol.md` 2.2 and 2.3).

use plumb_value::UnknownKind;

/// Key of the signature, which distinguishes a special value from a plain object.
pub const KEY: &str = "4dabf18193072939515e22adb298388d";
/// Signature of a secret.
pub const SECRET: &str = "1b47061264138c4ac30d75fd1eb44270";
/// Signature of an output.
pub const OUTPUT: &str = "d0e6a833031e9bbcd3f4e8bde6ca49a4";
/// Signature of a resource reference.
pub const RESOURCE: &str = "5cf8f73096256a8f31e491e813e4eb8e";
/// Signature of an asset.
pub const ASSET: &str = "c44067f5952c0a294b673a41bacd8c17";
/// Signature of an archive.
pub const ARCHIVE: &str = "0def7320c3a5731c473e5ecbe6d01bc7";
/// Signature of a string that is not valid UTF-8.
pub const BYTE_STRING: &str = "803fd3297a5875dc03ca845dda5d2a98";

/// Sentinel text for an unknown value of this kind.
pub const fn sentinel(kind: UnknownKind) -> &'static str {
    match kind {
        UnknownKind::String => "04da6b54-80e4-46f7-96ec-b56ff0331ba9",
        UnknownKind::Bool => "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7",
        UnknownKind::Number => "3eeb2bf0-c639-47a8-9e75-3b44932eb421",
        UnknownKind::Array => "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2",
        UnknownKind::Asset => "030794c1-ac77-496b-92df-f27374a8bd58",
        UnknownKind::Archive => "e48ece36-62e2-4504-bad9-02848725956a",
        UnknownKind::Object => "dd056dcd-154b-4c76-9bd3-c8f88648b5ff",
    }
}

/// Kind of unknown of a sentinel text; `None` for other texts.
pub fn unknown_kind(text: &str) -> Option<UnknownKind> {
    const KINDS: [UnknownKind; 7] = [
        UnknownKind::String,
        UnknownKind::Bool,
        UnknownKind::Number,
        UnknownKind::Array,
        UnknownKind::Asset,
        UnknownKind::Archive,
        UnknownKind::Object,
    ];
    if text.len() != sentinel(UnknownKind::String).len() {
        return None;
    }
    KINDS.into_iter().find(|kind| sentinel(*kind) == text)
}
