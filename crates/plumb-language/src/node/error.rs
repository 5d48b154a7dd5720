//! Errors of Node.js and Bun.

use std::path::PathBuf;

use plumb_plugin::LanguageError;

use super::lock_file::LockFileError;
use super::manager::PackageManager;
use super::settings::Engine;
use crate::ToolError;

/// Error while running, installing or inspecting a JavaScript or TypeScript program.
#[derive(Debug, thiserror::Error)]
pub enum NodeError {
    /// The interpreter is not installed.
    #[error("could not find `{}` on the PATH; {}", .engine.command(), install_engine(*.engine))]
    NoEngine {
        /// The interpreter.
        engine: Engine,
    },
    /// The package manager is not installed.
    #[error(
        "could not find `{}` on the PATH; install it, or choose another `packagemanager` under `runtime.options` in \
         Pulumi.yaml",
        .manager.command()
    )]
    NoManager {
        /// The package manager.
        manager: PackageManager,
    },
    /// The tool that edits manifests is not installed.
    #[error("could not find `{command}` on the PATH, which edits the package.json; install it")]
    NoLinkTool {
        /// The tool.
        command: &'static str,
    },
    /// Only one package manager supports the form of the manifest.
    #[error(
        "the program has a package.yaml, which only pnpm understands, but the `packagemanager` in Pulumi.yaml is {}; \
         set it to pnpm, or write a package.json",
        .manager.command()
    )]
    ManifestNeedsPnpm {
        /// The chosen package manager.
        manager: PackageManager,
    },
    /// The SDK is not installed.
    #[error(
        "could not find the module {module} from {}; it looks like the Pulumi SDK has not been installed. Have you run \
         `pulumi install`?",
        directory.display()
    )]
    NoSdk {
        /// The module.
        module: String,
        /// Folder from which it was resolved.
        directory: PathBuf,
    },
    /// The SDK is too old for the interpreter.
    #[error(
        "the installed version {version} of @pulumi/pulumi is too old to be run with `{}`; install {needed} or newer with \
         `{}`",
        .engine.command(), update_sdk(*.engine)
    )]
    SdkTooOld {
        /// The interpreter.
        engine: Engine,
        /// Installed version.
        version: semver::Version,
        /// Required version.
        needed: semver::Version,
    },
    /// An option has an unknown value.
    #[error(
        "unknown value {value} of the runtime option `{option}` in Pulumi.yaml; it can be {expected}"
    )]
    BadOption {
        /// The option.
        option: &'static str,
        /// Its value.
        value: String,
        /// Allowed values.
        expected: &'static str,
    },
    /// The package manager succeeded without creating `node_modules`.
    #[error(
        "`{} install` succeeded, but there is no `node_modules` folder in or above {}, where the packages are \
         looked for{}",
        .manager.command(), directory.display(), plug_and_play(*.manager)
    )]
    NoModules {
        /// The package manager.
        manager: PackageManager,
        /// Folder of the program.
        directory: PathBuf,
    },
    /// There is no lock file.
    #[error(
        "there is no lock file in or above {}; `plumb install` makes one",
        directory.display()
    )]
    NoLockFile {
        /// Folder of the program.
        directory: PathBuf,
    },
    /// The lock file cannot be parsed.
    #[error("could not read the lock file {}", path.display())]
    LockFile {
        /// The file.
        path: PathBuf,
        /// Cause.
        #[source]
        source: LockFileError,
    },
    /// A tool failed.
    #[error(transparent)]
    Tool(#[from] ToolError),
    /// The program could not be started.
    #[error("Problem executing program (could not run language executor)")]
    Executor(#[source] ToolError),
    /// A file could not be written.
    #[error("could not write {}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Cause.
        #[source]
        source: std::io::Error,
    },
    /// No port is free for a debugger.
    #[error("there is no free port for a debugger")]
    NoPort(#[source] std::io::Error),
}

fn install_engine(engine: Engine) -> &'static str {
    match engine {
        Engine::Node => "install Node.js 20 or newer from https://nodejs.org",
        Engine::Bun => "install Bun from https://bun.sh, or set `runtime: nodejs` in Pulumi.yaml",
    }
}

fn update_sdk(engine: Engine) -> &'static str {
    match engine {
        Engine::Node => "npm install @pulumi/pulumi@latest",
        Engine::Bun => "bun add @pulumi/pulumi",
    }
}

fn plug_and_play(manager: PackageManager) -> &'static str {
    match manager {
        PackageManager::Yarn => "; with Plug'n'Play, set `nodeLinker: node-modules` in .yarnrc.yml",
        PackageManager::Npm | PackageManager::Pnpm | PackageManager::Bun => "",
    }
}

impl From<NodeError> for LanguageError {
    fn from(error: NodeError) -> Self {
        LanguageError::Native(Box::new(error))
    }
}
