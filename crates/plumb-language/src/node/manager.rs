//! Choice of the package manager for a program (`languages.md` 3.5).

use std::path::{Path, PathBuf};

use plumb_plugin::process::Environment;

use super::NodeError;
use super::settings::Settings;
use crate::tool::{find_executable, variable};

/// A package manager.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PackageManager {
    /// npm.
    Npm,
    /// Yarn, any version.
    Yarn,
    /// pnpm.
    Pnpm,
    /// Bun.
    Bun,
}

impl PackageManager {
    /// All package managers, in the order of the prompt.
    pub(super) const ALL: [PackageManager; 4] = [
        PackageManager::Npm,
        PackageManager::Pnpm,
        PackageManager::Yarn,
        PackageManager::Bun,
    ];

    /// Package manager with this name.
    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.command() == name)
    }

    /// Name of its executable.
    pub(super) fn command(self) -> &'static str {
        match self {
            PackageManager::Npm => "npm",
            PackageManager::Yarn => "yarn",
            PackageManager::Pnpm => "pnpm",
            PackageManager::Bun => "bun",
        }
    }

    /// Names of its lock files.
    pub(super) fn lock_files(self) -> &'static [&'static str] {
        match self {
            PackageManager::Npm => &["package-lock.json", "npm-shrinkwrap.json"],
            PackageManager::Yarn => &["yarn.lock"],
            PackageManager::Pnpm => &["pnpm-lock.yaml"],
            PackageManager::Bun => &["bun.lock", "bun.lockb"],
        }
    }

    /// Arguments that install all dependencies.
    pub(super) fn install_args(self, production: bool) -> Vec<&'static str> {
        let (args, flag): (&[&str], Option<&str>) = match self {
            PackageManager::Npm => (&["install", "--loglevel=error"], Some("--production")),
            PackageManager::Yarn => (&["install"], Some("--production")),
            PackageManager::Pnpm => (&["install", "--use-stderr"], Some("--production")),
            PackageManager::Bun => (&["install"], None),
        };
        let flag = flag.filter(|_| production);
        args.iter().copied().chain(flag).collect()
    }
}

/// The chosen package manager, and its executable.
#[derive(Debug)]
pub(super) struct Choice {
    pub(super) manager: PackageManager,
    pub(super) program: PathBuf,
    /// Warnings about the choice for the user.
    pub(super) warnings: Vec<String>,
}

/// Chooses the package manager that installs a program's dependencies into `directory`.
pub(super) fn choose(
    settings: &Settings,
    environment: &Environment,
    directory: &Path,
) -> Result<Choice, NodeError> {
    let find = |manager: PackageManager| find_executable(manager.command(), environment, directory);
    if let Some(manager) = wanted(settings)? {
        let program = find(manager).ok_or(NodeError::NoManager { manager })?;
        return Ok(Choice {
            manager,
            program,
            warnings: Vec::new(),
        });
    }
    let mut warnings = Vec::new();
    for manager in [
        PackageManager::Yarn,
        PackageManager::Pnpm,
        PackageManager::Bun,
    ] {
        let Some(reason) = suggests(manager, environment, directory) else {
            continue;
        };
        if let Some(program) = find(manager) {
            return Ok(Choice {
                manager,
                program,
                warnings,
            });
        }
        let command = manager.command();
        warnings.push(format!(
            "could not find `{command}` on the PATH although {reason}; trying another package manager"
        ));
    }
    let manager = PackageManager::Npm;
    let program = find(manager).ok_or(NodeError::NoManager { manager })?;
    Ok(Choice {
        manager,
        program,
        warnings,
    })
}

/// Package manager required by the project file or by the form of the manifest.
fn wanted(settings: &Settings) -> Result<Option<PackageManager>, NodeError> {
    let nearest = settings.program_directory.ancestors().find(|folder| {
        folder.join("package.json").is_file() || folder.join("package.yaml").is_file()
    });
    let is_yaml = nearest.is_some_and(|folder| !folder.join("package.json").is_file());
    match settings.package_manager {
        Some(manager) if is_yaml && manager != PackageManager::Pnpm => {
            Err(NodeError::ManifestNeedsPnpm { manager })
        }
        None if is_yaml => Ok(Some(PackageManager::Pnpm)),
        explicit => Ok(explicit),
    }
}

/// Reason to assume that the program's author uses `manager`.
fn suggests(
    manager: PackageManager,
    environment: &Environment,
    directory: &Path,
) -> Option<String> {
    const PREFER_YARN: &str = "PULUMI_PREFER_YARN";
    let is_preferred =
        manager == PackageManager::Yarn && variable(environment, PREFER_YARN).is_some_and(is_true);
    if is_preferred {
        return Some(format!("{PREFER_YARN} asks for it"));
    }
    let mut files = manager.lock_files().iter();
    let file = files.find(|name| directory.join(name).is_file())?;
    Some(format!("there is a {file}"))
}

fn is_true(text: &str) -> bool {
    matches!(text, "1" | "t" | "T" | "true" | "TRUE" | "True")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use plumb_plugin::language::ProgramInfo;

    use super::super::settings::Engine;
    use super::*;

    struct Machine(tempfile::TempDir);

    impl Machine {
        fn with(tools: &[&str], files: &[&str]) -> Self {
            let root = tempfile::tempdir().unwrap();
            fs::create_dir(root.path().join("bin")).unwrap();
            for tool in tools {
                let path = root.path().join("bin").join(tool);
                fs::write(&path, "#!/bin/sh\n").unwrap();
                let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
                fs::set_permissions(path, mode).unwrap();
            }
            for file in files {
                fs::write(root.path().join(file), "{}").unwrap();
            }
            Machine(root)
        }

        fn choose(&self, option: &str, variables: &[(&str, &str)]) -> Result<Choice, NodeError> {
            let info = ProgramInfo {
                root_directory: self.0.path().into(),
                program_directory: self.0.path().into(),
                entry_point: ".".to_owned(),
                options: [("packagemanager".to_owned(), option.into())]
                    .into_iter()
                    .collect(),
            };
            let settings = Settings::of(Engine::Node, &info).unwrap();
            let mut environment: Environment = variables
                .iter()
                .map(|(name, value)| (name.into(), value.into()))
                .collect();
            environment.insert("PATH".into(), self.0.path().join("bin").into());
            choose(&settings, &environment, self.0.path())
        }

        fn chosen(&self, option: &str) -> (PackageManager, usize) {
            let choice = self.choose(option, &[]).unwrap();
            (choice.manager, choice.warnings.len())
        }
    }

    #[test]
    fn the_lock_file_tells_what_the_author_uses() {
        let tools = ["npm", "yarn", "pnpm", "bun"];
        for (file, manager) in [
            ("package-lock.json", PackageManager::Npm),
            ("yarn.lock", PackageManager::Yarn),
            ("pnpm-lock.yaml", PackageManager::Pnpm),
            ("bun.lock", PackageManager::Bun),
            ("bun.lockb", PackageManager::Bun),
        ] {
            assert_eq!(Machine::with(&tools, &[file]).chosen("auto"), (manager, 0));
        }
        assert_eq!(
            Machine::with(&tools, &[]).chosen("auto"),
            (PackageManager::Npm, 0)
        );
        let machine = Machine::with(&tools, &[]);
        let preferred = machine
            .choose("auto", &[("PULUMI_PREFER_YARN", "true")])
            .unwrap();
        assert_eq!(preferred.manager, PackageManager::Yarn);
    }

    #[test]
    fn a_missing_tool_makes_way_for_the_next_unless_it_is_demanded() {
        let files = ["yarn.lock", "pnpm-lock.yaml"];
        let machine = Machine::with(&["npm", "pnpm"], &files);
        assert_eq!(machine.chosen("auto"), (PackageManager::Pnpm, 1));
        assert_eq!(
            Machine::with(&["npm"], &files).chosen("auto"),
            (PackageManager::Npm, 2)
        );
        let error = machine.choose("yarn", &[]).unwrap_err();
        assert!(matches!(
            error,
            NodeError::NoManager {
                manager: PackageManager::Yarn
            }
        ));
    }

    #[test]
    fn a_manifest_in_yaml_is_for_pnpm() {
        let machine = Machine::with(&["npm", "pnpm"], &["package.yaml"]);
        assert_eq!(machine.chosen("auto"), (PackageManager::Pnpm, 0));
        let error = machine.choose("npm", &[]).unwrap_err();
        assert!(matches!(error, NodeError::ManifestNeedsPnpm { .. }));
    }
}
