//! Operations on objects directly through their provider, without any state.
//!
//! **The id of a created object is always printed, even after errors**, because it is not stored anywhere.

use std::sync::Arc;

use plumb_operate::json::{Indent, pretty};
use plumb_operate::{Context, Error, ExitStatus, prompt};
use plumb_plugin::Provider;
use plumb_resource::provider::{
    CheckRequest, CreateRequest, DeleteRequest, DiffChanges, DiffRequest, DiffResult, ListRequest,
    ListedObject, ProviderError, ReadRequest, ReadResponse, ResourceStatus, UpdateRequest,
};
use plumb_resource::{ResourceId, StepOp, TypeToken, Urn};
use plumb_schema::bound::member_of;
use plumb_schema::{Properties, Resource};
use plumb_value::PropertyMap;
use serde_json::{Value as Json, json};

use super::ask::Asked;
use super::inputs::{Completeness, Format, Source, evaluate};
use super::package::Package;
use super::shape::{Operation, Side};
use super::{Settings, outcome, provider, steps};

/// An operation with its context.
pub(super) struct Work<'a> {
    pub(super) package: &'a mut Package,
    pub(super) resource: &'a Resource,
    pub(super) asked: &'a Asked,
    pub(super) settings: Settings,
    pub(super) ctx: &'a Context,
}

/// An object that was read.
struct Found {
    id: ResourceId,
    inputs: Arc<PropertyMap>,
    outputs: Arc<PropertyMap>,
}

impl Work<'_> {
    /// Runs `operation`.
    pub(super) fn run(mut self, operation: Operation) -> Result<(), Error> {
        if self.resource.is_component && operation != Operation::Invoke {
            return Err(Error::user(format!(
                "{} is a component, which is made of other resources: only a stack can keep those; leave --stateless out",
                self.resource.token
            )));
        }
        if operation.changes() {
            self.settings.require_yes(self.asked.yes, self.ctx)?;
        }
        match operation {
            Operation::Create => {
                let inputs = self.inputs(Completeness::Whole)?;
                let provider = self.provider()?;
                self.create(&*provider, inputs)
            }
            Operation::Upsert => self.upsert(),
            Operation::Patch => self.patch(),
            Operation::Delete => self.delete(),
            Operation::List => self.list(),
            Operation::Read | Operation::Invoke => self.read(),
        }
    }

    fn urn(&self) -> Urn {
        let (stack, project) = provider::NO_STACK;
        let token = &self.resource.token;
        Urn::new(stack, project, "", token, member_of(token))
    }

    fn word(&self) -> &str {
        self.asked.word.as_deref().unwrap_or_default()
    }

    fn provider(&mut self) -> Result<Arc<dyn Provider>, Error> {
        provider::configured(self.package, self.asked, self.ctx)
    }

    /// Inputs from files and flags.
    fn inputs(&mut self, completeness: Completeness) -> Result<PropertyMap, Error> {
        let properties = &self.resource.input_properties;
        self.values(properties, completeness)
    }

    fn values(
        &mut self,
        properties: &Properties,
        completeness: Completeness,
    ) -> Result<PropertyMap, Error> {
        let source = Source {
            side: Side::Input,
            package: self.package.schema.name(),
            file: self.asked.input_file.as_deref(),
            format: Format::named(self.asked.format.as_deref())?,
            given: &self.asked.inputs,
        };
        let body = source.body(self.ctx)?;
        if completeness == Completeness::Whole {
            source.check_complete(&body, properties)?;
        }
        let (schema, info) = (
            self.package.schema.clone(),
            self.package.standalone_host.info().clone(),
        );
        let values = self.package.standalone_host.run(async {
            evaluate(&body, Side::Input, &schema, properties, completeness, &info).await
        })?;
        self.package.standalone_host.secrets().learn(&values);
        Ok(values)
    }

    fn create(&mut self, provider: &dyn Provider, inputs: PropertyMap) -> Result<(), Error> {
        let urn = self.urn();
        let checked = self.check(provider, None, inputs)?;
        let none = Arc::default();
        let planned = steps::state(&urn, &ResourceId::None, &checked, &none);
        steps::announce(
            StepOp::Create,
            None,
            Some(planned),
            None,
            self.settings,
            self.ctx,
        );
        self.confirm("create")?;
        let request = CreateRequest {
            urn,
            inputs: checked,
            timeout: 0.0,
            preview: self.settings.dry_run,
            status: None,
        };
        let token = &self.resource.token;
        let created = self.package.standalone_host.run(async {
            let created = provider.create(request).await;
            created.map_err(|error| left_behind(token, "create", None, error))
        })?;
        let id = match created.id.as_str() {
            "" => "[unknown]",
            id => id,
        };
        self.print(id, &created.outputs);
        Ok(())
    }

    fn upsert(&mut self) -> Result<(), Error> {
        let inputs = self.inputs(Completeness::Whole)?;
        let provider = self.provider()?;
        match self.find(&*provider)? {
            Some(found) => self.update(&*provider, &found, inputs, "update"),
            None => self.create(&*provider, inputs),
        }
    }

    fn patch(&mut self) -> Result<(), Error> {
        let patch = self.inputs(Completeness::Part)?;
        let provider = self.provider()?;
        let found = self.find_or_fail(&*provider)?;
        let mut inputs = found.inputs.as_ref().clone();
        for (name, value) in patch.iter() {
            inputs.insert(name.clone(), value.clone());
        }
        self.update(&*provider, &found, inputs, "patch")
    }

    fn update(
        &mut self,
        provider: &dyn Provider,
        found: &Found,
        inputs: PropertyMap,
        verb: &str,
    ) -> Result<(), Error> {
        let checked = self.check(provider, Some(found.inputs.clone()), inputs)?;
        let diff = self.diff(provider, found, &checked)?;
        let is_same = diff.changes == DiffChanges::None
            || (diff.changes == DiffChanges::Unknown && *checked == *found.inputs);
        if is_same && !diff.is_replace() {
            self.ctx.printer.info("No changes.");
            self.print(found.id.as_str(), &found.outputs);
            return Ok(());
        }
        self.announce_change(found, &checked, &diff);
        if diff.is_replace() {
            return self.refuse_replacement(&found.id, &diff.replace_keys);
        }
        self.confirm(verb)?;
        let request = UpdateRequest {
            urn: self.urn(),
            id: found.id.clone(),
            old_inputs: found.inputs.clone(),
            old_outputs: found.outputs.clone(),
            new_inputs: checked,
            ignore_changes: ecow::EcoVec::new(),
            timeout: 0.0,
            preview: self.settings.dry_run,
            old_views: Vec::new(),
            status: None,
        };
        let token = &self.resource.token;
        let updated = self.package.standalone_host.run(async {
            let updated = provider.update(request).await;
            updated.map_err(|error| left_behind(token, verb, Some(&found.id), error))
        })?;
        self.print(found.id.as_str(), &updated.outputs);
        Ok(())
    }

    fn diff(
        &mut self,
        provider: &dyn Provider,
        found: &Found,
        new_inputs: &Arc<PropertyMap>,
    ) -> Result<DiffResult, Error> {
        let request = DiffRequest {
            urn: self.urn(),
            id: found.id.clone(),
            old_inputs: found.inputs.clone(),
            old_outputs: found.outputs.clone(),
            new_inputs: new_inputs.clone(),
            allow_unknowns: false,
            ignore_changes: ecow::EcoVec::new(),
        };
        self.package.standalone_host.run(async {
            let diffed = provider.diff(request).await;
            diffed.map_err(|error| provider::failed(error).context("diff"))
        })
    }

    fn announce_change(&self, found: &Found, inputs: &Arc<PropertyMap>, diff: &DiffResult) {
        let urn = self.urn();
        let old = steps::state(&urn, &found.id, &found.inputs, &found.outputs);
        let new = steps::state(&urn, &found.id, inputs, &Arc::default());
        let op = if diff.is_replace() {
            StepOp::Replace
        } else {
            StepOp::Update
        };
        let (old, new) = (Some(old), Some(new));
        steps::announce(op, old, new, Some(diff), self.settings, self.ctx);
    }

    /// Rejects a change that requires a replacement: the provider cannot make it in place, and after an error during
    /// a replacement the new object would be unknown.
    fn refuse_replacement(&self, id: &ResourceId, keys: &[ecow::EcoString]) -> Result<(), Error> {
        let keys = keys.join(", ");
        let text = format!("this change replaces the resource ({keys})");
        if self.settings.dry_run {
            self.ctx.printer.warning(&text);
            return Ok(());
        }
        let id = id.as_str();
        Err(Error::user(text).hint(format!(
            "nothing was changed: `create` the new object, then `delete` {id}, or have a stack keep the resource"
        )))
    }

    fn delete(&mut self) -> Result<(), Error> {
        let provider = self.provider()?;
        let found = self.find_or_fail(&*provider)?;
        let id = found.id.as_str();
        let will = if self.settings.dry_run {
            "would"
        } else {
            "will"
        };
        let token = &self.resource.token;
        self.ctx
            .printer
            .info(&format!("This {will} delete {token} \"{id}\"."));
        if self.settings.dry_run {
            return Ok(());
        }
        self.confirm("delete")?;
        let request = DeleteRequest {
            urn: self.urn(),
            id: found.id.clone(),
            inputs: found.inputs,
            outputs: found.outputs,
            timeout: 0.0,
            old_views: Vec::new(),
            status: None,
        };
        self.package.standalone_host.run(async {
            let deleted = provider.delete(request).await;
            deleted.map_err(|error| left_behind(token, "delete", Some(&found.id), error))
        })?;
        if !self.settings.is_json {
            self.ctx.printer.info(&format!("Deleted {token} \"{id}\""));
        }
        Ok(())
    }

    fn read(&mut self) -> Result<(), Error> {
        let provider = self.provider()?;
        let found = self.find_or_fail(&*provider)?;
        self.print(found.id.as_str(), &found.outputs);
        Ok(())
    }

    fn list(&mut self) -> Result<(), Error> {
        let listed = match self.listed()? {
            None => Json::from("<unknown>"),
            Some(items) => {
                let items = items.iter();
                let items =
                    items.map(|it| json!({ "id": it.id.as_str(), "name": it.name.as_str() }));
                Json::Array(items.collect())
            }
        };
        self.ctx.printer.data(&pretty(&listed, Indent::Two));
        Ok(())
    }

    /// The objects that exist; `None` if the provider cannot know yet.
    pub(super) fn listed(&mut self) -> Result<Option<Vec<ListedObject>>, Error> {
        let nothing = Properties::default();
        let properties = self.resource.list_inputs.as_ref().unwrap_or(&nothing);
        let query = Arc::new(self.values(properties, Completeness::Whole)?);
        let provider = self.provider()?;
        let token = TypeToken::new(self.resource.token.as_str());
        let (all, count) = (self.asked.all, self.asked.count);
        self.package.standalone_host.run(async {
            let mut items = Vec::new();
            let mut continuation = ecow::EcoString::new();
            loop {
                let request = ListRequest {
                    token: token.clone(),
                    query: query.clone(),
                    limit: count.saturating_sub(items.len() as u64),
                    continuation,
                };
                let page = provider.list(request).await.map_err(provider::failed)?;
                if page.unknown {
                    return Ok(None);
                }
                items.extend(page.items);
                continuation = page.continuation;
                let is_enough = count > 0 && items.len() as u64 >= count;
                if is_enough || continuation.is_empty() || (count == 0 && !all) {
                    break;
                }
            }
            if count > 0 {
                items.truncate(usize::try_from(count).unwrap_or(usize::MAX));
            }
            Ok(Some(items))
        })
    }

    fn check(
        &mut self,
        provider: &dyn Provider,
        old_inputs: Option<Arc<PropertyMap>>,
        inputs: PropertyMap,
    ) -> Result<Arc<PropertyMap>, Error> {
        let new_inputs = Arc::new(inputs);
        let request = CheckRequest {
            urn: self.urn(),
            old_inputs,
            new_inputs: new_inputs.clone(),
            allow_unknowns: false,
            random_seed: Arc::from(*uuid::Uuid::new_v4().as_bytes()),
            autonaming: None,
        };
        let checked = self
            .package
            .standalone_host
            .run(async { provider.check(request).await.map_err(provider::failed) })?;
        provider::invalid("resource inputs", &checked.failures)?;
        let checked = checked.inputs.unwrap_or(new_inputs);
        self.package.standalone_host.secrets().learn(&checked);
        Ok(checked)
    }

    fn find(&mut self, provider: &dyn Provider) -> Result<Option<Found>, Error> {
        let request = ReadRequest {
            urn: self.urn(),
            id: ResourceId::from_text(self.word()),
            inputs: None,
            outputs: Arc::default(),
            timeout: 0.0,
            old_views: Vec::new(),
            status: None,
        };
        let read = self
            .package
            .standalone_host
            .run(async { read(provider, request).await })?;
        let known = self.package.standalone_host.secrets();
        for properties in read.inputs.iter().chain(&read.outputs) {
            known.learn(properties);
        }
        Ok(match read.outputs {
            Some(outputs) if !read.id.as_str().is_empty() => Some(Found {
                id: read.id,
                inputs: read.inputs.unwrap_or_default(),
                outputs,
            }),
            _ => None,
        })
    }

    fn find_or_fail(&mut self, provider: &dyn Provider) -> Result<Found, Error> {
        let found = self.find(provider)?;
        found.ok_or_else(|| Error::user(format!("resource \"{}\" was not found", self.word())))
    }

    fn confirm(&self, verb: &str) -> Result<(), Error> {
        if self.package.standalone_host.is_interrupted() {
            return Err(Error::with_status(
                ExitStatus::Cancelled,
                "cancelled; nothing was changed",
            ));
        }
        if self.settings.dry_run || self.asked.yes {
            return Ok(());
        }
        let question = format!("Do you want to perform this {verb}?");
        if prompt::select(&question, vec!["no".to_owned(), "yes".to_owned()])? == 1 {
            return Ok(());
        }
        let declined = format!("confirmation declined, not proceeding with the {verb}");
        self.ctx.printer.info(&declined);
        Err(Error::shown(ExitStatus::Failure))
    }

    fn print(&self, id: &str, outputs: &PropertyMap) {
        let schema = &self.package.schema;
        let shown = if self.resource.properties.is_empty() {
            outputs.clone()
        } else {
            outcome::declared(schema, outputs, &self.resource.properties)
        };
        let secrets = self.settings.secrets;
        if self.settings.is_json {
            let json = outcome::resource_json(id, &shown, secrets);
            self.ctx.printer.data(&pretty(&json, Indent::Two));
        } else {
            self.ctx
                .printer
                .data(&outcome::resource_text(id, &shown, secrets));
        }
    }
}

/// Reads an object. An unhealthy object counts as found.
async fn read(provider: &dyn Provider, request: ReadRequest) -> Result<ReadResponse, Error> {
    match provider.read(request).await {
        Ok(read) => Ok(read),
        Err(error) => match error.status {
            ResourceStatus::Partial(partial) => Ok(ReadResponse {
                id: partial.id,
                inputs: partial.inputs,
                outputs: partial.outputs,
                refresh_before_update: partial.refresh_before_update,
            }),
            _ => Err(provider::failed(error)),
        },
    }
}

/// Error of a failed change, with the id of an object that still exists.
fn left_behind(token: &str, verb: &str, id: Option<&ResourceId>, error: ProviderError) -> Error {
    let told = |id: &str| format!("the object is there: {token} \"{id}\"");
    let left = match (&error.status, id) {
        (ResourceStatus::Unchanged, _) => return provider::failed(error),
        (ResourceStatus::Partial(partial), _) => {
            let reasons = partial.reasons.join("\n- ");
            format!("{}\n- {reasons}", told(partial.id.as_str()))
        }
        (ResourceStatus::Unknown, Some(id)) => format!(
            "nobody knows whether the {verb} took effect on {token} \"{}\"; `read` shows what there is",
            id.as_str()
        ),
        (ResourceStatus::Unknown, None) => format!(
            "nobody knows whether an object of {token} came into being; look for it before you try again"
        ),
    };
    Error::user(format!("{}; {left}", error.message))
}
