//! Runtime of a new project: its options, and its language host's prompts.

use std::collections::BTreeMap;
use std::path::Path;

use plumb_operate::acquire::output_to;
use plumb_operate::{Context, Error, prompt};
use plumb_plugin::language::{InstallRequest, OptionPrompt, OptionValue, ProgramInfo};
use plumb_project::files::{self, Access};
use plumb_project::yaml::{self, Data, Node};
use serde_json::Value as Json;

use crate::commands::language;

/// Runtime in a manifest.
struct Runtime {
    name: String,
    options: BTreeMap<String, Json>,
}

/// Options as `key=value`, from the command line.
pub(super) fn parse_options(options: &[String]) -> Result<BTreeMap<String, Json>, Error> {
    let parse = |option: &String| {
        let (key, value) = option
            .split_once('=')
            .ok_or_else(|| Error::user(format!("invalid runtime option: {option}")))?;
        Ok((key.to_owned(), Json::from(value)))
    };
    options.iter().map(parse).collect()
}

/// Adds options to the runtime of a manifest.
pub(super) fn set_options(manifest: &Path, options: &BTreeMap<String, Json>) -> Result<(), Error> {
    if options.is_empty() {
        return Ok(());
    }
    let text = files::read_text(manifest)?.unwrap_or_default();
    let mut document = yaml::parse(&text)?;
    let root = document.root.as_mut().map(|root| &mut root.data);
    let Some(Data::Mapping(root)) = root else {
        return Err(Error::user(
            "the template has no runtime to set options for",
        ));
    };
    if let Some(name) = root.get("runtime").and_then(Node::as_str) {
        let mut runtime = Node::empty_mapping();
        set(&mut runtime, "name", Node::string(name));
        root.set("runtime", runtime);
    }
    let Some(runtime) = root.get_mut("runtime") else {
        return Err(Error::user(
            "the template has no runtime to set options for",
        ));
    };
    let has_options = runtime
        .as_mapping()
        .is_some_and(|runtime| runtime.get("options").is_some());
    if !has_options {
        set(runtime, "options", Node::empty_mapping());
    }
    if let Data::Mapping(runtime) = &mut runtime.data
        && let Some(node) = runtime.get_mut("options")
    {
        for (key, value) in options {
            set(node, key, yaml::from_json(value));
        }
    }
    Ok(files::write_text(
        manifest,
        &yaml::emit(&document),
        Access::Shared,
    )?)
}

fn set(node: &mut Node, key: &str, value: Node) {
    if let Data::Mapping(mapping) = &mut node.data {
        mapping.set(key, value);
    }
}

fn read(manifest: &Path) -> Result<Option<Runtime>, Error> {
    let text = files::read_text(manifest)?.unwrap_or_default();
    let document = yaml::parse(&text)?;
    let root = document.root.as_ref().and_then(Node::as_mapping);
    let Some(node) = root.and_then(|root| root.get("runtime")) else {
        return Ok(None);
    };
    if let Some(name) = node.as_str() {
        return Ok(Some(Runtime {
            name,
            options: BTreeMap::new(),
        }));
    }
    let value = yaml::to_json(node)?;
    let options = value["options"].as_object().cloned().unwrap_or_default();
    Ok(value["name"].as_str().map(|name| Runtime {
        name: name.to_owned(),
        options: options.into_iter().collect(),
    }))
}

fn info(runtime: &Runtime, folder: &Path) -> ProgramInfo {
    ProgramInfo {
        root_directory: folder.to_owned(),
        program_directory: folder.to_owned(),
        entry_point: ".".to_owned(),
        options: runtime.options.clone().into_iter().collect(),
    }
}

/// Prompts for the options of the language host, writes them to the manifest, and lets the host adapt the files. With `yes`,
/// uses the host's defaults.
pub(super) fn adapt(
    manifest: &Path,
    folder: &Path,
    project: &str,
    yes: bool,
    ctx: &Context,
) -> Result<(), Error> {
    let Some(mut runtime) = read(manifest)? else {
        return Ok(());
    };
    let Some(host) = language::host(&runtime.name, output_to(ctx.printer.clone()), ctx) else {
        return Ok(());
    };
    let mut answers = BTreeMap::new();
    // Answers may lead to further prompts, as the choice of a tool leads to the options of that tool.
    loop {
        let prompts = language::block_on(host.option_prompts(&info(&runtime, folder)))??;
        let known = runtime.options.len();
        for prompt in prompts {
            if !runtime.options.contains_key(&prompt.key)
                && let Some(value) = answer(&prompt, yes || !ctx.is_interactive())?
            {
                answers.insert(prompt.key.clone(), value.clone());
                runtime.options.insert(prompt.key, value);
            }
        }
        if runtime.options.len() == known {
            break;
        }
    }
    set_options(manifest, &answers)?;
    Ok(language::block_on(
        host.template(&info(&runtime, folder), project),
    )??)
}

fn answer(asked: &OptionPrompt, takes_default: bool) -> Result<Option<Json>, Error> {
    let json = |value: &OptionValue| match value {
        OptionValue::Text(text) => Json::from(text.as_str()),
        OptionValue::Number(number) => Json::from(*number),
    };
    if takes_default || asked.choices.len() == 1 {
        let suggested = asked.default.as_ref().or_else(|| asked.choices.first());
        return Ok(suggested.map(|choice| json(&choice.value)));
    }
    if asked.choices.is_empty() {
        let answer = prompt::text(&asked.description, None)?;
        return Ok((!answer.is_empty()).then(|| Json::from(answer)));
    }
    let names = asked
        .choices
        .iter()
        .map(|choice| choice.display_name.clone());
    let index = prompt::select(&asked.description, names.collect())?;
    Ok(Some(json(&asked.choices[index].value)))
}

/// Installs the dependencies of the program next to a manifest.
pub(super) fn install(
    manifest: &Path,
    folder: &Path,
    is_plugin: bool,
    ctx: &Context,
) -> Result<(), Error> {
    let Some(runtime) = read(manifest)? else {
        return Ok(());
    };
    // Packs of rules depend on nothing.
    if plumb_rules::Runtime::from_name(&runtime.name).is_some() {
        return Ok(());
    }
    let output = output_to(ctx.printer.clone());
    let Some(host) = language::host(&runtime.name, output.clone(), ctx) else {
        return Err(Error::user(format!(
            "there is no language host for {} here; install what the program depends on by hand",
            runtime.name
        )));
    };
    let request = InstallRequest {
        info: info(&runtime, folder),
        is_terminal: ctx.environment.stdout_is_terminal,
        use_language_version_tools: false,
        is_plugin,
    };
    Ok(language::block_on(
        host.install_dependencies(request, output),
    )??)
}
