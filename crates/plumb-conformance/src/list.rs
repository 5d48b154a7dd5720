//! Checks of lists of existing objects.

use std::collections::BTreeSet;
use std::sync::Arc;

use ecow::EcoString;
use plumb_resource::TypeToken;
use plumb_resource::provider::{ListRequest, ListResponse, ProviderError};
use plumb_schema::Properties;
use plumb_value::PropertyMap;

use crate::finding::{Findings, Rule};
use crate::{Target, sample};

/// Pages that are looked at: there may be very many objects.
const PAGES: usize = 5;

/// Lists the objects of a type, whose arguments are `query` in the schema.
pub(crate) async fn check(
    target: Target<'_>,
    token: &str,
    query: &Properties,
    findings: &mut Findings,
) {
    let given = target
        .options
        .inputs
        .get(token)
        .and_then(|it| it.list.clone());
    // Arguments that are made up need not make sense, and a check that creates nothing may have no service to look at.
    let may_fail =
        (given.is_none() && query.values().any(|it| it.required)) || !target.options.create;
    let query = given.unwrap_or_else(|| sample::required(target.schema, query));
    match pages(target, token, &Arc::new(query)).await {
        Ok(problem) => {
            findings.judge(Rule::List, problem);
        }
        Err(error) if may_fail => findings.skip(Rule::List, error.message.as_str()),
        Err(error) => {
            findings.judge(Rule::List, Some(format!("List failed: {}", error.message)));
        }
    }
}

/// Whether an object is on one of the first pages; `None` if nobody can tell.
pub(crate) async fn finds(
    target: Target<'_>,
    token: &str,
    id: &str,
) -> Result<Option<bool>, ProviderError> {
    let mut continuation = EcoString::new();
    for _ in 0..PAGES {
        let page = page(target, token, &Arc::default(), 0, continuation).await?;
        if page.items.iter().any(|it| it.id == id) {
            return Ok(Some(true));
        }
        if page.continuation.is_empty() {
            return Ok(Some(false));
        }
        continuation = page.continuation;
    }
    Ok(None)
}

async fn pages(
    target: Target<'_>,
    token: &str,
    query: &Arc<PropertyMap>,
) -> Result<Option<String>, ProviderError> {
    let mut ids = BTreeSet::new();
    let mut continuation = EcoString::new();
    for _ in 0..PAGES {
        let page = page(target, token, query, 0, continuation.clone()).await?;
        if let Some(problem) = page.items.iter().find_map(|item| {
            if item.id.is_empty() {
                Some("List answers an object without an id".to_owned())
            } else {
                let is_new = ids.insert(item.id.clone());
                (!is_new).then(|| format!("List answers the id {} twice", item.id))
            }
        }) {
            return Ok(Some(problem));
        }
        if page.continuation.is_empty() {
            break;
        }
        if page.continuation == continuation {
            return Ok(Some("a page of List continues with itself".to_owned()));
        }
        continuation = page.continuation;
    }
    let one = page(target, token, query, 1, EcoString::new()).await?;
    let text = || format!("List with a limit of 1 answers {} objects", one.items.len());
    Ok((one.items.len() > 1).then(text))
}

async fn page(
    target: Target<'_>,
    token: &str,
    query: &Arc<PropertyMap>,
    limit: u64,
    continuation: EcoString,
) -> Result<ListResponse, ProviderError> {
    let request = ListRequest {
        token: TypeToken::new(token),
        query: query.clone(),
        limit,
        continuation,
    };
    target.provider.list(request).await
}
