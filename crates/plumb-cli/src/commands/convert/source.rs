//! Programs to convert, as PCL.

use std::path::Path;

use plumb_operate::Error;
use plumb_operate::operations::of_translated;
use plumb_pcl::Sources;

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
