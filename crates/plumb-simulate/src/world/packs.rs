//! Policy packs. The name of each determines its behaviour.
//!
//! | Name | Behaviour |
//! |---|---|
//! | `notes` | reports an advisory violation for everything |
//! | `remediates` | changes `v` from `2` to `0` |
//! | `forbids` | forbids `v` to be `3` |
//! | `breaks` | fails for the resource `c` |
//! | `strict` | reports a violation for every stack |
//! | `absent` | cannot be loaded |

use std::sync::Arc;

use plumb_resource::policy::{
    Analysis, AnalyzedResource, EnforcementLevel, PolicyCall, PolicyDiagnostic, PolicyPackInfo,
    PolicyReply, Remediation, Remedies, Remedy,
};
use plumb_value::{PropertyMap, Value};

/// Packs with these names, or the error while loading them.
pub(super) fn load(names: &[String]) -> Result<Vec<PolicyPackInfo>, String> {
    if is_absent(names) {
        return Err("there is no such pack".to_owned());
    }
    let pack = |name: &String| PolicyPackInfo {
        name: name.as_str().into(),
        version: "1.0.0".into(),
        ..PolicyPackInfo::default()
    };
    Ok(names.iter().map(pack).collect())
}

/// Whether one of the packs cannot be loaded.
pub(crate) fn is_absent(names: &[String]) -> bool {
    names.iter().any(|name| name == "absent")
}

/// Whether one of the packs reports a violation for every stack.
pub(crate) fn is_strict(names: &[String]) -> bool {
    names.iter().any(|name| name == "strict")
}

/// Inputs after remediation; `None` if they are unchanged.
pub(crate) fn remediated(names: &[String], inputs: &PropertyMap) -> Option<PropertyMap> {
    let remediates = names.iter().any(|name| name == "remediates");
    (remediates && is_text(inputs, "2")).then(|| inputs.clone().with("v", "0"))
}

/// Whether one of the packs forbids a resource with these inputs.
pub(crate) fn forbid(names: &[String], inputs: &PropertyMap) -> bool {
    names.iter().any(|name| name == "forbids") && is_text(inputs, "3")
}

/// Whether one of the packs fails for the resource with this name.
pub(crate) fn break_on(names: &[String], name: &str) -> bool {
    names.iter().any(|name| name == "breaks") && name == "c"
}

fn is_text(inputs: &PropertyMap, text: &str) -> bool {
    inputs.get("v").and_then(Value::as_str) == Some(text)
}

/// Reply of a pack.
pub(super) fn answer(pack: &String, call: &PolicyCall) -> Result<PolicyReply, String> {
    let names = std::slice::from_ref(pack);
    match call {
        PolicyCall::Remediate(resource) => Ok(PolicyReply::Remediated(remedies(names, resource))),
        PolicyCall::Analyze(resource) if break_on(names, resource.urn.name()) => {
            Err("it broke".to_owned())
        }
        PolicyCall::Analyze(resource) => Ok(found(if forbid(names, &resource.properties) {
            Some(EnforcementLevel::Mandatory)
        } else {
            (pack == "notes").then_some(EnforcementLevel::Advisory)
        })),
        PolicyCall::AnalyzeStack(_) => {
            let dislikes = is_strict(names).then_some(EnforcementLevel::Remediate);
            Ok(found(dislikes))
        }
    }
}

fn remedies(names: &[String], resource: &AnalyzedResource) -> Remedies {
    let outcome = match remediated(names, &resource.properties) {
        Some(inputs) => Remedy::Inputs(Arc::new(inputs)),
        None if names[0] == "notes" => Remedy::Failed("I would not know how".into()),
        None => Remedy::Nothing,
    };
    Remedies {
        remediations: vec![Remediation {
            policy: "it".into(),
            outcome,
        }],
        ..Remedies::default()
    }
}

fn found(level: Option<EnforcementLevel>) -> PolicyReply {
    let diagnostic = |level| PolicyDiagnostic {
        policy: "it".into(),
        message: "look at that".into(),
        level,
        severity: None,
        urn: None,
    };
    PolicyReply::Analyzed(Analysis {
        diagnostics: level.map(diagnostic).into_iter().collect(),
        ..Analysis::default()
    })
}
