//! Index of a schema's members, in a form that can be stored on disk.
//!
//! Reading one member of a schema of forty megabytes requires its position in the text, and the settings of the package that
//! apply to all members, such as the pattern for modules. [`SchemaIndex`] holds both, and [`SchemaIndex::excerpt`] builds a
//! small schema from them.

use std::fmt::Write as _;
use std::ops::Range;

use indexmap::IndexMap;
use rustc_hash::FxHashSet;
use serde_json::value::RawValue;

use crate::error::SchemaError;
use crate::package::range_in;
use crate::spec::Meta;
use crate::token::ModuleFormat;

/// First bytes of an index; the number changes with the format.
const MAGIC: &[u8; 8] = b"plumbix1";

/// Keys that are not needed to show a member.
const LEFT_OUT: [&str; 4] = ["types", "provider", "config", "language"];

/// Kinds of members in an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MemberKind {
    /// Resources.
    Resource,
    /// Functions, methods among them.
    Function,
}

impl MemberKind {
    const ALL: [MemberKind; 2] = [MemberKind::Resource, MemberKind::Function];

    fn key(self) -> &'static str {
        match self {
            MemberKind::Resource => "resources",
            MemberKind::Function => "functions",
        }
    }
}

/// Positions of a schema's members, and the rest of the document.
#[derive(Debug)]
pub struct SchemaIndex {
    /// The document without its members.
    head: String,
    module_format: ModuleFormat,
    members: [Vec<(Box<str>, Range<u64>)>; 2],
}

impl SchemaIndex {
    /// Indexes the members of `text`, a schema in JSON. Positions are byte offsets.
    pub fn new(text: &str) -> Result<Self, SchemaError> {
        let mark = text.len() - text.trim_start_matches('\u{feff}').len();
        let failed = |error: serde_json::Error| SchemaError::Document {
            message: error.to_string(),
        };
        let root: IndexMap<String, &RawValue> =
            serde_json::from_str(&text[mark..]).map_err(failed)?;
        if root.is_empty() {
            return Err(SchemaError::Empty);
        }
        let members = MemberKind::ALL.map(|kind| {
            let Some(section) = root.get(kind.key()) else {
                return Ok(Vec::new());
            };
            let members: IndexMap<String, &RawValue> = serde_json::from_str(section.get())?;
            let placed = |(token, member): (String, &RawValue)| {
                let Range { start, end } = range_in(text, member);
                (token.into_boxed_str(), start as u64..end as u64)
            };
            Ok(members.into_iter().map(placed).collect())
        });
        let [resources, functions] = members;
        let members = [resources.map_err(failed)?, functions.map_err(failed)?];
        Ok(Self::of_parts(head_of(&root), members))
    }

    fn of_parts(head: String, members: [Vec<(Box<str>, Range<u64>)>; 2]) -> Self {
        #[derive(serde::Deserialize)]
        struct Head {
            #[serde(default)]
            meta: Option<Meta>,
        }
        let meta = serde_json::from_str(&head).map_or(None, |head: Head| head.meta);
        let pattern = meta.and_then(|meta| meta.module_format);
        SchemaIndex {
            module_format: ModuleFormat::new(pattern.as_deref()),
            head,
            members,
        }
    }

    /// Decodes the output of [`SchemaIndex::to_bytes`]; `None` if it has another format or is damaged.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (content, sum) = bytes.split_last_chunk::<4>()?;
        if crc32c::crc32c(content) != u32::from_le_bytes(*sum) {
            return None;
        }
        let mut rest = content.strip_prefix(MAGIC)?;
        let head = take_text(&mut rest)?.to_owned();
        let resources = take_members(&mut rest)?;
        let functions = take_members(&mut rest)?;
        rest.is_empty()
            .then(|| Self::of_parts(head, [resources, functions]))
    }

    /// Encodes the index, with a checksum.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        put_text(&mut bytes, &self.head);
        for members in &self.members {
            bytes.extend((members.len() as u64).to_le_bytes());
            for (token, place) in members {
                put_text(&mut bytes, token);
                bytes.extend(place.start.to_le_bytes());
                bytes.extend(place.end.to_le_bytes());
            }
        }
        let sum = crc32c::crc32c(&bytes);
        bytes.extend(sum.to_le_bytes());
        bytes
    }

    /// Tokens of the members of a kind, in the order of the document.
    pub fn tokens(&self, kind: MemberKind) -> impl Iterator<Item = &str> {
        self.members[kind as usize]
            .iter()
            .map(|(token, _)| &**token)
    }

    /// The module that `token` belongs to; empty for the root module (`schema.md` 11).
    pub fn module_of(&self, token: &str) -> String {
        self.module_format.module_of(token)
    }

    /// A schema with the members for which `is_wanted` holds. It also contains the names of all other members if none is
    /// wanted, or if a wanted one refers to resources. `read` returns parts of the indexed text.
    pub fn excerpt<E>(
        &self,
        is_wanted: impl Fn(MemberKind, &str) -> bool,
        mut read: impl FnMut(Range<u64>) -> Result<String, E>,
    ) -> Result<String, E> {
        let mut wanted: [Vec<(&str, String)>; 2] = Default::default();
        for kind in MemberKind::ALL {
            for (token, place) in &self.members[kind as usize] {
                if is_wanted(kind, token) {
                    wanted[kind as usize].push((&**token, read(place.clone())?));
                }
            }
        }
        let mut bodies = wanted.iter().flatten();
        let is_alone = bodies.all(|(_, body)| !body.contains("/resources/"));
        if !is_alone || wanted.iter().all(Vec::is_empty) {
            for kind in MemberKind::ALL {
                self.add_names(kind, &mut wanted[kind as usize]);
            }
        }
        Ok(self.with_members(&wanted))
    }

    /// Appends the missing members of a kind, without their content.
    fn add_names<'i>(&'i self, kind: MemberKind, members: &mut Vec<(&'i str, String)>) {
        let known: FxHashSet<&str> = members.iter().map(|(token, _)| *token).collect();
        let others = self.tokens(kind).filter(|token| !known.contains(token));
        members.extend(others.map(|token| (token, "{}".to_owned())));
    }

    fn with_members(&self, members: &[Vec<(&str, String)>; 2]) -> String {
        let mut text = self.head.trim_end_matches('}').to_owned();
        for kind in MemberKind::ALL {
            let comma = if text.len() > "{ ".len() { "," } else { "" };
            // Writing to a string cannot fail.
            let _ = write!(text, "{comma}{}:{{", quoted(kind.key()));
            for (at, (token, member)) in members[kind as usize].iter().enumerate() {
                let comma = if at > 0 { "," } else { "" };
                let _ = write!(text, "{comma}{}:{member}", quoted(token));
            }
            text.push('}');
        }
        text.push('}');
        text
    }
}

/// The document without its members and other large keys.
fn head_of(root: &IndexMap<String, &RawValue>) -> String {
    let is_kept = |key: &str| {
        let is_section = MemberKind::ALL.iter().any(|kind| kind.key() == key);
        !is_section && !LEFT_OUT.contains(&key)
    };
    let kept = root.iter().filter(|(key, _)| is_kept(key));
    let entries: Vec<String> = kept
        .map(|(key, value)| format!("{}:{}", quoted(key), value.get()))
        .collect();
    // The blank separates the closing brace of the last value from the one that the excerpt removes.
    format!("{{{} }}", entries.join(","))
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn put_text(bytes: &mut Vec<u8>, text: &str) {
    bytes.extend((text.len() as u64).to_le_bytes());
    bytes.extend(text.as_bytes());
}

fn take_number(rest: &mut &[u8]) -> Option<u64> {
    let (number, after) = rest.split_first_chunk::<8>()?;
    *rest = after;
    Some(u64::from_le_bytes(*number))
}

fn take_text<'b>(rest: &mut &'b [u8]) -> Option<&'b str> {
    let length = usize::try_from(take_number(rest)?).ok()?;
    let (text, after) = rest.split_at_checked(length)?;
    *rest = after;
    std::str::from_utf8(text).ok()
}

fn take_members(rest: &mut &[u8]) -> Option<Vec<(Box<str>, Range<u64>)>> {
    let count = take_number(rest)?;
    let mut members = Vec::new();
    for _ in 0..count {
        let token = take_text(rest)?.into();
        let (start, end) = (take_number(rest)?, take_number(rest)?);
        members.push((token, start..end));
    }
    Some(members)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\u{feff}{\"name\": \"p\", \"meta\": {\"moduleFormat\": \"(.*)(?:/[^/]*)\"}, \
        \"types\": {\"p:m/t:T\": {}}, \"resources\": {\"p:m/a:A\": {\"isComponent\": true}, \"p:m/b:\\u0042\": {}}, \
        \"functions\": {\"p:m/f:f\": {\"description\": \"}\", \"x\": \"#/resources/p:m%2Fa:A\"}}}";

    fn excerpt(index: &SchemaIndex, wanted: &str) -> String {
        let read = |place: Range<u64>| {
            let place = usize::try_from(place.start)?..usize::try_from(place.end)?;
            Ok::<_, std::num::TryFromIntError>(TEXT[place].to_owned())
        };
        index.excerpt(|_, token| token == wanted, read).unwrap()
    }

    #[test]
    fn excerpts_have_what_is_wanted_and_the_names_that_it_needs() {
        let index = SchemaIndex::new(TEXT).unwrap();
        let check = |wanted: &str, resources: serde_json::Value, functions: serde_json::Value| {
            let read = excerpt(&index, wanted);
            let read: serde_json::Value = serde_json::from_str(&read).unwrap();
            let expected = serde_json::json!({
                "name": "p",
                "meta": { "moduleFormat": "(.*)(?:/[^/]*)" },
                "resources": resources,
                "functions": functions,
            });
            assert_eq!(read, expected, "{wanted}");
        };
        let json = |text: &str| serde_json::from_str(text).unwrap();
        let component = r#"{"p:m/a:A": {"isComponent": true}}"#;
        check("p:m/a:A", json(component), json("{}"));
        let reference = r##"{"p:m/f:f": {"description": "}", "x": "#/resources/p:m%2Fa:A"}}"##;
        let names = r#"{"p:m/a:A": {}, "p:m/b:B": {}}"#;
        check("p:m/f:f", json(names), json(reference));
        check("none", json(names), json(r#"{"p:m/f:f": {}}"#));
        assert_eq!(index.module_of("p:m/a:A"), "m");
        let tokens: Vec<&str> = index.tokens(MemberKind::Resource).collect();
        assert_eq!(tokens, ["p:m/a:A", "p:m/b:B"]);
    }

    #[test]
    fn an_index_is_read_as_it_was_written() {
        let index = SchemaIndex::new(TEXT).unwrap();
        let again = SchemaIndex::from_bytes(&index.to_bytes()).unwrap();
        assert_eq!(excerpt(&again, "p:m/f:f"), excerpt(&index, "p:m/f:f"));
    }

    #[test]
    fn damage_is_found_out() {
        let bytes = SchemaIndex::new(TEXT).unwrap().to_bytes();
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 4;
            assert!(SchemaIndex::from_bytes(&damaged).is_none(), "at {at}");
            assert!(
                SchemaIndex::from_bytes(&bytes[..at]).is_none(),
                "up to {at}"
            );
        }
    }

    #[test]
    fn what_is_no_schema_has_no_index() {
        for text in ["", "{", "[]", "{\"resources\": 1}", "{}"] {
            assert!(SchemaIndex::new(text).is_err(), "{text}");
        }
    }
}
