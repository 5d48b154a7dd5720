//! What can go wrong with Node.js and Bun.

use std::path::PathBuf;

use plumb_plugin::LanguageError;

use super::lock_file::LockFileError;
use super::manager::PackageManager;
use super::settings::Engine;
use crate::ToolError;

/// Why a JavaScript or TypeScript program could not be run, installed or inspected.
#[derive(Debug, thiserror::Error)]
pub enum NodeError {
    /// There is no interpreter.
    #[error("could not find `{}` on the PATH; {}", .engine.command(), install_engine(*.engine))]
    NoEngine {
        /// What was looked for.
        engine: Engine,
    },
    /// The tool that installs packages is missing.
    #[error(
        "could not find `{}` on the PATH; install it, or choose another `packagemanager` under `runtime.options` in \
         Pulumi.yaml",
        .manager.command()
    )]
    NoManager {
        /// The tool.
        manager: PackageManager,
    },
    /// The tool that edits manifests is missing.
    #[error("could not find `{command}` on the PATH, which edits the package.json; install it")]
    NoLinkTool {
        /// The tool.
        command: &'static str,
    },
    /// The manifest has a form that only one tool understands.
    #[error(
        "the program has a package.yaml, which only pnpm understands, but the `packagemanager` in Pulumi.yaml is {}; \
         set it to pnpm, or write a package.json",
        .manager.command()
    )]
    ManifestNeedsPnpm {
        /// The tool that was chosen.
        manager: PackageManager,
    },
    /// The SDK is not there.
    #[error(
        "could not find the module {module} from {}; it looks like the Pulumi SDK has not been installed. Have you run \
         `pulumi install`?",
        directory.display()
    )]
    NoSdk {
        /// What was looked for.
        module: String,
        /// From where.
        directory: PathBuf,
    },
    /// The SDK is too old for what runs it.
    #[error(
        "the installed version {version} of @pulumi/pulumi is too old to be run with `{}`; install {needed} or newer with \
         `{}`",
        .engine.command(), update_sdk(*.engine)
    )]
    SdkTooOld {
        /// What would run it.
        engine: Engine,
        /// The version that is installed.
        version: semver::Version,
        /// The version that is needed.
        needed: semver::Version,
    },
    /// An option has a value that means nothing.
    #[error(
        "unknown value {value} of the runtime option `{option}` in Pulumi.yaml; it can be {expected}"
    )]
    BadOption {
        /// The option.
        option: &'static str,
        /// Its value.
        value: String,
        /// What it can be.
        expected: &'static str,
    },
    /// The tool was content, and nothing is there.
    #[error(
        "`{} install` succeeded, but there is no `node_modules` folder in or above {}, where the packages are \
         looked for{}",
        .manager.command(), directory.display(), plug_and_play(*.manager)
    )]
    NoModules {
        /// The tool.
        manager: PackageManager,
        /// The folder of the program.
        directory: PathBuf,
    },
    /// Nothing says which packages are installed.
    #[error(
        "there is no lock file in or above {}; `plumb install` makes one",
        directory.display()
    )]
    NoLockFile {
        /// The folder of the program.
        directory: PathBuf,
    },
    /// The lock file cannot be understood.
    #[error("could not read the lock file {}", path.display())]
    LockFile {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: LockFileError,
    },
    /// A tool did not do its work.
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
        /// Why it failed.
        #[source]
        source: std::io::Error,
    },
    /// No debugger could attach.
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
