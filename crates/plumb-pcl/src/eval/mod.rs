//! Evaluation of expressions and registration of the resource.
//!
//! Expressions are evaluated on demand, including calls of provider functions. Values that are known only later are
//! outputs (`plumb_eval::value`).

mod functions;
mod invoke;
mod operations;
mod register;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use ecow::EcoString;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use plumb_deploy::request::{
    AwaitRequest, PackageRequest, Reply, Request, RequestError, RequestErrorKind,
};
use plumb_engine::monitor::ResourceMonitor;
use plumb_engine::program::ProgramContext;
use plumb_eval::access::{self, Accessor, Failure, References};
use plumb_eval::answers;
use plumb_eval::diagnostic::Diagnostic;
use plumb_eval::lift::Lifted;
use plumb_eval::source::Span;
use plumb_eval::value::{Providers, ResourceVal, Val};
use plumb_resource::ResourceId;

use crate::expression::{Expr, ExprKind, For, Step};
use crate::resource::{Reference, SnippetProgram};

pub(crate) use register::{inputs, register};

/// Reason why an evaluation has no value.
#[derive(Debug)]
pub(crate) enum Stop {
    /// The program has an error.
    Problem(Box<Diagnostic>),
    /// The deployment has ended.
    Over,
}

impl From<Diagnostic> for Stop {
    fn from(diagnostic: Diagnostic) -> Self {
        Stop::Problem(Box::new(diagnostic))
    }
}

pub(crate) fn problem<T>(span: Span, summary: impl Into<String>) -> Result<T, Stop> {
    Err(Diagnostic::error(span, summary).into())
}

/// Result of a failed request.
pub(crate) fn refused(span: Span, error: &RequestError) -> Stop {
    match error.kind {
        RequestErrorKind::Unavailable => Stop::Over,
        RequestErrorKind::FailedPrecondition => {
            Diagnostic::error(span, error.message.as_str()).into()
        }
        _ => Diagnostic::error(span, answers::error_text(error)).into(),
    }
}

/// Error for a response whose kind does not match the request.
pub(crate) fn mismatched(span: Span) -> Stop {
    Diagnostic::error(span, "the engine gave an answer of the wrong kind").into()
}

/// Environment of an evaluation.
pub(crate) struct Context<'a> {
    pub(crate) info: &'a ProgramContext,
    pub(crate) monitor: &'a dyn ResourceMonitor,
    /// UUID of the snippet being evaluated.
    pub(crate) snippet: EcoString,
    /// Name of the package that the program uses.
    pub(crate) package_name: EcoString,
    /// Request options for that package.
    pub(crate) package: PackageRequest,
}

/// Evaluates the expressions of a program.
pub(crate) struct Evaluator<'a> {
    program: &'a SnippetProgram,
    context: &'a Context<'a>,
    /// Values of the references, by index.
    references: Vec<Val>,
    fetched: Mutex<BTreeMap<EcoString, Val>>,
}

/// Variables in scope, the innermost first.
#[derive(Clone, Copy)]
pub(crate) struct Scope<'a> {
    outer: Option<&'a Scope<'a>>,
    variables: &'a [(EcoString, Val)],
}

impl<'a> Scope<'a> {
    pub(crate) fn new(variables: &'a [(EcoString, Val)]) -> Self {
        Scope {
            outer: None,
            variables,
        }
    }

    fn within(&'a self, variables: &'a [(EcoString, Val)]) -> Scope<'a> {
        Scope {
            outer: Some(self),
            variables,
        }
    }

    fn get(&self, name: &str) -> Option<&Val> {
        let own = self.variables.iter().find(|(known, _)| known == name);
        own.map(|(_, value)| value)
            .or_else(|| self.outer.and_then(|outer| outer.get(name)))
    }
}

impl References for Evaluator<'_> {
    fn resource(&self, urn: &str) -> Option<Val> {
        let fetched = self.fetched.lock().unwrap_or_else(PoisonError::into_inner);
        fetched.get(urn).cloned()
    }
}

impl<'a> Evaluator<'a> {
    /// Waits for all resources that the program refers to.
    pub(crate) async fn new(
        program: &'a SnippetProgram,
        context: &'a Context<'a>,
    ) -> Result<Evaluator<'a>, Stop> {
        let mut references = Vec::with_capacity(program.references.len());
        for reference in &program.references {
            references.push(wait_for(context, reference).await?);
        }
        Ok(Evaluator {
            program,
            context,
            references,
            fetched: Mutex::default(),
        })
    }

    /// Evaluates `expr`.
    pub(crate) fn eval<'e>(
        &'e self,
        expr: &'e Expr,
        scope: &'e Scope<'e>,
    ) -> BoxFuture<'e, Result<Val, Stop>> {
        self.eval_kind(expr, scope).boxed()
    }

    async fn eval_kind(&self, expr: &Expr, scope: &Scope<'_>) -> Result<Val, Stop> {
        match &expr.kind {
            ExprKind::Null => Ok(Val::Null),
            ExprKind::Bool(value) => Ok(Val::Bool(*value)),
            ExprKind::Number(value) => Ok(Val::Number(*value)),
            ExprKind::String(text) => Ok(Val::String(text.clone())),
            ExprKind::Template(parts) => self.template(parts, scope).await,
            ExprKind::List(items) => Ok(Val::list(self.eval_all(items, scope).await?)),
            ExprKind::Object(entries) => self.object(entries, scope).await,
            ExprKind::Reference(index) => Ok(self.references[*index].clone()),
            ExprKind::Variable(name) => Ok(scope.get(name).cloned().unwrap_or(Val::Null)),
            ExprKind::Access(receiver, steps) => {
                let value = self.eval(receiver, scope).await?;
                self.follow(value, steps, expr.span, scope).await
            }
            ExprKind::Splat(receiver, steps) => self.splat(receiver, steps, expr.span, scope).await,
            ExprKind::For(it) => self.for_each(it, scope).await,
            ExprKind::Conditional(it) => self.conditional(it, scope).await,
            ExprKind::Unary(operator, operand) => {
                let value = self.eval(operand, scope).await?;
                operations::unary(*operator, &value, expr.span)
            }
            ExprKind::Binary(operator, operands) => {
                let left = self.eval(&operands[0], scope).await?;
                let right = self.eval(&operands[1], scope).await?;
                operations::binary(*operator, &left, &right, expr.span)
            }
            ExprKind::Call(callee, args) => self.call(*callee, args, expr.span, scope).await,
            ExprKind::Invoke(it) => self.invoke(it, expr.span, scope).await,
            ExprKind::Method(_) => problem(expr.span, "methods can be called by programs only"),
        }
    }

    async fn eval_all(&self, exprs: &[Expr], scope: &Scope<'_>) -> Result<Vec<Val>, Stop> {
        let mut values = Vec::with_capacity(exprs.len());
        for expr in exprs {
            values.push(self.eval(expr, scope).await?);
        }
        Ok(values)
    }

    async fn template(&self, parts: &[Expr], scope: &Scope<'_>) -> Result<Val, Stop> {
        let mut lifted = Lifted::default();
        let mut text = String::new();
        for part in parts {
            let value = lifted.strip(&self.eval(part, scope).await?);
            match operations::text(&value) {
                Some(piece) => text.push_str(&piece),
                None if lifted.unknown => {}
                None => {
                    let summary = format!("a value of kind {} cannot be text", value.kind());
                    return problem(part.span, summary);
                }
            }
        }
        Ok(lifted.wrap(Val::String(text.into())))
    }

    async fn object(&self, entries: &[(Expr, Expr)], scope: &Scope<'_>) -> Result<Val, Stop> {
        let mut lifted = Lifted::default();
        let mut object = BTreeMap::new();
        for (key, value) in entries {
            let name = lifted.strip(&self.eval(key, scope).await?);
            let value = self.eval(value, scope).await?;
            match operations::text(&name) {
                Some(name) => {
                    object.insert(name, value);
                }
                None if lifted.unknown => {}
                None => return problem(key.span, "the key of an object must be text"),
            }
        }
        Ok(lifted.wrap(Val::Object(Arc::new(object))))
    }

    /// Applies steps to a value; resources known only by reference are fetched.
    async fn follow(
        &self,
        value: Val,
        steps: &[Step],
        span: Span,
        scope: &Scope<'_>,
    ) -> Result<Val, Stop> {
        let mut lifted = Lifted::default();
        let mut path = Vec::with_capacity(steps.len());
        for step in steps {
            match step {
                Step::Name(name) => path.push(Accessor::Name(name.clone())),
                Step::Index(index) => {
                    let found = lifted.strip(&self.eval(index, scope).await?);
                    if lifted.unknown {
                        return Ok(lifted.wrap(Val::Null));
                    }
                    path.push(accessor(&found, index.span)?);
                }
            }
        }
        loop {
            match access::access(&value, &path, self) {
                Ok(found) => return Ok(lifted.wrap(found)),
                Err(Failure::Problem(summary)) => return problem(span, summary),
                Err(Failure::Fetch(urn)) => self.fetch(&urn, span).await?,
            }
        }
    }

    async fn fetch(&self, urn: &EcoString, span: Span) -> Result<(), Stop> {
        let request = Request::Invoke(Box::new(answers::get_resource(urn)));
        let value = match self.context.monitor.request(request).await {
            Reply::Invoked(reply) => {
                answers::resource(urn, &reply.result, self.context.info.dry_run)
            }
            Reply::Failed(error) => return Err(refused(span, &error)),
            _ => return Err(mismatched(span)),
        };
        let mut fetched = self.fetched.lock().unwrap_or_else(PoisonError::into_inner);
        fetched.insert(urn.clone(), value);
        Ok(())
    }

    async fn splat(
        &self,
        receiver: &Expr,
        steps: &[Step],
        span: Span,
        scope: &Scope<'_>,
    ) -> Result<Val, Stop> {
        let mut lifted = Lifted::default();
        let value = lifted.strip_outer(&self.eval(receiver, scope).await?);
        if lifted.unknown {
            return Ok(lifted.wrap(Val::Null));
        }
        let items = match &value {
            Val::Null => &[][..],
            Val::List(items) => items.as_slice(),
            // A single value is treated as a list of one element.
            other => std::slice::from_ref(other),
        };
        let mut results = Vec::with_capacity(items.len());
        for item in items {
            results.push(self.follow(item.clone(), steps, span, scope).await?);
        }
        Ok(lifted.wrap(Val::list(results)))
    }

    async fn for_each(&self, it: &For, scope: &Scope<'_>) -> Result<Val, Stop> {
        let mut lifted = Lifted::default();
        let collection = lifted.strip_outer(&self.eval(&it.collection, scope).await?);
        if lifted.unknown {
            return Ok(lifted.wrap(Val::Null));
        }
        let Some(entries) = operations::entries(&collection) else {
            let summary = format!(
                "for goes through a list or a map, not {}",
                collection.kind()
            );
            return problem(it.collection.span, summary);
        };
        let mut list = Vec::new();
        let mut object = BTreeMap::new();
        for (key, value) in entries {
            let mut variables = vec![(it.value.clone(), value)];
            variables.extend(it.key.clone().map(|name| (name, key)));
            let inner = scope.within(&variables);
            if let Some(condition) = &it.condition {
                let value = lifted.strip(&self.eval(condition, &inner).await?);
                if lifted.unknown {
                    return Ok(lifted.wrap(Val::Null));
                }
                if !operations::truth(&value, condition.span)? {
                    continue;
                }
            }
            let result = self.eval(&it.result, &inner).await?;
            let Some(result_key) = &it.result_key else {
                list.push(result);
                continue;
            };
            let name = lifted.strip(&self.eval(result_key, &inner).await?);
            match operations::text(&name) {
                Some(name) => {
                    object.insert(name, result);
                }
                None if lifted.unknown => return Ok(lifted.wrap(Val::Null)),
                None => return problem(result_key.span, "the key of an object must be text"),
            }
        }
        Ok(lifted.wrap(match it.result_key {
            Some(_) => Val::Object(Arc::new(object)),
            None => Val::list(list),
        }))
    }

    async fn conditional(&self, it: &[Expr; 3], scope: &Scope<'_>) -> Result<Val, Stop> {
        let [condition, yes, no] = it;
        let mut lifted = Lifted::default();
        let value = lifted.strip(&self.eval(condition, scope).await?);
        if lifted.unknown {
            return Ok(lifted.wrap(Val::Null));
        }
        let chosen = if operations::truth(&value, condition.span)? {
            yes
        } else {
            no
        };
        Ok(lifted.wrap(self.eval(chosen, scope).await?))
    }
}

fn accessor(index: &Val, span: Span) -> Result<Accessor, Stop> {
    match index {
        Val::String(name) => Ok(Accessor::Name(name.clone())),
        #[allow(clippy::cast_sign_loss)] // it is not negative
        Val::Number(number) if *number >= 0.0 && number.fract() == 0.0 => {
            Ok(Accessor::Index(*number as usize))
        }
        Val::Number(_) => problem(span, "an index is a whole number that is not negative"),
        other => problem(span, format!("{} is no index", other.kind())),
    }
}

/// Resource of a reference, after it was registered.
async fn wait_for(context: &Context<'_>, reference: &Reference) -> Result<Val, Stop> {
    let request = AwaitRequest {
        snippet: context.snippet.clone(),
        urn: reference.urn.clone(),
    };
    match context.monitor.request(Request::Await(request)).await {
        Reply::Awaited(reply) => {
            let id = match reply.id {
                ResourceId::None if reply.custom => ResourceId::Unknown,
                id => id,
            };
            Ok(Val::Resource(Arc::new(ResourceVal {
                type_token: reply.urn.type_text().into(),
                name: reply.urn.name().into(),
                urn: reply.urn,
                id,
                custom: reply.custom,
                outputs: reply.outputs,
                partial: context.info.dry_run || reply.unknown,
                providers: Providers::default(),
            })))
        }
        Reply::Failed(error) if error.kind == RequestErrorKind::Unavailable => Err(Stop::Over),
        Reply::Failed(error) => {
            let summary = format!("could not resolve reference '{}'", reference.name);
            let diagnostic = Diagnostic::error(Span::default(), format!("{summary}: {error}"));
            Err(Diagnostic {
                span: None,
                ..diagnostic
            }
            .into())
        }
        _ => Err(mismatched(Span::default())),
    }
}
