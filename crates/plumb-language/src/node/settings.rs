//! Runtime options of a program (`languages.md` 3.1).

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use plumb_plugin::language::ProgramInfo;
use plumb_plugin::process::Environment;
use serde_json::Value;

use super::NodeError;
use super::manager::PackageManager;
use crate::tool::find_executable;

/// Script that is loaded before the SDK.
const FIRST: &str = include_str!("first.js");

/// A JavaScript interpreter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// Node.js.
    Node,
    /// Bun.
    Bun,
}

impl Engine {
    /// Name of the runtime in project files.
    pub(super) fn runtime(self) -> &'static str {
        match self {
            Engine::Node => "nodejs",
            Engine::Bun => "bun",
        }
    }

    /// Name of the executable.
    pub(super) fn command(self) -> &'static str {
        match self {
            Engine::Node => "node",
            Engine::Bun => "bun",
        }
    }

    /// The executable on the PATH.
    pub(super) fn find(
        self,
        environment: &Environment,
        directory: &Path,
    ) -> Result<PathBuf, NodeError> {
        find_executable(self.command(), environment, directory)
            .ok_or(NodeError::NoEngine { engine: self })
    }
}

/// Parsed runtime options of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Settings {
    pub(super) engine: Engine,
    /// Whether the SDK loads TypeScript.
    pub(super) typescript: bool,
    /// Path of the compiler's settings, if not the default.
    pub(super) tsconfig: Option<String>,
    /// Arguments for the interpreter.
    pub(super) node_args: Vec<String>,
    /// Package manager in the project file.
    pub(super) package_manager: Option<PackageManager>,
    /// Whether development dependencies are not installed.
    pub(super) production: bool,
    pub(super) program_directory: PathBuf,
}

impl Settings {
    /// Parses the options of a program.
    pub(super) fn of(engine: Engine, info: &ProgramInfo) -> Result<Self, NodeError> {
        let package_manager = match text(info, "packagemanager")? {
            None | Some("" | "auto") => None,
            Some(name) => {
                let known = PackageManager::named(name);
                Some(known.ok_or_else(|| {
                    bad_option(
                        "packagemanager",
                        &format!("{name:?}"),
                        "auto, npm, yarn, pnpm or bun",
                    )
                })?)
            }
        };
        let package_manager = match engine {
            Engine::Node => package_manager,
            Engine::Bun => Some(PackageManager::Bun),
        };
        Ok(Settings {
            engine,
            typescript: truth(info, "typescript")?.unwrap_or(true),
            tsconfig: text(info, "tsconfig")?
                .filter(|path| !path.is_empty())
                .map(str::to_owned),
            node_args: node_args(text(info, "nodeargs")?.unwrap_or_default())?,
            package_manager,
            production: truth(info, "production")?.unwrap_or(false),
            program_directory: info.program_directory.clone(),
        })
    }

    /// Start of a command line: the interpreter's own arguments, then the script.
    pub(super) fn script(&self, script: PathBuf, cache: &Path) -> Result<Vec<OsString>, NodeError> {
        match self.engine {
            Engine::Node => {
                let first = cache.join("nodejs").join("first.js");
                crate::script::write(&first, FIRST).map_err(|source| NodeError::Write {
                    path: first.clone(),
                    source,
                })?;
                // `-r`, because the SDK interprets the long form as a sign that the user loads TypeScript by
                // other means.
                let first = ["-r".into(), first.into_os_string()];
                let own = self.node_args.iter().map(OsString::from);
                Ok(first
                    .into_iter()
                    .chain(own)
                    .chain([script.into()])
                    .collect())
            }
            Engine::Bun => Ok(vec!["run".into(), script.into()]),
        }
    }

    /// Sets the variables that tell the SDK how to load the program.
    pub(super) fn announce(&self, environment: &mut Environment) {
        const TYPESCRIPT: &str = "PULUMI_NODEJS_TYPESCRIPT";
        environment.remove(&OsString::from(TYPESCRIPT));
        if self.engine == Engine::Bun {
            return;
        }
        if self.typescript {
            environment.insert(TYPESCRIPT.into(), "true".into());
        }
        if let Some(path) = &self.tsconfig {
            environment.insert("PULUMI_NODEJS_TSCONFIG_PATH".into(), path.into());
        }
    }
}

fn node_args(text: &str) -> Result<Vec<String>, NodeError> {
    shlex::split(text).ok_or_else(|| {
        bad_option(
            "nodeargs",
            &format!("{text:?}"),
            "arguments as in a shell, with every quote closed",
        )
    })
}

fn text<'a>(info: &'a ProgramInfo, option: &'static str) -> Result<Option<&'a str>, NodeError> {
    match info.options.get(option) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => Err(bad_option(option, &other.to_string(), "text")),
    }
}

fn truth(info: &ProgramInfo, option: &'static str) -> Result<Option<bool>, NodeError> {
    match info.options.get(option) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Bool(value)) => Ok(Some(*value)),
        Some(other) => Err(bad_option(option, &other.to_string(), "true or false")),
    }
}

fn bad_option(option: &'static str, value: &str, expected: &'static str) -> NodeError {
    NodeError::BadOption {
        option,
        value: value.to_owned(),
        expected,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(engine: Engine, options: Value) -> Result<Settings, String> {
        let info = ProgramInfo {
            root_directory: "/p".into(),
            program_directory: "/p/infra".into(),
            entry_point: ".".to_owned(),
            options: options.as_object().cloned().unwrap_or_default(),
        };
        Settings::of(engine, &info).map_err(|error| error.to_string())
    }

    #[test]
    fn options_are_read() {
        let settings = read(
            Engine::Node,
            serde_json::json!({
                "typescript": false, "tsconfig": "ts.json", "nodeargs": "--import tsx '--title=a b'",
                "packagemanager": "pnpm", "production": true
            }),
        )
        .unwrap();
        assert!(!settings.typescript && settings.production);
        assert_eq!(settings.tsconfig.as_deref(), Some("ts.json"));
        assert_eq!(settings.node_args, ["--import", "tsx", "--title=a b"]);
        assert_eq!(settings.package_manager, Some(PackageManager::Pnpm));
    }

    #[test]
    fn nothing_need_be_said() {
        for options in [
            serde_json::json!({}),
            serde_json::json!({"packagemanager": "auto", "typescript": null}),
        ] {
            let settings = read(Engine::Node, options).unwrap();
            assert!(settings.typescript && !settings.production);
            assert_eq!(settings.package_manager, None);
        }
    }

    #[test]
    fn bun_installs_its_own_packages() {
        let settings = read(Engine::Bun, serde_json::json!({"packagemanager": "npm"})).unwrap();
        assert_eq!(settings.package_manager, Some(PackageManager::Bun));
    }

    #[test]
    fn wrong_options_are_named_with_what_they_may_be() {
        for (options, wanted) in [
            (serde_json::json!({"typescript": "yes"}), "`typescript`"),
            (serde_json::json!({"nodeargs": ["--x"]}), "`nodeargs`"),
            (
                serde_json::json!({"nodeargs": "'open"}),
                "every quote closed",
            ),
            (
                serde_json::json!({"packagemanager": "bower"}),
                "npm, yarn, pnpm or bun",
            ),
            (serde_json::json!({"tsconfig": 1}), "`tsconfig`"),
        ] {
            let error = read(Engine::Node, options).unwrap_err();
            assert!(error.contains(wanted), "{error}");
        }
    }
}
