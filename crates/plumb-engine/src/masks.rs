//! Masking of secret texts in messages.
//!
//! Values are marked as secret, but messages of programs and providers are plain text that may contain the content of a
//! secret. Secret settings are masked in properties too, because programs take them for plain text by mistake (`engine.md`
//! 10.1). **Every event passes [`Masks::pass`] on its way to subscribers**, and the reasons for a partial failure, which are
//! stored in state, pass [`Masks::pass_reasons`].
//!
//! The matcher looks for the text of a secret, for its lines, and for the encodings that programs commonly use ([`forms`]).
//! `docs/security.md` lists the cases that are not masked, because they look like ordinary text.

mod forms;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use aho_corasick::AhoCorasick;
use ecow::EcoString;
use plumb_events::{
    Diagnostic, Event, Metadata, PolicyRemediation, PolicyViolation, SECRET_MARK, StateView,
};
use plumb_resource::ResourceState;
use plumb_resource::provider::PartialFailure;
use plumb_value::{ArchiveSource, AssetSource, PropertyMap, Value};
use rustc_hash::FxHashSet;

/// Minimum length of a masked text or line, in characters; shorter ones occur in too many other words.
const SHORTEST: usize = 3;
/// Minimum number of characters of a masked number.
const SHORTEST_NUMBER: usize = 6;
/// Maximum number of texts that are searched for one by one; beyond that a combined matcher is built.
const FEW: usize = 64;

/// Secret texts of a run.
pub struct Masks {
    shows_secrets: bool,
    /// Matcher for secret settings.
    settings: Option<AhoCorasick>,
    known: FxHashSet<EcoString>,
    /// Matcher for all texts except the newest.
    matcher: Option<AhoCorasick>,
    newest: Vec<EcoString>,
}

impl Masks {
    /// Masks for the secrets among the settings. With `shows_secrets`, nothing is hidden in events.
    pub fn new<'a>(shows_secrets: bool, settings: impl IntoIterator<Item = &'a Value>) -> Self {
        let mut masks = Masks {
            shows_secrets,
            settings: None,
            known: FxHashSet::default(),
            matcher: None,
            newest: Vec::new(),
        };
        settings.into_iter().for_each(|value| masks.learn(value));
        if !masks.known.is_empty() {
            masks.settings = AhoCorasick::new(&masks.known).ok();
        }
        masks
    }

    /// The text without known secrets; unchanged if secrets are shown.
    pub fn plain(&mut self, text: &str) -> String {
        if self.shows_secrets {
            text.to_owned()
        } else {
            self.hide(text).into_owned()
        }
    }

    /// Registers the secrets in `properties`.
    pub fn learn_all(&mut self, properties: &PropertyMap) {
        properties.values().for_each(|value| self.learn(value));
    }

    /// Registers the secrets in `value`.
    pub(crate) fn learn(&mut self, value: &Value) {
        value.any(&mut |inner| {
            if inner.is_secret() {
                self.learn_secret(inner);
            }
            false
        });
    }

    /// Hides secrets in the reasons of a partial failure. They are stored in state, which encrypts only property values.
    pub(crate) fn pass_reasons(&mut self, failure: &mut PartialFailure) {
        let hidden = failure.reasons.iter().map(|reason| self.hidden(reason));
        failure.reasons = hidden.collect();
    }

    /// Hides secrets in the text of an event, and registers the secrets in its properties.
    pub(crate) fn pass(&mut self, event: &mut Event) {
        if self.shows_secrets {
            return;
        }
        match event {
            Event::Diagnostic(Diagnostic { message, .. })
            | Event::PolicyViolation(PolicyViolation { message, .. }) => {
                *message = self.hidden(message);
            }
            Event::PolicyRemediation(PolicyRemediation { before, after, .. }) => {
                for properties in [before, after] {
                    self.learn_all(properties);
                    *properties = properties.map_values(&mut |value| self.without_secrets(value));
                }
            }
            Event::ResourcePre(step) | Event::ResourceOutputs(step) => {
                if let Some(new) = &step.metadata.new {
                    self.learn_all(&new.inputs);
                    self.learn_all(&new.outputs);
                }
                self.hide_settings(&mut step.metadata);
            }
            Event::ResourceFailed(step) => self.hide_settings(&mut step.metadata),
            _ => {}
        }
    }

    /// Hides secret settings among plain properties.
    fn hide_settings(&self, metadata: &mut Metadata) {
        let Some(settings) = &self.settings else {
            return;
        };
        let states = [&mut metadata.old, &mut metadata.new];
        for view in states.into_iter().flatten() {
            let has_settings = {
                let mut values = view.inputs.values().chain(view.outputs.values());
                values.any(|value| names(value, settings))
            };
            if has_settings {
                let mut hide = |value| match value {
                    Value::String(text) if settings.is_match(text.as_str()) => {
                        let found = settings.find_overlapping_iter(text.as_str());
                        Value::from(without(&text, found.map(|it| it.range()).collect()))
                    }
                    other => other,
                };
                *view = StateView::new(ResourceState {
                    inputs: Arc::new(view.inputs.map_values(&mut hide)),
                    outputs: Arc::new(view.outputs.map_values(&mut hide)),
                    ..ResourceState::clone(view)
                });
            }
        }
    }

    /// The plain value with secrets hidden. Values from policies are plain, even if they were made from secrets.
    fn without_secrets(&mut self, value: Value) -> Value {
        match value {
            Value::String(text) => match self.hide(&text) {
                Cow::Owned(hidden) => Value::from(hidden),
                Cow::Borrowed(_) => Value::String(text),
            },
            other => other,
        }
    }

    fn learn_secret(&mut self, secret: &Value) {
        secret.any(&mut |inner| {
            match inner {
                Value::String(text) => self.learn_text(text),
                Value::Asset(asset) => {
                    if let AssetSource::Text(text) = &asset.source {
                        self.learn_text(text);
                    }
                }
                Value::Archive(archive) => {
                    if let ArchiveSource::Assets(members) = &archive.source {
                        for member in members.values() {
                            self.learn_secret(member);
                        }
                    }
                }
                Value::Number(number) => {
                    let text = number.to_string();
                    if text.len() >= SHORTEST_NUMBER {
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
        for form in forms::of(text) {
            self.add(&form);
        }
        // Each line is masked as well, because programs may log a text line by line.
        if whole.contains('\n') {
            let lines = whole.lines().map(str::trim);
            for line in lines.filter(|line| is_telling(line)) {
                self.add(line);
            }
        }
    }

    /// Adds a text; returns whether it is new.
    fn add(&mut self, text: &str) -> bool {
        let text = EcoString::from(text);
        let is_new = self.known.insert(text.clone());
        if is_new {
            self.newest.push(text);
        }
        is_new
    }

    /// The text with secrets hidden.
    fn hidden(&mut self, text: &EcoString) -> EcoString {
        match self.hide(text) {
            Cow::Owned(hidden) => hidden.into(),
            Cow::Borrowed(_) => text.clone(),
        }
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

    /// Builds the matcher from all texts. This happens only when a quarter of them is new, so the total cost stays linear.
    fn gather(&mut self) {
        // Fails if there are too many texts for a matcher; the newest are then searched for one by one.
        if let Ok(matcher) = AhoCorasick::new(&self.known) {
            self.matcher = Some(matcher);
            self.newest.clear();
        }
    }
}

/// Whether a line identifies a secret. Brackets, dashes and keywords do not, because any text may contain them.
fn is_telling(line: &str) -> bool {
    line.chars().count() >= SHORTEST
        && line.chars().any(char::is_alphanumeric)
        && !matches!(line, "true" | "false" | "null")
}

/// Whether a plain part of the value contains one of the texts.
fn names(value: &Value, texts: &AhoCorasick) -> bool {
    match value {
        Value::String(text) => texts.is_match(text.as_str()),
        Value::Array(values) => values.iter().any(|value| names(value, texts)),
        Value::Object(map) => map.values().any(|value| names(value, texts)),
        Value::Output(output) if !output.secret => {
            let value = output.value.as_ref();
            value.is_some_and(|value| names(value, texts))
        }
        _ => false,
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
            shown.push_str(SECRET_MARK);
        }
        end = end.max(range.end);
    }
    shown.push_str(&text[end..]);
    shown
}

#[cfg(test)]
mod tests {
    use plumb_events::{Severity, StepEvent};
    use plumb_resource::{ResourceId, ResourceKind, StepOp, Urn};

    use super::*;

    fn step(state: ResourceState) -> StepEvent {
        StepEvent {
            metadata: Box::new(Metadata {
                op: StepOp::Create,
                urn: state.urn.clone(),
                type_token: state.type_token.clone(),
                old: None,
                new: Some(StateView::new(state)),
                keys: Vec::new(),
                diffs: Vec::new(),
                detailed_diff: None,
                logical: true,
                provider: None,
            }),
            planning: false,
            internal: false,
        }
    }

    fn masks(secrets: &[&str]) -> Masks {
        let mut masks = Masks::new(false, []);
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
            assert_eq!(masks.hide(text), SECRET_MARK, "{text}");
        }
        assert_eq!(masks.hide("}"), "}");
    }

    #[test]
    fn short_lines_of_long_secrets_are_hidden() {
        let mut masks = masks(&["user: me\nab1\n---\n{\n"]);
        assert_eq!(masks.hide("ab1 --- {"), "[secret] --- {");
    }

    #[test]
    fn texts_of_secret_assets_are_hidden() {
        let asset = |text: &str| {
            Value::Asset(Arc::new(plumb_value::Asset {
                hash: "".into(),
                source: AssetSource::Text(text.into()),
            }))
        };
        let inner = Value::Archive(Arc::new(plumb_value::Archive {
            hash: "".into(),
            source: ArchiveSource::Assets([("b".into(), asset("three"))].into()),
        }));
        let members = [("a".into(), asset("second")), ("c".into(), inner)];
        let archive = Value::Archive(Arc::new(plumb_value::Archive {
            hash: "".into(),
            source: ArchiveSource::Assets(members.into()),
        }));
        let mut masks = masks(&[]);
        masks.learn(&Value::secret(asset("first-one")));
        masks.learn(&Value::secret(archive));
        let hidden = masks.hide("first-one second three plain");
        assert_eq!(hidden, "[secret] [secret] [secret] plain");
    }

    #[test]
    fn remediations_show_no_secrets() {
        let mut masks = masks(&["hunter2"]);
        let plain = Value::from(vec![Value::from("me:hunter2")]);
        let secret = Value::secret(Value::from("other-one"));
        let before = PropertyMap::from_iter([("list".into(), plain), ("s".into(), secret)]);
        let after = PropertyMap::from_iter([("text".into(), Value::from("other-one!"))]);
        let mut event = Event::PolicyRemediation(PolicyRemediation {
            urn: None,
            color: plumb_events::ColorMode::Raw,
            policy: "p".into(),
            pack: plumb_events::PolicyPackId::default(),
            before,
            after,
        });
        masks.pass(&mut event);
        let Event::PolicyRemediation(shown) = event else {
            unreachable!()
        };
        let hidden = Value::from(vec![Value::from("me:[secret]")]);
        assert_eq!(shown.before.get("list"), Some(&hidden));
        assert_eq!(shown.after.get("text"), Some(&Value::from("[secret]!")));
    }

    #[test]
    fn settings_are_hidden_in_plain_properties() {
        let mut masks = Masks::new(false, [&Value::secret(Value::from("hunter2"))]);
        masks.learn(&Value::secret(Value::from("of-a-resource")));
        let urn = Urn::parse("urn:pulumi:dev::shop::a:b:C::c").unwrap();
        let mut state = ResourceState::new(urn, ResourceKind::Custom);
        let plain = Value::from("hunter2@of-a-resource");
        state.inputs = Arc::new(PropertyMap::from_iter([
            ("list".into(), Value::from(vec![plain])),
            ("other".into(), Value::from("x")),
        ]));
        let mut event = Event::ResourcePre(step(state));
        masks.pass(&mut event);
        let Event::ResourcePre(step) = event else {
            unreachable!()
        };
        let shown = step.metadata.new.unwrap();
        let hidden = Value::from(vec![Value::from("[secret]@of-a-resource")]);
        assert_eq!(shown.inputs.get("list"), Some(&hidden));
        assert_eq!(shown.inputs.get("other"), Some(&Value::from("x")));
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
        let secret = Value::secret(Value::from("hunter2"));
        let mut masks = Masks::new(true, [&secret]);
        let diagnostic = Diagnostic::new(Severity::Info, None, "hunter2");
        let mut event = Event::Diagnostic(diagnostic.clone());
        masks.pass(&mut event);
        assert_eq!(event, Event::Diagnostic(diagnostic));
    }

    #[test]
    fn states_get_no_secret_reasons_whatever_people_see() {
        for shows_secrets in [false, true] {
            let mut masks = Masks::new(shows_secrets, []);
            masks.learn(&Value::secret(Value::from("hunter2")));
            let mut failure = PartialFailure {
                id: ResourceId::from_text("i"),
                outputs: None,
                inputs: None,
                reasons: ["no".into(), "hunter2 is wrong".into()].into(),
                refresh_before_update: false,
            };
            masks.pass_reasons(&mut failure);
            assert_eq!(failure.reasons.as_slice(), ["no", "[secret] is wrong"]);
        }
    }
}
