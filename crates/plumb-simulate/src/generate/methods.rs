//! Calls of methods in programs, with uses of their results and resources that they create.

use std::collections::BTreeMap;

use crate::dice::Dice;
use crate::story::{CallKind, Fault, FaultKind, Method, Program, Prop, Res, Source, Story, Verb};

const NAMES: [&str; 3] = ["m", "n", "o"];

/// Current choices, used for later operations.
#[derive(Default)]
struct Present {
    methods: Vec<Method>,
    /// Properties with results of methods, by resource.
    used: BTreeMap<String, Prop>,
    /// Methods by the resource that they create.
    makers: BTreeMap<String, String>,
}

/// Adds methods to a story, if its seed selects them.
pub(super) fn add(seed: u64, story: &mut Story) {
    let mut dice = Dice::new(seed ^ 0x6d65_7468_6f64);
    if !dice.one_in(4) {
        return;
    }
    let mut present = Present::default();
    for operation in &mut story.operations {
        if operation.verb != Verb::Up && !operation.flags.run_program {
            continue;
        }
        let program = &mut operation.program;
        if operation.verb == Verb::Up {
            present.change(&mut dice, program);
        }
        present.write_into(program);
        program.tidy();
        if let (true, Some(method)) = (dice.one_in(16), dice.pick(&program.methods)) {
            operation.faults.push(Fault {
                call: CallKind::Call,
                name: method.name.clone(),
                kind: FaultKind::Clean,
            });
        }
    }
}

impl Present {
    fn change(&mut self, dice: &mut Dice, program: &Program) {
        if dice.one_in(4) && !self.methods.is_empty() {
            self.methods.remove(dice.below(self.methods.len()));
        }
        let free = NAMES.iter().find(|name| self.get(name).is_none());
        if let (true, Some(name)) = (dice.one_in(2), free) {
            let method = fresh(dice, name, program);
            self.methods.push(method);
        }
        let Some(method) = dice.pick(&self.methods).cloned() else {
            return;
        };
        let Some(res) = dice.pick(&program.resources) else {
            return;
        };
        match dice.below(6) {
            0 => drop(self.used.remove(&res.name)),
            1 => drop(self.makers.remove(&res.name)),
            2 => drop(self.makers.insert(res.name.clone(), method.name)),
            _ => {
                let key = ["x", "y", "x"][dice.below(3)].to_owned();
                let source = Source::Answer {
                    method: method.name,
                    key,
                };
                let secret = dice.one_in(8);
                let value = Prop { secret, source };
                self.used.insert(res.name.clone(), value);
            }
        }
    }

    fn get(&self, name: &str) -> Option<&Method> {
        self.methods.iter().find(|method| method.name == name)
    }

    fn write_into(&self, program: &mut Program) {
        program.methods.clone_from(&self.methods);
        for res in &mut program.resources {
            res.by = self.makers.get(&res.name).cloned();
            if let Some(value) = self.used.get(&res.name) {
                take(res, value);
            }
        }
    }
}

/// Sets an input of a resource to the result of a method, if possible.
fn take(res: &mut Res, value: &Prop) {
    if res.is_stack() {
        return;
    }
    let number = res.name.bytes().last().unwrap_or_default();
    match number % 4 {
        0 if res.is_managed() => res.trigger = Some(value.clone()),
        1 => drop(res.properties.insert("r".to_owned(), value.clone())),
        _ => drop(res.properties.insert("v".to_owned(), value.clone())),
    }
}

fn fresh(dice: &mut Dice, name: &str, program: &Program) -> Method {
    let mut method = Method {
        name: name.to_owned(),
        does: ["echo", "tells", "hides"][dice.below(3)].to_owned(),
        wrapped: dice.one_in(2),
        ..Method::default()
    };
    let resources = &program.resources;
    if !dice.one_in(4) {
        method.of = dice.pick(resources).map(|res| res.name.clone());
    }
    let providers: Vec<&Res> = resources.iter().filter(|res| res.is_provider()).collect();
    if dice.one_in(4) {
        method.provider = dice.pick(&providers).map(|res| res.name.clone());
    }
    for key in ["x", "y"] {
        let value = match dice.pick(resources).filter(|_| dice.one_in(2)) {
            Some(res) => Prop::output(&res.name, ["v", "oid"][dice.below(2)]),
            None => Prop::text(dice.below(3).to_string()),
        };
        let secret = dice.one_in(5);
        let value = Prop { secret, ..value };
        method.arguments.insert(key.to_owned(), value);
    }
    method
}
