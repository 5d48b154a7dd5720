//! Tokens of a package, declared before its members are bound.

use std::sync::LazyLock;

use regex::Regex;
use rustc_hash::FxHashMap;

use super::{Binder, pattern, place};
use crate::document::Node;
use crate::problem::At;

/// A declared member.
#[derive(Clone, Copy)]
pub(super) struct Declared<'d> {
    pub(super) token: &'d str,
    /// Offset of its token.
    pub(super) offset: u32,
    pub(super) node: &'d Node<'d>,
}

/// The members of one section, sorted by token.
pub(super) struct Section<'d> {
    pub(super) key: &'static str,
    /// Offset of the section.
    pub(super) offset: u32,
    pub(super) members: Vec<Declared<'d>>,
    positions: FxHashMap<&'d str, usize>,
}

/// The sections of a package.
pub(super) struct Sections<'d> {
    pub(super) types: Section<'d>,
    pub(super) resources: Section<'d>,
    pub(super) functions: Section<'d>,
}

impl<'d> Section<'d> {
    fn declare(root: &'d Node<'d>, key: &'static str) -> Self {
        let entry = root
            .entries()
            .iter()
            .rev()
            .find(|(name, _)| name.name == key);
        let mut latest: FxHashMap<&str, Declared<'d>> = FxHashMap::default();
        for (key, node) in entry.map(|(_, node)| node.entries()).unwrap_or_default() {
            let declared = Declared {
                token: &key.name,
                offset: key.offset,
                node,
            };
            latest.insert(&key.name, declared);
        }
        let mut members: Vec<Declared<'d>> = latest.into_values().collect();
        members.sort_unstable_by_key(|member| member.token);
        let positions = members
            .iter()
            .enumerate()
            .map(|(index, member)| (member.token, index))
            .collect();
        Section {
            key,
            offset: entry.map_or(0, |(name, _)| name.offset),
            members,
            positions,
        }
    }

    pub(super) fn position(&self, token: &str) -> Option<usize> {
        self.positions.get(token).copied()
    }

    /// Position of the section.
    pub(super) fn at(&self) -> At<'static> {
        At::ROOT_REF.key(self.key, self.offset)
    }
}

impl<'d> Sections<'d> {
    pub(super) fn declare(root: &'d Node<'d>) -> Self {
        Sections {
            types: Section::declare(root, "types"),
            resources: Section::declare(root, "resources"),
            functions: Section::declare(root, "functions"),
        }
    }
}

/// Maximum length of a token in bytes. Long tokens are expensive, because each part of a token's module is a name of its
/// own.
pub(super) const TOKEN_LIMIT: usize = 1_000;

static TOKEN: LazyLock<Regex> = LazyLock::new(|| {
    pattern("^[a-zA-Z][-a-zA-Z0-9_]*:([^0-9][a-zA-Z0-9._/-]*)?:[^0-9][a-zA-Z0-9._/]*$")
});
static FUNCTION_TOKEN: LazyLock<Regex> = LazyLock::new(|| {
    pattern("^[a-zA-Z][-a-zA-Z0-9_]*:([^0-9][a-zA-Z0-9._/-]*)?:[^0-9][a-zA-Z0-9._/-]*$")
});

impl<'d> Binder<'d, '_> {
    /// Checks the tokens of all members (`schema.md` 11).
    pub(super) fn check_tokens(&mut self) {
        for key in ["types", "resources", "functions"] {
            let section = match key {
                "types" => &self.sections.types,
                "resources" => &self.sections.resources,
                _ => &self.sections.functions,
            };
            let at = section.at();
            for member in section.members.clone() {
                self.check_token(key, member, &at.key(member.token, member.offset));
            }
        }
    }

    fn check_token(&mut self, section: &str, member: Declared<'d>, at: &At<'_>) {
        let token = member.token;
        if token.len() > TOKEN_LIMIT {
            let message = format!("the token is longer than {TOKEN_LIMIT} characters");
            self.problems.error(at, message);
            return;
        }
        let parts: Vec<&str> = token.split(':').collect();
        let [package, module, name] = parts[..] else {
            let message = format!("invalid token '{token}' (should have three parts)");
            self.problems
                .expected(at, message, "`<package>:<module>:<name>`");
            return;
        };
        self.check_token_package(section, package, module, token, at);
        let is_root = module.is_empty() || module.eq_ignore_ascii_case("index");
        if section == "resources" && is_root && name.eq_ignore_ascii_case("provider") {
            let message = format!("'{token}' is a reserved name for the provider resource");
            self.problems
                .expected(at, message, "another name, or the section `provider`");
        }
        if name == "pulumi" {
            let kind = section.trim_end_matches('s');
            let message = format!("'pulumi' is a reserved name, cannot name {kind}");
            self.problems.error(at, message);
        }
        if self.module_format.module_of(token).starts_with("index/") {
            let message = format!("the module of '{token}' must not begin with 'index/'");
            self.problems.error(at, message);
        }
        let expected = if section == "functions" {
            &FUNCTION_TOKEN
        } else {
            &TOKEN
        };
        if !expected.is_match(token) {
            self.problems.expected(
                at,
                format!("invalid token '{token}'"),
                "letters, digits, `.`, `_`, `/` and `-` in its parts, none beginning with a digit",
            );
        }
    }

    fn check_token_package(
        &mut self,
        section: &str,
        package: &str,
        module: &str,
        token: &str,
        at: &At<'_>,
    ) {
        if package == self.name || self.allowed.contains(&package) {
            return;
        }
        if section == "functions" && package == "pulumi" {
            if module != "providers" {
                let message =
                    format!("invalid token '{token}' (must have a module name in [providers])");
                self.problems.error(at, message);
            }
            return;
        }
        let names: Vec<&str> = std::iter::once(self.name)
            .chain(self.allowed.iter().copied())
            .collect();
        let message = format!(
            "invalid token '{token}' (must have package name '{}')",
            names.join("' or '")
        );
        self.problems.error(at, message);
    }

    /// Position of a member of the root other than a section.
    pub(super) fn root_place(&self, key: &'static str) -> At<'static> {
        place(At::ROOT_REF, self.root, key)
    }
}
