//! Generation of values.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ecow::EcoString;
use plumb_resource::provider::ProviderError;
use plumb_value::{PropertyMap, Value};
use rand::seq::SliceRandom as _;
use rand::{Rng as _, RngExt as _};

use super::plan::{count, int, text};
use super::seeded::Seeded;
use super::spec::{Resource, Spec};
use super::{pet, text as characters};

/// bcrypt cost, as in the plugin.
const BCRYPT_COST: u32 = 10;
/// Maximum number of bytes that bcrypt hashes.
const BCRYPT_LENGTH: usize = 72;

/// A generated value: its id, and all outputs that are not inputs.
pub(super) struct Generated {
    pub(super) id: EcoString,
    pub(super) outputs: PropertyMap,
}

/// Generates a value for known and checked inputs.
pub(super) fn generate(spec: &Spec, plan: &PropertyMap) -> Result<Generated, ProviderError> {
    let (id, computed) = match spec.kind {
        Resource::Bytes => bytes(&random_bytes(plan, "length")),
        Resource::Id => identifier(
            &random_bytes(plan, "byteLength"),
            &text(plan, "prefix").unwrap_or_default(),
        ),
        Resource::Integer => integer(plan),
        Resource::Password => password(characters::make(plan))?,
        Resource::Pet => (pet_name(plan), PropertyMap::new()),
        Resource::Shuffle => (
            "-".into(),
            PropertyMap::new().with("results", shuffled(plan)),
        ),
        Resource::String => named_result(characters::make(plan)),
        Resource::Uuid => named_result(uuid::Uuid::from_bytes(rand::rng().random()).to_string()),
        Resource::Uuid4 => named_result(uuid::Uuid::new_v4().to_string()),
        Resource::Uuid7 => named_result(uuid::Uuid::now_v7().to_string()),
    };
    Ok(finish(spec, id, computed))
}

/// Adds the outputs that all values of the type have, and marks secrets.
pub(super) fn finish(spec: &Spec, id: EcoString, mut outputs: PropertyMap) -> Generated {
    for output in spec.computed.iter().filter(|output| output.secret) {
        if let Some(value) = outputs.remove(output.name) {
            outputs.insert(output.name, Value::secret(value));
        }
    }
    if spec.id_output {
        outputs.insert("id", id.clone());
    }
    if let Some(meta) = spec.meta {
        outputs.insert("__meta", meta);
    }
    Generated { id, outputs }
}

/// Id and outputs for random bytes.
pub(super) fn bytes(bytes: &[u8]) -> (EcoString, PropertyMap) {
    let base64 = STANDARD.encode(bytes);
    let outputs = PropertyMap::new()
        .with("base64", base64.clone())
        .with("hex", hex::encode(bytes));
    (base64.into(), outputs)
}

/// Id and outputs for an identifier.
pub(super) fn identifier(bytes: &[u8], prefix: &str) -> (EcoString, PropertyMap) {
    let id = URL_SAFE_NO_PAD.encode(bytes);
    let outputs = PropertyMap::new()
        .with("b64Std", format!("{prefix}{}", STANDARD.encode(bytes)))
        .with("b64Url", format!("{prefix}{id}"))
        .with("dec", format!("{prefix}{}", decimal(bytes)))
        .with("hex", format!("{prefix}{}", hex::encode(bytes)));
    (id.into(), outputs)
}

/// Id and outputs for a password.
pub(super) fn password(password: String) -> Result<(EcoString, PropertyMap), ProviderError> {
    let hashed = &password.as_bytes()[..password.len().min(BCRYPT_LENGTH)];
    let hash = bcrypt::hash_with_result(hashed, BCRYPT_COST)
        .map_err(|error| {
            ProviderError::clean(format!("the password could not be hashed: {error}"))
        })?
        .format_for_version(bcrypt::Version::TwoA);
    Ok((
        "none".into(),
        PropertyMap::new()
            .with("bcryptHash", hash)
            .with("result", password),
    ))
}

/// Id and output `result`, which are equal.
pub(super) fn named_result(result: String) -> (EcoString, PropertyMap) {
    let id = EcoString::from(result);
    (id.clone(), PropertyMap::new().with("result", id))
}

fn random_bytes(plan: &PropertyMap, length: &str) -> Vec<u8> {
    let mut bytes = vec![0; count(plan, length)];
    rand::rng().fill_bytes(&mut bytes);
    bytes
}

fn integer(plan: &PropertyMap) -> (EcoString, PropertyMap) {
    let min = int(plan, "min").unwrap_or_default();
    let max = int(plan, "max").unwrap_or_default();
    let number = match text(plan, "seed") {
        Some(seed) => Seeded::new(&seed).between(min, max),
        None => rand::rng().random_range(min..=max),
    };
    (
        number.to_string().into(),
        PropertyMap::new().with("result", number as f64),
    )
}

fn pet_name(plan: &PropertyMap) -> EcoString {
    let separator = text(plan, "separator").unwrap_or_default();
    let words = pet::words(int(plan, "length").unwrap_or_default(), &mut rand::rng());
    let name = words.join(&separator);
    match text(plan, "prefix") {
        Some(prefix) => format!("{prefix}{separator}{name}").into(),
        None => name.into(),
    }
}

/// Shuffled items: concatenated permutations, cut to the requested count. A zero count means all
/// items once.
fn shuffled(plan: &PropertyMap) -> Value {
    let items = plan.get("inputs").map(Value::without_secrets);
    let items = items.as_ref().and_then(Value::as_array).unwrap_or_default();
    let count = match count(plan, "resultCount") {
        0 => items.len(),
        count => count,
    };
    let mut results = Vec::new();
    let mut seeded = text(plan, "seed").map(|seed| Seeded::new(&seed));
    while results.len() < count && !items.is_empty() {
        let order = seeded.as_mut().map_or_else(
            || shuffled_indices(items.len()),
            |seeded| seeded.order(items.len()),
        );
        results.extend(order.into_iter().map(|index| items[index].clone()));
    }
    results.truncate(count);
    Value::from(results)
}

fn shuffled_indices(length: usize) -> Vec<usize> {
    let mut indices: Vec<usize> = (0..length).collect();
    indices.shuffle(&mut rand::rng());
    indices
}

/// Decimal text of the bytes as one number.
fn decimal(bytes: &[u8]) -> String {
    const BASE: u64 = 1_000_000_000;
    let mut limbs: Vec<u64> = vec![0];
    for byte in bytes {
        let mut carry = u64::from(*byte);
        for limb in &mut limbs {
            let value = *limb * 256 + carry;
            *limb = value % BASE;
            carry = value / BASE;
        }
        if carry > 0 {
            limbs.push(carry);
        }
    }
    let (first, rest) = limbs.split_last().expect("there is always one limb");
    let mut digits = first.to_string();
    for limb in rest.iter().rev() {
        write!(digits, "{limb:09}").expect("writing to a string cannot fail");
    }
    digits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn big_numbers_are_written_in_decimal() {
        assert_eq!(decimal(&[]), "0");
        assert_eq!(decimal(&[0, 0]), "0");
        assert_eq!(
            decimal(&[0x65, 0xf7, 0xf6, 0x35, 0x2c, 0xdc, 0x8f, 0xbb]),
            "7347612025324605371"
        );
        assert_eq!(decimal(&[0xff; 16]), u128::MAX.to_string());
    }
}
