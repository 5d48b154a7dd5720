//! Search for the SDK's scripts that run programs.
//!
//! The search follows the interpreter's rules without running it, because that would take longer than all other preparations
//! of a program. Only if it finds nothing is the interpreter asked, because it may be configured with other folders.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use plumb_plugin::process::Environment;

use super::NodeError;
use super::settings::Engine;
use crate::tool::{Tool, variable};

/// First supported release of the SDK. Releases before 2.0 need native modules that were built for the Node.js versions of
/// their time.
fn first_release(engine: Engine) -> semver::Version {
    match engine {
        Engine::Node => semver::Version::new(2, 0, 0),
        Engine::Bun => semver::Version::new(3, 226, 0),
    }
}

/// A script of the SDK that runs in its own process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Script {
    Program,
    Plugin,
    PolicyPack,
    DynamicProvider,
}

impl Script {
    fn module(self) -> &'static str {
        match self {
            Script::Program => "@pulumi/pulumi/cmd/run",
            Script::Plugin => "@pulumi/pulumi/cmd/run-plugin",
            Script::PolicyPack => "@pulumi/pulumi/cmd/run-policy-pack",
            Script::DynamicProvider => "@pulumi/pulumi/cmd/dynamic-provider",
        }
    }

    /// Environment variable that overrides the module.
    fn variable(self) -> Option<&'static str> {
        (self == Script::Program).then_some("PULUMI_LANGUAGE_NODEJS_RUN_PATH")
    }
}

/// File of `script`, as code in `directory` resolves it.
pub(super) async fn find(
    script: Script,
    engine: Engine,
    program: &Path,
    environment: &Environment,
    directory: &Path,
) -> Result<PathBuf, NodeError> {
    let module = script
        .variable()
        .and_then(|name| variable(environment, name))
        .unwrap_or(script.module());
    let found = match installed(module, environment, directory) {
        Some(file) => Some(file),
        None => ask(module, program, environment, directory).await,
    };
    let file = found.ok_or_else(|| NodeError::NoSdk {
        module: module.to_owned(),
        directory: directory.to_owned(),
    })?;
    check_version(engine, &file)?;
    Ok(file)
}

fn installed(module: &str, environment: &Environment, directory: &Path) -> Option<PathBuf> {
    if module.starts_with(['.', '/']) {
        return as_file(&directory.join(module));
    }
    let folders = directory
        .ancestors()
        .filter(|folder| !folder.ends_with("node_modules"))
        .map(|folder| folder.join("node_modules"));
    let others = environment
        .get(&OsString::from("NODE_PATH"))
        .map(|path| std::env::split_paths(path).collect::<Vec<_>>())
        .unwrap_or_default();
    folders
        .chain(others)
        .find_map(|folder| as_file(&folder.join(module)))
}

/// File for a module's path, with symbolic links resolved, as the interpreter does it.
fn as_file(path: &Path) -> Option<PathBuf> {
    let candidates = [
        path.to_owned(),
        path.with_extension("js"),
        path.join("index.js"),
    ];
    let file = candidates.into_iter().find(|file| file.is_file())?;
    Some(std::fs::canonicalize(&file).unwrap_or(file))
}

async fn ask(
    module: &str,
    program: &Path,
    environment: &Environment,
    directory: &Path,
) -> Option<PathBuf> {
    let module = serde_json::json!(module);
    let code = format!("try {{ console.log(require.resolve({module})) }} catch {{}}");
    let tool = Tool {
        program: program.to_owned(),
        args: vec!["-e".into(), code.into()],
        environment: environment.clone(),
        working_directory: directory.to_owned(),
    };
    let text = tool.capture().await.ok()?;
    let path = text.lines().last().map(str::trim).unwrap_or_default();
    (!path.is_empty()).then(|| path.into())
}

/// Reports an SDK that is too old; one without a version is accepted.
fn check_version(engine: Engine, file: &Path) -> Result<(), NodeError> {
    let manifest = file
        .ancestors()
        .map(|folder| folder.join("package.json"))
        .find(|manifest| manifest.is_file());
    let version = manifest.and_then(|manifest| version_in(&manifest));
    let needed = first_release(engine);
    match version {
        Some(version) if version < needed => Err(NodeError::SdkTooOld {
            engine,
            version,
            needed,
        }),
        _ => Ok(()),
    }
}

/// Version in a `package.json`.
pub(super) fn version_in(manifest: &Path) -> Option<semver::Version> {
    let text = std::fs::read(manifest).ok()?;
    let content: serde_json::Value = serde_json::from_slice(&text).ok()?;
    semver::Version::parse(content.get("version")?.as_str()?).ok()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn sdk(root: &Path, version: &str) -> PathBuf {
        let package = root.join("node_modules/@pulumi/pulumi");
        fs::create_dir_all(package.join("cmd/run")).unwrap();
        fs::write(package.join("cmd/run/index.js"), "").unwrap();
        fs::write(
            package.join("package.json"),
            format!("{{\"version\": {version:?}}}"),
        )
        .unwrap();
        fs::canonicalize(package.join("cmd/run/index.js")).unwrap()
    }

    #[tokio::test]
    async fn the_nearest_installation_counts() {
        let root = tempfile::tempdir().unwrap();
        let outer = sdk(root.path(), "3.200.0");
        let program = root.path().join("infra/code");
        fs::create_dir_all(&program).unwrap();
        let nowhere = Path::new("/nonexistent/node");
        let find = async |engine| {
            find(
                Script::Program,
                engine,
                nowhere,
                &Environment::new(),
                &program,
            )
            .await
        };
        assert_eq!(find(Engine::Node).await.unwrap(), outer);
        assert!(matches!(
            find(Engine::Bun).await,
            Err(NodeError::SdkTooOld { .. })
        ));
        let inner = sdk(&root.path().join("infra"), "3.226.0");
        assert_eq!(find(Engine::Bun).await.unwrap(), inner);
    }

    #[tokio::test]
    async fn another_module_may_run_programs() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("mine.js"), "").unwrap();
        let file = fs::canonicalize(root.path().join("mine.js")).unwrap();
        for name in ["./mine", "./mine.js", file.to_str().unwrap()] {
            let environment = [("PULUMI_LANGUAGE_NODEJS_RUN_PATH".into(), name.into())].into();
            let nowhere = Path::new("/nonexistent/node");
            let found = find(
                Script::Program,
                Engine::Node,
                nowhere,
                &environment,
                root.path(),
            );
            assert_eq!(found.await.unwrap(), file, "{name}");
        }
    }

    #[tokio::test]
    async fn what_is_not_installed_is_an_error_with_advice() {
        let root = tempfile::tempdir().unwrap();
        let nowhere = Path::new("/nonexistent/node");
        let error = find(
            Script::Program,
            Engine::Node,
            nowhere,
            &Environment::new(),
            root.path(),
        )
        .await
        .unwrap_err();
        assert!(error.to_string().contains("pulumi install"), "{error}");
    }
}
