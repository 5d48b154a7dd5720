//! Checks of a resource: the calls of its life, in order.

use std::sync::Arc;

use plumb_resource::provider::{
    CheckRequest, CreateRequest, CreateResponse, DeleteRequest, DiffChanges, DiffRequest,
    DiffResult, ReadRequest, UpdateRequest,
};
use plumb_resource::{ResourceId, Urn};
use plumb_schema::Resource;
use plumb_value::{PropertyMap, Value};

use crate::conform::{self, Completeness};
use crate::finding::{Findings, Rule};
use crate::{Inputs, Target, component, list, sample, urn};

/// Time limit of a call, in seconds.
const TIMEOUT: f64 = 300.0;

/// Checks a resource.
pub(crate) async fn check(target: Target<'_>, token: &str, findings: &mut Findings) {
    let Target {
        schema, options, ..
    } = target;
    let Some(Ok(resource)) = schema.resource(token) else {
        findings.judge(
            Rule::Check,
            Some("the schema of the resource is broken".to_owned()),
        );
        return;
    };
    if resource.is_component {
        component::check(target, token, &resource, findings).await;
        return;
    }
    if let Some(query) = &resource.list_inputs {
        list::check(target, token, query, findings).await;
    }
    let given = options.inputs.get(token);
    let mut life = Life {
        target,
        resource: &resource,
        urn: urn(token),
        token,
        findings,
    };
    let made_up = || Inputs {
        first: sample::required(schema, &resource.input_properties),
        ..Inputs::default()
    };
    let inputs = given.cloned().unwrap_or_else(made_up);
    let Some(checked) = life.checked(&inputs.first, given.is_none()).await else {
        return;
    };
    life.refused_without_required(&inputs.first).await;
    life.passed_on_unknown(&checked).await;
    component::check_methods(target, token, &resource, life.findings).await;
    if !life.previewed(&checked).await {
        return;
    }
    if options.create {
        life.lived(checked, inputs.changed).await;
    }
}

/// Request of Check.
pub(crate) fn check_request(
    token: &str,
    old: Option<Arc<PropertyMap>>,
    new: Arc<PropertyMap>,
    allow_unknowns: bool,
) -> CheckRequest {
    CheckRequest {
        urn: urn(token),
        old_inputs: old,
        new_inputs: new,
        allow_unknowns,
        random_seed: [7; 32].into(),
        autonaming: None,
    }
}

/// The life of one resource.
struct Life<'a> {
    target: Target<'a>,
    resource: &'a Resource,
    urn: Urn,
    token: &'a str,
    findings: &'a mut Findings,
}

/// A created object.
struct Object {
    id: ResourceId,
    inputs: Arc<PropertyMap>,
    outputs: Arc<PropertyMap>,
}

impl Life<'_> {
    /// Inputs after Check; `None` if there are none to go on with.
    async fn checked(
        &mut self,
        inputs: &PropertyMap,
        is_made_up: bool,
    ) -> Option<Arc<PropertyMap>> {
        let new = Arc::new(inputs.clone());
        let request = || check_request(self.token, None, new.clone(), false);
        let (first, second) = (request(), request());
        let answer = self.target.provider.check(first).await;
        let answer = self.findings.answer(Rule::Check, "Check", answer)?;
        if let Some(failure) = answer.failures.first() {
            let property = failure.property.as_str();
            let root = property.split(['.', '[']).next().unwrap_or_default();
            let is_known = property.is_empty() || self.resource.input_properties.contains_key(root);
            let problem =
                format!("a failure names the property `{property}`, which is not in the schema");
            self.findings
                .judge(Rule::Check, (!is_known).then_some(problem));
            let origin = if is_made_up {
                "made up from the schema"
            } else {
                "given"
            };
            let reason = failure.reason.as_str();
            self.findings.skip(
                Rule::CreatePreview,
                format!("the inputs {origin} are refused: {property} {reason}"),
            );
            return None;
        }
        self.findings.judge(Rule::Check, None);
        let checked = answer.inputs.unwrap_or(new);
        let again = self.target.provider.check(second).await;
        if let Some(again) = self.findings.answer(Rule::CheckRepeats, "Check", again) {
            let differs = again.inputs.as_ref() != Some(&checked);
            let text = || "a second Check with the same seed answers other inputs".to_owned();
            self.findings.judge(Rule::CheckRepeats, differs.then(text));
        }
        let settled = check_request(self.token, Some(checked.clone()), checked.clone(), false);
        let settled = self.target.provider.check(settled).await;
        if let Some(settled) = self.findings.answer(Rule::CheckSettles, "Check", settled) {
            let differs = settled.inputs.as_ref() != Some(&checked) || !settled.failures.is_empty();
            let text = || "Check of its own answer is refused or changes it".to_owned();
            self.findings.judge(Rule::CheckSettles, differs.then(text));
        }
        Some(checked)
    }

    async fn refused_without_required(&mut self, inputs: &PropertyMap) {
        let mut required = self.resource.input_properties.values();
        let required =
            required.find(|it| it.required && it.constant.is_none() && it.default.is_none());
        let Some(property) = required else {
            return;
        };
        let mut fewer = inputs.clone();
        fewer.remove(&property.name);
        let request = check_request(self.token, None, Arc::new(fewer), false);
        let answer = self.target.provider.check(request).await;
        let is_accepted = answer.is_ok_and(|it| it.failures.is_empty());
        let text = || format!("Check accepts inputs without {}", property.name);
        self.findings
            .judge(Rule::CheckRequired, is_accepted.then(text));
    }

    async fn passed_on_unknown(&mut self, checked: &PropertyMap) {
        let declared = self.resource.input_properties.keys();
        let names: Vec<&String> = declared.filter(|it| checked.contains_key(it)).collect();
        let mut problem = None;
        for name in names {
            let mut inputs = checked.clone();
            inputs.insert(name.as_str(), Value::UNKNOWN);
            let request = check_request(self.token, None, Arc::new(inputs), true);
            problem = match self.target.provider.check(request).await {
                Err(error) => Some(format!(
                    "Check fails when {name} is unknown: {}",
                    error.message
                )),
                Ok(answer) => {
                    let inputs = answer.inputs.as_ref();
                    let kept = inputs.and_then(|inputs| inputs.get(name));
                    let is_kept = kept.is_some_and(Value::contains_unknowns);
                    let failure = answer.failures.first();
                    let refused =
                        failure.map(|it| format!("Check refuses an unknown {name}: {}", it.reason));
                    let lost = || format!("Check makes a known value of an unknown {name}");
                    refused.or_else(|| (!is_kept).then(lost))
                }
            };
            if problem.is_some() {
                break;
            }
        }
        self.findings.judge(Rule::CheckUnknown, problem);
    }

    async fn previewed(&mut self, inputs: &Arc<PropertyMap>) -> bool {
        let answer = self
            .target
            .provider
            .create(self.create_request(inputs, true))
            .await;
        let Some(answer) = self.findings.answer(Rule::CreatePreview, "Create", answer) else {
            return false;
        };
        let problem = self.misfit(&answer.outputs, Completeness::Part);
        self.findings.judge(Rule::CreatePreview, problem)
    }

    fn create_request(&self, inputs: &Arc<PropertyMap>, preview: bool) -> CreateRequest {
        CreateRequest {
            urn: self.urn.clone(),
            inputs: inputs.clone(),
            timeout: TIMEOUT,
            preview,
            status: None,
        }
    }

    /// Creates an object, looks at it, changes it and deletes it.
    async fn lived(&mut self, inputs: Arc<PropertyMap>, changed: Option<PropertyMap>) {
        let answer = self
            .target
            .provider
            .create(self.create_request(&inputs, false))
            .await;
        let Some(created) = self.findings.answer(Rule::Create, "Create", answer) else {
            return;
        };
        self.created(&created);
        let mut object = Object {
            id: created.id,
            inputs,
            outputs: created.outputs,
        };
        self.unchanged(&object).await;
        self.found(&object).await;
        self.listed(&object).await;
        if let Some(changed) = changed {
            self.changed(&mut object, changed).await;
        }
        self.deleted(&object).await;
    }

    fn created(&mut self, created: &CreateResponse) {
        let no_id = created.id.as_str().is_empty();
        let no_id = no_id.then(|| "Create returns no id".to_owned());
        let outputs = &created.outputs;
        let misfit = || self.misfit(outputs, Completeness::Whole);
        self.findings.judge(Rule::Create, no_id.or_else(misfit));
        let mut secret = self.resource.secret_outputs();
        let open = secret.find(|name| {
            let value = outputs.get(name);
            value.is_some_and(|value| !value.is_null() && !value.contains_secrets())
        });
        let text = |name: &str| format!("the output {name} is not marked as secret");
        self.findings.judge(Rule::Secrets, open.map(text));
    }

    fn diff_request(&self, object: &Object, new_inputs: Arc<PropertyMap>) -> DiffRequest {
        DiffRequest {
            urn: self.urn.clone(),
            id: object.id.clone(),
            old_inputs: object.inputs.clone(),
            old_outputs: object.outputs.clone(),
            new_inputs,
            allow_unknowns: false,
            ignore_changes: [].into(),
        }
    }

    async fn unchanged(&mut self, object: &Object) {
        let request = self.diff_request(object, object.inputs.clone());
        let answer = self.target.provider.diff(request).await;
        if let Some(difference) = self.findings.answer(Rule::DiffSame, "Diff", answer) {
            let differs = difference.changes == DiffChanges::Some || difference.is_replace();
            let keys = difference.changed_keys.join(", ");
            let text = || format!("Diff finds a difference: {keys}");
            self.findings.judge(Rule::DiffSame, differs.then(text));
        }
    }

    fn read_request(&self, object: &Object) -> ReadRequest {
        ReadRequest {
            urn: self.urn.clone(),
            id: object.id.clone(),
            inputs: Some(object.inputs.clone()),
            outputs: object.outputs.clone(),
            timeout: TIMEOUT,
            old_views: Vec::new(),
            status: None,
        }
    }

    async fn found(&mut self, object: &Object) {
        let answer = self.target.provider.read(self.read_request(object)).await;
        let Some(read) = self.findings.answer(Rule::Read, "Read", answer) else {
            return;
        };
        let outputs = read.outputs.filter(|_| !read.id.as_str().is_empty());
        let Some(outputs) = outputs else {
            let text = "Read says that what was just created is gone".to_owned();
            self.findings.judge(Rule::Read, Some(text));
            return;
        };
        let moved = (read.id != object.id).then(|| "Read returns another id".to_owned());
        let misfit = || self.misfit(&outputs, Completeness::Whole);
        let inputs = read.inputs.as_ref().map(|it| it.without_secrets());
        let drifted = inputs.is_some_and(|it| it != object.inputs.without_secrets());
        let drift = || drifted.then(|| "Read returns other inputs than those of Create".to_owned());
        self.findings
            .judge(Rule::Read, moved.or_else(misfit).or_else(drift));
    }

    /// Looks for the object in the list of all.
    async fn listed(&mut self, object: &Object) {
        let query = self.resource.list_inputs.as_ref();
        if query.is_none_or(|it| it.values().any(|it| it.required)) {
            return;
        }
        let found = list::finds(self.target, self.token, object.id.as_str()).await;
        match self.findings.answer(Rule::ListFinds, "List", found) {
            Some(Some(is_there)) => {
                let text = || "List does not find what was created".to_owned();
                self.findings.judge(Rule::ListFinds, (!is_there).then(text));
            }
            Some(None) => self
                .findings
                .skip(Rule::ListFinds, "there are too many objects"),
            None => {}
        }
    }

    /// Updates the object to other inputs.
    async fn changed(&mut self, object: &mut Object, changed: PropertyMap) {
        let given = Arc::new(changed);
        let request = check_request(
            self.token,
            Some(object.inputs.clone()),
            given.clone(),
            false,
        );
        let answer = self.target.provider.check(request).await;
        let Some(checked) = self.findings.answer(Rule::Update, "Check", answer) else {
            return;
        };
        let inputs = checked.inputs.unwrap_or(given);
        let Some(difference) = self.difference(object, inputs.clone()).await else {
            return;
        };
        if difference.is_replace() {
            let reason = "the change would replace the resource";
            self.findings.skip(Rule::Update, reason);
        } else if difference.changes == DiffChanges::None {
            let text = "Diff finds no difference from the other inputs".to_owned();
            self.findings.judge(Rule::Update, Some(text));
        } else {
            self.updated(object, inputs).await;
        }
    }

    async fn difference(
        &mut self,
        object: &Object,
        inputs: Arc<PropertyMap>,
    ) -> Option<DiffResult> {
        let request = self.diff_request(object, inputs);
        let answer = self.target.provider.diff(request).await;
        self.findings.answer(Rule::Update, "Diff", answer)
    }

    /// Previews an update and makes it, after which nothing is left to do.
    async fn updated(&mut self, object: &mut Object, inputs: Arc<PropertyMap>) {
        for preview in [true, false] {
            let request = UpdateRequest {
                urn: self.urn.clone(),
                id: object.id.clone(),
                old_inputs: object.inputs.clone(),
                old_outputs: object.outputs.clone(),
                new_inputs: inputs.clone(),
                ignore_changes: [].into(),
                timeout: TIMEOUT,
                preview,
                old_views: Vec::new(),
                status: None,
            };
            let answer = self.target.provider.update(request).await;
            let Some(updated) = self.findings.answer(Rule::Update, "Update", answer) else {
                return;
            };
            if !preview {
                object.outputs = updated.outputs;
            }
        }
        object.inputs = inputs;
        let Some(difference) = self.difference(object, object.inputs.clone()).await else {
            return;
        };
        let misfit = self.misfit(&object.outputs, Completeness::Whole);
        let differs = difference.changes == DiffChanges::Some;
        let text = || differs.then(|| "Diff finds a difference right after Update".to_owned());
        self.findings.judge(Rule::Update, misfit.or_else(text));
    }

    /// The first of some outputs that is not as in the schema.
    fn misfit(&self, outputs: &PropertyMap, completeness: Completeness) -> Option<String> {
        let declared = &self.resource.properties;
        conform::problem(self.target.schema, declared, outputs, completeness)
    }

    async fn deleted(&mut self, object: &Object) {
        let request = || DeleteRequest {
            urn: self.urn.clone(),
            id: object.id.clone(),
            inputs: object.inputs.clone(),
            outputs: object.outputs.clone(),
            timeout: TIMEOUT,
            old_views: Vec::new(),
            status: None,
        };
        let (first, second) = (request(), request());
        if let Err(error) = self.target.provider.delete(first).await {
            let text = format!(
                "Delete failed, and the object {} is left: {}",
                object.id.as_str(),
                error.message
            );
            self.findings.judge(Rule::Delete, Some(text));
            return;
        }
        self.findings.judge(Rule::Delete, None);
        let read = self.target.provider.read(self.read_request(object)).await;
        if let Some(read) = self.findings.answer(Rule::ReadGone, "Read", read) {
            let is_there = !read.id.as_str().is_empty() && read.outputs.is_some();
            let text = || "Read finds what was deleted".to_owned();
            self.findings.judge(Rule::ReadGone, is_there.then(text));
        }
        let again = self.target.provider.delete(second).await;
        if self
            .findings
            .answer(Rule::DeleteAgain, "a second Delete", again)
            .is_some()
        {
            self.findings.judge(Rule::DeleteAgain, None);
        }
    }
}
