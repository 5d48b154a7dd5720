//! Encrypted objects.
//!
//! A **state file** stays a JSON document that other programs read far enough to refuse it:
//!
//! ```json
//! {"version":4,"features":["encrypted-by-plumb"],"checkpoint":{},"plumb":{"provider":…,"key":…,"time":…,"resources":3,"content":"…"}}
//! ```
//!
//! Its content is compressed with zstd, encrypted, and encoded in base64. Time of the last update and number of
//! resources are readable, so that stacks can be listed without a key. **Any other object** is a line that identifies
//! the format, a line with the head, and the encrypted content.
//!
//! Everything before the content is authenticated with it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use plumb_secrets::StateKey;
use serde::{Deserialize, Serialize};

use super::{KeyRecord, StackKey};
use crate::summary::Outline;

/// Name of the feature that other programs report as unsupported.
pub(super) const FEATURE: &str = "encrypted-by-plumb";
const DOCUMENT: &[u8] =
    br#"{"version":4,"features":["encrypted-by-plumb"],"checkpoint":{},"plumb":"#;
/// Member of the document that only encrypted states have.
const MEMBER: &[u8] = br#""plumb":"#;
const CONTENT: &[u8] = br#","content":""#;
const DOCUMENT_END: &[u8] = b"\"}}\n";
const OBJECT: &[u8] = b"PLUMB-ENCRYPTED 1\n";

/// Length of the beginning of an object that identifies its form.
pub(super) const RECOGNIZED: usize = DOCUMENT.len();

/// Readable part of an encrypted object.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Head {
    #[serde(flatten)]
    pub(super) record: KeyRecord,
    /// Outline of a state file.
    #[serde(flatten)]
    pub(super) outline: Outline,
}

/// Form of the content of an encrypted object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Document,
    Object,
}

/// An encrypted object, parsed but not decrypted.
#[derive(Debug)]
pub(super) struct Envelope<'b> {
    pub(super) head: Head,
    form: Form,
    /// Everything before the content.
    associated: &'b [u8],
    content: &'b [u8],
}

/// Reason why an encrypted object cannot be read, although its key is known.
#[derive(Debug, thiserror::Error)]
pub(super) enum EnvelopeError {
    #[error("it is malformed")]
    Malformed,
    #[error("it was changed or damaged, or encrypted with another key")]
    Decrypt(#[source] plumb_secrets::CipherError),
    #[error("its content cannot be decompressed")]
    Decompress(#[source] std::io::Error),
}

/// Whether an object with these first bytes is encrypted. True also for a document that was damaged there, because it
/// could otherwise be read as an empty state.
pub(super) fn is_encrypted(start: &[u8]) -> bool {
    let start = &start[..start.len().min(DOCUMENT.len())];
    let has = |part: &[u8]| start.windows(part.len()).any(|window| window == part);
    start.starts_with(OBJECT) || has(FEATURE.as_bytes()) || has(MEMBER)
}

impl<'b> Envelope<'b> {
    /// Parses an object for which [`is_encrypted`] is true.
    pub(super) fn parse(bytes: &'b [u8]) -> Result<Self, EnvelopeError> {
        let malformed = || EnvelopeError::Malformed;
        if let Some(rest) = bytes.strip_prefix(OBJECT) {
            let end = rest.iter().position(|byte| *byte == b'\n');
            let (head, content) = rest.split_at(end.ok_or_else(malformed)? + 1);
            return Ok(Envelope {
                head: serde_json::from_slice(head).map_err(|_| malformed())?,
                form: Form::Object,
                associated: &bytes[..bytes.len() - content.len()],
                content,
            });
        }
        let rest = bytes.strip_prefix(DOCUMENT).ok_or_else(malformed)?;
        let found = rest
            .windows(CONTENT.len())
            .position(|window| window == CONTENT);
        let at = found.ok_or_else(malformed)?;
        let head = [&rest[..at], b"}"].concat();
        let associated = DOCUMENT.len() + at + CONTENT.len();
        let content = bytes[associated..].strip_suffix(DOCUMENT_END);
        Ok(Envelope {
            head: serde_json::from_slice(&head).map_err(|_| malformed())?,
            form: Form::Document,
            associated: &bytes[..associated],
            content: content.ok_or_else(malformed)?,
        })
    }

    /// Decrypts the content.
    pub(super) fn decrypt(&self, key: &StateKey) -> Result<Vec<u8>, EnvelopeError> {
        let decrypt = |content: &[u8]| {
            key.decrypt(self.associated, content)
                .map_err(EnvelopeError::Decrypt)
        };
        match self.form {
            Form::Object => decrypt(self.content),
            Form::Document => {
                let content = STANDARD.decode(self.content);
                let packed = decrypt(&content.map_err(|_| EnvelopeError::Malformed)?)?;
                zstd::decode_all(packed.as_slice()).map_err(EnvelopeError::Decompress)
            }
        }
    }
}

fn head_text(key: &StackKey, outline: Outline) -> Vec<u8> {
    let head = Head {
        record: key.record.clone(),
        outline,
    };
    serde_json::to_vec(&head).expect("strings and JSON values always have a JSON form")
}

/// Encrypts the content of a state file.
pub(super) fn document(
    key: &StackKey,
    content: &[u8],
    outline: Outline,
) -> std::io::Result<Vec<u8>> {
    let mut document = DOCUMENT.to_vec();
    let head = head_text(key, outline);
    document.extend(&head[..head.len() - 1]);
    document.extend(CONTENT);
    let packed = zstd::encode_all(content, 0)?;
    let encrypted = encrypt(key, &document, &packed)?;
    let mut text = String::with_capacity(encrypted.len().div_ceil(3) * 4);
    STANDARD.encode_string(encrypted, &mut text);
    document.extend(text.as_bytes());
    document.extend(DOCUMENT_END);
    Ok(document)
}

/// Encrypts the content of any other object.
pub(super) fn object(key: &StackKey, content: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut object = OBJECT.to_vec();
    object.extend(head_text(key, Outline::default()));
    object.push(b'\n');
    let encrypted = encrypt(key, &object, content)?;
    object.extend(encrypted);
    Ok(object)
}

fn encrypt(key: &StackKey, associated: &[u8], content: &[u8]) -> std::io::Result<Vec<u8>> {
    key.key
        .encrypt(associated, content)
        .map_err(std::io::Error::other)
}
