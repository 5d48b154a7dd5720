//! Uniform resource names.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use rustc_hash::FxHasher;

use crate::{ROOT_STACK_TYPE, TypeToken};

const PREFIX: &str = "urn:pulumi:";

/// Name of a resource: `urn:pulumi:<stack>::<project>::<qualified type>::<name>`, see `engine.md` 1.1.
///
/// The name may itself contain `::`. Cloning shares the text.
///
/// The hash of the text is computed once and kept, so that a lookup in a table of URNs seldom compares texts.
#[derive(Clone)]
pub struct Urn {
    text: Arc<str>,
    hash: u32,
    /// Offsets of the project, the qualified type and the name.
    project: u32,
    qualified_type: u32,
    name: u32,
}

/// Error for a text that is not a URN.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid URN {text:?}")]
pub struct InvalidUrn {
    /// The rejected text.
    pub text: String,
}

impl Urn {
    /// Parses and checks `text`.
    pub fn parse(text: &str) -> Result<Self, InvalidUrn> {
        let invalid = || InvalidUrn {
            text: text.to_owned(),
        };
        let rest = text.strip_prefix(PREFIX).ok_or_else(invalid)?;
        let stack_end = rest.find("::").ok_or_else(invalid)?;
        let project = PREFIX.len() + stack_end + 2;
        let project_end = text[project..].find("::").ok_or_else(invalid)?;
        let qualified_type = project + project_end + 2;
        let type_end = text[qualified_type..].find("::").ok_or_else(invalid)?;
        let name = qualified_type + type_end + 2;
        Ok(Urn::at(text, project, qualified_type, name))
    }

    fn at(text: &str, project: usize, qualified_type: usize, name: usize) -> Self {
        Urn {
            text: text.into(),
            hash: hash_of(text),
            project: project as u32,
            qualified_type: qualified_type as u32,
            name: name as u32,
        }
    }

    /// The URN of a resource of type `token` called `name`, below `parent_type` (a qualified type).
    ///
    /// An empty parent type and the root stack's type contribute nothing.
    pub fn new(stack: &str, project: &str, parent_type: &str, token: &str, name: &str) -> Self {
        let qualifier = if parent_type.is_empty() || parent_type == ROOT_STACK_TYPE {
            ""
        } else {
            parent_type
        };
        let separator = if qualifier.is_empty() { "" } else { "$" };
        let parts = [
            PREFIX, stack, "::", project, "::", qualifier, separator, token, "::", name,
        ];
        let text = parts.concat();
        let project_at = PREFIX.len() + stack.len() + 2;
        let type_at = project_at + project.len() + 2;
        Urn::at(&text, project_at, type_at, text.len() - name.len())
    }

    /// The URN of the root stack resource.
    pub fn root_stack(stack: &str, project: &str) -> Self {
        Urn::new(
            stack,
            project,
            "",
            ROOT_STACK_TYPE,
            &format!("{project}-{stack}"),
        )
    }

    /// The whole text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Name of the stack.
    pub fn stack(&self) -> &str {
        &self.text[PREFIX.len()..self.project as usize - 2]
    }

    /// Name of the project.
    pub fn project(&self) -> &str {
        &self.text[self.project as usize..self.qualified_type as usize - 2]
    }

    /// Types of the ancestors and of the resource itself, joined by `$`.
    pub fn qualified_type(&self) -> &str {
        &self.text[self.qualified_type as usize..self.name as usize - 2]
    }

    /// The resource's own type.
    pub fn type_token(&self) -> TypeToken {
        TypeToken::new(self.type_text())
    }

    /// The resource's own type, as text.
    pub fn type_text(&self) -> &str {
        let qualified = self.qualified_type();
        match qualified.as_bytes().iter().rposition(|byte| *byte == b'$') {
            Some(at) => &qualified[at + 1..],
            None => qualified,
        }
    }

    /// The resource's name.
    pub fn name(&self) -> &str {
        &self.text[self.name as usize..]
    }

    /// Whether the URN names the root stack resource.
    pub fn is_root_stack(&self) -> bool {
        self.qualified_type() == ROOT_STACK_TYPE
    }

    /// Whether the URN names a default provider: a provider whose name starts with `default`.
    pub fn is_default_provider(&self) -> bool {
        self.name().starts_with("default") && self.type_token().is_provider()
    }

    /// The URN of the same resource below another parent type.
    #[must_use]
    pub fn with_parent_type(&self, parent_type: &str) -> Self {
        Urn::new(
            self.stack(),
            self.project(),
            parent_type,
            self.type_text(),
            self.name(),
        )
    }

    /// The URN of the same resource under another name.
    #[must_use]
    pub fn with_name(&self, name: &str) -> Self {
        let text = [&self.text[..self.name as usize], name].concat();
        Urn::at(
            &text,
            self.project as usize,
            self.qualified_type as usize,
            self.name as usize,
        )
    }
}

impl PartialEq for Urn {
    fn eq(&self, other: &Self) -> bool {
        self.hash == other.hash && (Arc::ptr_eq(&self.text, &other.text) || self.text == other.text)
    }
}

impl Eq for Urn {}

impl Hash for Urn {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u32(self.hash);
    }
}

/// Hash of a URN's text. Equal texts have equal hashes within one process.
fn hash_of(text: &str) -> u32 {
    let mut hasher = FxHasher::default();
    text.hash(&mut hasher);
    let hash = hasher.finish();
    (hash ^ (hash >> 32)) as u32
}

impl PartialOrd for Urn {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Urn {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.text.cmp(&other.text)
    }
}

impl fmt::Display for Urn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for Urn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.text, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_contain_the_separator() {
        let urn = Urn::parse("urn:pulumi:s::p::a:b:C$d:e:F::x::y").unwrap();
        assert_eq!((urn.stack(), urn.project()), ("s", "p"));
        assert_eq!(
            (urn.qualified_type(), urn.type_text(), urn.name()),
            ("a:b:C$d:e:F", "d:e:F", "x::y")
        );
        assert_eq!(Urn::new("s", "p", "a:b:C", "d:e:F", "x::y"), urn);
    }

    #[test]
    fn the_root_stack_qualifies_nothing() {
        let urn = Urn::new("s", "p", ROOT_STACK_TYPE, "a:b:C", "x");
        assert_eq!(urn.as_str(), "urn:pulumi:s::p::a:b:C::x");
        assert!(Urn::root_stack("s", "p").is_root_stack());
    }

    #[test]
    fn text_with_too_few_parts_is_refused() {
        for text in [
            "",
            "urn:pulumi:",
            "urn:pulumi:s::p",
            "urn:pulumi:s::p::t",
            "arn:s::p::t::n",
        ] {
            assert!(Urn::parse(text).is_err(), "{text}");
        }
    }
}
