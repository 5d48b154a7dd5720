//! Lists.

use plumb::Value;
use plumb::provider::decode;
use tonic::Status;

use super::{Answer, Service, guarded, status};
use crate::list::{List, Listed};
use crate::protocol as pb;
use crate::protocol::list_response::{Computed, Continuation, Response, Result as Found};
use crate::schema::{add_defaults, validate};

impl Service {
    /// The messages of the answer, in their order.
    pub(crate) async fn list(&self, request: pb::ListRequest) -> Answer<Vec<pb::ListResponse>> {
        let spec = self.resource_spec(&request.token)?;
        let provider = self.provider_of(&request.token);
        let resource = provider.resources.get(&provider.package.full(&spec.token));
        let (Some(properties), Some(resource)) = (&spec.query, resource) else {
            return Err(Status::unimplemented(format!(
                "the provider cannot list `{}`",
                spec.token
            )));
        };
        let mut query = decode(request.query).map_err(|error| status(&error))?;
        if query.values().any(Value::contains_unknown) {
            return Ok(vec![message(Response::Computed(Computed {}))]);
        }
        let types = &provider.package.types;
        add_defaults(types, properties, &mut query, self.environment);
        let failures = validate(types, properties, &query);
        if let Some(failure) = failures.first() {
            return Err(Status::invalid_argument(format!(
                "{}: {}",
                failure.property, failure.reason
            )));
        }
        let list = List {
            query,
            limit: positive(request.limit),
            page_size: positive(request.page_size),
            after: (!request.continuation_token.is_empty()).then_some(request.continuation_token),
        };
        let limit = list.limit;
        let cx = self.cx();
        let listed = guarded(resource.list(&cx, list)).await?;
        Ok(messages(listed, limit))
    }
}

fn positive(number: i64) -> Option<usize> {
    usize::try_from(number).ok().filter(|it| *it > 0)
}

fn messages(listed: Listed, limit: Option<usize>) -> Vec<pb::ListResponse> {
    let resources = listed.resources.into_iter();
    let resources = resources.take(limit.unwrap_or(usize::MAX));
    let found = resources.map(|(id, name)| message(Response::Result(Found { id, name })));
    let next = listed.next.map(|continuation_token| {
        message(Response::Continuation(Continuation { continuation_token }))
    });
    found.chain(next).collect()
}

fn message(response: Response) -> pb::ListResponse {
    pb::ListResponse {
        response: Some(response),
    }
}
