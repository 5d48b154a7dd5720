//! Detection of objects that require themselves (`schema.md` 6); such a type has no finite value.

use super::Binder;
use crate::bound::{Package, TypeKind, TypeShape};

#[derive(Clone, Copy, PartialEq)]
enum State {
    New,
    Open,
    Done,
}

impl<'d> Binder<'d, '_> {
    /// Depth-first search over required properties. Not recursive, because chains of types can be as long as the schema.
    pub(super) fn check_cycles(&mut self, package: &Package<'d>) {
        let mut states = vec![State::New; package.types.len()];
        for start in 0..package.types.len() {
            if states[start] != State::New {
                continue;
            }
            let mut path = vec![(start, needs(package, start))];
            states[start] = State::Open;
            while let Some((current, open)) = path.last_mut() {
                let current = *current;
                match open.pop() {
                    None => {
                        states[current] = State::Done;
                        path.pop();
                    }
                    Some(next) if states[next] == State::Open => {
                        let steps = path.iter().map(|(step, _)| *step);
                        let cycle: Vec<usize> = steps.skip_while(|step| *step != next).collect();
                        self.report_cycle(package, &cycle);
                    }
                    Some(next) if states[next] == State::New => {
                        states[next] = State::Open;
                        path.push((next, needs(package, next)));
                    }
                    Some(_) => {}
                }
            }
        }
    }

    fn report_cycle(&mut self, package: &Package<'d>, cycle: &[usize]) {
        let Some(first) = cycle.first() else { return };
        let mut names: Vec<&str> = cycle
            .iter()
            .take(20)
            .map(|position| package.types[*position].token)
            .collect();
        if cycle.len() > names.len() {
            names.push("...");
        }
        names.push(package.types[*first].token);
        let section = self.sections.types.at();
        let member = &self.sections.types.members[*first];
        self.problems.error(
            &section.key(member.token, member.offset),
            format!(
                "object type has unsatisfiable required-property cycle: {}",
                names.join(" -> ")
            ),
        );
    }
}

/// Objects required by the value of an object, in reverse order.
fn needs(package: &Package<'_>, position: usize) -> Vec<usize> {
    let TypeShape::Object(object) = &package.types[position].shape else {
        return Vec::new();
    };
    let required = object
        .properties
        .iter()
        .filter(|property| property.required);
    let mut needed: Vec<usize> = required
        .filter_map(|property| match property.ty.kind {
            TypeKind::Defined(position) => Some(position),
            _ => None,
        })
        .collect();
    needed.reverse();
    needed
}
