//! Evaluation of a program or a component.
//!
//! 1. Nodes that do not depend on resources (settings, variables, invokes with plain arguments) come first, so that
//!    their errors are found before anything is registered.
//! 2. After that, a node starts when its dependencies are available; among several, the first in document order starts
//!    first. Only dependents wait for a registration, so thousands can run at once.
//! 3. The outputs are one more node, which depends on everything that they mention.
//!
//! An error gives its node the value [`Val::Poison`]; nodes that depend on poison become poison without further messages.
//! An error in a node that does not depend on resources also prevents the registration of all later resources; other
//! errors do not.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use ecow::EcoString;
use futures::StreamExt as _;
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use plumb_deploy::request::{
    Outcome, RegisterOutputsRequest, RegisterRequest, Reply, Request, RequestErrorKind,
};
use plumb_engine::monitor::ResourceMonitor;
use plumb_eval::answers;
use plumb_resource::ResourceId;

use super::convert::{self, Form};
use super::evaluator::{Evaluator, Stop};
use super::lift;
use super::value::{Providers, ResourceVal, Val};
use super::{invoke, read, register};
use crate::body::{Body, Owner};
use crate::diagnostic::Diagnostic;
use crate::graph::{Graph, Node, NodeId};
use crate::report::Reporter;
use crate::schemas::Types;
use crate::syntax::program::Syntax;
use crate::syntax::source::Span;

/// Evaluation of a body.
pub(crate) struct Run<'a> {
    pub(crate) syntax: &'a Syntax,
    pub(crate) graph: &'a Graph,
    pub(crate) types: &'a Types,
    pub(crate) evaluator: Evaluator<'a>,
    /// The stack or component of the body.
    pub(crate) owner: &'a Owner,
    /// Package references of the declared packages.
    package_refs: &'a [EcoString],
    pub(crate) monitor: &'a dyn ResourceMonitor,
    pub(crate) reporter: &'a Reporter<'a>,
    /// The deployment has ended, so remaining errors are not reported.
    pub(crate) is_over: AtomicBool,
    /// First failed registration of a deployment that continues.
    failed_registration: Mutex<Option<String>>,
    outputs: OnceLock<BTreeMap<EcoString, Val>>,
    /// Resources after this position in the evaluation order are not registered.
    blocked_after: AtomicUsize,
}

enum Settled {
    Value(Val),
    /// A missing resource was fetched; the node must be evaluated again.
    Again,
}

type Pending<'r> = BoxFuture<'r, (NodeId, Settled)>;

enum Started<'r> {
    Now(Val),
    Later(Pending<'r>),
}

impl<'a> Run<'a> {
    pub(crate) fn new(body: &'a Body<'a>, types: &'a Types, evaluator: Evaluator<'a>) -> Self {
        Run {
            syntax: body.syntax,
            graph: evaluator.graph,
            types,
            evaluator,
            owner: body.owner,
            package_refs: body.package_refs,
            monitor: body.monitor,
            reporter: body.reporter,
            is_over: AtomicBool::new(false),
            failed_registration: Mutex::default(),
            outputs: OnceLock::new(),
            blocked_after: AtomicUsize::new(usize::MAX),
        }
    }

    /// Prevents the registration of all resources, because of an error in a setting.
    pub(crate) fn block_resources(&self) {
        self.blocked_after.store(0, Ordering::Relaxed);
    }

    /// Outputs; empty if the evaluation ended before them.
    pub(crate) fn into_outputs(self) -> BTreeMap<EcoString, Val> {
        self.outputs.into_inner().unwrap_or_default()
    }

    /// Package reference of a declaration; empty for none.
    pub(crate) fn package_ref(&self, declaration: Option<usize>) -> EcoString {
        declaration
            .and_then(|index| self.package_refs.get(index))
            .cloned()
            .unwrap_or_default()
    }

    /// Declared default provider for a resource without an explicit provider.
    pub(crate) fn default_provider_of_resource(&self, index: usize) -> Option<&Val> {
        let decl = &self.syntax.resources[index];
        if decl.options().provider.is_some() || decl.type_token.starts_with("pulumi:providers:") {
            return None;
        }
        self.default_provider(self.graph.default_provider(decl.package())?)
    }

    /// Declared default provider for an invoke without an explicit provider.
    pub(crate) fn default_provider_of_invoke(&self, index: usize) -> Option<&Val> {
        let decl = &self.syntax.calls.invokes[index];
        self.default_provider(self.graph.invoke_default_provider(index, decl)?)
    }

    fn default_provider(&self, index: usize) -> Option<&Val> {
        let id = self.graph.lookup(&self.syntax.resources[index].key.text)?;
        Some(self.evaluator.value(id))
    }

    /// Source position, in the format of states.
    pub(crate) fn position(&self, span: Span) -> EcoString {
        let source = &self.syntax.source;
        let (line, column) = source.position(span.start);
        let root = &self.evaluator.info.root_directory;
        plumb_engine::position::in_project(&source.path, line, column, root)
    }

    /// Evaluates all nodes. `config` contains the values of the settings, by index.
    pub(crate) async fn evaluate(&self, config: &[Val]) {
        let mut schedule = Schedule::new(self.graph, self.syntax);
        for only_early in [true, false] {
            schedule.open(only_early);
            let mut pending: FuturesUnordered<Pending<'_>> = FuturesUnordered::new();
            loop {
                while let Some(id) = schedule.next() {
                    match self.start(id, &schedule, config) {
                        Started::Now(value) => self.settle(&mut schedule, id, value),
                        Started::Later(future) => pending.push(future),
                    }
                }
                // Without `unconstrained` this takes quadratic time: Tokio limits how many answers a task receives per poll
                // (128), and beyond that each of the remaining futures is polled in vain. The set itself yields regularly.
                let Some((id, settled)) = tokio::task::unconstrained(pending.next()).await else {
                    break;
                };
                match settled {
                    Settled::Value(value) => self.settle(&mut schedule, id, value),
                    Settled::Again => schedule.again(id),
                }
            }
        }
    }

    fn settle(&self, schedule: &mut Schedule<'_>, id: NodeId, value: Val) {
        if let Some(cell) = self.evaluator.values.get(id) {
            let _ = cell.set(value);
        }
        schedule.done(id);
    }

    fn start<'r>(&'r self, id: NodeId, schedule: &Schedule<'_>, config: &[Val]) -> Started<'r> {
        let Some(node) = self.graph.nodes.get(id) else {
            return self.start_outputs(id);
        };
        let started = match *node {
            Node::Config(index) => Ok(Started::Now(
                config.get(index).cloned().unwrap_or(Val::Poison),
            )),
            Node::Variable(index) => self
                .evaluator
                .eval(&self.syntax.variables[index].1)
                .map(Started::Now),
            Node::Resource(index) => self.start_resource(id, index, schedule),
            Node::Invoke(index) => self.start_invoke(id, index, schedule),
            Node::Stack(index) => Ok(self.start_stack(id, index)),
        };
        match started {
            Ok(started) => started,
            Err(Stop::Fetch(urn)) => Started::Later(Box::pin(async move {
                self.fetch(&urn).await;
                (id, Settled::Again)
            })),
            Err(Stop::Error(diagnostic)) => {
                self.fail(
                    id,
                    &diagnostic,
                    &schedule.dependents,
                    schedule.position_if_static(id),
                );
                Started::Now(Val::Poison)
            }
        }
    }

    /// Reports an error in a node, and the nodes that cannot be registered because of it.
    fn fail(
        &self,
        id: NodeId,
        diagnostic: &Diagnostic,
        dependents: &[Vec<NodeId>],
        position: Option<usize>,
    ) {
        self.reporter.met(diagnostic);
        if let Some(position) = position {
            self.blocked_after.fetch_min(position, Ordering::Relaxed);
        }
        let mut open = vec![id];
        while let Some(id) = open.pop() {
            match self.graph.nodes.get(id) {
                Some(Node::Variable(_)) => {
                    self.reporter
                        .not_registered("variable", self.graph.label(id, self.syntax).0);
                }
                Some(Node::Resource(_)) => {
                    self.reporter
                        .not_registered("resource", self.graph.label(id, self.syntax).0);
                }
                // Invokes have no name, so report the nodes that contain them.
                Some(Node::Invoke(_) | Node::Stack(_)) => {
                    open.extend(&dependents[id]);
                }
                Some(Node::Config(_)) | None => {}
            }
        }
    }

    fn start_resource<'r>(
        &'r self,
        id: NodeId,
        index: usize,
        schedule: &Schedule<'_>,
    ) -> Result<Started<'r>, Stop> {
        let plan = register::plan(self, index)?;
        if matches!(plan, register::Plan::Poison) {
            return Ok(Started::Now(Val::Poison));
        }
        if schedule.positions[id] > self.blocked_after.load(Ordering::Relaxed) {
            self.reporter
                .not_registered("resource", &self.syntax.resources[index].key.text);
            return Ok(Started::Now(Val::Poison));
        }
        Ok(match plan {
            register::Plan::Poison => Started::Now(Val::Poison),
            register::Plan::Register { request, providers } => {
                Started::Later(Box::pin(async move {
                    (
                        id,
                        Settled::Value(self.register(index, request, providers).await),
                    )
                }))
            }
            register::Plan::Read { request, providers } if request.id == ResourceId::Unknown => {
                Started::Now(read::unknown_read(self, &request, providers))
            }
            register::Plan::Read { request, providers } => Started::Later(Box::pin(async move {
                let span = self.syntax.resources[index].key.span;
                (
                    id,
                    Settled::Value(self.read(*request, providers, span).await),
                )
            })),
        })
    }

    /// First failed registration of a deployment that continues.
    pub(crate) fn failed_registration(&self) -> Option<String> {
        self.failed_registration
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn note_failed_registration(&self, message: String) {
        let mut failed = self
            .failed_registration
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        failed.get_or_insert(message);
    }

    /// Handles the reply to a registration or read that returned no resource. After a rejection, the program continues
    /// and fails at its end, because other resources are not affected.
    fn unregistered(&self, reply: Reply, span: Span) -> Val {
        match reply {
            Reply::Failed(error) if error.kind != RequestErrorKind::Unavailable => {
                self.note_failed_registration(answers::error_text(&error));
                Val::Poison
            }
            reply => self.unanswered(reply, span),
        }
    }

    async fn register(
        &self,
        index: usize,
        request: Box<RegisterRequest>,
        providers: Providers,
    ) -> Val {
        let (custom, type_token, name) = (
            request.custom,
            request.type_token.clone(),
            request.name.clone(),
        );
        let span = self.syntax.resources[index].key.span;
        match self.monitor.request(Request::Register(request)).await {
            Reply::Registered(reply) if reply.outcome == Outcome::Success => {
                let partial = self.evaluator.info.dry_run || reply.unknown;
                let id = if custom && reply.id == ResourceId::None {
                    ResourceId::Unknown
                } else {
                    reply.id
                };
                let (urn, outputs) = (reply.urn, reply.outputs);
                Val::Resource(Arc::new(ResourceVal {
                    urn,
                    id,
                    custom,
                    type_token,
                    name,
                    outputs,
                    partial,
                    providers,
                }))
            }
            Reply::Registered(_) => {
                // The deployment continues without the resource; the program fails at its end.
                self.note_failed_registration(format!(
                    "resource {name} [{type_token}] failed to register"
                ));
                Val::Poison
            }
            reply => self.unregistered(reply, span),
        }
    }

    async fn read(
        &self,
        request: plumb_deploy::request::ReadResourceRequest,
        providers: Providers,
        span: Span,
    ) -> Val {
        let (type_token, name) = (request.type_token.clone(), request.name.clone());
        match self.monitor.request(Request::Read(Box::new(request))).await {
            Reply::Read(reply) if reply.outcome == Outcome::Success => {
                Val::Resource(Arc::new(ResourceVal {
                    urn: reply.urn,
                    id: reply.id,
                    custom: true,
                    type_token,
                    name,
                    outputs: reply.outputs,
                    partial: self.evaluator.info.dry_run,
                    providers,
                }))
            }
            Reply::Read(_) => Val::Poison,
            reply => self.unregistered(reply, span),
        }
    }

    /// Handles an unexpected reply: the end of the deployment, an error, or a reply of the wrong kind.
    fn unanswered(&self, reply: Reply, span: Span) -> Val {
        match reply {
            Reply::Failed(error) if error.kind == RequestErrorKind::Unavailable => {
                self.is_over.store(true, Ordering::Relaxed);
            }
            Reply::Failed(error) => self
                .reporter
                .met(&Diagnostic::error(span, answers::error_text(&error))),
            _ => self.reporter.met(&Diagnostic::error(
                span,
                "the engine gave an answer of the wrong kind",
            )),
        }
        Val::Poison
    }

    fn start_invoke<'r>(
        &'r self,
        id: NodeId,
        index: usize,
        schedule: &Schedule<'_>,
    ) -> Result<Started<'r>, Stop> {
        let (request, lifted) = match invoke::plan(self, index)? {
            invoke::Plan::Done(value) => return Ok(Started::Now(value)),
            invoke::Plan::Call { request, lifted } => (request, lifted),
        };
        let position = schedule.position_if_static(id);
        let dependents = schedule.dependents.clone();
        Ok(Started::Later(Box::pin(async move {
            let span = self.syntax.calls.invokes[index].span;
            let result = match self.monitor.request(Request::Invoke(request)).await {
                Reply::Invoked(reply) => invoke::result(self, index, reply, lifted),
                Reply::Failed(error) if error.kind != RequestErrorKind::Unavailable => {
                    Err(Diagnostic::error(span, answers::error_text(&error)))
                }
                reply => Ok(self.unanswered(reply, span)),
            };
            let value = result.unwrap_or_else(|diagnostic| {
                self.fail(id, &diagnostic, &dependents, position);
                Val::Poison
            });
            (id, Settled::Value(value))
        })))
    }

    fn start_stack(&self, id: NodeId, index: usize) -> Started<'_> {
        let stack = &self.syntax.calls.stacks[index];
        let request = invoke::read_stack(self, &stack.name);
        Started::Later(Box::pin(async move {
            (
                id,
                Settled::Value(self.read(request, Providers::default(), stack.span).await),
            )
        }))
    }

    fn start_outputs(&self, id: NodeId) -> Started<'_> {
        let mut outputs = BTreeMap::new();
        for (key, expr) in &self.syntax.outputs {
            match self.evaluator.eval(expr) {
                Ok(value) if lift::is_poisoned(&value) => {}
                Ok(value) => {
                    // A secret anywhere in an output makes the whole output secret.
                    outputs.insert(key.text.clone(), lift::joined(value));
                }
                Err(Stop::Error(diagnostic)) => {
                    self.reporter.met(&diagnostic);
                    self.reporter.not_registered("output", &key.text);
                }
                Err(Stop::Fetch(urn)) => {
                    return Started::Later(Box::pin(async move {
                        self.fetch(&urn).await;
                        (id, Settled::Again)
                    }));
                }
            }
        }
        // After errors, the remaining outputs replace the old ones. If there are none, the old ones are kept.
        if self.reporter.has_errors() && outputs.is_empty() {
            return Started::Now(Val::Null);
        }
        let request = RegisterOutputsRequest {
            urn: self.owner.urn.clone(),
            outputs: Arc::new(convert::to_map(&outputs, Form::Plain)),
        };
        // Set only once, because all fetches are done at this point.
        let _ = self.outputs.set(outputs);
        Started::Later(Box::pin(async move {
            match self
                .monitor
                .request(Request::RegisterOutputs(request))
                .await
            {
                Reply::Done => {}
                reply => {
                    self.unanswered(reply, Span::default());
                }
            }
            (id, Settled::Value(Val::Null))
        }))
    }

    /// Fetches a resource of which only the URN is known, for property access.
    async fn fetch(&self, urn: &EcoString) {
        let request = answers::get_resource(urn);
        let value = match self
            .monitor
            .request(Request::Invoke(Box::new(request)))
            .await
        {
            Reply::Invoked(reply) => {
                answers::resource(urn, &reply.result, self.evaluator.info.dry_run)
            }
            reply => self.unanswered(reply, Span::default()),
        };
        self.evaluator
            .fetched
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(urn.clone(), value);
    }
}

/// Nodes that can start. The outputs are the node after the last one.
struct Schedule<'g> {
    graph: &'g Graph,
    /// Position of each node in the evaluation order.
    positions: Vec<usize>,
    /// Number of missing dependencies of each node.
    missing: Vec<usize>,
    /// Dependents of each node.
    dependents: Arc<Vec<Vec<NodeId>>>,
    /// Whether each node is not a resource and depends on none.
    early: Vec<bool>,
    ready: BinaryHeap<Reverse<(usize, NodeId)>>,
    /// Ready nodes that are not early, while only early nodes can start.
    parked: Vec<NodeId>,
    only_early: bool,
}

impl<'g> Schedule<'g> {
    fn new(graph: &'g Graph, syntax: &Syntax) -> Self {
        let outputs = graph.nodes.len();
        let mut schedule = Schedule {
            graph,
            positions: vec![usize::MAX; outputs + 1],
            missing: vec![usize::MAX; outputs + 1],
            dependents: Arc::default(),
            early: vec![false; outputs + 1],
            ready: BinaryHeap::new(),
            parked: Vec::new(),
            only_early: true,
        };
        let output_needs = graph.needs_of(syntax.outputs.iter().map(|(_, expr)| expr));
        let mut dependents = vec![Vec::new(); outputs + 1];
        for (position, id) in graph.order.iter().copied().enumerate() {
            let needs = &graph.needs[id];
            schedule.positions[id] = position;
            schedule.missing[id] = needs.len();
            let is_early = matches!(
                graph.nodes[id],
                Node::Config(_) | Node::Variable(_) | Node::Invoke(_)
            );
            schedule.early[id] = is_early && needs.iter().all(|need| schedule.early[*need]);
            for need in needs {
                dependents[*need].push(id);
            }
        }
        schedule.missing[outputs] = output_needs.len();
        for need in &output_needs {
            dependents[*need].push(outputs);
        }
        schedule.dependents = Arc::new(dependents);
        let unneeding: Vec<NodeId> = (0..=outputs)
            .filter(|id| schedule.missing[*id] == 0)
            .collect();
        for id in unneeding {
            schedule.offer(id);
        }
        schedule
    }

    /// Lets early nodes start, or all nodes.
    fn open(&mut self, only_early: bool) {
        self.only_early = only_early;
        for id in std::mem::take(&mut self.parked) {
            self.offer(id);
        }
    }

    fn offer(&mut self, id: NodeId) {
        if self.only_early && !self.early[id] {
            self.parked.push(id);
        } else {
            self.ready.push(Reverse((self.positions[id], id)));
        }
    }

    fn next(&mut self) -> Option<NodeId> {
        self.ready.pop().map(|Reverse((_, id))| id)
    }

    fn again(&mut self, id: NodeId) {
        self.offer(id);
    }

    fn done(&mut self, id: NodeId) {
        let dependents = self.dependents.clone();
        for dependent in &dependents[id] {
            self.missing[*dependent] -= 1;
            if self.missing[*dependent] == 0 {
                self.offer(*dependent);
            }
        }
    }

    /// Position of a node whose dependencies are all early; an error in it prevents the registration of later resources.
    fn position_if_static(&self, id: NodeId) -> Option<usize> {
        let needs = self.graph.needs.get(id)?;
        needs
            .iter()
            .all(|need| self.early[*need])
            .then(|| self.positions[id])
    }
}
