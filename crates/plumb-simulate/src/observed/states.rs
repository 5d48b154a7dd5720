//! Outcomes of single resources.

use plumb_resource::{ResourceKind, ResourceState, StepOp};

use super::Observed;
use crate::story::{Res, Verb};

impl Observed<'_> {
    pub(super) fn states(&self, when: &mut impl FnMut(&'static str, bool)) {
        self.steps(when);
        self.imports(when);
        if self.is_real() {
            self.changes(when);
        }
    }

    fn steps(&self, when: &mut impl FnMut(&'static str, bool)) {
        let is_up = self.is(Verb::Up);
        let mut replaced_tainted = false;
        let mut is_same = false;
        for step in self.ended() {
            let res = self.res(&step.urn);
            let old = self.old(&step.urn);
            let is_provider = step.urn.type_token().is_provider();
            let is_default = step.urn.is_default_provider();
            match step.op {
                StepOp::Create => {
                    when("PROV-02", res.is_some_and(|res| res.provider.is_some()));
                    when("PULUMI-24", res.is_some_and(|res| res.timeout.is_some()));
                }
                StepOp::CreateReplacement => {
                    when("PROV-04", is_default);
                    when("PROV-05", is_provider && !is_default);
                    replaced_tainted |= old.is_some_and(|old| old.taint);
                }
                StepOp::Same => {
                    is_same |= step.is_custom;
                    let stays = |res: &Res| res.import.is_some() && old.is_some();
                    let known = old.is_some_and(|old| !old.import_id.is_empty());
                    when("IMPORT-23", is_up && known && res.is_some_and(stays));
                }
                _ => {}
            }
        }
        when("TAINT-02", is_up && replaced_tainted && is_same);
        let mut failed = self.failed();
        let half = failed.any(|step| {
            let mut after = self.after.snapshot.resources.iter();
            step.op == StepOp::DeleteReplaced
                && after.any(|it| it.urn == step.urn && !it.pending_replacement && !it.delete)
        });
        when("PREPL-01", is_up && self.is_real() && half);
        let flags = self.flags();
        let resumes = self.has_ended(StepOp::RemovePendingReplace)
            && self.has_ended(StepOp::CreateReplacement);
        when(
            "PREPL-03",
            is_up && flags.refresh && flags.run_program && resumes,
        );
    }

    fn imports(&self, when: &mut impl FnMut(&'static str, bool)) {
        let imports = self.is(Verb::Import);
        let was_empty = self.before.snapshot.resources.is_empty();
        let has_imported = self.has_ended(StepOp::Import);
        when("IMPORT-11", imports && was_empty && has_imported);
        let mut failed = self.failed();
        when(
            "IMPORT-21",
            imports && failed.any(|step| step.op == StepOp::Import),
        );
        for step in self.failed().filter(|step| step.op == StepOp::Update) {
            let mut ended = self.ended();
            let is_import = |op| matches!(op, StepOp::Import | StepOp::ImportReplacement);
            let same = ended.any(|other| is_import(other.op) && other.urn == step.urn);
            when("IMPORT-20", same);
        }
    }

    fn changes(&self, when: &mut impl FnMut(&'static str, bool)) {
        let refreshes = self.is(Verb::Refresh) && !self.flags().run_program;
        for new in &self.after.snapshot.resources {
            let is_it = |old: &&ResourceState| old.id == new.id && old.kind == new.kind;
            let old = self.old(&new.urn).filter(is_it);
            let Some(old) = old.filter(|_| !new.delete) else {
                continue;
            };
            let took_over = !old.external && new.external;
            when("STEPGEN-05", took_over && new.kind == ResourceKind::Custom);
            let is_provider = new.kind == ResourceKind::Provider;
            let moved_on = is_provider && old.inputs != new.inputs && old.outputs == new.outputs;
            when("PROV-28", moved_on);
            if refreshes {
                when(
                    "REFRESH-06",
                    new.dependencies.len() < old.dependencies.len(),
                );
                let links = |state: &ResourceState| -> usize {
                    state
                        .property_dependencies
                        .values()
                        .map(ecow::EcoVec::len)
                        .sum()
                };
                when("REFRESH-07", links(new) < links(old));
                let let_go = old.deleted_with.is_some() && new.deleted_with.is_none();
                when("REFRESH-08", let_go);
            }
        }
        let orphan = self.after.snapshot.resources.iter().any(|new| {
            let mut olds = self.before.snapshot.resources.iter();
            let had_parent =
                |old: &ResourceState| old.id == new.id && old.parent.is_some() && !old.delete;
            new.kind == ResourceKind::Custom
                && new.parent.is_none()
                && olds.any(|old| had_parent(old))
        });
        when("REFRESH-24", refreshes && orphan);
    }
}
