//! Decrypted secret text.

use zeroize::Zeroizing;

/// A secret text. It has no `Debug`, `Display` or `Serialize`, and is wiped from memory when dropped.
#[derive(Clone)]
pub struct Plaintext(Zeroizing<String>);

impl Plaintext {
    /// Takes ownership of a text.
    pub fn new(text: String) -> Self {
        Plaintext(Zeroizing::new(text))
    }

    /// The text itself. Callers must not log or store it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl From<String> for Plaintext {
    fn from(text: String) -> Self {
        Plaintext::new(text)
    }
}

impl From<&str> for Plaintext {
    fn from(text: &str) -> Self {
        Plaintext::new(text.to_owned())
    }
}
