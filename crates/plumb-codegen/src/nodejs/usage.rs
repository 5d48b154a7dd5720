//! Uses and defaults of the types of a package.

use plumb_schema::bound::Package;

use crate::uses::{self, Roots, Uses};

/// Uses of one type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Usage {
    /// Inputs, with outputs at each level.
    pub(super) input: bool,
    /// Arguments of functions that accept only plain values.
    pub(super) plain: bool,
    /// Results.
    pub(super) output: bool,
    /// Arguments of functions that accept outputs.
    pub(super) function_input: bool,
    /// Whether the type or a nested object has a default.
    pub(super) has_defaults: bool,
}

/// Uses of each type of a package, by position.
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
