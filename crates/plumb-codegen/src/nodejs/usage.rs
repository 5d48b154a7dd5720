//! Where the types of a package are used, and which of them have defaults.

use plumb_schema::bound::Package;

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
    let defaults = uses::defaults(package);
    uses.into_iter()
        .zip(defaults)
        .map(|(uses, has_defaults)| usage(uses, has_defaults))
        .collect()
}

fn usage(uses: Uses, has_defaults: bool) -> Usage {
    Usage {
        input: uses.has(Uses::INPUT.or(Uses::STATE).or(Uses::FUNCTION_INPUT)),
        plain: uses.has(Uses::PLAIN),
        output: uses.has(Uses::OUTPUT.or(Uses::RESULT).or(Uses::CONFIG)),
        function_input: uses.has(Uses::FUNCTION),
        has_defaults,
    }
}
