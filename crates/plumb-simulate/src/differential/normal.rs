//! Normalization of equivalent accounts.
//!
//! Ids of providers are random: all that the case does not contain become `new`. Times and empty members are removed.
//! Secrets in states are plaintext, which the harness encodes in base64.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use indexmap::IndexSet;
use serde_json::{Map, Value as Json};

/// Text for an unknown value.
const UNKNOWN: &str = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

/// Length of a random id.
const LENGTH: usize = 36;

/// Ids in the case, in the order in which its state has them.
pub(super) struct Known(IndexSet<String>);

impl Known {
    pub(super) fn of(case: &Json) -> Self {
        let mut known = IndexSet::new();
        collect(&case["state"], &mut known);
        Known(known)
    }

    /// The account with a name for each id of the case, the same whatever ids the core drew.
    pub(super) fn named(&self, account: &Json) -> Json {
        self.exchanged(account, |name, id| (id.to_owned(), name))
    }

    /// The account with the ids of the case for their names.
    pub(super) fn unnamed(&self, account: &Json) -> Json {
        self.exchanged(account, |name, id| (name, id.to_owned()))
    }

    fn exchanged(&self, account: &Json, pair: impl Fn(String, &str) -> (String, String)) -> Json {
        let pairs = self.0.iter().enumerate();
        let text = pairs.fold(account.to_string(), |text, (index, id)| {
            let (from, to) = pair(format!("(id {index})"), id);
            text.replace(&from, &to)
        });
        serde_json::from_str(&text).expect("ids and their names need no escapes")
    }

    pub(super) fn normal(&self, value: Json) -> Json {
        match value {
            Json::String(text) => Json::String(self.renamed(&text)),
            Json::Array(items) => items.into_iter().map(|it| self.normal(it)).collect(),
            Json::Object(members) => {
                let members = members.into_iter();
                let members = members.map(|(key, it)| match (key.as_str(), it.as_str()) {
                    ("ciphertext", Some(text)) => {
                        ("plaintext".to_owned(), self.normal(decoded(text)))
                    }
                    ("dependencies" | "replaceWith", _) => (key, sorted(self.normal(it))),
                    _ => (self.renamed(&key), self.normal(it)),
                });
                let members = members.filter(|(key, it)| !is_noise(key, it));
                Json::Object(members.collect::<Map<_, _>>())
            }
            other => other,
        }
    }

    fn renamed(&self, text: &str) -> String {
        let mut rest = text;
        let mut result = String::new();
        while let Some(at) = chance(rest) {
            let id = &rest[at..at + LENGTH];
            result.push_str(&rest[..at]);
            result.push_str(match id {
                UNKNOWN => "unknown",
                id if self.0.contains(id) => id,
                _ => "new",
            });
            rest = &rest[at + LENGTH..];
        }
        result + rest
    }
}

/// Sorts a list of resources, which is a set.
fn sorted(list: Json) -> Json {
    let Json::Array(mut items) = list else {
        return list;
    };
    items.sort_by_key(Json::to_string);
    Json::Array(items)
}

fn decoded(text: &str) -> Json {
    let bytes = STANDARD.decode(text).unwrap_or_default();
    Json::String(String::from_utf8_lossy(&bytes).into_owned())
}

fn is_noise(key: &str, value: &Json) -> bool {
    let is_empty = match value {
        Json::Null => true,
        Json::Object(members) => members.is_empty(),
        Json::Array(items) => items.is_empty(),
        _ => false,
    };
    let is_time = matches!(
        key,
        "created" | "modified" | "manifest" | "secrets_providers"
    );
    is_time || is_empty
}

fn collect(value: &Json, known: &mut IndexSet<String>) {
    match value {
        Json::String(text) => {
            let mut rest = text.as_str();
            while let Some(at) = chance(rest) {
                known.insert(rest[at..at + LENGTH].to_owned());
                rest = &rest[at + LENGTH..];
            }
        }
        Json::Array(items) => items.iter().for_each(|it| collect(it, known)),
        Json::Object(members) => members.values().for_each(|it| collect(it, known)),
        _ => {}
    }
}

/// Position of a random id in a text.
fn chance(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let is_one = |window: &[u8]| {
        window.iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
    };
    bytes.windows(LENGTH).position(is_one)
}
