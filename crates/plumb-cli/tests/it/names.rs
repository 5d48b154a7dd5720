//! Name the program was started with, in its messages.

use std::path::{Path, PathBuf};
use std::process::Command;

use plumb_cli::args::{command_tree, surface::surface};

use crate::context::TestContext;

/// Path of the binary under another name.
fn named(context: &TestContext, name: &str) -> PathBuf {
    let path = context.home().join(name);
    if !path.exists() {
        let binary = Path::new(env!("CARGO_BIN_EXE_plumb"));
        std::fs::hard_link(binary, &path)
            .or_else(|_| std::fs::copy(binary, &path).map(drop))
            .unwrap();
    }
    path
}

/// Output of a command on both streams.
fn said(context: &TestContext, name: &str, words: &[&str]) -> String {
    let prepared = context.command(words, "");
    let mut command = Command::new(named(context, name));
    command.args(prepared.get_args()).env_clear();
    for (key, value) in prepared.get_envs() {
        command.env(key, value.unwrap_or_default());
    }
    command.current_dir(context.project());
    let ran = context.ran(&command.output().unwrap());
    format!("{}{}", ran.stdout, ran.stderr)
}

/// Mentions of the program by name: `NAME command`, on a line of its own or in quotes.
fn mentions(text: &str, name: &str) -> Vec<String> {
    let is_mention = |line: &&str| {
        line.match_indices(name).any(|(at, _)| {
            let before = line[..at].chars().next_back();
            let after = line[at + name.len()..].chars().next();
            let begins = before.is_none_or(|before| " `'\"([\t".contains(before));
            begins && after.is_none_or(|after| " `'\"".contains(after))
        })
    };
    text.lines()
        .filter(is_mention)
        .map(ToOwned::to_owned)
        .collect()
}

fn check(context: &TestContext, words: &[&str]) {
    let [ours, theirs] = ["plumb", "pulumi"].map(|name| said(context, name, words));
    assert_eq!(mentions(&ours, "pulumi"), [""; 0], "{words:?}:\n{ours}");
    assert_eq!(mentions(&theirs, "plumb"), [""; 0], "{words:?}:\n{theirs}");
}

/// A command prints one text under both names, with the name it was started under.
fn check_known(context: &TestContext, words: &[&str], known: &str) {
    let [ours, theirs] = ["plumb", "pulumi"].map(|name| said(context, name, words));
    assert!(theirs.contains(known), "{words:?}:\n{theirs}");
    let renamed = known.replace("pulumi", "plumb");
    let renamed = renamed.replace("Pulumi CLI", "Plumb CLI");
    assert!(ours.contains(&renamed), "{words:?}:\n{ours}");
}

#[test]
fn texts_that_scripts_look_for_are_those_of_the_reference_when_started_as_pulumi() {
    let context = TestContext::new();
    check_known(
        &context,
        &["stack"],
        "error: no stack selected; please use `pulumi stack select` or `pulumi stack init` to choose one\n",
    );
    context.ok(&["stack", "init", "dev"]);
    let newer = "{\"version\": 9, \"deployment\": {}}";
    context.write("newer.json", newer);
    for (words, known) in [
        (
            &["stack"][..],
            "\nUse `pulumi stack select` to change stack; `pulumi stack ls` lists known ones\n",
        ),
        (&["stack"], "    No updates yet; run `pulumi up`\n"),
        (
            &["stck"],
            "error: unknown command \"stck\" for \"pulumi\"\n\nDid you mean this?\n\tpulumi stack\n\nRun 'pulumi --help' for \
             usage.\n",
        ),
        (
            &["stack", "import", "--file", "newer.json"],
            "understands. Please update your version of the Pulumi CLI\n",
        ),
        (
            &["state", "edit"],
            "error: pulumi state edit must be run in interactive mode\n",
        ),
        (
            &["state", "taint", "--yes"],
            "error: Must supply <resource URN> unless pulumi is run interactively\n",
        ),
        (&["destroy", "--yes"], "run `pulumi stack rm dev`.\n"),
    ] {
        check_known(&context, words, known);
    }
}

#[test]
fn help_has_the_name_that_the_program_was_started_by() {
    let context = TestContext::new();
    let commands = surface(&command_tree());
    assert!(commands.len() > 100);
    for command in &commands {
        let mut words: Vec<&str> = command.path.iter().map(String::as_str).collect();
        words.push("--help");
        check(&context, &words);
    }
    let help = said(&context, "plumb", &["up", "--help"]);
    assert!(help.contains("Usage:\n  plumb up "), "{help}");
    let help = said(&context, "pulumi", &["stack", "--help"]);
    assert!(
        help.contains("Use `pulumi stack [command] --help`"),
        "{help}"
    );
}

#[test]
fn errors_and_hints_have_the_name_that_the_program_was_started_by() {
    let empty = TestContext::without_project();
    for words in [
        &["up", "--yes"][..],
        &["doctor"],
        &["config"],
        &["stack", "init"],
        &["new", "nowhere", "--yes"],
    ] {
        check(&empty, words);
    }
    let context = TestContext::new();
    check(&context, &["stack"]);
    context.ok(&["stack", "init", "dev"]);
    context.write("pack/PulumiPolicy.yaml", "runtime: ruby\n");
    for words in [
        &["stack"][..],
        &["doctor"],
        &["why", "a"],
        &["drift"],
        &["console"],
        &["stack", "export", "--version", "9"],
        &["stack", "export", "--version", "x"],
        &["state", "delete", "x"],
        &["state", "restore", "9"],
        &["state", "repair"],
        &["config", "env", "ls"],
        &["config", "env", "add", "x"],
        &["convert", "--language", "go"],
        &["do", "x"],
        &["view-trace", "x"],
        &["convert-trace", "x"],
        &["env", "ls"],
        &["deployment", "run"],
        &["insights"],
        &["api"],
        &["neo"],
        &["template", "list"],
        &["policy", "publish"],
        &["policy", "analyze", "--policy-pack", "pack"],
        &["preview", "--policy-pack", "pack"],
        &["import", "a:b:C", "name", "id", "--yes"],
        &["plugin", "install", "resource"],
        &["package", "add", "nowhere"],
        &["package", "get-schema", "nowhere"],
        &["install", "--locked"],
        &["stack", "rm", "dev"],
        &["stack", "select", "none"],
        &["stck"],
        &["logs", "--tracing", "x"],
        &["logs", "--profiling", "x"],
        &["convert-trace", "Pulumi.yaml"],
    ] {
        check(&context, words);
    }
    context.write(
        "Pulumi.yaml",
        "name: proj\nruntime: yaml\nresources:\n  a:\n    type: nowhere:index:Thing\n  b:\n    type: command:remote:Command\n",
    );
    for words in [
        &["preview"][..],
        &["up", "--yes"],
        &["install"],
        &["doctor"],
    ] {
        check(&context, words);
    }
}
