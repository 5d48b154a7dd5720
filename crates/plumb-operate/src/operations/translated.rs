//! PCL of programs that were translated from YAML.

use plumb_pcl::Sources;
use plumb_yaml::AsPcl;

use crate::Error;

/// The sources of a YAML program that was translated to PCL; an error if parts of it have no form in PCL.
pub fn of_translated(translated: &AsPcl, file: &str) -> Result<Sources, Error> {
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
