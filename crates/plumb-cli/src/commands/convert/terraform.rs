//! Terraform configurations to convert, and the files of their projects.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use plumb_operate::json::{Indent, pretty};
use plumb_operate::operations::{InfoStream, StandaloneHost};
use plumb_operate::{Context, Error, terraform};
use plumb_pcl::Sources;
use plumb_terraform::{
    Adopted, Configuration, Converted, Coverage, Packages, Values, adopt, convert,
};
use serde_json::{Value as Json, json};

use plumb_automation::values::Secrets;

use super::module_files::ModuleFiles;
use super::target::Target;

/// File in which Terraform keeps its state.
const STATE: &str = "terraform.tfstate";

/// File from which the resources of that state are imported.
const IMPORTS: &str = "import.json";

/// File with the settings of the first stack.
const SETTINGS: &str = "Pulumi.dev.yaml";

/// A converted configuration.
pub(super) struct ConvertedConfiguration {
    pub(super) sources: Sources,
    converted: Converted,
    values: Values,
    adopted: Vec<Adopted>,
    /// Folder of the configuration.
    folder: PathBuf,
}

impl ConvertedConfiguration {
    /// Reads and converts the configuration in `folder`. `arguments` name the folder of the root module within it.
    pub(super) fn read(
        folder: &Path,
        arguments: &[String],
        mappings: &[String],
        target: &Target,
        ctx: &Context,
    ) -> Result<Self, Error> {
        let start = match arguments {
            [] => "",
            [start] => start,
            _ => {
                return Err(Error::user(
                    "name one folder behind --: that of the root module",
                ));
            }
        };
        let failed = |error: plumb_terraform::ReadError| Error::user(error.to_string());
        let configuration = Configuration::read(folder, start).map_err(failed)?;
        let values = configuration.values().map_err(failed)?;
        let packages = packages(&configuration, mappings, ctx)?;
        let packages = match target {
            Target::Pcl => packages,
            Target::Yaml | Target::Language(..) => packages.without_guesses(),
        };
        let mut converted = convert(&configuration, &packages);
        let mut adopted = Vec::new();
        let state = folder.join(start).join(STATE);
        if state.is_file() {
            let context = |error: Error| error.context(state.display());
            let text = fs::read_to_string(&state).map_err(|error| context(error.into()))?;
            let (found, notes) =
                adopt(&configuration, &packages, &text).map_err(|why| context(Error::user(why)))?;
            adopted = found;
            converted.notes.extend(notes);
        }
        Ok(ConvertedConfiguration {
            sources: Sources::new(converted.files.clone()),
            converted,
            values,
            adopted,
            folder: folder.to_owned(),
        })
    }

    /// Adds the settings of default providers to the description of the project.
    pub(super) fn describe(&self, description: &mut Json) {
        if self.converted.settings.is_empty() {
            return;
        }
        let settings = self.converted.settings.clone();
        description["config"] = Json::Object(settings.into_iter().collect());
    }

    /// Writes the settings of the stack and the import file, and copies the files that the program reads.
    pub(super) fn write(&self, out: &Path, project: &str, ctx: &Context) -> Result<(), Error> {
        if self.values.settings.is_empty() {
            // Nothing to write.
        } else if out.join(SETTINGS).exists() {
            // Settings that were changed since may have secrets, which nobody could bring back.
            ctx.printer
                .warning(&format!("{SETTINGS} is there already and stays as it is"));
        } else {
            let mut text = "config:\n".to_owned();
            for (key, value) in &self.values.settings {
                // Writing to a string cannot fail. JSON is YAML.
                let _ = writeln!(text, "  {project}:{key}: {value}");
            }
            super::target::write(out, &BTreeMap::from([(SETTINGS.to_owned(), text)]))?;
        }
        if !self.adopted.is_empty() {
            let (imports, _) = import_file(&self.adopted);
            let text = pretty(&imports, Indent::Two);
            super::target::write(out, &BTreeMap::from([(IMPORTS.to_owned(), text)]))?;
        }
        let modules: Vec<PathBuf> = self
            .converted
            .folders
            .iter()
            .map(|(from, _)| self.folder.join(from))
            .collect();
        for (from, to) in &self.converted.folders {
            let (from, to) = (self.folder.join(from), out.join(to));
            if from != to {
                ModuleFiles::of(&from, &modules, out)?.copy(&from, &to)?;
            }
        }
        Ok(())
    }

    /// Lists what was not converted, and says what to do next.
    pub(super) fn report(&self, ctx: &Context) {
        let (_, secret) = import_file(&self.adopted);
        if !self.adopted.is_empty() {
            ctx.printer.info(&format!(
                "the resources of {STATE} are in {IMPORTS}; adopt them with `plumb import --file {IMPORTS}`"
            ));
        }
        for name in secret {
            ctx.printer.warning(&format!(
                "{IMPORTS} leaves {name} out, whose values are secret; `plumb import --from terraform` with the path of {STATE} adopts it"
            ));
        }
        for name in &self.values.secrets {
            ctx.printer.warning(&format!(
                "the value of the secret {name} was left out; set it with `plumb config set --secret {name}`"
            ));
        }
        for name in &self.values.computed {
            ctx.printer.warning(&format!(
                "the value of {name} was left out, because it is computed; set it with `plumb config set {name}`"
            ));
        }
        for note in &self.converted.notes {
            ctx.printer.warning(&note.to_string());
        }
        ctx.printer.info(&covered(self.converted.coverage));
    }
}

/// A sentence about the share that was converted.
fn covered(it: Coverage) -> String {
    let Coverage {
        resources,
        attributes,
        converted,
    } = it;
    match attributes - converted {
        0 => format!("converted {resources} resources with all of their {attributes} attributes"),
        rest => format!(
            "converted {resources} resources with {converted} of their {attributes} attributes; look at the other {rest}, which are listed above"
        ),
    }
}

/// The mappings in files, by the name of their provider.
fn mappings(files: &[String], ctx: &Context) -> Result<Vec<(String, Vec<u8>)>, Error> {
    let read = |file: &String| {
        let path = ctx.environment.cwd.join(file);
        let text = fs::read(&path).map_err(|error| Error::from(error).context(path.display()))?;
        let name = path.file_stem().unwrap_or_default();
        Ok((name.to_string_lossy().into_owned(), text))
    };
    files.iter().map(read).collect()
}

/// The packages of a configuration, and the resources of the state beside it, if there is one.
fn packages(
    configuration: &Configuration,
    files: &[String],
    ctx: &Context,
) -> Result<Packages, Error> {
    if configuration.providers().is_empty() {
        return Ok(Packages::new());
    }
    let explicit = mappings(files, ctx)?;
    let mut host = StandaloneHost::open(ctx, Vec::new(), Secrets::Hidden, InfoStream::Stderr)?;
    let plugins = host.host();
    let packages = host.run(async {
        let packages = terraform::packages(configuration, &plugins, &explicit, &ctx.printer).await;
        Ok::<_, Error>(packages)
    });
    host.close();
    packages
}

/// The entries of an import file for resources of a state, and the names of those left out, because they have secrets.
fn import_file(adopted: &[Adopted]) -> (Json, Vec<&str>) {
    let mut entries = Vec::new();
    let mut secret = Vec::new();
    for it in adopted {
        let has_secrets = it.values.as_ref().is_some_and(|it| !it.secrets.is_empty());
        if has_secrets {
            secret.push(it.logical_name.as_str());
            continue;
        }
        let mut entry = json!({ "type": it.type_token, "name": it.name });
        if it.logical_name != it.name {
            entry["logicalName"] = it.logical_name.as_str().into();
        }
        if it.is_component {
            entry["component"] = true.into();
        } else {
            entry["id"] = it.id.as_str().into();
        }
        if !it.parent.is_empty() {
            entry["parent"] = it.parent.as_str().into();
        }
        if let Some(values) = &it.values {
            entry["inputs"] = values.inputs.clone().into();
            entry["outputs"] = values.outputs.clone().into();
        }
        entries.push(entry);
    }
    (json!({ "resources": entries }), secret)
}
