//! Page layout in HTML.

use std::fmt::Write as _;

use super::html::escape;
use super::prose::{Level, markdown, prose};
use super::sections::{Sections, named};
use super::{POLICY, SCRIPT, SEARCH, STYLE};
use crate::address::PageAt;
use crate::guide::Guide;
use crate::language::ProgramLanguage;
use crate::links::{DocsFormat, Links};
use crate::model::{Body, Function, Index, Kind, Outcome, Page, Resource};

/// HTML text of a page.
pub(crate) fn print(page: &Page, guide: &Guide<'_, '_>) -> String {
    let links = Links::of(guide, DocsFormat::Site, page.at);
    let mut sections = Sections {
        links: &links,
        languages: &page.languages,
        html: String::with_capacity(16 * 1024),
        contents: Vec::new(),
        here: here(page),
    };
    body(page, &mut sections);
    let Sections { html, contents, .. } = sections;
    let mut text = String::with_capacity(html.len() + 4096);
    head(page, &links, &mut text);
    banner(page, &links, &mut text);
    text.push_str("<div class=\"columns\">");
    table_of_contents(&contents, &mut text);
    let _ = write!(
        text,
        "<main id=\"main\">{}{html}</main></div>",
        trail(page, &links)
    );
    text.push_str("</body></html>\n");
    text
}

/// Nested types on the page, with their anchors.
fn here(page: &Page) -> Vec<(PageAt, String)> {
    let types = match &page.body {
        Body::Resource(resource) => &resource.types[..],
        Body::Function(function) => &function.types[..],
        Body::Index(_) | Body::Type(_) => &[],
    };
    types
        .iter()
        .map(|section| (section.at, section.id.clone()))
        .collect()
}

fn head(page: &Page, links: &Links<'_, '_, '_>, text: &mut String) {
    let style = links.to_file(STYLE);
    let script = links.to_file(SCRIPT);
    let package = links.guide.package_title();
    let title = if page.at == PageAt::Package {
        format!("{package} documentation")
    } else {
        format!("{} - {package}", page.tag)
    };
    let _ = write!(
        text,
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta name=\"description\" content=\"{}\"><title>{}</title>\
         <link rel=\"stylesheet\" href=\"{style}\"><script src=\"{script}\"></script></head>",
        escape(&page.summary),
        escape(&title)
    );
}

/// Banner: home link, language chooser and search.
fn banner(page: &Page, links: &Links<'_, '_, '_>, text: &mut String) {
    let guide = links.guide;
    let version = guide.package.version.as_ref();
    let version = version
        .map(|it| format!(" <small>{it}</small>"))
        .unwrap_or_default();
    let root = links.to_file("");
    let search = links.to_file(SEARCH);
    let _ = write!(
        text,
        "<body data-root=\"{root}\" data-search=\"{search}\"><a class=\"skip\" href=\"#main\">Skip to content</a>\
         <header><a class=\"home\" href=\"{}\">{}{version}</a>\
         <div class=\"search\" role=\"search\"><input id=\"search\" type=\"search\" placeholder=\"Search\" \
         aria-label=\"Search resources, functions and types\" autocomplete=\"off\" role=\"combobox\" \
         aria-expanded=\"false\" aria-controls=\"search-results\"><ul id=\"search-results\" role=\"listbox\" aria-label=\"Results\" hidden></ul></div>\
         <label class=\"chooser\"><span>Language</span> <select id=\"language\">",
        escape(&links.to(PageAt::Package)),
        escape(guide.package_title())
    );
    for language in guide.languages() {
        let note = if page.languages.contains(&language) {
            ""
        } else {
            " (not here)"
        };
        let _ = write!(
            text,
            "<option value=\"{}\">{}{note}</option>",
            language.word(),
            language.title()
        );
    }
    text.push_str("</select></label></header>");
}

fn table_of_contents(contents: &[(String, String)], text: &mut String) {
    text.push_str("<nav class=\"contents\" aria-label=\"On this page\">");
    if contents.len() > 1 {
        text.push_str("<details><summary>On this page</summary><ul>");
        for (id, title) in contents {
            let _ = write!(
                text,
                "<li><a href=\"#{}\">{}</a></li>",
                escape(id),
                escape(title)
            );
        }
        text.push_str("</ul></details>");
    }
    text.push_str("</nav>");
}

/// Links to the ancestors of a page.
fn trail(page: &Page, links: &Links<'_, '_, '_>) -> String {
    let above = links.guide.trail(page.at);
    if above.is_empty() {
        return String::new();
    }
    let mut text = String::from("<nav class=\"trail\" aria-label=\"Where you are\"><ol>");
    for at in above {
        let way = escape(&links.to(at));
        let title = escape(&links.guide.title(at));
        let _ = write!(text, "<li><a href=\"{way}\">{title}</a></li>");
    }
    text.push_str("</ol></nav>");
    text
}

fn body(page: &Page, sections: &mut Sections<'_, '_, '_, '_>) {
    title(page, sections);
    sections.deprecation(page.deprecation.as_deref());
    sections.text(&page.description);
    sections.examples(&page.description);
    match &page.body {
        Body::Index(index) => index_body(index, sections),
        Body::Resource(resource) => resource_body(page, resource, sections),
        Body::Function(function) => function_body(function, sections),
        Body::Type(section) => {
            let is_enum = page.kind == Kind::Enum;
            let heading = if is_enum { "Values" } else { "Properties" };
            sections.section("properties", heading);
            sections.shape(&section.shape);
            sections.entries("users", "Used by", &page.users);
        }
    }
    if !page.description.import.is_empty() {
        sections.section("import", "Import");
        let text = prose(
            &page.description.import,
            &page.languages,
            Level::Page,
            sections.links,
        );
        sections.html.push_str(&text);
    }
    details(sections);
}

fn title(page: &Page, sections: &mut Sections<'_, '_, '_, '_>) {
    let names = named(&page.imports);
    let html = &mut sections.html;
    let _ = write!(
        html,
        "<p class=\"kind\">{}</p><h1>{}</h1>",
        page.kind.word(),
        escape(&page.title)
    );
    if let Some(token) = &page.token {
        let _ = write!(
            html,
            "<p class=\"facts\">Token <code>{}</code></p>",
            escape(token)
        );
    }
    if !page.imports.is_empty() {
        let _ = write!(html, "<p class=\"facts\">In {names}</p>");
    }
    if matches!(page.body, Body::Type(_)) {
        let classes = named(&page.names);
        let _ = write!(sections.html, "<p class=\"facts\">Called {classes}</p>");
    }
    only_some(page, sections);
}

/// Notice for languages in which the member is not available.
fn only_some(page: &Page, sections: &mut Sections<'_, '_, '_, '_>) {
    let all = sections.links.guide.languages();
    let missing: Vec<ProgramLanguage> = all
        .into_iter()
        .filter(|it| !page.languages.contains(it))
        .collect();
    if missing.is_empty() {
        return;
    }
    let titles: Vec<&str> = page
        .languages
        .iter()
        .map(|language| language.title())
        .collect();
    let _ = write!(
        sections.html,
        "<p class=\"missing\">Available in {} only.</p>",
        escape(&titles.join(", "))
    );
}

fn index_body(index: &Index, sections: &mut Sections<'_, '_, '_, '_>) {
    sections.entries("modules", "Modules", &index.modules);
    sections.entries("resources", "Resources", &index.resources);
    sections.entries("functions", "Functions", &index.functions);
    sections.entries("nested", "Types", &index.types);
    if !index.config.is_empty() {
        sections.section("config", "Configuration");
        let package = escape(sections.links.guide.package.name);
        let _ = write!(
            sections.html,
            "<p>Set with <code>pulumi config set {package}:NAME VALUE</code>, or as inputs of the provider.</p>"
        );
        sections.properties(&index.config);
    }
}

fn resource_body(page: &Page, resource: &Resource, sections: &mut Sections<'_, '_, '_, '_>) {
    sections.section("constructor", &format!("Create {}", page.title));
    sections.signatures(&resource.constructors);
    sections.section("inputs", "Inputs");
    sections.properties(&resource.inputs);
    sections.section("outputs", "Outputs");
    if page.kind == Kind::Component {
        sections.paragraph("All inputs are available as outputs too.");
    } else {
        sections.paragraph(
            "All inputs are available as outputs too, and the resource has an ID that the provider has given to it.",
        );
    }
    if !resource.outputs.is_empty() {
        sections.properties(&resource.outputs);
    }
    if let Some(lookup) = &resource.lookup {
        sections.section("lookup", "Look up an existing one");
        sections.signatures(&lookup.signatures);
        if !lookup.state.is_empty() {
            sections.paragraph("These properties help to find it:");
            sections.properties(&lookup.state);
        }
    }
    if !resource.methods.is_empty() {
        sections.section("methods", "Methods");
        for method in &resource.methods {
            sections.method(method);
        }
    }
    sections.types(&resource.types);
    if !resource.aliases.is_empty() {
        sections.section("former", "Former types");
        sections.html.push_str("<ul>");
        for alias in &resource.aliases {
            let _ = write!(sections.html, "<li><code>{}</code></li>", escape(alias));
        }
        sections.html.push_str("</ul>");
    }
}

fn function_body(function: &Function, sections: &mut Sections<'_, '_, '_, '_>) {
    sections.section("call", "Call it");
    if !function.plain.is_empty() {
        sections.paragraph("With values that are known already:");
        sections.signatures(&function.plain);
    }
    if !function.output.is_empty() {
        sections.paragraph("With outputs of resources:");
        sections.signatures(&function.output);
    }
    sections.section("arguments", "Arguments");
    sections.properties(&function.arguments);
    if !matches!(function.outcome, Outcome::Nothing) {
        sections.section("results", "Result");
        sections.outcome(&function.outcome);
    }
    sections.types(&function.types);
}

fn details(sections: &mut Sections<'_, '_, '_, '_>) {
    let package = sections.links.guide.package;
    let about = &package.about;
    sections.section("package", "Package details");
    let mut rows = Vec::new();
    let name = escape(package.name);
    let version = package
        .version
        .as_ref()
        .map(|it| format!(" {it}"))
        .unwrap_or_default();
    rows.push(("Package", format!("{name}{}", escape(&version))));
    for (what, value) in [
        ("Publisher", about.publisher),
        ("License", about.license),
        ("Repository", about.repository),
        ("Home page", about.homepage),
        ("Notes", about.attribution),
    ] {
        if let Some(value) = value.filter(|value| !value.trim().is_empty()) {
            let is_url = value.starts_with("https://") && !value.contains(char::is_whitespace);
            let value = if is_url {
                let value = escape(value);
                format!("<a href=\"{value}\" rel=\"noopener\">{value}</a>")
            } else {
                markdown(value, Level::Detail, sections.links)
            };
            rows.push((what, value));
        }
    }
    sections.html.push_str("<dl class=\"details\">");
    for (what, value) in rows {
        let _ = write!(sections.html, "<dt>{what}</dt><dd>{value}</dd>");
    }
    sections.html.push_str("</dl>");
}
