//! The protocol of packs: each call of the engine, answered by the rules.

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use plumb::Result;
use plumb::provider::{Members, contains_secret, decode, exposed_members};
use prost_types::Struct;
use tonic::Status;

use crate::analysis::{Analysis, Configured, Findings, Fixes};
use crate::info::Info;
use crate::pack::Pack;
use crate::policy::Level;
use crate::protocol as pb;
use crate::resource::{Options, Provider, Resource, Stack};

type Make = Arc<dyn Fn(&Info) -> Result<Pack> + Send + Sync>;

/// Origin of the rules: one pack for all stacks, or a function that makes a pack for each.
#[derive(Clone)]
pub(crate) enum Source {
    Pack(Arc<Pack>),
    /// Follows from the stack.
    Made(Make),
}

/// A pack that answers an engine.
pub(crate) struct Service {
    source: Source,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    info: Arc<Info>,
    /// The pack that was made for the stack.
    made: Option<Arc<Pack>>,
    configured: Arc<BTreeMap<String, Configured>>,
}

impl std::fmt::Debug for Service {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Service")
    }
}

/// A copy of the state for one call.
struct Call {
    info: Arc<Info>,
    pack: Arc<Pack>,
    configured: Arc<BTreeMap<String, Configured>>,
}

impl Call {
    fn analysis(&self) -> Analysis<'_> {
        Analysis {
            pack: &self.pack,
            configured: &self.configured,
            info: &self.info,
        }
    }
}

/// The answer to a call.
pub(crate) type Answer<T> = std::result::Result<T, Status>;

fn status(error: &plumb::Error) -> Status {
    Status::unknown(error.to_string())
}

impl Service {
    /// The service of a pack.
    pub(crate) fn of(source: Source) -> Self {
        Service {
            source,
            state: Mutex::default(),
        }
    }

    /// A panic in a rule leaves nothing half done here.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn configure_stack(&self, request: pb::AnalyzerStackConfigureRequest) {
        let mut state = self.state();
        state.info = Arc::new(Info::of(request));
        state.made = None;
    }

    pub(crate) fn configure(&self, request: pb::ConfigureAnalyzerRequest) -> Answer<()> {
        let mut configured = BTreeMap::new();
        for (name, config) in request.policy_config {
            let level = Level::of(config.enforcement_level());
            let settings = decode(config.properties).map_err(|error| status(&error))?;
            let settings = exposed_members(&settings);
            configured.insert(name, Configured { level, settings });
        }
        self.state().configured = Arc::new(configured);
        Ok(())
    }

    fn call(&self) -> Answer<Call> {
        let mut state = self.state();
        let pack = match (&self.source, &state.made) {
            (Source::Pack(pack), _) | (Source::Made(_), Some(pack)) => Arc::clone(pack),
            (Source::Made(make), None) => {
                let pack = make(&state.info).and_then(|pack| pack.check().map(|()| pack));
                let pack = Arc::new(pack.map_err(|error| status(&error))?);
                state.made = Some(Arc::clone(&pack));
                pack
            }
        };
        Ok(Call {
            info: Arc::clone(&state.info),
            pack,
            configured: Arc::clone(&state.configured),
        })
    }

    pub(crate) fn information(&self) -> Answer<pb::AnalyzerInfo> {
        let call = self.call()?;
        call.pack.information().map_err(|error| status(&error))
    }

    pub(crate) fn version(&self) -> Answer<pb::PluginInfo> {
        let version = self.call()?.pack.version.clone();
        Ok(pb::PluginInfo { version })
    }

    pub(crate) fn analyze(&self, request: pb::AnalyzeRequest) -> Answer<Findings> {
        let call = self.call()?;
        let (mut resource, _) = resource(request.into(), &call.info)?;
        guarded(|| call.analysis().check(&mut resource))
    }

    pub(crate) fn remediate(&self, request: pb::AnalyzeRequest) -> Answer<Fixes> {
        let call = self.call()?;
        let (mut resource, marked) = resource(request.into(), &call.info)?;
        guarded(|| call.analysis().fix(&mut resource, marked))
    }

    pub(crate) fn analyze_stack(&self, request: pb::AnalyzeStackRequest) -> Answer<Findings> {
        let call = self.call()?;
        let resources = request.resources.into_iter();
        let resources = resources.map(|it| resource(it, &call.info).map(|(it, _)| it));
        let mut stack = Stack {
            resources: resources.collect::<Answer<_>>()?,
            info: Arc::clone(&call.info),
            ..Stack::default()
        };
        guarded(|| call.analysis().check_stack(&mut stack))
    }
}

/// Runs rules; a panic in one is an error.
fn guarded<T>(rules: impl FnOnce() -> Result<T>) -> Answer<T> {
    match std::panic::catch_unwind(AssertUnwindSafe(rules)) {
        Ok(result) => result.map_err(|error| status(&error)),
        Err(panic) => {
            let said = plumb::plugin::said(panic.as_ref());
            let said = said.map(|it| format!(": {it}")).unwrap_or_default();
            Err(Status::internal(format!("a policy panicked{said}")))
        }
    }
}

impl From<pb::AnalyzeRequest> for pb::AnalyzerResource {
    fn from(request: pb::AnalyzeRequest) -> Self {
        pb::AnalyzerResource {
            r#type: request.r#type,
            properties: request.properties,
            urn: request.urn,
            name: request.name,
            options: request.options,
            provider: request.provider,
            ..pb::AnalyzerResource::default()
        }
    }
}

fn plain(properties: Option<Struct>) -> Answer<(Members, Members)> {
    let marked = decode(properties).map_err(|error| status(&error))?;
    Ok((exposed_members(&marked), marked))
}

/// A resource as rules see it, and its properties with their markers.
fn resource(message: pb::AnalyzerResource, info: &Arc<Info>) -> Answer<(Resource, Members)> {
    let (properties, marked) = plain(message.properties)?;
    let options = message.options.unwrap_or_default();
    let parent = if message.parent.is_empty() {
        options.parent.clone()
    } else {
        message.parent
    };
    let provider = message.provider.map(|it| {
        let (properties, _) = plain(it.properties)?;
        Ok::<_, Status>(Provider {
            token: it.r#type,
            name: it.name,
            urn: it.urn,
            properties,
        })
    });
    let dependencies = message.property_dependencies.into_iter();
    let resource = Resource {
        token: message.r#type,
        name: message.name,
        urn: message.urn,
        properties,
        options: self::options(options),
        provider: provider.transpose()?,
        parent,
        dependencies: message.dependencies,
        property_dependencies: dependencies.map(|(name, it)| (name, it.urns)).collect(),
        info: Arc::clone(info),
        secrets: marked
            .iter()
            .filter(|(_, value)| contains_secret(value))
            .map(|(name, _)| name.clone())
            .collect(),
        ..Resource::default()
    };
    Ok((resource, marked))
}

fn options(message: pb::AnalyzerResourceOptions) -> Options {
    let timeouts = message.custom_timeouts.map(|it| {
        [
            ("create", it.create),
            ("update", it.update),
            ("delete", it.delete),
            ("read", it.read),
        ]
    });
    let timeouts = timeouts.into_iter().flatten().filter(|(_, it)| *it > 0.0);
    Options {
        protect: message.protect,
        ignore_changes: message.ignore_changes,
        delete_before_replace: message
            .delete_before_replace_defined
            .then_some(message.delete_before_replace),
        additional_secret_outputs: message.additional_secret_outputs,
        aliases: message.aliases,
        timeouts: timeouts.collect(),
    }
}
