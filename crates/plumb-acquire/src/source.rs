//! Sources of plugins: the places where they are published (`protocol.md` 14.5).

use plumb_plugin::PluginKind;
use semver::Version;

/// The host whose API lists the releases of most plugins.
const GITHUB_API: &str = "api.github.com";
/// Mirror of the plugins of the organization `pulumi`.
const MIRROR: &str = "https://get.pulumi.com/releases/plugins";

/// Community plugins, published by the organization `pulumiverse`.
const COMMUNITY: [&str; 37] = [
    "acme",
    "aquasec",
    "astra",
    "aws-eksa",
    "buildkite",
    "clickhouse",
    "cockroach",
    "concourse",
    "configcat",
    "cpln",
    "doppler",
    "dynatrace",
    "esxi-native",
    "exoscale",
    "fortios",
    "gandi",
    "github-credentials",
    "googleworkspace",
    "grafana",
    "harbor",
    "hcp",
    "heroku",
    "ibm",
    "matchbox",
    "mssql",
    "ngrok",
    "purrl",
    "redpanda",
    "scaleway",
    "sentry",
    "statuscake",
    "talos",
    "time",
    "unifi",
    "vercel",
    "vra",
    "zitadel",
];

/// An operating system and a processor architecture, spelled as in names of archives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Platform {
    /// `darwin`, `linux` or `windows`.
    pub os: &'static str,
    /// `amd64` or `arm64`.
    pub arch: &'static str,
}

impl Platform {
    /// The platform of this machine.
    pub fn current() -> Self {
        Platform {
            os: match std::env::consts::OS {
                "macos" => "darwin",
                other => other,
            },
            arch: match std::env::consts::ARCH {
                "x86_64" => "amd64",
                "aarch64" => "arm64",
                other => other,
            },
        }
    }

    /// Key in a table of checksums: `linux-amd64`.
    pub fn key(self) -> String {
        format!("{}-{}", self.os, self.arch)
    }
}

/// Errors of the address of a source.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// The scheme is not supported.
    #[error(
        "plugins cannot be downloaded from {url}; the address must begin with github://, gitlab://, git://, https:// or http://"
    )]
    Scheme {
        /// The address.
        url: String,
    },
    /// The address is incomplete.
    #[error("{url} is not the address of plugins; it must be {expected}")]
    Incomplete {
        /// The address.
        url: String,
        /// Expected form.
        expected: &'static str,
    },
}

/// A source of a plugin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// Releases of a repository on GitHub or a compatible server.
    GitHub {
        host: String,
        owner: String,
        repository: String,
    },
    /// Releases of a project on GitLab.
    GitLab { host: String, project: String },
    /// A folder of archives; the address may have placeholders.
    Web { url: String },
}

impl Source {
    /// The sources of a plugin, in order of preference.
    pub(crate) fn all_of(
        kind: PluginKind,
        name: &str,
        url: Option<&str>,
    ) -> Result<Vec<Source>, SourceError> {
        if let Some(url) = url.filter(|url| !url.is_empty()) {
            return Ok(vec![Source::parse(kind, name, url)?]);
        }
        let github = |owner: &str| Source::GitHub {
            host: GITHUB_API.to_owned(),
            owner: owner.to_owned(),
            repository: default_repository(kind, name),
        };
        if kind == PluginKind::Resource && COMMUNITY.contains(&name) {
            return Ok(vec![github("pulumiverse")]);
        }
        let mirror = Source::Web {
            url: MIRROR.to_owned(),
        };
        Ok(vec![github("pulumi"), mirror])
    }

    /// The source for the address `url`.
    pub(crate) fn parse(kind: PluginKind, name: &str, url: &str) -> Result<Source, SourceError> {
        let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
        let rest = rest.trim_end_matches('/');
        let incomplete = |expected| SourceError::Incomplete {
            url: url.to_owned(),
            expected,
        };
        match scheme {
            "github" => {
                let expected = "github://HOST/OWNER or github://HOST/OWNER/REPOSITORY";
                let mut parts = rest.splitn(3, '/').filter(|part| !part.is_empty());
                let (Some(host), Some(owner)) = (parts.next(), parts.next()) else {
                    return Err(incomplete(expected));
                };
                let repository = parts
                    .next()
                    .map_or_else(|| default_repository(kind, name), str::to_owned);
                if repository.contains('/') {
                    return Err(incomplete(expected));
                }
                Ok(Source::GitHub {
                    host: host.to_owned(),
                    owner: owner.to_owned(),
                    repository,
                })
            }
            "gitlab" => match rest.split_once('/') {
                Some((host, project)) if !host.is_empty() && !project.contains('/') => {
                    Ok(Source::GitLab {
                        host: host.to_owned(),
                        project: project.to_owned(),
                    })
                }
                _ => Err(incomplete("gitlab://HOST/PROJECT-ID")),
            },
            "http" | "https" => Ok(Source::Web {
                url: url.trim_end_matches('/').to_owned(),
            }),
            _ => Err(SourceError::Scheme {
                url: url.to_owned(),
            }),
        }
    }

    /// Address of the source in overrides and messages.
    pub(crate) fn url(&self) -> String {
        match self {
            Source::GitHub {
                host,
                owner,
                repository,
            } => format!("github://{host}/{owner}/{repository}"),
            Source::GitLab { host, project } => format!("gitlab://{host}/{project}"),
            Source::Web { url } => url.clone(),
        }
    }

    /// Address of an archive that can be downloaded without a query for the release, if the source supports that.
    pub(crate) fn direct_url(&self, version: &Version, asset: &str) -> Option<String> {
        match self {
            Source::GitHub {
                host,
                owner,
                repository,
            } if host == GITHUB_API && owner == "pulumi" => Some(format!(
                "https://github.com/{owner}/{repository}/releases/download/v{version}/{asset}"
            )),
            _ => None,
        }
    }
}

fn default_repository(kind: PluginKind, name: &str) -> String {
    match (kind, name) {
        (PluginKind::Converter, "yaml" | "hcl") => format!("pulumi-{name}"),
        (PluginKind::Converter, _) => format!("pulumi-converter-{name}"),
        (PluginKind::Tool, _) => format!("pulumi-tool-{name}"),
        _ => format!("pulumi-{name}"),
    }
}

/// File name of the archive of a plugin.
pub(crate) fn asset_name(
    kind: PluginKind,
    name: &str,
    version: &Version,
    platform: Platform,
) -> String {
    let Platform { os, arch } = platform;
    format!("pulumi-{kind}-{name}-v{version}-{os}-{arch}.tar.gz")
}

/// Replaces the placeholders in an address, whether plain or percent-encoded.
pub(crate) fn fill_in(url: &str, name: &str, version: &Version, platform: Platform) -> String {
    let version = version.to_string();
    let values = [
        ("NAME", name),
        ("VERSION", version.as_str()),
        ("OS", platform.os),
        ("ARCH", platform.arch),
    ];
    values.iter().fold(url.to_owned(), |url, (key, value)| {
        url.replace(&format!("${{{key}}}"), value)
            .replace(&format!("$%7B{key}%7D"), value)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn urls(kind: PluginKind, name: &str, url: Option<&str>) -> Vec<String> {
        let sources = Source::all_of(kind, name, url).unwrap();
        sources.iter().map(Source::url).collect()
    }

    #[test]
    fn names_alone_tell_the_place() {
        let mirror = "https://get.pulumi.com/releases/plugins";
        assert_eq!(
            urls(PluginKind::Resource, "aws", None),
            ["github://api.github.com/pulumi/pulumi-aws", mirror]
        );
        assert_eq!(
            urls(PluginKind::Resource, "grafana", None),
            ["github://api.github.com/pulumiverse/pulumi-grafana"]
        );
        assert_eq!(
            urls(PluginKind::Converter, "terraform", Some("")),
            [
                "github://api.github.com/pulumi/pulumi-converter-terraform",
                mirror
            ]
        );
        assert_eq!(
            urls(PluginKind::Converter, "yaml", None)[0],
            "github://api.github.com/pulumi/pulumi-yaml"
        );
        assert_eq!(
            urls(PluginKind::Tool, "x", None)[0],
            "github://api.github.com/pulumi/pulumi-tool-x"
        );
    }

    #[test]
    fn addresses_tell_the_place() {
        let parse = |url| Source::parse(PluginKind::Resource, "p", url).map(|it| it.url());
        for (url, expected) in [
            (
                "github://api.github.com/acme",
                "github://api.github.com/acme/pulumi-p",
            ),
            (
                "github://git.acme.org/acme/repo/",
                "github://git.acme.org/acme/repo",
            ),
            ("gitlab://gitlab.com/4711", "gitlab://gitlab.com/4711"),
            ("https://acme.org/plugins/", "https://acme.org/plugins"),
        ] {
            assert_eq!(parse(url).unwrap(), expected);
        }
        for url in [
            "github://api.github.com",
            "github://h/o/r/more",
            "gitlab://gitlab.com",
            "gitlab://gitlab.com/a/b",
            "ftp://acme.org",
            "acme.org",
        ] {
            assert!(parse(url).is_err(), "{url}");
        }
    }

    #[test]
    fn placeholders_are_filled_in() {
        let platform = Platform {
            os: "linux",
            arch: "arm64",
        };
        let version = Version::new(1, 2, 3);
        let fill = |url| fill_in(url, "p", &version, platform);
        assert_eq!(fill("https://a/${NAME}/${VERSION}"), "https://a/p/1.2.3");
        assert_eq!(
            fill("https://a/$%7BOS%7D/$%7BARCH%7D"),
            "https://a/linux/arm64"
        );
        assert_eq!(
            asset_name(PluginKind::Resource, "p", &version, platform),
            "pulumi-resource-p-v1.2.3-linux-arm64.tar.gz"
        );
    }
}
