//! Passphrases and secrets.

use std::path::{Path, PathBuf};

use crate::context::TestContext;

#[test]
fn a_stack_without_secrets_needs_no_passphrase() {
    let mut context = TestContext::new();
    context.ok(&["stack", "init", "dev"]);
    context.ok(&["config", "set", "a", "1"]);
    assert_eq!(
        context.read("Pulumi.dev.yaml"),
        "config:\n  proj:a: \"1\"\n"
    );
    assert_eq!(
        context.fails(1, &["config", "set", "--secret", "b", "2"]),
        "error: passphrase must be set with PULUMI_CONFIG_PASSPHRASE or PULUMI_CONFIG_PASSPHRASE_FILE environment variables\n"
    );
    context.set("PULUMI_CONFIG_PASSPHRASE", Some(""));
    context.ok(&["config", "set", "--secret", "b", "2"]);
    assert!(
        context
            .read("Pulumi.dev.yaml")
            .contains("encryptionsalt: v1:")
    );
    assert_eq!(context.ok(&["config", "get", "b"]), "2\n");
}

const SECRET_BYTES: &str = "name: proj
runtime: yaml
resources:
  bytes:
    type: random:RandomBytes
    properties: {length: 8}
outputs:
  bytes: ${bytes.hex}
";

/// The preview tells that there will be secrets, so the update is refused before it starts.
#[test]
fn a_preview_with_secrets_to_come_asks_for_the_passphrase() {
    let context = TestContext::new();
    context.write("Pulumi.yaml", SECRET_BYTES);
    context.ok(&["stack", "init", "dev"]);
    let failed = context.run(&["up", "--yes", "--non-interactive"]);
    assert_eq!(failed.code, 1);
    assert!(
        failed.stderr.contains("passphrase must be set with "),
        "{}",
        failed.stderr
    );
    assert!(!failed.stdout.contains("Updating"), "{}", failed.stdout);
    assert!(!context.ok(&["stack", "export"]).contains("RandomBytes"));
}

/// Without a preview, a resource that may return secrets is not created before they can be recorded.
#[test]
fn nothing_that_returns_secrets_is_made_without_a_passphrase() {
    let mut context = TestContext::new();
    context.write("Pulumi.yaml", SECRET_BYTES);
    context.ok(&["stack", "init", "dev"]);
    let up = ["up", "--yes", "--skip-preview", "--non-interactive"];
    let failed = context.run(&up);
    assert_eq!(failed.code, 1);
    assert!(
        failed.stdout.contains(
            "the provider was not called, because its answer may hold secrets, which cannot be recorded: passphrase must be \
             set with PULUMI_CONFIG_PASSPHRASE"
        ),
        "{}",
        failed.stdout
    );
    let exported = context.ok(&["stack", "export"]);
    assert!(!exported.contains("RandomBytes"), "{exported}");
    context.set("PULUMI_CONFIG_PASSPHRASE", Some("test"));
    let made = context.ok(&up);
    assert!(made.contains("1 created"), "{made}");
    let shown = context.ok(&["stack", "output", "bytes", "--show-secrets"]);
    assert_eq!(shown.trim().len(), 16);
}

/// A state with resources of plugins needs a working secrets manager; the run is refused before any output.
#[test]
fn objects_of_plugins_are_left_alone_without_a_secrets_manager() {
    let context = TestContext::new();
    context.write("Pulumi.yaml", "name: proj\nruntime: yaml\n");
    context.ok(&["stack", "init", "dev"]);
    let provider = "urn:pulumi:dev::proj::pulumi:providers:elsewhere::default";
    let state = serde_json::json!({"version": 3, "deployment": {
        "manifest": {"time": "2024-01-01T00:00:00Z", "magic": "", "version": ""},
        "resources": [
            {"urn": provider, "custom": true, "id": "p", "type": "pulumi:providers:elsewhere"},
            {
                "urn": "urn:pulumi:dev::proj::elsewhere:index:Database::db",
                "custom": true,
                "id": "db-1",
                "type": "elsewhere:index:Database",
                "provider": format!("{provider}::p"),
            },
        ],
    }});
    context.write("state.json", &state.to_string());
    context.ok(&["stack", "import", "--file", "state.json", "--force"]);
    let before = context.ok(&["stack", "export"]);
    let settings = [
        ("", "passphrase must be set with PULUMI_CONFIG_PASSPHRASE"),
        (
            "secretsprovider: hashivault://key\nencryptedkey: AA==\n",
            "could not decrypt the data key with `hashivault://key`: neither VAULT_SERVER_URL nor VAULT_ADDR is set",
        ),
    ];
    for (setting, reason) in settings {
        context.write("Pulumi.dev.yaml", setting);
        for verb in [
            vec!["preview"],
            vec!["up", "--yes"],
            vec!["up", "--yes", "--skip-preview"],
            vec!["refresh", "--yes"],
            vec!["refresh", "--yes", "--run-program"],
            vec!["destroy", "--yes"],
            vec!["destroy", "--yes", "--run-program"],
            vec![
                "import",
                "random:index/randomId:RandomId",
                "x",
                "AQI",
                "--yes",
            ],
        ] {
            let failed = context.run(&[verb.as_slice(), &["--non-interactive"]].concat());
            assert_eq!(failed.code, 1, "{verb:?}");
            let expected =
                format!("error: getting stack configuration: get stack secrets manager: {reason}");
            assert!(failed.stderr.starts_with(&expected), "{}", failed.stderr);
            assert_eq!(context.ok(&["stack", "export"]), before);
        }
    }
}

/// engine.md 10.1: messages of programs and providers are plain text, and may contain a secret.
#[test]
fn messages_name_no_secrets() {
    let mut context = TestContext::new().with_passphrase();
    context.write(
        "Pulumi.yaml",
        "name: proj
runtime: yaml
config:
  token: {type: string, secret: true}
resources:
  talkative:
    type: command:local:Command
    properties:
      create: echo out $TOKEN; echo err $OTHER >&2; exit 4
      environment:
        TOKEN: ${token}
        OTHER: {fn::secret: made-in-the-program}
",
    );
    context.ok(&["stack", "init", "dev"]);
    context.ok(&["config", "set", "--secret", "token", "from-the-settings"]);
    context.set("PULUMI_DEBUG_COMMANDS", Some("true"));
    for form in [
        vec!["--event-log", "events"],
        vec!["--diff"],
        vec!["--json"],
    ] {
        let mut words = vec!["up", "--yes", "--skip-preview", "--non-interactive"];
        words.extend(form);
        let ran = context.run(&words);
        assert_ne!(ran.code, 0);
        let said = ran.stdout + &ran.stderr;
        assert!(said.contains("out [secret]"), "{said}");
        assert!(said.contains("err [secret]"), "{said}");
        for secret in ["from-the-settings", "made-in-the-program"] {
            assert!(!said.contains(secret), "{said}");
        }
    }
    for path in files_below(context.root()) {
        let bytes = std::fs::read(&path).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        for secret in ["from-the-settings", "made-in-the-program"] {
            let is_program = path.ends_with("Pulumi.yaml");
            assert!(is_program || !text.contains(secret), "{path:?}: {text}");
        }
    }
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    paths
        .flat_map(|path| {
            if path.is_dir() {
                files_below(&path)
            } else {
                vec![path]
            }
        })
        .collect()
}

#[test]
fn the_passphrase_must_be_right() {
    let mut context = TestContext::new().with_passphrase();
    context.ok(&["stack", "init", "dev"]);
    assert!(
        context
            .read("Pulumi.dev.yaml")
            .starts_with("encryptionsalt: v1:")
    );
    assert!(
        context
            .ok(&["stack", "export"])
            .contains("\"type\": \"passphrase\"")
    );
    context.ok(&["config", "set", "--secret", "b", "2"]);
    context.set("PULUMI_CONFIG_PASSPHRASE", Some("wrong"));
    assert_eq!(
        context.fails(1, &["config", "get", "b"]),
        "error: incorrect passphrase\n"
    );
    assert_eq!(context.ok(&["config"]), "KEY  VALUE\nb    [secret]\n");
    context.set("PULUMI_CONFIG_PASSPHRASE", None);
    assert!(
        context
            .fails(1, &["config", "get", "b"])
            .starts_with("error: passphrase must be set with ")
    );
    context.write("passphrase", "test\n");
    context.set("PULUMI_CONFIG_PASSPHRASE_FILE", Some("passphrase"));
    assert_eq!(context.ok(&["config", "get", "b"]), "2\n");
}

#[test]
fn secrets_of_the_state_are_shown_on_demand_only() {
    let context = TestContext::new().with_passphrase();
    context.ok(&["stack", "init", "dev"]);
    let secret = serde_json::json!({
        "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "plaintext": "\"pw\"",
    });
    let mut exported: serde_json::Value =
        serde_json::from_str(&context.ok(&["stack", "export"])).unwrap();
    exported["deployment"]["resources"] = serde_json::json!([{
        "urn": "urn:pulumi:dev::proj::pulumi:pulumi:Stack::proj-dev", "custom": false, "type": "pulumi:pulumi:Stack",
        "outputs": { "password": secret },
    }]);
    context.write("deployment.json", &exported.to_string());
    context.ok(&["stack", "import", "--file", "deployment.json"]);
    assert_eq!(context.ok(&["stack", "output", "password"]), "[secret]\n");
    assert_eq!(
        context.ok(&["stack", "output", "password", "--show-secrets"]),
        "pw\n"
    );
    assert_eq!(
        context.ok(&["stack", "output", "--json"]),
        "{\n  \"password\": \"[secret]\"\n}\n"
    );
    assert!(
        context
            .ok(&["stack", "export"])
            .contains("\"ciphertext\": \"v1:")
    );
    assert!(
        context
            .ok(&["stack", "export", "--show-secrets"])
            .contains(r#""plaintext": "\"pw\"""#)
    );
    let state =
        std::fs::read_to_string(context.store().join(".pulumi/stacks/proj/dev.json")).unwrap();
    assert!(!state.contains("plaintext"));
}

#[test]
fn the_passphrase_can_be_changed() {
    let mut context = TestContext::new().with_passphrase();
    context.ok(&["stack", "init", "dev"]);
    context.ok(&["config", "set", "--secret", "b", "2"]);
    let before = context.read("Pulumi.dev.yaml");
    context.set("PULUMI_TEST_PASSPHRASE", Some("true"));
    let changed = context.run_with(
        &["stack", "change-secrets-provider", "passphrase"],
        "fresh\n",
    );
    assert_eq!(
        (
            changed.code,
            changed.stdout.as_str(),
            changed.stderr.as_str()
        ),
        (
            0,
            "Migrating old configuration and state to new secrets provider\n",
            ""
        )
    );
    assert_ne!(context.read("Pulumi.dev.yaml"), before);
    assert_eq!(
        context.fails(1, &["config", "get", "b"]),
        "error: incorrect passphrase\n"
    );
    context.set("PULUMI_CONFIG_PASSPHRASE", Some("fresh"));
    assert_eq!(context.ok(&["config", "get", "b"]), "2\n");
    context.ok(&["stack", "export", "--show-secrets"]);
}

/// cli.md 2.2: the Automation API for Go writes the value to standard input without a newline.
#[test]
fn an_sdk_hands_over_a_new_passphrase() {
    let mut context = TestContext::new().with_passphrase();
    context.ok(&["stack", "init", "dev"]);
    context.ok(&["config", "set", "--secret", "b", "2"]);
    context.set("PULUMI_AUTOMATION_API", Some("true"));
    let change = ["stack", "change-secrets-provider", "passphrase"];
    let said = context.run_with(&change, "");
    assert_eq!(said.code, 1);
    assert!(said.stderr.contains("passphrase must be set with "));
    assert_eq!(context.run_with(&change, "fresh").code, 0);
    context.set("PULUMI_CONFIG_PASSPHRASE", Some("fresh"));
    assert_eq!(context.ok(&["config", "get", "b"]), "2\n");
}

/// The state records the manager that encrypted it, even if it differs from the previous one.
#[test]
fn a_stack_whose_settings_are_lost_can_still_be_read() {
    let context = TestContext::new().with_passphrase();
    let program = |value: &str| {
        let text =
            format!("name: proj\nruntime: yaml\noutputs: {{hidden: {{fn::secret: {value}}}}}\n");
        context.write("Pulumi.yaml", &text);
    };
    let up = ["up", "--yes", "--skip-preview", "--non-interactive"];
    program("one");
    context.ok(&["stack", "init", "dev"]);
    context.ok(&up);
    for value in ["one", "two"] {
        std::fs::remove_file(context.project().join("Pulumi.dev.yaml")).unwrap();
        program(value);
        context.ok(&up);
        let shown = context.ok(&["stack", "output", "hidden", "--show-secrets"]);
        assert_eq!(shown, format!("{value}\n"));
    }
    context.ok(&up);
}

#[test]
fn unknown_providers_are_refused() {
    let context = TestContext::new();
    assert_eq!(
        context.fails(1, &["stack", "init", "dev", "--secrets-provider", "rot13"]),
        "error: unknown secrets provider type 'rot13' (supported values: \
         default,passphrase,awskms,azurekeyvault,gcpkms,hashivault)\n"
    );
    assert_eq!(
        context.fails(
            1,
            &[
                "stack",
                "init",
                "dev",
                "--secrets-provider",
                "awskms://k?regoin=x"
            ]
        ),
        "error: invalid address of a key `awskms://k?regoin=x`: unknown query parameter `regoin`\n"
    );
    assert_eq!(context.ok(&["stack", "ls", "--json"]), "[]\n");
}
