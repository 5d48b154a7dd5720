//! Comments and issues on GitHub and GitLab.
//!
//! One text has one place: it is found again by its first line, and replaced. Redirects are not followed, because the token must
//! not reach another server.

use std::time::Duration;

use plumb_operate::error::chain;
use plumb_operate::{Environment, Error};
use reqwest::{Client, Method, RequestBuilder, StatusCode, redirect};
use serde_json::{Value as Json, json};

const CONNECT_LIMIT: Duration = Duration::from_secs(15);
const ANSWER_LIMIT: Duration = Duration::from_mins(1);
const ATTEMPTS: u32 = 4;
const FIRST_DELAY: Duration = Duration::from_millis(200);
/// Number of elements on a page of a list.
const PAGE: usize = 100;
/// Maximum number of pages that are searched.
const MOST_PAGES: usize = 50;

/// Kind of server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ForgeKind {
    GitHub,
    GitLab,
}

/// A place for a text.
#[derive(Clone, Copy)]
pub(super) enum Place<'a> {
    /// A comment on the pull or merge request with this number.
    CommentOn(&'a str),
    /// An open issue.
    Issue { title: &'a str },
}

/// API of a repository.
pub(super) struct Forge {
    kind: ForgeKind,
    client: Client,
    /// Address of the repository.
    base: String,
    token: String,
}

impl Forge {
    /// The repository of the pipeline, with the token that the pipeline has.
    pub(super) fn of(kind: ForgeKind, environment: &Environment) -> Result<Self, Error> {
        let (variables, names) = match kind {
            ForgeKind::GitHub => (["GITHUB_TOKEN", "GH_TOKEN"].as_slice(), "GITHUB_TOKEN"),
            ForgeKind::GitLab => (["GITLAB_TOKEN"].as_slice(), "GITLAB_TOKEN"),
        };
        let token = variables.iter().find_map(|it| environment.non_empty(it));
        let Some(token) = token else {
            return Err(Error::user(format!(
                "nothing was written for the change, because there is no token: set {names}, or pass --comment=false"
            )));
        };
        let client = Client::builder()
            .user_agent(format!("plumb/{}", env!("CARGO_PKG_VERSION")))
            .connect_timeout(CONNECT_LIMIT)
            .timeout(ANSWER_LIMIT)
            .redirect(redirect::Policy::none())
            .build()?;
        Ok(Forge {
            kind,
            client,
            base: base(kind, environment)?,
            token: token.to_owned(),
        })
    }

    /// Writes a text whose first line is `mark`, in place of the former text with that line.
    pub(super) async fn put(&self, place: Place<'_>, mark: &str, text: &str) -> Result<(), Error> {
        let list = self.list(place);
        let field = self.text_field(place);
        if let Some(id) = self.find(place, mark).await? {
            let method = self.update();
            let body = json!({ field: text });
            self.send(method, &self.element(place, id), Some(&body))
                .await?;
            return Ok(());
        }
        let body = match place {
            Place::CommentOn(_) => json!({ field: text }),
            Place::Issue { title } => json!({ "title": title, field: text }),
        };
        self.send(Method::POST, &list, Some(&body)).await?;
        Ok(())
    }

    /// Closes the issue whose text begins with `mark`, if it is open.
    pub(super) async fn close(&self, place: Place<'_>, mark: &str) -> Result<(), Error> {
        let Some(id) = self.find(place, mark).await? else {
            return Ok(());
        };
        let body = match self.kind {
            ForgeKind::GitHub => json!({ "state": "closed" }),
            ForgeKind::GitLab => json!({ "state_event": "close" }),
        };
        self.send(self.update(), &self.element(place, id), Some(&body))
            .await?;
        Ok(())
    }

    /// Number of the text that begins with `mark`.
    async fn find(&self, place: Place<'_>, mark: &str) -> Result<Option<u64>, Error> {
        let list = self.list(place);
        let state = match (place, self.kind) {
            (Place::CommentOn(_), _) => "",
            (Place::Issue { .. }, ForgeKind::GitHub) => "state=open&",
            (Place::Issue { .. }, ForgeKind::GitLab) => "state=opened&",
        };
        let field = self.text_field(place);
        for page in 1..=MOST_PAGES {
            let address = format!("{list}?{state}per_page={PAGE}&page={page}");
            let answer = self.send(Method::GET, &address, None).await?;
            let elements = answer.as_array().map(Vec::as_slice).unwrap_or_default();
            let has_mark = |it: &&Json| {
                let is_ours = it[field]
                    .as_str()
                    .is_some_and(|text| text.starts_with(mark));
                // GitHub lists pull requests among issues.
                is_ours && it.get("pull_request").is_none()
            };
            if let Some(found) = elements.iter().find(has_mark) {
                return Ok(found[self.number_field(place)].as_u64());
            }
            if elements.len() < PAGE {
                break;
            }
        }
        Ok(None)
    }

    /// Address of the list that a place is in.
    fn list(&self, place: Place<'_>) -> String {
        let base = &self.base;
        match (place, self.kind) {
            (Place::CommentOn(change), ForgeKind::GitHub) => {
                format!("{base}/issues/{change}/comments")
            }
            (Place::CommentOn(change), ForgeKind::GitLab) => {
                format!("{base}/merge_requests/{change}/notes")
            }
            (Place::Issue { .. }, _) => format!("{base}/issues"),
        }
    }

    fn element(&self, place: Place<'_>, id: u64) -> String {
        match (place, self.kind) {
            (Place::CommentOn(_), ForgeKind::GitHub) => {
                format!("{}/issues/comments/{id}", self.base)
            }
            _ => format!("{}/{id}", self.list(place)),
        }
    }

    fn update(&self) -> Method {
        match self.kind {
            ForgeKind::GitHub => Method::PATCH,
            ForgeKind::GitLab => Method::PUT,
        }
    }

    fn text_field(&self, place: Place<'_>) -> &'static str {
        match (place, self.kind) {
            (Place::Issue { .. }, ForgeKind::GitLab) => "description",
            _ => "body",
        }
    }

    fn number_field(&self, place: Place<'_>) -> &'static str {
        match (place, self.kind) {
            (Place::CommentOn(_), _) => "id",
            (Place::Issue { .. }, ForgeKind::GitHub) => "number",
            (Place::Issue { .. }, ForgeKind::GitLab) => "iid",
        }
    }

    /// Sends a request, again after a pause if the server is busy.
    async fn send(
        &self,
        method: Method,
        address: &str,
        body: Option<&Json>,
    ) -> Result<Json, Error> {
        let (mut attempt, mut delay) = (1, FIRST_DELAY);
        loop {
            let answer = self.request(method.clone(), address, body).send().await;
            let broken = |error: reqwest::Error| self.failure(&chain(&error.without_url()));
            let answer = answer.map_err(broken)?;
            let status = answer.status();
            if status.is_success() {
                return answer.json().await.map_err(broken);
            }
            if !is_passing(status) || attempt == ATTEMPTS {
                return Err(self.refused(status));
            }
            tokio::time::sleep(delay).await;
            delay *= 3;
            attempt += 1;
        }
    }

    fn request(&self, method: Method, address: &str, body: Option<&Json>) -> RequestBuilder {
        let request = self.client.request(method, address);
        let request = match self.kind {
            ForgeKind::GitHub => request
                .bearer_auth(&self.token)
                .header("Accept", "application/vnd.github+json")
                .header("X-GitHub-Api-Version", "2022-11-28"),
            ForgeKind::GitLab => request.header("PRIVATE-TOKEN", &self.token),
        };
        match body {
            Some(body) => request.json(body),
            None => request,
        }
    }

    fn name(&self) -> &'static str {
        match self.kind {
            ForgeKind::GitHub => "GitHub",
            ForgeKind::GitLab => "GitLab",
        }
    }

    fn failure(&self, why: &str) -> Error {
        Error::user(format!(
            "the report could not be written to {}: {why}",
            self.name()
        ))
    }

    /// Error for an answer that is no success, with what to grant.
    fn refused(&self, status: StatusCode) -> Error {
        let error = self.failure(&format!("it answered {status}"));
        if !matches!(status.as_u16(), 401 | 403 | 404) {
            return error;
        }
        error.hint(match self.kind {
            ForgeKind::GitHub => {
                "the token needs the permissions `pull-requests: write` for comments and `issues: write` for issues; pull requests \
                 from forks have no token that may write"
            }
            ForgeKind::GitLab => {
                "GITLAB_TOKEN needs the scope `api` and a role that may write comments; the token of the job may not"
            }
        })
    }
}

fn is_passing(status: StatusCode) -> bool {
    matches!(status.as_u16(), 429 | 500 | 502 | 503 | 504)
}

/// Address of the repository in the API.
fn base(kind: ForgeKind, environment: &Environment) -> Result<String, Error> {
    let (api, collection, repository) = match kind {
        ForgeKind::GitHub => ("GITHUB_API_URL", "repos", "GITHUB_REPOSITORY"),
        ForgeKind::GitLab => ("CI_API_V4_URL", "projects", "CI_PROJECT_ID"),
    };
    let variable = |name| {
        environment.non_empty(name).ok_or_else(|| {
            Error::user(format!(
                "nothing was written for the change, because {name} is not set"
            ))
        })
    };
    let (server, repository) = (variable(api)?, variable(repository)?);
    Ok(format!(
        "{}/{collection}/{repository}",
        server.trim_end_matches('/')
    ))
}
