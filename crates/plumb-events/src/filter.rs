//! Hiding of secrets and long texts in events (`engine.md` 10.1).

/// Text shown instead of a secret.
pub const SECRET_MARK: &str = "[secret]";

/// Text shown instead of the text of an asset.
const ELIDED_TEXT: &str = "<contents elided>";

/// Mark of serialized function code, which is shown although it is a text asset.
const PROGRAM_CODE_MARK: &str = "exports.handler = __f0;";

/// Visibility of secret values. The texts of events need no filter, because the engine removes secrets from them before it
/// emits an event.
#[derive(Clone, Copy, Debug, Default)]
pub struct Filter {
    show_secrets: bool,
}

impl Filter {
    /// Hides secrets.
    pub fn hiding_secrets() -> Self {
        Filter::default()
    }

    /// Shows secrets if `show_secrets`.
    pub fn new(show_secrets: bool) -> Self {
        Filter { show_secrets }
    }

    /// Whether secrets are shown.
    pub fn shows_secrets(self) -> bool {
        self.show_secrets
    }
}

/// The text to show for a text asset.
pub fn asset_text(text: &str) -> &str {
    if text.contains(PROGRAM_CODE_MARK) {
        text
    } else {
        ELIDED_TEXT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_program_code_keeps_its_text() {
        assert_eq!(asset_text("hello"), "<contents elided>");
        assert_eq!(
            asset_text("exports.handler = __f0;"),
            "exports.handler = __f0;"
        );
    }
}
