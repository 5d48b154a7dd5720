//! Resources that are stored in a stack: each is a snippet in its state, and every change is an update of the stack that
//! targets this snippet.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use ecow::EcoString;
use plumb_operate::context::Stack;
use plumb_operate::operations::{SnippetUpdate, update_snippets};
use plumb_operate::{Context, Error, ExitStatus};
use plumb_pcl::{BodyText, expression_of};
use plumb_resource::{ResourceState, TypeToken, Urn};
use plumb_schema::{Properties, Resource};
use plumb_state::{Snapshot, Snippet, SnippetDescriptor};
use uuid::Uuid;

use super::ask::Asked;
use super::inputs::{Format, Source, read_names};
use super::package::Package;
use super::shape::{Operation, Side};
use super::{Settings, home, names, provider};

/// Runs `operation` on the resource of the stack that `asked` names.
pub(super) fn run(
    operation: Operation,
    package: &Package,
    resource: &Resource,
    asked: &Asked,
    settings: Settings,
    ctx: &Context,
) -> Result<ExitStatus, Error> {
    settings.require_yes(asked.yes, ctx)?;
    if package.is_path {
        return Err(Error::user(format!(
            "a stack cannot keep resources of a plugin that is named by its path, because later updates would not find it; \
             name it in Pulumi.yaml, under `plugins`, and leave --package out, or use --stateless: {}",
            package.spec.name
        )));
    }
    let wish = Arc::new(Wish::new(operation, package, resource, asked, ctx)?);
    let configuration = package.schema.provider()?;
    refuse_plain_secrets(Some(&wish.body), &resource.input_properties)?;
    refuse_plain_secrets(wish.provider.as_ref(), &configuration.input_properties)?;
    let home = home::context(ctx)?;
    let ctx = home.as_ref().unwrap_or(ctx);
    let planned: Arc<Mutex<Option<Planned>>> = Arc::default();
    let (wished, noted) = (wish.clone(), planned.clone());
    let status = update_snippets(
        SnippetUpdate {
            order: Box::new(move |snapshot, stack| {
                let planned = wished.plan(snapshot, stack)?;
                let changes = planned.changes.clone();
                *noted.lock().unwrap_or_else(PoisonError::into_inner) = Some(planned);
                Ok(changes)
            }),
            dry_run: settings.dry_run,
            yes: asked.yes,
            show_secrets: settings.shows_secrets(),
            is_json: settings.is_json,
        },
        ctx,
    )?;
    let planned = planned
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .take();
    if let Some(planned) = planned.filter(|_| status == ExitStatus::Success)
        && !settings.dry_run
        && !settings.is_json
    {
        let done = match (operation, planned.existed) {
            (Operation::Delete, _) => "Deleted",
            (Operation::Patch, _) => "Patched",
            (_, true) => "Updated",
            (_, false) => "Created",
        };
        ctx.printer
            .line(&format!("{done} {} (snippet {})", wish.name, planned.uuid));
    }
    Ok(status)
}

/// Requested change of a resource.
struct Wish {
    operation: Operation,
    name: String,
    /// Full type token.
    token: String,
    /// Package prefix of tokens.
    package: String,
    descriptor: SnippetDescriptor,
    body: BodyText,
    /// Resource names given by the user.
    names: BTreeMap<String, String>,
    provider_urn: Option<String>,
    /// Configuration of the provider, if any was given.
    provider: Option<BodyText>,
}

/// Planned changes of a stack's snippets.
struct Planned {
    changes: BTreeMap<EcoString, Option<Snippet>>,
    /// UUID of the resource's snippet.
    uuid: EcoString,
    existed: bool,
}

/// Names of the stack in URNs and in messages.
struct Place<'a> {
    stack: &'a str,
    project: &'a str,
    shown: &'a str,
}

impl Wish {
    fn new(
        operation: Operation,
        package: &Package,
        resource: &Resource,
        asked: &Asked,
        ctx: &Context,
    ) -> Result<Self, Error> {
        let format = Format::named(asked.format.as_deref())?;
        let inputs = Source {
            side: Side::Input,
            package: package.schema.name(),
            file: asked.input_file.as_deref(),
            format,
            given: &asked.inputs,
        };
        let provider = Source {
            side: Side::Provider,
            package: package.schema.name(),
            file: asked.provider_file.as_deref(),
            format,
            given: &asked.provider,
        };
        let body = inputs.body(ctx)?;
        if matches!(operation, Operation::Create | Operation::Upsert) {
            inputs.check_complete(&body, &resource.input_properties)?;
        }
        let has_provider = provider.file.is_some() || !provider.given.is_empty();
        Ok(Wish {
            operation,
            name: asked.word.clone().unwrap_or_default(),
            token: resource.token.clone(),
            package: package.schema.name().to_owned(),
            descriptor: package.descriptor(),
            body,
            names: read_names(asked.resources_file.as_deref(), ctx)?,
            provider_urn: asked.provider_urn.clone(),
            provider: has_provider.then(|| provider.body(ctx)).transpose()?,
        })
    }

    /// Plans the changes of the snippets for a stack with this state.
    fn plan(&self, snapshot: &Snapshot, stack: &Stack) -> Result<Planned, Error> {
        let place = Place {
            stack: stack.name(),
            project: stack.project_name(),
            shown: &stack.shown,
        };
        self.plan_at(snapshot, &place)
    }

    fn plan_at(&self, snapshot: &Snapshot, place: &Place<'_>) -> Result<Planned, Error> {
        let (token, name, shown) = (&self.token, &self.name, place.shown);
        let existing = find(snapshot, name, token);
        match (self.operation, existing) {
            (Operation::Create, Some(_)) => Err(Error::user(format!(
                "resource {token} {name:?} already exists in stack {shown}; use `upsert` to replace it"
            ))),
            (Operation::Patch | Operation::Delete, None) => Err(Error::user(format!(
                "resource {token} {name:?} does not exist in stack {shown}"
            ))),
            (Operation::Delete, Some(snippet)) => self.deleted(snapshot, snippet, shown),
            (Operation::Patch, Some(snippet)) => self.patched(snapshot, snippet),
            (_, existing) => self.replaced(snapshot, existing, place),
        }
    }

    /// Plans a deletion. Fails if other resources depend on the snippet's resources.
    fn deleted(
        &self,
        snapshot: &Snapshot,
        snippet: &Snippet,
        shown: &str,
    ) -> Result<Planned, Error> {
        let is_own = |state: &ResourceState| state.snippet_id.as_ref() == Some(&snippet.uuid);
        let (own, others): (Vec<_>, Vec<_>) = snapshot
            .resources
            .iter()
            .filter(|state| !state.delete)
            .partition(|state| is_own(state));
        let is_needed = |urn: &Urn| own.iter().any(|state| state.urn == *urn);
        let in_need = others.iter().filter(|it| it.references().any(is_needed));
        let in_need: Vec<&str> = in_need.map(|it| it.urn.as_str()).collect();
        if !in_need.is_empty() {
            return Err(Error::user(format!(
                "resource {} \"{}\" is needed by others of stack {shown}; delete them first:\n- {}",
                self.token,
                self.name,
                in_need.join("\n- ")
            )));
        }
        Ok(Planned {
            changes: BTreeMap::from([(snippet.uuid.clone(), None)]),
            uuid: snippet.uuid.clone(),
            existed: true,
        })
    }

    /// Names used in the body, with the URNs of their resources.
    fn references(&self, snapshot: &Snapshot) -> Result<BTreeMap<EcoString, EcoString>, Error> {
        let mut known = names::names(snapshot);
        for (name, urn) in &self.names {
            if !snapshot
                .resources
                .iter()
                .any(|state| state.urn.as_str() == urn)
            {
                return Err(Error::user(format!(
                    "resources file references {name:?} as {urn}, but that resource was not found in the stack"
                )));
            }
            known.insert(name.clone(), urn.clone());
        }
        let mentioned = self.body.mentioned();
        let used = known
            .into_iter()
            .filter(|(name, _)| mentioned.contains(name));
        Ok(used.map(|(name, urn)| (name.into(), urn.into())).collect())
    }

    fn patched(&self, snapshot: &Snapshot, snippet: &Snippet) -> Result<Planned, Error> {
        let mut body = BodyText::read(&format!("<snippet {}>", snippet.uuid), &snippet.code)?;
        body.overlay(&self.body)?;
        let mut references = snippet.references.clone();
        for (name, urn) in self.references(snapshot)? {
            match references.get(&name) {
                Some(known) if *known != urn => {
                    return Err(Error::user(format!(
                        "resource reference {name:?} already points to {known} and cannot be patched to point to {urn}"
                    )));
                }
                _ => references.insert(name, urn),
            };
        }
        let mentioned = body.mentioned();
        references.retain(|name, _| mentioned.contains(name.as_str()));
        let changed = Snippet {
            code: body.text().into(),
            references,
            ..snippet.clone()
        };
        Ok(Planned {
            uuid: snippet.uuid.clone(),
            changes: BTreeMap::from([(snippet.uuid.clone(), Some(changed))]),
            existed: true,
        })
    }

    fn replaced(
        &self,
        snapshot: &Snapshot,
        existing: Option<&Snippet>,
        place: &Place<'_>,
    ) -> Result<Planned, Error> {
        let mut references = self.references(snapshot)?;
        let mut body = self.body.clone();
        let mut changes = BTreeMap::new();
        let mut provider_urn = self.provider_urn.clone();
        if let Some(provider) = &self.provider {
            let (urn, snippet) = self.provider_snippet(provider, snapshot, place)?;
            provider_urn = Some(urn);
            changes.insert(snippet.uuid.clone(), Some(snippet));
        }
        if let Some(urn) = provider_urn {
            if self.provider.is_none() {
                // Only checks that the provider exists.
                provider::find_inputs(snapshot, &self.package, &urn)
                    .map_err(|error| error.context("--provider"))?;
            }
            let mentioned = body.mentioned();
            let candidates = (2..).map(|number| format!("provider{number}"));
            let mut candidates = std::iter::once("provider".to_owned()).chain(candidates);
            let free = candidates.find(|name| !mentioned.contains(name));
            let name = free.unwrap_or_default();
            body.set_provider(&name)?;
            // A body with an explicit provider keeps it.
            if body.mentioned().contains(&name) {
                references.insert(name.into(), urn.into());
            }
        }
        let uuid = existing.map_or_else(new_uuid, |snippet| snippet.uuid.clone());
        let snippet = Snippet {
            uuid: uuid.clone(),
            name: self.name.as_str().into(),
            type_token: self.token.as_str().into(),
            code: body.text().into(),
            descriptor: self.descriptor.clone(),
            references,
        };
        changes.insert(uuid.clone(), Some(snippet));
        Ok(Planned {
            changes,
            uuid,
            existed: existing.is_some(),
        })
    }

    /// Snippet of a separate provider for the resource, and its URN. The given configuration takes precedence over that of
    /// the provider named by `--provider`.
    fn provider_snippet(
        &self,
        said: &BodyText,
        snapshot: &Snapshot,
        place: &Place<'_>,
    ) -> Result<(String, Snippet), Error> {
        let mut body = said.clone();
        if let Some(urn) = &self.provider_urn {
            let inputs = provider::find_inputs(snapshot, &self.package, urn)
                .map_err(|error| error.context("--provider"))?;
            for (key, value) in inputs.iter() {
                let key = key.to_text();
                if !body.has(&key) {
                    body.set(&key, &expression_of(value, &key)?)?;
                }
            }
        }
        let name = format!("{}-provider", self.name);
        let token = TypeToken::provider_of(&self.package);
        let urn = Urn::new(place.stack, place.project, "", token.as_str(), &name);
        let known = find(snapshot, &name, token.as_str());
        let snippet = Snippet {
            uuid: known.map_or_else(new_uuid, |snippet| snippet.uuid.clone()),
            name: name.into(),
            type_token: token.as_str().into(),
            code: body.text().into(),
            descriptor: self.descriptor.clone(),
            references: BTreeMap::new(),
        };
        Ok((urn.to_string(), snippet))
    }
}

/// Rejects plaintext secrets, because snippets are stored in the state without encryption.
fn refuse_plain_secrets(body: Option<&BodyText>, properties: &Properties) -> Result<(), Error> {
    for (name, expression) in body.into_iter().flat_map(BodyText::attributes) {
        let is_secret = properties.get(&name).is_some_and(|it| it.secret);
        if (is_secret && expression.starts_with('"')) || expression.contains("secret(\"") {
            let text = format!(
                "{name} is a secret, and the stack keeps what is said of it as it is written, where everybody can read it"
            );
            return Err(Error::user(text).hint(format!(
                "write it to a file, and give its place: --{}+ '{{\"fn::secret\": {{\"fn::readFile\": FILE}}}}'",
                super::shape::flag_name(&name)
            )));
        }
    }
    Ok(())
}

/// Snippet with a name and a type, which together are unique.
fn find<'s>(snapshot: &'s Snapshot, name: &str, token: &str) -> Option<&'s Snippet> {
    let mut snippets = snapshot.snippets.iter();
    snippets.find(|it| it.name == name && it.type_token == token)
}

fn new_uuid() -> EcoString {
    EcoString::from(Uuid::new_v4().to_string())
}

#[cfg(test)]
mod tests;
