//! Exact output of the generators for languages of classes with builders or initializers.

use std::path::Path;

use plumb_pcl::Sources;
use plumb_programs::ProgramLanguage;
use pretty_assertions::assert_eq;

use super::corpus::made;

/// A program with nested objects, enums, optional properties, functions and collections of outputs.
const SHAPES: &str = include_str!("shapes.pp");

/// Compares a file of the program with the one in this folder; `PLUMB_WRITE_PROGRAMS` replaces it.
#[track_caller]
fn check(language: ProgramLanguage, path: &str, expected: &str) {
    let sources = Sources::new([("main.pp".to_owned(), SHAPES.to_owned())]);
    let generated = made(&sources, language);
    let problems = generated.problems.iter();
    let problems: Vec<String> = problems.map(plumb_pcl::Problem::one_line).collect();
    assert_eq!(problems, Vec::<String>::new());
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it");
    let file = folder.join(expected);
    let text = &generated.files[path];
    if std::env::var_os("PLUMB_WRITE_PROGRAMS").is_some() {
        std::fs::write(&file, text).unwrap();
    }
    assert_eq!(*text, std::fs::read_to_string(file).unwrap());
}

#[test]
fn programs_in_java_use_builders_and_callbacks() {
    check(
        ProgramLanguage::Java,
        "src/main/java/app/App.java",
        "Shapes.java",
    );
}

#[test]
fn programs_in_csharp_use_initializers_and_callbacks() {
    check(ProgramLanguage::Csharp, "Program.cs", "Shapes.cs");
}

#[test]
fn classes_of_the_same_name_are_qualified_in_java() {
    let text = "resource list \"shapes:paint:Wall\" {\n  labels = {}\n}\n\
        component wall \"./wall\" {}\noutput it {\n  value = [1]\n}\n";
    let files = [("main.pp", text), ("wall/main.pp", "")];
    let files = files.map(|(path, text)| (path.to_owned(), text.to_owned()));
    let generated = made(&Sources::new(files), ProgramLanguage::Java);
    let text = &generated.files["src/main/java/app/App.java"];
    assert!(
        text.contains("final var list = new com.pulumi.shapes.paint.Wall("),
        "{text}"
    );
    assert!(text.contains("final var wall = new Wall("), "{text}");
}
