//! `new`.

use crate::context::TestContext;

#[test]
fn a_project_is_made_from_a_built_in_template() {
    let context = TestContext::without_project();
    let made = context.run(&[
        "new",
        "yaml",
        "--yes",
        "--name",
        "shop",
        "--description",
        "a: b",
        "--dir",
        "shop",
    ]);
    assert_eq!(
        (made.code, made.stderr.as_str()),
        (0, "Created stack 'dev'\n"),
        "{}",
        made.stdout
    );
    assert_eq!(
        made.stdout,
        "Created project 'shop'\n\n\nYour new project is ready to go! \n\nTo perform an initial deployment, run 'cd shop', \
         then, run `plumb up`\n\n"
    );
    let project = context.read("shop/Pulumi.yaml");
    assert!(
        project.starts_with("name: shop\ndescription: 'a: b'\nruntime: yaml\n"),
        "{project}"
    );
    assert!(
        project.contains("pulumi:template: yaml") && !project.contains("\ntemplate:"),
        "{project}"
    );
    assert_eq!(context.ok(&["-C", "shop", "stack", "--show-name"]), "dev\n");
}

#[test]
fn files_alone_are_made_on_demand() {
    let context = TestContext::without_project();
    let made = context.run(&[
        "new",
        "python",
        "--yes",
        "--generate-only",
        "--name",
        "shop",
    ]);
    assert_eq!(
        (made.code, made.stderr.as_str()),
        (0, ""),
        "{}",
        made.stdout
    );
    assert!(
        made.stdout
            .contains("   1. plumb install\n   2. plumb stack init\n"),
        "{}",
        made.stdout
    );
    assert!(
        context.exists("__main__.py")
            && context.exists("requirements.txt")
            && context.exists(".gitignore")
    );
    let again = context.fails(1, &["new", "python", "--yes", "--generate-only"]);
    assert!(
        again.contains("is not empty; use --force to continue and overwrite existing files"),
        "{again}"
    );
}

#[test]
fn a_folder_can_be_a_template() {
    let context = TestContext::without_project().with_passphrase();
    context.write(
        "template/Pulumi.yaml",
        "name: ${PROJECT}\ndescription: ${DESCRIPTION}\nruntime: yaml\ntemplate:\n  description: Things\n  quickstart: Go on.\n  \
         config:\n    size:\n      default: small\n    token:\n      secret: true\n",
    );
    context.write("template/${PROJECT}.txt", "${PROJECT}\n");
    let made = context.ok(&[
        "new",
        "./template",
        "--yes",
        "--dir",
        "out",
        "--name",
        "shop",
        "--config",
        "token=t",
    ]);
    assert!(
        made.contains("Saved config\n") && made.ends_with("\nGo on.\n"),
        "{made}"
    );
    assert_eq!(context.read("out/shop.txt"), "shop\n");
    assert_eq!(
        context.ok(&["-C", "out", "config"]),
        "KEY          VALUE\npulumi:tags  {\"pulumi:template\":\"template\"}\nsize         small\ntoken        [secret]\n"
    );
}

#[test]
fn a_project_without_template_has_just_a_name() {
    let context = TestContext::without_project();
    context.ok(&["new", "--yes"]);
    assert_eq!(context.read("Pulumi.yaml"), "name: project\n");
    context.ok(&["stack", "init", "dev"]);
    context.ok(&["config", "set", "a", "1"]);
}

#[test]
fn mistakes_are_explained() {
    let context = TestContext::without_project();
    assert_eq!(
        context.fails(1, &["new", "yaml"]),
        "error: non-interactive mode requires --yes flag\n"
    );
    assert!(
        context
            .fails(1, &["new", "nothing", "--yes"])
            .starts_with("error: template 'nothing' not found: ")
    );
    assert!(
        context
            .fails(1, &["new", "yaml", "--yes", "--name", "a b"])
            .starts_with("error: 'a b' is not a valid project name: ")
    );
    assert!(context.ok(&["new", "--list-templates"]).contains("python"));
}
