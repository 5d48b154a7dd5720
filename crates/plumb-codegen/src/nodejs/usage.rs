//! Where the types of a package are used, and which of them have defaults.

use plumb_schema::bound::{Package, TypeKind, TypeShape};

use crate::uses::{self, Roots, Uses};

/// How one type is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Usage {
    /// In inputs, with outputs at each level.
    pub(super) input: bool,
    /// In arguments of functions that take no outputs.
    pub(super) plain: bool,
    /// In results.
    pub(super) output: bool,
    /// In arguments of functions that take outputs.
    pub(super) function_input: bool,
    /// Whether it, or an object within it, has a default.
    pub(super) has_defaults: bool,
}

/// How each type of a package is used, by its position.
pub(super) fn analyse(package: &Package<'_>) -> Vec<Usage> {
    let roots = Roots {
        methods: true,
        overlays: true,
    };
    let uses = uses::analyse(package, roots);
    let mut usages: Vec<Usage> = uses.into_iter().map(usage).collect();
    mark_defaults(package, &mut usages);
    usages
}

fn usage(uses: Uses) -> Usage {
    Usage {
        input: uses.has(Uses::INPUT.or(Uses::STATE).or(Uses::FUNCTION_INPUT)),
        plain: uses.has(Uses::PLAIN),
        output: uses.has(Uses::OUTPUT.or(Uses::RESULT).or(Uses::CONFIG)),
        function_input: uses.has(Uses::FUNCTION),
        has_defaults: false,
    }
}

/// An object has defaults when it has one itself, or an object right in it has.
fn mark_defaults(package: &Package<'_>, usages: &mut [Usage]) {
    let mut holders: Vec<Vec<usize>> = vec![Vec::new(); usages.len()];
    let mut open = Vec::new();
    for (position, definition) in package.types.iter().enumerate() {
        let TypeShape::Object(object) = &definition.shape else {
            continue;
        };
        for property in &object.properties {
            if let TypeKind::Defined(inner) = property.ty.kind {
                holders[inner].push(position);
            }
            if property.default.is_some() || property.default_info.is_some() {
                open.push(position);
            }
        }
    }
    while let Some(position) = open.pop() {
        if !std::mem::replace(&mut usages[position].has_defaults, true) {
            open.extend(&holders[position]);
        }
    }
}
