//! Lists and maps.

use plumb_value::{PropertyKey, PropertyMap, Value};

use super::args::{Answer, Args};
use super::values::text_of;

fn object(map: PropertyMap) -> Value {
    Value::Object(map.into())
}

pub(super) fn all(args: &Args<'_>) -> Answer {
    Ok(args.list("input")?.iter().all(is_true).into())
}

pub(super) fn any(args: &Args<'_>) -> Answer {
    Ok(args.list("input")?.iter().any(is_true).into())
}

fn is_true(value: &Value) -> bool {
    value.as_bool() == Some(true) || value.as_str() == Some("true")
}

pub(super) fn chunklist(args: &Args<'_>) -> Answer {
    let items = args.list("input")?;
    let size = usize::try_from(args.integer("size")?)
        .map_err(|_| "size must be greater than or equal to 0")?;
    if size == 0 {
        return Ok(Value::array([Value::array(items.iter().cloned())]));
    }
    let chunks = items.chunks(size);
    Ok(Value::array(
        chunks.map(|it| Value::array(it.iter().cloned())),
    ))
}

pub(super) fn coalescelist(args: &Args<'_>) -> Answer {
    let lists = args.lists("input")?;
    match lists.into_iter().find(|it| !it.is_empty()) {
        Some(list) => Ok(Value::array(list.iter().cloned())),
        None => Err("no non-empty list found".to_owned()),
    }
}

pub(super) fn compact(args: &Args<'_>) -> Answer {
    let mut kept = Vec::new();
    for item in args.list("input")?.iter().filter(|it| !it.is_null()) {
        let text = item.as_str().ok_or("compact takes a list of strings")?;
        if !text.is_empty() {
            kept.push(item.clone());
        }
    }
    Ok(Value::array(kept))
}

pub(super) fn concat(args: &Args<'_>) -> Answer {
    Ok(Value::array(args.lists("input")?.concat()))
}

pub(super) fn contains(args: &Args<'_>) -> Answer {
    Ok(args.list("input")?.contains(args.any("element")).into())
}

pub(super) fn distinct_of<'v>(items: impl IntoIterator<Item = &'v Value>) -> Vec<Value> {
    let mut kept: Vec<Value> = Vec::new();
    for item in items {
        if !kept.contains(item) {
            kept.push(item.clone());
        }
    }
    kept
}

pub(super) fn distinct(args: &Args<'_>) -> Answer {
    Ok(Value::array(distinct_of(args.list("input")?)))
}

/// The item at an index. An index behind the last item wraps around to the first.
pub(super) fn element(args: &Args<'_>) -> Answer {
    let items = args.list("input")?;
    if items.is_empty() {
        return Err("input list must not be empty when using the element function".to_owned());
    }
    let index = args.integer("index")?.rem_euclid(items.len() as i64);
    Ok(items[index as usize].clone())
}

pub(super) fn flatten(args: &Args<'_>) -> Answer {
    fn add(items: &[Value], flat: &mut Vec<Value>) {
        for item in items {
            match item.as_array() {
                Some(inner) => add(inner, flat),
                None => flat.push(item.clone()),
            }
        }
    }
    let mut flat = Vec::new();
    add(args.list("input")?, &mut flat);
    Ok(Value::array(flat))
}

pub(super) fn index(args: &Args<'_>) -> Answer {
    let items = args.list("input")?;
    match items.iter().position(|it| it == args.any("element")) {
        Some(place) => Ok((place as f64).into()),
        None if items.is_empty() => {
            Err("input list must not be empty when using the index function".to_owned())
        }
        None => Err("item not found".to_owned()),
    }
}

pub(super) fn keys(args: &Args<'_>) -> Answer {
    let keys = args.map("input")?.keys();
    let mut keys: Vec<&str> = keys.map(PropertyKey::as_str).collect();
    keys.sort_unstable();
    Ok(Value::array(keys.into_iter().map(Value::from)))
}

pub(super) fn values(args: &Args<'_>) -> Answer {
    let mut entries: Vec<(&str, &Value)> = args
        .map("input")?
        .iter()
        .map(|(key, value)| (key.as_str(), value))
        .collect();
    entries.sort_by_key(|(key, _)| *key);
    Ok(Value::array(entries.into_iter().map(|(_, it)| it.clone())))
}

pub(super) fn length(args: &Args<'_>) -> Answer {
    let count = match args.any("input") {
        Value::String(text) => text.len(),
        Value::Array(items) => items.len(),
        Value::Object(entries) => entries.len(),
        _ => return Err("input must be a string, list, or map".to_owned()),
    };
    Ok((count as f64).into())
}

pub(super) fn lookup(args: &Args<'_>) -> Answer {
    let found = args.map("map")?.get(args.text("key")?);
    match found.unwrap_or_else(|| args.any("default")) {
        Value::Null if found.is_none() => Err("key not found in input map".to_owned()),
        value => Ok(value.clone()),
    }
}

/// A map of keys and values in turn.
pub(super) fn map(args: &Args<'_>) -> Answer {
    let mut map = PropertyMap::new();
    for pair in args.list("args")?.chunks(2) {
        let [key, value] = pair else {
            return Err("expected an even number of arguments".to_owned());
        };
        map.insert(key.as_str().ok_or("keys must be strings")?, value.clone());
    }
    Ok(object(map))
}

pub(super) fn matchkeys(args: &Args<'_>) -> Answer {
    let (values, keys) = (args.list("values")?, args.list("keys")?);
    if values.len() != keys.len() {
        return Err("values and keys must be of equal length".to_owned());
    }
    let wanted = args.list("searchList")?;
    let pairs = values.iter().zip(keys);
    let found = pairs.filter(|(_, key)| wanted.contains(key));
    Ok(Value::array(found.map(|(value, _)| value.clone())))
}

pub(super) fn merge(args: &Args<'_>) -> Answer {
    let mut merged = PropertyMap::new();
    for map in args.list("input")?.iter().filter(|it| !it.is_null()) {
        let map = map.as_object().ok_or("merge takes a list of maps")?;
        for (key, value) in map.iter() {
            merged.insert(key.clone(), value.clone());
        }
    }
    Ok(object(merged))
}

pub(super) fn reverse(args: &Args<'_>) -> Answer {
    Ok(Value::array(args.list("input")?.iter().rev().cloned()))
}

/// Intersection of lists. Values are compared as texts if any of them is a text.
pub(super) fn setintersection(args: &Args<'_>) -> Answer {
    let lists = args.lists("input")?;
    let has_text = lists
        .iter()
        .flat_map(|it| it.iter())
        .any(|it| it.as_str().is_some());
    let comparable = |value: &Value| match text_of(value) {
        Some(text) if has_text => text.into(),
        _ => value.clone(),
    };
    let mut lists = lists
        .iter()
        .map(|it| it.iter().map(comparable).collect::<Vec<_>>());
    let first = lists.next().unwrap_or_default();
    let shared = lists.fold(first, |shared, list| {
        shared.into_iter().filter(|it| list.contains(it)).collect()
    });
    Ok(Value::array(distinct_of(&shared)))
}

pub(super) fn slice(args: &Args<'_>) -> Answer {
    let items = args.list("list")?;
    let count = items.len() as i64;
    let place = |name: &str, default: i64| -> Result<usize, String> {
        let index = args.optional_integer(name)?.unwrap_or(default);
        let index = if index < 0 { index + count } else { index };
        let is_in = (0..=count).contains(&index);
        is_in
            .then_some(index as usize)
            .ok_or_else(|| format!("{name} index out of range"))
    };
    let (from, to) = (place("from", 0)?, place("to", count)?);
    match items.get(from..to) {
        Some(items) => Ok(Value::array(items.iter().cloned())),
        None => Err("the from index is behind the to index".to_owned()),
    }
}

pub(super) fn sort(args: &Args<'_>) -> Answer {
    let mut texts = args.texts("input")?;
    texts.sort_unstable();
    Ok(Value::array(texts.into_iter().map(Value::from)))
}

pub(super) fn tolist(args: &Args<'_>) -> Answer {
    Ok(Value::array(args.list("input")?.iter().cloned()))
}

/// A map of lists with keys and items exchanged.
pub(super) fn transpose(args: &Args<'_>) -> Answer {
    let mut lists: std::collections::BTreeMap<&str, Vec<&str>> = std::collections::BTreeMap::new();
    for (key, items) in args.map("input")?.iter() {
        for item in items.as_array().ok_or("transpose takes a map of lists")? {
            let item = item
                .as_str()
                .ok_or("transpose takes a map of lists of strings")?;
            lists.entry(item).or_default().push(key.as_str());
        }
    }
    let mut map = PropertyMap::new();
    for (key, mut items) in lists {
        items.sort_unstable();
        map.insert(key, Value::array(items.into_iter().map(Value::from)));
    }
    Ok(object(map))
}

pub(super) fn zipmap(args: &Args<'_>) -> Answer {
    let (keys, values) = (args.texts("keys")?, args.list("values")?);
    if keys.len() != values.len() {
        return Err("keys and values must be the same length".to_owned());
    }
    let mut map = PropertyMap::new();
    for (key, value) in keys.into_iter().zip(values) {
        map.insert(key, value.clone());
    }
    Ok(object(map))
}
