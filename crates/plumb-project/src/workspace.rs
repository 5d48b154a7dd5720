//! The workspace file of a project, `credentials.json` and `config.json` (`state.md` 4).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};
use sha1::{Digest, Sha1};

/// Time for accounts that have never been validated.
pub const NEVER: &str = "0001-01-01T00:00:00Z";

/// Error for an unusable file.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    /// The file is not valid JSON, or has an unexpected structure.
    #[error("the file is not valid")]
    Json(#[from] serde_json::Error),
    /// `credentials.json` is encrypted.
    #[error(
        "the credentials are encrypted (store `{store}`), which this version cannot read; \
         set PULUMI_CREDENTIAL_STORE=plaintext and log in again"
    )]
    Encrypted {
        /// Store that contains the key.
        store: String,
    },
}

/// Selected stack of a project, per backend.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct WorkspaceFile {
    /// Selected stack in old files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stack: Option<String>,
    /// Qualified stack names, by backend URL.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub stacks: BTreeMap<String, String>,
    /// Unknown members, written by other versions.
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

    /// Parses the file.
    pub fn parse(text: &str) -> Result<Self, WorkspaceError> {
        Ok(serde_json::from_str(text)?)
    }

    /// Text of the file; `None` if nothing remains and the file must be deleted.
    pub fn to_text(&self) -> Option<String> {
        let empty = self.stack.is_none() && self.stacks.is_empty() && self.other.is_empty();
        (!empty).then(|| pretty(self))
    }

    /// Selected stack for a backend.
    pub fn selected(&self, backend_url: &str) -> Option<&str> {
        self.stacks
            .get(backend_url)
            .or(self.stack.as_ref())
            .map(String::as_str)
    }

    /// Selects a stack for a backend; `None` clears the selection.
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
    /// URL of the current backend.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub current: String,
    /// Access tokens, by backend URL.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub access_tokens: BTreeMap<String, String>,
    /// Accounts, by backend URL.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub accounts: BTreeMap<String, Account>,
    /// Unknown members, written by other versions.
    #[serde(flatten)]
    pub other: Map<String, Json>,
}

/// An account on a backend.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Account {
    /// Access token.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub access_token: String,
    /// Refresh token, which is exchanged for new access tokens.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub refresh_token: String,
    /// User name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub username: String,
    /// Organizations of the user.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub organizations: Vec<String>,
    /// Time when the server last accepted the token; [`NEVER`] if it never did.
    #[serde(default = "never")]
    pub last_validated_at: String,
    /// Whether TLS certificates are not verified.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub insecure: bool,
    /// Kind of the token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_information: Option<TokenInformation>,
    /// Unknown members, written by other versions.
    #[serde(flatten)]
    pub other: Map<String, Json>,
}

/// Kind of an account's token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TokenInformation {
    /// Name.
    pub name: String,
    /// Organization, for organization tokens.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub organization: String,
    /// Team, for team tokens.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub team: String,
    /// Expiry, in Unix seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<i64>,
}

fn never() -> String {
    NEVER.to_owned()
}

impl Account {
    /// An account without a token, for file-based backends.
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
    /// Parses the file. An encrypted file is an error.
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

    /// Text of the file; `None` if no access tokens remain and the file must be deleted.
    pub fn to_text(&self) -> Option<String> {
        (!self.access_tokens.is_empty()).then(|| pretty(self))
    }

    /// Logs in to a file-based backend.
    pub fn login_without_token(&mut self, url: &str) {
        url.clone_into(&mut self.current);
        self.access_tokens.insert(url.to_owned(), String::new());
        self.accounts
            .insert(url.to_owned(), Account::without_token());
    }

    /// Logs out of a backend.
    pub fn logout(&mut self, url: &str) {
        self.access_tokens.remove(url);
        self.accounts.remove(url);
        if self.current == url {
            self.current.clear();
        }
    }
}

/// `config.json` in the home folder.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct HomeConfig {
    /// Settings, by backend URL.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub backends: BTreeMap<String, BackendSettings>,
    /// Unknown members, written by other versions.
    #[serde(flatten)]
    pub other: Map<String, Json>,
}

/// Settings of a backend.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BackendSettings {
    /// Default organization.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_org: Option<String>,
    /// Unknown members, written by other versions.
    #[serde(flatten)]
    pub other: Map<String, Json>,
}

impl HomeConfig {
    /// Parses the file.
    pub fn parse(text: &str) -> Result<Self, WorkspaceError> {
        Ok(serde_json::from_str(text)?)
    }

    /// Text of the file.
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
