//! Sections of a page.

use std::fmt::Write as _;

use super::html::{escape, linked, only_for};
use super::prose::{Level, code_block, detail, markdown, prose};
use crate::address::PageAt;
use crate::description::Description;
use crate::language::{PerLanguage, ProgramLanguage};
use crate::links::Links;
use crate::model::{Entry, Member, Method, Outcome, Property, Shape, TypeSection, TypeText};

/// Writer for the body of a page. Records its sections for the table of contents.
pub(crate) struct Sections<'l, 'g, 'p, 'd> {
    pub(crate) links: &'l Links<'g, 'p, 'd>,
    pub(crate) languages: &'l [ProgramLanguage],
    pub(crate) html: String,
    /// Anchors and titles.
    pub(crate) contents: Vec<(String, String)>,
    /// Nested types on this page, with their anchors.
    pub(crate) here: Vec<(PageAt, String)>,
}

impl Sections<'_, '_, '_, '_> {
    /// Writes the heading of a section.
    pub(crate) fn section(&mut self, id: &str, title: &str) {
        self.contents.push((id.to_owned(), title.to_owned()));
        self.heading(2, id, title);
    }

    fn heading(&mut self, level: usize, id: &str, title: &str) {
        let (id, title) = (escape(id), escape(title));
        let _ = write!(
            self.html,
            "<h{level} id=\"{id}\"><a class=\"self\" href=\"#{id}\">{title}</a></h{level}>"
        );
    }

    pub(crate) fn paragraph(&mut self, text: &str) {
        let _ = write!(self.html, "<p>{}</p>", escape(text));
    }

    pub(crate) fn deprecation(&mut self, reason: Option<&str>) {
        if let Some(reason) = reason {
            let text = markdown(reason, Level::Detail, self.links);
            let _ = write!(
                self.html,
                "<div class=\"deprecated\"><strong>Deprecated</strong>{text}</div>"
            );
        }
    }

    pub(crate) fn text(&mut self, description: &Description) {
        let text = prose(&description.text, self.languages, Level::Page, self.links);
        self.html.push_str(&text);
    }

    pub(crate) fn examples(&mut self, description: &Description) {
        if description.examples.is_empty() {
            return;
        }
        self.section("examples", "Example usage");
        for example in &description.examples {
            if !example.title.is_empty() {
                let title = markdown(&example.title, Level::Detail, self.links);
                let title = title
                    .trim()
                    .trim_start_matches("<p>")
                    .trim_end_matches("</p>");
                let _ = write!(self.html, "<h3>{title}</h3>");
            }
            let body = prose(&example.body, self.languages, Level::Detail, self.links);
            self.html.push_str(&body);
        }
    }

    /// Signatures in each language.
    pub(crate) fn signatures(&mut self, signatures: &PerLanguage<Vec<String>>) {
        let missing: Vec<ProgramLanguage> = self
            .languages
            .iter()
            .copied()
            .filter(|language| signatures.get(*language).is_none())
            .collect();
        for (language, list) in signatures.iter() {
            for signature in list {
                let block = code_block(signature, Some(language), &[language]);
                self.html.push_str(&block);
            }
        }
        if !missing.is_empty() {
            let titles: Vec<&str> = missing.iter().map(|language| language.title()).collect();
            let _ = write!(
                self.html,
                "<p class=\"missing\"{}>Not available in {}.</p>",
                only_for(&missing),
                titles.join(", ")
            );
        }
    }

    pub(crate) fn entries(&mut self, id: &str, title: &str, entries: &[Entry]) {
        if entries.is_empty() {
            return;
        }
        self.section(id, title);
        self.html.push_str("<ul class=\"entries\">");
        for entry in entries {
            let way = escape(&self.links.to(entry.at));
            let name = escape(&entry.name);
            let _ = write!(self.html, "<li><a href=\"{way}\">{name}</a>");
            if entry.is_deprecated {
                self.html
                    .push_str(" <span class=\"mark\">deprecated</span>");
            }
            if !entry.summary.is_empty() {
                let _ = write!(self.html, "<p>{}</p>", escape(&entry.summary));
            }
            self.html.push_str("</li>");
        }
        self.html.push_str("</ul>");
    }

    pub(crate) fn properties(&mut self, properties: &[Property]) {
        if properties.is_empty() {
            self.html.push_str("<p class=\"none\">None.</p>");
            return;
        }
        self.html.push_str("<dl class=\"properties\">");
        for property in properties {
            self.property(property);
        }
        self.html.push_str("</dl>");
    }

    fn property(&mut self, property: &Property) {
        let id = escape(&property.id);
        let names = if property.names.is_empty() {
            format!("<code>{}</code>", escape(&property.name))
        } else {
            named(&property.names)
        };
        let _ = write!(
            self.html,
            "<div class=\"property\" id=\"{id}\"><dt><a class=\"self name\" href=\"#{id}\">{names}</a> {}{}</dt><dd>",
            self.type_text(&property.ty),
            marks(property)
        );
        self.deprecation(property.deprecation.as_deref());
        let text = detail(&property.description, self.languages, self.links);
        self.html.push_str(&text);
        self.html.push_str(&origins(property));
        self.html.push_str("</dd></div>");
    }

    /// A type with its links, as each language writes it.
    pub(crate) fn type_text(&self, ty: &TypeText) -> String {
        let ways: Vec<String> = ty.links.iter().map(|link| self.way(link.at)).collect();
        let mut result = String::new();
        for (languages, text) in ty.texts.grouped() {
            // Languages that write the whole type alike also write the names in it alike.
            let first = languages[0];
            let names: Vec<(&str, &str)> = ty
                .links
                .iter()
                .zip(&ways)
                .filter_map(|(link, way)| Some((link.texts.get(first)?.as_str(), way.as_str())))
                .collect();
            let _ = write!(
                result,
                "<code class=\"type\"{}>{}</code>",
                only_for(&languages),
                linked(text, &names)
            );
        }
        result
    }

    /// Link to a page, or to its anchor if this page shows it.
    fn way(&self, at: PageAt) -> String {
        let here = self.here.iter().find(|(known, _)| *known == at);
        match here {
            Some((_, id)) => format!("#{id}"),
            None => self.links.to(at),
        }
    }

    pub(crate) fn method(&mut self, method: &Method) {
        self.heading(3, &method.id, &method.name);
        self.deprecation(method.deprecation.as_deref());
        let text = detail(&method.description, self.languages, self.links);
        self.html.push_str(&text);
        self.signatures(&method.signatures);
        if !method.arguments.is_empty() {
            self.html.push_str("<h4>Arguments</h4>");
            self.properties(&method.arguments);
        }
        if !matches!(method.outcome, Outcome::Nothing) {
            self.html.push_str("<h4>Result</h4>");
        }
        self.outcome(&method.outcome);
    }

    pub(crate) fn outcome(&mut self, outcome: &Outcome) {
        match outcome {
            Outcome::Nothing => {}
            Outcome::Object(properties) => self.properties(properties),
            Outcome::Value(ty) => {
                let text = self.type_text(ty);
                let _ = write!(self.html, "<p>{text}</p>");
            }
        }
    }

    pub(crate) fn types(&mut self, sections: &[TypeSection]) {
        if sections.is_empty() {
            return;
        }
        self.section("types", "Supporting types");
        for section in sections {
            self.heading(3, &section.id, &section.name);
            let way = escape(&self.links.to(section.at));
            let names = named(&section.names);
            let _ = write!(
                self.html,
                "<p class=\"names\">{names} <a class=\"own\" href=\"{way}\">own page</a></p>"
            );
            let text = detail(&section.description, self.languages, self.links);
            self.html.push_str(&text);
            self.shape(&section.shape);
        }
    }

    pub(crate) fn shape(&mut self, shape: &Shape) {
        match shape {
            Shape::Object(properties) => self.properties(properties),
            Shape::Enum {
                underlying,
                members,
            } => {
                let _ = write!(
                    self.html,
                    "<p>Values are of type <code>{underlying}</code>.</p><dl class=\"properties\">"
                );
                for member in members {
                    self.member(member);
                }
                self.html.push_str("</dl>");
            }
        }
    }

    fn member(&mut self, member: &Member) {
        let names = named(&member.names);
        let value = escape(&member.value);
        let _ = write!(
            self.html,
            "<div class=\"property\"><dt><span class=\"name\">{names}</span> <code class=\"type\">{value}</code></dt><dd>"
        );
        self.deprecation(member.deprecation.as_deref());
        let text = detail(&member.description, self.languages, self.links);
        self.html.push_str(&text);
        self.html.push_str("</dd></div>");
    }
}

/// Names of an item in each language.
pub(crate) fn named(names: &PerLanguage<String>) -> String {
    let mut result = String::new();
    for (languages, name) in names.grouped() {
        let _ = write!(
            result,
            "<code{}>{}</code>",
            only_for(&languages),
            escape(name)
        );
    }
    result
}

/// Attributes of a property.
fn marks(property: &Property) -> String {
    let mut result = String::new();
    for (holds, class, word) in [
        (property.is_required, "mark required", "required"),
        (property.is_secret, "mark", "secret"),
        (
            property.is_replace_on_changes,
            "mark replaces",
            "replaces on change",
        ),
        (property.deprecation.is_some(), "mark", "deprecated"),
    ] {
        if holds {
            let _ = write!(result, " <span class=\"{class}\">{word}</span>");
        }
    }
    result
}

/// Sources of a property's value if the user gives none: constant, default and environment
/// variables.
fn origins(property: &Property) -> String {
    let mut parts = Vec::new();
    if let Some(constant) = &property.constant {
        parts.push(format!("Always <code>{}</code>.", escape(constant)));
    }
    if let Some(default) = &property.default {
        parts.push(format!("Default: <code>{}</code>.", escape(default)));
    }
    if !property.environment.is_empty() {
        let names = property.environment.iter();
        let names: Vec<String> = names
            .map(|it| format!("<code>{}</code>", escape(it)))
            .collect();
        parts.push(format!("From the environment: {}.", names.join(", ")));
    }
    if parts.is_empty() {
        return String::new();
    }
    format!("<p class=\"origins\">{}</p>", parts.join(" "))
}
