//! Functions of Rego that the interpreter lacks: those that are older than version 1 of the language, and one for networks.

use std::collections::BTreeSet;
use std::net::IpAddr;

use regorus::{Engine, Value};

/// Result of a function: [`Value::Undefined`] where the arguments do not fit, as in all functions of the language.
type Function = fn(&[Value]) -> Value;

const FUNCTIONS: [(&str, u8, Function); 11] = [
    ("all", 1, |it| all(&it[0])),
    ("any", 1, |it| any(&it[0])),
    ("cast_array", 1, |it| cast_array(&it[0])),
    ("cast_boolean", 1, |it| {
        only(&it[0], matches!(it[0], Value::Bool(_)))
    }),
    ("cast_null", 1, |it| {
        only(&it[0], matches!(it[0], Value::Null))
    }),
    ("cast_object", 1, |it| {
        only(&it[0], matches!(it[0], Value::Object(_)))
    }),
    ("cast_set", 1, |it| cast_set(&it[0])),
    ("cast_string", 1, |it| {
        only(&it[0], matches!(it[0], Value::String(_)))
    }),
    ("net.cidr_intersects", 2, |it| intersects(&it[0], &it[1])),
    ("re_match", 2, |it| re_match(&it[0], &it[1])),
    ("set_diff", 2, |it| set_diff(&it[0], &it[1])),
];

/// Adds the functions.
pub(super) fn add(engine: &mut Engine) {
    for (name, arguments, function) in FUNCTIONS {
        let extension = Box::new(move |values: Vec<Value>| Ok(function(&values)));
        // Fails only for a name that is there already.
        let _ = engine.add_extension(name.to_owned(), arguments, extension);
    }
}

fn elements(value: &Value) -> Option<Vec<&Value>> {
    match value {
        Value::Array(items) => Some(items.iter().collect()),
        Value::Set(items) => Some(items.iter().collect()),
        _ => None,
    }
}

fn only(value: &Value, fits: bool) -> Value {
    if fits {
        value.clone()
    } else {
        Value::Undefined
    }
}

fn all(value: &Value) -> Value {
    let all =
        |items: Vec<&Value>| Value::from(items.into_iter().all(|it| *it == Value::from(true)));
    elements(value).map_or(Value::Undefined, all)
}

fn any(value: &Value) -> Value {
    let any =
        |items: Vec<&Value>| Value::from(items.into_iter().any(|it| *it == Value::from(true)));
    elements(value).map_or(Value::Undefined, any)
}

fn cast_array(value: &Value) -> Value {
    let array = |items: Vec<&Value>| Value::from(items.into_iter().cloned().collect::<Vec<_>>());
    elements(value).map_or(Value::Undefined, array)
}

fn cast_set(value: &Value) -> Value {
    let set = |items: Vec<&Value>| Value::from(items.into_iter().cloned().collect::<BTreeSet<_>>());
    elements(value).map_or(Value::Undefined, set)
}

fn set_diff(one: &Value, two: &Value) -> Value {
    let (Value::Set(one), Value::Set(two)) = (one, two) else {
        return Value::Undefined;
    };
    let left = one.iter().filter(|it| !two.contains(it));
    Value::from(left.cloned().collect::<BTreeSet<_>>())
}

/// An old name of `regex.match`.
fn re_match(pattern: &Value, text: &Value) -> Value {
    let (Value::String(pattern), Value::String(text)) = (pattern, text) else {
        return Value::Undefined;
    };
    let regex = regex::Regex::new(pattern);
    regex.map_or(Value::Undefined, |regex| Value::from(regex.is_match(text)))
}

fn intersects(one: &Value, two: &Value) -> Value {
    let network = |value: &Value| match value {
        Value::String(text) => Network::parse(text),
        _ => None,
    };
    match (network(one), network(two)) {
        (Some(one), Some(two)) => Value::from(one.intersects(&two)),
        _ => Value::Undefined,
    }
}

/// A range of addresses, as `10.0.0.0/8` writes it.
struct Network {
    /// Address in the lowest bits.
    address: u128,
    /// Number of bits of an address.
    width: u32,
    prefix: u32,
}

impl Network {
    fn parse(text: &str) -> Option<Self> {
        let (address, prefix) = text.split_once('/')?;
        let (address, width) = match address.parse().ok()? {
            IpAddr::V4(address) => (u128::from(address.to_bits()), 32),
            IpAddr::V6(address) => (address.to_bits(), 128),
        };
        let prefix = prefix.parse().ok().filter(|prefix| *prefix <= width)?;
        Some(Network {
            address,
            width,
            prefix,
        })
    }

    /// Two networks have addresses in common if one holds the other.
    fn intersects(&self, other: &Network) -> bool {
        let shared = self.width - self.prefix.min(other.prefix);
        let start = |address: u128| address.checked_shr(shared).unwrap_or(0);
        self.width == other.width && start(self.address) == start(other.address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_intersect_if_one_holds_the_other() {
        let intersects = |one: &str, two: &str| intersects(&one.into(), &two.into());
        for (one, two, expected) in [
            ("10.0.0.0/8", "10.1.0.0/16", true),
            ("10.1.0.0/16", "10.0.0.0/8", true),
            ("10.1.0.0/16", "10.2.0.0/16", false),
            ("0.0.0.0/0", "1.2.3.4/32", true),
            ("::/0", "fe80::/10", true),
            ("::/0", "10.0.0.0/8", false),
        ] {
            assert_eq!(intersects(one, two), Value::from(expected), "{one} {two}");
        }
        assert_eq!(intersects("10.0.0.0/33", "10.0.0.0/8"), Value::Undefined);
        assert_eq!(intersects("here", "10.0.0.0/8"), Value::Undefined);
    }
}
