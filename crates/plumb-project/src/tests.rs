//! Tests across modules, with the shared test vectors.

use std::path::PathBuf;

use serde_json::{Value as Json, json};

use crate::config::{
    self, ConfigMap, ConfigType, Key, KeyPath, NewValue, Problem, SetError, Value,
};
use crate::project::{PackageSpec, PluginProject, PolicyProject};
use crate::workspace::{Credentials, HomeConfig, WorkspaceError, WorkspaceFile};
use crate::{FileError, Project, ProjectFile, SecretsSettings, StackFile, files};

fn vector(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/data/vectors")
        .join(name);
    std::fs::read_to_string(path).unwrap()
}

fn key(text: &str) -> Key {
    Key::parse_in(text, "proj").unwrap()
}

#[test]
fn config_values_have_all_their_forms() {
    let vectors: Json = serde_json::from_str(&vector("config-values.json")).unwrap();
    let file = StackFile::parse("Pulumi.dev.yaml", &vector("Pulumi.dev.yaml"), "proj").unwrap();
    assert_eq!(
        file.config().iter().count(),
        vectors["values"].as_array().unwrap().len()
    );
    assert_eq!(file.null_keys().len(), 1, "one null");
    assert!(file.secrets().salt.unwrap().starts_with("v1:AAECAwQFBgc="));
    for row in vectors["values"].as_array().unwrap() {
        let name = row["key"].as_str().unwrap();
        let value = file.config().get(&Key::parse(name).unwrap()).unwrap();
        let wire = value.to_wire();
        assert_eq!(
            wire.string,
            row["configValue"]["string"].as_str().unwrap(),
            "{name}"
        );
        assert_eq!(
            wire.secret,
            row["configValue"]["secret"].as_bool().unwrap(),
            "{name}"
        );
        assert_eq!(
            wire.object,
            row["configValue"]["object"].as_bool().unwrap(),
            "{name}"
        );
        assert_eq!(value.to_json(), row["json"], "{name}");
        assert_eq!(Value::from_json(&row["json"]), *value, "{name}");
        assert_eq!(Value::from_wire(&wire).unwrap(), *value, "{name}");
    }
    let mixed = file.config().get(&key("mixed")).unwrap();
    let shown = mixed
        .try_reveal(&mut |_| Ok::<_, ()>("inner".to_owned()))
        .unwrap();
    assert_eq!(shown, r#"{"pw":"inner","user":"u"}"#);
}

#[test]
fn keys_are_read_as_the_vectors_say() {
    let vectors: Json = serde_json::from_str(&vector("config-values.json")).unwrap();
    for row in vectors["keys"].as_array().unwrap() {
        let parsed = Key::parse(row["text"].as_str().unwrap());
        if row["error"] == true {
            assert!(parsed.is_err(), "{row}");
        } else {
            let parsed = parsed.unwrap();
            assert_eq!(
                (parsed.namespace(), parsed.name()),
                (
                    row["namespace"].as_str().unwrap(),
                    row["name"].as_str().unwrap()
                )
            );
        }
    }
}

#[test]
fn path_values_are_coerced_as_the_vectors_say() {
    let vectors: Json = serde_json::from_str(&vector("config-values.json")).unwrap();
    for row in vectors["pathSetCoercion"].as_array().unwrap() {
        let mut map = ConfigMap::default();
        let path = KeyPath::parse("a.b", "proj").unwrap();
        map.set_path(
            &path,
            NewValue::Untyped(row["text"].as_str().unwrap().to_owned()),
        )
        .unwrap();
        assert_eq!(map.to_json()["proj:a"]["b"], row["becomes"], "{row}");
    }
}

#[test]
fn paths_set_get_and_remove() {
    let mut map = ConfigMap::default();
    let path = |text: &str| KeyPath::parse(text, "proj").unwrap();
    let mut set =
        |at: &str, text: &str| map.set_path(&path(at), NewValue::Untyped(text.to_owned()));
    set("data.list[0]", "one").unwrap();
    set("data.list[1].k", "2").unwrap();
    set("data[\"a.b\"]", "x").unwrap();
    set("single", "true").unwrap();
    set("ns:single", "5").unwrap();
    for (at, expected) in [
        ("data.list[5]", "data.list[5]: array index out of range"),
        ("data.list[-1]", "data.list[-1]: array index out of range"),
        ("fresh[-1].k", "fresh[-1]: array index out of range"),
        (
            "data.list.k",
            "data.list.k: key for an array must be an int",
        ),
        ("data[0]", "data[0]: key for a map must be a string"),
        ("data.list[0][0]", "data.list[0]: expected an array"),
        ("proj:data[\"a.b\"].k", "data[\"a.b\"]: expected a map"),
    ] {
        assert_eq!(set(at, "x").unwrap_err().to_string(), expected, "{at}");
    }
    assert_eq!(set("data.m.secure", "x"), Err(SetError::Reserved));
    set("single.x", "1").unwrap();
    set("longer[2]", "1").unwrap();
    map.set_path(&path("data.token"), NewValue::Secure("c".to_owned()))
        .unwrap();
    assert_eq!(
        map.to_json(),
        json!({
            "proj:data": {"list": ["one", {"k": 2}], "a.b": "x", "token": {"secure": "c"}},
            "proj:single": {"x": 1},
            "proj:longer": [null, null, 1],
            "ns:single": "5",
        })
    );
    assert_eq!(
        map.get_path(&path("data.list[1].k")),
        Some(Value::Text("2".to_owned()))
    );
    assert_eq!(
        map.get_path(&path("data.token")),
        Some(Value::Secure("c".to_owned()))
    );
    assert_eq!(map.get_path(&path("data.list[7]")), None);
    assert_eq!(map.remove_path(&path("data.list[0]")), Ok(true));
    assert_eq!(map.remove_path(&path("data.list[0].k")), Ok(true));
    assert_eq!(map.remove_path(&path("data.nothing.here")), Ok(false));
    assert_eq!(map.to_json()["proj:data"]["list"], json!([{}]));
    for wrong in [
        "root[", "root[x]", "[0]", "", ".a", "a.", "a[\"b]", "a:b:c.d",
    ] {
        assert!(KeyPath::parse(wrong, "proj").is_err(), "{wrong}");
    }
}

#[test]
fn numbers_and_truth_values_become_texts_when_that_is_wanted() {
    let text = "config:\n  p:n: 12 # twelve\n  p:b: true\n  p:e:\n  p:t: plain\n  p:o: {x: 3}\n";
    let mut file = StackFile::parse("Pulumi.dev.yaml", text, "p").unwrap();
    let before = file.config().clone();
    file.quote_scalars();
    assert_eq!(
        file.to_text(),
        "config:\n  p:n: \"12\" # twelve\n  p:b: \"true\"\n  p:e: \"\"\n  p:t: plain\n  p:o: {x: 3}\n"
    );
    assert_eq!(*file.config(), before);
}

#[test]
fn editing_a_stack_file_touches_only_what_changes() {
    let text = "# Settings\n\nencryptionsalt: v1:s\nconfig:\n  # where\n  aws:region: 'eu-west-1' # Ireland\n  count: 3\n  \
                proj:data: {list: [1, 2], x: y}\nextra: kept\n";
    let mut file = StackFile::parse("Pulumi.dev.yaml", text, "proj").unwrap();
    let mut config = file.config().clone();
    config.insert(key("aws:region"), Value::Text("us".to_owned()));
    config
        .set_path(
            &KeyPath::parse("data.list[2]", "proj").unwrap(),
            NewValue::Untyped("z".to_owned()),
        )
        .unwrap();
    config.insert(key("number"), Value::Text("7".to_owned()));
    config.insert(key("pw"), Value::Secure("v1:a:b".to_owned()));
    file.set_config(&config);
    assert_eq!(
        file.to_text(),
        "# Settings\n\nencryptionsalt: v1:s\nconfig:\n  # where\n  aws:region: 'us' # Ireland\n  count: 3\n  \
         proj:data: {list: [1, 2, z], x: y}\n  proj:number: \"7\"\n  proj:pw:\n    secure: v1:a:b\nextra: kept\n"
    );
    file.set_config(&ConfigMap::default());
    file.set_secrets(&SecretsSettings::default());
    assert_eq!(file.to_text(), "# Settings\n\nextra: kept\n");
}

#[test]
fn a_new_stack_file_looks_like_upstreams() {
    let mut file = StackFile::empty("Pulumi.dev.yaml", "proj");
    file.set_secrets(&SecretsSettings {
        salt: Some("v1:s".to_owned()),
        ..SecretsSettings::default()
    });
    let mut config = ConfigMap::default();
    config.insert(key("hidden"), Value::Secure("c".to_owned()));
    file.set_config(&config);
    let set = |config: &mut ConfigMap, at: &str, text: &str| {
        config
            .set_path(
                &KeyPath::parse(at, "proj").unwrap(),
                NewValue::Untyped(text.to_owned()),
            )
            .unwrap();
    };
    for (at, text) in [
        ("data.list[0]", "one"),
        ("data.list[1].k", "2"),
        ("data.token", "t"),
        ("data.flag", "true"),
    ] {
        set(&mut config, at, text);
        file.set_config(&config);
    }
    set(&mut config, "lab:region", "eu");
    set(&mut config, "number", "7");
    file.set_config(&config);
    assert_eq!(
        file.to_text(),
        "encryptionsalt: v1:s\nconfig:\n  proj:hidden:\n    secure: c\n  proj:data:\n    list:\n      - one\n      - k: 2\n    \
         token: t\n    flag: true\n  lab:region: eu\n  proj:number: \"7\"\n"
    );
    assert_eq!(
        StackFile::empty("Pulumi.dev.yaml", "proj").to_text(),
        "{}\n"
    );
    let json = StackFile::parse(
        "Pulumi.dev.json",
        "{\"config\": {\"proj:a\": {\"secure\": \"\\ud83d\\ude00\"}}}",
        "proj",
    );
    assert_eq!(
        json.unwrap().to_text(),
        "{\n    \"config\": {\n        \"proj:a\": {\n            \"secure\": \"😀\"\n        }\n    }\n}\n"
    );
}

const FULL: &str = "\
name: demo
runtime:
  name: nodejs
  options:
    typescript: false
main: src/
description: A demo
requiredPulumiVersion: '>=3.0.0'
backend: {url: 'file://~'}
options: {refresh: always}
config:
  size: {type: integer, default: 3}
  names:
    type: array
    items: {type: array, items: {type: string}}
    default: [[a]]
  plain: text
  token: {type: string, secret: true}
  aws:region: eu
  aws:profile: {value: dev}
template:
  description: T
  config:
    aws:region: {description: Region, default: us, secret: false}
packages:
  random: random@4.16.7
  local: ./sdk
  tf:
    source: terraform-provider
    version: 1.0.0
    parameters: [hashicorp/random]
    checksums: {linux-amd64: YQ==}
plugins:
  providers:
    - {name: lab, path: ../lab, version: 1.0.0}
resources:
  a: {type: b}
";

#[test]
fn a_project_with_everything_is_read() {
    let project = Project::parse("Pulumi.yaml", FULL).unwrap();
    let runtime = project.runtime.as_ref().unwrap();
    assert_eq!(
        (runtime.name.as_str(), &runtime.options["typescript"]),
        ("nodejs", &json!(false))
    );
    let names = &project.config[&Key::new("demo", "names")];
    assert_eq!(
        names.r#type.as_ref().unwrap().to_string(),
        "array<array<string>>"
    );
    assert_eq!(
        project.config[&Key::new("demo", "plain")].default,
        Some(json!("text"))
    );
    assert_eq!(
        project.config[&Key::new("aws", "region")].value,
        Some(json!("eu"))
    );
    assert_eq!(project.backend_url.as_deref(), Some("file://~"));
    assert!(project.refresh_always);
    assert_eq!(
        project.packages["random"].version.as_deref(),
        Some("4.16.7")
    );
    assert_eq!(
        project.packages["local"],
        PackageSpec {
            source: "./sdk".to_owned(),
            ..PackageSpec::default()
        }
    );
    assert_eq!(project.packages["tf"].parameters, ["hashicorp/random"]);
    assert_eq!(project.plugins.providers[0].path, "../lab");
    assert_eq!(
        project.template.unwrap().config["aws:region"]
            .default
            .as_deref(),
        Some("us")
    );
    let short = Project::parse(
        "Pulumi.yml",
        "\u{feff}name: x\nruntime: yaml\nconfig: settings\n",
    )
    .unwrap();
    assert_eq!(short.stack_config_dir.as_deref(), Some("settings"));
    let json = Project::parse(
        "Pulumi.json",
        "{\n\t\"name\": \"x\",\n\t\"runtime\": \"go\"\n}",
    )
    .unwrap();
    assert_eq!(json.runtime.unwrap().name, "go");
    assert!(
        Project::parse("Pulumi.yaml", "name: empty\n")
            .unwrap()
            .runtime
            .is_none()
    );
}

#[test]
fn every_problem_of_a_project_is_reported_with_its_place() {
    let text = "nam: x\nruntime: {name: go, optionz: {}}\nbackend: {uri: x}\nconfig:\n  a: {type: strin}\n  b: {type: array}\n  \
                c: {default: 1, value: 2}\n  aws:x: {type: string}\n  d: {type: integer, default: hello}\n";
    let Err(FileError::Invalid { problems, .. }) = Project::parse("Pulumi.yaml", text) else {
        panic!("must fail")
    };
    let found: Vec<(&str, usize, Option<&str>)> = problems
        .iter()
        .map(|p| (p.pointer.as_str(), p.position.line, p.hint.as_deref()))
        .collect();
    assert_eq!(
        found,
        [
            ("#", 1, None),
            ("#/config/a/type", 5, Some("string")),
            ("#/config/b/items", 6, None),
            ("#/config/c", 7, None),
            ("#/config/aws:x", 8, None),
            ("#/config/aws:x", 8, None),
            ("#/config/d", 9, None),
            ("#/runtime/optionz", 2, Some("options")),
            ("#/backend/uri", 3, Some("url")),
        ]
    );
    assert!(
        problems[0]
            .message
            .contains("project is missing a 'name' attribute")
    );
    let syntax = Project::parse("Pulumi.yaml", "name: [\n").unwrap_err();
    assert!(syntax.to_string().contains("invalid YAML file"), "{syntax}");
}

#[test]
fn project_settings_fill_in_and_check_those_of_the_stack() {
    let project = Project::parse("Pulumi.yaml", FULL).unwrap();
    let mut config = ConfigMap::default();
    config.insert(Key::new("demo", "size"), Value::Text("x".to_owned()));
    let mut encrypt = |text: &str| Ok::<_, ()>(format!("<{text}>"));
    let problems =
        config::apply(&project, "dev", &mut config, &mut |_| None, &mut encrypt).unwrap();
    let key = |name: &str| name.to_owned();
    assert_eq!(
        problems,
        [
            Problem::WrongType {
                stack: key("dev"),
                key: key("size"),
                expected: ConfigType::Integer
            },
            Problem::Missing {
                stack: key("dev"),
                key: key("token")
            },
        ]
    );
    assert_eq!(
        problems[0].to_string(),
        "Stack 'dev' with configuration key 'size' must be of type 'integer'"
    );
    assert_eq!(
        config.get(&Key::new("aws", "region")),
        Some(&Value::Text("eu".to_owned()))
    );
    config.insert(Key::new("demo", "size"), Value::Text("4".to_owned()));
    config.insert(Key::new("demo", "token"), Value::Text("open".to_owned()));
    let problems =
        config::apply(&project, "dev", &mut config, &mut |_| None, &mut encrypt).unwrap();
    assert_eq!(
        problems[0].to_string(),
        "Stack 'dev' with configuration key 'token' must be encrypted as it's secret"
    );
}

#[test]
fn environment_settings_lie_below_those_of_the_stack() {
    let map = |json: Json| ConfigMap::from_json(json.as_object().unwrap()).unwrap();
    let merged = config::merge(
        &map(json!({"p:o": {"a": 1, "b": {"c": 2}}, "p:x": "1"})),
        &map(json!({"p:o": {"b": {"d": 3}}, "p:x": "2"})),
    );
    assert_eq!(
        merged.to_json(),
        json!({"p:o": {"a": 1, "b": {"c": 2, "d": 3}}, "p:x": "2"})
    );
}

#[test]
fn project_files_are_edited_in_place() {
    let mut file = ProjectFile::parse(
        "Pulumi.yaml",
        "# mine\nname: a\nruntime: nodejs # js\ntemplate:\n  description: x\n",
    )
    .unwrap();
    file.set_text("name", "b");
    assert!(file.remove("template"));
    file.set_package("random", &PackageSpec::parse("random@4.0.0"));
    let spec = PackageSpec {
        parameters: vec!["p".to_owned()],
        ..PackageSpec::parse("tf@1.0.0")
    };
    file.set_package("tf", &spec);
    assert_eq!(
        file.to_text(),
        "# mine\nname: b\nruntime: nodejs # js\npackages:\n  random: random@4.0.0\n  tf:\n    source: tf\n    version: 1.0.0\n    parameters:\n      - p\n"
    );
    assert_eq!(file.project("Pulumi.yaml").unwrap().packages["tf"], spec);
}

#[test]
fn policy_and_plugin_projects_need_a_runtime() {
    let policy =
        PolicyProject::parse("PulumiPolicy.yaml", "runtime: python\nversion: 1.0.0\n").unwrap();
    assert_eq!(
        (policy.runtime.name.as_str(), policy.version.as_deref()),
        ("python", Some("1.0.0"))
    );
    assert!(PluginProject::parse("PulumiPlugin.yaml", "packages: {}\n").is_err());
    let plugin =
        PluginProject::parse("PulumiPlugin.yaml", "runtime: nodejs\npackages: {a: b@1}\n").unwrap();
    assert_eq!(plugin.packages["a"].source, "b");
}

#[test]
fn workspace_and_credentials_files_match_the_vectors() {
    let vectors: Json = serde_json::from_str(&vector("workspace-and-credentials.json")).unwrap();
    let name = &vectors["workspaceFileName"];
    let path = WorkspaceFile::path(
        name["project"].as_str().unwrap(),
        name["pulumiYamlPath"].as_str().unwrap(),
    );
    assert_eq!(path, name["file"].as_str().unwrap());
    let mut workspace = WorkspaceFile::parse(&vectors["workspaceFile"].to_string()).unwrap();
    assert_eq!(
        workspace.selected("https://pulumi.example.com"),
        Some("acme/proj/dev")
    );
    let text = workspace.to_text().unwrap();
    assert_eq!(
        serde_json::from_str::<Json>(&text).unwrap(),
        vectors["workspaceFile"]
    );
    workspace.select("https://pulumi.example.com", None);
    workspace.select("file:///home/user/state", None);
    assert_eq!(workspace.to_text(), None);
    let credentials = Credentials::parse(&vectors["credentials"].to_string()).unwrap();
    assert_eq!(
        serde_json::from_str::<Json>(&credentials.to_text().unwrap()).unwrap(),
        vectors["credentials"]
    );
    let mut diy = Credentials::default();
    diy.login_without_token("file:///home/user/state");
    assert_eq!(
        serde_json::from_str::<Json>(&diy.to_text().unwrap()).unwrap(),
        vectors["diyCredentials"]
    );
    diy.logout("file:///home/user/state");
    assert_eq!(diy.to_text(), None);
    let envelope = vectors["secureStoreEnvelope"]["envelope"].to_string();
    assert!(matches!(
        Credentials::parse(&envelope),
        Err(WorkspaceError::Encrypted { .. })
    ));
    let home = HomeConfig::parse(r#"{"backends":{"https://a":{"defaultOrg":"acme"}}}"#).unwrap();
    assert_eq!(
        home.backends["https://a"].default_org.as_deref(),
        Some("acme")
    );
}

#[test]
fn files_are_found_and_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("a/b");
    std::fs::create_dir_all(&inner).unwrap();
    let project = folder.path().join("Pulumi.yaml");
    files::write_text(&project, "name: x\n", files::Access::Shared).unwrap();
    assert_eq!(files::find_project(&inner), Some(project.clone()));
    assert_eq!(
        files::read_text(&project).unwrap().as_deref(),
        Some("name: x\n")
    );
    let stack = files::stack_file_path(&project, Some("settings"), "acme/dev");
    assert_eq!(stack, folder.path().join("settings/Pulumi.acme-dev.yaml"));
    files::write_text(&stack, "{}\n", files::Access::Private).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(
            std::fs::metadata(&stack).unwrap().permissions().mode() & 0o777,
            0o600
        );
    }
    files::remove(&stack).unwrap();
    assert_eq!(files::read_text(&stack).unwrap(), None);
}

#[cfg(unix)]
#[test]
fn files_are_for_whom_they_are_meant() {
    use std::os::unix::fs::PermissionsExt;

    use crate::files::{Access, create_private, write_text};

    let folder = tempfile::tempdir().unwrap();
    let mode = |path: &std::path::Path| {
        let metadata = std::fs::metadata(path).unwrap();
        metadata.permissions().mode() & 0o777
    };
    let private = folder.path().join("deep/private");
    write_text(&private, "one", Access::Private).unwrap();
    assert_eq!(mode(&private), 0o600);
    assert_eq!(mode(private.parent().unwrap()), 0o700);
    let shared = folder.path().join("shared");
    std::fs::write(folder.path().join("like"), "").unwrap();
    write_text(&shared, "one", Access::Shared).unwrap();
    assert_eq!(mode(&shared), mode(&folder.path().join("like")));
    std::fs::set_permissions(&shared, std::fs::Permissions::from_mode(0o640)).unwrap();
    write_text(&shared, "two", Access::Shared).unwrap();
    assert_eq!(mode(&shared), 0o640);
    drop(create_private(&shared).unwrap());
    assert_eq!(mode(&shared), 0o600);
    assert_eq!(std::fs::read_to_string(&shared).unwrap(), "");
    let left = std::fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(left, 3, "temporary files are left");
}

#[test]
fn what_is_no_path_says_why() {
    for (text, expected) in [
        ("", "empty config key path"),
        (
            "a[",
            "invalid config key path: missing closing bracket in array index",
        ),
        (
            "a[\"x",
            "invalid config key path: missing closing quote in property name",
        ),
        (
            "a[\"x\"",
            "invalid config key path: missing closing bracket in property access",
        ),
        (
            "a[x]",
            "invalid config key path: invalid array index: strconv.ParseInt: parsing \"x\": invalid syntax",
        ),
        (
            "a[99999999999999999999]",
            "invalid config key path: invalid array index: strconv.ParseInt: parsing \"99999999999999999999\": \
             value out of range",
        ),
        (
            ".a",
            "invalid config key path: expected property path to start with a name or index",
        ),
        (
            "a.",
            "invalid config key path: expected property path to end with a name or index",
        ),
        ("[0]", "first path segement of config key must be a string"),
    ] {
        let error = KeyPath::parse(text, "proj").unwrap_err();
        assert_eq!(error.to_string(), expected, "{text}");
    }
    for (text, same) in [
        ("a..b", "a.b"),
        ("a[0]b", "a[0].b"),
        ("x:a.b:c", "x:a[\"b:c\"]"),
    ] {
        assert_eq!(KeyPath::parse(text, "proj"), KeyPath::parse(same, "proj"));
    }
}
