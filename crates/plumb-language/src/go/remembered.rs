//! Cache for the module folders of a program, because running the Go tool takes longer than some programs.
//!
//! 1. Everything that determines the result is hashed: the `go.mod`, the Go tool, and its settings in the environment
//!    and in files.
//! 2. If the cache has a result for that hash, and all its folders still exist, the result is used.
//! 3. Otherwise the Go tool is run. Its result is cached unless it depends on anything else, such as the `go.mod` of
//!    another folder in a workspace.
//!
//! Only the folders of modules are cached. Their contents are read each time.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use plumb_plugin::process::Environment;
use serde::{Deserialize, Serialize};

use super::build::{KEPT, fingerprint};
use super::module::{self, Module};
use super::settings::go;
use crate::LanguageOptions;
use crate::compiled::CompiledError;
use crate::files::find_upwards;
use crate::tool::variable;

/// A result of the Go tool, and the hash of its inputs.
#[derive(Deserialize, Serialize)]
struct Remembered {
    follows_from: String,
    modules: Vec<Module>,
}

/// Modules that the program in `directory` needs, with their folders.
pub(super) async fn modules(
    options: &LanguageOptions,
    directory: &Path,
) -> Result<Vec<Module>, CompiledError> {
    let environment = &options.environment;
    let cache = options.cache_directory.join("go-modules");
    let memory = cache.join(fingerprint(directory.as_os_str().as_encoded_bytes()));
    let hash = what_matters(directory, environment);
    if let Some(modules) = hash.as_ref().and_then(|hash| recall(&memory, hash)) {
        return Ok(modules);
    }
    let file = module::module_file(directory, environment).await?;
    let modules = module::modules(&file, environment).await?;
    if let Some(follows_from) = hash.filter(|_| modules.iter().all(is_settled)) {
        let remembered = Remembered {
            follows_from,
            modules: modules.clone(),
        };
        if let Err(error) = remember(&cache, &memory, &remembered) {
            tracing::debug!(%error, "the modules of a program cannot be remembered");
        }
    }
    Ok(modules)
}

/// Hash of everything that determines module folders; `None` if they depend on files that are not hashed.
fn what_matters(directory: &Path, environment: &Environment) -> Option<String> {
    let root = find_upwards(directory, "go.mod")?;
    let file = root.join("go.mod");
    let is_workspace = match variable(environment, "GOWORK") {
        Some("off") => false,
        None => find_upwards(directory, "go.work").is_some(),
        Some(_) => true,
    };
    let settings = settings(environment);
    // Settings that refer to other files.
    let elsewhere: [&[u8]; 3] = [b"-modfile", b"-overlay", b"\nGOWORK"];
    let has = |mark: &[u8]| settings.windows(mark.len()).any(|part| part == mark);
    if is_workspace || root.join("vendor").is_dir() || elsewhere.iter().any(|mark| has(mark)) {
        return None;
    }
    let tool = go(&[], environment, directory).ok()?.program;
    let content = fs::read(&file).ok()?;
    let parts = [
        file.as_os_str().as_encoded_bytes(),
        &content,
        tool.as_os_str().as_encoded_bytes(),
        &settings,
    ];
    // Each part is preceded by its length, so that different parts cannot have the same concatenation.
    let all = parts.map(|part| [&part.len().to_le_bytes()[..], part].concat());
    Some(fingerprint(&all.concat()))
}

/// Settings of the Go tool: environment variables, and the contents of its settings files, each after a line break.
fn settings(environment: &Environment) -> Vec<u8> {
    let mut settings = Vec::new();
    for (name, value) in environment {
        let name = name.as_encoded_bytes();
        if name.starts_with(b"GO") || name == b"HOME" {
            settings.extend([name, b"=", value.as_encoded_bytes(), b"\0"].concat());
        }
    }
    for path in settings_files(environment) {
        settings.push(b'\n');
        settings.extend(fs::read(path).unwrap_or_default());
    }
    settings
}

/// Possible settings files of the Go tool, on all systems.
fn settings_files(environment: &Environment) -> Vec<PathBuf> {
    let folder = |name: &str| environment.get(&OsString::from(name)).map(PathBuf::from);
    let folders = [
        folder("XDG_CONFIG_HOME"),
        folder("HOME").map(|home| home.join(".config")),
        folder("HOME").map(|home| home.join("Library").join("Application Support")),
        folder("APPDATA"),
    ];
    let usual = folders
        .into_iter()
        .flatten()
        .map(|folder| folder.join("go").join("env"));
    folder("GOENV").into_iter().chain(usual).collect()
}

/// Whether the folder of the module depends only on the `go.mod`; not the case for a module replaced by a folder.
fn is_settled(module: &Module) -> bool {
    let is_folder = |replace: &Module| replace.version.is_empty();
    module.dir.is_some() && !module.replace.as_deref().is_some_and(is_folder)
}

fn recall(memory: &Path, hash: &str) -> Option<Vec<Module>> {
    let text = fs::read(memory).ok()?;
    let remembered: Remembered = serde_json::from_slice(&text).ok()?;
    let is_there = |module: &Module| module.dir.as_deref().is_some_and(Path::is_dir);
    (remembered.follows_from == hash && remembered.modules.iter().all(is_there))
        .then_some(remembered.modules)
}

fn remember(cache: &Path, memory: &Path, remembered: &Remembered) -> std::io::Result<()> {
    fs::create_dir_all(cache)?;
    let now = SystemTime::now();
    for entry in fs::read_dir(cache)?.flatten() {
        let age = entry.metadata()?.modified()?;
        if now.duration_since(age).is_ok_and(|age| age > KEPT) {
            // Another process may already have deleted it.
            let _ = fs::remove_file(entry.path());
        }
    }
    let text = serde_json::to_string(remembered)?;
    crate::script::write(memory, &text)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Program {
        root: tempfile::TempDir,
        environment: Environment,
    }

    impl Program {
        fn new() -> Self {
            let root = tempfile::tempdir().unwrap();
            for (name, text) in [("program/go.mod", "module program\n"), ("bin/go", "")] {
                let path = root.path().join(name);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
            #[cfg(unix)]
            {
                use std::os::unix::fs::PermissionsExt as _;
                let mode = fs::Permissions::from_mode(0o755);
                fs::set_permissions(root.path().join("bin/go"), mode).unwrap();
            }
            let environment = [
                ("PATH".into(), root.path().join("bin").into()),
                ("HOME".into(), root.path().into()),
            ]
            .into();
            Program { root, environment }
        }

        fn write(&self, name: &str, text: &str) {
            let path = self.root.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }

        fn hash(&self) -> Option<String> {
            what_matters(&self.root.path().join("program"), &self.environment)
        }
    }

    #[cfg(unix)]
    #[test]
    fn what_decides_where_modules_are_is_hashed() {
        let mut program = Program::new();
        let mut seen = vec![program.hash().unwrap()];
        assert_eq!(program.hash().unwrap(), seen[0]);
        program.write("program/go.mod", "module program\n\ngo 1.24\n");
        seen.push(program.hash().unwrap());
        program
            .environment
            .insert("GOMODCACHE".into(), "/elsewhere".into());
        seen.push(program.hash().unwrap());
        program.write(".config/go/env", "GOPROXY=off\n");
        seen.push(program.hash().unwrap());
        program
            .environment
            .insert("COLOUR".into(), "no matter".into());
        assert_eq!(program.hash(), seen.last().cloned());
        seen.sort();
        seen.dedup();
        assert_eq!(seen.len(), 4);
    }

    #[cfg(unix)]
    #[test]
    fn what_follows_from_other_files_is_asked_each_time() {
        let mut program = Program::new();
        program.write("go.work", "use ./program\n");
        assert_eq!(program.hash(), None);
        program.environment.insert("GOWORK".into(), "off".into());
        assert!(program.hash().is_some());
        program
            .environment
            .insert("GOFLAGS".into(), "-modfile=other.mod".into());
        assert_eq!(program.hash(), None);
        program.environment.remove(&OsString::from("GOFLAGS"));
        program.write("program/vendor/modules.txt", "");
        assert_eq!(program.hash(), None);
    }

    #[test]
    fn an_answer_holds_while_its_folders_are_there() {
        let root = tempfile::tempdir().unwrap();
        let (cache, folder) = (root.path().join("cache"), root.path().join("module"));
        fs::create_dir(&folder).unwrap();
        let module = Module {
            path: "example.com/a".to_owned(),
            version: "v1.0.0".to_owned(),
            dir: Some(folder.clone()),
            ..Module::default()
        };
        let remembered = Remembered {
            follows_from: "this".to_owned(),
            modules: vec![module.clone()],
        };
        let memory = cache.join("program");
        remember(&cache, &memory, &remembered).unwrap();
        assert_eq!(recall(&memory, "this"), Some(vec![module]));
        assert_eq!(recall(&memory, "that"), None);
        fs::remove_dir(&folder).unwrap();
        assert_eq!(recall(&memory, "this"), None);
    }

    #[test]
    fn folders_in_the_place_of_modules_are_not_settled() {
        let mut module = Module {
            dir: Some("/here".into()),
            ..Module::default()
        };
        assert!(is_settled(&module));
        module.replace = Some(Box::new(Module {
            path: "../local".to_owned(),
            ..Module::default()
        }));
        assert!(!is_settled(&module));
        assert!(!is_settled(&Module::default()));
    }
}
