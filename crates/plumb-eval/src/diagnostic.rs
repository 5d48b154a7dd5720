//! Problems of programs: severity, position and text.

use std::fmt::Write as _;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use crate::source::{SourceFile, Span};

/// Severity of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The program cannot run.
    Error,
    /// The program runs, but is probably wrong.
    Warning,
}

/// A problem of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Severity.
    pub severity: Severity,
    /// Short description.
    pub summary: String,
    /// Details: reasons, suggestions.
    pub detail: Option<String>,
    /// Suggested correction. Shown only by [`Diagnostic::annotated`], because scripts may match the text of the other forms.
    pub hint: Option<String>,
    /// Position in the program.
    pub span: Option<Span>,
}

impl Diagnostic {
    /// An error at `span`.
    pub fn error(span: Span, summary: impl Into<String>) -> Self {
        Diagnostic {
            severity: Severity::Error,
            summary: summary.into(),
            detail: None,
            hint: None,
            span: Some(span),
        }
    }

    /// A warning at `span`.
    pub fn warning(span: Span, summary: impl Into<String>) -> Self {
        Diagnostic {
            severity: Severity::Warning,
            ..Diagnostic::error(span, summary)
        }
    }

    /// The diagnostic with details.
    #[must_use]
    pub fn with_detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into()).filter(|text: &String| !text.is_empty());
        self
    }

    /// The diagnostic with a suggested correction.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Whether the problem prevents the program from running.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// The summary, the source lines and the details, in the form of the engine's log.
    pub fn excerpt(&self, source: &SourceFile) -> String {
        let mut text = self.summary.clone();
        if let Some(span) = self.span {
            let (first, _) = source.position(span.start);
            let (last, _) = source.position(span.end.saturating_sub(1).max(span.start));
            let _ = write!(text, "\n\n  on {} line {first}:", source.name);
            for number in first..=last {
                let _ = write!(text, "\n{number:4}: {}", source.line(number));
            }
        }
        if let Some(detail) = &self.detail {
            let _ = write!(text, "\n\n{detail}");
        }
        text
    }

    /// The diagnostic on one line that begins with its range, for errors outside of a run.
    pub fn one_line(&self, source: &SourceFile) -> String {
        let place = self
            .span
            .map_or_else(|| "<nil>".to_owned(), |span| source.range(span));
        let detail = self.detail.as_deref().unwrap_or_default();
        format!("{place}: {}; {detail}", self.summary)
    }

    /// [`Diagnostic::excerpt`] with the severity before it, for output without severities.
    pub fn titled_excerpt(&self, source: &SourceFile) -> String {
        let title = match self.severity {
            Severity::Error => "Error",
            Severity::Warning => "Warning",
        };
        format!("{title}: {}", self.excerpt(source))
    }

    /// The problem marked in its source lines, with file, line and column.
    pub fn annotated(&self, source: &SourceFile) -> String {
        let level = match self.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        let mut group = Group::with_title(level.primary_title(self.summary.as_str()));
        if let Some(span) = self.span {
            let range = span.start as usize..(span.end as usize).min(source.text.len());
            let annotation = AnnotationKind::Primary.span(range);
            group = group.element(
                Snippet::source(&*source.text)
                    .path(source.name.as_str())
                    .annotation(annotation),
            );
        }
        if let Some(detail) = &self.detail {
            group = group.element(Level::NOTE.message(detail.as_str()));
        }
        if let Some(hint) = &self.hint {
            group = group.element(Level::HELP.message(hint.as_str()));
        }
        Renderer::plain().render(&[group])
    }
}

/// Diagnostics as the text of one error: a single one on its line, several as a list with errors first.
pub fn joined(diagnostics: &[Diagnostic], source: &SourceFile) -> String {
    if let [only] = diagnostics {
        return only.one_line(source);
    }
    let mut text = String::new();
    for (severity, name) in [(Severity::Error, "error"), (Severity::Warning, "warning")] {
        for diagnostic in diagnostics.iter().filter(|it| it.severity == severity) {
            let _ = write!(text, "\n-{name}: {}", diagnostic.one_line(source));
        }
    }
    text
}

/// Edit distance of two words.
pub fn distance(left: &str, right: &str) -> usize {
    strsim::levenshtein(left, right)
}

/// All `candidates` by their distance from `word`, then by name.
pub fn by_distance<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let mut ranked: Vec<(usize, &str)> = candidates
        .into_iter()
        .map(|candidate| (strsim::levenshtein(word, candidate), candidate))
        .collect();
    ranked.sort_unstable();
    ranked.dedup();
    ranked.into_iter().map(|(_, candidate)| candidate).collect()
}

/// Up to five of `candidates`, nearest first.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let mut nearest = by_distance(word, candidates);
    nearest.truncate(5);
    nearest
}

/// The candidate near enough to `word` to be the intended one.
pub fn probably_meant<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let best = nearest(word, candidates).into_iter().next()?;
    let distance = strsim::levenshtein(&word.to_lowercase(), &best.to_lowercase());
    (distance <= 2.max(word.len() / 4) && distance < word.len()).then_some(best)
}

/// `a, b, c and 3 others`: the nearest of `candidates`, and the number of the others.
pub fn existing<'a>(word: &str, candidates: impl ExactSizeIterator<Item = &'a str>) -> String {
    let total = candidates.len();
    let shown = nearest(word, candidates);
    match total - shown.len() {
        0 => shown.join(", "),
        1 => format!("{} and 1 other", shown.join(", ")),
        more => format!("{} and {more} others", shown.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source() -> SourceFile {
        SourceFile::new(
            "Pulumi.yaml",
            "/p/Pulumi.yaml".into(),
            "name: x\nresources:\n  a: {type: lab:Thingy}\n",
        )
    }

    #[test]
    fn an_excerpt_shows_line_and_detail() {
        let source = source();
        let at = source.text.find("lab").unwrap();
        let diagnostic =
            Diagnostic::error(Span::new(at, at + 10), "no such type").with_detail("Did you mean?");
        assert_eq!(
            diagnostic.titled_excerpt(&source),
            "Error: no such type\n\n  on Pulumi.yaml line 3:\n   3:   a: {type: lab:Thingy}\n\nDid you mean?"
        );
        let drawn = diagnostic.annotated(&source);
        assert!(drawn.contains("Pulumi.yaml:3:13"), "{drawn}");
        assert!(drawn.contains("^^^^^^^^^^"), "{drawn}");
    }

    #[test]
    fn suggestions_are_ordered_by_distance_then_name() {
        assert_eq!(
            nearest("valeu", ["value", "other", "name", "values"]),
            ["value", "values", "name", "other"]
        );
        assert_eq!(probably_meant("pett", ["pet", "password"]), Some("pet"));
        assert_eq!(probably_meant("x", ["a"]), None);
        assert_eq!(
            existing("a", ["a", "b", "c", "d", "e", "f", "g"].into_iter()),
            "a, b, c, d, e and 2 others"
        );
    }
}
