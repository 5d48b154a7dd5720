//! Evaluation of one body of declarations: a program, or a component of a plugin.
//!
//! A body belongs to a resource, the stack or the component. That resource is the parent of the registered resources
//! and gets the outputs. Settings of a program and inputs of a component are treated alike.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use ecow::EcoString;
use plumb_engine::monitor::ResourceMonitor;
use plumb_engine::program::{ProgramContext, ProgramResult};
use plumb_resource::Urn;
use plumb_schema::SchemaLoader;

use crate::check;
use crate::diagnostic::{self, Diagnostic};
use crate::eval::driver::Run;
use crate::eval::evaluator::Evaluator;
use crate::eval::value::{Providers, Val};
use crate::graph::{Graph, Node};
use crate::packages::PackageDeclaration;
use crate::program;
use crate::report::Reporter;
use crate::requirement;
use crate::schemas::{self, Types};
use crate::settings::{Problem, Setting};
use crate::syntax::program::Syntax;

/// Resource that a body belongs to.
pub(crate) struct Owner {
    pub(crate) urn: Urn,
    /// Name of a component, which is a prefix of its children's names; `None` for the stack.
    pub(crate) component: Option<EcoString>,
    /// Providers for resources that the body registers.
    pub(crate) providers: Providers,
}

impl Owner {
    /// Owner of a program: the stack `urn`.
    pub(crate) fn stack(urn: Urn) -> Self {
        Owner {
            urn,
            component: None,
            providers: Providers::default(),
        }
    }
}

/// A body with everything that its evaluation needs.
pub(crate) struct Body<'a> {
    pub(crate) syntax: &'a Syntax,
    pub(crate) settings: &'a [Setting],
    pub(crate) info: &'a ProgramContext,
    pub(crate) monitor: &'a dyn ResourceMonitor,
    pub(crate) reporter: &'a Reporter<'a>,
    pub(crate) declarations: &'a [PackageDeclaration],
    /// Package references of the declared packages.
    pub(crate) package_refs: &'a [EcoString],
    pub(crate) schemas: &'a dyn SchemaLoader,
    /// Plumb's version, which is compared with the required one.
    pub(crate) engine_version: Option<&'a semver::Version>,
    pub(crate) owner: &'a Owner,
}

/// Result of evaluating a body.
pub(crate) struct Evaluated {
    pub(crate) result: ProgramResult,
    /// Outputs that could be evaluated.
    pub(crate) outputs: BTreeMap<EcoString, Val>,
}

impl Evaluated {
    fn bailed() -> Self {
        Evaluated {
            result: ProgramResult::Bailed,
            outputs: BTreeMap::new(),
        }
    }
}

impl Body<'_> {
    /// Checks and evaluates the body. `problems` were found in its settings.
    ///
    /// 1. Ambiguous names and cycles end the evaluation immediately.
    /// 2. The structure of the declarations is checked, then their types. All errors are reported before the
    ///    evaluation ends.
    /// 3. Errors in later evaluation affect only the nodes that depend on them.
    pub(crate) async fn evaluate(&self, problems: Vec<Problem>) -> Evaluated {
        let config: Vec<Val> = self
            .settings
            .iter()
            .map(|setting| setting.value.clone())
            .collect();
        let names: Vec<_> = self.settings.iter().map(Setting::name).collect();
        let mut ambiguous = Vec::new();
        let graph = Graph::build(self.syntax, &names, &self.info.project, &mut ambiguous);
        if !ambiguous.is_empty() {
            return self.without_order(&ambiguous);
        }
        let Some(types) = self.types(&graph, &config).await else {
            return Evaluated::bailed();
        };
        for (name, problem) in &problems {
            self.reporter.met(problem);
            self.reporter.not_registered("config", name);
        }
        if let Some(problem) = self.check_version(&config, &graph) {
            self.reporter.met(&problem);
            return Evaluated::bailed();
        }
        let evaluator = Evaluator {
            files_are_elsewhere: self.owner.component.is_some(),
            ..Evaluator::new(&graph, self.info)
        };
        let run = Run::new(self, &types, evaluator);
        if !problems.is_empty() {
            run.block_resources();
        }
        run.evaluate(&config).await;
        let result = if self.reporter.has_errors() || run.is_over.load(Ordering::Relaxed) {
            ProgramResult::Bailed
        } else {
            match run.failed_registration() {
                Some(failed) => ProgramResult::Failed {
                    message: format!("waiting for RPCs: {failed}"),
                },
                None => ProgramResult::Finished,
            }
        };
        Evaluated {
            result,
            outputs: run.into_outputs(),
        }
    }

    /// Result for a body with ambiguous names or a cycle.
    fn without_order(&self, problems: &[Diagnostic]) -> Evaluated {
        if self.owner.component.is_some() {
            for problem in problems {
                self.reporter.found(problem);
            }
            return Evaluated::bailed();
        }
        Evaluated {
            result: program::one_error(&diagnostic::joined(problems, &self.syntax.source)),
            outputs: BTreeMap::new(),
        }
    }

    /// Types of the body; `None` after errors, which have been reported.
    async fn types(&self, graph: &Graph, config: &[Val]) -> Option<Types> {
        // Check the structure first, because resolving types starts plugins.
        for problem in check::shape(self.syntax, graph) {
            self.reporter.found(&problem);
        }
        if self.reporter.has_errors() {
            return None;
        }
        let types = schemas::resolve(self.syntax, graph, self.declarations, self.schemas).await;
        for problem in check::check(self.syntax, graph, &types, config) {
            self.reporter.found(&problem);
        }
        (!self.reporter.has_errors()).then_some(types)
    }

    fn check_version(&self, config: &[Val], graph: &Graph) -> Option<Diagnostic> {
        let expr = self.syntax.required_version.as_ref()?;
        let evaluator = Evaluator::new(graph, self.info);
        for (id, node) in graph.nodes.iter().enumerate() {
            if let Node::Config(index) = node {
                let _ = evaluator.values[id].set(config[*index].clone());
            }
        }
        match evaluator.eval(expr) {
            Ok(Val::String(range)) => requirement::check(&range, self.engine_version?)
                .err()
                .map(|problem| Diagnostic::error(expr.span, problem.to_string())),
            Ok(Val::Poison) => None,
            _ => Some(Diagnostic::error(
                expr.span,
                "version range must evaluate to a string",
            )),
        }
    }
}
