//! Order of the actions of a sequential program.

use super::{Method, Program, Res};

/// An action of a program.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Item<'a> {
    /// Registration of a resource, by the program or by the method that creates it.
    Resource(&'a Res),
    /// Call of the function with this number.
    Ask(usize),
    /// Call of a method.
    Method(&'a Method),
}

/// Completed actions.
#[derive(Default)]
struct Done<'a> {
    items: Vec<Item<'a>>,
    waiting: Vec<&'a Res>,
    asks: Vec<usize>,
    methods: Vec<&'a Method>,
}

impl Program {
    /// Actions of the program, each after its dependencies: methods and functions as early as possible, resources in
    /// source order.
    pub(crate) fn in_order(&self) -> Vec<Item<'_>> {
        let mut done = Done {
            items: Vec::new(),
            waiting: self.resources.iter().collect(),
            asks: (0..self.asks.len()).collect(),
            methods: self.methods.iter().collect(),
        };
        while done.next(self) {}
        done.items
    }
}

impl<'a> Done<'a> {
    /// Adds the next action; returns whether there was one.
    fn next(&mut self, program: &'a Program) -> bool {
        let has = |name: &String| self.has(name);
        let can_call = |it: &&Method| {
            let is_made = |res: &&Res| res.by.as_ref() == Some(&it.name);
            let mut made = program.resources.iter().filter(is_made);
            let is_own = |name: &String| {
                let res = program.get(name);
                res.is_some_and(|res| is_made(&res))
            };
            let mut ready = |res| program.needs_of(res).all(|it| is_own(it) || has(it));
            it.needs().all(has) && made.all(&mut ready)
        };
        if let Some(at) = self.methods.iter().position(can_call) {
            let method = self.methods.remove(at);
            self.items.push(Item::Method(method));
            return true;
        }
        let needs = |number: usize| {
            let ask = &program.asks[number];
            ask.needs.iter().chain(&ask.provider)
        };
        if let Some(at) = self.asks.iter().position(|it| needs(*it).all(has)) {
            let number = self.asks.remove(at);
            self.items.push(Item::Ask(number));
            return true;
        }
        let called = |name: &String| self.has_called(name);
        let is_ready = |res: &&Res| {
            let mut methods = res.methods().chain(&res.by);
            methods.all(called) && program.needs_of(res).all(has)
        };
        let Some(at) = self.waiting.iter().position(is_ready) else {
            return false;
        };
        let res = self.waiting.remove(at);
        self.items.push(Item::Resource(res));
        true
    }

    fn has(&self, name: &String) -> bool {
        let mut items = self.items.iter();
        items.any(|item| matches!(item, Item::Resource(res) if res.name == *name))
    }

    fn has_called(&self, name: &String) -> bool {
        let mut items = self.items.iter();
        items.any(|item| matches!(item, Item::Method(method) if method.name == *name))
    }
}
