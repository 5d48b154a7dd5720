//! Rules for names. Those of the stack are for everything, save what has rules of its own.
//!
//! | Rule of the stack | Resources are called |
//! |---|---|
//! | `verbatim` | what the program calls them |
//! | `pattern` | that, with `p-` before it, and the provider must obey |
//! | `chance` | something with chance in it, which the provider here does not understand |
//! | `disabled` | whatever the program says, which must say something |
//!
//! Whatever that is, an `Other` is called by its name with `o-` before it, and the package `two` does as it likes.

use std::collections::BTreeMap;

use plumb_deploy::autonaming::{Naming, NamingRules, PackageNaming};

/// The rules, where the stack has this one.
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
