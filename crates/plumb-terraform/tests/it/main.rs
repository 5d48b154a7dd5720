//! Configurations with the PCL that is made of them, and properties of all.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

mod cases;
mod damaged;
mod documented;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use plumb_schema::PackageSchema;
use plumb_terraform::{Configuration, Packages, ReadError, convert};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

/// The packages that the cases use.
fn packages() -> Packages {
    let mut packages = Packages::new();
    let random = include_str!("../../../plumb-providers/schemas/random.json");
    let docker = include_str!("../../../../tests/data/schemas/docker.json");
    let cloud = include_str!("../schemas/cloud.json");
    for (provider, text) in [("random", random), ("docker", docker), ("cloud", cloud)] {
        let schema = PackageSchema::parse(text).unwrap();
        packages.insert(provider, Some(Arc::new(schema)), None);
    }
    packages
}

/// All files that are made of the configuration in a folder, and the notes, as one text.
fn converted(folder: &Path, start: &str) -> Result<String, ReadError> {
    let configuration = Configuration::read(folder, start)?;
    let values = configuration.values()?;
    let converted = convert(&configuration, &packages());
    let mut text = String::new();
    for (path, file) in &converted.files {
        // What is printed is in its one form, so it can be read.
        assert_eq!(plumb_pcl::format(path, file).as_ref(), Ok(file), "{path}");
        let _ = write!(text, "=== {path}\n{file}");
    }
    for (key, value) in &converted.settings {
        let _ = writeln!(text, "=== project: {key} = {value}");
    }
    for (key, value) in &values.settings {
        let _ = writeln!(text, "=== stack: {key} = {value}");
    }
    for note in &converted.notes {
        let _ = writeln!(text, "=== note: {note}");
    }
    Ok(text)
}
