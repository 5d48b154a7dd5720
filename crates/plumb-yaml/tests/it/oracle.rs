//! Every YAML program of the oracle cases is read, checked and evaluated.

use std::path::Path;

use plumb_engine::program::ProgramResult;
use serde_json::Value as Json;

use crate::fake::{Case, data};

/// Programs that are wrong on purpose.
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
