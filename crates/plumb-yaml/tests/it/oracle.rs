//! Parses, checks and evaluates every YAML program of the oracle cases and every example.

use std::collections::BTreeSet;
use std::path::Path;

use plumb_engine::program::ProgramResult;
use serde_json::Value as Json;

use crate::fake::{Case, data};

/// Programs with deliberate errors.
const WRONG: [&str; 4] = [
    "check-failures/p3",
    "check-failures/p4",
    "check-failures/p5",
    "invokes/p4",
];

fn with_settings(mut case: Case, folder: &Path, project: &str) -> Case {
    let script: Json =
        serde_json::from_str(&std::fs::read_to_string(folder.join("case.json")).unwrap()).unwrap();
    for step in script["steps"].as_array().unwrap() {
        for (key, entry) in step["config"].as_object().into_iter().flatten() {
            let full = if key.contains(':') {
                key.clone()
            } else {
                format!("{project}:{key}")
            };
            let text = entry
                .as_str()
                .or_else(|| entry["secret"].as_str())
                .or_else(|| entry["path"].as_str());
            if entry["secret"].is_string() {
                case.secret_keys.push(full.clone());
            }
            case.config
                .insert(full, text.unwrap_or_default().to_owned());
        }
    }
    case
}

#[test]
fn programs_of_the_cases_evaluate() {
    let mut n_programs = 0;
    let mut problems = Vec::new();
    for case in std::fs::read_dir(data().join("oracle/cases")).unwrap() {
        let folder = case.unwrap().path();
        for program in std::fs::read_dir(&folder).unwrap() {
            let program = program.unwrap().path();
            let Ok(text) = std::fs::read_to_string(program.join("Pulumi.yaml")) else {
                continue;
            };
            if !text.contains("runtime: yaml") {
                continue;
            }
            n_programs += 1;
            let name = format!(
                "{}/{}",
                folder.file_name().unwrap().to_string_lossy(),
                program.file_name().unwrap().to_string_lossy()
            );
            for dry_run in [true, false] {
                let project = if text.contains("name: proj\n") {
                    "proj"
                } else {
                    "lab"
                };
                let mut case = with_settings(Case::at(&program), &folder, project);
                case.project = project;
                case.dry_run = dry_run;
                let ran = case.run();
                let is_wrong = WRONG.contains(&name.as_str());
                if (ran.result == ProgramResult::Finished) == is_wrong {
                    problems.push(format!("{name}: {:?} {:#?}", ran.result, ran.log));
                }
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(n_programs > 100, "only {n_programs} programs");
}

/// Messages of the reference about a program, from the recorded step that runs it.
fn recorded_messages(folder: &Path, program: &str) -> BTreeSet<String> {
    let script: Json =
        serde_json::from_str(&std::fs::read_to_string(folder.join("case.json")).unwrap()).unwrap();
    let steps = script["steps"].as_array().unwrap();
    let step = steps
        .iter()
        .position(|step| step["program"] == program)
        .unwrap();
    let prefix = format!("{:02}-", step + 1);
    let files = std::fs::read_dir(folder.join("expected"))
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let file = files.into_iter().find(|path| {
        path.file_name()
            .unwrap()
            .to_string_lossy()
            .starts_with(&prefix)
    });
    let expected: Json =
        serde_json::from_str(&std::fs::read_to_string(file.unwrap()).unwrap()).unwrap();
    let runs = expected["events"].as_array().unwrap();
    let diagnostics = runs
        .iter()
        .flat_map(|run| run["diagnostics"].as_array().unwrap());
    diagnostics
        .map(|diagnostic| diagnostic["message"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn wrong_programs_are_explained_as_recorded() {
    for name in WRONG {
        let (case, program) = name.split_once('/').unwrap();
        let folder = data().join("oracle/cases").join(case);
        let mut run = Case::at(&folder.join(program));
        run.project = "lab";
        let messages: BTreeSet<String> = run
            .run()
            .log
            .into_iter()
            .map(|(_, message)| message)
            .collect();
        assert_eq!(messages, recorded_messages(&folder, program), "{name}");
    }
}

#[test]
fn examples_evaluate() {
    let mut n_examples = 0;
    for example in std::fs::read_dir(data().join("../examples")).unwrap() {
        let directory = example.unwrap().path();
        let Ok(text) = std::fs::read_to_string(directory.join("Pulumi.yaml")) else {
            continue;
        };
        if text.contains("runtime: yaml") {
            let ran = Case::at(&directory).run().finished();
            assert!(
                ran.log.is_empty(),
                "{}: {:#?}",
                directory.display(),
                ran.log
            );
            n_examples += 1;
        }
    }
    assert!(n_examples > 2);
}
