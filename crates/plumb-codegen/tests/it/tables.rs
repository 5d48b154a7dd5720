//! Types and names in all languages, compared with tables (`codegen.md` 1.5, 2.1, 2.7, 3.1, 3.5, 4.2, 5.1,
//! 6).

use plumb_codegen::{FileMap, Language, Purpose};
use serde_json::{Value, json};

use super::sdk_for;

fn table(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// Text of the file with this path in any folder, with runs of spaces reduced to one.
fn file_in(files: &FileMap, ending: &str) -> String {
    let mut found = files.0.iter();
    let found = found.find(|(path, _)| format!("/{path}").ends_with(&format!("/{ending}")));
    let (_, text) = found.unwrap_or_else(|| panic!("no {ending} among {:?}", files.0.keys()));
    let lines = text
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    lines.collect::<Vec<_>>().join("\n")
}

fn sdks(schema: &Value) -> Vec<(Language, FileMap)> {
    let text = schema.to_string();
    let made = |language| sdk_for(language, &text, Purpose::Published).unwrap();
    Language::ALL.map(|it| (it, made(it))).into()
}

fn expect(language: Language, name: &Value, text: &str, line: &str) {
    let found = text.lines().any(|known| known.starts_with(line));
    assert!(found, "{}, {name}: {line}\n{text}", language.name());
}

fn title(name: &str) -> String {
    name[..1].to_uppercase() + &name[1..]
}

/// Lines that declare a property of a resource, by file.
fn declared(language: Language, name: &str, row: &Value) -> Vec<(&'static str, String)> {
    let ty = |form: &str| row[language.name()][form].as_str().unwrap().to_owned();
    let title = title(name);
    let (input, output) = (ty("input"), ty("output"));
    match language {
        Language::Nodejs => vec![
            ("m/box.ts", format!("{name}?: {input};")),
            (
                "m/box.ts",
                format!("declare public readonly {name}: pulumi.Output<{output}>;"),
            ),
        ],
        Language::Python => vec![
            ("m/box.py", format!("def {name}(self) -> {input}:")),
            ("m/box.py", format!("def {name}(self) -> {output}:")),
        ],
        Language::Go => vec![
            (
                "m/box.go",
                format!("{title} {} `pulumi:\"{name}\"`", ty("plain")),
            ),
            ("m/box.go", format!("{title} {input}")),
            ("m/box.go", format!("{title} {output} `pulumi:\"{name}\"`")),
        ],
        Language::Dotnet => vec![
            ("M/Box.cs", format!("public {input} {title}")),
            (
                "M/Box.cs",
                format!("public global::Pulumi.Output<{output}> {title} {{ get; private set; }}"),
            ),
        ],
        Language::Java => vec![
            ("m/BoxArgs.java", format!("public {input} {name}() {{")),
            ("m/Box.java", format!("public {output} {name}() {{")),
        ],
        Language::Rust => unreachable!("the tables are of published packages"),
    }
}

#[test]
fn types_are_those_of_the_table() {
    let rows = table(include_str!("../data/types.json"));
    let rows = rows.as_array().unwrap();
    let properties: serde_json::Map<String, Value> = rows
        .iter()
        .map(|row| {
            (
                row["name"].as_str().unwrap().to_owned(),
                row["schema"].clone(),
            )
        })
        .collect();
    let schema = json!({
        "name": "lab", "version": "1.0.0",
        "types": {
            "lab:m:Kind": { "type": "string", "enum": [{ "value": "a" }] },
            "lab:m:Part": { "type": "object", "properties": { "x": { "type": "string" } } },
        },
        "resources": {
            "lab:m:Other": { "isComponent": true },
            "lab:m:Box": { "inputProperties": properties, "properties": properties },
        },
    });
    for (language, files) in sdks(&schema) {
        for row in rows {
            let name = row["name"].as_str().unwrap();
            for (file, line) in declared(language, name, row) {
                expect(language, &row["name"], &file_in(&files, file), &line);
            }
        }
    }
}

#[test]
fn names_are_those_of_the_table() {
    let names = table(include_str!("../data/names.json"));
    let list = |section: &str| names[section].as_array().unwrap().clone();
    let properties: serde_json::Map<String, Value> = list("properties")
        .iter()
        .map(|row| {
            let name = row["name"].as_str().unwrap().to_owned();
            (name, json!({ "type": "string" }))
        })
        .collect();
    let values: Vec<Value> = list("enums")
        .iter()
        .map(|row| json!({ "value": row["value"] }))
        .collect();
    let result = json!({ "outputs": { "properties": { "x": { "type": "string" } } } });
    let functions: serde_json::Map<String, Value> = list("functions")
        .iter()
        .map(|row| {
            (
                format!("lab:m:{}", row["name"].as_str().unwrap()),
                result.clone(),
            )
        })
        .collect();
    let kind = json!({ "kind": { "$ref": "#/types/lab:m:Kind" } });
    let schema = json!({
        "name": "lab", "version": "1.0.0",
        "types": { "lab:m:Kind": { "type": "string", "enum": values } },
        "resources": {
            "lab:m:thing": {},
            "lab:m:Box": { "inputProperties": properties },
            "lab:m:Bag": { "inputProperties": kind, "properties": kind },
        },
        "functions": functions,
    });
    for (language, files) in sdks(&schema) {
        let key = language.name();
        for row in list("properties") {
            let (file, line) = property(language, row[key].as_str().unwrap());
            expect(language, &row["name"], &file_in(&files, file), &line);
        }
        for row in list("enums") {
            let value = format!("{:?}", row["value"].as_str().unwrap());
            let (file, line) = member(language, row[key].as_str().unwrap(), &value);
            expect(language, &row["value"], &file_in(&files, file), &line);
        }
        for row in list("functions") {
            let (file, part) = row[key].as_str().unwrap().split_once(": ").unwrap();
            let text = file_in(&files, file);
            assert!(text.contains(part), "{key}, {part}\n{text}");
        }
    }
}

/// Declaration of an argument with this name.
fn property(language: Language, name: &str) -> (&'static str, String) {
    match language {
        Language::Nodejs => (
            "m/box.ts",
            format!("{name}?: pulumi.Input<string | undefined>;"),
        ),
        Language::Python => (
            "m/box.py",
            format!("def {name}(self) -> pulumi.Input[Optional[_builtins.str]]:"),
        ),
        Language::Go => ("m/box.go", format!("{name} pulumi.StringPtrInput")),
        Language::Dotnet => (
            "M/Box.cs",
            format!("public global::Pulumi.Input<string>? {name} {{ get; set; }}"),
        ),
        Language::Java => (
            "m/BoxArgs.java",
            format!("public Optional<Output<String>> {name}() {{"),
        ),
        Language::Rust => unreachable!("the tables are of published packages"),
    }
}

/// Declaration of an enum member.
fn member(language: Language, name: &str, value: &str) -> (&'static str, String) {
    match language {
        Language::Nodejs => ("types/enums/m/index.ts", format!("{name}: {value},")),
        Language::Python => ("m/_enums.py", format!("{name} = {value}")),
        Language::Go => ("m/pulumiEnums.go", format!("{name} = Kind({value})")),
        Language::Dotnet => (
            "M/Enums.cs",
            format!("public static Kind {name} {{ get; }} = new Kind({value});"),
        ),
        Language::Java => ("m/enums/Kind.java", format!("{name}({value})")),
        Language::Rust => unreachable!("the tables are of published packages"),
    }
}
