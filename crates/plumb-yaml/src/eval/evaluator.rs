//! Evaluation of expressions whose dependencies have values.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use ecow::EcoString;
use plumb_engine::program::ProgramContext;
use rustc_hash::FxHashMap;

use super::access::{self, Failure, References};
use super::builtins;
use super::go_format;
use super::lift::{self, Lifted};
use super::value::Val;
use crate::diagnostic::Diagnostic;
use crate::graph::{Graph, PULUMI};
use crate::syntax::expression::{Access, Expr, ExprKind, Part};
use crate::syntax::functions::{self, Function};
use crate::syntax::source::Span;

/// Reason why an expression has no value yet.
#[derive(Debug)]
pub(crate) enum Stop {
    /// An error in the program.
    Error(Box<Diagnostic>),
    /// The resource with this URN must be fetched before the next attempt.
    Fetch(EcoString),
}

impl From<Diagnostic> for Stop {
    fn from(diagnostic: Diagnostic) -> Self {
        Stop::Error(Box::new(diagnostic))
    }
}

/// Evaluator of expressions, with the values of nodes.
pub(crate) struct Evaluator<'a> {
    pub(crate) graph: &'a Graph,
    pub(crate) info: &'a ProgramContext,
    pub(crate) values: Vec<OnceLock<Val>>,
    pub(crate) fetched: Mutex<FxHashMap<EcoString, Val>>,
    /// Whether relative paths are resolved in the body's folder, because the engine would search
    /// elsewhere.
    pub(crate) files_are_elsewhere: bool,
}

impl References for Evaluator<'_> {
    fn resource(&self, urn: &str) -> Option<Val> {
        self.fetched
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(urn)
            .cloned()
    }
}

impl<'a> Evaluator<'a> {
    pub(crate) fn new(graph: &'a Graph, info: &'a ProgramContext) -> Self {
        let values = graph.nodes.iter().map(|_| OnceLock::new()).collect();
        Evaluator {
            graph,
            info,
            values,
            fetched: Mutex::default(),
            files_are_elsewhere: false,
        }
    }

    /// Value of a node; poison if it has none, which occurs only in programs with errors.
    pub(crate) fn value(&self, id: usize) -> &Val {
        self.values[id].get().unwrap_or(&Val::Poison)
    }

    /// Value of `expr`.
    pub(crate) fn eval(&self, expr: &Expr) -> Result<Val, Stop> {
        match &expr.kind {
            ExprKind::Null => Ok(Val::Null),
            ExprKind::Bool(value) => Ok(Val::Bool(*value)),
            ExprKind::Number(value) => Ok(Val::Number(*value)),
            ExprKind::String(text) => Ok(Val::String(text.clone())),
            ExprKind::Symbol(access) => self.access(access, expr.span),
            ExprKind::Interpolate(parts) => self.interpolate(parts, expr.span),
            ExprKind::List(items) => Ok(Val::list(
                items
                    .iter()
                    .map(|item| self.eval(item))
                    .collect::<Result<_, _>>()?,
            )),
            ExprKind::Object(entries) => self.object(entries),
            ExprKind::Function(function, argument) => self.function(*function, argument, expr.span),
            ExprKind::Invoke(index) => Ok(self.value(self.graph.invoke(*index)).clone()),
            ExprKind::StackOutput(index, name) => self.stack_output(*index, name),
        }
    }

    fn access(&self, access: &Access, span: Span) -> Result<Val, Stop> {
        if access.root == PULUMI {
            return self.pulumi(access, span);
        }
        let Some(id) = self.graph.lookup(&access.root) else {
            let summary = format!(
                "resource or variable named {:?} could not be found",
                access.root.as_str()
            );
            return Err(Diagnostic::error(span, summary).into());
        };
        // A secret anywhere in a variable makes all parts of it secret.
        let value = lift::joined(self.value(id).clone());
        access::access(&value, &access.path, self).map_err(|failure| match failure {
            Failure::Problem(summary) => Diagnostic::error(span, summary).into(),
            Failure::Fetch(urn) => Stop::Fetch(urn),
        })
    }

    fn pulumi(&self, access: &Access, span: Span) -> Result<Val, Stop> {
        use crate::syntax::expression::Accessor;
        let info = self.info;
        let text = match access.path.as_slice() {
            [Accessor::Name(name)] => match name.as_str() {
                "cwd" => info.program_directory.display().to_string(),
                "organization" => info.organization.clone(),
                "project" => info.project.clone(),
                "rootDirectory" => info.root_directory.display().to_string(),
                "stack" => info.stack.clone(),
                _ => return Err(unknown_fact(access, span).into()),
            },
            _ => return Err(unknown_fact(access, span).into()),
        };
        Ok(Val::String(text.into()))
    }

    fn interpolate(&self, parts: &[Part], span: Span) -> Result<Val, Stop> {
        let mut lifted = Lifted::default();
        let mut text = String::new();
        for part in parts {
            match part {
                Part::Text(literal) => text.push_str(literal),
                Part::Access(access) => {
                    let value = lifted.strip(&self.access(access, span)?);
                    note_resource(&mut lifted, &value);
                    go_format::display(&value, &mut text);
                }
            }
        }
        Ok(lifted.wrap(Val::String(text.into())))
    }

    /// Value of an object. Outputs in keys make the whole object an output; outputs in values stay
    /// in place.
    fn object(&self, entries: &[(Expr, Expr)]) -> Result<Val, Stop> {
        let mut lifted = Lifted::default();
        let mut object = BTreeMap::new();
        for (key, value) in entries {
            let key_value = lifted.strip(&self.eval(key)?);
            match key_value {
                Val::String(text) => {
                    object.insert(text, self.eval(value)?);
                }
                Val::Poison => return Ok(Val::Poison),
                _ if lifted.unknown => {}
                other => {
                    let summary = format!(
                        "object key must evaluate to a string, not {}",
                        other.described()
                    );
                    return Err(Diagnostic::error(key.span, summary).into());
                }
            }
        }
        Ok(lifted.wrap(Val::Object(Arc::new(object))))
    }

    fn function(&self, function: Function, argument: &Expr, span: Span) -> Result<Val, Stop> {
        let mut value = self.eval(argument)?;
        let directory = &self.info.program_directory;
        let is_file = matches!(function, Function::FileAsset | Function::FileArchive);
        if let (true, true, Val::String(path)) = (self.files_are_elsewhere, is_file, &value) {
            value = Val::String(directory.join(path).to_string_lossy().into());
        }
        builtins::call(function, functions::name(function), &value, directory)
            .map_err(|problem| Diagnostic::error(span, problem).into())
    }

    fn stack_output(&self, index: usize, name: &Expr) -> Result<Val, Stop> {
        let stack = self.value(self.graph.stack(index));
        let mut lifted = Lifted::default();
        let key = lifted.strip(&self.eval(name)?);
        if lifted.poisoned || lifted.unknown {
            return Ok(lifted.wrap(Val::Null));
        }
        let Val::String(key) = key else {
            let summary = format!(
                "the name of a stack output must be a string, not {}",
                key.kind()
            );
            return Err(Diagnostic::error(name.span, summary).into());
        };
        let path = ["outputs".into(), key].map(crate::syntax::expression::Accessor::Name);
        let found = access::access(stack, &path, self).map_err(|failure| match failure {
            Failure::Problem(summary) => Stop::from(Diagnostic::error(name.span, summary)),
            Failure::Fetch(urn) => Stop::Fetch(urn),
        })?;
        Ok(lifted.wrap(found))
    }
}

/// Adds the state of a resource in a string, which is its id and can be unknown.
fn note_resource(lifted: &mut Lifted, value: &Val) {
    if let Val::Resource(resource) = value {
        lifted.any = true;
        lifted.unknown |= resource.custom && !resource.id.is_known();
    }
}

fn unknown_fact(access: &Access, span: Span) -> Diagnostic {
    let known = "cwd, organization, project, rootDirectory, stack";
    Diagnostic::error(
        span,
        format!(
            "unknown property of the 'pulumi' variable: '{}'",
            access.text()
        ),
    )
    .with_detail(format!("Existing properties are: {known}"))
}
