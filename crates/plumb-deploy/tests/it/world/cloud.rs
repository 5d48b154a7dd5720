//! A provider with a cloud in memory: what exists, what was asked, and how it misbehaves.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use plumb_resource::provider::*;
use plumb_resource::{PropertyDependencies, ResourceId, Urn};
use plumb_value::PropertyMap;

type Answer = Result<ProviderReply, ProviderError>;
type Answerer = dyn Fn(&ProviderCall) -> Option<Answer> + Send + Sync;

/// Answers some calls in another way than the cloud does.
#[derive(Clone)]
struct Rule {
    operation: String,
    name: String,
    answer: Arc<Answerer>,
}

impl fmt::Debug for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Rule({} {})", self.operation, self.name)
    }
}

/// Objects that exist outside, and the behaviour of calls.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cloud {
    pub(crate) objects: BTreeMap<String, PropertyMap>,
    next_id: u32,
    /// `(operation, resource name)` that fails, and how.
    pub(crate) failures: BTreeMap<(String, String), Fault>,
    rules: Vec<Rule>,
    pub(super) told: Vec<super::views::Told>,
    /// Calls that are never answered.
    hanging: BTreeSet<String>,
    /// Names of resources that live inside another one.
    inside: BTreeMap<String, String>,
    /// Objects that are deleted with another one, by its id.
    contents: BTreeMap<String, Vec<String>>,
    /// Objects that are gone, which nobody was told.
    lost: BTreeSet<String>,
    /// Objects that are there, which nobody was told.
    unheard: BTreeSet<String>,
    /// Calls in the order of their answers: `op name`.
    pub(crate) calls: Vec<String>,
    /// Answer to the next Construct or Call.
    pub(super) built: Option<ProviderReply>,
    /// Whole requests, in the order of [`Cloud::calls`].
    pub(crate) requests: Vec<(String, ProviderCall)>,
    /// With what the providers were configured that answered them.
    pub(crate) configurations: Vec<(String, PropertyMap)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Nothing was done.
    Clean,
    /// The object exists and is not ready.
    Partial,
    /// The change was made, and the answer is lost.
    Unknown,
}

impl Cloud {
    pub(crate) fn fail(&mut self, operation: &str, name: &str, fault: Fault) {
        self.failures
            .insert((operation.to_owned(), name.to_owned()), fault);
    }

    /// Has the first `times` calls of `operation` for `name` fail, and do nothing; the failures are numbered.
    pub(crate) fn fail_times(&mut self, operation: &'static str, name: &'static str, times: usize) {
        let count = AtomicUsize::new(0);
        self.on(operation, name, move |_| {
            let attempt = count.fetch_add(1, Ordering::Relaxed) + 1;
            let message = format!("{operation} of {name} failed ({attempt})");
            (attempt <= times).then(|| Err(ProviderError::clean(message)))
        });
    }

    /// No faults and no rules from here on.
    pub(crate) fn behave(&mut self) {
        self.failures.clear();
        self.rules.clear();
    }

    /// Has `answer` answer calls of `operation` for the resource (or function) `name`, `*` for all; `None` leaves it to
    /// the cloud. The latest rule comes first.
    pub(crate) fn on(
        &mut self,
        operation: &str,
        name: &str,
        answer: impl Fn(&ProviderCall) -> Option<Answer> + Send + Sync + 'static,
    ) {
        self.rules.push(Rule {
            operation: operation.to_owned(),
            name: name.to_owned(),
            answer: Arc::new(answer),
        });
    }

    /// Has every Diff of `name` answer `diff`.
    pub(crate) fn diffs(&mut self, name: &str, diff: DiffResult) {
        self.on("diff", name, move |_| {
            Some(Ok(ProviderReply::Diffed(diff.clone())))
        });
    }

    /// Has every DiffConfig of the provider `name` answer `diff`.
    pub(crate) fn diffs_config(&mut self, name: &str, diff: DiffResult) {
        self.on("diffConfig", name, move |_| {
            Some(Ok(ProviderReply::Diffed(diff.clone())))
        });
    }

    /// Has DiffConfig of the provider `name` compare settings like Diff compares inputs.
    pub(crate) fn compares_config(&mut self, name: &str) {
        self.on("diffConfig", name, |call| match call {
            ProviderCall::DiffConfig(it) => {
                let diff = difference(&it.old_inputs, &it.new_inputs);
                Some(Ok(ProviderReply::Diffed(diff)))
            }
            _ => None,
        });
    }

    /// From here on objects of `name` go when the object of `owner` goes that they were created in.
    pub(crate) fn contain(&mut self, owner: &str, name: &str) {
        self.inside.insert(name.to_owned(), owner.to_owned());
    }

    /// Calls of `operation` for `name` are never answered.
    pub(crate) fn hang(&mut self, operation: &str, name: &str) {
        self.hanging.insert(format!("{operation} {name}"));
    }

    /// Whether a call may be answered some time.
    pub(crate) fn will_answer(&self, request: &ProviderCall) -> bool {
        let (operation, name) = Self::title(request);
        !self.hanging.contains(&format!("{operation} {name}"))
    }

    /// The object of the resource `name`, the latest if there are more.
    pub(crate) fn id(&self, name: &str) -> String {
        let number = |id: &&String| id.rsplit('-').next().and_then(|it| it.parse::<u32>().ok());
        let is_named = |id: &&String| id.rsplit_once('-').is_some_and(|(of, _)| of == name);
        let ids = self.objects.keys().filter(is_named);
        let id = ids.max_by_key(number);
        id.unwrap_or_else(|| panic!("no object of {name}")).clone()
    }

    /// The object of `name` vanishes by itself.
    pub(crate) fn lose(&mut self, name: &str) {
        let id = self.id(name);
        self.objects.remove(&id);
    }

    /// The object of `name` changes by itself.
    pub(crate) fn drift(&mut self, name: &str, key: &str, value: &str) {
        let id = self.id(name);
        let object = self.objects.get_mut(&id).expect("it was just found");
        object.insert(key, value);
    }

    /// Objects that exist, made by nobody here.
    pub(crate) fn put(&mut self, id: &str, object: PropertyMap) {
        self.objects.insert(id.to_owned(), object);
    }

    /// The calls so far, which it forgets.
    pub(crate) fn take_calls(&mut self) -> Vec<String> {
        self.requests.clear();
        self.configurations.clear();
        std::mem::take(&mut self.calls)
    }

    /// The calls so far that were to change something; it forgets all calls.
    pub(crate) fn take_changes(&mut self) -> Vec<String> {
        let mut calls = self.take_calls();
        calls.retain(|call| {
            let operation = call.split(' ').next();
            matches!(operation, Some("create" | "update" | "delete"))
        });
        calls
    }

    /// The only request of `operation` for `name` so far.
    pub(crate) fn request(&self, operation: &str, name: &str) -> &ProviderCall {
        let wanted = format!("{operation} {name}");
        let mut found = self.requests.iter().filter(|(what, _)| *what == wanted);
        let (_, request) = found
            .next()
            .unwrap_or_else(|| panic!("no `{wanted}` in {:?}", self.calls));
        assert!(
            found.next().is_none(),
            "`{wanted}` more than once: {:?}",
            self.calls
        );
        request
    }

    /// The setting `key` of the provider that answered the only such call so far.
    pub(crate) fn setting(&self, operation: &str, name: &str, key: &str) -> Option<&str> {
        self.request(operation, name);
        let wanted = format!("{operation} {name}");
        let mut found = self.configurations.iter();
        let (_, configuration) = found.find(|(call, _)| *call == wanted)?;
        configuration.get(key)?.as_str()
    }

    /// Ids of the objects that some state must know: made by a call whose caller heard of it, and not `kept-` by the story.
    pub(crate) fn owned(&self) -> impl Iterator<Item = &str> {
        let is_owned = |id: &&str| !id.starts_with("kept-") && !self.unheard.contains(*id);
        self.objects.keys().map(String::as_str).filter(is_owned)
    }

    /// Name of a request in [`Cloud::calls`].
    pub(super) fn title(request: &ProviderCall) -> (&'static str, String) {
        let of = |operation, urn: &Urn| (operation, urn.name().to_owned());
        match request {
            ProviderCall::CheckConfig(it) => of("checkConfig", &it.urn),
            ProviderCall::DiffConfig(it) => of("diffConfig", &it.urn),
            ProviderCall::Check(it) => of("check", &it.urn),
            ProviderCall::Diff(it) => of("diff", &it.urn),
            ProviderCall::Create(it) => of("create", &it.urn),
            ProviderCall::Read(it) => of("read", &it.urn),
            ProviderCall::Update(it) => of("update", &it.urn),
            ProviderCall::Delete(it) => of("delete", &it.urn),
            ProviderCall::Invoke(it) => ("invoke", it.token.as_str().to_owned()),
            ProviderCall::Call(it) => ("call", it.token.as_str().to_owned()),
            ProviderCall::Construct(it) => ("construct", it.goal.name.to_string()),
            ProviderCall::Parameterize(it) => ("parameterize", it.name.to_string()),
        }
    }

    /// Answers a call to a provider that has this configuration.
    pub(crate) fn answer(&mut self, request: &ProviderCall, configuration: PropertyMap) -> Answer {
        let (operation, name) = Self::title(request);
        let call = format!("{operation} {name}");
        self.calls.push(call.clone());
        self.configurations.push((call.clone(), configuration));
        self.requests.push((call, request.clone()));
        let ruled = self
            .rules
            .iter()
            .rev()
            .filter(|rule| rule.operation == operation && (rule.name == name || rule.name == "*"))
            .find_map(|rule| (rule.answer)(request));
        if let Some(answer) = ruled {
            return answer;
        }
        let fault = self
            .failures
            .get(&(operation.to_owned(), name.clone()))
            .copied();
        if fault == Some(Fault::Clean) {
            return Err(ProviderError::clean(format!(
                "{operation} of {name} failed"
            )));
        }
        let answer = self.act(&name, request, fault)?;
        if fault == Some(Fault::Unknown) {
            return Err(ProviderError {
                status: ResourceStatus::Unknown,
                ..ProviderError::clean(format!("{operation} of {name} was lost"))
            });
        }
        Ok(answer)
    }

    fn act(&mut self, name: &str, request: &ProviderCall, fault: Option<Fault>) -> Answer {
        match request {
            ProviderCall::CheckConfig(it) => Ok(checked(&it.new_inputs)),
            ProviderCall::Check(it) => Ok(checked(&it.new_inputs)),
            ProviderCall::DiffConfig(_) => {
                Ok(ProviderReply::Diffed(DiffResult::of(DiffChanges::Unknown)))
            }
            ProviderCall::Diff(it) => Ok(ProviderReply::Diffed(difference(
                &it.old_inputs,
                &it.new_inputs,
            ))),
            ProviderCall::Create(it) => self.create(name, it, fault),
            ProviderCall::Update(it) => self.update(it, fault),
            ProviderCall::Delete(it) => {
                let id = it.id.as_str().to_owned();
                let existed = self.remove(&id) || self.lost.remove(&id);
                assert!(existed, "{name}: object {id} is deleted twice");
                if fault == Some(Fault::Unknown) {
                    self.lost.insert(id);
                }
                Ok(ProviderReply::Deleted)
            }
            ProviderCall::Read(it) => Ok(ProviderReply::Read(self.read(it))),
            ProviderCall::Invoke(it) => Ok(invoked(&it.args)),
            ProviderCall::Call(it) => Ok(self.built.take().unwrap_or_else(|| invoked(&it.args))),
            ProviderCall::Parameterize(_) => Ok(ProviderReply::Parameterized),
            ProviderCall::Construct(_) => {
                let built = self.built.take();
                Ok(built.expect("the story says how the component is built"))
            }
        }
    }

    /// Removes an object with what is in it.
    fn remove(&mut self, id: &str) -> bool {
        for content in self.contents.remove(id).unwrap_or_default() {
            self.remove(&content);
        }
        self.objects.remove(id).is_some()
    }

    fn read(&self, request: &ReadRequest) -> ReadResponse {
        let object = self.objects.get(request.id.as_str());
        ReadResponse {
            id: object.map_or(ResourceId::None, |_| request.id.clone()),
            inputs: object.map(|object| Arc::new(object.clone())),
            outputs: object.map(|object| Arc::new(object.clone())),
            refresh_before_update: false,
        }
    }

    fn create(&mut self, name: &str, request: &CreateRequest, fault: Option<Fault>) -> Answer {
        let outputs = request.inputs.clone();
        if request.preview {
            let response = CreateResponse {
                id: ResourceId::Unknown,
                outputs,
                refresh_before_update: false,
            };
            return Ok(ProviderReply::Created(response));
        }
        self.next_id += 1;
        let id = format!("{name}-{}", self.next_id);
        if let Some(owner) = self.inside.get(name) {
            let owner = self.id(owner);
            self.contents.entry(owner).or_default().push(id.clone());
        }
        self.objects
            .insert(id.clone(), request.inputs.as_ref().clone());
        let id = ResourceId::Known(id.into());
        match fault {
            Some(Fault::Partial) => return Err(partial(id, outputs)),
            Some(Fault::Unknown) => drop(self.unheard.insert(id.as_str().to_owned())),
            _ => {}
        }
        Ok(ProviderReply::Created(CreateResponse {
            id,
            outputs,
            refresh_before_update: false,
        }))
    }

    fn update(&mut self, request: &UpdateRequest, fault: Option<Fault>) -> Answer {
        let outputs = request.new_inputs.clone();
        if !request.preview {
            let object = self
                .objects
                .get_mut(request.id.as_str())
                .expect("what is updated exists");
            *object = request.new_inputs.as_ref().clone();
            if fault == Some(Fault::Partial) {
                return Err(partial(request.id.clone(), outputs));
            }
        }
        Ok(ProviderReply::Updated(UpdateResponse {
            outputs,
            refresh_before_update: false,
        }))
    }
}

/// Exists, and is not ready.
pub(crate) fn partial(id: ResourceId, outputs: Arc<PropertyMap>) -> ProviderError {
    let failure = PartialFailure {
        id,
        outputs: Some(outputs),
        inputs: None,
        reasons: ["not ready".into()].into(),
        refresh_before_update: false,
    };
    ProviderError {
        status: ResourceStatus::Partial(Box::new(failure)),
        ..ProviderError::clean("not ready")
    }
}

/// A difference that demands a replacement because of `key`.
pub(crate) fn must_replace(key: &str) -> DiffResult {
    DiffResult {
        replace_keys: vec![key.into()],
        changed_keys: vec![key.into()],
        ..DiffResult::of(DiffChanges::Some)
    }
}

fn invoked(args: &Arc<PropertyMap>) -> ProviderReply {
    ProviderReply::Invoked(InvokeResponse {
        result: args.clone(),
        failures: Vec::new(),
        dependencies: PropertyDependencies::new(),
    })
}

fn checked(inputs: &Arc<PropertyMap>) -> ProviderReply {
    ProviderReply::Checked(CheckResponse {
        inputs: Some(inputs.clone()),
        ..CheckResponse::default()
    })
}

/// Properties that begin with `r` demand replacement; `dbr` asks for deletion first.
fn difference(old: &PropertyMap, new: &PropertyMap) -> DiffResult {
    let keys: BTreeSet<_> = old
        .keys()
        .chain(new.keys())
        .map(plumb_value::PropertyKey::to_text)
        .collect();
    let changed: Vec<_> = keys
        .into_iter()
        .filter(|key| old.get(key) != new.get(key))
        .collect();
    let changes = if changed.is_empty() {
        DiffChanges::None
    } else {
        DiffChanges::Some
    };
    DiffResult {
        changes,
        replace_keys: changed
            .iter()
            .filter(|key| key.starts_with('r'))
            .cloned()
            .collect(),
        changed_keys: changed,
        delete_before_replace: new.contains_key("dbr"),
        ..DiffResult::of(changes)
    }
}
