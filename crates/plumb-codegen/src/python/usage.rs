//! Where the types of a package are used.

use plumb_schema::bound::Package;

use crate::uses::{self, Roots, Uses};

/// How one type is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Usage {
    /// In inputs of resources and methods, with outputs at each level.
    pub(super) input: bool,
    /// In arguments of functions, which take no outputs within objects.
    pub(super) plain: bool,
    /// In results.
    pub(super) output: bool,
    /// In outputs of resources.
    pub(super) resource_output: bool,
    /// In arguments or results of functions.
    pub(super) function: bool,
}

/// How each type of a package is used, by its position.
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
