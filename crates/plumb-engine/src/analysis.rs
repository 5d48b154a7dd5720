//! Analysis of an existing state by policy packs, without a deployment.
//!
//! Findings are sent to the subscriber as events, in the order of the resources, although several resources are analyzed at
//! the same time. Log messages of the packs are sent as they arrive.

use std::sync::Arc;
use std::time::Instant;

use futures::StreamExt as _;
use futures::future::try_join_all;
use jiff::Timestamp;
use plumb_deploy::{Inspection, PackId};
use plumb_events::{Diagnostic, Event, OperationResult, Severity};
use plumb_plugin::PluginHost;
use plumb_resource::policy::{
    Analysis, AnalyzedResource, PolicyCall, PolicyReply, Remedies, Remedy,
};
use plumb_state::Snapshot;
use plumb_value::Value;
use tokio::sync::{mpsc, watch};

use crate::masks::Masks;
use crate::monitor::{Incoming, LogMessage};
use crate::policies::{Loaded, PolicyPacks};
use crate::program::ProgramContext;
use crate::shell::{Shell, Subscriber};

/// Maximum number of resources that are analyzed at the same time.
const SIDE_BY_SIDE: usize = 16;

/// Input of an analysis.
pub struct AnalysisSetup {
    /// State to analyze.
    pub snapshot: Snapshot,
    /// Data of the stack, for the packs.
    pub info: ProgramContext,
    /// Each secret in the settings by itself, because a structured setting may have several. Hidden in messages.
    pub secret_parts: Vec<Value>,
    /// The packs.
    pub policies: PolicyPacks,
    /// Host that starts the packs. Its engine address is [`Shell::address`].
    pub host: Arc<PluginHost>,
    /// Receiver of the findings.
    pub subscriber: Subscriber,
    /// Number of interrupts by the user.
    pub interrupts: watch::Receiver<u32>,
}

/// Result of an analysis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Analyzed {
    /// No resource violates a mandatory policy.
    Passed,
    /// A mandatory policy is violated.
    Refused,
    /// The user interrupted the analysis.
    Interrupted,
    /// A pack could not be started or called; the subscriber has received the error.
    Failed,
}

impl Shell {
    /// Starts the policy packs, analyzes the state, and shuts the packs down.
    pub async fn analyze(self, setup: AnalysisSetup) -> Analyzed {
        self.serve(&setup.host);
        let mut teller = Teller {
            masks: masks(&setup),
            subscriber: setup.subscriber,
            error_logged: false,
        };
        let began = Instant::now();
        let (found, findings) = mpsc::unbounded_channel();
        let host = setup.host.clone();
        let mut interrupts = setup.interrupts;
        let work = inspect(setup.snapshot, setup.policies, host, setup.info, found);
        let ended = tokio::select! {
            ended = teller.relay(work, findings, self.incoming) => Some(ended),
            Ok(()) = interrupts.changed() => None,
        };
        let (analyzed, inspection) = teller.verdict(ended);
        let result = match analyzed {
            Analyzed::Passed => OperationResult::Succeeded,
            Analyzed::Interrupted => OperationResult::Canceled,
            Analyzed::Refused | Analyzed::Failed => OperationResult::Failed,
        };
        if let Some(inspection) = inspection {
            teller.tell(inspection.summary(result, began.elapsed()));
        }
        teller.tell(Event::Cancel);
        setup.host.shutdown().await;
        self.servers.stop().await;
        analyzed
    }
}

/// Sender of findings and log messages.
struct Teller {
    subscriber: Subscriber,
    masks: Masks,
    error_logged: bool,
}

/// Masks for the secrets that packs get: those of the settings and of the state.
fn masks(setup: &AnalysisSetup) -> Masks {
    let keys = setup.info.config_secret_keys.iter();
    let settings: Vec<Value> = keys
        .filter_map(|key| setup.info.config.get(key))
        .map(|text| Value::secret(text.as_str().into()))
        .collect();
    let mut masks = Masks::new(false, settings.iter().chain(&setup.secret_parts));
    for resource in &setup.snapshot.resources {
        masks.learn_all(&resource.inputs);
        masks.learn_all(&resource.outputs);
    }
    masks
}

impl Teller {
    fn tell(&mut self, mut event: Event) {
        self.masks.pass(&mut event);
        // Fails if the subscriber was dropped, and then the event is not needed.
        let _ = self.subscriber.send(vec![(Timestamp::now(), event)]);
    }

    fn log(&mut self, message: LogMessage) {
        self.error_logged |= message.severity == Severity::Error;
        self.tell(message.into_event());
    }

    /// Forwards findings and messages until `work` has ended.
    async fn relay(
        &mut self,
        work: impl Future<Output = Result<Inspection, String>>,
        mut findings: mpsc::UnboundedReceiver<Event>,
        mut incoming: mpsc::UnboundedReceiver<Incoming>,
    ) -> Result<Inspection, String> {
        let mut work = std::pin::pin!(work);
        let ended = loop {
            tokio::select! {
                biased;
                Some(event) = findings.recv() => self.tell(event),
                // Requests to the resource monitor are dropped, so that they fail: packs do not need the monitor.
                Some(Incoming::Log(message)) = incoming.recv() => self.log(message),
                ended = &mut work => break ended,
            }
        };
        while let Ok(event) = findings.try_recv() {
            self.tell(event);
        }
        while let Ok(one) = incoming.try_recv() {
            if let Incoming::Log(message) = one {
                self.log(message);
            }
        }
        ended
    }

    fn verdict(
        &mut self,
        ended: Option<Result<Inspection, String>>,
    ) -> (Analyzed, Option<Inspection>) {
        match ended {
            None => (Analyzed::Interrupted, None),
            Some(Err(error)) => {
                self.tell(Event::Diagnostic(Diagnostic::new(
                    Severity::Error,
                    None,
                    format!("{error}\n"),
                )));
                (Analyzed::Failed, None)
            }
            Some(Ok(inspection)) if inspection.is_refused() => {
                (Analyzed::Refused, Some(inspection))
            }
            Some(Ok(inspection)) if self.error_logged => (Analyzed::Failed, Some(inspection)),
            Some(Ok(inspection)) => (Analyzed::Passed, Some(inspection)),
        }
    }
}

/// Loads the packs and analyzes all resources, then the stack. The error is fit to show to the user.
async fn inspect(
    snapshot: Snapshot,
    policies: PolicyPacks,
    host: Arc<PluginHost>,
    info: ProgramContext,
    found: mpsc::UnboundedSender<Event>,
) -> Result<Inspection, String> {
    let (stack, project) = (info.stack.clone(), info.project.clone());
    let _ = found.send(Event::PolicyLoad);
    let packs = policies.load(host, info).await?;
    let mut inspection = Inspection::new(&snapshot, &stack, &project, packs.packs());
    let tell = |events: Vec<Event>| {
        for event in events {
            let _ = found.send(event);
        }
    };
    let resources = inspection.resources();
    let mut answers = futures::stream::iter(resources)
        .map(|resource| ask(&packs, resource))
        .buffered(SIDE_BY_SIDE);
    while let Some(answer) = answers.next().await {
        let (resource, remediated, judged) = answer?;
        tell(inspection.remediated(&resource, &remediated));
        tell(inspection.judged(&resource, &judged));
    }
    drop(answers);
    let whole = inspection.stack();
    let calls =
        ids(&packs).map(|pack| analysis(&packs, pack, PolicyCall::AnalyzeStack(whole.clone())));
    let judged = try_join_all(calls)
        .await
        .map_err(|error| format!("failed to analyze resources: {error}"))?;
    tell(inspection.stack_judged(&judged));
    Ok(inspection)
}

fn ids(packs: &Loaded) -> impl Iterator<Item = PackId> + use<> {
    (0..packs.len()).map(PackId)
}

/// Analyzes a resource: each pack in turn fixes the inputs, then all packs check the resource as it is in the state.
async fn ask(
    packs: &Loaded,
    resource: Arc<AnalyzedResource>,
) -> Result<(Arc<AnalyzedResource>, Vec<Remedies>, Vec<Analysis>), String> {
    let urn = &resource.urn;
    let mut remediated = Vec::new();
    let mut present = resource.clone();
    for pack in ids(packs) {
        let remedies = match packs
            .ask(pack, PolicyCall::Remediate(present.clone()))
            .await
        {
            Ok(PolicyReply::Remediated(remedies)) => Ok(remedies),
            Ok(PolicyReply::Analyzed(_)) => Err("it answered something else".to_owned()),
            Err(error) => Err(error),
        };
        let remedies =
            remedies.map_err(|error| format!("failed to run remediation for {urn}: {error}"))?;
        for remediation in &remedies.remediations {
            if let Remedy::Inputs(inputs) = &remediation.outcome {
                Arc::make_mut(&mut present).properties = inputs.clone();
            }
        }
        remediated.push(remedies);
    }
    let calls = ids(packs).map(|pack| analysis(packs, pack, PolicyCall::Analyze(resource.clone())));
    let judged = try_join_all(calls)
        .await
        .map_err(|error| format!("failed to run policy for {urn}: {error}"))?;
    Ok((resource, remediated, judged))
}

async fn analysis(packs: &Loaded, pack: PackId, call: PolicyCall) -> Result<Analysis, String> {
    match packs.ask(pack, call).await? {
        PolicyReply::Analyzed(analysis) => Ok(analysis),
        PolicyReply::Remediated(_) => Err("it answered something else".to_owned()),
    }
}
