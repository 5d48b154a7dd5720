//! Policy packs of a run: loading and calling them.
//!
//! A pack is given by the user, or required by the backend of the stack ([`RequiredPack`]), which downloads and installs it
//! first. All packs are started at the same time, and configured before the core knows of them. If one of them is missing,
//! does not start or rejects its configuration, loading fails as a whole.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use futures::future::join_all;
use plumb_deploy::PackId;
use plumb_plugin::analyzer::{config, pack_info};
use plumb_plugin::process::Environment;
use plumb_plugin::{AnalyzedStack, Analyzer, AnalyzerError, PackPlace, PluginHost, PolicyPack};
use plumb_resource::policy::{PolicyCall, PolicyPackInfo, PolicyReply};
use serde_json::{Map, Value};
use tokio::sync::Semaphore;

use crate::instances::with_causes;
use crate::program::ProgramContext;

/// The policy packs of a run.
#[derive(Default)]
pub struct PolicyPacks {
    /// Packs given by the user.
    pub local: Vec<LocalPack>,
    /// Packs required by the backend.
    pub required: Vec<Arc<dyn RequiredPack>>,
    /// Tags of the stack, for the packs.
    pub stack_tags: BTreeMap<String, String>,
    /// Maximum number of packs that run at the same time; `None` for no limit.
    pub parallel: Option<usize>,
}

/// A pack given by the user.
#[derive(Clone, Debug)]
pub struct LocalPack {
    /// Name as the user wrote it.
    pub name: String,
    /// Place of its rules.
    pub place: PackPlace,
    /// Configuration: a level or an object by the name of the policy.
    pub config: Map<String, Value>,
}

/// Reason why a pack could not be downloaded or installed.
pub type AcquireError = Box<dyn std::error::Error + Send + Sync>;

/// A pack required by the backend, which may have to be downloaded first.
#[async_trait]
pub trait RequiredPack: Send + Sync {
    /// Name of the pack.
    fn name(&self) -> &str;
    /// Downloads the pack, unless that was done before.
    async fn download(&self) -> Result<(), AcquireError>;
    /// Installs the downloaded pack and its dependencies; returns its folder.
    async fn install(&self) -> Result<PathBuf, AcquireError>;
    /// Configuration of the policies.
    fn config(&self) -> Map<String, Value>;
    /// Environment variables of the pack.
    fn environment(&self) -> Environment;
}

/// Errors of loading the packs.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LoadError {
    #[error("failed to download policy pack {pack:?}")]
    Download {
        pack: String,
        #[source]
        source: AcquireError,
    },
    #[error("failed to install policy pack {pack:?}")]
    Install {
        pack: String,
        #[source]
        source: AcquireError,
    },
    #[error(transparent)]
    Analyzer(#[from] AnalyzerError),
    #[error("{0}")]
    Config(String),
}

impl PolicyPacks {
    pub(crate) fn is_empty(&self) -> bool {
        self.local.is_empty() && self.required.is_empty()
    }

    /// Starts all packs; the error is fit to show to the user.
    pub(crate) async fn load(
        self,
        host: Arc<PluginHost>,
        info: ProgramContext,
    ) -> Result<Loaded, String> {
        let stack = AnalyzedStack {
            project: info.project,
            stack: info.stack,
            organization: info.organization,
            dry_run: info.dry_run,
            config: info.config.as_ref().clone(),
            config_secret_keys: info.config_secret_keys.as_ref().clone(),
            tags: self.stack_tags,
        };
        let required = self
            .required
            .iter()
            .map(|pack| load_required(pack.as_ref(), &host, &stack));
        let local = self
            .local
            .iter()
            .map(|pack| load_local(pack, &host, &stack));
        let (required, local) = tokio::join!(join_all(required), join_all(local));
        let limit = self.parallel.unwrap_or(Semaphore::MAX_PERMITS);
        let mut loaded = Loaded {
            analyzers: Vec::new(),
            packs: Vec::new(),
            judging: Arc::new(Semaphore::new(limit.clamp(1, Semaphore::MAX_PERMITS))),
        };
        for one in required.into_iter().chain(local) {
            let (analyzer, pack) = one.map_err(|error| with_causes(&error))?;
            loaded.analyzers.push(analyzer);
            loaded.packs.push(pack);
        }
        Ok(loaded)
    }
}

type One = Result<(Arc<dyn Analyzer>, PolicyPackInfo), LoadError>;

async fn load_required(pack: &dyn RequiredPack, host: &PluginHost, stack: &AnalyzedStack) -> One {
    let name = || pack.name().to_owned();
    pack.download()
        .await
        .map_err(|source| LoadError::Download {
            pack: name(),
            source,
        })?;
    let path = pack.install().await.map_err(|source| LoadError::Install {
        pack: name(),
        source,
    })?;
    let launch = PolicyPack {
        name: name(),
        place: PackPlace::Path(path),
        environment: pack.environment(),
    };
    start(&launch, &pack.config(), None, host, stack).await
}

async fn load_local(pack: &LocalPack, host: &PluginHost, stack: &AnalyzedStack) -> One {
    let launch = PolicyPack {
        name: pack.name.clone(),
        place: pack.place.clone(),
        environment: Environment::new(),
    };
    let is_path = matches!(pack.place, PackPlace::Path(_));
    let local_path = is_path.then_some(pack.name.as_str());
    start(&launch, &pack.config, local_path, host, stack).await
}

async fn start(
    pack: &PolicyPack,
    given: &Map<String, Value>,
    local_path: Option<&str>,
    host: &PluginHost,
    stack: &AnalyzedStack,
) -> One {
    let analyzer = host.analyzer(pack, stack).await?;
    let library = analyzer.plugin_version().await?;
    let info = analyzer.info().await?;
    tracing::debug!(pack = %info.name, ?library, "a policy pack runs");
    let configs = config::reconcile(&info, given).map_err(|errors| {
        let lines = errors.0.iter().map(|error| {
            let (name, version) = (&info.name, &info.version);
            format!("validating policy config: {name} {version}  {error}")
        });
        LoadError::Config(lines.collect::<Vec<_>>().join("\n"))
    })?;
    if !configs.is_empty() {
        analyzer.configure(&configs).await?;
    }
    let known = pack_info(&info, &configs, local_path);
    Ok((analyzer, known))
}

/// Running packs.
pub(crate) struct Loaded {
    analyzers: Vec<Arc<dyn Analyzer>>,
    packs: Vec<PolicyPackInfo>,
    judging: Arc<Semaphore>,
}

impl Loaded {
    /// Number of packs.
    pub(crate) fn len(&self) -> u32 {
        u32::try_from(self.packs.len()).unwrap_or(u32::MAX)
    }

    /// Descriptions of the packs.
    pub(crate) fn packs(&self) -> Vec<PolicyPackInfo> {
        self.packs.clone()
    }

    /// Future of a call; its error is fit to show to the user.
    pub(crate) fn ask(
        &self,
        pack: PackId,
        request: PolicyCall,
    ) -> impl Future<Output = Result<PolicyReply, String>> + Send + 'static {
        let analyzer = self.analyzers.get(pack.0 as usize).cloned();
        let judging = self.judging.clone();
        async move {
            let analyzer = analyzer.ok_or("there is no such policy pack")?;
            // Cannot fail, because the semaphore is never closed.
            let _permit = judging.acquire_owned().await;
            let reply = match request {
                PolicyCall::Remediate(resource) => analyzer
                    .remediate(&resource)
                    .await
                    .map(PolicyReply::Remediated),
                PolicyCall::Analyze(resource) => {
                    analyzer.analyze(&resource).await.map(PolicyReply::Analyzed)
                }
                PolicyCall::AnalyzeStack(resources) => analyzer
                    .analyze_stack(&resources)
                    .await
                    .map(PolicyReply::Analyzed),
            };
            reply.map_err(|error| with_causes(&error))
        }
    }
}
