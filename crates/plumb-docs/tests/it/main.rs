//! Documentation, through the public interface.

#![allow(clippy::unwrap_used)] // helpers of tests count as tests

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use plumb_codegen::FileMap;
use plumb_docs::{DocsFormat, generate_docs};
use plumb_schema::{BindOptions, Document, Format, NoPackages, bind};
use pulldown_cmark::{Event, Options, Parser, Tag};

const FORMATS: [DocsFormat; 3] = [DocsFormat::Markdown, DocsFormat::Json, DocsFormat::Site];

fn docs(text: &str, format: DocsFormat) -> FileMap {
    let document = Document::read(text, Format::Json).unwrap();
    let options = BindOptions {
        allow_dangling: true,
        packages: &NoPackages,
    };
    let bound = bind(&document, options);
    let mut files = FileMap::default();
    generate_docs(&bound.package, format, &mut files).unwrap();
    files
}

fn schemas() -> Vec<(String, String)> {
    let entries =
        std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/schemas"))
            .unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let paths = paths.filter(|path| path.extension().is_some_and(|it| it == "json"));
    let mut schemas: Vec<(String, String)> = paths
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, std::fs::read_to_string(path).unwrap())
        })
        .collect();
    schemas.sort();
    assert!(schemas.len() >= 5);
    schemas
}

/// A package with every feature that documentation covers.
const SHOP: &str = include_str!("../data/shop.json");

fn has_ending(path: &str, ending: &str) -> bool {
    Path::new(path).extension().is_some_and(|it| it == ending)
}

/// Values of an attribute.
fn attributes<'t>(html: &'t str, name: &str) -> Vec<&'t str> {
    let start = format!(" {name}=\"");
    let parts = html.split(start.as_str()).skip(1);
    parts.map(|part| part.split('"').next().unwrap()).collect()
}

/// Links in Markdown.
fn markdown_links(text: &str) -> Vec<String> {
    let events = Parser::new_ext(text, Options::ENABLE_TABLES);
    events
        .filter_map(|event| match event {
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                Some(dest_url.into_string())
            }
            _ => None,
        })
        .collect()
}

/// Links of a JSON page, including those in its Markdown.
fn json_links(value: &serde_json::Value, links: &mut Vec<String>) {
    match value {
        serde_json::Value::Object(members) => {
            for (name, member) in members {
                match member.as_str() {
                    Some(link) if name == "link" => links.push(link.to_owned()),
                    Some(text) if ["description", "text", "import"].contains(&name.as_str()) => {
                        links.extend(markdown_links(text));
                    }
                    _ => json_links(member, links),
                }
            }
        }
        serde_json::Value::Array(items) => {
            for item in items {
                json_links(item, links);
            }
        }
        _ => {}
    }
}

fn decoded(link: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = link.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digits = [rest.next().unwrap(), rest.next().unwrap()];
            let digits = std::str::from_utf8(&digits).unwrap().to_owned();
            bytes.push(u8::from_str_radix(&digits, 16).unwrap());
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).unwrap()
}

/// File that a relative link in the file `from` leads to.
fn target(from: &str, link: &str) -> String {
    let mut steps: Vec<&str> = from.split('/').collect();
    steps.pop();
    for step in link.split('/') {
        match step {
            ".." => assert!(steps.pop().is_some(), "{link} leads out of the folder"),
            step => steps.push(step),
        }
    }
    steps.join("/")
}

/// Follows every link of every file; returns their number.
fn follow(files: &FileMap) -> usize {
    let mut count = 0;
    for (path, text) in &files.0 {
        let path = path.as_str();
        let links: Vec<String> = if has_ending(path, "html") {
            let mut links = attributes(text, "href");
            links.extend(attributes(text, "src"));
            links
                .into_iter()
                .map(|link| link.replace("&amp;", "&"))
                .collect()
        } else if has_ending(path, "md") {
            markdown_links(text)
        } else if has_ending(path, "json") {
            let mut links = Vec::new();
            json_links(&serde_json::from_str(text).unwrap(), &mut links);
            links
        } else {
            Vec::new()
        };
        for link in links {
            if ["https://", "http://", "mailto:"]
                .iter()
                .any(|it| link.starts_with(it))
            {
                continue;
            }
            count += 1;
            let (way, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let file = if way.is_empty() {
                path.to_owned()
            } else {
                target(path, &decoded(way))
            };
            let Some(found) = files.get(&file) else {
                panic!("{path}: {link} leads to {file}, which is not there");
            };
            if !anchor.is_empty() {
                let ids: BTreeSet<&str> = attributes(found, "id").into_iter().collect();
                assert!(
                    ids.contains(anchor),
                    "{path}: {link} has no place in {file}"
                );
            }
        }
    }
    count
}

#[test]
fn every_link_leads_somewhere() {
    for (name, text) in schemas() {
        for format in FORMATS {
            let files = docs(&text, format);
            assert!(follow(&files) > 10, "{name} {format:?}");
        }
    }
    for format in FORMATS {
        assert!(follow(&docs(SHOP, format)) > 20, "{format:?}");
    }
}

#[test]
fn anchors_are_unique_within_a_page() {
    for (name, text) in schemas() {
        for (path, text) in &docs(&text, DocsFormat::Site).0 {
            let ids = attributes(text, "id");
            let unique: BTreeSet<&&str> = ids.iter().collect();
            assert_eq!(ids.len(), unique.len(), "{name} {path}");
        }
    }
}

#[test]
fn the_same_schema_gives_the_same_bytes() {
    for (name, text) in schemas() {
        for format in FORMATS {
            assert!(
                docs(&text, format) == docs(&text, format),
                "{name} {format:?}"
            );
        }
    }
}

/// All files, concatenated for a snapshot.
fn all(files: &FileMap, ending: &str) -> String {
    let mut text = String::new();
    for (path, file) in &files.0 {
        if path.as_str().ends_with(ending) {
            let _ = writeln!(text, "==== {path}\n{file}");
        }
    }
    text
}

#[test]
fn a_small_package_as_markdown() {
    insta::assert_snapshot!(all(&docs(SHOP, DocsFormat::Markdown), ".md"));
}

#[test]
fn a_small_package_as_json() {
    let files = docs(SHOP, DocsFormat::Json);
    insta::assert_snapshot!(format!(
        "{}{}",
        files.get("tree.json").unwrap(),
        files.get("goods/crate/_index.json").unwrap()
    ));
}

#[test]
fn a_page_of_the_site() {
    let files = docs(SHOP, DocsFormat::Site);
    let page = files.get("goods/crate.html").unwrap();
    insta::assert_snapshot!(page.replace("><", ">\n<"));
}

/// Names and texts that try to break out of a folder, a tag, an attribute or a script.
#[test]
fn hostile_texts_stay_what_they_are() {
    let text = r#"{"name": "lab", "displayName": "<script>evil()</script>", "version": "1.0.0",
        "description": "<script>evil()</script>\n\n<img src=x onerror=evil()> [x](javascript:evil()) [y](data:text/html,evil) <javascript:evil()>\n\n[z](https://e.com \"{{% ref #/resources/lab:index:Box %}}\\\" onmouseover=\\\"evil()\")\n\n![p](https://e.com/p.png)\n\n```html\n</code></pre><script>evil()</script>\n```\n\n<svg onload=evil()>\n<style>*{}</style>\n",
        "resources": {
            "lab:../../up:Box": {"description": "x", "inputProperties": {
                "a\" onclick=\"evil()": {"type": "string", "description": "<b onclick=evil()>bold</b> &lt;script&gt;", "default": "</script><script>evil()</script>"},
                "b": {"type": "string", "description": "<span pulumi-lang-nodejs=\"<script>evil()</script>\" pulumi-lang-python=\"`x`\">`y`</span> \ue0000\ue001 {{% ref #/types/<script>evil()</script> %}}"}}},
            "lab:index:index": {}, "lab:index:Index": {}, "lab:_index.md:X": {}, "lab:assets:style": {}, "lab:tree.json:X": {},
            "lab:a:Same": {}, "lab:A:same": {}, "lab:<b>:X": {}, "lab:con:Aux": {}, "lab:été:Ünï": {}
        },
        "functions": {"lab:a:same": {"description": "```typescript\n</code><script>evil()</script>\n```"}},
        "types": {"lab:index:Kind": {"type": "string", "enum": [{"name": "<script>evil()</script>", "value": "</script>"}]}}}"#;
    for format in FORMATS {
        let files = docs(text, format);
        assert!(follow(&files) > 10);
    }
    let files = docs(text, DocsFormat::Site);
    for (path, text) in &files.0 {
        if !has_ending(path.as_str(), "html") {
            continue;
        }
        assert_eq!(text.matches("<script").count(), 1, "{path}\n{text}");
        for tag in ["<img", "<svg", "<style", "<iframe", "<b "] {
            assert!(!text.contains(tag), "{path} has {tag}\n{text}");
        }
        for tag in text.split('<').skip(1) {
            let tag = tag.split('>').next().unwrap();
            // Outside of quotes, a tag contains nothing from the schema.
            let bare: String = tag.split('"').step_by(2).collect();
            assert!(
                !bare.contains("onclick") && !bare.contains("onmouseover"),
                "{path}: {tag}"
            );
            assert!(!bare.contains("onerror"), "{path}: {tag}");
        }
        for link in attributes(text, "href") {
            assert!(
                !link.contains("javascript:") && !link.contains("data:"),
                "{path}: {link}"
            );
        }
    }
    let search = files.get("assets/search.js").unwrap();
    assert!(search.starts_with("window.plumbDocs=[\n") && search.ends_with("];\n"));
}

#[test]
fn a_language_without_an_sdk_is_left_out() {
    let text = r#"{"name": "lab", "resources": {"lab:types:Box": {}}}"#;
    let document = Document::read(text, Format::Json).unwrap();
    let options = BindOptions {
        allow_dangling: true,
        packages: &NoPackages,
    };
    let bound = bind(&document, options);
    let mut files = FileMap::default();
    let missing = generate_docs(&bound.package, DocsFormat::Site, &mut files).unwrap();
    assert_eq!(missing.len(), 1);
    assert_eq!(missing[0].language, "TypeScript");
    assert!(
        !files
            .get("types/box.html")
            .unwrap()
            .contains("value=\"typescript\"")
    );
}
