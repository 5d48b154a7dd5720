//! Checks of lists of existing objects.

use std::collections::BTreeSet;
use std::sync::Arc;

use ecow::EcoString;
use plumb_resource::TypeToken;
use plumb_resource::provider::{ListRequest, ListResponse, ListedObject, ProviderError};
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
    match problem(target, token, &Arc::new(query)).await {
        Ok(problem) => {
            findings.judge(Rule::List, problem);
        }
        Err(error) if may_fail => findings.skip(Rule::List, error.message.as_str()),
        Err(error) => {
            findings.judge(Rule::List, Some(format!("List failed: {}", error.message)));
        }
    }
}

/// Whether an object is on one of the first pages; `None` if there are more pages than those.
pub(crate) async fn finds(
    target: Target<'_>,
    token: &str,
    id: &str,
) -> Result<Option<bool>, ProviderError> {
    let listed = pages(target, token, &Arc::default()).await?;
    let is_there = listed.items.iter().any(|it| it.id == id);
    let is_known = is_there || listed.end == End::Last;
    Ok(is_known.then_some(is_there))
}

async fn problem(
    target: Target<'_>,
    token: &str,
    query: &Arc<PropertyMap>,
) -> Result<Option<String>, ProviderError> {
    let listed = pages(target, token, query).await?;
    if listed.end == End::Itself {
        return Ok(Some("a page of List continues with itself".to_owned()));
    }
    let mut ids = BTreeSet::new();
    for item in &listed.items {
        if item.id.is_empty() {
            return Ok(Some("List answers an object without an id".to_owned()));
        }
        if !ids.insert(&item.id) {
            return Ok(Some(format!("List answers the id {} twice", item.id)));
        }
    }
    let one = page(target, token, query, 1, EcoString::new()).await?;
    let text = || format!("List with a limit of 1 answers {} objects", one.items.len());
    Ok((one.items.len() > 1).then(text))
}

/// The objects of the first pages.
struct Pages {
    items: Vec<ListedObject>,
    end: End,
}

/// The page that follows the last one looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// There is none.
    Last,
    /// There are more.
    More,
    /// The page is the same as the one before.
    Itself,
}

async fn pages(
    target: Target<'_>,
    token: &str,
    query: &Arc<PropertyMap>,
) -> Result<Pages, ProviderError> {
    let (mut items, mut continuation) = (Vec::new(), EcoString::new());
    for _ in 0..PAGES {
        let page = page(target, token, query, 0, continuation.clone()).await?;
        items.extend(page.items);
        let end = match page.continuation {
            next if next.is_empty() => End::Last,
            next if next == continuation => End::Itself,
            next => {
                continuation = next;
                continue;
            }
        };
        return Ok(Pages { items, end });
    }
    let end = End::More;
    Ok(Pages { items, end })
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
