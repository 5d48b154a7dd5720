//! Files and their paths.

use std::path::{Component, Path, PathBuf};

use super::args::{Answer, Args};
use super::encoding::Encoding;

fn read(folder: &Path, path: &str) -> Result<Vec<u8>, String> {
    std::fs::read(folder.join(path)).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => {
            format!("file({path}) failed to read the contents because the file does not exist")
        }
        _ => format!("{path}: {error}"),
    })
}

pub(super) fn file(args: &Args<'_>, folder: &Path) -> Answer {
    let path = args.text("input")?;
    match String::from_utf8(read(folder, path)?) {
        Ok(text) => Ok(text.into()),
        Err(_) => Err(format!("{path} is not UTF-8")),
    }
}

/// A function of the bytes of a file.
pub(super) fn of_file(args: &Args<'_>, folder: &Path, encoding: Encoding) -> Answer {
    Ok(encoding(&read(folder, args.text("input")?)?).into())
}

pub(super) fn exists(args: &Args<'_>, folder: &Path) -> Answer {
    Ok(folder.join(args.text("input")?).is_file().into())
}

pub(super) fn abspath(args: &Args<'_>, folder: &Path) -> Answer {
    Ok(clean(&folder.join(args.text("input")?)).into())
}

pub(super) fn pathexpand(args: &Args<'_>, home: Option<&Path>) -> Answer {
    let path = args.text("input")?;
    let rest = path.strip_prefix('~');
    match (rest, home) {
        (None, _) => Ok(path.into()),
        (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => {
            let path = home.join(rest.trim_start_matches('/'));
            Ok(path.to_string_lossy().trim_end_matches('/').into())
        }
        (Some(_), Some(_)) => Err("only the own home folder is known".to_owned()),
        (Some(_), None) => Err("the home folder is not known".to_owned()),
    }
}

pub(super) fn basename(text: &str) -> String {
    if text.is_empty() {
        return ".".to_owned();
    }
    let trimmed = text.trim_end_matches('/');
    let last = trimmed.rsplit('/').next().unwrap_or_default();
    if trimmed.is_empty() {
        "/".to_owned()
    } else {
        last.to_owned()
    }
}

pub(super) fn dirname(text: &str) -> String {
    match text.rsplit_once('/') {
        Some(("", _)) => "/".to_owned(),
        Some((folder, _)) => clean(Path::new(folder)),
        None => ".".to_owned(),
    }
}

/// A path without steps that lead nowhere.
fn clean(path: &Path) -> String {
    let mut out = PathBuf::new();
    for step in path.components() {
        match step {
            Component::CurDir => {}
            Component::ParentDir if out.file_name().is_some() && !out.ends_with("..") => {
                out.pop();
            }
            Component::ParentDir if out.has_root() => {}
            step => out.push(step),
        }
    }
    let text = out.to_string_lossy().into_owned();
    if text.is_empty() {
        ".".to_owned()
    } else {
        text
    }
}
