//! All programs of the corpus: binding, formatting without a change of meaning, and generation.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use futures::executor::block_on;
use plumb_pcl::{Leniency, Loaded, Problem, Program, Sources};
use plumb_programs::{Generated, ProgramLanguage, generate};
use plumb_schema::{PackageQuery, PackageSchema, SchemaLoadError, SchemaLoader};

const LANGUAGES: [ProgramLanguage; 6] = [
    ProgramLanguage::Python,
    ProgramLanguage::Nodejs,
    ProgramLanguage::Go,
    ProgramLanguage::Java,
    ProgramLanguage::Csharp,
    ProgramLanguage::Rust,
];

/// Schemas in the test data, which are large.
static SCHEMAS: LazyLock<Schemas> = LazyLock::new(Schemas::read);

struct Schemas(BTreeMap<String, Arc<PackageSchema>>);

impl Schemas {
    fn read() -> Self {
        let folder = tests().join("data/schemas");
        let mut known = BTreeMap::new();
        for name in ["random", "command", "std"] {
            let text = std::fs::read_to_string(folder.join(format!("{name}.json"))).unwrap();
            known.insert(
                name.to_owned(),
                Arc::new(PackageSchema::parse(text).unwrap()),
            );
        }
        let shapes = PackageSchema::parse(super::golden::SHAPES).unwrap();
        known.insert("shapes".to_owned(), Arc::new(shapes));
        Schemas(known)
    }
}

#[async_trait::async_trait]
impl SchemaLoader for Schemas {
    async fn load(
        &self,
        query: &PackageQuery,
    ) -> Result<Option<Arc<PackageSchema>>, SchemaLoadError> {
        Ok(self.0.get(&query.name).cloned())
    }
}

fn tests() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests")
}

fn programs() -> BTreeMap<String, Sources> {
    let entries = std::fs::read_dir(tests().join("programs")).unwrap();
    let folders = entries
        .map(|it| it.unwrap().path())
        .filter(|it| it.is_dir());
    folders
        .map(|folder| {
            let name = folder.file_name().unwrap().to_string_lossy().into_owned();
            (name, Sources::in_folder(&folder).unwrap())
        })
        .collect()
}

pub(crate) fn load(sources: &Sources, leniency: Leniency) -> Loaded {
    block_on(Program::load(sources, &*SCHEMAS, leniency))
}

pub(crate) fn made(sources: &Sources, language: ProgramLanguage) -> Generated {
    generate(&load(sources, Leniency::NONE).program, language)
}

fn lines(problems: &[Problem]) -> Vec<String> {
    problems.iter().map(Problem::one_line).collect()
}

#[test]
fn programs_bind_without_problems() {
    let programs = programs();
    assert!(programs.len() >= 40, "{} programs", programs.len());
    for (name, sources) in programs {
        let loaded = load(&sources, Leniency::NONE);
        assert_eq!(lines(&loaded.problems), Vec::<String>::new(), "{name}");
    }
}

#[test]
fn printed_programs_are_the_same_programs() {
    for (name, sources) in programs() {
        let printed = sources.iter().map(|(path, text)| {
            let once = plumb_pcl::format(path, text).unwrap();
            let twice = plumb_pcl::format(path, &once).unwrap();
            assert_eq!(once, twice, "{name}: {path}");
            (path.to_owned(), once)
        });
        let printed = Sources::new(printed.collect::<Vec<_>>());
        for language in LANGUAGES {
            let (first, second) = (made(&sources, language), made(&printed, language));
            assert_eq!(first.files, second.files, "{name}");
        }
    }
}

/// Programs that a language has no form for yet, and says so.
const LACKING: [(&str, &str); 2] = [("hooks", "java"), ("hooks", "csharp")];

#[test]
fn programs_have_a_form_in_every_language() {
    let out = std::env::var_os("PLUMB_WRITE_PROGRAMS").map(PathBuf::from);
    let mut found = Vec::new();
    for (name, sources) in programs() {
        for (language, folder) in LANGUAGES
            .into_iter()
            .zip(["python", "nodejs", "go", "java", "csharp"])
        {
            let generated = made(&sources, language);
            let problems = lines(&generated.problems);
            if LACKING.contains(&(name.as_str(), folder)) {
                assert!(!problems.is_empty(), "{name} has a form in {folder} now");
                continue;
            }
            found.extend(problems.iter().map(|it| format!("{name}: {it}")));
            assert!(!generated.files.is_empty());
            for (path, text) in &generated.files {
                if let Some(out) = &out {
                    let path = out.join(folder).join(&name).join(path);
                    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                    std::fs::write(path, text).unwrap();
                }
            }
        }
    }
    assert_eq!(found, Vec::<String>::new());
}
