//! Owner and name of a repository, from the address of a remote.

/// A repository on a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Remote {
    pub(super) owner: String,
    pub(super) repository: String,
    /// Kind of the host.
    pub(super) kind: String,
}

const AZURE: &str = "dev.azure.com";
/// Suffix of organization hosts of Azure DevOps before the move to [`AZURE`].
const AZURE_BEFORE: &str = ".visualstudio.com";

/// Parses the address of a remote; `None` if it names no owner and repository, such as a local path.
pub(super) fn parse(address: &str) -> Option<Remote> {
    let (host, path) = host_and_path(address)?;
    let path = path.trim_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path);
    let host = host.strip_prefix("ssh.").unwrap_or(host);
    if host == AZURE {
        // SSH addresses have a version before the owner.
        let path = path.strip_prefix("v3/").unwrap_or(path);
        let (owner, rest) = path.split_once('/')?;
        return Some(remote(owner, &azure_repository(rest), AZURE));
    }
    if let Some(owner) = host.strip_suffix(AZURE_BEFORE) {
        return Some(remote(owner, path, AZURE));
    }
    // Groups may follow the owner.
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

/// Path of an Azure repository with `_git`, which some addresses omit.
fn azure_repository(path: &str) -> String {
    match path.split_once('/') {
        Some((project, repository)) if !path.contains("_git") => {
            format!("{project}/_git/{repository}")
        }
        _ => path.to_owned(),
    }
}

/// Host without user, password and port, and the path.
fn host_and_path(address: &str) -> Option<(&str, &str)> {
    let (authority, path) = match address.split_once("://") {
        Some(("http" | "https" | "ssh" | "git+ssh", rest)) => rest.split_once('/')?,
        Some(_) => return None,
        // The form `git@host:owner/repository`. Without `@` it is a path, such as `C:/`.
        None => address
            .split_once(':')
            .filter(|(host, _)| host.contains('@'))?,
    };
    let host = authority.rsplit('@').next().unwrap_or(authority);
    let host = host.split(':').next().unwrap_or(host);
    (host.contains('.') || host == "localhost").then_some((host, path))
}
