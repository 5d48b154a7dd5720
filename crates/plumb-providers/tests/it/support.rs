//! Shared parts of the tests.

use std::path::Path;
use std::sync::{Arc, Mutex};

use plumb_plugin::Provider;
use plumb_providers::{BuiltinContext, LogRecord, LogSink, StackReader, factory};
use plumb_resource::provider::{
    CheckRequest, CreateRequest, DeleteRequest, DiffRequest, InvokeRequest, ReadRequest,
    UpdateRequest,
};
use plumb_resource::{ResourceId, TypeToken, Urn};
use plumb_value::{PropertyMap, Value};

/// Records log messages: name of the resource, and text.
#[derive(Default)]
pub(crate) struct Log(pub(crate) Mutex<Vec<(String, String)>>);

impl Log {
    pub(crate) fn take(&self) -> Vec<(String, String)> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

impl LogSink for Log {
    fn log(&self, record: LogRecord<'_>) {
        let name = record
            .urn
            .map_or_else(String::new, |urn| urn.name().to_owned());
        self.0
            .lock()
            .unwrap()
            .push((name, record.message.to_owned()));
    }
}

pub(crate) struct Fixture {
    pub(crate) provider: Arc<dyn Provider>,
    pub(crate) log: Arc<Log>,
}

pub(crate) fn start(
    name: &str,
    working_dir: &Path,
    stacks: Option<Arc<dyn StackReader>>,
) -> Fixture {
    let log = Arc::new(Log::default());
    let sink: Arc<dyn LogSink> = Arc::clone(&log) as _;
    let context = BuiltinContext {
        working_dir: working_dir.to_owned(),
        environment: None,
        log: sink,
        stacks,
    };
    Fixture {
        provider: factory(name).unwrap().start(&context),
        log,
    }
}

pub(crate) fn urn(token: &str, name: &str) -> Urn {
    Urn::new("dev", "test", "", token, name)
}

pub(crate) fn map<const N: usize>(entries: [(&str, Value); N]) -> PropertyMap {
    entries
        .into_iter()
        .map(|(key, value)| (key.into(), value))
        .collect()
}

pub(crate) fn texts(items: &[&str]) -> Value {
    Value::array(items.iter().map(|item| Value::from(*item)))
}

pub(crate) fn check(urn: &Urn, inputs: PropertyMap) -> CheckRequest {
    CheckRequest {
        urn: urn.clone(),
        old_inputs: None,
        new_inputs: Arc::new(inputs),
        allow_unknowns: true,
        random_seed: Arc::new([]),
        autonaming: None,
    }
}

pub(crate) fn create(urn: &Urn, inputs: PropertyMap) -> CreateRequest {
    CreateRequest {
        urn: urn.clone(),
        inputs: Arc::new(inputs),
        timeout: 0.0,
        preview: false,
        status: None,
    }
}

pub(crate) fn preview(urn: &Urn, inputs: PropertyMap) -> CreateRequest {
    CreateRequest {
        preview: true,
        ..create(urn, inputs)
    }
}

pub(crate) fn diff(
    urn: &Urn,
    inputs: PropertyMap,
    outputs: PropertyMap,
    new: PropertyMap,
) -> DiffRequest {
    DiffRequest {
        urn: urn.clone(),
        id: ResourceId::from_text("id"),
        old_inputs: Arc::new(inputs),
        old_outputs: Arc::new(outputs),
        new_inputs: Arc::new(new),
        allow_unknowns: true,
        ignore_changes: [].into(),
    }
}

pub(crate) fn update(
    urn: &Urn,
    inputs: PropertyMap,
    outputs: PropertyMap,
    new: PropertyMap,
) -> UpdateRequest {
    UpdateRequest {
        urn: urn.clone(),
        id: ResourceId::from_text("id"),
        old_inputs: Arc::new(inputs),
        old_outputs: Arc::new(outputs),
        new_inputs: Arc::new(new),
        ignore_changes: [].into(),
        timeout: 0.0,
        preview: false,
        old_views: Vec::new(),
        status: None,
    }
}

pub(crate) fn delete(urn: &Urn, outputs: PropertyMap) -> DeleteRequest {
    DeleteRequest {
        urn: urn.clone(),
        id: ResourceId::from_text("id"),
        inputs: Arc::default(),
        outputs: Arc::new(outputs),
        timeout: 0.0,
        old_views: Vec::new(),
        status: None,
    }
}

/// Read request without state, as for an import.
pub(crate) fn import(urn: &Urn, id: &str) -> ReadRequest {
    ReadRequest {
        urn: urn.clone(),
        id: ResourceId::from_text(id),
        inputs: None,
        outputs: Arc::default(),
        timeout: 0.0,
        old_views: Vec::new(),
        status: None,
    }
}

pub(crate) fn invoke(token: &str, args: PropertyMap) -> InvokeRequest {
    InvokeRequest {
        token: TypeToken::new(token),
        args: Arc::new(args),
        preview: false,
    }
}
