//! Methods that a program calls: their arguments, and the resources that may use their results.

use std::collections::{BTreeMap, BTreeSet};

use super::{Program, Prop, Res, Source, package_of, token_of};

/// A call of a method.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Method {
    /// Unique name in the program, by which resources use the result.
    pub name: String,
    /// Behaviour (`world/methods.rs`).
    pub does: String,
    /// Resource of the method; `None` for a method of the package `test`.
    pub of: Option<String>,
    /// Arguments.
    pub arguments: BTreeMap<String, Prop>,
    /// Whether arguments are output values, which contain their own dependencies.
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

    /// Token of the method, for a resource of this type.
    pub fn token(&self, type_name: Option<&str>) -> String {
        let owner = type_name.map_or("test:m:free", token_of);
        format!("{owner}/{}", self.does)
    }
}

impl Prop {
    /// Method whose result is the source of the value.
    pub fn method(&self) -> Option<&String> {
        match &self.source {
            Source::Answer { method, .. } => Some(method),
            Source::Text(_) | Source::Output { .. } => None,
        }
    }
}

impl Res {
    /// Names of the methods that must have returned before the registration.
    pub fn methods(&self) -> impl Iterator<Item = &String> {
        let values = self.properties.values().chain(&self.trigger);
        values.filter_map(Prop::method)
    }
}

impl Program {
    /// Method with this name.
    pub fn method(&self, name: &str) -> Option<&Method> {
        self.methods.iter().find(|method| method.name == name)
    }

    /// Removes illegal references of methods: to missing resources, resources of other sources, or ones that methods
    /// create.
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
            // The provider of a resource that was only read is not recorded.
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

    /// Removes illegal references of a resource to methods; `earlier` are the resources before it. The method must not
    /// depend on the resource, and only the creating method knows a resource that it creates.
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

    /// Whether the method `by`, or any source if `None`, knows `other` when it registers a resource.
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
