//! Source positions: translation from local files to paths in the project (`engine.md` 2.12).

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use ecow::EcoString;
use plumb_proto::pulumirpc::{SourcePosition, StackTrace};
use plumb_resource::StackFrame;

/// A position in the form of state files, `project:///<path>#<line>[,<column>]`, with the path relative to the project's
/// folder. Column 0 is omitted.
pub fn in_project(path: &Path, line: usize, column: usize, root: &Path) -> EcoString {
    let relative = relative_to(path, root);
    match column {
        0 => format!("project:///{relative}#{line}").into(),
        column => format!("project:///{relative}#{line},{column}").into(),
    }
}

/// Translates the positions sent by programs, and caches them, because most frames of a call stack are the same in every
/// registration and can share their text.
pub(crate) struct Positions {
    /// Folder of the project file.
    root: PathBuf,
    /// Translated positions by file, then by line and column.
    known: Mutex<HashMap<String, InFile>>,
}

type InFile = HashMap<(i32, i32), Option<EcoString>>;

impl Positions {
    pub(crate) fn new(root: PathBuf) -> Self {
        Positions {
            root,
            known: Mutex::default(),
        }
    }

    /// The position of a registration.
    pub(crate) fn position(&self, told: Option<&SourcePosition>) -> Option<EcoString> {
        let told = told?;
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if !known.contains_key(&told.uri) {
            known.insert(told.uri.clone(), InFile::new());
        }
        known
            .get_mut(&told.uri)?
            .entry((told.line, told.column))
            .or_insert_with(|| position(told, &self.root))
            .clone()
    }

    /// The call stack of a registration.
    pub(crate) fn stack_trace(&self, trace: Option<&StackTrace>) -> Vec<StackFrame> {
        let frames = trace.map(|trace| trace.frames.as_slice());
        frames
            .unwrap_or_default()
            .iter()
            .map(|frame| StackFrame {
                source_position: self.position(frame.pc.as_ref()),
            })
            .collect()
    }
}

/// Translates a position; `None` for an invalid one.
fn position(position: &SourcePosition, root: &Path) -> Option<EcoString> {
    let path = Path::new(position.uri.strip_prefix("file://")?);
    let line = position.line.try_into().ok()?;
    let column = position.column.try_into().ok()?;
    path.is_absolute()
        .then(|| in_project(path, line, column, root))
}

/// `path` relative to `root`, with `..` if it lies outside.
fn relative_to(path: &Path, root: &Path) -> String {
    let mut common = root;
    let mut up = String::new();
    loop {
        if let Ok(rest) = path.strip_prefix(common) {
            return format!("{up}{}", rest.to_string_lossy());
        }
        match common.parent() {
            Some(parent) => common = parent,
            None => return path.to_string_lossy().into_owned(),
        }
        up.push_str("../");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// PULUMI-46
    #[test]
    fn positions_are_told_relative_to_the_project() {
        let positions = Positions::new("/home/u/project".into());
        let at = |uri: &str, line, column| {
            positions.position(Some(&SourcePosition {
                uri: uri.to_owned(),
                line,
                column,
            }))
        };
        assert_eq!(
            at("file:///home/u/project/main.py", 3, 7).as_deref(),
            Some("project:///main.py#3,7")
        );
        assert_eq!(
            at("file:///home/u/project/main.py", 4, 0).as_deref(),
            Some("project:///main.py#4")
        );
        assert_eq!(
            at("file:///home/u/lib/x.py", 3, 0).as_deref(),
            Some("project:///../lib/x.py#3")
        );
        assert_eq!(at("http://example.com/x.py", 3, 0), None);
        assert_eq!(at("file://x.py", 3, 0), None);
        assert_eq!(at("file:///home/u/project/main.py", -1, 0), None);
    }
}
