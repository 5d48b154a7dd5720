//! Addresses of plugins in source repositories (`protocol.md` 14.1).

use semver::Version;

use super::parse_tolerant;

/// Schemes that are accepted before the host. All repositories are fetched over https.
const SCHEMES: [&str; 2] = ["git://", "https://"];

/// A folder in a repository that holds a plugin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repository {
    /// User information before the host, `user:token@`. Secret, and never shown.
    credentials: String,
    host: String,
    /// The path of the repository on the host.
    path: String,
    /// Folder of the plugin within the repository; empty for the root.
    folder: String,
    /// Requested version or commit.
    pub version: Option<Version>,
}

/// Errors for a text that is not the address of a repository.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RepositoryError {
    /// The scheme is not supported.
    #[error(
        "`{scheme}` is no way to fetch a plugin's repository; leave it out, or write https:// or git://"
    )]
    Scheme {
        /// The scheme.
        scheme: String,
    },
    /// The address names no repository.
    #[error(
        "`{address}` is not the address of a repository; it must be HOST/OWNER/REPOSITORY[/FOLDER][@VERSION]"
    )]
    Incomplete {
        /// The address, without credentials.
        address: String,
    },
    /// The text after the `@` is not a version.
    #[error("`{version}` is neither a version such as 1.2.3 nor the hash of a commit")]
    Version {
        /// The text.
        version: String,
    },
}

impl Repository {
    /// Parses an address such as `github.com/acme/components/vpc@v1.2.3`.
    pub fn parse(address: &str) -> Result<Self, RepositoryError> {
        let rest = SCHEMES
            .iter()
            .find_map(|scheme| address.strip_prefix(scheme));
        let rest = match (rest, address.split_once("://")) {
            (Some(rest), _) => rest,
            (None, Some((scheme, _))) => {
                return Err(RepositoryError::Scheme {
                    scheme: scheme.to_owned(),
                });
            }
            (None, None) => address,
        };
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let (credentials, host) = match authority.rsplit_once('@') {
            Some((credentials, host)) => (format!("{credentials}@"), host),
            None => (String::new(), authority),
        };
        let (path, version) = match path.rsplit_once('@') {
            Some((path, version)) => (path, Some(version_of(version)?)),
            None => (path, None),
        };
        let incomplete = || RepositoryError::Incomplete {
            address: format!("{host}/{path}"),
        };
        let steps: Vec<&str> = path.split('/').filter(|step| !step.is_empty()).collect();
        let is_safe = |step: &&str| !matches!(*step, "." | "..") && !step.starts_with('-');
        // Some servers have repositories at deeper paths; the ending `.git` marks the end of such a path.
        let ending = steps.iter().position(|step| has_git_ending(step));
        let length = ending.map_or(2, |at| at + 1);
        if host.is_empty()
            || host.starts_with('-')
            || steps.len() < length
            || !steps.iter().all(is_safe)
        {
            return Err(incomplete());
        }
        Ok(Repository {
            credentials,
            host: host.to_owned(),
            path: steps[..length].join("/"),
            folder: steps[length..].join("/"),
            version,
        })
    }

    /// Address for `git clone`.
    pub fn clone_url(&self) -> String {
        let Repository {
            credentials,
            host,
            path,
            ..
        } = self;
        format!("https://{credentials}{host}/{path}")
    }

    /// Folder of the plugin within the repository; empty for the root.
    pub fn folder(&self) -> &str {
        &self.folder
    }

    /// Address of the plugin in state and SDKs, without credentials and version.
    pub fn download_url(&self) -> String {
        format!("git://{}", self.address())
    }

    /// Name of the plugin in the plugin cache.
    pub fn plugin_name(&self) -> String {
        let folder = if self.folder.is_empty() { "" } else { "_" };
        let name = format!("{}/{}{folder}{}", self.host, self.path, self.folder);
        name.replace(['/', ':'], "_")
    }

    /// Owner of the repository, in lower case.
    pub fn owner(&self) -> String {
        let owner = self.path.split('/').next().unwrap_or_default();
        owner.to_lowercase()
    }

    /// The address in the form that users write, without credentials and version.
    pub fn address(&self) -> String {
        let folder = if self.folder.is_empty() { "" } else { "/" };
        format!("{}/{}{folder}{}", self.host, self.path, self.folder)
    }
}

fn has_git_ending(step: &str) -> bool {
    std::path::Path::new(step).extension() == Some("git".as_ref())
}

/// The version that the text names, by its number or by the hash of a commit.
fn version_of(text: &str) -> Result<Version, RepositoryError> {
    let is_hash =
        (4..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let version = if is_hash && !text.contains('.') {
        commit_version(text)
    } else {
        parse_tolerant(text)
    };
    version.ok_or_else(|| RepositoryError::Version {
        version: text.to_owned(),
    })
}

/// The version that represents a commit.
pub fn commit_version(hash: &str) -> Option<Version> {
    Version::parse(&format!("0.0.0-x{}", hash.to_lowercase())).ok()
}

/// The commit that a version represents.
pub fn commit_of(version: &Version) -> Option<&str> {
    let is_zero = (version.major, version.minor, version.patch) == (0, 0, 0);
    let hash = version.pre.as_str().strip_prefix('x').filter(|_| is_zero)?;
    hash.bytes()
        .all(|byte| byte.is_ascii_hexdigit())
        .then_some(hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(address: &str) -> Repository {
        Repository::parse(address).unwrap()
    }

    #[test]
    fn addresses_name_a_repository_a_folder_and_a_version() {
        for (address, url, folder, version) in [
            (
                "github.com/acme/parts",
                "https://github.com/acme/parts",
                "",
                None,
            ),
            (
                "github.com/acme/parts/a/b@v1.2",
                "https://github.com/acme/parts",
                "a/b",
                Some("1.2.0"),
            ),
            (
                "git://github.com/acme/parts",
                "https://github.com/acme/parts",
                "",
                None,
            ),
            (
                "https://host.org/a/b/c.git/d@1.2.3",
                "https://host.org/a/b/c.git",
                "d",
                Some("1.2.3"),
            ),
            (
                "github.com/acme/parts@deadBEEF",
                "https://github.com/acme/parts",
                "",
                Some("0.0.0-xdeadbeef"),
            ),
            (
                "github.com/acme/parts@0.0.0-xdeadbeef",
                "https://github.com/acme/parts",
                "",
                Some("0.0.0-xdeadbeef"),
            ),
        ] {
            let found = parse(address);
            let version_text = found.version.as_ref().map(ToString::to_string);
            assert_eq!(found.clone_url(), url, "{address}");
            assert_eq!(
                (found.folder(), version_text.as_deref()),
                (folder, version),
                "{address}"
            );
        }
    }

    #[test]
    fn names_and_addresses_keep_no_credentials() {
        let found = parse("https://me:token@github.com/Acme/parts/vpc@v1.0.0");
        assert_eq!(found.plugin_name(), "github.com_Acme_parts_vpc");
        assert_eq!(found.download_url(), "git://github.com/Acme/parts/vpc");
        assert_eq!(found.owner(), "acme");
        assert_eq!(found.clone_url(), "https://me:token@github.com/Acme/parts");
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for address in [
            "github.com",
            "github.com/acme",
            "ssh://github.com/acme/parts",
            "github.com/acme/parts/../../x",
            "github.com/acme/--upload-pack=x",
            "-x/acme/parts",
            "github.com/acme/parts@latest",
        ] {
            assert!(Repository::parse(address).is_err(), "{address}");
        }
    }

    #[test]
    fn commits_are_versions() {
        let version = commit_version("ABCD12").unwrap();
        assert_eq!(commit_of(&version), Some("abcd12"));
        assert_eq!(commit_of(&Version::new(1, 0, 0)), None);
    }
}
