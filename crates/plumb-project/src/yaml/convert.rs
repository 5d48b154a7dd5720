//! Conversion between the tree and JSON values.

use serde_json::{Map, Number, Value};

use super::node::{Data, Item, Layout, Mapping, Node, Position, Sequence};
use super::order::compare_keys;
use super::scalar::{MERGE_KEY, Resolved, float_text};

/// Maximum number of values in a document after aliases are expanded.
const MAX_VALUES: usize = 1_000_000;

/// Error for a tree without a JSON form.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ToJsonError {
    /// A map key is a list or a map.
    #[error("a key must be a text (line {}, column {})", position.line, position.column)]
    CompositeKey {
        /// Its position.
        position: Position,
    },
    /// A number is infinite or NaN.
    #[error("{text} cannot be used here (line {}, column {})", position.line, position.column)]
    NotFinite {
        /// The number as text.
        text: String,
        /// Its position.
        position: Position,
    },
    /// The value of `<<` is not a map.
    #[error("`<<` needs a map or a list of maps (line {}, column {})", position.line, position.column)]
    Merge {
        /// Its position.
        position: Position,
    },
    /// The expanded aliases have too many values.
    #[error("the aliases in this document unfold into too many values")]
    TooLarge,
}

/// JSON form: aliases are expanded, `<<` is merged, and scalar keys are converted to text.
pub fn to_json(node: &Node) -> Result<Value, ToJsonError> {
    let mut budget = MAX_VALUES;
    convert(node, &mut budget)
}

fn convert(node: &Node, budget: &mut usize) -> Result<Value, ToJsonError> {
    *budget = budget.checked_sub(1).ok_or(ToJsonError::TooLarge)?;
    match &node.resolved().data {
        Data::Mapping(mapping) => mapping_json(mapping, budget).map(Value::Object),
        Data::Sequence(sequence) => sequence
            .items
            .iter()
            .map(|item| convert(&item.value, budget))
            .collect::<Result<_, _>>()
            .map(Value::Array),
        Data::Scalar(_) | Data::Alias(_) => scalar_json(node),
    }
}

fn mapping_json(mapping: &Mapping, budget: &mut usize) -> Result<Map<String, Value>, ToJsonError> {
    let mut out = Map::new();
    let is_merge = |key: &Node| matches!(&key.data, Data::Scalar(s) if s.text == MERGE_KEY && s.style == super::ScalarStyle::Plain);
    for (key, item) in mapping.entries.iter().filter(|(key, _)| !is_merge(key)) {
        let text = key.key_text().ok_or(ToJsonError::CompositeKey {
            position: key.position,
        })?;
        out.insert(text, convert(&item.value, budget)?);
    }
    for (key, item) in mapping.entries.iter().filter(|(key, _)| is_merge(key)) {
        for source in merge_sources(&item.value).ok_or(ToJsonError::Merge {
            position: key.position,
        })? {
            for (key, value) in mapping_json(source, budget)? {
                out.entry(key).or_insert(value);
            }
        }
    }
    Ok(out)
}

fn merge_sources(node: &Node) -> Option<Vec<&Mapping>> {
    match (node.as_mapping(), node.as_sequence()) {
        (Some(mapping), _) => Some(vec![mapping]),
        (None, Some(sequence)) => sequence
            .items
            .iter()
            .map(|item| item.value.as_mapping())
            .collect(),
        (None, None) => None,
    }
}

/// JSON form of a scalar.
pub(super) fn scalar_json(node: &Node) -> Result<Value, ToJsonError> {
    Ok(match node.as_scalar().unwrap_or(Resolved::Null) {
        Resolved::Null => Value::Null,
        Resolved::Bool(value) => Value::Bool(value),
        Resolved::Integer(value) => integer_json(value),
        Resolved::Float(value) => match Number::from_f64(value) {
            Some(number) => whole(value).map_or(Value::Number(number), Value::from),
            None => {
                return Err(ToJsonError::NotFinite {
                    text: float_text(value),
                    position: node.position,
                });
            }
        },
        Resolved::Timestamp(text) | Resolved::String(text) => Value::String(text),
    })
}

/// Integer value of a float without a fraction, so that `8.0` is printed as `8`.
fn whole(value: f64) -> Option<i64> {
    let is_whole = value.fract() == 0.0 && value.abs() < 9_007_199_254_740_992.0;
    is_whole.then_some(value as i64)
}

fn integer_json(value: i128) -> Value {
    match (i64::try_from(value), u64::try_from(value)) {
        (Ok(value), _) => Value::from(value),
        (Err(_), Ok(value)) => Value::from(value),
        (Err(_), Err(_)) => Value::from(value as f64),
    }
}

/// A tree in block layout with the value `value`.
pub fn from_json(value: &Value) -> Node {
    match value {
        Value::Null => Node::plain("null"),
        Value::Bool(value) => Node::plain(value.to_string()),
        Value::Number(value) => Node::plain(value.to_string()),
        Value::String(text) => Node::string(text.clone()),
        Value::Array(items) => {
            let items = items
                .iter()
                .map(|item| Item::new(from_json(item)))
                .collect();
            Node::new(Data::Sequence(Sequence {
                layout: Layout::Block,
                items,
            }))
        }
        Value::Object(entries) => {
            let mut entries: Vec<_> = entries.iter().collect();
            entries.sort_by(|(left, _), (right, _)| compare_keys(left, right));
            let entries = entries
                .into_iter()
                .map(|(k, v)| (Node::key(k.clone()), Item::new(from_json(v))))
                .collect();
            Node::new(Data::Mapping(Mapping {
                layout: Layout::Block,
                entries,
            }))
        }
    }
}
