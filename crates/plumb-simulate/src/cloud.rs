//! The simulated cloud and its provider.
//!
//! The prefix of a property's name determines the behaviour of the provider:
//!
//! | Property | The provider |
//! |---|---|
//! | `r…` | requires a replacement for changes |
//! | `q…` | ignores changes |
//! | `always` | reports a difference even if there is none |
//! | `vague` | does not know whether there is a difference |
//! | `detail` | reports differences by path instead of by key |
//! | `dbr` | requires delete before replace |
//! | `named` | fills in a name, `auto`, in Check, and keeps the old one |
//! | `fresh` | requires a refresh before each update |
//! | `blind` | returns no inputs from Read |
//! | `parts` | reports that many views of the object (`world/views.rs`) |
//! | anything else | can be updated in place |
//!
//! Outputs are the inputs, never secret, and `oid`, the id of the object. An id is the name with a number per name, so
//! that it does not depend on the order in which objects with different names are created.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ecow::EcoString;
use plumb_resource::Urn;
use plumb_resource::provider::{Autonaming, DiffChanges, DiffKind, DiffResult, PropertyDiff};
use plumb_value::{PropertyKey, PropertyMap, Value};

use crate::story::{CallKind, Fault, FaultKind};

/// Objects, and the memory of the provider.
#[derive(Clone, Debug, Default)]
pub struct Cloud {
    objects: BTreeMap<EcoString, Arc<PropertyMap>>,
    numbers: BTreeMap<EcoString, u32>,
    /// Objects deleted without the knowledge of the engine.
    vanished: BTreeSet<EcoString>,
    /// Objects created without the knowledge of the engine.
    unheard: BTreeSet<EcoString>,
    /// Calls of the current operation that fail only once, and have failed.
    tried: BTreeSet<String>,
}

/// Failure of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Trouble {
    /// The call had no effect.
    Clean(EcoString),
    /// The call may have had its effect.
    Unknown(EcoString),
    /// The call had its effect, but the object is not ready.
    Partial(Object),
}

/// An object in the result of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct Object {
    /// Id; `None` in previews.
    pub id: Option<EcoString>,
    /// Inputs.
    pub inputs: Arc<PropertyMap>,
    /// Outputs.
    pub outputs: Arc<PropertyMap>,
    /// Whether it requires a refresh before each update.
    pub refresh_before_update: bool,
}

impl Object {
    /// Whether Read returns no inputs.
    pub fn is_blind(&self) -> bool {
        self.inputs.contains_key("blind")
    }
}

/// Text of initialization errors.
pub const NOT_READY: &str = "not ready";

/// Faults of the calls in one operation.
#[derive(Clone, Copy, Debug)]
pub struct Faults<'a>(pub &'a [Fault]);

impl Faults<'_> {
    /// Fault of a call, if it has one.
    pub fn of(self, call: CallKind, name: &str) -> Option<FaultKind> {
        self.0
            .iter()
            .find(|fault| fault.call == call && fault.name == name)
            .map(|fault| fault.kind)
    }
}

/// Name that the provider generates itself.
fn own_name(inputs: &PropertyMap) -> Value {
    let text = inputs.get("v").map(Value::without_secrets);
    if text.as_ref().is_some_and(Value::contains_unknowns) {
        return Value::UNKNOWN;
    }
    let text = text.as_ref().and_then(Value::as_str).unwrap_or("none");
    format!("auto-{text}").into()
}

fn trouble(call: &str, name: &str) -> EcoString {
    format!("{call} of {name} failed").into()
}

/// Inputs for Check: unknown values are kept only in previews, and removed otherwise.
pub fn checkable(inputs: &Arc<PropertyMap>, allows_unknowns: bool) -> Arc<PropertyMap> {
    if allows_unknowns || !inputs.values().any(Value::contains_unknowns) {
        return inputs.clone();
    }
    let all = inputs.iter();
    let known = all.filter(|(_, value)| !value.contains_unknowns());
    let known = known.map(|(key, value)| (key.clone(), value.clone()));
    Arc::new(known.collect())
}

impl Cloud {
    /// Ids of the objects that the engine must know.
    pub fn known_objects(&self) -> impl Iterator<Item = &EcoString> {
        self.objects.keys().filter(|id| !self.unheard.contains(*id))
    }

    /// All objects by id.
    pub fn objects(&self) -> &BTreeMap<EcoString, Arc<PropertyMap>> {
        &self.objects
    }

    /// Number of objects created so far, by name.
    pub fn numbers(&self) -> &BTreeMap<EcoString, u32> {
        &self.numbers
    }

    /// Whether an object with this id exists.
    pub fn has(&self, id: &str) -> bool {
        self.objects.contains_key(id)
    }

    /// Creates an object outside of any program; returns its id.
    pub fn plant(&mut self, id: &str, inputs: PropertyMap) {
        self.objects.insert(id.into(), Arc::new(inputs));
        self.unheard.insert(id.into());
    }

    /// Records that the engine has adopted an object.
    pub fn adopted(&mut self, id: &str) {
        self.unheard.remove(id);
    }

    /// Records that the engine has released an object without deleting it.
    pub fn released(&mut self, id: &str) {
        if self.objects.contains_key(id) {
            self.unheard.insert(id.into());
        }
    }

    /// Changes an object without the knowledge of the engine.
    pub fn drift(&mut self, id: &str, value: &str) {
        if let Some(object) = self.objects.get_mut(id) {
            Arc::make_mut(object).insert("v", value);
        }
    }

    /// Deletes an object without the knowledge of the engine.
    pub fn vanish(&mut self, id: &str) {
        if self.objects.remove(id).is_some() {
            self.vanished.insert(id.into());
            self.unheard.remove(id);
        }
    }

    /// Starts the next operation.
    pub fn forget_failures(&mut self) {
        self.tried.clear();
    }

    /// Fault of a call that changes an object, if it has one.
    fn fault(
        &mut self,
        faults: Faults<'_>,
        call: CallKind,
        urn: &Urn,
        id: &str,
    ) -> Option<FaultKind> {
        match faults.of(call, urn.name()) {
            Some(FaultKind::Once) => {
                // Each object fails once, even if several resources have the same name.
                let is_first = self.tried.insert(format!("{call:?} {urn} {id}"));
                is_first.then_some(FaultKind::Clean)
            }
            fault => fault,
        }
    }

    /// Outputs of an object.
    pub fn outputs(id: Option<&str>, inputs: &PropertyMap) -> Arc<PropertyMap> {
        let mut outputs = inputs.without_secrets();
        outputs.insert("oid", id.map_or(Value::UNKNOWN, Value::from));
        Arc::new(outputs)
    }

    fn object(id: Option<&str>, inputs: &Arc<PropertyMap>) -> Object {
        Object {
            id: id.map(EcoString::from),
            inputs: inputs.clone(),
            outputs: Self::outputs(id, inputs),
            refresh_before_update: inputs.contains_key("fresh"),
        }
    }

    /// Check: fills in defaults. Fails for refused inputs, and if a name is required but not given; proposed names are
    /// not supported.
    pub fn check(
        faults: Faults<'_>,
        name: &str,
        naming: Option<&Autonaming>,
        olds: Option<&PropertyMap>,
        news: &Arc<PropertyMap>,
    ) -> Result<Arc<PropertyMap>, EcoString> {
        if faults.of(CallKind::Check, name).is_some() {
            return Err(trouble("check", name));
        }
        if !news.contains_key("named") || news.contains_key("auto") {
            return Ok(news.clone());
        }
        let kept = olds.and_then(|olds| olds.get("auto").cloned());
        let auto = match (kept, naming) {
            (Some(kept), _) => kept,
            (None, Some(Autonaming::Enforce(name))) => name.as_str().into(),
            (None, Some(Autonaming::Disabled)) => return Err(trouble("naming", name)),
            (None, Some(Autonaming::Propose(_)) | None) => own_name(news),
        };
        Ok(Arc::new(news.as_ref().clone().with("auto", auto)))
    }

    /// Diff of inputs.
    pub fn diff(
        faults: Faults<'_>,
        name: &str,
        old: &PropertyMap,
        new: &PropertyMap,
    ) -> Result<DiffResult, EcoString> {
        if faults.of(CallKind::Diff, name).is_some() {
            return Err(trouble("diff", name));
        }
        if new.contains_key("vague") {
            return Ok(DiffResult {
                delete_before_replace: new.contains_key("dbr"),
                ..DiffResult::of(DiffChanges::Unknown)
            });
        }
        let changed = changed_keys(old, new);
        let is_some = !changed.is_empty() || new.contains_key("always");
        let mut diff = DiffResult::of(if is_some {
            DiffChanges::Some
        } else {
            DiffChanges::None
        });
        diff.delete_before_replace = new.contains_key("dbr");
        let replaces = |key: &EcoString| key.starts_with('r');
        if new.contains_key("detail") {
            let details = changed.iter().map(|key| {
                let kind = match (old.contains_key(key), new.contains_key(key)) {
                    (false, _) => DiffKind::Add,
                    (_, false) => DiffKind::Delete,
                    _ => DiffKind::Update,
                };
                let detail = PropertyDiff {
                    kind: if replaces(key) {
                        kind.as_replace()
                    } else {
                        kind
                    },
                    input_diff: true,
                };
                (key.clone(), detail)
            });
            diff.detailed_diff = Some(details.collect());
        } else {
            let replaces = changed.iter().filter(|key| replaces(key));
            diff.replace_keys = replaces.cloned().collect();
        }
        diff.changed_keys = changed;
        Ok(diff)
    }

    /// Create.
    pub fn create(
        &mut self,
        faults: Faults<'_>,
        urn: &Urn,
        inputs: &Arc<PropertyMap>,
        preview: bool,
    ) -> Result<Object, Trouble> {
        let name = urn.name();
        let fault = self.fault(faults, CallKind::Create, urn, "");
        if matches!(
            fault,
            Some(FaultKind::Clean | FaultKind::Hang | FaultKind::Told)
        ) {
            return Err(Trouble::Clean(trouble("create", name)));
        }
        if preview {
            return Ok(Self::object(None, inputs));
        }
        let number = self.numbers.entry(name.into()).or_default();
        *number += 1;
        let id: EcoString = format!("{name}-{number}").into();
        self.objects.insert(id.clone(), inputs.clone());
        let object = Self::object(Some(&id), inputs);
        match fault {
            Some(FaultKind::Partial) => Err(Trouble::Partial(object)),
            Some(FaultKind::Unknown) => {
                self.unheard.insert(id);
                Err(Trouble::Unknown(trouble("create", name)))
            }
            _ => Ok(object),
        }
    }

    /// Update.
    pub fn update(
        &mut self,
        faults: Faults<'_>,
        urn: &Urn,
        id: &str,
        inputs: &Arc<PropertyMap>,
        preview: bool,
    ) -> Result<Object, Trouble> {
        let name = urn.name();
        let fault = self.fault(faults, CallKind::Update, urn, id);
        if matches!(
            fault,
            Some(FaultKind::Clean | FaultKind::Hang | FaultKind::Told)
        ) {
            return Err(Trouble::Clean(trouble("update", name)));
        }
        let object = Self::object(Some(id), inputs);
        if preview {
            return Ok(object);
        }
        let Some(present) = self.objects.get_mut(id) else {
            return Err(Trouble::Clean(trouble("update", name)));
        };
        *present = inputs.clone();
        match fault {
            Some(FaultKind::Partial) => Err(Trouble::Partial(object)),
            Some(FaultKind::Unknown) => Err(Trouble::Unknown(trouble("update", name))),
            _ => Ok(object),
        }
    }

    /// Delete. Returns whether the engine should have known that the object no longer existed.
    pub fn delete(&mut self, faults: Faults<'_>, urn: &Urn, id: &str) -> Result<bool, Trouble> {
        let name = urn.name();
        let fault = self.fault(faults, CallKind::Delete, urn, id);
        if matches!(
            fault,
            Some(FaultKind::Clean | FaultKind::Hang | FaultKind::Partial | FaultKind::Told)
        ) {
            return Err(Trouble::Clean(trouble("delete", name)));
        }
        let was_there = self.objects.remove(id).is_some();
        self.unheard.remove(id);
        if fault == Some(FaultKind::Unknown) {
            self.vanished.insert(id.into());
            return Err(Trouble::Unknown(trouble("delete", name)));
        }
        // An object adopted by several resources is deleted with each of them.
        let is_planted = id.starts_with("planted-");
        Ok(!was_there && !self.vanished.remove(id) && !is_planted)
    }

    /// Starts again from a state with these ids.
    pub fn reconcile<'a>(&mut self, known: impl Iterator<Item = &'a str>) {
        let known: BTreeSet<EcoString> = known.map(EcoString::from).collect();
        for id in self.objects.keys().filter(|id| !known.contains(*id)) {
            self.unheard.insert(id.clone());
        }
        for id in known.iter().filter(|id| !self.objects.contains_key(*id)) {
            self.vanished.insert(id.clone());
        }
    }

    /// Read; `None` if the object does not exist.
    pub fn read(
        &self,
        faults: Faults<'_>,
        name: &str,
        id: &str,
    ) -> Result<Option<Object>, Trouble> {
        let fault = faults.of(CallKind::Read, name);
        if matches!(
            fault,
            Some(FaultKind::Clean | FaultKind::Hang | FaultKind::Unknown | FaultKind::Told)
        ) {
            return Err(Trouble::Clean(trouble("read", name)));
        }
        let object = self
            .objects
            .get(id)
            .map(|inputs| Self::object(Some(id), inputs));
        match (fault, object) {
            (Some(FaultKind::Partial), Some(object)) => Err(Trouble::Partial(object)),
            (_, object) => Ok(object),
        }
    }
}

/// Keys whose values differ between `old` and `new`, ignoring secrecy; keys that begin with `q` are ignored.
fn changed_keys(old: &PropertyMap, new: &PropertyMap) -> Vec<EcoString> {
    let added = new.keys().filter(|key| !old.contains_key(key.as_str()));
    let keys = old.keys().chain(added);
    let is_same = |key: &str| match (old.get(key), new.get(key)) {
        (Some(old), Some(new)) => old == new || old.without_secrets() == new.without_secrets(),
        _ => false,
    };
    keys.filter(|key| !is_same(key.as_str()) && !key.as_str().starts_with('q'))
        .map(PropertyKey::to_text)
        .collect()
}
