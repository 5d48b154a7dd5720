//! Repository tasks: `cargo run -p xtask -- <task>`.
//!
//! | Task | Writes |
//! |---|---|
//! | `protos` | `proto/`, from the facts in `tests/data/protocol.json` |
//! | `codegen` | `crates/plumb-proto/src/generated/` and the protocol of the Rust SDK, from `proto/` |
//! | `simulate [OPTIONS]` | nothing: runs the program `simulate` of `plumb-simulate` with these options |
//! | `mutations [NAME..]` | nothing: breaks rules of the deployment core in a copy, one at a time, and fails if no test notices |
//!
//! `behaviours` writes nothing: it lists the behaviours of the catalogue with their tests. `structure` writes nothing:
//! it prints figures about the dependencies between files of the deployment core.
//!
//! With `--check` nothing is written; the task fails if a file differs from its output.

mod behaviours;
mod codegen;
mod files;
mod mutations;
mod protos;
mod sdk_protocol;
mod structure;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail};

use crate::files::FileSet;

const USAGE: &str = "usage: xtask (protos|codegen|behaviours) [--check] | structure | simulate [--ops N] [--seed S] [--threads T] [--failures F | --keep-going] [--from-state FILE] | mutations [NAME..]";

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let Some(("simulate", options)) = arguments
        .split_first()
        .map(|(task, options)| (task.as_str(), options))
    {
        return simulate(options);
    }
    if let Some(("mutations", names)) = arguments
        .split_first()
        .map(|(task, names)| (task.as_str(), names))
    {
        return mutations::run(&repository_root(), names);
    }
    let (task, check) = match arguments
        .iter()
        .map(String::as_str)
        .collect::<Vec<_>>()
        .as_slice()
    {
        [task] => (*task, false),
        [task, "--check"] => (*task, true),
        _ => bail!(USAGE),
    };
    let root = repository_root();
    if task == "structure" {
        return structure::print(&root);
    }
    if task == "behaviours" {
        return list_behaviours(&root, check);
    }
    match task {
        "protos" => finish(&protos::generate(&root)?, &root.join(protos::FOLDER), check),
        "codegen" => {
            finish(
                &codegen::generate(&root)?,
                &root.join(codegen::FOLDER),
                check,
            )?;
            for part in sdk_protocol::PARTS {
                finish(&part.generate(&root)?, &root.join(part.folder), check)?;
            }
            Ok(())
        }
        _ => bail!(USAGE),
    }
}

#[allow(clippy::print_stdout)] // The list is the output.
fn list_behaviours(root: &Path, check: bool) -> Result<()> {
    let coverage = behaviours::Coverage::of(root)?;
    if check {
        return coverage.check();
    }
    print!("{}", coverage.table(root));
    Ok(())
}

/// Runs the simulation in a program with optimizations, which xtask itself does not have.
fn simulate(options: &[String]) -> Result<()> {
    let status = Command::new(env!("CARGO"))
        .args(["run", "--quiet", "--profile", "bench-fast"])
        .args(["--package", "plumb-simulate", "--bin", "simulate", "--"])
        .args(options)
        .current_dir(repository_root())
        .status()?;
    if !status.success() {
        bail!("the simulation failed");
    }
    Ok(())
}

fn finish(files: &FileSet, folder: &Path, check: bool) -> Result<()> {
    if check {
        files.check(folder)
    } else {
        files.write(folder)
    }
}

fn repository_root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest
        .parent()
        .expect("the xtask folder is inside the repository")
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn protos_are_what_the_facts_say() {
        let root = repository_root();
        protos::generate(&root)
            .unwrap()
            .check(&root.join(protos::FOLDER))
            .unwrap();
    }

    #[test]
    fn generated_rust_is_up_to_date() {
        let root = repository_root();
        codegen::generate(&root)
            .unwrap()
            .check(&root.join(codegen::FOLDER))
            .unwrap();
        for part in sdk_protocol::PARTS {
            let files = part.generate(&root).unwrap();
            files.check(&root.join(part.folder)).unwrap();
        }
    }
}
