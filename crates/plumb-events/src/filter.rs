//! What may be seen of values and texts (`engine.md` 10.1).

use std::borrow::Cow;

use ecow::EcoString;

/// What the world sees in place of a secret.
pub const SECRET_MARK: &str = "[secret]";

/// What the world sees in place of the text of an asset.
const ELIDED_TEXT: &str = "<contents elided>";

/// Serialized function code, which is shown although it is a text asset.
const PROGRAM_CODE_MARK: &str = "exports.handler = __f0;";

/// Decides what of values and texts may be seen.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    show_secrets: bool,
    /// Longest first, so that one secret inside another does not leave its rest behind.
    masked: Vec<EcoString>,
}

impl Filter {
    /// Hides secrets.
    pub fn hiding_secrets() -> Self {
        Filter::default()
    }

    /// Shows secrets if `show_secrets`; texts in `masked` are hidden wherever they appear.
    pub fn new(show_secrets: bool, masked: impl IntoIterator<Item = EcoString>) -> Self {
        let mut masked: Vec<EcoString> = masked
            .into_iter()
            .filter(|text| !text.trim().is_empty())
            .collect();
        masked.sort_by_key(|text| std::cmp::Reverse(text.len()));
        Filter {
            show_secrets,
            masked,
        }
    }

    /// Whether secrets are shown.
    pub fn shows_secrets(&self) -> bool {
        self.show_secrets
    }

    /// The text with every masked part replaced.
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut shown = Cow::Borrowed(text);
        for secret in &self.masked {
            if shown.contains(secret.as_str()) {
                shown = Cow::Owned(shown.replace(secret.as_str(), SECRET_MARK));
            }
        }
        shown
    }

    /// What to show of the text of an asset.
    pub fn asset_text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if text.contains(PROGRAM_CODE_MARK) {
            self.text(text)
        } else {
            Cow::Borrowed(ELIDED_TEXT)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masked_texts_are_hidden_longest_first() {
        let filter = Filter::new(false, ["abc".into(), "abcdef".into(), " ".into()]);
        assert_eq!(filter.text("x abcdef abc y"), "x [secret] [secret] y");
    }

    #[test]
    fn only_program_code_keeps_its_text() {
        let filter = Filter::hiding_secrets();
        assert_eq!(filter.asset_text("hello"), "<contents elided>");
        assert_eq!(
            filter.asset_text("exports.handler = __f0;"),
            "exports.handler = __f0;"
        );
    }
}
