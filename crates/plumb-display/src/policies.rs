//! Results of policies (`cli.md` 18.6).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use plumb_events::{Event, PolicyPackId, PolicyRemediation, PolicyViolation, Summary};

use crate::color::{ERROR, INFO, WARNING, paint};
use crate::diff::{diff_objects, visible};
use crate::options::Options;
use crate::sections::heading;
use crate::steps::value_style;
use crate::text::{counted, short_type};
use crate::values::{ValuePrinter, ValueStyle};

/// Policy results so far.
#[derive(Debug, Default)]
pub(crate) struct Policies {
    /// Packs by name and version.
    packs: BTreeMap<String, Origins>,
    violations: Vec<PolicyViolation>,
    remediations: Vec<PolicyRemediation>,
}

/// Sources of the packs with one name and version.
#[derive(Debug, Default)]
struct Origins {
    /// Paths given by the user.
    local: BTreeSet<String>,
    /// Whether the backend requires the pack.
    is_required: bool,
}

impl Origins {
    /// Note after the name of a pack.
    fn note(&self) -> String {
        if self.local.is_empty() {
            return String::new();
        }
        let paths: Vec<&str> = self.local.iter().map(String::as_str).collect();
        let beside = if self.is_required { " + (cloud)" } else { "" };
        format!(" (local: {}){beside}", paths.join("; "))
    }
}

/// Name of a pack in a summary, and the path given by the user.
pub(crate) fn pack_origin(name: &str) -> (&str, Option<&str>) {
    match name.split_once("|local|") {
        Some((name, path)) => (name, Some(path)),
        None => (name, None),
    }
}

impl Policies {
    pub(crate) fn handle(&mut self, event: &Event) {
        match event {
            Event::PolicyViolation(violation) => {
                self.packs.entry(pack_key(&violation.pack)).or_default();
                self.violations.push(violation.clone());
            }
            Event::PolicyRemediation(remediation) => {
                self.packs.entry(pack_key(&remediation.pack)).or_default();
                self.remediations.push(remediation.clone());
            }
            Event::PolicyAnalyzeSummary(summary)
            | Event::PolicyRemediateSummary(summary)
            | Event::PolicyAnalyzeStackSummary(summary) => {
                self.packs.entry(pack_key(&summary.pack)).or_default();
            }
            Event::Summary(Summary { policy_packs, .. }) => {
                for (name, version) in policy_packs {
                    let (name, path) = pack_origin(name);
                    let origins = self.packs.entry(key(name, version)).or_default();
                    match path {
                        Some(path) => {
                            origins.local.insert(path.to_owned());
                        }
                        None => origins.is_required = true,
                    }
                }
            }
            _ => {}
        }
    }

    /// Whether a violation is mandatory, and therefore blocks the operation.
    pub(crate) fn has_mandatory(&self) -> bool {
        self.violations.iter().any(is_mandatory)
    }

    /// Section on policies; empty if no policy pack ran.
    pub(crate) fn section(&self, options: &Options) -> String {
        if self.packs.is_empty() {
            return String::new();
        }
        let mut out = heading("Policies:");
        for (pack, origins) in &self.packs {
            self.pack(pack, origins, options, &mut out);
        }
        out.push('\n');
        out
    }

    fn pack(&self, pack: &str, origins: &Origins, options: &Options, out: &mut String) {
        let mut violations: Vec<&PolicyViolation> = self
            .violations
            .iter()
            .filter(|violation| pack_key(&violation.pack) == pack)
            .collect();
        violations.sort_by_key(|violation| {
            (
                !is_mandatory(violation),
                severity_rank(&violation.severity),
                &violation.policy,
                &violation.urn,
            )
        });
        let mark = match (
            violations.iter().any(|violation| is_mandatory(violation)),
            violations.is_empty(),
        ) {
            (true, _) => "❌",
            (false, false) => "⚠️",
            (false, true) => "✅",
        };
        let note = origins.note();
        let _ = writeln!(out, "    {mark} {}{note}", paint(INFO, pack));
        for violation in violations {
            write_violation(violation, out);
        }
        self.pack_remediations(pack, options, out);
    }

    fn pack_remediations(&self, pack: &str, options: &Options, out: &mut String) {
        let mut by_policy: BTreeMap<&str, Vec<&PolicyRemediation>> = BTreeMap::new();
        for remediation in self
            .remediations
            .iter()
            .filter(|remediation| pack_key(&remediation.pack) == pack)
        {
            by_policy
                .entry(&remediation.policy)
                .or_default()
                .push(remediation);
        }
        for (policy, remediations) in by_policy {
            if !options.show_policy_remediations {
                let count = counted(remediations.len(), "resource");
                let _ = writeln!(
                    out,
                    "        - {}  {policy}  ({count})",
                    paint(WARNING, "[remediate]")
                );
                continue;
            }
            for remediation in remediations {
                write_remediation(remediation, options, out);
            }
        }
    }
}

/// Writes a violation below its pack: a line, and the message.
fn write_violation(violation: &PolicyViolation, out: &mut String) {
    let _ = writeln!(out, "        - {}", headline(violation));
    for line in violation.message.trim_end().lines() {
        let _ = writeln!(out, "          {line}");
    }
}

/// Writes a violation outside of a pack's list: a line with the pack's name, and the message.
pub(crate) fn write_with_pack(violation: &PolicyViolation, out: &mut String) {
    let pack = paint(INFO, pack_key(&violation.pack));
    let _ = writeln!(out, "    {pack} {}", headline(violation));
    for line in violation.message.trim_end().lines() {
        let _ = writeln!(out, "      {line}");
    }
}

fn headline(violation: &PolicyViolation) -> String {
    let style = if is_mandatory(violation) {
        ERROR
    } else {
        WARNING
    };
    let level = paint(style, format!("[{}]", violation.enforcement_level));
    let severity = if violation.severity.is_empty() {
        String::new()
    } else {
        format!(" [severity: {}]", violation.severity)
    };
    let resource = violation
        .urn
        .as_ref()
        // Violations of the stack as a whole have no resource.
        .filter(|urn| !urn.is_root_stack())
        .map(resource_clause)
        .unwrap_or_default();
    format!("{level}{severity}  {}{resource}", violation.policy)
}

fn write_remediation(remediation: &PolicyRemediation, options: &Options, out: &mut String) {
    let resource = remediation
        .urn
        .as_ref()
        .map(resource_clause)
        .unwrap_or_default();
    let _ = writeln!(
        out,
        "        - {}  {}{resource}",
        paint(WARNING, "[remediate]"),
        remediation.policy
    );
    let before = visible(&remediation.before, options.filter());
    let after = visible(&remediation.after, options.filter());
    let mut printer = ValuePrinter::new(ValueStyle {
        only_changes: true,
        ..value_style(options)
    });
    printer.object_diff(&diff_objects(&before, &after), 3);
    out.push_str(&printer.finish());
}

fn resource_clause(urn: &plumb_resource::Urn) -> String {
    format!("  ({}: {})", short_type(urn.type_text()), urn.name())
}

/// Whether a violation blocks the operation.
pub(crate) fn is_mandatory(violation: &PolicyViolation) -> bool {
    violation.enforcement_level == "mandatory"
}

/// Rank of a severity for sorting: the most severe first, unknown ones last.
fn severity_rank(severity: &str) -> usize {
    let order = ["critical", "high", "medium", "low"];
    let rank = order.iter().position(|name| *name == severity);
    rank.unwrap_or(order.len())
}

fn pack_key(pack: &PolicyPackId) -> String {
    key(
        &pack.name,
        if pack.version_tag.is_empty() {
            &pack.version
        } else {
            &pack.version_tag
        },
    )
}

fn key(name: &str, version: &str) -> String {
    let version = version.strip_prefix('v').unwrap_or(version);
    if version.is_empty() {
        name.to_owned()
    } else {
        format!("{name}@v{version}")
    }
}
