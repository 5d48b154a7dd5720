//! Automatic naming. The rule of the stack applies to all resources without a rule of their own.
//!
//! | Rule of the stack | Names of resources |
//! |---|---|
//! | `verbatim` | the name in the program |
//! | `pattern` | the name in the program with the prefix `p-`, enforced |
//! | `chance` | a random name, which this provider does not support |
//! | `disabled` | only names given in the inputs, which are required |
//!
//! With any rule of the stack, an `Other` gets its name with the prefix `o-`, and the package `two` names its own
//! resources.

use std::collections::BTreeMap;

use plumb_deploy::autonaming::{Naming, NamingRules, PackageNaming};

/// Naming rules, with this rule of the stack.
pub(super) fn rules(rule: Option<&String>) -> NamingRules {
    let Some(rule) = rule else {
        return NamingRules::default();
    };
    let pattern = |pattern: &str, is_enforced| Naming::Pattern {
        pattern: pattern.into(),
        is_enforced,
    };
    let others = PackageNaming {
        general: None,
        types: BTreeMap::from([("test:m:Other".into(), pattern("o-${name}", true))]),
    };
    let two = PackageNaming {
        general: Some(Naming::Provider),
        types: BTreeMap::new(),
    };
    NamingRules {
        general: match rule.as_str() {
            "verbatim" => Naming::Verbatim,
            "pattern" => pattern("p-${name}", true),
            "chance" => pattern("${name}-${hex(4)}", false),
            _ => Naming::Disabled,
        },
        packages: BTreeMap::from([("test".into(), others), ("two".into(), two)]),
    }
}
