//! Files of an SDK, before anybody writes them.

use std::collections::BTreeMap;
use std::fmt;

use crate::GenerateError;

/// A path within the folder of an SDK, with slashes. It never leads out of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FilePath(String);

impl FilePath {
    /// The path `text`, if each step of it can be the name of a file everywhere.
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

    /// The path.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for FilePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Takes the files of an SDK, each once.
pub trait Sink {
    /// Takes a file.
    fn file(&mut self, path: FilePath, text: String) -> Result<(), GenerateError>;

    /// Takes a picture.
    fn picture(&mut self, path: FilePath, content: &'static [u8]) -> Result<(), GenerateError>;
}

/// Keeps files in memory, in order: texts, and pictures.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct FileMap(
    pub BTreeMap<FilePath, String>,
    pub BTreeMap<FilePath, &'static [u8]>,
);

impl FileMap {
    /// The text of a file.
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
