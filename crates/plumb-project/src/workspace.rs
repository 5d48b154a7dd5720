//! The workspace file of a project, `credentials.json` and `config.json` (`state.md` 4).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};
use sha1::{Digest, Sha1};

/// When an account was never validated.
pub const NEVER: &str = "0001-01-01T00:00:00Z";

/// The text of one of these files cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    /// Not JSON, or not the expected shape.
    #[error("the file is not valid")]
    Json(#[from] serde_json::Error),
    /// `credentials.json` is encrypted.
    #[error(
        "the credentials are encrypted (store `{store}`), which this version cannot read; \
         set PULUMI_CREDENTIAL_STORE=plaintext and log in again"
    )]
    Encrypted {
        /// Which store holds the key.
        store: String,
    },
}

/// Which stack is selected in a project, per backend.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct WorkspaceFile {
    /// The selected stack in old files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stack: Option<String>,
    /// Fully qualified stack names by backend address.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub stacks: BTreeMap<String, String>,
    /// Members of other versions.
    #[serde(flatten)]
    pub other: Map<String, Json>,
}

impl WorkspaceFile {
    /// Path of the file below the home folder; `project_path` is the absolute path of the project file.
    pub fn path(project: &str, project_path: &str) -> String {
        let digest = hex::encode(Sha1::digest(project_path.as_bytes()));
        let project = project.replace('/', "-");
        format!("workspaces/{project}-{digest}-workspace.json")
    }

    /// Reads the text.
    pub fn parse(text: &str) -> Result<Self, WorkspaceError> {
        Ok(serde_json::from_str(text)?)
    }

    /// The text to write; `None` when there is nothing left and the file must go.
    pub fn to_text(&self) -> Option<String> {
        let empty = self.stack.is_none() && self.stacks.is_empty() && self.other.is_empty();
        (!empty).then(|| pretty(self))
    }

    /// The stack selected for a backend.
    pub fn selected(&self, backend_url: &str) -> Option<&str> {
        self.stacks
            .get(backend_url)
            .or(self.stack.as_ref())
            .map(String::as_str)
    }

    /// Selects a stack for a backend, or none.
    pub fn select(&mut self, backend_url: &str, stack: Option<&str>) {
        self.stack = None;
        match stack {
            Some(stack) => self.stacks.insert(backend_url.to_owned(), stack.to_owned()),
            None => self.stacks.remove(backend_url),
        };
    }
}

/// `credentials.json`.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Credentials {
    /// Address of the backend that is logged in to.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub current: String,
    /// Access tokens by backend address.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub access_tokens: BTreeMap<String, String>,
    /// Accounts by backend address.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub accounts: BTreeMap<String, Account>,
    /// Members of other versions.
    #[serde(flatten)]
    pub other: Map<String, Json>,
}

/// What is known of a login.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Account {
    /// The token.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub access_token: String,
    /// The token that gets new tokens.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub refresh_token: String,
    /// Who that is.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub username: String,
    /// Organizations of the user.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub organizations: Vec<String>,
    /// When the server last accepted the token; [`NEVER`] when it never did.
    #[serde(default = "never")]
    pub last_validated_at: String,
    /// Whether TLS certificates are not checked.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub insecure: bool,
    /// What kind of token it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_information: Option<TokenInformation>,
    /// Members of other versions.
    #[serde(flatten)]
    pub other: Map<String, Json>,
}

/// What kind of token an account has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TokenInformation {
    /// Its name.
    pub name: String,
    /// For tokens of organizations.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub organization: String,
    /// For tokens of teams.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub team: String,
    /// When it ends, in Unix seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<i64>,
}

fn never() -> String {
    NEVER.to_owned()
}

impl Account {
    /// An account without a token, as logins to file-like backends have it.
    pub fn without_token() -> Self {
        Account {
            access_token: String::new(),
            refresh_token: String::new(),
            username: String::new(),
            organizations: Vec::new(),
            last_validated_at: never(),
            insecure: false,
            token_information: None,
            other: Map::new(),
        }
    }
}

impl Credentials {
    /// Reads the text. An encrypted file is an error, whatever its version.
    pub fn parse(text: &str) -> Result<Self, WorkspaceError> {
        let json: Json = serde_json::from_str(text)?;
        if json.get("$pulumiSecureStore").is_some() {
            let store = json
                .get("backend")
                .and_then(Json::as_str)
                .unwrap_or("unknown")
                .to_owned();
            return Err(WorkspaceError::Encrypted { store });
        }
        Ok(serde_json::from_value(json)?)
    }

    /// The text to write; `None` when no access tokens remain and the file must go.
    pub fn to_text(&self) -> Option<String> {
        (!self.access_tokens.is_empty()).then(|| pretty(self))
    }

    /// Logs in to a file-like backend.
    pub fn login_without_token(&mut self, url: &str) {
        url.clone_into(&mut self.current);
        self.access_tokens.insert(url.to_owned(), String::new());
        self.accounts
            .insert(url.to_owned(), Account::without_token());
    }

    /// Logs out of one backend.
    pub fn logout(&mut self, url: &str) {
        self.access_tokens.remove(url);
        self.accounts.remove(url);
        if self.current == url {
            self.current.clear();
        }
    }
}

/// `config.json` of the home folder.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct HomeConfig {
    /// Settings by backend address.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub backends: BTreeMap<String, BackendSettings>,
    /// Members of other versions.
    #[serde(flatten)]
    pub other: Map<String, Json>,
}

/// Settings for one backend.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BackendSettings {
    /// The organization used when none is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_org: Option<String>,
    /// Members of other versions.
    #[serde(flatten)]
    pub other: Map<String, Json>,
}

impl HomeConfig {
    /// Reads the text.
    pub fn parse(text: &str) -> Result<Self, WorkspaceError> {
        Ok(serde_json::from_str(text)?)
    }

    /// The text to write.
    pub fn to_text(&self) -> String {
        pretty(self)
    }
}

fn pretty<T: Serialize>(value: &T) -> String {
    let mut out = Vec::new();
    let formatter = serde_json::ser::PrettyFormatter::with_indent(b"    ");
    let mut serializer = serde_json::Serializer::with_formatter(&mut out, formatter);
    value
        .serialize(&mut serializer)
        .expect("these types have only text keys and are written to memory");
    String::from_utf8(out).expect("JSON is UTF-8")
}
