//! Error messages in the form of Go programs, because scripts match those of the reference.

pub mod json;
mod version;

pub use version::parse_version;

use std::io;

/// Message for a file that cannot be opened: `open PATH: no such file or directory`.
pub fn open(path: &str, error: &io::Error) -> String {
    format!("open {path}: {}", reason(error))
}

/// Reason without the error number.
pub fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    let reason = text.split(" (os error").next().unwrap_or_default();
    let mut letters = reason.chars();
    let first = letters.next().map(|first| first.to_ascii_lowercase());
    first.into_iter().chain(letters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_in_small_letters_and_have_no_numbers() {
        let error = std::fs::read("/no/such/file").unwrap_err();
        assert_eq!(
            open("such/file", &error),
            "open such/file: no such file or directory"
        );
    }
}
