//! Arguments, flags and help.

use crate::context::TestContext;

#[test]
fn the_version_is_one_line_and_needs_nothing() {
    let context = TestContext::without_project().with("PULUMI_BACKEND_URL", "nonsense");
    assert_eq!(context.ok(&["version"]), "v3.260.0\n");
    assert_eq!(context.ok(&["--version"]), "v3.260.0\n");
    assert_eq!(context.ok(&["--non-interactive", "version"]), "v3.260.0\n");
}

#[test]
fn mistakes_go_to_stderr() {
    let context = TestContext::new();
    assert_eq!(
        context.fails(1, &["stack", "--nope"]),
        "error: unknown flag: --nope\n"
    );
    assert_eq!(
        context.fails(1, &["stack", "nope"]),
        "error: unknown command \"nope\" for \"plumb stack\"\nRun 'plumb stack --help' for usage.\n"
    );
    assert_eq!(
        context.fails(1, &["stack", "ls", "--color", "pink"]),
        "error: unsupported color option: 'pink'.  Supported values are: auto, always, never, raw\n"
    );
}

#[test]
fn pages_of_the_book_are_shown_without_colours_where_there_is_no_terminal() {
    let context = TestContext::without_project().with("PAGER", "false");
    let page = context.ok(&["help", "secrets"]);
    assert!(
        page.starts_with("Secrets\n═══════\n\nA secret is"),
        "{page}"
    );
    assert!(
        page.contains("\n[1] plumb help secrets-providers\n"),
        "{page}"
    );
    assert!(!page.contains('\u{1b}'), "{page}");
    let colored = context.ok(&["help", "secrets", "--color", "always"]);
    assert!(colored.contains("\u{1b}[1mSecrets"), "{colored}");
    let topics = context.ok(&["help", "topics"]);
    assert!(topics.contains("\n  topic:stack "), "{topics}");
    assert!(
        topics.lines().all(|line| line.chars().count() <= 80),
        "{topics}"
    );
}

#[test]
fn a_command_takes_precedence_over_a_page() {
    let context = TestContext::without_project();
    let help = context.ok(&["help", "stack"]);
    assert_eq!(help, context.ok(&["stack", "--help"]));
    let page = context.ok(&["help", "topic:stack"]);
    assert!(page.starts_with("Stack\n═════\n"), "{page}");
    assert!(context.ok(&["help"]).contains("Use `plumb help topics`"));
}

#[test]
fn help_is_printed_on_stdout() {
    let context = TestContext::new();
    let help = context.ok(&["up", "--help"]);
    assert!(
        help.contains("Usage:\n  plumb up [template] [flags]\n"),
        "{help}"
    );
    assert!(help.contains("--parallel int"), "{help}");
    assert!(!help.contains("--event-log"), "{help}");
    assert!(help.contains("Global Flags:\n"), "{help}");
    let ran = context.run(&["state"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (1, ""));
    assert!(
        ran.stdout.contains("Available Commands:\n"),
        "{}",
        ran.stdout
    );
    assert!(context.ok(&["--help"]).contains("Stack Management:\n  new"));
}

#[test]
fn what_is_not_built_says_so() {
    let context = TestContext::new();
    assert_eq!(
        context.fails(1, &["policy", "publish", "--help-me"]),
        "error: `policy publish` requires the cloud service, which is not supported; run packs from folders, with `plumb up \
         --policy-pack DIR`\n"
    );
}

#[test]
fn commands_work_in_the_folder_that_cwd_names() {
    let context = TestContext::without_project();
    context.write("sub/Pulumi.yaml", "name: inner\nruntime: yaml\n");
    context.ok(&["-C", "sub", "stack", "init", "dev"]);
    assert_eq!(
        context
            .ok(&["stack", "ls", "--all", "--json"])
            .matches("organization/inner/dev")
            .count(),
        1
    );
    assert!(
        context
            .fails(1, &["-C", "nowhere", "stack", "ls"])
            .starts_with("error: chdir ")
    );
}

#[test]
fn completion_scripts_are_printed() {
    let context = TestContext::without_project();
    for shell in ["bash", "zsh", "fish"] {
        assert!(
            context.ok(&["gen-completion", shell]).contains("plumb"),
            "{shell}"
        );
    }
    assert_eq!(
        context.fails(1, &["gen-completion", "tcsh"]),
        "error: \"tcsh\" is not a supported shell\n"
    );
}
