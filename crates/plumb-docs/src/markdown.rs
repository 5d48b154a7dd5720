//! Markdown format: one file per page.
//!
//! Types are written in the neutral form of schemas. Parts that differ between languages are in collapsible
//! blocks.

use std::fmt::Write as _;

use super::description::{Description, Part, Prose};
use super::guide::Guide;
use super::language::{PerLanguage, ProgramLanguage};
use super::links::{DocsFormat, Links};
use super::markdown_text::resolved;
use super::model::{
    Body, Entry, Function, Index, Kind, Member, Method, Outcome, Page, Property, Resource, Shape,
    TypeSection, TypeText,
};

/// Markdown text of a page.
pub(crate) fn print(page: &Page, guide: &Guide<'_, '_>) -> String {
    let mut printer = Printer {
        links: Links::of(guide, DocsFormat::Markdown, page.at),
        text: String::with_capacity(4096),
    };
    printer.page(page);
    printer.finish()
}

/// Appends the code of each language as a fenced block.
pub(crate) fn fences(code: &PerLanguage<String>, text: &mut String) {
    for (language, code) in code.iter() {
        fence(language.word(), code, text);
    }
}

fn fence(word: &str, code: &str, text: &mut String) {
    if !text.is_empty() && !text.ends_with("\n\n") {
        text.push_str(if text.ends_with('\n') { "\n" } else { "\n\n" });
    }
    // A fence longer than any run of backquotes in the code.
    let ticks = "`".repeat(3.max(longest_run(code) + 1));
    let _ = write!(text, "{ticks}{word}\n{}\n{ticks}\n\n", code.trim_end());
}

fn longest_run(text: &str) -> usize {
    let mut longest = 0;
    let mut run = 0;
    for char in text.chars() {
        run = if char == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

struct Printer<'g, 'p, 'd> {
    links: Links<'g, 'p, 'd>,
    text: String,
}

impl Printer<'_, '_, '_> {
    fn finish(self) -> String {
        let mut text = self.text.trim_end().to_owned();
        text.push('\n');
        text
    }

    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push_str("\n\n");
    }

    fn heading(&mut self, level: usize, title: &str) {
        let line = format!("{} {title}", "#".repeat(level));
        self.line(&line);
    }

    fn page(&mut self, page: &Page) {
        self.trail(page);
        self.heading(1, &plain(&page.title));
        if let Some(token) = &page.token {
            let line = format!("{} {}", page.kind.word(), code(token));
            self.line(&line);
        }
        self.per_language(&page.imports);
        self.deprecation(page.deprecation.as_deref());
        self.prose(&page.description.text);
        self.examples(&page.description, 2);
        match &page.body {
            Body::Index(index) => self.index(index),
            Body::Resource(resource) => self.resource(page, resource),
            Body::Function(function) => self.function(function),
            Body::Type(section) => {
                self.per_language(&section.names);
                self.shape(&section.shape, 2);
                self.entries("Used by", &page.users);
            }
        }
        if !page.description.import.is_empty() {
            self.heading(2, "Import");
            self.prose(&page.description.import);
        }
        self.details();
    }

    /// Links to the ancestors of a page.
    fn trail(&mut self, page: &Page) {
        let guide = self.links.guide;
        let trail: Vec<String> = guide
            .trail(page.at)
            .into_iter()
            .map(|at| format!("[{}]({})", plain(&guide.title(at)), self.links.to(at)))
            .collect();
        if !trail.is_empty() {
            self.line(&trail.join(" / "));
        }
    }

    fn deprecation(&mut self, reason: Option<&str>) {
        if let Some(reason) = reason {
            let reason = resolved(reason, &self.links);
            let line = format!("> **Deprecated:** {}", reason.trim().replace('\n', "\n> "));
            self.line(&line);
        }
    }

    fn prose(&mut self, prose: &Prose) {
        for part in &prose.0 {
            match part {
                Part::Text(text) => {
                    let text = resolved(text, &self.links);
                    self.line(text.trim_matches(['\n', '\r']).trim_end());
                }
                Part::Code(code) => self.choices(code, |text| vec![text.clone()]),
            }
        }
    }

    /// Collapsible code blocks, one per language, the first one open.
    fn choices<T>(&mut self, choices: &PerLanguage<T>, codes: impl Fn(&T) -> Vec<String>) {
        for (index, (language, choice)) in choices.iter().enumerate() {
            let open = if index == 0 { " open" } else { "" };
            let title = language.title();
            let line = format!("<details{open}><summary>{title}</summary>");
            self.line(&line);
            for code in codes(choice) {
                fence(language.word(), &code, &mut self.text);
            }
            self.line("</details>");
        }
    }

    fn examples(&mut self, description: &Description, level: usize) {
        if description.examples.is_empty() {
            return;
        }
        self.heading(level, "Example Usage");
        for example in &description.examples {
            if !example.title.is_empty() {
                self.heading(level + 1, &example.title.replace('\n', " "));
            }
            self.prose(&example.body);
        }
    }

    /// Names of an item in each language, equal names grouped.
    fn per_language(&mut self, names: &PerLanguage<String>) {
        if !names.is_empty() {
            let line = grouped(names);
            self.line(&line);
        }
    }

    fn index(&mut self, index: &Index) {
        for (title, entries) in [
            ("Modules", &index.modules),
            ("Resources", &index.resources),
            ("Functions", &index.functions),
            ("Types", &index.types),
        ] {
            self.entries(title, entries);
        }
        if !index.config.is_empty() {
            let package = self.links.guide.package.name;
            self.heading(2, "Configuration");
            let line = format!(
                "Set with `pulumi config set {package}:NAME VALUE`, or as inputs of the provider."
            );
            self.line(&line);
            self.properties(&index.config);
        }
    }

    fn entries(&mut self, title: &str, entries: &[Entry]) {
        if entries.is_empty() {
            return;
        }
        self.heading(2, title);
        for entry in entries {
            let _ = write!(
                self.text,
                "- [{}]({})",
                plain(&entry.name),
                self.links.to(entry.at)
            );
            if entry.is_deprecated {
                self.text.push_str(" (deprecated)");
            }
            if !entry.summary.is_empty() {
                let _ = write!(self.text, ": {}", plain(&entry.summary));
            }
            self.text.push('\n');
        }
        self.text.push('\n');
    }

    fn resource(&mut self, page: &Page, resource: &Resource) {
        self.heading(2, &format!("Create {} resource", article(&page.title)));
        self.choices(&resource.constructors, Clone::clone);
        self.heading(2, "Inputs");
        self.properties(&resource.inputs);
        self.heading(2, "Outputs");
        self.line("All inputs are available as outputs too. The resource has these besides:");
        if page.kind != Kind::Component {
            self.text
                .push_str("- **`id`** `string`: The ID that the provider has given to it.\n");
        }
        self.properties(&resource.outputs);
        if let Some(lookup) = &resource.lookup {
            self.heading(2, "Look up an existing resource");
            self.choices(&lookup.signatures, Clone::clone);
            if !lookup.state.is_empty() {
                self.line("These properties help to find it:");
                self.properties(&lookup.state);
            }
        }
        if !resource.methods.is_empty() {
            self.heading(2, "Methods");
        }
        for method in &resource.methods {
            self.method(method);
        }
        self.types(&resource.types);
        if !resource.aliases.is_empty() {
            self.heading(2, "Former types");
            for alias in &resource.aliases {
                let _ = writeln!(self.text, "- {}", code(alias));
            }
            self.text.push('\n');
        }
    }

    fn method(&mut self, method: &Method) {
        self.heading(3, &plain(&method.name));
        self.deprecation(method.deprecation.as_deref());
        self.prose(&method.description.text);
        self.examples(&method.description, 4);
        self.choices(&method.signatures, Clone::clone);
        if !method.arguments.is_empty() {
            self.heading(4, "Arguments");
            self.properties(&method.arguments);
        }
        self.outcome(&method.outcome, 4);
    }

    fn function(&mut self, function: &Function) {
        self.heading(2, "Call the function");
        if !function.plain.is_empty() {
            self.line("With values that are known already:");
            self.choices(&function.plain, Clone::clone);
        }
        if !function.output.is_empty() {
            self.line("With outputs of resources:");
            self.choices(&function.output, Clone::clone);
        }
        if !function.arguments.is_empty() {
            self.heading(2, "Arguments");
            self.properties(&function.arguments);
        }
        self.outcome(&function.outcome, 2);
        self.types(&function.types);
    }

    fn outcome(&mut self, outcome: &Outcome, level: usize) {
        match outcome {
            Outcome::Nothing => {}
            Outcome::Object(properties) => {
                self.heading(level, "Result");
                self.properties(properties);
            }
            Outcome::Value(ty) => {
                self.heading(level, "Result");
                let line = self.type_text(ty);
                self.line(&line);
            }
        }
    }

    fn types(&mut self, sections: &[TypeSection]) {
        if sections.is_empty() {
            return;
        }
        self.heading(2, "Supporting types");
        for section in sections {
            let title = format!("[{}]({})", plain(&section.name), self.links.to(section.at));
            self.heading(3, &title);
            self.per_language(&section.names);
            self.prose(&section.description.text);
            self.shape(&section.shape, 4);
        }
    }

    fn shape(&mut self, shape: &Shape, level: usize) {
        match shape {
            Shape::Object(properties) => {
                if level == 2 {
                    self.heading(level, "Properties");
                }
                self.properties(properties);
            }
            Shape::Enum {
                underlying,
                members,
            } => {
                if level == 2 {
                    self.heading(level, "Values");
                }
                let line = format!("Values are of type `{underlying}`.");
                self.line(&line);
                for member in members {
                    self.member(member);
                }
                self.text.push('\n');
            }
        }
    }

    fn member(&mut self, member: &Member) {
        let _ = write!(
            self.text,
            "- {} ({})",
            code(&member.value),
            grouped(&member.names)
        );
        self.indented(&member.description, member.deprecation.as_deref());
    }

    fn properties(&mut self, properties: &[Property]) {
        for property in properties {
            self.property(property);
        }
        if !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    fn property(&mut self, property: &Property) {
        let ty = self.type_text(&property.ty);
        let _ = write!(self.text, "- **{}** {ty}", code(&property.name));
        let marks = marks(property);
        if !marks.is_empty() {
            let _ = write!(self.text, " ({})", marks.join(", "));
        }
        let others: PerLanguage<String> = property
            .names
            .iter()
            .filter(|(_, name)| **name != property.name)
            .map(|(language, name)| (language, name.clone()))
            .collect();
        if !others.is_empty() {
            let _ = write!(self.text, " · {}", grouped(&others));
        }
        self.indented(&property.description, property.deprecation.as_deref());
    }

    /// Description of a list item, indented below its line.
    fn indented(&mut self, description: &Description, deprecation: Option<&str>) {
        self.text.push('\n');
        let mut inner = Printer {
            links: Links {
                guide: self.links.guide,
                format: self.links.format,
                from: self.links.from.clone(),
            },
            text: String::new(),
        };
        inner.deprecation(deprecation);
        inner.prose(&description.text);
        for example in &description.examples {
            inner.prose(&example.body);
        }
        let text = inner.text.trim_end();
        if text.is_empty() {
            return;
        }
        self.text.push('\n');
        for line in text.lines() {
            if !line.is_empty() {
                self.text.push_str("  ");
                self.text.push_str(line);
            }
            self.text.push('\n');
        }
        self.text.push('\n');
    }

    /// A type, as a link if the whole type is one.
    fn type_text(&self, ty: &TypeText) -> String {
        let mut text = code(&ty.neutral);
        if let [only] = &ty.links[..]
            && only.neutral == ty.neutral
        {
            return format!("[{text}]({})", self.links.to(only.at));
        }
        for link in &ty.links {
            let _ = write!(
                text,
                " ([{}]({}))",
                plain(&link.neutral),
                self.links.to(link.at)
            );
        }
        text
    }

    fn details(&mut self) {
        let package = self.links.guide.package;
        let about = &package.about;
        let mut lines = Vec::new();
        let version = package
            .version
            .as_ref()
            .map(ToString::to_string)
            .unwrap_or_default();
        lines.push(
            format!("- Package: {} {version}", plain(package.name))
                .trim_end()
                .to_owned(),
        );
        for (what, value) in [
            ("Publisher", about.publisher),
            ("License", about.license),
            ("Repository", about.repository),
            ("Home page", about.homepage),
            ("Notes", about.attribution),
        ] {
            if let Some(value) = value.filter(|value| !value.trim().is_empty()) {
                let value = resolved(value, &self.links);
                lines.push(format!("- {what}: {}", value.trim().replace('\n', " ")));
            }
        }
        self.heading(2, "Package details");
        self.line(&lines.join("\n"));
    }
}

/// Attributes of a property.
fn marks(property: &Property) -> Vec<String> {
    let mut marks = Vec::new();
    for (holds, word) in [
        (property.is_required, "required"),
        (property.is_secret, "secret"),
        (
            property.is_replace_on_changes,
            "changes replace the resource",
        ),
        (property.deprecation.is_some(), "deprecated"),
    ] {
        if holds {
            marks.push(word.to_owned());
        }
    }
    if let Some(constant) = &property.constant {
        marks.push(format!("always {}", code(constant)));
    }
    if let Some(default) = &property.default {
        marks.push(format!("default {}", code(default)));
    }
    if !property.environment.is_empty() {
        let names: Vec<String> = property.environment.iter().map(|name| code(name)).collect();
        marks.push(format!("from the environment: {}", names.join(", ")));
    }
    marks
}

/// Names, each with its languages.
fn grouped(names: &PerLanguage<String>) -> String {
    let groups = names.grouped().into_iter();
    let groups = groups.map(|(languages, name)| {
        let titles: Vec<&str> = languages.into_iter().map(ProgramLanguage::title).collect();
        format!("{} {}", titles.join(", "), code(name))
    });
    groups.collect::<Vec<_>>().join(" · ")
}

/// A code span, delimited by more backquotes than the text contains in a row.
fn code(text: &str) -> String {
    let text = text.replace(['\n', '\r'], " ");
    let ticks = "`".repeat(longest_run(&text) + 1);
    if text.starts_with('`') || text.ends_with('`') || text.is_empty() {
        format!("{ticks} {text} {ticks}")
    } else {
        format!("{ticks}{text}{ticks}")
    }
}

/// Text escaped for Markdown.
fn plain(text: &str) -> String {
    let mut result = String::with_capacity(text.len() + 4);
    for char in text.chars() {
        match char {
            '\n' | '\r' => result.push(' '),
            '[' | ']' | '<' | '>' | '*' | '`' | '\\' | '#' | '|' => {
                result.push('\\');
                result.push(char);
            }
            '_' => result.push_str("\\_"),
            char => result.push(char),
        }
    }
    result
}

/// A name with "a" or "an" before it.
fn article(name: &str) -> String {
    let is_vowel = name.starts_with(['A', 'E', 'I', 'O', 'U', 'a', 'e', 'i', 'o', 'u']);
    format!("{} {}", if is_vowel { "an" } else { "a" }, plain(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_nothing_but_text() {
        assert_eq!(
            plain("[a](b) <script>\n# x"),
            "\\[a\\](b) \\<script\\> \\# x"
        );
        assert_eq!(code("a`b"), "``a`b``");
        assert_eq!(code("`"), "`` ` ``");
        let mut text = String::new();
        fence("go", "a\n```\nb", &mut text);
        assert_eq!(text, "````go\na\n```\nb\n````\n\n");
    }
}
