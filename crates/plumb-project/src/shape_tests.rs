//! All structural errors of all files, with their positions and expectations.

use crate::project::{PluginProject, PolicyProject};
use crate::{FileError, Project, StackFile};

/// File name, invalid contents, and the line with the error message.
const WRONG: &[(&str, &str, &str)] = &[
    // Project files.
    (
        "Pulumi.yaml",
        "",
        "#: expected a map, but the file is empty",
    ),
    (
        "Pulumi.yaml",
        "- a\n",
        "1:1: #: expected a map, but got a list",
    ),
    (
        "Pulumi.yaml",
        "name: [a]\nruntime: go\n",
        "1:7: #/name: expected a text, but got a list",
    ),
    (
        "Pulumi.yaml",
        "nam: a\nruntime: go\n",
        "project is missing a 'name' attribute; found `nam` instead",
    ),
    (
        "Pulumi.yaml",
        "name: a\nruntime: [go]\n",
        "2:10: #/runtime: expected a text or a map with `name` and `options`, but got a list",
    ),
    (
        "Pulumi.yaml",
        "name: a\nruntime:\n  name: go\n  options: x\n",
        "4:12: #/runtime/options: expected a map, but got",
    ),
    (
        "Pulumi.yaml",
        "name: a\nruntime:\n  name: go\n  option: {}\n",
        "4:3: #/runtime/option: unknown member `option`, expected one of",
    ),
    (
        "Pulumi.yaml",
        "name: a\nruntime: go\nmain: [x]\n",
        "3:7: #/main: expected a text, but got a list",
    ),
    (
        "Pulumi.yaml",
        "name: a\nruntime: go\ndescription: {}\n",
        "3:14: #/description: expected a text, but got a map",
    ),
    (
        "Pulumi.yaml",
        "name: a\nruntime: go\nbackend: x\n",
        "3:10: #/backend: expected a map, but got",
    ),
    (
        "Pulumi.yaml",
        "name: a\nruntime: go\nbackend:\n  uri: x\n",
        "4:3: #/backend/uri: unknown member `uri`, expected one of",
    ),
    (
        "Pulumi.yaml",
        "name: a\nruntime: go\noptions:\n  refresh: never\n",
        "4:12: #/options/refresh: the only value is `always`",
    ),
    (
        "Pulumi.yaml",
        "name: a\nruntime: go\noptions:\n  refrsh: always\n",
        "4:3: #/options/refrsh: unknown member `refrsh`",
    ),
    (
        "Pulumi.yaml",
        "name: a\nruntime: go\nconfig: [x]\n",
        "3:9: #/config: expected a map, but got a list",
    ),
    (
        "Pulumi.yaml",
        "name: a\nruntime: go\nconfig: dir\nstackConfigDir: other\n",
        "4:17: #/stackConfigDir: cannot be used together with a text in `config`",
    ),
    (
        "Pulumi.yaml",
        "name: a\nruntime: go\nconfig:\n  size:\n    type: intger\n",
        "5:11: #/config/size/type:",
    ),
    (
        "Pulumi.yaml",
        "name: a\nruntime: go\nconfig:\n  size:\n    type: array\n",
        "#/config/size/items: an array needs `items` with a `type`",
    ),
    (
        "Pulumi.yaml",
        "name: a\nruntime: go\nconfig:\n  size:\n    type: array\n    items: {}\n",
        "6:12: #/config/size/items/type: the type of the elements is missing",
    ),
    (
        "Pulumi.yaml",
        "name: a\nruntime: go\nconfig:\n  size:\n    default: 1\n    value: 2\n",
        "#/config/size: `default` and `value` cannot be used together",
    ),
    (
        "Pulumi.yaml",
        "name: a\nruntime: go\nconfig:\n  size:\n    type: integer\n    default: x\n",
        "#/config/size: the default value must be of type 'integer'",
    ),
    (
        "Pulumi.yaml",
        "name: a\nruntime: go\nconfig:\n  size:\n    secret: maybe\n",
        "5:13: #/config/size/secret: expected true or false, but got",
    ),
    (
        "Pulumi.yaml",
        "name: a\nruntime: go\nconfig:\n  size:\n    defalt: x\n",
        "5:5: #/config/size/defalt: unknown member `defalt`",
    ),
    (
        "Pulumi.yaml",
        "name: a\nruntime: go\nconfig:\n  aws:region:\n    type: string\n    value: x\n",
        "#/config/aws:region: `type` is only for settings of the project itself",
    ),
    (
        "Pulumi.yaml",
        "name: a\nruntime: go\nconfig:\n  aws:region:\n    default: x\n    value: x\n",
        "#/config/aws:region: `default`",
    ),
    (
        "Pulumi.yaml",
        "name: a\nruntime: go\nconfig:\n  aws:region:\n    secret: true\n",
        "#/config/aws:region: a setting of another namespace needs a `value`",
    ),
    (
        "Pulumi.yaml",
        "name: a\nruntime: go\nconfig:\n  a:b:c:d: x\n",
        "4:12: #/config/a:b:c:d: could not parse",
    ),
    (
        "Pulumi.yaml",
        "name: a\nruntime: go\nplugins: [x]\n",
        "3:10: #/plugins: expected a map, but got a list",
    ),
    (
        "Pulumi.yaml",
        "name: a\nruntime: go\nplugins:\n  provider: []\n",
        "4:3: #/plugins/provider: unknown member `provider`",
    ),
    (
        "Pulumi.yaml",
        "name: a\nruntime: go\nplugins:\n  providers: x\n",
        "4:14: #/plugins/providers: expected a list, but got",
    ),
    (
        "Pulumi.yaml",
        "name: a\nruntime: go\nplugins:\n  providers:\n    - path: x\n",
        "5:7: #/plugins/providers/0: `name` is missing",
    ),
    (
        "Pulumi.yaml",
        "name: a\nruntime: go\nplugins:\n  providers:\n    - name: x\n",
        "5:7: #/plugins/providers/0: `path` is missing",
    ),
    (
        "Pulumi.yaml",
        "name: a\nruntime: go\nplugins:\n  providers:\n    - name: x\n      path: y\n      bin: z\n",
        "7:7: #/plugins/providers/0/bin: unknown member `bin`",
    ),
    (
        "Pulumi.yaml",
        "name: a\nruntime: go\npackages: x\n",
        "3:11: #/packages: expected a map, but got",
    ),
    (
        "Pulumi.yaml",
        "name: a\nruntime: go\npackages:\n  p: [x]\n",
        "4:6: #/packages/p: expected",
    ),
    (
        "Pulumi.yaml",
        "name: a\nruntime: go\npackages:\n  p:\n    version: x\n",
        "5:5: #/packages/p: `source` is missing",
    ),
    (
        "Pulumi.yaml",
        "name: a\nruntime: go\npackages:\n  p:\n    source: x\n    parameters: y\n",
        "6:17: #/packages/p/parameters: expected a list, but got",
    ),
    (
        "Pulumi.yaml",
        "name: a\nruntime: go\npackages:\n  p:\n    source: x\n    parameters: [{}]\n",
        "6:18: #/packages/p/parameters/0: expected a text, but got a map",
    ),
    (
        "Pulumi.yaml",
        "name: a\nruntime: go\npackages:\n  p:\n    sorce: x\n",
        "5:5: #/packages/p/sorce: unknown member `sorce`",
    ),
    (
        "Pulumi.yaml",
        "name: a\nruntime: go\ntemplate: x\n",
        "3:11: #/template: expected a map, but got",
    ),
    (
        "Pulumi.yaml",
        "name: a\nruntime: go\ntemplate:\n  config: x\n",
        "4:11: #/template/config: expected a map, but got",
    ),
    // Settings files of stacks.
    (
        "Pulumi.dev.yaml",
        "- a\n",
        "1:1: #: expected a map, but got a list",
    ),
    (
        "Pulumi.dev.yaml",
        "config: x\n",
        "1:9: #/config: expected a map, but got",
    ),
    (
        "Pulumi.dev.yaml",
        "config:\n  a:b:c:d: x\n",
        "#/config/a:b:c:d:",
    ),
    (
        "Pulumi.dev.yaml",
        "secretsprovider: [x]\n",
        "1:18: #/secretsprovider: expected a text, but got a list",
    ),
    (
        "Pulumi.dev.yaml",
        "encryptionsalt: {}\n",
        "1:17: #/encryptionsalt: expected a text, but got a map",
    ),
    // Policy packs and plugins.
    (
        "PulumiPolicy.yaml",
        "version: 1\n",
        "1:1: #: `runtime` is missing",
    ),
    (
        "PulumiPolicy.yaml",
        "runtime: []\n",
        "1:10: #/runtime: expected a text or a map",
    ),
    (
        "PulumiPolicy.yaml",
        "runtime: python\nmain: [x]\n",
        "2:7: #/main: expected a text, but got a list",
    ),
    (
        "PulumiPlugin.yaml",
        "runtime: python\npackages: [x]\n",
        "2:11: #/packages: expected a map, but got a list",
    ),
    (
        "PulumiPlugin.yaml",
        "name: x\n",
        "1:1: #: `runtime` is missing",
    ),
    (
        "PulumiPlugin.yaml",
        "runtime: python\nrequiredPulumiVersion: [x]\n",
        "2:24: #/requiredPulumiVersion: expected a text, but got a list",
    ),
];

/// File name, contents that cannot be parsed, and the line of the error.
const UNREADABLE: &[(&str, &str, usize)] = &[
    ("Pulumi.yaml", "name: [\n", 1),
    ("Pulumi.yaml", "name: a\n\tb: c\n", 1),
    ("Pulumi.yaml", "name: 'a\n", 2),
    ("Pulumi.dev.yaml", "config:\n  a: b\n c: d\n", 3),
    ("Pulumi.dev.yaml", "config: {a: b\n", 1),
    ("Pulumi.json", "{\"name\": }", 1),
];

fn error(file: &str, text: &str) -> FileError {
    let error = match file {
        "PulumiPolicy.yaml" => PolicyProject::parse(file, text).err(),
        "PulumiPlugin.yaml" => PluginProject::parse(file, text).err(),
        "Pulumi.dev.yaml" => StackFile::parse(file, text, "proj").err(),
        _ => Project::parse(file, text).err(),
    };
    error.unwrap_or_else(|| panic!("{file} is taken:\n{text}"))
}

#[test]
fn every_wrong_shape_is_told_with_its_place_and_what_is_expected() {
    let mut failures = Vec::new();
    for (file, text, wanted) in WRONG {
        let told = error(file, text).to_string();
        let has_place = told.lines().skip(1).all(|line| {
            let place = line.strip_prefix("* ").unwrap_or(line);
            place.starts_with(|first: char| first.is_ascii_digit()) || text.is_empty()
        });
        if !told.contains(wanted) || !told.contains(&format!("'{file}'")) || !has_place {
            failures.push(format!("== {text}-- wanted {wanted}\n-- told {told}"));
        }
    }
    let count = failures.len();
    assert!(
        failures.is_empty(),
        "{count} differ\n{}",
        failures.join("\n")
    );
}

#[test]
fn what_cannot_be_read_is_told_with_its_place() {
    for (file, text, line) in UNREADABLE {
        let told = error(file, text).to_string();
        let place = format!("{file}:{line}:");
        assert!(
            told.starts_with(&place) && told.contains("invalid YAML file"),
            "{text}: {told}"
        );
    }
}
