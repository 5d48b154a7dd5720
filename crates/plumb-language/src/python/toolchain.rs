//! Interpreter and environment of a program (`languages.md` 4.1 and 4.2).

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use plumb_plugin::language::{OptionChoice, OptionPrompt, OptionValue, ProgramInfo};
use plumb_plugin::process::Environment;
use serde_json::Value;

use super::{PythonError, project_file};
use crate::files::find_upwards;
use crate::tool::{Tool, find_executable, variable};

/// Tool that installs packages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Toolchain {
    Pip,
    Poetry,
    Uv,
}

/// Tool that checks types before a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TypeChecker {
    Mypy,
    Pyright,
}

/// Parsed runtime options of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Settings {
    pub(super) toolchain: Toolchain,
    /// Whether the project file names the tool chain.
    pub(super) is_explicit: bool,
    /// Value of the option.
    pub(super) virtualenv: Option<String>,
    /// Whether this is a plugin, which by default gets a virtual environment of its own.
    pub(super) is_plugin: bool,
    pub(super) type_checker: Option<TypeChecker>,
    pub(super) root: PathBuf,
    pub(super) program_directory: PathBuf,
}

/// An interpreter with its environment.
#[derive(Clone, Debug)]
pub(super) struct Interpreter {
    pub(super) program: PathBuf,
    /// Environment with which it finds its packages.
    pub(super) environment: Environment,
    /// Its virtual environment.
    pub(super) virtual_environment: Option<PathBuf>,
}

impl Interpreter {
    /// Command that runs the interpreter with these arguments.
    pub(super) fn tool(&self, args: &[&str], directory: &Path) -> Tool {
        Tool {
            program: self.program.clone(),
            args: args.iter().map(OsString::from).collect(),
            environment: self.environment.clone(),
            working_directory: directory.to_owned(),
        }
    }

    fn in_virtual_environment(directory: &Path, environment: &Environment) -> Self {
        let binaries = binaries_of(directory);
        let mut environment = environment.clone();
        let mut path = binaries.clone().into_os_string();
        if let Some(rest) = environment.get(&OsString::from("PATH")) {
            path.push(if cfg!(windows) { ";" } else { ":" });
            path.push(rest);
        }
        environment.insert("PATH".into(), path);
        environment.insert("VIRTUAL_ENV".into(), directory.into());
        environment.remove(&OsString::from("PYTHONHOME"));
        Interpreter {
            program: binaries.join(if cfg!(windows) {
                "python.exe"
            } else {
                "python"
            }),
            environment,
            virtual_environment: Some(directory.to_owned()),
        }
    }
}

fn binaries_of(virtual_environment: &Path) -> PathBuf {
    virtual_environment.join(if cfg!(windows) { "Scripts" } else { "bin" })
}

/// Whether `directory` is a virtual environment.
pub(super) fn is_virtual_environment(directory: &Path) -> bool {
    let binaries = binaries_of(directory);
    ["python", "python.exe", "python3"]
        .iter()
        .any(|name| binaries.join(name).exists())
}

impl Settings {
    /// Parses the options of a program.
    pub(super) fn of(info: &ProgramInfo) -> Result<Self, PythonError> {
        let explicit = match text(info, "toolchain")?
            .map(str::to_ascii_lowercase)
            .as_deref()
        {
            None | Some("") => None,
            Some("pip") => Some(Toolchain::Pip),
            Some("poetry") => Some(Toolchain::Poetry),
            Some("uv") => Some(Toolchain::Uv),
            Some(other) => {
                return Err(bad_option(
                    "toolchain",
                    &format!("{other:?}"),
                    "pip, poetry or uv",
                ));
            }
        };
        let type_checker = match text(info, "typechecker")?
            .map(str::to_ascii_lowercase)
            .as_deref()
        {
            None | Some("") => None,
            Some("mypy") => Some(TypeChecker::Mypy),
            Some("pyright") => Some(TypeChecker::Pyright),
            Some(other) => {
                return Err(bad_option(
                    "typechecker",
                    &format!("{other:?}"),
                    "mypy or pyright",
                ));
            }
        };
        Ok(Settings {
            toolchain: explicit.unwrap_or_else(|| detect(&info.program_directory)),
            is_explicit: explicit.is_some(),
            virtualenv: text(info, "virtualenv")?
                .filter(|option| !option.is_empty())
                .map(ToOwned::to_owned),
            is_plugin: false,
            type_checker,
            root: info.root_directory.clone(),
            program_directory: info.program_directory.clone(),
        })
    }

    /// Parses the options of a plugin.
    pub(super) fn of_plugin(info: &ProgramInfo) -> Result<Self, PythonError> {
        Ok(Settings {
            is_plugin: true,
            ..Self::of(info)?
        })
    }

    /// Name of the file that lists what the program depends on.
    pub(super) fn requirements_file(&self) -> &'static str {
        let requirements = "requirements.txt";
        let is_there = self.program_directory.join(requirements).is_file();
        match self.toolchain {
            Toolchain::Poetry | Toolchain::Uv if !is_there => project_file::FILE,
            _ => requirements,
        }
    }

    /// Folder of pip's virtual environment.
    pub(super) fn virtualenv_directory(&self) -> Option<PathBuf> {
        let own = (self.is_plugin && self.toolchain == Toolchain::Pip).then_some("venv");
        let option = self.virtualenv.as_deref().or(own)?;
        Some(self.root.join(option))
    }

    /// Folder of uv's virtual environment.
    pub(super) fn uv_directory(&self, environment: &Environment) -> PathBuf {
        if let Some(directory) = self.virtualenv_directory() {
            return directory;
        }
        let beside = ["uv.lock", "pyproject.toml"]
            .iter()
            .find_map(|name| find_upwards(&self.program_directory, name))
            .unwrap_or_else(|| self.program_directory.clone());
        beside.join(variable(environment, "UV_PROJECT_ENVIRONMENT").unwrap_or(".venv"))
    }

    /// Interpreter that runs the program; updates the environment first where the tool chain requires it.
    pub(super) async fn interpreter(
        &self,
        environment: &Environment,
    ) -> Result<Interpreter, PythonError> {
        match self.toolchain {
            Toolchain::Pip => match self.virtualenv_directory() {
                Some(directory) => {
                    self.check_virtual_environment(&directory)?;
                    Ok(Interpreter::in_virtual_environment(&directory, environment))
                }
                None => system_interpreter(environment, &self.program_directory),
            },
            Toolchain::Poetry => self.poetry_interpreter(environment).await,
            Toolchain::Uv => self.uv_interpreter(environment).await,
        }
    }

    fn check_virtual_environment(&self, directory: &Path) -> Result<(), PythonError> {
        let Some(option) = self.virtualenv.clone() else {
            return self.check_environment_of_plugin(directory);
        };
        if !directory.exists() {
            return Err(PythonError::NoVirtualEnvironment {
                option,
                path: directory.to_owned(),
            });
        }
        if !is_virtual_environment(directory) {
            return Err(PythonError::NotAVirtualEnvironment {
                option,
                path: directory.to_owned(),
            });
        }
        Ok(())
    }

    fn check_environment_of_plugin(&self, directory: &Path) -> Result<(), PythonError> {
        if is_virtual_environment(directory) {
            return Ok(());
        }
        Err(PythonError::NoEnvironmentOfPlugin {
            plugin: self.root.clone(),
            path: directory.to_owned(),
        })
    }

    async fn poetry_interpreter(
        &self,
        environment: &Environment,
    ) -> Result<Interpreter, PythonError> {
        let tool = self.external("poetry", &["env", "info", "--path"], environment)?;
        let text = tool.capture().await?;
        let path = PathBuf::from(text.trim());
        if !is_virtual_environment(&path) {
            return Err(PythonError::ToolOutput {
                command: "poetry env info --path".to_owned(),
                text,
            });
        }
        Ok(Interpreter::in_virtual_environment(&path, environment))
    }

    async fn uv_interpreter(&self, environment: &Environment) -> Result<Interpreter, PythonError> {
        let directory = self.uv_directory(environment);
        if find_upwards(&self.program_directory, "pyproject.toml").is_some() {
            self.uv(&["sync", "--inexact"], environment)?
                .capture()
                .await?;
        }
        if !is_virtual_environment(&directory) {
            let option = self
                .virtualenv
                .clone()
                .unwrap_or_else(|| ".venv".to_owned());
            return Err(PythonError::NoVirtualEnvironment {
                option,
                path: directory,
            });
        }
        Ok(Interpreter::in_virtual_environment(&directory, environment))
    }

    /// Command that runs uv with these arguments on the program's environment.
    pub(super) fn uv(&self, args: &[&str], environment: &Environment) -> Result<Tool, PythonError> {
        let mut tool = self.external("uv", args, environment)?;
        tool.environment.insert(
            "UV_PROJECT_ENVIRONMENT".into(),
            self.uv_directory(environment).into(),
        );
        // uv must not modify another environment that happens to be active.
        tool.environment.remove(&OsString::from("VIRTUAL_ENV"));
        Ok(tool)
    }

    /// Command that runs a tool on the PATH, in the program's folder.
    pub(super) fn external(
        &self,
        tool: &'static str,
        args: &[&str],
        environment: &Environment,
    ) -> Result<Tool, PythonError> {
        let program = find_executable(tool, environment, &self.program_directory)
            .ok_or(PythonError::NoTool { tool })?;
        Ok(Tool {
            program,
            args: args.iter().map(OsString::from).collect(),
            environment: environment.clone(),
            working_directory: self.program_directory.clone(),
        })
    }
}

fn text<'a>(info: &'a ProgramInfo, option: &'static str) -> Result<Option<&'a str>, PythonError> {
    match info.options.get(option) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => Err(bad_option(option, &other.to_string(), "text")),
    }
}

fn bad_option(option: &'static str, value: &str, expected: &'static str) -> PythonError {
    PythonError::BadOption {
        option,
        value: value.to_owned(),
        expected,
    }
}

fn detect(program_directory: &Path) -> Toolchain {
    if find_upwards(program_directory, "uv.lock").is_some() {
        Toolchain::Uv
    } else if find_upwards(program_directory, "poetry.lock").is_some() {
        Toolchain::Poetry
    } else {
        Toolchain::Pip
    }
}

/// Interpreter outside of any virtual environment that Plumb manages.
pub(super) fn system_interpreter(
    environment: &Environment,
    directory: &Path,
) -> Result<Interpreter, PythonError> {
    let looked_for: Vec<String> = match variable(environment, "PULUMI_PYTHON_CMD") {
        Some(command) => vec![command.to_owned()],
        None if cfg!(windows) => vec!["python".to_owned(), "python3".to_owned()],
        None => vec!["python3".to_owned(), "python".to_owned()],
    };
    let program = looked_for
        .iter()
        .find_map(|name| find_executable(name, environment, directory));
    let program = program.ok_or(PythonError::NoInterpreter { looked_for })?;
    Ok(Interpreter {
        program,
        environment: environment.clone(),
        virtual_environment: None,
    })
}

/// Prompts for the options of a new project.
pub(super) fn option_prompts(environment: &Environment, info: &ProgramInfo) -> Vec<OptionPrompt> {
    let choice = |text: &str| OptionChoice {
        value: OptionValue::Text(text.to_owned()),
        display_name: text.to_owned(),
    };
    match info.text_option("toolchain") {
        None => {
            let found = ["poetry", "uv"]
                .iter()
                .filter(|tool| find_executable(tool, environment, &info.root_directory).is_some());
            let choices = std::iter::once("pip")
                .chain(found.copied())
                .map(choice)
                .collect();
            vec![OptionPrompt {
                key: "toolchain".to_owned(),
                description:
                    "The toolchain to use for installing dependencies and running the program"
                        .to_owned(),
                choices,
                default: Some(choice("pip")),
            }]
        }
        Some("pip") if info.text_option("virtualenv").is_none() => vec![OptionPrompt {
            key: "virtualenv".to_owned(),
            description: "The virtual environment to use".to_owned(),
            choices: vec![choice("venv")],
            default: Some(choice("venv")),
        }],
        Some(_) => Vec::new(),
    }
}
