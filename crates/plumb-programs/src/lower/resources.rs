//! Lists of resources, for options.

use ecow::EcoString;
use plumb_pcl::{Expr, ExprKind, Type};

use super::Lowering;
use crate::tree::{Collected, Group, Loop, Resources, Tree};

impl Lowering<'_> {
    /// Resources that an option names: one by one, or all that a range makes.
    pub(crate) fn resources(&mut self, expr: &Expr) -> Resources {
        let ExprKind::List(items) = &expr.kind else {
            return Resources::Plain(self.flat(expr));
        };
        match &items[..] {
            [item] if is_several(item) => Resources::Plain(self.flat(item)),
            items if items.iter().any(is_several) => {
                let groups = items.iter().map(|item| {
                    let tree = self.flat(item);
                    if is_several(item) {
                        Group::Several(tree)
                    } else {
                        Group::One(tree)
                    }
                });
                Resources::Mixed(groups.collect())
            }
            _ => Resources::Plain(self.any(expr)),
        }
    }

    /// The values of a map; anything else as it is.
    fn flat(&mut self, expr: &Expr) -> Tree {
        let tree = self.any(expr);
        if !matches!(expr.ty, Type::Map(_)) {
            return tree;
        }
        let value = EcoString::from("entry");
        Tree::For(Box::new(Loop {
            key: None,
            value: value.clone(),
            collection: tree,
            collected: Collected::Map,
            is_untyped: false,
            result_key: None,
            result: Tree::Variable(value),
            condition: None,
        }))
    }
}

/// Whether an item of a list stands for several resources.
fn is_several(item: &Expr) -> bool {
    matches!(item.ty, Type::List(_) | Type::Map(_) | Type::Tuple(_))
}
