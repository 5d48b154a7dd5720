//! The pretend cloud, and the provider in front of it.
//!
//! What the provider does with a property is in the first letters of its name:
//!
//! | Property | The provider |
//! |---|---|
//! | `r…` | demands a replacement when it changes |
//! | `q…` | keeps quiet about changes |
//! | `always` | tells of a difference even when there is none |
//! | `vague` | cannot tell whether there is a difference |
//! | `detail` | tells differences by path instead of by key |
//! | `dbr` | wants the old object gone before its replacement comes |
//! | `named` | fills in `auto` in Check, a name, and keeps the old one |
//! | `fresh` | wants a refresh before each update |
//! | `blind` | tells no inputs when it is read |
//! | `parts` | tells of so many parts of the object (`world/views.rs`) |
//! | anything else | is updated in place |
//!
//! Outputs are the inputs, never secret, and `oid`, the id of the object. Ids are the name and a number per name, so that
//! they do not depend on the order in which objects of different names are made.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ecow::EcoString;
use plumb_resource::Urn;
use plumb_resource::provider::{Autonaming, DiffChanges, DiffKind, DiffResult, PropertyDiff};
use plumb_value::{PropertyKey, PropertyMap, Value};

use crate::story::{CallKind, Fault, FaultKind};

/// Objects and what the provider remembers.
#[derive(Clone, Debug, Default)]
pub struct Cloud {
    objects: BTreeMap<EcoString, Arc<PropertyMap>>,
    numbers: BTreeMap<EcoString, u32>,
    /// Objects that went without the engine hearing of it.
    vanished: BTreeSet<EcoString>,
    /// Objects that came without the engine hearing of it.
    unheard: BTreeSet<EcoString>,
    /// Calls of the operation at hand that have gone wrong for the only time.
    tried: BTreeSet<String>,
}

/// Why a call failed.
#[derive(Clone, Debug, PartialEq)]
pub enum Trouble {
    /// Nothing was done.
    Clean(EcoString),
    /// It may have been done.
    Unknown(EcoString),
    /// It was done, but the object is not ready.
    Partial(Object),
}

/// An object as a call tells of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Object {
    /// Its id; `None` in previews.
    pub id: Option<EcoString>,
    /// Its inputs.
    pub inputs: Arc<PropertyMap>,
    /// Its outputs.
    pub outputs: Arc<PropertyMap>,
    /// Whether it wants a refresh before each update.
    pub refresh_before_update: bool,
}

impl Object {
    /// Whether its inputs are not told when it is read.
    pub fn is_blind(&self) -> bool {
        self.inputs.contains_key("blind")
    }
}

/// What initialization errors say.
pub const NOT_READY: &str = "not ready";

/// The calls of one operation that go wrong.
#[derive(Clone, Copy, Debug)]
pub struct Faults<'a>(pub &'a [Fault]);

impl Faults<'_> {
    /// How a call goes wrong, if it does.
    pub fn of(self, call: CallKind, name: &str) -> Option<FaultKind> {
        self.0
            .iter()
            .find(|fault| fault.call == call && fault.name == name)
            .map(|fault| fault.kind)
    }
}

/// The name that the provider makes up by itself.
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

/// Inputs as they get to Check: what is not known gets there only in previews, and is left out elsewhere.
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
    /// Ids of the objects that the engine must know of.
    pub fn known_objects(&self) -> impl Iterator<Item = &EcoString> {
        self.objects.keys().filter(|id| !self.unheard.contains(*id))
    }

    /// Every object by id.
    pub fn objects(&self) -> &BTreeMap<EcoString, Arc<PropertyMap>> {
        &self.objects
    }

    /// How many objects of each name there have been.
    pub fn numbers(&self) -> &BTreeMap<EcoString, u32> {
        &self.numbers
    }

    /// Whether there is an object of this id.
    pub fn has(&self, id: &str) -> bool {
        self.objects.contains_key(id)
    }

    /// Makes an object that no program made; answers its id.
    pub fn plant(&mut self, id: &str, inputs: PropertyMap) {
        self.objects.insert(id.into(), Arc::new(inputs));
        self.unheard.insert(id.into());
    }

    /// The engine has adopted an object.
    pub fn adopted(&mut self, id: &str) {
        self.unheard.remove(id);
    }

    /// The engine has let go of an object without deleting it.
    pub fn released(&mut self, id: &str) {
        if self.objects.contains_key(id) {
            self.unheard.insert(id.into());
        }
    }

    /// Somebody changes an object behind the engine's back.
    pub fn drift(&mut self, id: &str, value: &str) {
        if let Some(object) = self.objects.get_mut(id) {
            Arc::make_mut(object).insert("v", value);
        }
    }

    /// Somebody deletes an object behind the engine's back.
    pub fn vanish(&mut self, id: &str) {
        if self.objects.remove(id).is_some() {
            self.vanished.insert(id.into());
            self.unheard.remove(id);
        }
    }

    /// Another operation begins.
    pub fn forget_failures(&mut self) {
        self.tried.clear();
    }

    /// How a call that changes something goes wrong, if it does.
    fn fault(
        &mut self,
        faults: Faults<'_>,
        call: CallKind,
        urn: &Urn,
        id: &str,
    ) -> Option<FaultKind> {
        match faults.of(call, urn.name()) {
            Some(FaultKind::Once) => {
                // Each resource that has an object tries by itself.
                let is_first = self.tried.insert(format!("{call:?} {urn} {id}"));
                is_first.then_some(FaultKind::Clean)
            }
            fault => fault,
        }
    }

    /// What the provider tells of an object.
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

    /// Check: fills in defaults; an error for refused inputs, and where there is to be a name that nobody has given. Names
    /// that are only proposed are beyond this provider.
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

    /// Delete. The answer tells whether an object is deleted that the engine had reason to know was gone.
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
        // What several resources have adopted goes with each of them.
        let is_planted = id.starts_with("planted-");
        Ok(!was_there && !self.vanished.remove(id) && !is_planted)
    }

    /// The engine starts again from a state in which these ids are known.
    pub fn reconcile<'a>(&mut self, known: impl Iterator<Item = &'a str>) {
        let known: BTreeSet<EcoString> = known.map(EcoString::from).collect();
        for id in self.objects.keys().filter(|id| !known.contains(*id)) {
            self.unheard.insert(id.clone());
        }
        for id in known.iter().filter(|id| !self.objects.contains_key(*id)) {
            self.vanished.insert(id.clone());
        }
    }

    /// Read; nothing when there is no such object.
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

/// What is another value in `new` than in `old`, whether secret or not; nobody looks at what begins with `q`.
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
