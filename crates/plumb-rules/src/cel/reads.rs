//! Properties that expressions may read.

use cel::Program;
use cel::common::ast::{CallExpr, ComprehensionExpr, EntryExpr, Expr, IdedExpr, LiteralValue};
use plumb_resource::policy::PolicyKind;

use crate::reads::{Reads, Step, Steps};

/// Properties that the expressions of a policy may read.
pub(super) fn of_programs<'a>(
    kind: PolicyKind,
    programs: impl Iterator<Item = &'a Program>,
) -> Reads {
    let mut reader = Reader {
        kind,
        bound: Vec::new(),
        reads: Reads::default(),
    };
    for program in programs {
        reader.visit(program.expression());
    }
    reader.reads
}

struct Reader<'a> {
    kind: PolicyKind,
    /// Variables of the comprehensions around the current expression, with the places that their values come from.
    bound: Vec<(&'a str, Option<Steps>)>,
    reads: Reads,
}

/// Operator of `a[b]`.
const INDEX: [&str; 2] = ["_[_]", "_[?_]"];
/// Operator of `a.?b`.
const OPTIONAL_SELECT: &str = "_?._";

impl<'a> Reader<'a> {
    /// Notes the reads of an expression.
    fn visit(&mut self, expr: &'a IdedExpr) {
        if let Some(place) = self.place(&expr.expr) {
            if let Some(properties) = self.properties(&place) {
                match &expr.expr {
                    Expr::Select(select) if select.test => self.reads.add_presence(properties),
                    _ => self.reads.add(properties),
                }
            }
            self.visit_indexes(&expr.expr);
            return;
        }
        match &expr.expr {
            Expr::Call(call) => self.visit_call(call),
            Expr::Comprehension(comprehension) => self.visit_comprehension(comprehension),
            Expr::List(list) => list.elements.iter().for_each(|item| self.visit(item)),
            Expr::Map(map) => map.entries.iter().for_each(|it| self.visit_entry(&it.expr)),
            Expr::Struct(fields) => fields
                .entries
                .iter()
                .for_each(|it| self.visit_entry(&it.expr)),
            Expr::Select(select) => self.visit(&select.operand),
            Expr::Unspecified | Expr::Ident(_) | Expr::Literal(_) => {}
        }
    }

    fn visit_entry(&mut self, entry: &'a EntryExpr) {
        match entry {
            EntryExpr::StructField(field) => self.visit(&field.value),
            EntryExpr::MapEntry(entry) => {
                self.visit(&entry.key);
                self.visit(&entry.value);
            }
        }
    }

    fn visit_call(&mut self, call: &'a CallExpr) {
        let operands = || call.target.as_deref().into_iter().chain(&call.args);
        for operand in operands() {
            // The size of a list depends on its elements being there, and not on what they hold.
            if call.func_name == "size" && self.iterate(&operand.expr) {
                self.visit_indexes(&operand.expr);
                continue;
            }
            self.visit(operand);
        }
    }

    /// Notes that an expression goes through the elements of a collection; false for a collection that is computed.
    fn iterate(&mut self, collection: &Expr) -> bool {
        let Some(mut place) = self.place(collection) else {
            return false;
        };
        place.push(Step::Any);
        if let Some(elements) = self.properties(&place) {
            self.reads.add_presence(elements);
        }
        true
    }

    fn visit_comprehension(&mut self, comprehension: &'a ComprehensionExpr) {
        let range = self.place(&comprehension.iter_range.expr);
        if self.iterate(&comprehension.iter_range.expr) {
            self.visit_indexes(&comprehension.iter_range.expr);
        } else {
            self.visit(&comprehension.iter_range);
        }
        self.visit(&comprehension.accu_init);
        let depth = self.bound.len();
        let element = range.map(|mut place| {
            place.push(Step::Any);
            place
        });
        if let Some(value) = &comprehension.iter_var2 {
            // Of two variables, the first is the key.
            self.bound.push((&comprehension.iter_var, None));
            self.bound.push((value, element));
        } else {
            self.bound.push((&comprehension.iter_var, element));
        }
        self.bound.push((&comprehension.accu_var, None));
        self.visit(&comprehension.loop_cond);
        if is_filter(comprehension) {
            self.visit_filter_step(comprehension);
        } else {
            self.visit(&comprehension.loop_step);
        }
        self.visit(&comprehension.result);
        self.bound.truncate(depth);
    }

    /// The condition of `condition ? accumulator + [element] : accumulator`.
    fn visit_filter_step(&mut self, comprehension: &'a ComprehensionExpr) {
        if let Expr::Call(call) = &comprehension.loop_step.expr
            && let Some(condition) = call.args.first()
        {
            self.visit(condition);
        }
    }

    /// Notes the reads of the indexes in a place, as in `props.tags[props.key]`.
    fn visit_indexes(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Select(select) => self.visit_indexes(&select.operand.expr),
            Expr::Call(call) => {
                let mut operands = call.target.as_deref().into_iter().chain(&call.args);
                if let Some(of) = operands.next() {
                    self.visit_indexes(&of.expr);
                }
                operands.for_each(|index| self.visit(index));
            }
            Expr::Comprehension(filter) => self.visit_comprehension(filter),
            _ => {}
        }
    }

    /// The place of a value below the variables of the language; `None` for values that are computed.
    fn place(&self, expr: &Expr) -> Option<Steps> {
        match expr {
            Expr::Ident(name) => {
                let mut bound = self.bound.iter().rev();
                match bound.find(|(bound, _)| bound == name) {
                    Some((_, place)) => place.clone(),
                    None => Some(vec![Step::Key(name.clone())]),
                }
            }
            Expr::Select(select) => {
                let mut place = self.place(&select.operand.expr)?;
                place.push(Step::Key(select.field.clone()));
                Some(place)
            }
            Expr::Call(call)
                if INDEX.contains(&call.func_name.as_str())
                    || call.func_name == OPTIONAL_SELECT =>
            {
                let mut operands = call.target.as_deref().into_iter().chain(&call.args);
                let mut place = self.place(&operands.next()?.expr)?;
                place.push(match &operands.next()?.expr {
                    Expr::Literal(LiteralValue::String(key)) => Step::Key(key.inner().to_owned()),
                    Expr::Literal(LiteralValue::Int(index)) => Step::Key(index.inner().to_string()),
                    _ => Step::Any,
                });
                Some(place)
            }
            // A filtered list holds elements of the list that is filtered.
            Expr::Comprehension(comprehension) if is_filter(comprehension) => {
                self.place(&comprehension.iter_range.expr)
            }
            _ => None,
        }
    }

    /// The part of a place below the properties of a resource; `None` if no property is read.
    fn properties(&self, place: &[Step]) -> Option<Steps> {
        let (Step::Key(root), rest) = place.split_first()? else {
            return None;
        };
        match (self.kind, root.as_str()) {
            (PolicyKind::Resource, "props") => Some(rest.to_vec()),
            (PolicyKind::Resource, "resource") => below_resource(rest),
            (PolicyKind::Stack, "resources") => match rest.split_first() {
                Some((_, rest)) => below_resource(rest),
                None => Some(Vec::new()),
            },
            _ => None,
        }
    }
}

/// The part of a path below the properties of a resource.
fn below_resource(path: &[Step]) -> Option<Steps> {
    match path.split_first() {
        None | Some((Step::Any, _)) => Some(Vec::new()),
        Some((Step::Key(key), rest)) => (key == "props").then(|| rest.to_vec()),
    }
}

/// Whether a comprehension is what `filter` becomes: it collects elements as they are.
fn is_filter(comprehension: &ComprehensionExpr) -> bool {
    let Expr::List(start) = &comprehension.accu_init.expr else {
        return false;
    };
    let Expr::Call(choice) = &comprehension.loop_step.expr else {
        return false;
    };
    let [_, taken, left] = choice.args.as_slice() else {
        return false;
    };
    let Expr::Call(sum) = &taken.expr else {
        return false;
    };
    let is = |expr: &Expr, name: &str| matches!(expr, Expr::Ident(it) if it == name);
    let appends = sum.args.iter().any(|it| match &it.expr {
        Expr::List(list) => {
            list.elements.len() == 1 && is(&list.elements[0].expr, &comprehension.iter_var)
        }
        _ => false,
    });
    start.elements.is_empty() && appends && is(&left.expr, &comprehension.accu_var)
}
