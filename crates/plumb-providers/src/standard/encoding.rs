//! Digests and other forms of texts and bytes.

use std::fmt::Write as _;
use std::io::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use md5::Md5;
use sha1::Sha1;
use sha2::{Digest, Sha256, Sha512};

use super::args::{Answer, Args};

/// Function from bytes to text: a digest, or base 64.
pub(super) type Encoding = fn(&[u8]) -> String;

pub(super) fn base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

pub(super) fn md5(bytes: &[u8]) -> String {
    hex::encode(Md5::digest(bytes))
}

pub(super) fn sha1(bytes: &[u8]) -> String {
    hex::encode(Sha1::digest(bytes))
}

pub(super) fn sha256(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

pub(super) fn sha512(bytes: &[u8]) -> String {
    hex::encode(Sha512::digest(bytes))
}

pub(super) fn base64sha256(bytes: &[u8]) -> String {
    base64(&Sha256::digest(bytes))
}

pub(super) fn base64sha512(bytes: &[u8]) -> String {
    base64(&Sha512::digest(bytes))
}

/// A function of the bytes of a text.
pub(super) fn of_text(args: &Args<'_>, encoding: Encoding) -> Answer {
    Ok(encoding(args.text("input")?.as_bytes()).into())
}

pub(super) fn base64decode(args: &Args<'_>) -> Answer {
    let wrong = |_| "the text is not in base 64".to_owned();
    let bytes = STANDARD.decode(args.text("input")?).map_err(wrong)?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok(text.into()),
        Err(_) => Err("what the text stands for is not UTF-8".to_owned()),
    }
}

pub(super) fn base64gzip(args: &Args<'_>) -> Answer {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    let bytes = encoder
        .write_all(args.text("input")?.as_bytes())
        .and_then(|()| encoder.finish());
    Ok(STANDARD
        .encode(bytes.map_err(|error| error.to_string())?)
        .into())
}

pub(super) fn bcrypt(args: &Args<'_>) -> Answer {
    let cost = args.optional_integer("cost")?.unwrap_or(10);
    let cost = u32::try_from(cost).map_err(|_| "the cost must not be negative")?;
    match bcrypt::hash(args.text("input")?, cost) {
        Ok(hash) => Ok(hash.into()),
        Err(error) => Err(format!("error occurred generating password {error}")),
    }
}

/// A text as part of a query in an address.
pub(super) fn urlencode(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                out.push(char::from(byte));
            }
            b' ' => out.push('+'),
            byte => {
                // Writing to a string cannot fail.
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
    out
}
