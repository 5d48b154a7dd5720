//! Citations of the specification resolve: comments, tests and documents name sections and rules that `docs/spec` has.
//!
//! 1. [`Spec::read`] collects the anchors of every document: sections by their number or letter, lettered parts and numbered
//!    steps within a section, and the ids of the behaviour catalogue.
//! 2. [`Spec::sections`] and [`rules`] find the citations of a line: documents with sections (`engine.md` 4.3, F5), and rule ids.
//! 3. Each citation must have its anchor; the test lists file and line of those that have none.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use regex::Regex;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Document with the tables of rule ids.
const CATALOGUE: &str = "engine-behaviours";

/// Folders and files that may cite.
const CITING: [&str; 10] = [
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "README.md",
    "benches",
    "crates",
    "docs",
    "examples",
    "tests",
    "xtask",
];

/// Folders with texts of other programs, or with files from builds and installations.
const NOT_OURS: [&str; 3] = ["expected", "node_modules", "target"];

const EXTENSIONS: [&str; 8] = ["js", "json", "md", "py", "rs", "sh", "toml", "ts"];

/// Terms of the form of a rule family: capitals before a hyphen and two digits.
const NOT_RULES: [&str; 2] = ["CRC", "UTF"];

/// Anchors of each document, by its name without `.md`.
struct Spec {
    documents: BTreeMap<String, BTreeSet<String>>,
    citation: Regex,
}

impl Spec {
    fn read() -> Spec {
        let documents: BTreeMap<String, BTreeSet<String>> = files_below(&root("docs/spec"))
            .iter()
            .map(|path| (name_of(path), anchors(&fs::read_to_string(path).unwrap())))
            .filter(|(name, _)| name != "README")
            .collect();
        let mut names: Vec<&str> = documents.keys().map(String::as_str).collect();
        // Longer names first, because one name may be a suffix of another.
        names.sort_by_key(|name| std::cmp::Reverse(name.len()));
        let reference = r"(?:step )?(?:\d+(?:\.\d+)*|[A-Z]\d*)\b";
        let pattern = format!(
            r"(?P<folder>[\w./-]*/)?\b(?P<name>{})\.md`?(?P<references>(?:(?:,? |, | and | to |-)(?:{reference}))*)",
            names.join("|")
        );
        let citation = Regex::new(&pattern).unwrap();
        Spec {
            documents,
            citation,
        }
    }

    fn has(&self, citation: &Citation) -> bool {
        self.documents
            .get(&citation.document)
            .is_some_and(|anchors| citation.anchor.is_empty() || anchors.contains(&citation.anchor))
    }

    /// Documents and sections that `line` cites.
    fn sections(&self, line: &str) -> Vec<Citation> {
        if !line.contains(".md") {
            return Vec::new();
        }
        let mut found = Vec::new();
        for citation in self.citation.captures_iter(line) {
            let folder = citation.name("folder").map_or("", |folder| folder.as_str());
            // Documents outside of the specification may have the same name, such as `docs/cli.md`.
            if folder.is_empty() || folder.ends_with("spec/") {
                let name = &citation["name"];
                found.push(Citation::of(name, ""));
                let references = references(&citation["references"]);
                found.extend(references.iter().map(|anchor| Citation::of(name, anchor)));
            }
        }
        found
    }
}

#[derive(Debug, PartialEq)]
struct Citation {
    document: String,
    /// Empty if the whole document is cited.
    anchor: String,
}

impl Citation {
    fn of(document: &str, anchor: &str) -> Self {
        Citation {
            document: document.to_owned(),
            anchor: anchor.to_owned(),
        }
    }
}

/// Anchors in the text after the name of a document. A letter or a step belongs to the section before it: `4.3, F5` is `4.3`
/// and `4.3 F5`. A letter without a section is an anchor itself.
fn references(text: &str) -> Vec<String> {
    let mut anchors = Vec::new();
    let mut section = String::new();
    let mut is_step = false;
    for word in text.split([' ', ',', '-']).filter(|word| !word.is_empty()) {
        if word == "step" {
            is_step = true;
        } else if word.starts_with(|char: char| char.is_ascii_digit()) && !is_step {
            word.clone_into(&mut section);
            anchors.push(section.clone());
        } else if word.starts_with(|char: char| char.is_ascii_digit()) {
            anchors.push(format!("{section} step {word}"));
            is_step = false;
        } else if word.starts_with(|char: char| char.is_ascii_uppercase()) {
            anchors.push(format!("{section} {word}").trim_start().to_owned());
        }
    }
    anchors
}

/// Anchors of one document: `4.3`, `4.3 F`, `4.3 F5`, `2.3 step 7`, and rule ids.
fn anchors(text: &str) -> BTreeSet<String> {
    let heading = Regex::new(r"^#+ (\d+(?:\.\d+)*|[A-Z])\b\.?").unwrap();
    let part = Regex::new(r"^\*\*([A-Z])\. ").unwrap();
    let step = Regex::new(r"^(\d+)\. ").unwrap();
    let rule = Regex::new(r"^\| ([A-Z]{2,}-\d\d) \|").unwrap();
    let mut found = BTreeSet::new();
    let mut section = String::new();
    let mut letter = String::new();
    for line in text.lines() {
        if let Some(title) = heading.captures(line) {
            title[1].clone_into(&mut section);
            letter.clear();
            found.insert(section.clone());
        } else if let Some(part) = part.captures(line) {
            part[1].clone_into(&mut letter);
            found.insert(format!("{section} {letter}"));
        } else if let Some(step) = step.captures(line) {
            let number = &step[1];
            found.insert(match letter.as_str() {
                "" => format!("{section} step {number}"),
                letter => format!("{section} {letter}{number}"),
            });
        } else if let Some(rule) = rule.captures(line) {
            found.insert(rule[1].to_owned());
        }
    }
    found
}

/// Rule ids in `line`: capitals, a hyphen and two digits.
fn rules(line: &str) -> Vec<Citation> {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.".contains(byte);
    let mut found = Vec::new();
    for (hyphen, _) in line.match_indices('-') {
        let (before, after) = (&line.as_bytes()[..hyphen], &line.as_bytes()[hyphen + 1..]);
        let capitals = before
            .iter()
            .rev()
            .take_while(|byte| byte.is_ascii_uppercase())
            .count();
        let digits = after
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        let start = hyphen - capitals;
        let family = &line[start..hyphen];
        let stands_alone = !before[..start].last().is_some_and(is_word)
            && !after.get(digits).is_some_and(u8::is_ascii_alphanumeric);
        if capitals >= 2 && digits == 2 && stands_alone && !NOT_RULES.contains(&family) {
            found.push(Citation::of(CATALOGUE, &line[start..=hyphen + digits]));
        }
    }
    found
}

fn root(path: &str) -> PathBuf {
    Path::new(ROOT).join(path)
}

fn name_of(path: &Path) -> String {
    path.file_stem().unwrap().to_str().unwrap().to_owned()
}

/// Our own text files at or below `path`, sorted by name.
fn files_below(path: &Path) -> Vec<PathBuf> {
    if path.is_file() {
        let extension = path.extension().and_then(|extension| extension.to_str());
        let may_cite = extension.is_some_and(|extension| EXTENSIONS.contains(&extension));
        // Of JSON files, only cases cite rules.
        let is_case = path.ends_with("case.json");
        let is_wanted = may_cite && (extension != Some("json") || is_case);
        return is_wanted.then(|| path.to_owned()).into_iter().collect();
    }
    let mut entries: Vec<PathBuf> = fs::read_dir(path)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            let name = path.file_name().unwrap().to_str().unwrap();
            !name.starts_with('.') && !NOT_OURS.contains(&name)
        })
        .collect();
    entries.sort();
    entries.iter().flat_map(|path| files_below(path)).collect()
}

#[test]
fn every_citation_names_a_section_or_a_rule_of_the_specification() {
    let spec = Spec::read();
    let (mut n_sections, mut n_rules) = (0, 0);
    let mut dangling = Vec::new();
    for path in CITING.iter().flat_map(|path| files_below(&root(path))) {
        let text = fs::read_to_string(&path).unwrap();
        let shown = path.strip_prefix(ROOT).unwrap().display();
        for (at, line) in text.lines().enumerate() {
            let (sections, rules) = (spec.sections(line), rules(line));
            n_sections += sections.len();
            n_rules += rules.len();
            for Citation { document, anchor } in
                sections.iter().chain(&rules).filter(|it| !spec.has(it))
            {
                dangling.push(format!("{shown}:{}: `{document}.md` {anchor}", at + 1));
            }
        }
    }
    assert!(
        dangling.is_empty(),
        "docs/spec has none of these sections and rules:\n{}",
        dangling.join("\n")
    );
    assert!(
        n_sections > 400 && n_rules > 1000,
        "found only {n_sections} and {n_rules}"
    );
}

#[test]
fn the_catalogue_has_every_behaviour_once() {
    let text = fs::read_to_string(root("docs/spec/engine-behaviours.md")).unwrap();
    let rows = text.lines().filter_map(|line| line.strip_prefix("| "));
    let ids: Vec<&str> = rows
        .filter_map(|row| row.split_once(" | "))
        .filter_map(|(id, _)| (rules(id) == [Citation::of(CATALOGUE, id)]).then_some(id))
        .collect();
    let listed = fs::read_to_string(root("tests/data/behaviours/ids.txt")).unwrap();
    let unique: BTreeSet<&str> = ids.iter().copied().collect();
    assert_eq!(unique, listed.lines().collect());
    assert_eq!(unique.len(), ids.len());
}

/// A rule id that no document contains. It is assembled, because this file is checked as well.
fn made_up_rule() -> String {
    ["RULE", "07"].join("-")
}

#[test]
fn letters_and_steps_belong_to_the_section_before_them() {
    assert_eq!(references(" 4.3 F, 4.6"), ["4.3", "4.3 F", "4.6"]);
    assert_eq!(references(" 4.3, F5"), ["4.3", "4.3 F5"]);
    assert_eq!(references(" 2.3, step 7"), ["2.3", "2.3 step 7"]);
    assert_eq!(references(" 3.3-3.5"), ["3.3", "3.5"]);
    assert_eq!(references(" A"), ["A"]);
    let rule = made_up_rule();
    let text = format!("## 2. A\n### 2.3 B\n7. c\n**F. D.**\n5. e\n| {rule} | f |\n");
    let expected = ["2", "2.3", "2.3 F", "2.3 F5", "2.3 step 7", &rule];
    assert_eq!(anchors(&text), expected.map(str::to_owned).into());
}

#[test]
fn rule_ids_are_told_from_other_words() {
    let ids =
        |line: &str| -> Vec<String> { rules(line).into_iter().map(|rule| rule.anchor).collect() };
    let rule = made_up_rule();
    let text = format!("{rule}, ({rule}).");
    assert_eq!(ids(&text), [rule.as_str(), &rule]);
    let words = format!("UTF-16, SHA-256, x-{rule}, a-07, A-07, {rule}b");
    assert_eq!(ids(&words), [""; 0]);
}
