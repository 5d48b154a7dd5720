//! Replacement characters for terminals that support only ASCII (`cli.md` 18.3, 18.6).

use std::borrow::Cow;

/// ASCII replacement for each character used by this crate, with the same width where columns depend on it.
const INSTEAD: &[(&str, &str)] = &[
    ("├", "|"),
    ("└", "`"),
    ("│", "|"),
    ("─", "-"),
    ("…", ">"),
    ("▸", ">"),
    ("▾", "v"),
    ("×", "x"),
    ("µ", "u"),
    ("✅", "ok"),
    ("❌", "X "),
    ("⚠\u{fe0f}", "! "),
    ("🔒", "(protected)"),
    ("🔓", "(no longer protected)"),
    ("✨", "* "),
    ("🔍", "? "),
];

/// The text with this crate's characters replaced by ASCII. Other characters, such as those in names, are kept.
pub fn plain(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let mut plain = Cow::Borrowed(text);
    for (glyph, instead) in INSTEAD {
        if plain.contains(glyph) {
            plain = Cow::Owned(plain.replace(glyph, instead));
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_drawn_becomes_plain_and_what_people_wrote_stays() {
        assert_eq!(plain("├─ a\n│  └─ b…"), "|- a\n|  `- b>");
        assert_eq!(plain("✅ ok, ⚠\u{fe0f} hm, ❌ no"), "ok ok, !  hm, X  no");
        assert_eq!(plain("日本 café"), "日本 café");
    }
}
