//! Logins, and information about the environment.

use serde_json::{Value, json};

use crate::context::{Ran, TestContext, system_user};

#[test]
fn stacks_are_kept_at_home_when_nobody_has_logged_in() {
    let mut context = TestContext::new();
    context.set("PULUMI_BACKEND_URL", None);
    context.ok(&["stack", "init", "dev"]);
    assert!(
        context
            .home()
            .join(".pulumi/stacks/proj/dev.json")
            .is_file()
    );
    let who: Value = serde_json::from_str(&context.ok(&["whoami", "--json"])).unwrap();
    assert_eq!(who, json!({ "user": system_user(), "url": "file://~" }));
}

#[test]
fn logins_are_remembered() {
    let mut context = TestContext::without_project();
    context.set("PULUMI_BACKEND_URL", None);
    let store = format!("file://{}", context.store().display());
    let text = context.ok(&["login", &store]);
    assert!(
        text.starts_with("Logged in to ")
            && text.ends_with(&format!(" as {} (file://<root>/store)\n", system_user())),
        "{text}"
    );
    assert_eq!(context.ok(&["whoami"]), format!("{}\n", system_user()));
    assert!(
        context
            .ok(&["whoami", "-v"])
            .contains("Backend URL: file://<root>/store\n")
    );
    let credentials =
        std::fs::read_to_string(context.home().join(".pulumi/credentials.json")).unwrap();
    let credentials: Value = serde_json::from_str(&credentials).unwrap();
    assert_eq!(
        (
            &credentials["current"],
            &credentials["accessTokens"][&store]
        ),
        (&json!(store), &json!(""))
    );
    assert_eq!(
        context.ok(&["logout"]),
        "Logged out of file://<root>/store\n"
    );
    assert!(!context.home().join(".pulumi/credentials.json").exists());
    assert_eq!(
        context.ok(&["logout", "--all"]),
        "Logged out of everything\n"
    );
}

#[test]
fn logins_refuse_the_flags_of_the_service() {
    let mut context = TestContext::without_project();
    context.set("PULUMI_BACKEND_URL", None);
    let refused = |flags: &[&str]| context.fails(1, &[&["login"], flags].concat());
    let other_backend = "error: oidc-token, oidc-org, oidc-team, oidc-user, and oidc-expiration flags are not supported for \
                         this type of backend\n";
    assert_eq!(refused(&["--local", "--oidc-token", "t"]), other_backend);
    assert_eq!(refused(&["--local", "--oidc-team", "t"]), other_backend);
    assert_eq!(
        refused(&["--local", "--oidc-token", "t", "file://x"]),
        "error: a URL may not be specified when --local mode is enabled\n"
    );
    assert_eq!(
        refused(&["--local", "--default-org", "o"]),
        "error: unable to set default org for this type of backend\n"
    );
    let service = ["https://api.example.com", "--oidc-token", "t"];
    assert_eq!(
        refused(&service),
        "error: problem logging in: organization must be specified for token exchange\n"
    );
    let both = ["--oidc-org", "o", "--oidc-team", "t", "--oidc-user", "u"];
    assert_eq!(
        refused(&[&service[..], &both].concat()),
        "error: problem logging in: only one of team or user may be specified for token exchange\n"
    );
    assert_eq!(
        refused(&[&service[..], &["--oidc-org", "o"]].concat()),
        "error: `--oidc-token` requires the cloud service, which is not supported\n"
    );
}

#[test]
fn addresses_are_checked() {
    let mut context = TestContext::without_project();
    context.set("PULUMI_BACKEND_URL", None);
    assert_eq!(
        context.fails(1, &["login", "ftp://x"]),
        "error: unknown backend cloudUrl format 'ftp' (supported Url formats are: azblob://, gs://, s3://, file://, \
         https://, http:// and postgres://)\n"
    );
    assert!(
        context
            .fails(1, &["login", "file://nowhere"])
            .starts_with("error: unable to open bucket ")
    );
    assert_eq!(
        context.fails(1, &["login", "s3://bucket?regon=eu"]),
        "error: the backend address s3://bucket?regon=eu cannot be used: unknown query parameter \"regon\"\n"
    );
    // Nothing listens on port 1.
    let error = context.fails(
        1,
        &[
            "login",
            "postgres://u:secret@127.0.0.1:1/db?sslmode=disable",
        ],
    );
    assert!(error.starts_with("error: unable to open bucket postgres://****@127.0.0.1:1/db"));
    assert!(!error.contains("secret"));
}

#[test]
fn the_project_can_name_its_backend() {
    let mut context = TestContext::without_project();
    context.set("PULUMI_BACKEND_URL", None);
    context.write(
        "Pulumi.yaml",
        "name: proj\nruntime: yaml\nbackend:\n  url: file://./state?create_dir=true\n",
    );
    context.ok(&["stack", "init", "dev"]);
    assert!(context.exists("state/.pulumi/stacks/proj/dev.json"));
}

#[test]
fn a_wrong_project_file_is_reported_by_every_command() {
    let context = TestContext::new();
    context.write(
        "Pulumi.yaml",
        "name: proj\nruntime: yaml\nplugins:\n  providers:\n    - name: x\n      bin: y\n",
    );
    let error = context.fails(1, &["stack", "ls"]);
    assert!(
        error.contains("could not load current project: could not validate '"),
        "{error}"
    );
    context.write("Pulumi.yaml", "{");
    assert!(
        context
            .fails(1, &["stack", "ls"])
            .contains("invalid YAML file")
    );
}

#[test]
fn commands_that_need_a_project_say_so() {
    let context = TestContext::without_project();
    assert_eq!(
        context.fails(1, &["config"]),
        "error: no Pulumi.yaml project file found (searching upwards from <root>/project). If you have not created a \
         project yet, use `plumb new` to do so: no project file found\n"
    );
}

#[test]
fn about_never_fails() {
    let context = TestContext::new().with("PULUMI_BACKEND_URL", "ftp://x");
    let about: Value = serde_json::from_str(&context.ok(&["about", "--json"])).unwrap();
    assert_eq!(about["cliAbout"]["version"], "v3.260.0");
    assert_eq!(about["cliAbout"]["plumbVersion"], env!("CARGO_PKG_VERSION"));
    let version = context.ok(&["version", "--verbose"]);
    let lines: Vec<&str> = version.lines().collect();
    assert_eq!(lines[0], "v3.260.0");
    assert!(lines[1].ends_with(env!("CARGO_PKG_VERSION")), "{version}");
    assert_eq!(lines.len(), 4, "{version}");
    assert_eq!(context.ok(&["version"]), "v3.260.0\n");
    assert!(about["errors"][0].as_str().unwrap().contains("'ftp'"));
    let context = TestContext::new();
    context.ok(&["stack", "init", "dev"]);
    let text = context.ok(&["about"]);
    assert!(
        text.starts_with("CLI\nVersion      3.260.0\nGo Version   go"),
        "{text}"
    );
    assert!(
        text.contains("Current Stack: organization/proj/dev\n"),
        "{text}"
    );
    let context = context.with("PULUMI_ACCESS_TOKEN", "hush");
    let text = context.ok(&["about"]);
    let environment = text.split("Environment Variables:\n").nth(1).unwrap();
    assert!(
        environment.contains("PULUMI_ACCESS_TOKEN") && !text.contains("hush"),
        "{text}"
    );
    // The plugins are those of the program, not those in the cache.
    let document = context.ok(&["about", "--json"]);
    assert!(
        document.starts_with("{\n  \"plugins\": [\n")
            && document.contains("\"kind\": \"language\""),
        "{document}"
    );
    let variables = context.ok(&["about", "env"]);
    assert!(
        variables.lines().any(|line| {
            line.split_whitespace()
                .eq(["PULUMI_ACCESS_TOKEN", "[secret]"])
        }) && !variables.contains("hush"),
        "{variables}"
    );
}

#[test]
fn file_stores_have_no_organizations() {
    let context = TestContext::new();
    let error = context.fails(1, &["org", "get-default"]);
    assert!(
        error.starts_with("error: backends of this type \"")
            && error.ends_with("\" do not support organizations\n")
    );
    assert!(
        context
            .fails(1, &["org", "set-default", "x"])
            .starts_with("error: unable to set a default organization")
    );
}

/// Runs a command in a folder without a project.
fn outside(context: &TestContext, words: &[&str]) -> Ran {
    let mut command = context.command(words, "");
    command.current_dir(context.root());
    context.ran(&command.output().unwrap())
}

#[test]
fn stacks_of_other_projects_are_not_operated_on() {
    let context = TestContext::new().with("PULUMI_CONFIG_PASSPHRASE", "x");
    context.write("Pulumi.yaml", "name: proj\nruntime: yaml\n");
    let made = outside(&context, &["stack", "init", "organization/other/dev"]);
    assert_eq!(made.code, 0, "{}", made.stderr);
    let refusal = "error: provided project name \"other\" doesn't match Pulumi.yaml\n";
    for verb in ["up", "refresh", "destroy"] {
        let words = [verb, "--yes", "--stack", "organization/other/dev"];
        assert_eq!(context.fails(1, &words), refusal, "{verb}");
    }
    assert_eq!(
        context.fails(1, &["preview", "--stack", "organization/other/dev"]),
        refusal
    );
    assert_eq!(
        context.fails(1, &["stack", "init", "organization/other/more"]),
        "error: could not create stack: provided project name \"other\" doesn't match Pulumi.yaml\n"
    );
}

#[test]
fn what_needs_no_program_works_outside_of_the_project() {
    let context = TestContext::new().with("PULUMI_CONFIG_PASSPHRASE", "x");
    context.write(
        "Pulumi.yaml",
        "name: proj\nruntime: yaml\nresources:\n  kept: {type: 'pulumi:index:Stash', properties: {input: 1}}\n",
    );
    context.ok(&["stack", "init", "dev"]);
    context.ok(&["config", "set", "--secret", "key", "hidden"]);
    context.ok(&["up", "--yes", "--skip-preview"]);
    let on = |words: &[&str]| {
        let stack = [
            "--stack",
            "organization/proj/dev",
            "--yes",
            "--skip-preview",
        ];
        outside(&context, &[words, &stack].concat())
    };
    // `up` needs the project, because an update without a program would delete everything.
    let missing = on(&["up"]);
    assert_eq!(missing.code, 1, "{}", missing.stdout);
    assert!(
        missing
            .stderr
            .contains("no Pulumi.yaml project file found (searching upwards from )"),
        "{}",
        missing.stderr
    );
    for words in [&["refresh"][..], &["destroy"]] {
        let ran = on(words);
        assert_eq!(ran.code, 0, "{words:?}: {}{}", ran.stdout, ran.stderr);
    }
    // The configuration of the last update is kept with the stack.
    let history = context.ok(&["stack", "history", "--json", "--show-secrets"]);
    let history: Value = serde_json::from_str(&history).unwrap();
    for update in history.as_array().unwrap() {
        assert_eq!(update["config"]["proj:key"]["value"], "hidden", "{update}");
    }
    let empty = outside(&context, &["stack", "init", "organization/proj/new"]);
    assert_eq!(empty.code, 0, "{}", empty.stderr);
    let words = ["destroy", "--yes", "--stack", "organization/proj/new"];
    assert!(
        outside(&context, &words)
            .stderr
            .ends_with("the backend: no previous deployment\n")
    );
}

#[cfg(unix)]
#[test]
fn only_the_project_replaces_a_language_host() {
    use std::os::unix::fs::PermissionsExt as _;
    let context = TestContext::new()
        .with("PULUMI_CONFIG_PASSPHRASE", "x")
        .with("PATH", "../bin:/usr/bin:/bin");
    for language in ["yaml", "python", "nodejs"] {
        let name = format!("../bin/pulumi-language-{language}");
        context.write(&name, "#!/bin/sh\necho another host >&2\nexit 3\n");
        let executable = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(context.project().join(name), executable).unwrap();
    }
    let project = "name: proj\nruntime: yaml\noutputs: {x: 1}\n";
    context.write("Pulumi.yaml", project);
    context.ok(&["stack", "init", "dev"]);
    let own = context.ok(&["up", "--yes", "--skip-preview"]);
    assert!(!own.contains("$PATH"), "{own}");
    let about: Value = serde_json::from_str(&context.ok(&["about", "--json"])).unwrap();
    assert!(!about.to_string().contains("another host"), "{about}");
    let named = "plugins: {languages: [{name: yaml, path: ../bin}]}\n";
    context.write("Pulumi.yaml", &format!("{project}{named}"));
    let ran = context.run(&["up", "--yes", "--skip-preview"]);
    assert_ne!(ran.code, 0, "{}", ran.stdout);
    let said = format!("{}{}", ran.stdout, ran.stderr);
    assert!(said.contains("pulumi-language-yaml"), "{said}");
}

#[test]
fn remote_operations_are_found_in_the_help_and_refused() {
    let context = TestContext::new();
    let shown = |context: &TestContext, verb: &str| {
        let help = context.ok(&[verb, "--help"]);
        help.contains("--remote-inherit-settings") && help.contains("--remote ")
    };
    for verb in ["up", "preview", "refresh", "destroy"] {
        assert!(!shown(&context, verb), "{verb}");
    }
    let context = context.with("PULUMI_EXPERIMENTAL", "true");
    for verb in ["up", "preview", "refresh", "destroy"] {
        assert!(shown(&context, verb), "{verb}");
    }
    for verb in [&["preview"][..], &["up", "--yes", "no/such/template"]] {
        let words = [verb, &["--remote", "--remote-git-branch", "main"]].concat();
        let refused = context.fails(1, &words);
        assert!(
            refused.contains("`--remote` requires the cloud service"),
            "{refused}"
        );
    }
}

#[test]
fn projects_are_listed() {
    let context = TestContext::new();
    context.ok(&["stack", "init", "dev"]);
    outside(&context, &["stack", "init", "organization/other/dev"]);
    let listed: Value =
        serde_json::from_str(&context.ok(&["project", "ls", "--output", "json"])).unwrap();
    assert_eq!(
        listed,
        json!([{ "name": "other", "stackCount": 1 }, { "name": "proj", "stackCount": 1 }])
    );
}
