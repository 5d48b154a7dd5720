//! Addresses of keys: `scheme://host/path?name=value`.

use plumb_secrets::KeyError;
use url::Url;

/// A parsed address. Parameters are taken one by one; [`Address::finish`] rejects the rest.
pub(crate) struct Address {
    text: String,
    url: Url,
    parameters: Vec<(String, String)>,
}

impl Address {
    pub(crate) fn parse(text: &str) -> Result<Self, KeyError> {
        let invalid = |problem: &str| KeyError::Address {
            // A password is not allowed here, and must not be repeated in the error.
            url: text.split('@').next_back().unwrap_or_default().to_owned(),
            problem: problem.to_owned(),
        };
        let url = Url::parse(text).map_err(|error| invalid(&error.to_string()))?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(invalid("an address holds no credentials"));
        }
        if url.fragment().is_some() {
            return Err(invalid("an address has no part behind `#`"));
        }
        Ok(Address {
            text: text.to_owned(),
            parameters: url.query_pairs().into_owned().collect(),
            url,
        })
    }

    pub(crate) fn scheme(&self) -> &str {
        self.url.scheme()
    }

    /// Host and port.
    pub(crate) fn host(&self) -> String {
        let host = self.url.host_str().unwrap_or_default();
        match self.url.port() {
            Some(port) => format!("{host}:{port}"),
            None => host.to_owned(),
        }
    }

    /// The path without slashes at its ends.
    pub(crate) fn path(&self) -> &str {
        self.url.path().trim_matches('/')
    }

    /// Host and path as one name: `alias/name`, `projects/p/…`; only the path if there is no host.
    pub(crate) fn name(&self) -> Result<String, KeyError> {
        let name = format!("{}/{}", self.host(), self.path());
        let name = name.trim_matches('/');
        if name.is_empty() {
            return Err(self.invalid("it names no key"));
        }
        Ok(name.to_owned())
    }

    /// Takes a parameter; the first one of that name counts. An empty value counts as absent.
    pub(crate) fn take(&mut self, name: &str) -> Option<String> {
        let mut found = self.take_all(|other| other == name).into_iter();
        found
            .next()
            .map(|(_, value)| value)
            .filter(|it| !it.is_empty())
    }

    /// Takes the parameters for whose names `is_wanted` holds.
    pub(crate) fn take_all(&mut self, is_wanted: impl Fn(&str) -> bool) -> Vec<(String, String)> {
        let all = std::mem::take(&mut self.parameters);
        let (taken, rest) = all.into_iter().partition(|(name, _)| is_wanted(name));
        self.parameters = rest;
        taken
    }

    /// Takes a boolean parameter, in the spellings of Go.
    pub(crate) fn take_switch(&mut self, name: &str) -> Result<bool, KeyError> {
        match self.take(name).as_deref() {
            None | Some("0" | "f" | "F" | "false" | "FALSE" | "False") => Ok(false),
            Some("1" | "t" | "T" | "true" | "TRUE" | "True") => Ok(true),
            Some(_) => Err(self.invalid(format!("`{name}` is neither `true` nor `false`"))),
        }
    }

    /// Rejects the remaining parameters, because a misspelt setting must not be ignored.
    pub(crate) fn finish(&self) -> Result<(), KeyError> {
        match self.parameters.first() {
            None => Ok(()),
            Some((name, _)) => Err(self.invalid(format!("unknown query parameter `{name}`"))),
        }
    }

    pub(crate) fn invalid(&self, problem: impl Into<String>) -> KeyError {
        KeyError::Address {
            url: self.text.clone(),
            problem: problem.into(),
        }
    }
}
