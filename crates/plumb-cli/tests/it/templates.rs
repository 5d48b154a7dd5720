//! Templates: projects, packages and policy packs made of them.

use std::process::Command;

use crate::context::{TestContext, repositories_at};

#[test]
fn every_template_makes_a_project() {
    let names = [
        "csharp",
        "go",
        "java",
        "javascript",
        "python",
        "rust",
        "typescript",
        "yaml",
    ];
    let context = TestContext::without_project();
    let listed = context.ok(&["new", "--list-templates"]);
    assert_eq!(
        listed
            .lines()
            .map(|line| line.split(' ').next().unwrap())
            .collect::<Vec<_>>(),
        names
    );
    for name in names {
        context.ok(&[
            "new",
            name,
            "--yes",
            "--generate-only",
            "--dir",
            name,
            "--name",
            "shop",
        ]);
        let project = context.read(&format!("{name}/Pulumi.yaml"));
        assert!(
            project.starts_with("name: shop\n") && !project.contains("\ntemplate:"),
            "{project}"
        );
    }
    assert!(context.read("go/go.mod").starts_with("module shop\n"));
    assert!(
        context.exists("csharp/shop.csproj") && context.exists("java/src/main/java/app/App.java")
    );
    assert!(
        context
            .read("java/pom.xml")
            .contains("<artifactId>shop</artifactId>")
    );
    assert!(
        context
            .read("typescript/index.ts")
            .contains("${pulumi.getProject()}")
    );
}

fn git(context: &TestContext, folder: &str, words: &[&str]) {
    let status = Command::new("git")
        .args([
            "-c",
            "user.name=tester",
            "-c",
            "user.email=tester@example.com",
            "-c",
            "init.defaultBranch=main",
        ])
        .args(words)
        .current_dir(context.project().join(folder))
        .env("HOME", context.home())
        .output()
        .unwrap();
    assert!(
        status.status.success(),
        "{words:?}: {}",
        String::from_utf8_lossy(&status.stderr)
    );
}

#[test]
fn templates_come_from_repositories() {
    let context = TestContext::without_project();
    context.write(
        "repo.git/one/Pulumi.yaml",
        "name: ${PROJECT}\nruntime: yaml\ndescription: First\n",
    );
    context.write(
        "repo.git/two/Pulumi.yaml",
        "name: ${PROJECT}\nruntime: yaml\ndescription: Second\n",
    );
    git(&context, "repo.git", &["init", "--quiet"]);
    git(&context, "repo.git", &["add", "."]);
    git(
        &context,
        "repo.git",
        &["commit", "--quiet", "-m", "Templates"],
    );
    git(
        &context,
        "repo.git",
        &["checkout", "--quiet", "-b", "feature/x"],
    );
    context.write("repo.git/two/extra.txt", "on the branch\n");
    git(&context, "repo.git", &["add", "."]);
    git(&context, "repo.git", &["commit", "--quiet", "-m", "More"]);
    git(&context, "repo.git", &["checkout", "--quiet", "main"]);
    let url = format!("file://{}", context.project().join("repo.git").display());
    let make = |address: &str, dir: &str| {
        context.ok(&[
            "new",
            address,
            "--yes",
            "--generate-only",
            "--dir",
            dir,
            "--name",
            "shop",
        ]);
    };
    make(&format!("{url}/one"), "a");
    assert!(context.read("a/Pulumi.yaml").contains("description: First"));
    make(&format!("{url}/tree/feature/x/two"), "b");
    assert_eq!(context.read("b/extra.txt"), "on the branch\n");
    let several = context.fails(1, &["new", &url, "--yes", "--generate-only", "--dir", "c"]);
    assert!(
        several.contains("it has several templates; name the folder of one: one, two"),
        "{several}"
    );
    let missing = context.fails(1, &["new", &format!("{url}/three"), "--yes", "--dir", "c"]);
    assert!(missing.contains("has no folder three"), "{missing}");
    let offline = context.fails(1, &["new", &url, "--yes", "--offline", "--dir", "c"]);
    assert!(
        offline.contains("`--offline` forbids to fetch it"),
        "{offline}"
    );
    let own = context.with("PULUMI_TEMPLATE_GIT_REPOSITORY", &url);
    assert!(
        own.ok(&["new", "--list-templates"])
            .contains("two         Second")
    );
    own.ok(&[
        "new",
        "two",
        "--offline",
        "--yes",
        "--generate-only",
        "--dir",
        "d",
    ]);
}

#[test]
fn a_project_is_described_by_its_file_or_else_by_the_template() {
    let context = TestContext::without_project();
    for (of_file, of_template, expected) in [
        (
            "${DESCRIPTION}",
            "\ntemplate: {description: Of it}",
            "description: Of it\n",
        ),
        ("${DESCRIPTION}", "", "description: ''\n"),
        (
            "Of the file",
            "\ntemplate: {description: Of it}",
            "description: Of the file\n",
        ),
    ] {
        let text =
            format!("name: ${{PROJECT}}\nruntime: yaml\ndescription: {of_file}{of_template}\n");
        context.write("template/Pulumi.yaml", &text);
        context.ok(&[
            "new",
            "template",
            "--yes",
            "--force",
            "--generate-only",
            "--dir",
            "made",
        ]);
        let made = context.read("made/Pulumi.yaml");
        assert!(made.contains(expected), "{made}");
    }
}

#[test]
fn templates_that_are_not_built_in_come_from_the_public_repository() {
    let context = TestContext::without_project();
    let public = "github/pulumi/templates.git";
    context.write(
        &format!("{public}/aws-go/Pulumi.yaml"),
        "name: ${PROJECT}\nruntime: yaml\ndescription: On AWS\n",
    );
    git(&context, public, &["init", "--quiet"]);
    git(&context, public, &["add", "."]);
    git(&context, public, &["commit", "--quiet", "-m", "One"]);
    let place = format!("file://{}/github/", context.project().display());
    let mut connected = context;
    for (name, value) in repositories_at(&place) {
        connected = connected.with(name, &value);
    }
    let new = |name: &'static str, dir: &'static str| {
        ["new", name, "--yes", "--generate-only", "--dir", dir]
    };
    let offline = connected.fails(1, &[&new("aws-go", "a")[..], &["--offline"]].concat());
    assert!(offline.contains("because of `--offline`"), "{offline}");
    connected.ok(&new("aws-go", "a"));
    assert!(connected.read("a/Pulumi.yaml").contains("On AWS"));
    for name in ["aws-rust", "aws-go/deeper"] {
        let missing = connected.fails(1, &["new", name, "--yes", "--dir", "b"]);
        let expected = "nor in https://github.com/pulumi/templates.git";
        assert!(missing.contains(expected), "{missing}");
    }
    // The clone serves those without a network.
    let cut_off = connected.with("GIT_CONFIG_COUNT", "0");
    cut_off.ok(&[&new("aws-go", "c")[..], &["--offline"]].concat());
}

#[test]
fn a_template_is_updated_without_a_project() {
    let context = TestContext::without_project().with_passphrase();
    let text = context.ok(&["up", "yaml", "--yes", "--stack", "organization/hello/dev"]);
    assert!(
        text.contains("greeting: \"Hello from hello in dev\""),
        "{text}"
    );
    assert!(!context.exists("Pulumi.yaml"));
    assert!(
        context
            .fails(2, &["up", "yaml"])
            .contains("non-interactive mode")
    );
}

#[test]
fn packs_are_made_from_templates() {
    let context = TestContext::without_project();
    for language in ["python", "typescript"] {
        let (policy, package) = (format!("policy-{language}"), format!("package-{language}"));
        let made = context.ok(&[
            "policy",
            "new",
            language,
            "--generate-only",
            "--dir",
            &policy,
        ]);
        assert_eq!(
            made,
            "Created Policy Pack!\nTo install dependencies for the Policy Pack, run `plumb install`\n"
        );
        assert!(context.exists(&format!("{policy}/PulumiPolicy.yaml")));
        context.ok(&[
            "package",
            "new",
            language,
            "--yes",
            "--generate-only",
            "--dir",
            &package,
            "--name",
            "greetings",
        ]);
        let manifest = context.read(&format!("{package}/PulumiPlugin.yaml"));
        assert!(
            manifest.starts_with("runtime:") && !manifest.contains("template"),
            "{manifest}"
        );
    }
    assert!(
        context
            .read("package-typescript/greeting.ts")
            .contains("\"greetings:index:Greeting\"")
    );
    assert!(context.fails(1, &["policy", "new"]).contains(
        "a template must be named when nobody can be asked; there are cel, python, rego, rust, typescript"
    ));
    assert!(
        context
            .fails(1, &["policy", "ls"])
            .contains("`--policy-pack")
            || context
                .fails(1, &["policy", "ls"])
                .contains("--policy-pack")
    );
}

/// `install` applies to the innermost project, plugin or policy pack.
#[test]
fn packs_have_dependencies_too() {
    let context = TestContext::without_project();
    context.write("pack/PulumiPlugin.yaml", "runtime: yaml\n");
    context.write("pack/inner/PulumiPolicy.yaml", "runtime: cobol\n");
    context.ok(&["-C", "pack", "install"]);
    let unknown = context.fails(1, &["-C", "pack/inner", "install"]);
    assert!(
        unknown.contains("there is no language host for cobol here"),
        "{unknown}"
    );
    context.write("pack/inner/Pulumi.yaml", "name: proj\nruntime: yaml\n");
    context.ok(&["-C", "pack/inner", "install"]);
    assert!(
        context
            .fails(1, &["install"])
            .contains("no Pulumi.yaml project file found")
    );
}
