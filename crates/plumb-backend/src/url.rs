//! Addresses of backends (`state.md` 3.1).

use std::path::{Path, PathBuf};

use crate::error::BackendError;

/// Kind and address of a backend.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BackendUrl {
    /// A folder.
    File(FileUrl),
    /// The service API.
    Service {
        /// Scheme and host, without a trailing slash.
        url: String,
    },
    /// A store on another machine, whose kind is its scheme. The crate that opens it parses the address.
    Store {
        /// The address.
        url: String,
    },
}

/// A store in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileUrl {
    /// Address as given by the user, under which logins are stored.
    pub url: String,
    /// Absolute path of the folder.
    pub path: PathBuf,
    /// Whether to create a missing folder.
    pub create_dir: bool,
}

impl BackendUrl {
    /// Parses an address; `home` replaces `~`, relative paths start at `cwd`.
    pub fn parse(url: &str, home: &Path, cwd: &Path) -> Result<Self, BackendError> {
        let unknown = || BackendError::UnknownUrl {
            format: url.split(':').next().unwrap_or_default().to_owned(),
        };
        let (scheme, rest) = url.split_once("://").ok_or_else(unknown)?;
        match scheme {
            "file" => Ok(BackendUrl::File(file_url(url, rest, home, cwd))),
            "http" | "https" => Ok(BackendUrl::Service {
                url: url.trim_end_matches('/').to_owned(),
            }),
            "s3" | "gs" | "azblob" | "postgres" => Ok(BackendUrl::Store {
                url: url.to_owned(),
            }),
            _ => Err(unknown()),
        }
    }
}

/// Address with user name and password hidden.
pub fn masked(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else {
        return url.to_owned();
    };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    match rest[..end].rfind('@') {
        Some(at) => format!("{scheme}://****@{}", &rest[at + 1..]),
        None => url.to_owned(),
    }
}

fn file_url(url: &str, rest: &str, home: &Path, cwd: &Path) -> FileUrl {
    let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
    let path = percent_decode(path);
    let path = match path.strip_prefix('~') {
        Some("") => home.to_owned(),
        Some(below) if below.starts_with('/') => home.join(below.trim_start_matches('/')),
        _ => cwd.join(&path),
    };
    let create_dir = query
        .split('&')
        .any(|pair| matches!(pair, "create_dir=true" | "create_dir=1"));
    FileUrl {
        url: url.to_owned(),
        path: normalize(&path),
        create_dir,
    }
}

/// Removes `.` and `..` without access to the disk.
fn normalize(path: &Path) -> PathBuf {
    use std::path::Component;
    let mut out = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => out.push(component),
        }
    }
    out
}

fn percent_decode(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        let mut ahead = bytes.clone();
        let digit = |b: Option<u8>| b.and_then(|b| char::from(b).to_digit(16));
        match (byte, digit(ahead.next()), digit(ahead.next())) {
            (b'%', Some(high), Some(low)) => {
                out.push((high * 16 + low) as u8);
                bytes = ahead;
            }
            _ => out.push(byte),
        }
    }
    String::from_utf8(out).unwrap_or_else(|_| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_understood() {
        let parse = |url: &str| BackendUrl::parse(url, Path::new("/home/u"), Path::new("/work/p"));
        let path = |url: &str| match parse(url) {
            Ok(BackendUrl::File(file)) => file.path,
            other => panic!("{other:?}"),
        };
        assert_eq!(path("file://~"), Path::new("/home/u"));
        assert_eq!(path("file://~/state"), Path::new("/home/u/state"));
        assert_eq!(path("file://."), Path::new("/work/p"));
        assert_eq!(
            path("file://../x%20y?create_dir=true"),
            Path::new("/work/x y")
        );
        assert_eq!(path("file:///abs/dir"), Path::new("/abs/dir"));
        assert_eq!(
            parse("https://api.example.com/").unwrap(),
            BackendUrl::Service {
                url: "https://api.example.com".to_owned()
            }
        );
        assert!(matches!(parse("s3://bucket"), Ok(BackendUrl::Store { .. })));
        let message = parse("ftp://x").unwrap_err().to_string();
        assert!(message.starts_with(
            "unknown backend cloudUrl format 'ftp' (supported Url formats are: azblob://"
        ));
    }

    #[test]
    fn passwords_are_hidden() {
        assert_eq!(
            masked("postgres://u:p@h/db?x=a@b"),
            "postgres://****@h/db?x=a@b"
        );
        assert_eq!(masked("s3://bucket/a@b"), "s3://bucket/a@b");
    }
}
