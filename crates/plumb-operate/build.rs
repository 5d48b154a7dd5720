//! Sets the commit and the target that the program was built from. Development builds do not record the commit, because
//! every commit would then cause a rebuild.

use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=PLUMB_COMMIT");
    let of_environment = |name| std::env::var(name).unwrap_or_default();
    let profile = of_environment("PROFILE");
    let mut commit = of_environment("PLUMB_COMMIT");
    if commit.is_empty() && profile == "release" {
        if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]) {
            println!("cargo:rerun-if-changed={log}");
        }
        commit = git(&["rev-parse", "HEAD"]).unwrap_or_default();
    }
    if commit.is_empty() {
        "unknown".clone_into(&mut commit);
    }
    println!("cargo:rustc-env=PLUMB_BUILT_COMMIT={commit}");
    println!(
        "cargo:rustc-env=PLUMB_BUILT_AS={profile} for {}",
        of_environment("TARGET")
    );
}

fn git(words: &[&str]) -> Option<String> {
    let output = Command::new("git").args(words).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
