//! Programs to convert, as PCL.

use std::path::Path;

use plumb_pcl::Sources;
use plumb_yaml::AsPcl;

use crate::Error;

/// Whether programs in `from` are read without a plugin.
pub(super) fn is_known(from: &str) -> bool {
    matches!(from, "pcl" | "pulumi" | "yaml")
}

/// Reads the program of `folder`, which is written in YAML, or in PCL.
pub(super) fn read(from: &str, folder: &Path) -> Result<Sources, Error> {
    let sources = if from == "yaml" {
        yaml(folder)?
    } else {
        Sources::in_folder(folder).map_err(|error| Error::from(error).context(folder.display()))?
    };
    if sources.iter().next().is_none() {
        return Err(Error::user(format!(
            "there is no program in PCL in {}: its files end with .pp",
            folder.display()
        )));
    }
    Ok(sources)
}

fn yaml(folder: &Path) -> Result<Sources, Error> {
    of_translated(&plumb_yaml::folder_as_pcl(folder)?, "main.pp")
}

/// The sources of a YAML program that was translated to PCL; an error if parts of it have no form in PCL.
pub(crate) fn of_translated(translated: &AsPcl, file: &str) -> Result<Sources, Error> {
    if !translated.problems.is_empty() {
        return Err(Error::user(translated.problems.join("\n")));
    }
    let text = laid_out(&translated.text)?;
    Ok(Sources::new([(file.to_owned(), text)]))
}

/// PCL in its one form.
fn laid_out(text: &str) -> Result<String, Error> {
    plumb_pcl::format("main.pp", text).map_err(|problem| {
        let what = "the program was translated to PCL that cannot be read; please report this";
        Error::user(format!("{what}: {}", problem.summary))
    })
}
