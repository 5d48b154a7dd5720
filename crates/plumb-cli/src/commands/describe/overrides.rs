//! Overrides for the description of the command line: commands that are excluded, and flags that are omitted from
//! generated options or have a preset value.
//!
//! A scope applies to the command at its path, and with `propagate` also to its subcommands. Rules of longer paths
//! take precedence.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use plumb_operate::Error;
use serde::Deserialize;
use serde_json::{Map, Value as Json};

#[derive(Debug, Deserialize)]
pub(super) struct Overrides {
    #[serde(default)]
    scopes: Vec<Scope>,
}

#[derive(Debug, Deserialize)]
struct Scope {
    #[serde(default)]
    path: Vec<String>,
    #[serde(default)]
    propagate: bool,
    #[serde(default)]
    exclude: bool,
    #[serde(default)]
    flags: BTreeMap<String, Rule>,
}

#[derive(Clone, Debug, Default, Deserialize)]
struct Rule {
    omit: Option<bool>,
    preset: Option<Json>,
}

impl Overrides {
    pub(super) fn read(path: &Path) -> Result<Self, Error> {
        let failed = |what: &str, error: &dyn std::fmt::Display| {
            let path = path.display();
            Error::user(format!("failed to {what} overrides file: {path}: {error}"))
        };
        let text = fs::read_to_string(path).map_err(|error| failed("read", &error))?;
        serde_json::from_str(&text).map_err(|error| failed("parse", &error))
    }

    /// The description with the overrides applied; null if the root is excluded.
    pub(super) fn apply(&self, root: Json) -> Json {
        self.node(root, &mut Vec::new(), &Map::new())
            .unwrap_or(Json::Null)
    }

    fn node(
        &self,
        mut node: Json,
        path: &mut Vec<String>,
        inherited: &Map<String, Json>,
    ) -> Option<Json> {
        if self.scopes_of(path).any(|scope| scope.exclude) {
            return None;
        }
        let object = node.as_object_mut()?;
        let mut flags = match object.remove("flags") {
            Some(Json::Object(flags)) => flags,
            _ => Map::new(),
        };
        self.change_flags(&mut flags, path, inherited);
        if let Some(Json::Object(commands)) = object.remove("commands") {
            let mut known = inherited.clone();
            known.extend(flags.clone());
            let mut kept = Map::new();
            for (name, command) in commands {
                path.push(name.clone());
                kept.extend(self.node(command, path, &known).map(|it| (name, it)));
                path.pop();
            }
            object.insert("commands".to_owned(), Json::Object(kept));
        }
        object.insert("flags".to_owned(), Json::Object(flags));
        Some(node)
    }

    fn change_flags(
        &self,
        flags: &mut Map<String, Json>,
        path: &[String],
        inherited: &Map<String, Json>,
    ) {
        for (name, rule) in self.rules(path) {
            let Some(mut flag) = flags.get(&name).or_else(|| inherited.get(&name)).cloned() else {
                continue;
            };
            if rule.omit == Some(true) {
                flag["omit"] = true.into();
            }
            if let Some(preset) = rule.preset {
                flag["preset"] = preset;
            }
            flags.insert(name, flag);
        }
    }

    /// Rules for the flags of a command.
    fn rules(&self, path: &[String]) -> BTreeMap<String, Rule> {
        let mut scopes: Vec<&Scope> = self.scopes_of(path).collect();
        scopes.sort_by_key(|scope| scope.path.len());
        let mut rules: BTreeMap<String, Rule> = BTreeMap::new();
        for (name, rule) in scopes.iter().flat_map(|scope| &scope.flags) {
            let known = rules.entry(name.clone()).or_default();
            known.omit = rule.omit.or(known.omit);
            known.preset = rule.preset.clone().or(known.preset.take());
        }
        rules
    }

    fn scopes_of<'a>(&'a self, path: &'a [String]) -> impl Iterator<Item = &'a Scope> {
        self.scopes.iter().filter(move |scope| {
            let is_above = scope.propagate && path.starts_with(&scope.path);
            is_above || scope.path == path
        })
    }
}
