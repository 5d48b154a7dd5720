//! Conversion of protocol messages to and from JSON, by the description in `tests/data/protocol.json`.
//!
//! Recordings contain messages in the JSON form of protobuf. This module does not use the generated types of
//! `plumb-proto`, so that **a field that they omit or misplace shows up as a difference.** As in the recordings,
//! fields with their default value are omitted unless the protocol tracks their presence.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::Deserialize;
use serde_json::{Map, Value as Json};

use super::data;

/// All messages and methods of the protocol.
pub(super) struct Protocol {
    messages: HashMap<String, Vec<Field>>,
    enums: HashMap<String, BTreeMap<String, i32>>,
    methods: HashMap<String, Method>,
}

#[derive(Deserialize)]
struct Facts {
    files: BTreeMap<String, File>,
}

#[derive(Deserialize)]
struct File {
    package: String,
    services: BTreeMap<String, Service>,
    messages: BTreeMap<String, Message>,
    enums: BTreeMap<String, Enum>,
}

#[derive(Deserialize)]
struct Service {
    rpcs: BTreeMap<String, Method>,
}

#[derive(Clone, Deserialize)]
struct Method {
    path: String,
    request: String,
    response: String,
}

#[derive(Deserialize)]
struct Message {
    fields: Vec<Field>,
}

#[derive(Deserialize)]
struct Enum {
    values: BTreeMap<String, i32>,
}

#[derive(Clone, Deserialize)]
struct Field {
    name: String,
    number: u32,
    #[serde(rename = "type")]
    kind: String,
    label: String,
    #[serde(default)]
    type_name: String,
    #[serde(default)]
    map_value: String,
    #[serde(default)]
    map_value_type: String,
}

static PROTOCOL: LazyLock<Protocol> = LazyLock::new(Protocol::read);

const VARINT: u32 = 0;
const FIXED64: u32 = 1;
const BYTES: u32 = 2;

impl Protocol {
    /// The protocol, parsed once.
    pub(super) fn get() -> &'static Self {
        &PROTOCOL
    }

    fn read() -> Self {
        let text = std::fs::read_to_string(data("protocol.json")).unwrap();
        let facts: Facts = serde_json::from_str(&text).unwrap();
        let mut protocol = Protocol {
            messages: HashMap::new(),
            enums: HashMap::new(),
            methods: HashMap::new(),
        };
        for file in facts.files.into_values() {
            let qualified = |name: &str| format!("{}.{name}", file.package);
            for (name, message) in file.messages {
                protocol.messages.insert(qualified(&name), message.fields);
            }
            for (name, values) in file.enums {
                protocol.enums.insert(qualified(&name), values.values);
            }
            let methods = file.services.into_values().flat_map(|it| it.rpcs);
            for method in methods.map(|(_, method)| method) {
                protocol.methods.insert(method.path.clone(), method);
            }
        }
        protocol
    }

    /// Names of the request and response messages of a method (`/package.Service/Method`).
    pub(super) fn method(&self, path: &str) -> (&str, &str) {
        let method = self
            .methods
            .get(path)
            .unwrap_or_else(|| panic!("the protocol has no method {path}"));
        (&method.request, &method.response)
    }

    /// Encodes a message. Panics for fields that the message does not have.
    pub(super) fn encode(&self, message: &str, json: &Json) -> Vec<u8> {
        let mut bytes = Vec::new();
        match message {
            "google.protobuf.Empty" => {}
            "google.protobuf.Struct" => write_struct(&mut bytes, json),
            "google.protobuf.Value" => write_value(&mut bytes, json),
            _ => {
                let fields = &self.messages[message];
                for (key, value) in json.as_object().into_iter().flatten() {
                    let field = fields
                        .iter()
                        .find(|field| field.json_name() == *key)
                        .unwrap_or_else(|| panic!("{message} has no field {key}"));
                    self.write_field(&mut bytes, field, value);
                }
            }
        }
        bytes
    }

    fn write_field(&self, bytes: &mut Vec<u8>, field: &Field, json: &Json) {
        match field.label.as_str() {
            "map" => {
                for (key, value) in json.as_object().unwrap() {
                    let mut entry = Vec::new();
                    write_bytes(&mut entry, 1, key.as_bytes());
                    self.write_one(&mut entry, &field.map_value_field(), value);
                    write_bytes(bytes, field.number, &entry);
                }
            }
            "repeated" => {
                for value in json.as_array().unwrap() {
                    self.write_one(bytes, field, value);
                }
            }
            _ => self.write_one(bytes, field, json),
        }
    }

    fn write_one(&self, bytes: &mut Vec<u8>, field: &Field, json: &Json) {
        let number = field.number;
        match field.kind.as_str() {
            "string" => write_bytes(bytes, number, json.as_str().unwrap().as_bytes()),
            "bytes" => {
                let decoded = BASE64_STANDARD.decode(json.as_str().unwrap()).unwrap();
                write_bytes(bytes, number, &decoded);
            }
            "message" => write_bytes(bytes, number, &self.encode(&field.type_name, json)),
            "bool" => write_number(bytes, number, u64::from(json.as_bool().unwrap())),
            "int32" | "int64" => write_number(bytes, number, integer(json).cast_unsigned()),
            "double" => write_double(bytes, number, json.as_f64().unwrap()),
            "enum" => {
                let value = self.enums[&field.type_name][json.as_str().unwrap()];
                write_number(bytes, number, i64::from(value).cast_unsigned());
            }
            other => panic!("the protocol has a type that is not known here: {other}"),
        }
    }

    /// JSON form of a message. Unknown fields appear with their numbers as names.
    pub(super) fn decode(&self, message: &str, bytes: &[u8]) -> Json {
        match message {
            "google.protobuf.Struct" => return read_struct(bytes),
            "google.protobuf.Value" => return read_value(bytes),
            _ => {}
        }
        let none = Vec::new();
        let fields = self.messages.get(message).unwrap_or(&none);
        let mut json = Map::new();
        for (number, content) in Reader(bytes) {
            match fields.iter().find(|field| field.number == number) {
                Some(field) if field.has_default(&content) => {}
                Some(field) => self.read_field(&mut json, field, &content),
                None => drop(json.insert(format!("field {number}"), Json::Null)),
            }
        }
        Json::Object(json)
    }

    fn read_field(&self, json: &mut Map<String, Json>, field: &Field, content: &Content<'_>) {
        let name = field.json_name();
        match field.label.as_str() {
            "map" => {
                let mut key = String::new();
                let of_value = field.map_value_field();
                let mut value = default_of(&of_value);
                for (number, content) in Reader(content.bytes()) {
                    match number {
                        1 => key = text(content.bytes()),
                        _ => value = self.read_one(&of_value, &content),
                    }
                }
                let map = json.entry(name).or_insert_with(|| Json::Object(Map::new()));
                map[key] = value;
            }
            "repeated" => {
                let list = json.entry(name).or_insert_with(|| Json::Array(Vec::new()));
                let list = list.as_array_mut().unwrap();
                match (field.kind.as_str(), content) {
                    ("enum", Content::Bytes(packed)) => {
                        let mut packed = *packed;
                        while !packed.is_empty() {
                            let value = Content::Number(take_varint(&mut packed));
                            list.push(self.read_one(field, &value));
                        }
                    }
                    _ => list.push(self.read_one(field, content)),
                }
            }
            _ => drop(json.insert(name, self.read_one(field, content))),
        }
    }

    fn read_one(&self, field: &Field, content: &Content<'_>) -> Json {
        match field.kind.as_str() {
            "string" => Json::from(text(content.bytes())),
            "bytes" => Json::from(BASE64_STANDARD.encode(content.bytes())),
            "message" => self.decode(&field.type_name, content.bytes()),
            "bool" => Json::from(content.number() != 0),
            "int32" => Json::from(content.number().cast_signed()),
            "int64" => Json::from(content.number().cast_signed().to_string()),
            "double" => number(f64::from_bits(content.number())),
            "enum" => {
                let value = content.number().cast_signed();
                let mut names = self.enums[&field.type_name].iter();
                names
                    .find(|(_, known)| i64::from(**known) == value)
                    .map_or(Json::from(value), |(name, _)| Json::from(name.as_str()))
            }
            other => panic!("the protocol has a type that is not known here: {other}"),
        }
    }
}

impl Field {
    /// `camelCase` form of the name.
    fn json_name(&self) -> String {
        let mut name = String::new();
        let mut raise = false;
        for letter in self.name.chars() {
            match (letter, raise) {
                ('_', _) => raise = true,
                (letter, true) => {
                    name.extend(letter.to_uppercase());
                    raise = false;
                }
                (letter, false) => name.push(letter),
            }
        }
        name
    }

    /// Whether the content is equal to an omitted field.
    fn has_default(&self, content: &Content<'_>) -> bool {
        self.label == "singular"
            && match content {
                Content::Number(value) => *value == 0,
                Content::Bytes(bytes) => bytes.is_empty() && self.kind != "message",
            }
    }

    /// Value field of a map entry.
    fn map_value_field(&self) -> Field {
        Field {
            name: "value".to_owned(),
            number: 2,
            kind: self.map_value.clone(),
            label: "optional".to_owned(),
            type_name: self.map_value_type.clone(),
            map_value: String::new(),
            map_value_type: String::new(),
        }
    }
}

fn default_of(field: &Field) -> Json {
    match field.kind.as_str() {
        "message" => Json::Object(Map::new()),
        "string" | "bytes" => Json::from(""),
        "bool" => Json::from(false),
        _ => Json::from(0),
    }
}

fn integer(json: &Json) -> i64 {
    json.as_i64()
        .or_else(|| json.as_str()?.parse().ok())
        .unwrap()
}

/// Formats whole numbers as in the recordings.
fn number(value: f64) -> Json {
    if value.fract() == 0.0 && value.abs() < 1e15 {
        Json::from(value as i64)
    } else {
        Json::from(value)
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn write_varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push((value as u8) | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

fn write_number(bytes: &mut Vec<u8>, number: u32, value: u64) {
    write_varint(bytes, u64::from(number << 3 | VARINT));
    write_varint(bytes, value);
}

fn write_double(bytes: &mut Vec<u8>, number: u32, value: f64) {
    write_varint(bytes, u64::from(number << 3 | FIXED64));
    bytes.extend(value.to_le_bytes());
}

fn write_bytes(bytes: &mut Vec<u8>, number: u32, content: &[u8]) {
    write_varint(bytes, u64::from(number << 3 | BYTES));
    write_varint(bytes, content.len() as u64);
    bytes.extend(content);
}

/// `google.protobuf.Struct`: a map from strings to values.
fn write_struct(bytes: &mut Vec<u8>, json: &Json) {
    for (key, value) in json.as_object().unwrap() {
        let mut entry = Vec::new();
        write_bytes(&mut entry, 1, key.as_bytes());
        let mut inner = Vec::new();
        write_value(&mut inner, value);
        write_bytes(&mut entry, 2, &inner);
        write_bytes(bytes, 1, &entry);
    }
}

fn write_value(bytes: &mut Vec<u8>, json: &Json) {
    match json {
        Json::Null => write_number(bytes, 1, 0),
        Json::Number(value) => write_double(bytes, 2, value.as_f64().unwrap()),
        Json::String(value) => write_bytes(bytes, 3, value.as_bytes()),
        Json::Bool(value) => write_number(bytes, 4, u64::from(*value)),
        Json::Object(_) => {
            let mut inner = Vec::new();
            write_struct(&mut inner, json);
            write_bytes(bytes, 5, &inner);
        }
        Json::Array(values) => {
            let mut inner = Vec::new();
            for value in values {
                let mut item = Vec::new();
                write_value(&mut item, value);
                write_bytes(&mut inner, 1, &item);
            }
            write_bytes(bytes, 6, &inner);
        }
    }
}

fn read_struct(bytes: &[u8]) -> Json {
    let mut map = Map::new();
    for (_, entry) in Reader(bytes) {
        let (mut key, mut value) = (String::new(), Json::Null);
        for (number, content) in Reader(entry.bytes()) {
            match number {
                1 => key = text(content.bytes()),
                _ => value = read_value(content.bytes()),
            }
        }
        map.insert(key, value);
    }
    Json::Object(map)
}

fn read_value(bytes: &[u8]) -> Json {
    let mut value = Json::Null;
    for (kind, content) in Reader(bytes) {
        value = match kind {
            2 => number(f64::from_bits(content.number())),
            3 => Json::from(text(content.bytes())),
            4 => Json::from(content.number() != 0),
            5 => read_struct(content.bytes()),
            6 => Reader(content.bytes())
                .map(|(_, item)| read_value(item.bytes()))
                .collect(),
            _ => Json::Null,
        };
    }
    value
}

/// Content of a field.
enum Content<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

impl<'a> Content<'a> {
    fn number(&self) -> u64 {
        match self {
            Content::Number(value) => *value,
            Content::Bytes(_) => panic!("a number was expected"),
        }
    }

    fn bytes(&self) -> &'a [u8] {
        match self {
            Content::Bytes(bytes) => bytes,
            Content::Number(_) => panic!("bytes were expected"),
        }
    }
}

/// Iterator over the fields of a message.
struct Reader<'a>(&'a [u8]);

impl<'a> Iterator for Reader<'a> {
    type Item = (u32, Content<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let key = take_varint(&mut self.0) as u32;
        let content = match key & 7 {
            VARINT => Content::Number(take_varint(&mut self.0)),
            FIXED64 => {
                let bytes = take(&mut self.0, 8).try_into().unwrap();
                Content::Number(u64::from_le_bytes(bytes))
            }
            BYTES => {
                let length = take_varint(&mut self.0) as usize;
                Content::Bytes(take(&mut self.0, length))
            }
            other => panic!("the protocol has no wire type {other}"),
        };
        Some((key >> 3, content))
    }
}

fn take<'a>(bytes: &mut &'a [u8], length: usize) -> &'a [u8] {
    let (taken, rest) = bytes.split_at(length);
    *bytes = rest;
    taken
}

fn take_varint(bytes: &mut &[u8]) -> u64 {
    let mut value = 0;
    for shift in (0..).step_by(7) {
        let byte = take(bytes, 1)[0];
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            break;
        }
    }
    value
}
