//! The name of the program in texts.
//!
//! A text calls the program `plumb` where it is of this project alone, and `pulumi` where the reference has the same text. People
//! read the name that they started the program by, and so do scripts: started as `pulumi`, texts of the reference are what they
//! were there. Only commands are changed (in quotes or brackets of shells, or alone on an indented line), and a few words with the
//! name of the product. Names of files, variables and packages stay.

use std::borrow::Cow;

/// The name of the program in texts of this project.
pub const OWN_NAME: &str = "plumb";

/// The name of the program in texts of the reference.
pub(crate) const REFERENCE_NAME: &str = "pulumi";

/// Marks in front of a command.
const MARKS: [&str; 6] = ["`", "'", "\"", "(", "\t", "  "];

/// Words behind the name of the product that are about the program, and not about an SDK or a service.
const ABOUT_PROGRAM: [&str; 5] = [
    " CLI",
    " application",
    " program",
    " to report",
    " version used",
];

/// `text` with `program` wherever it names the program.
pub fn with_program<'t>(text: &'t str, program: &str) -> Cow<'t, str> {
    let named = renamed(text, OWN_NAME, program, |before, after| {
        is_marked(before) && after.starts_with([' ', '`', '\''])
    });
    if program == REFERENCE_NAME {
        return named;
    }
    let named = then(named, |text| {
        renamed(text, REFERENCE_NAME, program, is_command)
    });
    then(named, |text| {
        renamed(text, "Pulumi", "Plumb", |_, after| {
            ABOUT_PROGRAM.iter().any(|words| after.starts_with(words))
        })
    })
}

fn is_marked(before: &str) -> bool {
    MARKS.iter().any(|mark| before.ends_with(mark))
}

/// Whether the name between these texts begins a command: `'pulumi'` alone may be the name of a package.
fn is_command(before: &str, after: &str) -> bool {
    let mut letters = after.chars();
    let has_words = letters.next() == Some(' ')
        && letters
            .next()
            .is_some_and(|letter| letter.is_ascii_lowercase() || letter == '-');
    let is_whole_program = before.ends_with("for \"") && after.starts_with('"');
    let is_subject = after.starts_with(" is run ");
    (is_marked(before) && has_words) || is_whole_program || is_subject
}

/// `text` with `to` in place of each `from` between texts that `applies` takes.
fn renamed<'t>(
    text: &'t str,
    from: &str,
    to: &str,
    applies: impl Fn(&str, &str) -> bool,
) -> Cow<'t, str> {
    if from == to || !text.contains(from) {
        return Cow::Borrowed(text);
    }
    let (mut out, mut end) = (String::with_capacity(text.len()), 0);
    for (at, _) in text.match_indices(from) {
        if applies(&text[..at], &text[at + from.len()..]) {
            out.push_str(&text[end..at]);
            out.push_str(to);
            end = at + from.len();
        }
    }
    out.push_str(&text[end..]);
    Cow::Owned(out)
}

/// The change of a text that may have been changed before.
fn then(text: Cow<'_, str>, change: impl Fn(&str) -> Cow<'_, str>) -> Cow<'_, str> {
    let changed = match change(&text) {
        Cow::Borrowed(_) => None,
        Cow::Owned(changed) => Some(changed),
    };
    changed.map_or(text, Cow::Owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_have_the_name_that_the_program_was_started_by() {
        let text = "run `plumb up`, or `pulumi stack select`; plumb.lock and `plumbing` stay";
        assert_eq!(
            with_program(text, "plumb"),
            "run `plumb up`, or `plumb stack select`; plumb.lock and `plumbing` stay"
        );
        assert_eq!(
            with_program(text, "pulumi"),
            "run `pulumi up`, or `pulumi stack select`; plumb.lock and `plumbing` stay"
        );
        assert_eq!(
            with_program("begin with `plumb`", "iac"),
            "begin with `iac`"
        );
    }

    #[test]
    fn what_names_no_command_stays() {
        for text in [
            "'pulumi' is a reserved name",
            "package \"pulumi\" is built in",
            "no Pulumi.yaml project file found",
            "PULUMI_HOME and @pulumi/pulumi",
            "the Pulumi Cloud backend",
        ] {
            assert_eq!(with_program(text, "plumb"), text);
        }
    }

    #[test]
    fn texts_of_the_reference_name_plumb_when_it_was_started_as_plumb() {
        let text = "error: unknown command \"x\" for \"pulumi\"\nRun 'pulumi --help' for usage.";
        assert_eq!(
            with_program(text, "plumb"),
            "error: unknown command \"x\" for \"plumb\"\nRun 'plumb --help' for usage."
        );
        assert_eq!(with_program(text, "pulumi"), text);
        let text = "what this version of the Pulumi CLI understands";
        assert_eq!(
            with_program(text, "plumb"),
            "what this version of the Plumb CLI understands"
        );
        assert_eq!(with_program(text, "pulumi"), text);
    }
}
