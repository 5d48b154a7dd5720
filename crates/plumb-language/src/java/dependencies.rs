//! Libraries of a program, as reported by build tools.

use std::fs;
use std::path::Path;

use plumb_plugin::language::ProgramDependency;

use super::executor::{Executor, Listing};
use crate::LanguageOptions;
use crate::compiled::CompiledError;

/// Dependencies of the program, unordered.
pub(super) async fn list(
    executor: &Executor,
    options: &LanguageOptions,
    directory: &Path,
    transitive: bool,
) -> Result<Vec<ProgramDependency>, CompiledError> {
    let made = tempfile::NamedTempFile::new();
    let file = made.map_err(CompiledError::file("make a file for", directory))?;
    match executor.dependencies(options, file.path(), transitive)? {
        Listing::Lines(tool) => {
            tool.capture().await?;
            let text = fs::read_to_string(file.path())
                .map_err(CompiledError::file("read", file.path()))?;
            Ok(text.lines().filter_map(in_line).collect())
        }
        Listing::Tree(tool) => Ok(in_tree(&tool.capture().await?, transitive)),
    }
}

/// Library in a line `group:artifact:type:version:scope`, which may also contain colours and remarks.
fn in_line(line: &str) -> Option<ProgramDependency> {
    let mut parts = line.split_whitespace().next()?.split(':');
    let (group, artifact) = (parts.next()?, parts.next()?);
    let version = parts.nth(1)?;
    Some(dependency(group, artifact, version))
}

/// Libraries in a tree, or only those at its top level.
fn in_tree(text: &str, transitive: bool) -> Vec<ProgramDependency> {
    let branches = text.lines().filter_map(|line| {
        let at = line.find("--- ")?;
        // A branch starts with `+` or `\`, preceded by the vertical lines of its parents.
        let is_direct = at == 1;
        (transitive || is_direct).then(|| &line[at + 4..])
    });
    branches.filter_map(at_branch).collect()
}

/// Library in `group:artifact:version -> taken (*)`. Projects have no version and are not libraries.
fn at_branch(branch: &str) -> Option<ProgramDependency> {
    let (wanted, taken) = match branch.split_once(" -> ") {
        Some((wanted, taken)) => (wanted, taken.split_whitespace().next()),
        None => (branch.split_whitespace().next()?, None),
    };
    let mut parts = wanted.split(':');
    let (group, artifact) = (parts.next()?, parts.next()?);
    let version = taken.or(parts.next())?;
    Some(dependency(group, artifact, version))
}

fn dependency(group: &str, artifact: &str, version: &str) -> ProgramDependency {
    ProgramDependency {
        name: format!("{group}:{artifact}"),
        version: version.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(found: &[ProgramDependency]) -> Vec<String> {
        let one = |it: &ProgramDependency| format!("{} {}", it.name, it.version);
        found.iter().map(one).collect()
    }

    #[test]
    fn libraries_are_read_from_lists() {
        let line = "   com.google.code.gson:gson:jar:2.10:compile -- module gson";
        assert_eq!(
            shown(&[in_line(line).unwrap()]),
            ["com.google.code.gson:gson 2.10"]
        );
        assert_eq!(in_line("The following files have been resolved:"), None);
    }

    #[test]
    fn libraries_are_read_from_trees() {
        let tree = "Root project\n\nruntimeClasspath - Runtime classpath.\n\
            +--- com.pulumi:pulumi:1.36.1\n\
            |    +--- io.grpc:grpc-api:1.57.2 -> 1.60.0 (*)\n\
            |    \\--- com.google.guava:guava -> 32.1.2-jre\n\
            +--- project :lib\n\
            \\--- org.slf4j:slf4j-api:2.0.0 (n)\n\n(*) - dependencies omitted (listed previously)\n";
        assert_eq!(
            shown(&in_tree(tree, false)),
            ["com.pulumi:pulumi 1.36.1", "org.slf4j:slf4j-api 2.0.0"]
        );
        assert_eq!(
            shown(&in_tree(tree, true))[1..3],
            [
                "io.grpc:grpc-api 1.60.0",
                "com.google.guava:guava 32.1.2-jre"
            ]
        );
    }
}
