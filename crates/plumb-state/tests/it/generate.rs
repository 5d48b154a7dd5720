//! Generated values, snapshots and runs.

use std::sync::Arc;

use jiff::Timestamp;
use plumb_resource::{OperationType, ProviderRef, ResourceId, ResourceKind, ResourceState, Urn};
use plumb_state::journal::{Entry, EntryKind, OperationId, Slot};
use plumb_state::{Manifest, PendingOperation, Snapshot};
use plumb_value::{Asset, AssetSource, PropertyMap, Value};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;

/// Values that a round trip through a file does not change.
pub(crate) fn value() -> impl Strategy<Value = Value> {
    let number = prop_oneof![
        any::<i32>().prop_map(f64::from),
        prop::num::f64::NORMAL | prop::num::f64::ZERO
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        number.prop_map(Value::Number),
        any::<String>().prop_map(Value::from),
        Just(Value::UNKNOWN),
        vec(any::<u8>(), 0..5).prop_map(|mut bytes| {
            bytes.push(0xff);
            Value::Bytes(bytes.into())
        }),
        "[a-z]{1,8}".prop_map(|text| {
            Value::Asset(Arc::new(Asset {
                hash: "00".into(),
                source: AssetSource::Path(text.into()),
            }))
        }),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            properties_of(inner.clone()).prop_map(Value::from),
            inner.prop_map(Value::secret),
        ]
    })
}

fn properties_of(value: impl Strategy<Value = Value>) -> impl Strategy<Value = PropertyMap> {
    btree_map(".{0,6}", value, 0..4).prop_map(|map| {
        map.into_iter()
            .map(|(key, value)| (key.into(), value))
            .collect()
    })
}

/// Properties that a round trip through a file does not change.
pub(crate) fn properties() -> impl Strategy<Value = PropertyMap> {
    properties_of(value())
}

/// A source of random choices.
pub(crate) struct Choices {
    bytes: Vec<u8>,
    at: usize,
}

impl Choices {
    pub(crate) fn new(bytes: Vec<u8>) -> Self {
        Choices { bytes, at: 0 }
    }

    /// A number below `limit`.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        let byte = self.bytes.get(self.at).copied().unwrap_or_default();
        self.at += 1;
        usize::from(byte) % limit.max(1)
    }

    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

const PROVIDER: &str = "urn:pulumi:s::p::pulumi:providers:a::default";

pub(crate) fn urn(index: usize) -> Urn {
    Urn::new("s", "p", "", "a:b:C", &format!("r{index}"))
}

pub(crate) fn provider() -> ResourceState {
    let urn = Urn::parse(PROVIDER).unwrap();
    ResourceState {
        id: ResourceId::Known("u".into()),
        ..ResourceState::new(urn, ResourceKind::Provider)
    }
}

fn custom(index: usize, generation: usize, dependencies: Vec<Urn>) -> ResourceState {
    let outputs = PropertyMap::new()
        .with("generation", generation as f64)
        .with(
            "password",
            Value::secret(format!("secret-{index}-{generation}").into()),
        );
    ResourceState {
        id: ResourceId::Known(format!("id-{index}-{generation}").into()),
        inputs: PropertyMap::new().with("index", index as f64).into(),
        outputs: outputs.into(),
        property_dependencies: [("p".into(), dependencies.clone().into())].into(),
        deleted_with: dependencies.first().cloned(),
        dependencies: dependencies.into(),
        provider: Some(ProviderRef::new(Urn::parse(PROVIDER).unwrap(), "u")),
        ..ResourceState::new(urn(index), ResourceKind::Custom)
    }
}

/// Valid snapshot of `count` resources that depend on earlier ones.
pub(crate) fn base(choices: &mut Choices, count: usize) -> Snapshot {
    let mut resources = vec![Arc::new(provider())];
    for index in 0..count {
        let dependencies = (0..index).filter(|_| choices.chance(30)).map(urn).collect();
        resources.push(Arc::new(custom(index, 0, dependencies)));
    }
    let manifest = Manifest::new(Timestamp::UNIX_EPOCH, "v1.0.0");
    Snapshot {
        manifest,
        resources,
        ..Snapshot::default()
    }
}

/// Entries of a run over `base`, as an engine would write them.
pub(crate) struct Run {
    pub(crate) entries: Vec<Entry>,
    operations: u64,
}

impl Run {
    pub(crate) fn generate(choices: &mut Choices, base: &Snapshot) -> Vec<Entry> {
        let mut run = Run {
            entries: Vec::new(),
            operations: 0,
        };
        let keeps: Vec<bool> = base.resources.iter().map(|_| choices.chance(80)).collect();
        let is_kept = |urn: &Urn| {
            base.resources
                .iter()
                .position(|state| state.urn == *urn)
                .is_some_and(|at| keeps[at])
        };
        run.same(0, &base.resources[0]);
        let mut replaced = Vec::new();
        for (at, old) in base
            .resources
            .iter()
            .enumerate()
            .skip(1)
            .filter(|(at, _)| keeps[*at])
        {
            let kept: Vec<Urn> = old
                .dependencies
                .iter()
                .filter(|urn| is_kept(urn))
                .cloned()
                .collect();
            match choices.below(4) {
                0 if kept == old.dependencies => run.same(at, old),
                1 => {
                    run.replace(at, custom(at - 1, 1, kept));
                    replaced.push(at);
                }
                2 => {
                    run.fail(OperationType::Updating, old);
                    run.update(at, custom(at - 1, 3, kept));
                }
                _ => run.update(at, custom(at - 1, 2, kept)),
            }
        }
        for index in 0..choices.below(3) {
            run.create(custom(
                100 + index,
                0,
                base.resources
                    .iter()
                    .map(|it| &it.urn)
                    .skip(1)
                    .filter(|it| is_kept(it))
                    .cloned()
                    .collect(),
            ));
        }
        for at in (1..base.resources.len())
            .rev()
            .filter(|at| !keeps[*at] || replaced.contains(at))
        {
            run.delete(at, &base.resources[at]);
        }
        run.entries
    }

    fn push(&mut self, operation: u64, kind: EntryKind) {
        self.entries.push(Entry {
            operation: OperationId(operation),
            kind,
        });
    }

    fn begin(&mut self, pending: Option<(OperationType, &ResourceState)>) -> u64 {
        self.operations += 1;
        let operation = pending.map(|(operation, state)| PendingOperation {
            resource: Arc::new(state.clone()),
            operation,
        });
        self.push(self.operations, EntryKind::Begin { operation });
        self.operations
    }

    fn success(
        &mut self,
        operation: u64,
        state: Option<ResourceState>,
        remove: Option<usize>,
        delete: Option<usize>,
    ) {
        let old = |at: usize| Slot::Old(at as u32);
        self.push(
            operation,
            EntryKind::Success {
                state: state.map(Arc::new),
                remove: remove.map(old),
                delete: delete.map(old),
                pending_replacement: None,
                is_refresh: false,
                owner: None,
            },
        );
    }

    fn same(&mut self, at: usize, old: &ResourceState) {
        let operation = self.begin(None);
        self.success(operation, Some(old.clone()), Some(at), None);
    }

    fn update(&mut self, at: usize, new: ResourceState) {
        let operation = self.begin(Some((OperationType::Updating, &new)));
        self.success(operation, Some(new), Some(at), None);
    }

    fn create(&mut self, new: ResourceState) {
        let operation = self.begin(Some((OperationType::Creating, &new)));
        self.success(operation, Some(new), None, None);
    }

    fn replace(&mut self, at: usize, new: ResourceState) {
        let operation = self.begin(Some((OperationType::Creating, &new)));
        self.success(operation, Some(new), None, Some(at));
    }

    fn delete(&mut self, at: usize, old: &ResourceState) {
        let operation = self.begin(Some((OperationType::Deleting, old)));
        self.success(operation, None, Some(at), None);
    }

    fn fail(&mut self, kind: OperationType, state: &ResourceState) {
        let operation = self.begin(Some((kind, state)));
        self.push(operation, EntryKind::Failure);
    }
}
