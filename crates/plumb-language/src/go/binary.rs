//! Modules of a prebuilt program, read from its build information.
//!
//! The program is not compiled from its `go.mod`, so fetching every module listed there, to search for plugin files, would
//! be wasted time.
//!
//! 1. The executable contains the list of modules that it was linked from.
//! 2. Modules in the module cache, and folders that replace modules, are used without fetching.
//! 3. For other modules, one command fetches only the `go.mod` files. A module that does not require the Pulumi SDK
//!    cannot be the SDK of a package; the rest are fetched one by one.
//!
//! Modules that cannot be fetched are omitted, because the program runs without them.

use std::path::{Path, PathBuf};

use plumb_plugin::process::Environment;

use super::module::{Module, fetch, values};
use super::settings::go;
use crate::compiled::CompiledError;
use crate::tool::variable;

/// Mark before the build information, which follows a header of this length.
const MARK: &[u8] = b"\xff Go buildinf:";
const HEADER: usize = 32;
const FLAGS: usize = 15;
const IN_LINE: u8 = 2;
/// Length of the sentinels around the list of modules.
const SENTINEL: usize = 16;

/// The Pulumi SDK's module, which is not a package.
const SDK: &str = "github.com/pulumi/pulumi/sdk";

/// Modules that `executable` was linked from; `None` if it contains no build information.
pub(super) async fn modules(
    executable: PathBuf,
    directory: &Path,
    environment: &Environment,
) -> Option<Vec<Module>> {
    let read = move || linked_modules(&std::fs::read(executable).ok()?);
    let read = tokio::task::spawn_blocking(read).await;
    let mut modules = read.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()))?;
    let cache = module_cache(environment);
    for module in &mut modules {
        module.dir = folder(module, cache.as_deref(), directory);
    }
    let missing: Vec<usize> = (0..modules.len())
        .filter(|idx| modules[*idx].dir.is_none() && !modules[*idx].path.starts_with(SDK))
        .collect();
    if !missing.is_empty()
        && let Err(error) = complete(&mut modules, &missing, directory, environment).await
    {
        tracing::debug!(%error, "modules of a program that is built already cannot be fetched");
    }
    Some(modules)
}

/// Module list in the build information of an executable.
fn linked_modules(executable: &[u8]) -> Option<Vec<Module>> {
    let info = executable
        .chunks(SENTINEL)
        .position(|chunk| chunk.starts_with(MARK))
        .and_then(|idx| executable.get(idx * SENTINEL..))?;
    if info.get(FLAGS)? & IN_LINE == 0 {
        return None;
    }
    let (_, rest) = counted(info.get(HEADER..)?)?;
    let (list, _) = counted(rest)?;
    let list = list.get(SENTINEL..list.len().checked_sub(SENTINEL)?)?;
    Some(listed(std::str::from_utf8(list).ok()?))
}

/// Splits off bytes that are preceded by their length.
fn counted(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut length = 0;
    for (idx, byte) in bytes.iter().take(5).enumerate() {
        length |= usize::from(byte & 0x7f) << (7 * idx);
        if byte & 0x80 == 0 {
            return bytes.get(idx + 1..)?.split_at_checked(length);
        }
    }
    None
}

/// Parses the module list: lines `dep`, each followed by a line `=>` if the module is replaced.
fn listed(text: &str) -> Vec<Module> {
    let mut modules: Vec<Module> = Vec::new();
    for line in text.lines() {
        let mut fields = line.split('\t');
        let kind = fields.next();
        let module = Module {
            path: fields.next().unwrap_or_default().to_owned(),
            version: fields.next().unwrap_or_default().to_owned(),
            ..Module::default()
        };
        match (kind, modules.last_mut()) {
            (Some("dep"), _) => modules.push(module),
            (Some("=>"), Some(last)) => last.replace = Some(Box::new(module)),
            _ => {}
        }
    }
    modules
}

/// The module cache.
fn module_cache(environment: &Environment) -> Option<PathBuf> {
    if let Some(cache) = variable(environment, "GOMODCACHE") {
        return Some(cache.into());
    }
    let folder = match variable(environment, "GOPATH") {
        Some(paths) => std::env::split_paths(paths).next()?,
        None => Path::new(variable(environment, "HOME")?).join("go"),
    };
    Some(folder.join("pkg").join("mod"))
}

/// Local folder of a module, if it exists.
fn folder(module: &Module, cache: Option<&Path>, directory: &Path) -> Option<PathBuf> {
    let source = module.replace.as_deref().unwrap_or(module);
    let folder = if source.version.is_empty() {
        directory.join(&source.path)
    } else {
        cache?.join(format!(
            "{}@{}",
            escaped(&source.path),
            escaped(&source.version)
        ))
    };
    Some(folder).filter(|folder| folder.is_dir())
}

/// The name as the module cache spells it: `!` and a lower-case letter for each capital, because some file systems ignore
/// case.
fn escaped(name: &str) -> String {
    let mut escaped = String::with_capacity(name.len());
    for letter in name.chars() {
        if letter.is_ascii_uppercase() {
            escaped.push('!');
        }
        escaped.push(letter.to_ascii_lowercase());
    }
    escaped
}

/// Fetches the missing modules that may be packages.
async fn complete(
    modules: &mut [Module],
    missing: &[usize],
    directory: &Path,
    environment: &Environment,
) -> Result<(), CompiledError> {
    let wanted = |module: &Module| {
        let source = module.replace.as_deref().unwrap_or(module);
        format!("{}@{}", source.path, source.version)
    };
    let mut list = go(&["list", "-e", "-m", "-json"], environment, directory)?;
    list.args
        .extend(missing.iter().map(|idx| wanted(&modules[*idx]).into()));
    let found: Vec<Module> = values(&list.capture().await?, &list.display())?;
    for idx in missing {
        let source = modules[*idx].replace.as_deref().unwrap_or(&modules[*idx]);
        let found = found
            .iter()
            .find(|it| it.path == source.path && it.version == source.version);
        let file = found.and_then(|it| it.go_mod.as_deref());
        if file.is_some_and(requires_sdk) {
            modules[*idx].dir = fetch(&wanted(&modules[*idx]), directory, environment).await;
        }
    }
    Ok(())
}

fn requires_sdk(file: &Path) -> bool {
    std::fs::read_to_string(file).is_ok_and(|text| text.contains(SDK))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "path\tprogram\nmod\tprogram\t(devel)\t\n\
        dep\tgithub.com/BurntSushi/toml\tv1.2.3\th1:x\n\
        dep\texample.com/local/sdk\tv0.0.0\n=>\t./sdks/local\t\t\nbuild\t-trimpath=true\n";

    /// An executable that contains the list.
    fn executable(list: &str) -> Vec<u8> {
        let mut bytes = vec![7; 48];
        bytes.extend(MARK);
        bytes.extend([8, IN_LINE]);
        bytes.extend([0; 16]);
        bytes.extend([8]);
        bytes.extend(b"go1.26.8");
        let length = u16::try_from(list.len() + 2 * SENTINEL).unwrap();
        bytes.extend([
            u8::try_from(length & 0x7f).unwrap() | 0x80,
            u8::try_from(length >> 7).unwrap(),
        ]);
        bytes.extend([b'<'; SENTINEL]);
        bytes.extend(list.as_bytes());
        bytes.extend([b'>'; SENTINEL]);
        bytes
    }

    #[test]
    fn executables_name_their_modules() {
        let modules = linked_modules(&executable(LIST)).unwrap();
        let shown: Vec<_> = modules
            .iter()
            .map(|it| (it.path.as_str(), it.version.as_str(), it.replace.is_some()))
            .collect();
        assert_eq!(
            shown,
            [
                ("github.com/BurntSushi/toml", "v1.2.3", false),
                ("example.com/local/sdk", "v0.0.0", true),
            ]
        );
        assert_eq!(linked_modules(b"#!/bin/sh\n"), None);
        let cut = executable(LIST);
        assert_eq!(linked_modules(&cut[..cut.len() - 20]), None);
    }

    #[test]
    fn folders_are_found_without_the_tool() {
        let root = tempfile::tempdir().unwrap();
        let cached = "cache/github.com/!burnt!sushi/toml@v1.2.3";
        for folder in [cached, "program/sdks/local"] {
            std::fs::create_dir_all(root.path().join(folder)).unwrap();
        }
        let modules = listed(LIST);
        let (cache, program) = (root.path().join("cache"), root.path().join("program"));
        let found = |module| folder(module, Some(&cache), &program);
        assert_eq!(found(&modules[0]), Some(root.path().join(cached)));
        assert_eq!(found(&modules[1]), Some(program.join("./sdks/local")));
        let missing = Module {
            path: "example.com/other".to_owned(),
            version: "v1.0.0".to_owned(),
            ..Module::default()
        };
        assert_eq!(found(&missing), None);
    }
}
