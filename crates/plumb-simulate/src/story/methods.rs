//! Methods that a program calls: what their arguments are made of, and who may use what they answer.

use std::collections::{BTreeMap, BTreeSet};

use super::{Program, Prop, Res, Source, package_of, token_of};

/// A call of a method.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Method {
    /// The name by which resources use what it answers; one of a kind in the program.
    pub name: String,
    /// What it does (`world/methods.rs`).
    pub does: String,
    /// The resource that it belongs to; none for one that is a function of the package `test`.
    pub of: Option<String>,
    /// Arguments.
    pub arguments: BTreeMap<String, Prop>,
    /// Values tell by themselves what they depend on.
    pub wrapped: bool,
    /// provider option.
    pub provider: Option<String>,
}

impl Method {
    /// Names of the resources that must be registered before the call.
    pub fn needs(&self) -> impl Iterator<Item = &String> {
        let arguments = self.arguments.values().filter_map(Prop::from);
        self.of.iter().chain(&self.provider).chain(arguments)
    }

    /// Its token, for a resource of this type.
    pub fn token(&self, type_name: Option<&str>) -> String {
        let owner = type_name.map_or("test:m:free", token_of);
        format!("{owner}/{}", self.does)
    }
}

impl Prop {
    /// The method whose answer the value comes from.
    pub fn method(&self) -> Option<&String> {
        match &self.source {
            Source::Answer { method, .. } => Some(method),
            Source::Text(_) | Source::Output { .. } => None,
        }
    }
}

impl Res {
    /// Names of the methods that must have answered before it is registered.
    pub fn methods(&self) -> impl Iterator<Item = &String> {
        let values = self.properties.values().chain(&self.trigger);
        values.filter_map(Prop::method)
    }
}

impl Program {
    /// The method of this name.
    pub fn method(&self, name: &str) -> Option<&Method> {
        self.methods.iter().find(|method| method.name == name)
    }

    /// Drops what methods cannot have: what is not there, is of others, or is made by methods.
    pub(super) fn tidy_methods(&mut self) {
        let resources = &self.resources;
        let found = |name: &String| {
            let res = resources.iter().find(|res| res.name == *name)?;
            let is_own = res.snippet.is_none() && res.by.is_none() && !res.is_stack();
            is_own.then_some(res)
        };
        let mut names = BTreeSet::new();
        self.methods
            .retain(|method| names.insert(method.name.clone()));
        for method in &mut self.methods {
            // Nobody remembers who provides what was only read.
            method
                .of
                .take_if(|name| found(name).is_none_or(|res| res.read.is_some()));
            let package = method.of.as_ref().and_then(found);
            let package = package.map_or("test", |res| package_of(&res.type_name));
            let serves = |res: &Res| res.is_provider() && package_of(&res.type_name) == package;
            method
                .provider
                .take_if(|name| !found(name).is_some_and(serves));
            method.arguments.retain(|_, prop| {
                let gives = |name| found(name).is_some_and(|res| !res.is_component());
                prop.method().is_none() && prop.from().is_none_or(gives)
            });
        }
    }

    /// Drops what a resource cannot have of methods, where `earlier` are the resources before it: a method must not need
    /// the resource, and what a method makes is known to that method alone.
    pub(super) fn tidy_by_methods(&self, res: &mut Res, earlier: &[Res]) {
        let is_earlier = |name: &String| earlier.iter().any(|res| res.name == *name);
        let of_program = res.snippet.is_none() && !res.is_stack();
        let precedes = |name: &String| {
            let method = self.method(name).filter(|_| of_program);
            method.is_some_and(|method| method.needs().all(is_earlier))
        };
        res.by = res.by.take().filter(precedes);
        let is_free = res.by.is_none();
        let may_have = |prop: &Prop| prop.method().is_none_or(|name| is_free && precedes(name));
        res.properties.retain(|_, prop| may_have(prop));
        res.trigger = res.trigger.take().filter(may_have);
        res.outputs.retain(|_, prop| prop.method().is_none());
        if !is_free {
            res.remote = false;
            res.outputs.clear();
        }
    }

    /// Whether a method, or nobody in particular, knows `other` when it registers something.
    pub(super) fn is_known_to_maker(&self, by: Option<&str>, other: &Res) -> bool {
        match by.and_then(|name| self.method(name)) {
            None => other.by.is_none(),
            Some(method) => {
                let mut needs = method.needs();
                other.by.as_deref() == by || needs.any(|name| *name == other.name)
            }
        }
    }
}
