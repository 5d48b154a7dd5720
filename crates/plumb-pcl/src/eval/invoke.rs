//! Calls of provider functions.

use std::sync::Arc;

use plumb_deploy::request::{InvokeFunctionRequest, PackageRequest, Reply, Request};
use plumb_eval::answers;
use plumb_eval::convert::{self, Form};
use plumb_eval::lift::Lifted;
use plumb_eval::source::Span;
use plumb_eval::value::{Deps, Val};
use plumb_value::PropertyMap;

use super::{Evaluator, Scope, Stop, mismatched, problem, refused};
use crate::expression::Invoke;
use crate::packages::package_of;

impl Evaluator<'_> {
    pub(super) async fn invoke(
        &self,
        invoke: &Invoke,
        span: Span,
        scope: &Scope<'_>,
    ) -> Result<Val, Stop> {
        let mut lifted = Lifted::default();
        let args = match &invoke.args {
            None => PropertyMap::new(),
            Some(expr) => match lifted.strip(&self.eval(expr, scope).await?) {
                Val::Object(entries) => convert::to_map(&entries, Form::Plain),
                Val::Null => PropertyMap::new(),
                other => {
                    let summary = format!("arguments are an object, not {}", other.kind());
                    return problem(expr.span, summary);
                }
            },
        };
        let mut request = InvokeFunctionRequest {
            token: invoke.token.clone(),
            args: Arc::new(args),
            provider: ecow::EcoString::new(),
            package: self.package_of_invoke(invoke),
            parent: None,
            depends_on: Vec::new(),
        };
        if let Some(expr) = &invoke.depends_on {
            for resource in self.resources(expr, scope).await? {
                lifted.deps.merge(&Deps::one(resource.urn.clone()));
                lifted.any = true;
            }
        }
        if let Some(expr) = &invoke.provider {
            request.provider = self.provider(expr, scope).await?.provider_ref();
        }
        if let Some(expr) = &invoke.parent {
            request.parent = Some(self.resource(expr, scope).await?.urn.clone());
        }
        if lifted.unknown {
            return Ok(lifted.wrap(Val::Null));
        }
        let reply = match self
            .context
            .monitor
            .request(Request::Invoke(Box::new(request)))
            .await
        {
            Reply::Invoked(reply) => reply,
            Reply::Failed(error) => return Err(refused(span, &error)),
            _ => return Err(mismatched(span)),
        };
        if !reply.failures.is_empty() {
            return problem(span, answers::failures(&invoke.token, &reply.failures));
        }
        lifted.any = true;
        lifted.unknown |= reply.unknown;
        lifted.secret |= reply.result.contains_secrets();
        let result = reply.result.without_secrets();
        Ok(lifted.wrap(result_of(invoke, &result)))
    }

    fn package_of_invoke(&self, invoke: &Invoke) -> PackageRequest {
        if !invoke.version.is_empty() || !invoke.download_url.is_empty() {
            return PackageRequest {
                version: invoke.version.clone(),
                download_url: invoke.download_url.clone(),
                ..PackageRequest::default()
            };
        }
        if package_of(&invoke.token) == self.context.package_name {
            return self.context.package.clone();
        }
        PackageRequest::default()
    }
}

/// Value of a call; a function that does not return an object has its value in the only property of the result.
fn result_of(invoke: &Invoke, result: &PropertyMap) -> Val {
    if invoke.returns_value {
        let only = result.values().next();
        return only.map_or(Val::Null, convert::from_value);
    }
    convert::from_map(result)
}
