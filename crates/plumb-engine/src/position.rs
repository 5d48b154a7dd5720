//! Source positions: from files on this machine to places in the project (`engine.md` 2.12).

use std::path::Path;

use ecow::EcoString;
use plumb_proto::pulumirpc::{SourcePosition, StackTrace};
use plumb_resource::StackFrame;

/// A place in a file as states have it: `project:///<path>#<line>[,<column>]`, the path as seen from the project's folder.
/// Column 0 is none.
pub fn in_project(path: &Path, line: usize, column: usize, root: &Path) -> EcoString {
    let relative = relative_to(path, root);
    match column {
        0 => format!("project:///{relative}#{line}").into(),
        column => format!("project:///{relative}#{line},{column}").into(),
    }
}

/// The same for a place that a program told; nothing for one that makes no sense.
pub(crate) fn position(position: Option<&SourcePosition>, root: &Path) -> Option<EcoString> {
    let position = position?;
    let path = Path::new(position.uri.strip_prefix("file://")?);
    let line = position.line.try_into().ok()?;
    let column = position.column.try_into().ok()?;
    path.is_absolute()
        .then(|| in_project(path, line, column, root))
}

pub(crate) fn stack_trace(trace: Option<&StackTrace>, root: &Path) -> Vec<StackFrame> {
    trace
        .map(|trace| trace.frames.as_slice())
        .unwrap_or_default()
        .iter()
        .map(|frame| StackFrame {
            source_position: position(frame.pc.as_ref(), root),
        })
        .collect()
}

/// `path` as seen from `root`, with `..` where it lies outside.
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
        let at = |uri: &str, line, column| {
            position(
                Some(&SourcePosition {
                    uri: uri.to_owned(),
                    line,
                    column,
                }),
                Path::new("/home/u/project"),
            )
        };
        assert_eq!(
            at("file:///home/u/project/main.py", 3, 7).as_deref(),
            Some("project:///main.py#3,7")
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
