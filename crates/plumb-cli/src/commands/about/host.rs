//! The operating system of this machine.

use serde::Serialize;

/// The machine, as `about` shows it.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Host {
    /// Name of the distribution, or else of the system.
    pub(super) os: String,
    /// Version of the distribution; empty if it is not known.
    pub(super) version: String,
    pub(super) arch: &'static str,
}

/// The machine that this runs on.
pub(super) fn info() -> Host {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    host_of(&read("/etc/os-release"), &read("/etc/debian_version"))
}

/// The machine with this `os-release`. Debian writes its minor version elsewhere.
fn host_of(os_release: &str, debian_version: &str) -> Host {
    let value = |key: &str| {
        let mut lines = os_release.lines();
        let found = lines.find_map(|line| line.strip_prefix(key)?.strip_prefix('='));
        found.unwrap_or_default().trim_matches('"').to_owned()
    };
    let id = value("ID");
    let debian_version = debian_version.trim();
    let is_debian = id == "debian" && !debian_version.is_empty();
    Host {
        os: if id.is_empty() {
            std::env::consts::OS.to_owned()
        } else {
            id
        },
        version: if is_debian {
            debian_version.to_owned()
        } else {
            value("VERSION_ID")
        },
        arch: std::env::consts::ARCH,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(os_release: &str, debian_version: &str) -> (String, String) {
        let host = host_of(os_release, debian_version);
        (host.os, host.version)
    }

    #[test]
    fn distributions_have_names_and_versions() {
        let debian = "PRETTY_NAME=\"Debian GNU/Linux 12\"\nVERSION_ID=\"12\"\nID=debian\n";
        assert_eq!(shown(debian, "12.11\n"), ("debian".into(), "12.11".into()));
        let alpine = "ID=alpine\nVERSION_ID=3.20.1\n";
        assert_eq!(shown(alpine, ""), ("alpine".into(), "3.20.1".into()));
        assert_eq!(shown("", ""), (std::env::consts::OS.into(), String::new()));
    }
}
