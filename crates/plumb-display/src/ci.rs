//! Markup of continuous integration systems: collapsible groups, and annotations.

use plumb_events::{Diagnostic, Severity, strip_color};

use crate::names::with_program;
use crate::text::short_type;

/// A system with known markup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CiSystem {
    /// GitHub Actions.
    GitHub,
    /// GitLab.
    GitLab,
}

impl CiSystem {
    /// Start of a collapsible group; `at` is Unix time.
    pub(crate) fn group_start(self, title: &str, at: i64) -> String {
        match self {
            CiSystem::GitHub => format!("::group::{}\n", escaped(title)),
            CiSystem::GitLab => format!(
                "\u{1b}[0Ksection_start:{at}:{}\r\u{1b}[0K{title}\n",
                identifier(title)
            ),
        }
    }

    /// End of the group with this title.
    pub(crate) fn group_end(self, title: &str, at: i64) -> String {
        match self {
            CiSystem::GitHub => "::endgroup::\n".to_owned(),
            CiSystem::GitLab => {
                format!(
                    "\u{1b}[0Ksection_end:{at}:{}\r\u{1b}[0K\n",
                    identifier(title)
                )
            }
        }
    }

    /// Highlighted line for a message in the log; `None` for messages other than errors and
    /// warnings.
    pub fn annotation(self, severity: Severity, title: &str, message: &str) -> Option<String> {
        let (word, color) = match severity {
            Severity::Error => ("error", 31),
            Severity::Warning => ("warning", 33),
            Severity::Debug | Severity::Info | Severity::InfoErr => return None,
        };
        let message = strip_color(message.trim());
        Some(match self {
            CiSystem::GitHub => {
                let place = place(&message).map_or_else(String::new, |(file, line)| {
                    format!("file={},line={line},", escaped_property(file))
                });
                format!(
                    "::{word} {place}title={}::{}\n",
                    escaped_property(title),
                    escaped(&message)
                )
            }
            // GitLab has no annotations; colour draws attention instead.
            CiSystem::GitLab => {
                let upper = word.to_uppercase();
                format!("\u{1b}[{color};1m{upper}: {title}: {message}\u{1b}[0m\n")
            }
        })
    }

    /// Annotation for a diagnostic.
    pub(crate) fn of_diagnostic(self, diagnostic: &Diagnostic, program: &str) -> Option<String> {
        if diagnostic.ephemeral {
            return None;
        }
        let title = diagnostic.urn.as_ref().map_or_else(
            || "plumb".to_owned(),
            |urn| format!("{} ({})", short_type(urn.type_text()), urn.name()),
        );
        let message = with_program(&diagnostic.message, program);
        self.annotation(diagnostic.severity, &title, &message)
    }
}

/// File and line of a message, parsed from ` on Pulumi.yaml line 5:`.
fn place(message: &str) -> Option<(&str, u32)> {
    message.lines().find_map(|line| {
        let (file, rest) = line.trim().strip_prefix("on ")?.split_once(" line ")?;
        let number = rest.split(|c: char| !c.is_ascii_digit()).next()?;
        Some((file, number.parse().ok()?))
    })
}

fn escaped(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

fn escaped_property(text: &str) -> String {
    escaped(text).replace(':', "%3A").replace(',', "%2C")
}

/// The title with only letters, digits and underscores.
fn identifier(title: &str) -> String {
    title
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() {
                c.to_ascii_lowercase()
            } else {
                '_'
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn annotations_have_places_and_are_escaped() {
        let message = "Error: resource \"nope\" not found\n\n  on Pulumi.yaml line 5:\n   5: x";
        let line = CiSystem::GitHub.annotation(Severity::Error, "a:b:C (x, y)", message);
        assert_eq!(
            line.unwrap(),
            "::error file=Pulumi.yaml,line=5,title=a%3Ab%3AC (x%2C y)::Error: resource \"nope\" not found%0A%0A  on \
             Pulumi.yaml line 5:%0A   5: x\n"
        );
        let line = CiSystem::GitLab.annotation(Severity::Warning, "plumb", "100%\n");
        assert_eq!(line.unwrap(), "\u{1b}[33;1mWARNING: plumb: 100%\u{1b}[0m\n");
        assert_eq!(
            CiSystem::GitHub.annotation(Severity::Info, "plumb", "x"),
            None
        );
    }

    #[test]
    fn sections_have_names_without_blanks() {
        assert_eq!(
            CiSystem::GitLab.group_start("Updating (dev)", 7),
            "\u{1b}[0Ksection_start:7:updating__dev_\r\u{1b}[0KUpdating (dev)\n"
        );
    }
}
