//! Whose repository an address names.

/// A repository of a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Remote {
    pub(super) owner: String,
    pub(super) repository: String,
    /// The host.
    pub(super) kind: String,
}

const AZURE: &str = "dev.azure.com";
/// What the hosts of organizations were called before they moved to [`AZURE`].
const AZURE_BEFORE: &str = ".visualstudio.com";

/// Reads the address of a remote; none if it names no repository of an owner, as paths of this machine do not.
pub(super) fn parse(address: &str) -> Option<Remote> {
    let (host, path) = host_and_path(address)?;
    let path = path.trim_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path);
    let host = host.strip_prefix("ssh.").unwrap_or(host);
    if host == AZURE {
        // Addresses for SSH have a version before the owner.
        let path = path.strip_prefix("v3/").unwrap_or(path);
        let (owner, rest) = path.split_once('/')?;
        return Some(remote(owner, &azure_repository(rest), AZURE));
    }
    if let Some(owner) = host.strip_suffix(AZURE_BEFORE) {
        return Some(remote(owner, path, AZURE));
    }
    // Behind the owner there may be groups.
    let (owner, repository) = path.split_once('/')?;
    Some(remote(owner, repository, host))
}

fn remote(owner: &str, repository: &str, kind: &str) -> Remote {
    Remote {
        owner: owner.to_owned(),
        repository: repository.to_owned(),
        kind: kind.to_owned(),
    }
}

/// Pages of repositories are below `_git`, which some addresses leave out.
fn azure_repository(path: &str) -> String {
    match path.split_once('/') {
        Some((project, repository)) if !path.contains("_git") => {
            format!("{project}/_git/{repository}")
        }
        _ => path.to_owned(),
    }
}

/// The host without user, password and port, and the path.
fn host_and_path(address: &str) -> Option<(&str, &str)> {
    let (authority, path) = match address.split_once("://") {
        Some(("http" | "https" | "ssh" | "git+ssh", rest)) => rest.split_once('/')?,
        Some(_) => return None,
        // As `git@host:owner/repository`; `C:/` and the like are paths.
        None => address
            .split_once(':')
            .filter(|(host, _)| host.contains('@'))?,
    };
    let host = authority.rsplit('@').next().unwrap_or(authority);
    let host = host.split(':').next().unwrap_or(host);
    (host.contains('.') || host == "localhost").then_some((host, path))
}
