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
fn programs_in_rust_borrow_and_copy_only_for_closures() {
    check(ProgramLanguage::Rust, "src/main.rs", "Shapes.rs");
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

#[test]
fn plain_properties_are_structs_and_collections_in_go() {
    let text = "resource wall \"shapes:paint:Wall\" {\n  labels = {}\n}\n\
        resource house \"shapes:paint:House\" {\n  door = { mainColor = \"b\", layerCount = 2 }\n  front = wall\n\
        names = [\"a\", wall.wallName]\n  roof = { mainColor = \"b\" }\n  sizes = { a = [1, 2] }\n\
        walls = [{ mainColor = \"b\" }]\n}\n";
    let sources = Sources::new([("main.pp".to_owned(), text.to_owned())]);
    let text = &made(&sources, ProgramLanguage::Go).files["main.go"];
    for expected in [
        "Door:  paint.CoatArgs{MainColor: paint.ColorBlue, LayerCount: pulumi.Int(2)},",
        "Front: wall,",
        "Names: []pulumi.StringInput{pulumi.String(\"a\"), wall.WallName},",
        "Roof:  &paint.CoatArgs{MainColor: paint.ColorBlue},",
        "Sizes: map[string][]int{\"a\": {1, 2}},",
        "Walls: []paint.CoatArgs{{MainColor: paint.ColorBlue}},",
    ] {
        assert!(text.contains(expected), "{expected}:\n{text}");
    }
}

#[test]
fn methods_and_options_of_calls_have_forms_in_go_and_csharp() {
    let text = "resource wall \"shapes:paint:Wall\" {\n  options {\n    hideDiffs = [labels]\n    envVarMappings = { A = \"B\" }\n  }\n}\n\
        output note {\n  value = call(wall, \"inspect\", { depth = 2 }).note\n}\n\
        output name {\n  value = pulumiResourceName(wall)\n}\n\
        output color {\n  value = invoke(\"shapes:paint:findColor\", { wallName = \"w\" }, { version = \"1.0.0\", dependsOn = [wall] }).colorName\n}\n";
    let sources = Sources::new([("main.pp".to_owned(), text.to_owned())]);
    let text = &made(&sources, ProgramLanguage::Go).files["main.go"];
    for expected in [
        "wall.Inspect(ctx, &paint.WallInspectArgs{\n\t\t\tDepth: pulumi.Int(2),\n\t\t})",
        "pulumi.HideDiffs([]string{\"labels\"})",
        "pulumi.EnvVarMappings(map[string]string{",
        "pulumi.String(wall.PulumiResourceName())",
        "pulumi.Version(\"1.0.0\"), pulumi.DependsOn([]pulumi.Resource{wall})",
    ] {
        assert!(text.contains(expected), "{expected}:\n{text}");
    }
    let text = &made(&sources, ProgramLanguage::Csharp).files["Program.cs"];
    for expected in [
        "wall.Inspect(new()\n        {\n            Depth = 2,\n        }).Apply(result => result.Note)",
        "HideDiffs = { \"labels\" },",
        "wall.GetResourceName()",
        "DependsOn = { wall },",
    ] {
        assert!(text.contains(expected), "{expected}:\n{text}");
    }
}
