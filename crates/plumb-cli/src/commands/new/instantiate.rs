//! Copying a template into a folder (`cli.md` 8).

use std::fs;
use std::path::{Path, PathBuf};

use plumb_operate::Error;
use plumb_project::ProjectFile;
use plumb_project::files::{self, Access};
use plumb_project::yaml::{self, Data, Node};
use serde_json::json;

use super::template::{DESCRIPTION, Kind, Template, TemplateFile};

/// Folders of version control systems, which may exist in an empty folder.
const VCS: [&str; 3] = [".git", ".hg", ".bzr"];

/// Name and description of the new project.
pub(super) struct Naming<'n> {
    pub(super) name: &'n str,
    pub(super) description: &'n str,
}

/// Fails unless the folder is empty.
pub(super) fn check_empty(folder: &Path) -> Result<(), Error> {
    let is_content = |entry: &fs::DirEntry| !VCS.iter().any(|vcs| entry.file_name() == *vcs);
    let entries =
        fs::read_dir(folder).map_err(|error| Error::from(error).context(folder.display()))?;
    if entries.flatten().any(|entry| is_content(&entry)) {
        return Err(Error::user(format!(
            "{} is not empty; use --force to continue and overwrite existing files, or use --dir to specify an empty \
             directory.",
            folder.display()
        )));
    }
    Ok(())
}

/// Copies the files and fills in the names.
pub(super) fn copy(template: &Template, naming: &Naming<'_>, folder: &Path) -> Result<(), Error> {
    for file in &template.files {
        let name = substitute(&file.path.to_string_lossy(), naming, false);
        if file.path == Path::new("Pulumi.yaml.append") {
            continue;
        }
        write(file, &folder.join(PathBuf::from(name)), naming)
            .map_err(|error| Error::from(error).context(file.path.display()))?;
    }
    let manifest = folder.join(template.kind.manifest());
    match template.kind {
        Kind::Project => finish_project(template, naming, &manifest),
        Kind::Component | Kind::Policy => finish_pack(&manifest),
    }
}

/// Removes the `template` section from a manifest.
fn finish_pack(manifest: &Path) -> Result<(), Error> {
    let text = files::read_text(manifest)?.unwrap_or_default();
    let mut document = yaml::parse(&text)?;
    if let Some(Data::Mapping(root)) = document.root.as_mut().map(|root| &mut root.data)
        && root.remove("template")
    {
        files::write_text(manifest, &yaml::emit(&document), Access::Shared)?;
    }
    Ok(())
}

fn write(file: &TemplateFile, target: &Path, naming: &Naming<'_>) -> std::io::Result<()> {
    if let Some(parent) = target.parent() {
        fs::create_dir_all(parent)?;
    }
    let is_binary = file.content.contains(&0);
    match std::str::from_utf8(&file.content) {
        Ok(text) if !is_binary => {
            let extension = file
                .path
                .extension()
                .and_then(|extension| extension.to_str());
            let is_yaml = matches!(extension, Some("yaml" | "yml"));
            fs::write(target, substitute(text, naming, is_yaml))?;
        }
        _ => fs::write(target, &file.content)?,
    }
    if file.is_executable {
        make_executable(target)?;
    }
    Ok(())
}

fn substitute(text: &str, naming: &Naming<'_>, is_yaml: bool) -> String {
    let description = if is_yaml {
        yaml_text(naming.description)
    } else {
        naming.description.to_owned()
    };
    text.replace("${PROJECT}", naming.name)
        .replace(DESCRIPTION, &description)
}

/// Text as a YAML scalar, quoted if necessary.
fn yaml_text(text: &str) -> String {
    let is_plain = !text.is_empty()
        && text
            .chars()
            .all(|c| c.is_alphanumeric() || " _-.,/()".contains(c))
        && text.starts_with(char::is_alphabetic)
        && !text.ends_with(' ')
        && !matches!(
            text.to_lowercase().as_str(),
            "true" | "false" | "null" | "yes" | "no" | "on" | "off"
        );
    if is_plain {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "''"))
    }
}

/// Sets the names in the project file, and removes the `template` section.
fn finish_project(template: &Template, naming: &Naming<'_>, path: &Path) -> Result<(), Error> {
    let shown = path.display().to_string();
    let text = files::read_text(path)?.unwrap_or_default();
    let mut file = ProjectFile::parse(&shown, &text)?;
    file.set_text("name", naming.name);
    if !naming.description.is_empty() {
        file.set_text("description", naming.description);
    }
    file.remove("template");
    let text = with_template_tag(&file.to_text(), &template.name)?;
    Ok(files::write_text(path, &text, Access::Shared)?)
}

/// Adds the tag with the project's template.
fn with_template_tag(text: &str, template: &str) -> Result<String, Error> {
    let mut document = yaml::parse(text)?;
    let tags = yaml::from_json(&json!({ "value": { "pulumi:template": template } }));
    if let Some(Data::Mapping(root)) = document.root.as_mut().map(|root| &mut root.data) {
        if root.get("config").is_none() {
            root.set("config", Node::empty_mapping());
        }
        if let Some(Data::Mapping(config)) = root.get_mut("config").map(|node| &mut node.data) {
            config.set("pulumi:tags", tags);
        }
    }
    Ok(yaml::emit(&document))
}

#[cfg(unix)]
fn make_executable(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
}

#[cfg(not(unix))]
fn make_executable(_path: &Path) -> std::io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_filled_in_and_quoted_where_yaml_needs_it() {
        let naming = Naming {
            name: "shop",
            description: "a: b",
        };
        assert_eq!(
            substitute("${PROJECT}: ${DESCRIPTION}", &naming, true),
            "shop: 'a: b'"
        );
        assert_eq!(
            substitute("${PROJECT}: ${DESCRIPTION}", &naming, false),
            "shop: a: b"
        );
        assert_eq!(yaml_text("A minimal program"), "A minimal program");
        assert_eq!(yaml_text(""), "''");
    }
}
