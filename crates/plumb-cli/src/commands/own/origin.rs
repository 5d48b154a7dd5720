//! Where this program comes from, as far as its surroundings say.
//!
//! The installer and the image leave a note beside the program, packages are in the list of `dpkg`, and `cargo install`
//! keeps a register. Nothing is asked of the network.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;

/// Note of an installer, below the prefix that has `bin/plumb`.
pub(super) const NOTE: &str = "share/doc/plumb/installed-from";
/// Files of the package of Debian.
const DEBIAN_FILES: &str = "var/lib/dpkg/info/plumb.list";
/// Register of programs that cargo has installed, below its home.
const CARGO_REGISTER: &str = ".crates.toml";

/// How the program came to its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "by", rename_all = "kebab-case")]
pub(super) enum Origin {
    /// By the installer of a release.
    Installer {
        /// Address of the release.
        from: String,
        /// SHA-256 of the archive, in hexadecimal digits.
        sha256: String,
    },
    /// As a part of a container image.
    Image {
        /// Name of the image.
        from: String,
    },
    /// By a package of Debian.
    DebianPackage,
    /// By `cargo install`.
    Cargo {
        /// Sources, as cargo names them.
        from: String,
    },
    /// Compiled from a checkout, and run from the build folder.
    BuildTree,
    /// Nothing says how.
    Unknown,
}

/// Places that know about programs.
pub(super) struct Places {
    /// Root of the file system.
    pub(super) root: PathBuf,
    /// Home of cargo, if there is one.
    pub(super) cargo: Option<PathBuf>,
}

impl Origin {
    /// Origin of the program at this path.
    pub(super) fn of(program: &Path, places: &Places) -> Self {
        noted(program)
            .or_else(|| debian(program, places))
            .or_else(|| installed_by_cargo(program, places.cargo.as_deref()?))
            .or_else(|| is_in_build_tree(program).then_some(Origin::BuildTree))
            .unwrap_or(Origin::Unknown)
    }

    /// How the program was installed.
    pub(super) fn how(&self) -> String {
        match self {
            Origin::Installer { from, sha256 } => {
                format!("by the installer, from {from} (SHA-256 of the archive: {sha256})")
            }
            Origin::Image { from } => format!("as part of the image {from}"),
            Origin::DebianPackage => "by the package `plumb` of Debian".to_owned(),
            Origin::Cargo { from } => format!("by `cargo install`, from {from}"),
            Origin::BuildTree => "compiled here: it is in its build folder".to_owned(),
            Origin::Unknown => "copied there: nothing says from where".to_owned(),
        }
    }

    /// How to get another version.
    pub(super) fn update(&self) -> &'static str {
        match self {
            Origin::Installer { .. } => {
                "run the installer of the other version: it replaces this one"
            }
            Origin::Image { .. } => "use the image of the other version",
            Origin::DebianPackage => "`apt-get install ./plumb_VERSION_ARCH.deb`",
            Origin::Cargo { .. } => {
                "`cargo install` from the other version, with `--force` for the same one"
            }
            Origin::BuildTree => "compile it from the other commit",
            Origin::Unknown => "put the other program in its place",
        }
    }
}

/// Lines `key: value` of the note of an installer.
fn noted(program: &Path) -> Option<Origin> {
    let prefix = program.parent()?.parent()?;
    let text = fs::read_to_string(prefix.join(NOTE)).ok()?;
    let lines = text.lines().filter_map(|line| line.split_once(": "));
    let fields: BTreeMap<&str, &str> = lines.collect();
    let field = |key: &str| fields.get(key).map(|value| (*value).to_owned());
    match *fields.get("by")? {
        "installer" => Some(Origin::Installer {
            from: field("from")?,
            sha256: field("sha256")?,
        }),
        "image" => Some(Origin::Image {
            from: field("from")?,
        }),
        _ => None,
    }
}

fn debian(program: &Path, places: &Places) -> Option<Origin> {
    let files = fs::read_to_string(places.root.join(DEBIAN_FILES)).ok()?;
    let inside = Path::new("/").join(program.strip_prefix(&places.root).ok()?);
    let is_listed = files.lines().any(|line| Path::new(line) == inside);
    is_listed.then_some(Origin::DebianPackage)
}

/// The entry of a register whose keys are `NAME VERSION (SOURCE)`.
fn installed_by_cargo(program: &Path, cargo: &Path) -> Option<Origin> {
    if program.parent()? != cargo.join("bin") {
        return None;
    }
    let register = fs::read_to_string(cargo.join(CARGO_REGISTER)).ok()?;
    let entry = register
        .lines()
        .find(|line| line.starts_with("\"plumb-cli "))?;
    let (_, rest) = entry.split_once('(')?;
    let (from, _) = rest.split_once(')')?;
    Some(Origin::Cargo {
        from: from.to_owned(),
    })
}

/// Whether the program is in `target/PROFILE`, or `target/TARGET/PROFILE`, of sources.
fn is_in_build_tree(program: &Path) -> bool {
    let folders = program.ancestors().skip(2).take(2);
    folders.into_iter().any(|folder| {
        folder.join("CACHEDIR.TAG").is_file() && folder.join(".rustc_info.json").is_file()
    })
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    struct Machine {
        root: TempDir,
    }

    impl Machine {
        fn new() -> Self {
            Machine {
                root: TempDir::new().unwrap(),
            }
        }

        fn write(&self, path: &str, text: &str) {
            let path = self.root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }

        fn origin(&self, program: &str) -> Origin {
            let places = Places {
                root: self.root.path().to_owned(),
                cargo: Some(self.root.path().join("cargo")),
            };
            Origin::of(&self.root.path().join(program), &places)
        }
    }

    #[test]
    fn a_program_without_traces_is_of_unknown_origin() {
        let machine = Machine::new();
        assert_eq!(machine.origin("usr/bin/plumb"), Origin::Unknown);
        assert_eq!(machine.origin("cargo/bin/plumb"), Origin::Unknown);
    }

    #[test]
    fn installers_and_images_leave_a_note() {
        let machine = Machine::new();
        machine.write(
            &format!("home/.local/{NOTE}"),
            "by: installer\nfrom: https://example.com/0.1.0\nsha256: 12ab\n",
        );
        let installer = Origin::Installer {
            from: "https://example.com/0.1.0".to_owned(),
            sha256: "12ab".to_owned(),
        };
        assert_eq!(machine.origin("home/.local/bin/plumb"), installer);
        machine.write(&format!("usr/{NOTE}"), "by: image\nfrom: plumb:0.1.0\n");
        let image = Origin::Image {
            from: "plumb:0.1.0".to_owned(),
        };
        assert_eq!(machine.origin("usr/bin/plumb"), image);
    }

    #[test]
    fn only_the_program_of_the_package_is_the_package() {
        let machine = Machine::new();
        machine.write(DEBIAN_FILES, "/.\n/usr/bin\n/usr/bin/plumb\n");
        assert_eq!(machine.origin("usr/bin/plumb"), Origin::DebianPackage);
        assert_eq!(machine.origin("usr/local/bin/plumb"), Origin::Unknown);
    }

    #[test]
    fn cargo_knows_its_sources() {
        let machine = Machine::new();
        let register = "[v1]\n\"other 1.0.0 (registry+x)\" = [\"other\"]\n\
                        \"plumb-cli 0.1.0 (path+file:///src/plumb)\" = [\"plumb\"]\n";
        machine.write("cargo/.crates.toml", register);
        let cargo = Origin::Cargo {
            from: "path+file:///src/plumb".to_owned(),
        };
        assert_eq!(machine.origin("cargo/bin/plumb"), cargo);
        assert_eq!(machine.origin("usr/bin/plumb"), Origin::Unknown);
    }

    #[test]
    fn a_build_tree_is_known_by_its_files() {
        let machine = Machine::new();
        for file in ["CACHEDIR.TAG", ".rustc_info.json"] {
            machine.write(&format!("src/target/{file}"), "");
        }
        for path in ["src/target/debug/plumb", "src/target/musl/dist/plumb"] {
            assert_eq!(machine.origin(path), Origin::BuildTree);
        }
    }
}
