//! XML documentation comments.
//!
//! Descriptions are escaped as text, and split at every character that C# treats as the end of a line,
//! because a `///` comment ends there.

use std::rc::Rc;

use plumb_schema::bound::member_of;

use super::names;
use super::sdk::Sdk;
use crate::classes::Doc;
use crate::markdown::{self, Dialect};

impl Sdk<'_, '_> {
    /// XML comment for a description.
    pub(super) fn doc(&self, description: Option<&str>) -> Doc {
        let mut lines = Vec::new();
        if let Some(description) = description {
            let text = markdown::translate(description, self);
            let text = text.trim_matches(['\n', '\r']);
            if !text.trim().is_empty() {
                lines.push("<summary>".to_owned());
                // Markers of the web documentation's code chooser.
                let shown = text
                    .lines()
                    .filter(|it| !it.ends_with("PulumiCodeChooser -->"));
                lines.extend(shown.map(escape));
                lines.push("</summary>".to_owned());
            }
        }
        Rc::new(lines)
    }

    /// `Obsolete` attribute of a deprecated item. Properties get none, because the generated code that
    /// assigns them would cause warnings.
    pub(super) fn obsolete(&self, deprecation: Option<&str>) -> Vec<String> {
        let mark = |text: &str| {
            let text = markdown::translate(text, self);
            format!("[global::System.Obsolete({})]", names::string(&text))
        };
        deprecation.map(mark).into_iter().collect()
    }
}

/// Summary comment with fixed text.
pub(super) fn summary(text: &str) -> Doc {
    Rc::new(vec![
        "<summary>".to_owned(),
        escape(text),
        "</summary>".to_owned(),
    ])
}

fn escape(line: &str) -> String {
    let mut result = String::with_capacity(line.len() + 8);
    for char in line.trim_end().chars() {
        match char {
            '<' => result.push_str("&lt;"),
            '>' => result.push_str("&gt;"),
            '&' => result.push_str("&amp;"),
            '\u{2028}' | '\u{2029}' => result.push(' '),
            char if char.is_control() && char != '\t' => result.push(' '),
            char => result.push(char),
        }
    }
    result
}

impl Dialect for Sdk<'_, '_> {
    const FENCE: &'static str = "csharp";
    const SPAN: &'static str = "dotnet";

    fn reference(&self, destination: &str) -> String {
        let fragment = destination.rsplit('#').next().unwrap_or_default();
        let mut steps = fragment.trim_start_matches('/').split('/');
        let (_, token) = (steps.next(), steps.next().unwrap_or_default());
        let token = token.replace("%2F", "/").replace("%2f", "/");
        let name = steps.next_back().unwrap_or_else(|| member_of(&token));
        format!("`{}`", names::title(name))
    }
}
