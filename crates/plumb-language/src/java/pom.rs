//! Edits of a `pom.xml` that keep the rest of the file unchanged.

use std::fmt::Write as _;
use std::ops::Range;

/// Comments around the generated part.
const OPEN: &str = "<!-- SDKs of packages in this project -->";
const CLOSE: &str = "<!-- end of SDKs -->";

/// The Maven plugin that adds source folders.
const HELPER: &str = "<groupId>org.codehaus.mojo</groupId>\n<artifactId>build-helper-maven-plugin</artifactId>\n\
    <version>3.6.0</version>\n";

/// Group, artifact and version of a library.
pub(super) type Library = (&'static str, &'static str, &'static str);

/// The text with `library` added to the project's dependencies unless it is already one; `None` if there is no project.
pub(super) fn with_library(text: &str, library: Library) -> Option<String> {
    let (group, artifact, version) = library;
    let path = ["project", "dependencies"];
    let existing = content(text, &path).map_or("", |place| &text[place]);
    let names = [
        format!("<groupId>{group}</groupId>"),
        format!("<artifactId>{artifact}</artifactId>"),
    ];
    let is_there = existing.split("<dependency>").any(|one| {
        let compact: String = one.split_whitespace().collect();
        names.iter().all(|name| compact.contains(name.as_str()))
    });
    if is_there {
        return Some(text.to_owned());
    }
    let element = format!(
        "<dependency>\n    <groupId>{group}</groupId>\n    <artifactId>{artifact}</artifactId>\n    \
         <version>{version}</version>\n</dependency>\n"
    );
    with_element(text, &path, &element)
}

/// The text with the sources and resources in `folders` added to the project, besides those of earlier edits; `None` if
/// there is no project.
pub(super) fn with_folders(text: &str, folders: &[String]) -> Option<String> {
    let ours = text.find(OPEN).and_then(|start| {
        let end = start + text[start..].find(CLOSE)?;
        Some(start..end + CLOSE.len())
    });
    let mut all: Vec<String> = ours
        .clone()
        .map(|place| earlier(&text[place]))
        .unwrap_or_default();
    for folder in folders {
        let folder = escaped(folder);
        if !all.contains(&folder) {
            all.push(folder);
        }
    }
    let block = block(&all);
    let Some(place) = ours else {
        return with_element(text, &["project", "build", "plugins"], &block);
    };
    let margin = margin_at(text, place.start)?;
    let block = indented(&block, margin);
    let mut edited = text.to_owned();
    edited.replace_range(place, block.trim());
    Some(edited)
}

/// Folders in the generated part of earlier edits.
fn earlier(block: &str) -> Vec<String> {
    let sources = block.split("<source>").skip(1);
    let folders = sources.filter_map(|rest| rest.split("/src/main/java</source>").next());
    folders.map(str::to_owned).collect()
}

fn block(folders: &[String]) -> String {
    let mut sources = String::new();
    let mut resources = String::new();
    for folder in folders {
        // Writing to a string cannot fail.
        let _ = writeln!(sources, "<source>{folder}/src/main/java</source>");
        let directory = format!("<directory>{folder}/src/main/resources</directory>");
        let _ = writeln!(resources, "<resource>{directory}</resource>");
    }
    let execution = |what: &str, elements: &str| {
        let inner = format!(
            "<id>pulumi-sdk-{what}s</id>\n<phase>generate-{what}s</phase>\n{}{}",
            element("goals", &format!("<goal>add-{what}</goal>\n")),
            element("configuration", &element(&format!("{what}s"), elements)),
        );
        element("execution", &inner)
    };
    let executions = execution("source", &sources) + &execution("resource", &resources);
    let plugin = element(
        "plugin",
        &format!("{HELPER}{}", element("executions", &executions)),
    );
    format!("{OPEN}\n{plugin}{CLOSE}\n")
}

fn element(name: &str, inner: &str) -> String {
    format!("<{name}>\n{}</{name}>\n", indented(inner, "    "))
}

fn indented(text: &str, margin: &str) -> String {
    let lines = text.lines().map(|line| format!("{margin}{line}\n"));
    lines.collect()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

/// Adds an element at the end of the element at `path`, which is created if it is missing.
fn with_element(text: &str, path: &[&str], new: &str) -> Option<String> {
    let Some(place) = content(text, path) else {
        let (name, parent) = path.split_last()?;
        if parent.is_empty() {
            return None;
        }
        return with_element(text, parent, &element(name, new));
    };
    let end = place.end;
    let margin = margin_at(text, end)?;
    let new = indented(new, &format!("{margin}    "));
    // Before the indentation of the closing tag.
    let at = end - margin.len();
    let before = if text[..at].ends_with('\n') { "" } else { "\n" };
    let after = if before.is_empty() { "" } else { margin };
    Some(format!(
        "{}{before}{new}{after}{}",
        &text[..at],
        &text[at..]
    ))
}

/// Indentation of a position; empty if it is not the first on its line.
fn margin_at(text: &str, at: usize) -> Option<&str> {
    let line = text.get(..at)?.rsplit('\n').next().unwrap_or_default();
    Some(if line.trim().is_empty() { line } else { "" })
}

/// Range of the content of the first element at `path`.
fn content(text: &str, path: &[&str]) -> Option<Range<usize>> {
    let mut open: Vec<(&str, usize)> = Vec::new();
    let mut at = 0;
    while let Some(start) = text[at..].find('<').map(|found| at + found) {
        let rest = &text[start..];
        if let Some(close) = close_of(rest) {
            at = start + rest.find(close)? + close.len();
            continue;
        }
        let end = start + rest.find('>')? + 1;
        let tag = &text[start + 1..end - 1];
        if let Some(name) = tag.strip_prefix('/') {
            let (opened, from) = open.pop()?;
            let names = open.iter().map(|(name, _)| *name);
            if opened != name.trim() {
                return None;
            }
            if names.chain([opened]).eq(path.iter().copied()) {
                return Some(from..start);
            }
        } else if !tag.ends_with('/') {
            open.push((tag.split_whitespace().next()?, end));
        }
        at = end;
    }
    None
}

/// Closing mark of a comment, CDATA section, processing instruction or declaration; `None` for elements.
fn close_of(rest: &str) -> Option<&'static str> {
    let kinds = [
        ("<!--", "-->"),
        ("<![CDATA[", "]]>"),
        ("<?", "?>"),
        ("<!", ">"),
    ];
    let found = kinds.iter().find(|(open, _)| rest.starts_with(open));
    found.map(|(_, close)| *close)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIBRARY: Library = ("g", "a", "1");

    #[test]
    fn a_library_is_added_once() {
        let text = "<?xml version=\"1.0\"?>\n<project>\n  <!-- <dependencies> -->\n  <dependencies>\n    <dependency/>\n  \
            </dependencies>\n</project>\n";
        let edited = with_library(text, LIBRARY).unwrap();
        assert_eq!(
            edited,
            "<?xml version=\"1.0\"?>\n<project>\n  <!-- <dependencies> -->\n  <dependencies>\n    <dependency/>\n      \
             <dependency>\n          <groupId>g</groupId>\n          <artifactId>a</artifactId>\n          \
             <version>1</version>\n      </dependency>\n  </dependencies>\n</project>\n"
        );
        assert_eq!(with_library(&edited, LIBRARY).unwrap(), edited);
    }

    #[test]
    fn what_is_missing_is_made() {
        let edited = with_library("<project></project>", LIBRARY).unwrap();
        assert!(
            edited.starts_with("<project>\n    <dependencies>\n        <dependency>\n"),
            "{edited}"
        );
        assert!(
            edited.ends_with("    </dependencies>\n</project>"),
            "{edited}"
        );
        let managed = "<project><dependencyManagement><dependencies></dependencies></dependencyManagement></project>";
        let edited = with_library(managed, LIBRARY).unwrap();
        assert!(
            edited.contains("</dependencyManagement>\n    <dependencies>"),
            "{edited}"
        );
    }

    #[test]
    fn folders_are_kept_and_added_once() {
        let text = "<project>\n  <build>\n    <plugins>\n      <plugin/>\n    </plugins>\n  </build>\n</project>\n";
        let folder = |name: &str| vec![format!("${{project.basedir}}/sdks/{name}")];
        let one = with_folders(text, &folder("a&b")).unwrap();
        assert!(
            one.contains("<source>${project.basedir}/sdks/a&amp;b/src/main/java</source>"),
            "{one}"
        );
        assert!(one.contains(
            "<resource><directory>${project.basedir}/sdks/a&amp;b/src/main/resources</directory>"
        ));
        let two = with_folders(&one, &folder("c")).unwrap();
        assert_eq!(two.matches("<source>").count(), 2, "{two}");
        assert_eq!(two.matches("build-helper-maven-plugin").count(), 1, "{two}");
        assert_eq!(with_folders(&two, &folder("a&b")).unwrap(), two);
        assert!(
            two.starts_with("<project>\n  <build>\n    <plugins>\n      <plugin/>\n"),
            "{two}"
        );
        assert!(
            two.ends_with("    </plugins>\n  </build>\n</project>\n"),
            "{two}"
        );
    }

    #[test]
    fn what_is_no_project_is_left_alone() {
        for text in [
            "",
            "<a>",
            "<project>",
            "<project><a></b></project>",
            "<a></a>",
        ] {
            assert_eq!(with_library(text, LIBRARY), None, "{text}");
        }
    }
}
