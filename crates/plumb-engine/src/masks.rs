//! Secret texts that a run has come across, and how they are kept out of messages.
//!
//! Values keep their secrets to themselves; messages of programs and providers are plain text, and nothing but their words
//! tells that they name one (`engine.md` 10.1). **Every event passes [`Masks::pass`] on its way to subscribers.**

use std::borrow::Cow;
use std::ops::Range;

use aho_corasick::AhoCorasick;
use ecow::EcoString;
use plumb_events::{Diagnostic, Event, PolicyViolation};
use plumb_value::{PropertyMap, Value};
use rustc_hash::FxHashSet;

/// What the world sees in place of a secret.
const MARK: &str = "[secret]";
/// Shorter texts are not hidden: they are in every other word.
const SHORTEST: usize = 3;
/// Numbers with fewer digits are not hidden, nor are lines with fewer characters, of texts of several lines.
const SHORTEST_PART: usize = 6;
/// How many texts are looked for one by one at most, before all are looked for at once.
const FEW: usize = 64;

/// The secret texts of a run.
pub(crate) struct Masks {
    shows_secrets: bool,
    known: FxHashSet<EcoString>,
    /// Looks for all texts but the newest.
    matcher: Option<AhoCorasick>,
    newest: Vec<EcoString>,
}

impl Masks {
    /// Knows no secrets yet; where people want to see secrets, it hides nothing.
    pub(crate) fn new(shows_secrets: bool) -> Self {
        Masks {
            shows_secrets,
            known: FxHashSet::default(),
            matcher: None,
            newest: Vec::new(),
        }
    }

    /// Takes note of the secrets among `properties`.
    pub(crate) fn learn_all(&mut self, properties: &PropertyMap) {
        properties.values().for_each(|value| self.learn(value));
    }

    /// Takes note of the secrets in `value`.
    pub(crate) fn learn(&mut self, value: &Value) {
        if self.shows_secrets {
            return;
        }
        value.any(&mut |inner| {
            if inner.is_secret() {
                self.learn_secret(inner);
            }
            false
        });
    }

    /// Hides secrets in what an event says, and takes note of those that it carries.
    pub(crate) fn pass(&mut self, event: &mut Event) {
        match event {
            Event::Diagnostic(Diagnostic { message, .. })
            | Event::PolicyViolation(PolicyViolation { message, .. }) => {
                if let Cow::Owned(hidden) = self.hide(message) {
                    *message = hidden.into();
                }
            }
            Event::ResourcePre(step) | Event::ResourceOutputs(step) => {
                if let Some(new) = &step.metadata.new {
                    self.learn_all(&new.inputs);
                    self.learn_all(&new.outputs);
                }
            }
            _ => {}
        }
    }

    fn learn_secret(&mut self, secret: &Value) {
        secret.any(&mut |inner| {
            match inner {
                Value::String(text) => self.learn_text(text),
                Value::Number(number) => {
                    let text = number.to_string();
                    if text.len() >= SHORTEST_PART {
                        self.learn_text(&text);
                    }
                }
                _ => {}
            }
            false
        });
    }

    fn learn_text(&mut self, text: &str) {
        let whole = text.trim();
        if matches!(whole, "true" | "false") || whole.chars().count() < SHORTEST {
            return;
        }
        if !self.add(whole) {
            return;
        }
        // As it stands in JSON, and as those write it who write line by line.
        if let Ok(quoted) = serde_json::to_string(whole) {
            self.add(&quoted[1..quoted.len() - 1]);
        }
        if whole.contains('\n') {
            let lines = whole.lines().map(str::trim);
            for line in lines.filter(|line| line.chars().count() >= SHORTEST_PART) {
                self.add(line);
            }
        }
    }

    /// Returns whether it is new.
    fn add(&mut self, text: &str) -> bool {
        let text = EcoString::from(text);
        let is_new = self.known.insert(text.clone());
        if is_new {
            self.newest.push(text);
        }
        is_new
    }

    /// The text with `[secret]` in place of every secret in it.
    fn hide<'a>(&mut self, text: &'a str) -> Cow<'a, str> {
        if self.newest.len() > FEW.max(self.known.len() / 4) {
            self.gather();
        }
        let mut found: Vec<Range<usize>> = Vec::new();
        if let Some(matcher) = &self.matcher {
            found.extend(matcher.find_overlapping_iter(text).map(|it| it.range()));
        }
        for secret in &self.newest {
            let places = text.match_indices(secret.as_str());
            found.extend(places.map(|(at, part)| at..at + part.len()));
        }
        if found.is_empty() {
            return Cow::Borrowed(text);
        }
        Cow::Owned(without(text, found))
    }

    /// Puts all texts into the matcher. It is made anew for every fourth text at most, so that all of it stays linear.
    fn gather(&mut self) {
        // There is a limit to how many it can take; beyond, they are looked for one by one.
        if let Ok(matcher) = AhoCorasick::new(&self.known) {
            self.matcher = Some(matcher);
            self.newest.clear();
        }
    }
}

/// The text with marks in place of `ranges`, which may overlap.
fn without(text: &str, mut ranges: Vec<Range<usize>>) -> String {
    ranges.sort_by_key(|range| range.start);
    let mut shown = String::with_capacity(text.len());
    let mut end = 0;
    for range in ranges {
        if range.start >= end {
            shown.push_str(&text[end..range.start]);
            shown.push_str(MARK);
        }
        end = end.max(range.end);
    }
    shown.push_str(&text[end..]);
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn masks(secrets: &[&str]) -> Masks {
        let mut masks = Masks::new(false);
        for secret in secrets {
            masks.learn(&Value::secret(Value::from(*secret)));
        }
        masks
    }

    #[test]
    fn secrets_are_hidden_wherever_they_stand() {
        let mut masks = masks(&["hunter2"]);
        assert_eq!(masks.hide("no"), "no");
        assert_eq!(
            masks.hide("hunter2 and Xhunter2hunter2!"),
            "[secret] and X[secret][secret]!"
        );
    }

    #[test]
    fn one_secret_inside_another_leaves_nothing_behind() {
        let mut masks = masks(&["abcdef", "cde", "efgh"]);
        assert_eq!(masks.hide("-abcdefgh- cde"), "-[secret]- [secret]");
    }

    #[test]
    fn what_is_plain_short_or_a_word_of_ours_stays() {
        let mut masks = masks(&["ab", "true", "  "]);
        masks.learn(&Value::from("plain"));
        masks.learn(&Value::secret(Value::from(42.0)));
        assert_eq!(masks.hide("ab true plain 42"), "ab true plain 42");
    }

    #[test]
    fn secrets_are_found_in_every_form() {
        let mut masks = masks(&["first line\n  second \"line\"\n}\n"]);
        let object = PropertyMap::from_iter([("pin".into(), Value::from(123_456.0))]);
        masks.learn(&Value::secret(Value::from(object)));
        for text in [
            "first line",
            "second \"line\"",
            r#"first line\n  second \"line\"\n}"#,
            "123456",
        ] {
            assert_eq!(masks.hide(text), MARK, "{text}");
        }
        assert_eq!(masks.hide("}"), "}");
    }

    #[test]
    fn thousands_of_secrets_are_found() {
        let mut masks = masks(&[]);
        for index in 0..3000 {
            let secret = format!("<{index}>");
            masks.learn(&Value::secret(Value::from(secret.as_str())));
            assert_eq!(masks.hide(&format!("x{secret}y")), "x[secret]y");
        }
        assert_eq!(masks.hide("<0><2999><3000>"), "[secret][secret]<3000>");
    }

    #[test]
    fn who_wants_to_see_secrets_sees_them() {
        let mut masks = Masks::new(true);
        masks.learn(&Value::secret(Value::from("hunter2")));
        assert_eq!(masks.hide("hunter2"), "hunter2");
    }
}
