//! Traversal of expressions.

use plumb_pcl::{Expr, ExprKind, Step};

/// Calls `visit` for an expression and all of its subexpressions.
pub(crate) fn each(expr: &Expr, visit: &mut dyn FnMut(&Expr)) {
    visit(expr);
    let steps = |steps: &[Step], visit: &mut dyn FnMut(&Expr)| {
        for step in steps {
            if let Step::Index(index) = step {
                each(index, visit);
            }
        }
    };
    match &expr.kind {
        ExprKind::Null
        | ExprKind::Bool(_)
        | ExprKind::Number(_)
        | ExprKind::String(_)
        | ExprKind::Reference(_)
        | ExprKind::Variable(_) => {}
        ExprKind::Template(items) | ExprKind::List(items) | ExprKind::Call(_, items) => {
            for item in items {
                each(item, visit);
            }
        }
        ExprKind::Object(entries) => {
            for (key, value) in entries {
                each(key, visit);
                each(value, visit);
            }
        }
        ExprKind::Access(receiver, path) | ExprKind::Splat(receiver, path) => {
            each(receiver, visit);
            steps(path, visit);
        }
        ExprKind::For(it) => {
            each(&it.collection, visit);
            each(&it.result, visit);
            let rest = [&it.result_key, &it.condition].into_iter().flatten();
            for item in rest {
                each(item, visit);
            }
        }
        ExprKind::Conditional(it) => it.iter().for_each(|it| each(it, visit)),
        ExprKind::Unary(_, operand) => each(operand, visit),
        ExprKind::Binary(_, operands) => operands.iter().for_each(|it| each(it, visit)),
        ExprKind::Invoke(it) => {
            let parts = [&it.args, &it.provider, &it.parent, &it.depends_on];
            parts.into_iter().flatten().for_each(|it| each(it, visit));
        }
        ExprKind::Method(it) => {
            each(&it.receiver, visit);
            it.args.iter().for_each(|it| each(it, visit));
        }
    }
}

/// Whether an expression refers to one of `variables`.
pub(crate) fn mentions(expr: &Expr, variables: &[ecow::EcoString]) -> bool {
    let mut found = false;
    each(expr, &mut |expr| {
        if let ExprKind::Variable(name) = &expr.kind {
            found |= variables.contains(name);
        }
    });
    found
}

/// Indices of the definitions that an expression refers to.
pub(crate) fn references(expr: &Expr, found: &mut Vec<usize>) {
    each(expr, &mut |expr| {
        if let ExprKind::Reference(position) = expr.kind {
            found.push(position);
        }
    });
}
