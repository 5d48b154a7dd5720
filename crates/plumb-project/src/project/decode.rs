//! Parsing of [`Project`], with all errors of the file.

use indexmap::IndexMap;
use serde_json::{Map, Value as Json};

use super::{
    Declaration, PackageSpec, PluginOverride, PluginOverrides, Project, Runtime, Template,
    TemplateSetting,
};
use crate::config::{ConfigType, Key};
use crate::diagnostic::{FileError, suggestion};
use crate::reader::{self, Problems, Reader};
use crate::yaml::{Data, Document, Mapping, Node};

impl Project {
    /// Parses a project file; `file` is its name in errors, and its extension determines the
    /// format.
    pub fn parse(file: &str, text: &str) -> Result<Self, FileError> {
        Project::from_document(file, &reader::read(file, text)?)
    }

    /// Decodes a parsed document.
    pub fn from_document(file: &str, document: &Document) -> Result<Self, FileError> {
        let mut problems = Problems::default();
        let project =
            Reader::root(document, &mut problems).map(|root| decode(&root, &mut problems));
        match project {
            Some(project) if problems.0.is_empty() => Ok(project),
            _ => Err(FileError::Invalid {
                file: file.to_owned(),
                problems: problems.0,
            }),
        }
    }
}

fn decode(root: &Reader<'_>, problems: &mut Problems) -> Project {
    let name = name(root, problems);
    let legacy_dir = root.get("config").and_then(Node::as_str);
    if let (Some(_), Some(node)) = (&legacy_dir, root.get("stackConfigDir")) {
        problems.add(
            node.position,
            "#/stackConfigDir",
            "cannot be used together with a text in `config`",
        );
    }
    let config = match legacy_dir {
        Some(_) => IndexMap::new(),
        None => declarations(root, &name, problems),
    };
    Project {
        runtime: optional_runtime(root, problems),
        main: root.text("main", problems),
        description: root.text("description", problems),
        author: root.text("author", problems),
        website: root.text("website", problems),
        license: root.text("license", problems),
        required_version: root.text("requiredPulumiVersion", problems),
        config,
        stack_config_dir: root.text("stackConfigDir", problems).or(legacy_dir),
        backend_url: root.map("backend", problems).and_then(|backend| {
            backend.only(&["url"], problems);
            backend.text("url", problems)
        }),
        refresh_always: refresh_always(root, problems),
        template: root
            .map("template", problems)
            .map(|template| decode_template(&template, problems)),
        packages: packages(root, problems),
        plugins: plugins(root, problems),
        name,
    }
}

const MEMBERS: [&str; 15] = [
    "name",
    "runtime",
    "main",
    "description",
    "author",
    "website",
    "license",
    "requiredPulumiVersion",
    "config",
    "stackConfigDir",
    "backend",
    "options",
    "template",
    "packages",
    "plugins",
];

fn name(root: &Reader<'_>, problems: &mut Problems) -> String {
    match root.get("name").map(|node| (node, node.as_str())) {
        Some((_, Some(name))) if !name.is_empty() => name,
        Some((node, None)) => {
            problems.expected(node, "#/name", "a text");
            String::new()
        }
        Some((_, Some(_))) | None => {
            let near = |key: &String| {
                suggestion(key, &["name"]).is_some() && !MEMBERS.contains(&key.as_str())
            };
            let typo = root.entries().map(|(key, _)| key).find(near);
            let found = typo.map_or_else(String::new, |typo| format!("; found `{typo}` instead"));
            problems.add(
                root.position,
                "#",
                format!("project is missing a 'name' attribute{found}"),
            );
            String::new()
        }
    }
}

/// Runtime of a project; `None` if it is missing or a map without a name.
fn optional_runtime(root: &Reader<'_>, problems: &mut Problems) -> Option<Runtime> {
    let node = root.mapping.get("runtime")?;
    let pointer = "#/runtime";
    let is_named = |map: &Mapping| map.get("name").is_some();
    if node.as_mapping().is_some_and(|map| !is_named(map)) {
        let reader = Reader::of(node, pointer.to_owned(), problems)?;
        reader.only(&["name", "options"], problems);
        return None;
    }
    let runtime = runtime(node, pointer.to_owned(), problems)?;
    if runtime.name.is_empty() {
        problems.expected(node, pointer, "the name of a runtime");
        return None;
    }
    Some(runtime)
}

pub(super) fn runtime(node: &Node, pointer: String, problems: &mut Problems) -> Option<Runtime> {
    match &node.resolved().data {
        Data::Mapping(_) => {
            let reader = Reader::of(node, pointer, problems)?;
            reader.only(&["name", "options"], problems);
            let name = reader.required_text("name", problems);
            let options = match reader.json("options", problems) {
                Some(Json::Object(options)) => options,
                Some(_) => {
                    if let Some(node) = reader.get("options") {
                        problems.expected(node, &reader.pointer_to("options"), "a map");
                    }
                    Map::new()
                }
                None => Map::new(),
            };
            Some(Runtime { name, options })
        }
        Data::Scalar(_) | Data::Sequence(_) | Data::Alias(_) => {
            if let Some(name) = node.as_str() {
                Some(Runtime {
                    name,
                    options: Map::new(),
                })
            } else {
                problems.expected(node, &pointer, "a text or a map with `name` and `options`");
                None
            }
        }
    }
}

fn refresh_always(root: &Reader<'_>, problems: &mut Problems) -> bool {
    let Some(options) = root.map("options", problems) else {
        return false;
    };
    options.only(&["refresh"], problems);
    let Some(node) = options.get("refresh") else {
        return false;
    };
    let always = node.as_str().as_deref() == Some("always");
    if !always {
        problems.add(
            node.position,
            "#/options/refresh",
            "the only value is `always`",
        );
    }
    always
}

fn declarations(
    root: &Reader<'_>,
    project: &str,
    problems: &mut Problems,
) -> IndexMap<Key, Declaration> {
    let Some(block) = root.map("config", problems) else {
        return IndexMap::new();
    };
    let mut declarations = IndexMap::new();
    for (text, node) in block.entries() {
        let pointer = block.pointer_to(&text);
        match Key::parse_in(&text, project) {
            Ok(key) => {
                let own = key.namespace() == project;
                let declaration = Declaration {
                    written: text,
                    ..declaration(node, &pointer, own, problems)
                };
                declarations.insert(key, declaration);
            }
            Err(error) => problems.add(node.position, pointer, error.to_string()),
        }
    }
    declarations
}

fn declaration(node: &Node, pointer: &str, own: bool, problems: &mut Problems) -> Declaration {
    let Data::Mapping(_) = &node.resolved().data else {
        let literal = reader::json(node, pointer, problems);
        let (default, value) = if own {
            (literal, None)
        } else {
            (None, literal)
        };
        return Declaration {
            default,
            value,
            ..Declaration::default()
        };
    };
    let Some(reader) = Reader::of(node, pointer.to_owned(), problems) else {
        return Declaration::default();
    };
    reader.only(
        &["type", "items", "description", "secret", "default", "value"],
        problems,
    );
    let declaration = Declaration {
        written: String::new(),
        r#type: config_type(&reader, problems),
        description: reader.text("description", problems),
        secret: reader.boolean("secret", problems).unwrap_or(false),
        default: reader.json("default", problems),
        value: reader.json("value", problems),
    };
    check_declaration(&declaration, &reader, own, problems);
    declaration
}

fn check_declaration(
    declaration: &Declaration,
    reader: &Reader<'_>,
    own: bool,
    problems: &mut Problems,
) {
    let Declaration {
        r#type,
        default,
        value,
        ..
    } = declaration;
    let mut add = |message: &str| problems.add(reader.position, &*reader.pointer, message);
    if default.is_some() && value.is_some() {
        add("`default` and `value` cannot be used together");
    }
    if !own && r#type.is_some() {
        add("`type` is only for settings of the project itself");
    }
    if !own && default.is_some() {
        add("`default` is only for settings of the project itself; use `value`");
    }
    if !own && value.is_none() && default.is_none() {
        add("a setting of another namespace needs a `value`");
    }
    if let (Some(expected), Some(given)) = (r#type, default.as_ref().or(value.as_ref()))
        && !expected.accepts(given)
    {
        add(&format!("the default value must be of type '{expected}'"));
    }
}

fn config_type(reader: &Reader<'_>, problems: &mut Problems) -> Option<ConfigType> {
    let name = reader.text("type", problems)?;
    match ConfigType::scalar(&name) {
        Ok(Some(scalar)) => Some(scalar),
        Ok(None) => {
            let items = reader.map("items", problems);
            if reader.get("items").is_none() {
                problems.add(
                    reader.position,
                    reader.pointer_to("items"),
                    "an array needs `items` with a `type`",
                );
            }
            let items = items?;
            items.only(&["type", "items"], problems);
            if items.get("type").is_none() {
                problems.add(
                    items.position,
                    items.pointer_to("type"),
                    "the type of the elements is missing",
                );
            }
            config_type(&items, problems).map(|items| ConfigType::Array(Box::new(items)))
        }
        Err(error) => {
            let position = reader
                .get("type")
                .map_or(reader.position, |node| node.position);
            problems.add(position, reader.pointer_to("type"), error.to_string());
            if let Some(problem) = problems.0.last_mut() {
                problem.hint = suggestion(&name, &ConfigType::NAMES).map(str::to_owned);
            }
            None
        }
    }
}

fn decode_template(reader: &Reader<'_>, problems: &mut Problems) -> Template {
    let mut template = Template {
        display_name: reader.text("displayName", problems),
        description: reader.text("description", problems),
        quickstart: reader.text("quickstart", problems),
        important: reader.boolean("important", problems).unwrap_or(false),
        ..Template::default()
    };
    if let Some(metadata) = reader.map("metadata", problems) {
        for (key, _) in metadata.entries() {
            if let Some(text) = metadata.scalar_text(&key, problems) {
                template.metadata.insert(key, text);
            }
        }
    }
    if let Some(config) = reader.map("config", problems) {
        for (key, _) in config.entries() {
            let Some(setting) = config.map(&key, problems) else {
                continue;
            };
            let setting = TemplateSetting {
                description: setting.text("description", problems),
                default: setting.scalar_text("default", problems),
                secret: setting.boolean("secret", problems).unwrap_or(false),
            };
            template.config.insert(key, setting);
        }
    }
    template
}

pub(super) fn packages(
    root: &Reader<'_>,
    problems: &mut Problems,
) -> IndexMap<String, PackageSpec> {
    let Some(block) = root.map("packages", problems) else {
        return IndexMap::new();
    };
    let mut packages = IndexMap::new();
    for (name, node) in block.entries() {
        let spec = match node.as_str() {
            Some(text) => PackageSpec::parse(&text),
            None => match Reader::of(node, block.pointer_to(&name), problems) {
                Some(reader) => package(&reader, problems),
                None => continue,
            },
        };
        packages.insert(name, spec);
    }
    packages
}

fn package(reader: &Reader<'_>, problems: &mut Problems) -> PackageSpec {
    let known = [
        "source",
        "version",
        "parameters",
        "checksums",
        "pluginDownloadURL",
        "extensions",
    ];
    reader.only(&known, problems);
    let mut checksums = IndexMap::new();
    if let Some(block) = reader.map("checksums", problems) {
        for (platform, _) in block.entries() {
            if let Some(sum) = block.text(&platform, problems) {
                checksums.insert(platform, sum);
            }
        }
    }
    PackageSpec {
        source: reader.required_text("source", problems),
        version: reader.scalar_text("version", problems),
        parameters: reader.texts("parameters", problems),
        checksums,
        plugin_download_url: reader.text("pluginDownloadURL", problems),
        extensions: reader.texts("extensions", problems),
    }
}

fn plugins(root: &Reader<'_>, problems: &mut Problems) -> PluginOverrides {
    let Some(block) = root.map("plugins", problems) else {
        return PluginOverrides::default();
    };
    block.only(&["providers", "languages", "analyzers"], problems);
    PluginOverrides {
        providers: overrides(&block, "providers", problems),
        languages: overrides(&block, "languages", problems),
        analyzers: overrides(&block, "analyzers", problems),
    }
}

fn overrides(block: &Reader<'_>, key: &str, problems: &mut Problems) -> Vec<PluginOverride> {
    let mut found = Vec::new();
    for (pointer, node) in block.list(key, problems) {
        let Some(reader) = Reader::of(node, pointer, problems) else {
            continue;
        };
        reader.only(&["name", "path", "version"], problems);
        found.push(PluginOverride {
            name: reader.required_text("name", problems),
            path: reader.required_text("path", problems),
            version: reader.scalar_text("version", problems),
        });
    }
    found
}
