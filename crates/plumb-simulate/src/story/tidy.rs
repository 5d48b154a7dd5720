//! Removal of illegal references from programs, so that every subset of a program is a program.

use super::{Program, Prop, Res, package_of};

/// Resources before one in its program that its source knows.
struct Earlier<'a> {
    program: &'a Program,
    /// Source of the resource.
    own: Option<String>,
    by: Option<String>,
}

impl Earlier<'_> {
    fn found(&self, name: &str) -> Option<&Res> {
        let mut others = self.program.resources.iter();
        others.find(|other| self.is_seen(other) && other.name == name)
    }

    /// Whether the source knows `other`; programs do not know resources of snippets.
    fn is_seen(&self, other: &Res) -> bool {
        let is_of_source = self.own.is_some() || other.snippet.is_none();
        is_of_source && self.program.is_known_to_maker(self.by.as_deref(), other)
    }

    fn is_resource(&self, name: &str) -> bool {
        self.found(name).is_some_and(|res| !res.is_stack())
    }

    /// Whether the source of a value is available; outputs of components are available only to other sources.
    fn gives(&self, prop: &Prop) -> bool {
        let gives =
            |other: &Res| !other.is_component() || (other.snippet != self.own && !other.is_stack());
        prop.from()
            .is_none_or(|name| self.found(name).is_some_and(gives))
    }

    fn provides(&self, name: &str) -> bool {
        self.found(name).is_some_and(Res::is_provider)
    }

    fn provides_package(&self, name: &str, package: &str) -> bool {
        let is_of_it = |res: &Res| res.is_provider() && package_of(&res.type_name) == package;
        self.found(name).is_some_and(is_of_it)
    }
}

impl Program {
    /// Removes references to missing or later resources, so that every subset of a program is a program.
    pub fn tidy(&mut self) {
        self.tidy_packages();
        self.tidy_methods();
        let all = std::mem::take(&mut self.resources);
        for mut res in all {
            if self.get(&res.name).is_none() {
                self.tidy_resource(&mut res);
                self.resources.push(res);
            }
        }
        self.tidy_asks();
        self.tidy_outputs();
    }

    fn tidy_resource(&self, res: &mut Res) {
        if res.is_stack() {
            res.snippet = None;
        }
        if res.snippet.is_some() {
            res.read = None;
            res.hooks.clear();
        }
        self.tidy_package_of(res);
        self.tidy_by_methods(res, &self.resources);
        let earlier = Earlier {
            program: self,
            own: res.snippet.clone(),
            by: res.by.clone(),
        };
        let is_resource = |name: &String| earlier.is_resource(name);
        res.properties.retain(|_, prop| earlier.gives(prop));
        res.trigger.take_if(|prop| !earlier.gives(prop));
        res.parent.take_if(|name| earlier.found(name).is_none());
        res.depends_on.retain(is_resource);
        res.deleted_with.take_if(|name| !is_resource(name));
        res.replace_with.retain(is_resource);
        let package = package_of(&res.type_name);
        let is_group = res.type_name == "Group";
        let fits = |name: &String| {
            earlier.provides_package(name, package) || (is_group && earlier.provides(name))
        };
        res.provider.take_if(|name| !fits(name));
        res.providers.retain(|name| earlier.provides(name));
        res.remote &= res.is_constructible();
    }

    /// Functions can use only resources that the program itself registers.
    fn tidy_asks(&mut self) {
        let resources = &self.resources;
        let found = |name: &String| {
            let is_own = |res: &&Res| res.snippet.is_none() && res.by.is_none();
            let mut resources = resources.iter().filter(is_own);
            resources.find(|res| res.name == *name)
        };
        for ask in &mut self.asks {
            let package = &ask.package;
            ask.needs
                .retain(|name| found(name).is_some_and(|res| !res.is_stack()));
            let serves = |res: &Res| res.is_provider() && package_of(&res.type_name) == package;
            ask.provider
                .take_if(|name| !found(name).is_some_and(serves));
        }
    }

    /// Stack outputs can use any resource of the same source.
    fn tidy_outputs(&mut self) {
        let gives = |res: &&Res| !res.is_component() && res.by.is_none();
        let givers = self.resources.iter().filter(gives);
        let givers: Vec<(String, Option<String>)> = givers
            .map(|res| (res.name.clone(), res.snippet.clone()))
            .collect();
        for res in &mut self.resources {
            let gives = |name: &String| {
                let mut givers = givers.iter();
                givers.any(|(giver, source)| giver == name && *source == res.snippet)
            };
            res.outputs.retain(|_, prop| prop.from().is_none_or(gives));
        }
    }
}
