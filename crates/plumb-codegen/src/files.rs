//! Files of an SDK, in memory.

use std::collections::BTreeMap;
use std::fmt;

use crate::GenerateError;

/// A relative path with forward slashes, which never leaves the folder of the SDK.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FilePath(String);

impl FilePath {
    /// Path from `text`; an error if a step is not a valid file name on every platform.
    pub fn new(text: &str) -> Result<Self, GenerateError> {
        let wrong = |why| GenerateError::Name {
            what: "the file",
            name: text.escape_debug().to_string(),
            why,
        };
        for step in text.split('/') {
            if step.is_empty() || step == "." || step == ".." || step.ends_with(' ') {
                return Err(wrong("its path would lead elsewhere"));
            }
            let is_bad = |char: char| char.is_control() || "\\:*?\"<>|".contains(char);
            if step.contains(is_bad) {
                return Err(wrong(
                    "its path has characters that names of files cannot have",
                ));
            }
        }
        Ok(FilePath(text.to_owned()))
    }

    /// Text of the path.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for FilePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Receiver for the files of an SDK, each written once.
pub trait Sink {
    /// Receives a text file.
    fn file(&mut self, path: FilePath, text: String) -> Result<(), GenerateError>;

    /// Receives an image.
    fn picture(&mut self, path: FilePath, content: &'static [u8]) -> Result<(), GenerateError>;
}

/// Files in memory, in order: texts and images.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct FileMap(
    pub BTreeMap<FilePath, String>,
    pub BTreeMap<FilePath, &'static [u8]>,
);

impl FileMap {
    /// Text of a file.
    pub fn get(&self, path: &str) -> Option<&str> {
        self.0
            .iter()
            .find(|(known, _)| known.as_str() == path)
            .map(|(_, text)| text.as_str())
    }
}

impl Sink for FileMap {
    fn file(&mut self, path: FilePath, text: String) -> Result<(), GenerateError> {
        if self.0.contains_key(&path) {
            return Err(GenerateError::SameFile(path));
        }
        self.0.insert(path, text);
        Ok(())
    }

    fn picture(&mut self, path: FilePath, content: &'static [u8]) -> Result<(), GenerateError> {
        if self.1.contains_key(&path) {
            return Err(GenerateError::SameFile(path));
        }
        self.1.insert(path, content);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_within_their_folder() {
        assert!(FilePath::new("a/b.ts").is_ok());
        for bad in [
            "", "/a", "a//b", "../a", "a/../b", "a/./b", "a\\b", "C:a", "a\n", "a/",
        ] {
            assert!(FilePath::new(bad).is_err(), "{bad:?}");
        }
    }
}
