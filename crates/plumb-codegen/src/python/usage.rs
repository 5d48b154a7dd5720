//! Uses of the types of a package.

use plumb_schema::bound::Package;

use crate::uses::{self, Roots, Uses};

/// Uses of one type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Usage {
    /// Inputs of resources and methods, with outputs at each level.
    pub(super) input: bool,
    /// Arguments of functions, which do not accept outputs in objects.
    pub(super) plain: bool,
    /// Results.
    pub(super) output: bool,
    /// Outputs of resources.
    pub(super) resource_output: bool,
    /// Arguments or results of functions.
    pub(super) function: bool,
}

/// Uses of each type of a package, by position.
pub(super) fn analyse(package: &Package<'_>) -> Vec<Usage> {
    let roots = Roots {
        methods: true,
        overlays: true,
    };
    uses::analyse(package, roots)
        .into_iter()
        .map(usage)
        .collect()
}

fn usage(uses: Uses) -> Usage {
    Usage {
        input: uses.has(Uses::INPUT.or(Uses::STATE).or(Uses::METHOD)),
        plain: uses.has(Uses::FUNCTION),
        output: uses.has(Uses::OUTPUT.or(Uses::RESULT).or(Uses::CONFIG)),
        resource_output: uses.has(Uses::OUTPUT),
        function: uses.has(Uses::FUNCTION.or(Uses::RESULT)),
    }
}
