//! Code that an import prints: declarations of the adopted resources for the program (`codegen.md`
//! 15).

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::sync::Arc;

use async_trait::async_trait;
use plumb_pcl::{Leniency, Problem, Program};
use plumb_programs::{ProgramLanguage, language_of};
use plumb_resource::provider::PluginSpec;
use plumb_resource::{ResourceState, Urn};
use plumb_schema::{PackageQuery, PackageSchema, SchemaLoadError, SchemaLoader};
use plumb_state::Snapshot;
use plumb_value::Value;
use plumb_yaml::imported::{Code, Declarations, Imported, Setting, Target, declarations};

use super::import::Listing;
use super::request::ImportRequest;
use super::translated::of_translated;
use crate::context::{Stack, StackSecrets, StackSettings};
use crate::packages::schemas;
use crate::secret_settings::{known_secrets, save_secrets};
use crate::{Context, Error, go};

const INTRODUCTION: &str = "Please copy the following code into your Pulumi application. Not doing so\n\
                            will cause Pulumi to report that an update will happen on the next update command.\n";

const ABOUT_PROTECTION: &str = "Please note that the imported resources are marked as protected. To destroy them\n\
                                you will need to remove the `protect` option and run `pulumi update` *before*\n\
                                the destroy will take effect.\n";

/// Checks before the import that the code can be generated and written to the file at `out`. Without code that is only said.
pub fn prepare_output(ctx: &Context, out: &str, has_declarations: bool) -> Result<(), Error> {
    let language = language(ctx)?;
    match language.as_deref() {
        Some(language) if has_declarations && !has_code(language) => {
            return Err(Error::user(format!(
                "`--out`: code for imported resources is written in Python, TypeScript, Go, Java, C#, Rust and YAML, and not yet in {language}; \
                 import with `--generate-code=false`, and declare the resources by hand"
            )));
        }
        _ => {}
    }
    if !has_declarations {
        let text = "Output file will not be used as --generate-code is false.";
        ctx.printer.info(text);
    }
    let path = ctx.environment.cwd.join(out);
    // Appending keeps the content of the file until the code is written.
    let opened = OpenOptions::new().append(true).create(true).open(path);
    opened.map(drop).map_err(|error| {
        let why = go::open(out, &error);
        Error::user(format!("could not open output file: {why}"))
    })
}

fn language(ctx: &Context) -> Result<Option<String>, Error> {
    let project = ctx.find_project()?;
    let runtime = project.and_then(|project| project.project.runtime.as_ref());
    Ok(runtime.map(|runtime| runtime.name.clone()))
}

/// Input and target of the generated code.
pub(super) struct CodeRequest {
    states: Vec<(Arc<ResourceState>, PluginSpec)>,
    names: BTreeMap<Urn, String>,
    out: Option<String>,
    is_protected: bool,
    settings: SettingsOfCode,
}

/// The settings of the stack, for secrets in the generated code.
pub(super) struct SettingsOfCode {
    pub(super) file: StackSettings,
    pub(super) secrets: Arc<StackSecrets>,
    pub(super) project: String,
    /// Whether the file may be changed.
    pub(super) can_save: bool,
}

impl SettingsOfCode {
    /// Saves the secrets, or tells the user to set them.
    fn save(&self, added: &[Setting], ctx: &Context) -> Result<(), Error> {
        let names = added.iter().map(|it| format!("`{}`", it.name));
        let names = names.collect::<Vec<_>>().join(", ");
        let path = self.file.path.as_ref().filter(|_| self.can_save);
        let Some(path) = path else {
            ctx.printer.warning(&format!(
                "the code reads secrets from settings that the stack lacks: {names}; set each with `plumb config set --secret NAME`"
            ));
            return Ok(());
        };
        // The operation may have changed the file.
        let mut file = StackSettings::read(path, &self.project)?;
        save_secrets(&mut file, &self.secrets, &self.project, added)?;
        let file_name = path.file_name().unwrap_or_default().display().to_string();
        ctx.printer.info(&format!(
            "The code reads secrets from settings, which are encrypted in {file_name}: {names}"
        ));
        Ok(())
    }
}

impl CodeRequest {
    /// Collects the states of the imported resources from `snapshot`.
    pub(super) fn new(
        import: &ImportRequest,
        listing: Listing,
        stack: &Stack,
        snapshot: &Snapshot,
        settings: SettingsOfCode,
    ) -> Self {
        let states = listing.specs.iter().filter_map(|spec| {
            let urn = Listing::urn(spec, stack.name(), stack.project_name());
            let mut live = snapshot.resources.iter().filter(|state| !state.delete);
            let state = live.find(|state| state.urn == urn)?;
            Some((Arc::clone(state), plugin_of(state, &spec.plugin, snapshot)))
        });
        CodeRequest {
            states: states.collect(),
            names: listing.names,
            out: import.out.clone(),
            is_protected: import.protects,
            settings,
        }
    }

    /// Prints the code, or writes it to the file.
    pub(super) async fn fulfil(self, ctx: &Context, is_human: bool) -> Result<(), Error> {
        let Some(language) = language(ctx)? else {
            return Ok(());
        };
        let is_shown = is_human || self.out.is_some();
        if self.states.is_empty() || !is_shown {
            return Ok(());
        }
        if !has_code(&language) {
            ctx.printer.warning(&format!(
                "the resources are imported; code for them is printed in Python, TypeScript, Go, Java, C#, Rust and YAML, and not yet in \
                 {language}: declare them by hand, with the inputs that `plumb state get URN` shows"
            ));
            return Ok(());
        }
        let (code, added) = self.generate(language_of(&language), ctx).await?;
        for note in &code.notes {
            ctx.printer.warning(note);
        }
        if !added.is_empty() {
            self.settings.save(&added, ctx)?;
        }
        self.print(&code.text, ctx)
    }

    /// Writes the code to the file, or to the terminal.
    fn print(&self, code: &str, ctx: &Context) -> Result<(), Error> {
        if let Some(file) = &self.out {
            let path = ctx.environment.cwd.join(file);
            return std::fs::write(&path, code)
                .map_err(|error| Error::from(error).context(path.display()));
        }
        ctx.printer.note(INTRODUCTION);
        if self.is_protected {
            ctx.printer.note(ABOUT_PROTECTION);
        }
        ctx.printer.data(code);
        Ok(())
    }

    /// The code in a language, or in YAML without one, and the settings that it needs.
    async fn generate(
        &self,
        language: Option<ProgramLanguage>,
        ctx: &Context,
    ) -> Result<(Code, Vec<Setting>), Error> {
        let specs: Vec<PluginSpec> = self.states.iter().map(|(_, spec)| spec.clone()).collect();
        let packages: Vec<Option<Arc<PackageSchema>>> = schemas(&specs, ctx).await?;
        let states = self.states.iter().zip(packages);
        let resources: Vec<Imported<'_>> = states
            .map(|((state, _), package)| Imported {
                state,
                package,
                is_protected: self.is_protected,
            })
            .collect();
        let SettingsOfCode {
            file,
            secrets,
            project,
            ..
        } = &self.settings;
        let has_secrets = self
            .states
            .iter()
            .any(|(it, _)| it.inputs.contains_secrets());
        let known = if has_secrets {
            known_secrets(file, secrets, project)?
        } else {
            BTreeMap::new()
        };
        let target = Target {
            names: self.names.clone(),
            known_secrets: known,
            is_yaml: language.is_none(),
        };
        let Declarations { mut code, settings } = declarations(&resources, target);
        if let Some(language) = language {
            code = in_language(code, language, &resources).await?;
        }
        Ok((code, settings))
    }
}

/// Whether code can be generated for programs of a runtime.
fn has_code(language: &str) -> bool {
    language == "yaml" || language_of(language).is_some()
}

/// The program of the resources in a language other than YAML.
async fn in_language(
    code: Code,
    language: ProgramLanguage,
    resources: &[Imported<'_>],
) -> Result<Code, Error> {
    let translated = plumb_yaml::program_as_pcl("import", &code.text);
    let sources = of_translated(&translated, "import.pp")?;
    let packages = resources.iter().filter_map(|it| it.package.clone());
    let known = KnownPackages(packages.map(|it| (it.name().to_owned(), it)).collect());
    let loaded = Program::load(&sources, &known, Leniency::ALL).await;
    let generated = plumb_programs::generate(&loaded.program, language);
    let mut notes = code.notes;
    notes.extend(generated.problems.iter().map(Problem::one_line));
    Ok(Code {
        text: generated.files.into_values().next().unwrap_or_default(),
        notes,
    })
}

/// The packages of the imported resources.
struct KnownPackages(BTreeMap<String, Arc<PackageSchema>>);

#[async_trait]
impl SchemaLoader for KnownPackages {
    async fn load(
        &self,
        query: &PackageQuery,
    ) -> Result<Option<Arc<PackageSchema>>, SchemaLoadError> {
        Ok(self.0.get(&query.name).cloned())
    }
}

/// Plugin that served a resource: the imported one, with version and URL completed from the inputs of
/// its provider.
pub fn plugin_of(state: &ResourceState, named: &PluginSpec, snapshot: &Snapshot) -> PluginSpec {
    let reference = state.provider.as_ref();
    let provider = snapshot
        .resources
        .iter()
        .find(|it| it.as_provider_ref().as_ref() == reference && reference.is_some());
    let text = |key: &str| match provider?.inputs.get(key)? {
        Value::String(text) => Some(text.clone()),
        _ => None,
    };
    let mut plugin = named.clone();
    if plugin.version.is_none() {
        plugin.version = text("version").and_then(|text| semver::Version::parse(&text).ok());
    }
    if plugin.download_url.is_none() {
        plugin.download_url = text("pluginDownloadURL").map(|url| url.as_str().into());
    }
    plugin
}
