//! Hiding of secrets and long texts in events (`engine.md` 10.1).

use std::borrow::Cow;

use crate::program_code;

/// Text shown instead of a secret.
pub const SECRET_MARK: &str = "[secret]";

/// Text shown instead of the text of an asset.
const ELIDED_TEXT: &str = "<contents elided>";

/// Visibility of secret values. The texts of events need no filter, because the engine removes secrets from them before it
/// emits an event.
#[derive(Clone, Copy, Debug, Default)]
pub struct Filter {
    show_secrets: bool,
    /// Whether texts of assets are kept, because they were filtered before.
    whole_asset_texts: bool,
}

impl Filter {
    /// Hides secrets.
    pub fn hiding_secrets() -> Self {
        Filter::default()
    }

    /// Shows secrets if `show_secrets`.
    pub fn new(show_secrets: bool) -> Self {
        Filter {
            show_secrets,
            whole_asset_texts: false,
        }
    }

    /// Filter for events that were read from a file, whose texts of assets were filtered when it was written.
    pub fn of_recorded(show_secrets: bool) -> Self {
        Filter {
            show_secrets,
            whole_asset_texts: true,
        }
    }

    /// The text to show for a text asset.
    pub(crate) fn asset_text(self, text: &str) -> Cow<'_, str> {
        if self.whole_asset_texts {
            Cow::Borrowed(text)
        } else {
            Cow::Owned(asset_text(text))
        }
    }

    /// Whether texts of assets are shown as they are.
    pub fn keeps_asset_texts(self) -> bool {
        self.whole_asset_texts
    }

    /// Whether secrets are shown.
    pub fn shows_secrets(self) -> bool {
        self.show_secrets
    }
}

/// The text to show for a text asset: code of the program is shown, other texts are not.
pub fn asset_text(text: &str) -> String {
    program_code::shown(text).unwrap_or_else(|| ELIDED_TEXT.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_are_not_code_of_the_program_are_elided() {
        assert_eq!(asset_text("hello"), "<contents elided>");
    }
}
