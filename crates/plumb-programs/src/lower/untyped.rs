//! Values whose type a typed script does not know: `any` in TypeScript.

use std::collections::HashMap;

use plumb_pcl::{Callee, DefinitionKind, Expr, ExprKind, Program, Type};

/// Whether local values are untyped, by their index, as far as asked for.
#[derive(Default)]
pub(super) struct Untyped {
    known: HashMap<usize, bool>,
    /// Variables of the enclosing loops, with whether they are untyped.
    variables: Vec<(ecow::EcoString, bool)>,
}

impl Untyped {
    /// Whether the program, written down, says nothing about the type of `expr`: because it is not known, or because the
    /// expression looks something up.
    pub(super) fn is(&mut self, program: &Program, expr: &Expr) -> bool {
        let ty = expr.ty.without_none().expand();
        let is_collection = matches!(ty, Type::Map(_) | Type::List(_));
        if ty == Type::Dynamic || (is_collection && ty.element() == Type::Dynamic) {
            return true;
        }
        match &expr.kind {
            ExprKind::Call(Callee::Lookup | Callee::Try | Callee::NotImplemented, _) => true,
            ExprKind::Call(_, args) => args.first().is_some_and(|it| self.is(program, it)),
            ExprKind::Access(receiver, _) => self.is(program, receiver),
            ExprKind::Conditional(it) => self.is(program, &it[1]) || self.is(program, &it[2]),
            ExprKind::Variable(name) => {
                let mut variables = self.variables.iter().rev();
                variables.find(|(it, _)| it == name).is_some_and(|it| it.1)
            }
            // The result of a loop over a map, functions, and outputs of components.
            ExprKind::For(it) => it.result_key.is_some(),
            ExprKind::Invoke(_) | ExprKind::Method(_) => true,
            ExprKind::Reference(index) => self.local(program, *index),
            _ => false,
        }
    }

    fn local(&mut self, program: &Program, index: usize) -> bool {
        if let Some(known) = self.known.get(&index) {
            return *known;
        }
        let value = match &program.definitions[index].kind {
            DefinitionKind::Local(value) => value,
            DefinitionKind::Component(_) => return true,
            _ => return false,
        };
        self.known.insert(index, false);
        let found = self.is(program, value);
        self.known.insert(index, found);
        found
    }

    pub(super) fn enter(&mut self, variable: &ecow::EcoString, is_untyped: bool) {
        self.variables.push((variable.clone(), is_untyped));
    }

    pub(super) fn leave(&mut self) {
        self.variables.pop();
    }
}
