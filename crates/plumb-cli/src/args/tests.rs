use std::collections::BTreeMap;

use plumb_operate::Environment;
use pretty_assertions::assert_eq;

use super::help::{Length, Manner};
use super::{Found, command_tree, scan};

fn environment(variables: &[(&str, &str)]) -> Environment {
    let variables: BTreeMap<_, _> = variables
        .iter()
        .map(|(name, value)| ((*name).into(), (*value).into()))
        .collect();
    Environment::for_tests(variables)
}

/// The canonical words, or the first line of the error; `help:<path>`, `version`.
fn read_with(line: &str, variables: &[(&str, &str)]) -> String {
    let words: Vec<String> = line.split_whitespace().map(ToOwned::to_owned).collect();
    match scan(&command_tree(), &environment(variables), &words) {
        Ok(Found::Command(scanned)) => scanned.words[1..].join(" "),
        Ok(Found::Help { path, asked }) => format!("help:{} {}", path.join(" "), asked.is_some()),
        Ok(Found::WrongCount { complaint, .. }) => format!("error: {complaint}"),
        Ok(Found::Version) => "version".to_owned(),
        Err(error) => format!("error: {}", error.text().unwrap_or_default()),
    }
}

fn check(line: &str, expected: &str) {
    assert_eq!(read_with(line, &[]), expected, "{line}");
}

#[test]
fn declarations_are_sound() {
    super::flags::for_clap(command_tree()).debug_assert();
}

#[test]
fn flags_are_read_in_every_form() {
    check("up --stack dev", "up --stack=dev --");
    check("up --stack=dev", "up --stack=dev --");
    check("up -s dev", "up --stack=dev --");
    check("up -sdev", "up --stack=dev --");
    check("up -s=dev", "up --stack=dev --");
    check("up -yf", "up --yes=true --skip-preview=true --");
    check("up --yes=false", "up --yes=false --");
    check("up --yes=T --stack=", "up --yes=true --stack= --");
    check("preview -p 3", "preview --parallel=3 --");
    check("config set key -- -1", "config set -- key -1");
    check(
        "config set --path a.b v --secret",
        "config set --path=true --secret=true -- a.b v",
    );
}

#[test]
fn flags_with_an_optional_value_do_not_take_the_next_word() {
    check("up --refresh template", "up --refresh=true -- template");
    check("up -r template", "up --refresh=true -- template");
    check("up --refresh=false", "up --refresh=false --");
    check(
        "up --suppress-permalink",
        "up --suppress-permalink=false --",
    );
    check(
        "preview --attach-debugger --attach-debugger=all",
        "preview --attach-debugger=program --attach-debugger=all --",
    );
}

#[test]
fn lists_are_split_only_where_flags_are_slices() {
    check(
        "up --target a,b --target c",
        "up --target=a,b --target=c --",
    );
    check(
        "up --policy-pack a,b --policy-pack c",
        "up --policy-pack=a --policy-pack=b --policy-pack=c --",
    );
    check(
        "config set-all --plaintext a=b,c",
        "config set-all --plaintext=a=b,c --",
    );
}

#[test]
fn flags_may_come_before_the_command() {
    check(
        "--non-interactive stack ls",
        "--non-interactive=true stack list --",
    );
    check(
        "--stack organization/p/s stack init",
        "stack --stack=organization/p/s new --",
    );
    check(
        "stack --stack s output --json",
        "stack --stack=s output --json=true --",
    );
    check("-C dir stack select s", "--cwd=dir stack select -- s");
    check("--unknown stack ls", "error: unknown flag: --unknown");
    check(
        "config --config-file f get k",
        "config --config-file=f get -- k",
    );
}

#[test]
fn local_flags_hide_persistent_ones() {
    check("whoami -v", "whoami --verbose=true --");
    check("stack ls -v 3", "--verbose=3 stack list --");
}

#[test]
fn names_and_aliases_lead_to_the_same_command() {
    for line in [
        "stack new x",
        "stack init x",
        "stack create x",
        "stack setup x",
    ] {
        check(line, "stack new -- x");
    }
    check("update", "up --");
    check("dn", "destroy --");
    check("state rm u", "state remove -- u");
    check("config rm k", "config remove -- k");
    check("completion bash", "gen-completion -- bash");
}

#[test]
fn mistakes_have_the_known_texts() {
    check("stack --nope", "error: unknown flag: --nope");
    check("stack -z", "error: unknown shorthand flag: 'z' in -z");
    check("up --stack", "error: flag needs an argument: --stack");
    check("up -s", "error: flag needs an argument: 's' in -s");
    check(
        "up --yes=maybe",
        "error: invalid argument \"maybe\" for \"-y, --yes\" flag: strconv.ParseBool: parsing \"maybe\": invalid syntax",
    );
    check(
        "up --parallel many",
        "error: invalid argument \"many\" for \"-p, --parallel\" flag: strconv.ParseInt: parsing \"many\": invalid syntax",
    );
    check("stack rename", "error: accepts 1 arg(s), received 0");
    check(
        "stack select a b",
        "error: accepts at most 1 arg(s), received 2",
    );
    check(
        "config set",
        "error: requires at least 1 arg(s), only received 0",
    );
    check(
        "up --target a --exclude b",
        "error: if any flags in the group [target exclude] are set none of the others can be; [exclude target] were all set",
    );
    check("up --event-log f", "error: unknown flag: --event-log");
}

#[test]
fn unknown_commands_are_answered_with_suggestions() {
    check(
        "stck",
        "error: unknown command \"stck\" for \"pulumi\"\n\nDid you mean this?\n\tpulumi stack\n\nRun 'pulumi --help' for usage.",
    );
    check(
        "apply",
        "error: unknown command \"apply\" for \"pulumi\"\n\nDid you mean this?\n\tpulumi up\n\nRun 'pulumi --help' for usage.",
    );
    check(
        "state frobnicate",
        "error: unknown command \"frobnicate\" for \"pulumi state\"\nRun 'pulumi state --help' for usage.",
    );
    check(
        "stack frobnicate",
        "error: unknown command \"frobnicate\" for \"pulumi stack\"\nRun 'pulumi stack --help' for usage.",
    );
    check(
        "config st a b",
        "error: unknown command \"st\" for \"pulumi config\"\n\nDid you mean this?\n\tpulumi config set\n\tpulumi config set-all\n\nRun 'pulumi config --help' for usage.",
    );
    check(
        "export",
        "error: unknown command \"export\" for \"pulumi\"\n\nDid you mean this?\n\tpulumi stack export\n\tpulumi import\n\nRun 'pulumi --help' for usage.",
    );
    check(
        "webhooks",
        "error: unknown command \"webhooks\" for \"pulumi\"\nRun 'pulumi --help' for usage.",
    );
}

#[test]
fn groups_without_an_action_show_their_help() {
    check("state", "help:state false");
    check("state --help", "help:state true");
    check("help", "help: true");
    check("help stack list", "help:stack list true");
    check("help stack --help", "help:help true");
    check("help topic:stack", "help -- topic:stack");
    check("help secrets", "help -- secrets");
    check("help stack ls", "help:stack list true");
    check("help nonsense", "help -- nonsense");
    check("stack tag -h", "help:stack tag true");
    check("", "help: false");
    check("--version", "version");
}

#[test]
fn variables_give_flags_their_values() {
    let set = [
        ("PULUMI_OPTION_STACK", "dev"),
        ("PULUMI_OPTION_TARGET", "a,\"b,c\""),
        ("PULUMI_OPTION_YES", "1"),
    ];
    let line = read_with("up", &set);
    let mut words: Vec<&str> = line.split(' ').collect();
    words.sort_unstable();
    assert_eq!(
        words,
        [
            "--",
            "--stack=dev",
            "--target=a",
            "--target=b,c",
            "--yes=true",
            "up"
        ]
    );
    assert_eq!(
        read_with("stack --stack prod", &set[..1]),
        "stack --stack=prod --"
    );
    assert_eq!(
        read_with("up --exclude x", &set[1..2]),
        "error: if any flags in the group [target exclude] are set none of the others can be; [exclude target] were all set"
    );
    assert_eq!(
        read_with("up", &[("PULUMI_SKIP_CONFIRMATIONS", "1")]),
        "up --yes=true --"
    );
    assert_eq!(
        read_with("up --event-log f", &[("PULUMI_DEBUG_COMMANDS", "true")]),
        "up --event-log=f --"
    );
}

#[test]
fn commands_that_are_not_built_take_any_words() {
    check(
        "deployment run --git-branch main",
        "deployment -- run --git-branch main",
    );
    check("deployment --help", "help:deployment true");
}

/// All commands with an action, with their names from the root.
fn commands(command: &clap::Command, above: &[String]) -> Vec<(Vec<String>, clap::Command)> {
    let mut found = Vec::new();
    for sub in command.get_subcommands() {
        let mut path = above.to_vec();
        path.push(sub.get_name().to_owned());
        found.extend(commands(sub, &path));
        if !super::scan::is_group(sub) {
            found.push((path, sub.clone()));
        }
    }
    found
}

#[test]
fn every_flag_of_every_command_has_a_variable() {
    let tree = command_tree();
    let gates = [("PULUMI_DEBUG_COMMANDS", "1"), ("PULUMI_EXPERIMENTAL", "1")];
    let mut count = 0;
    for (path, command) in commands(&tree, &[]) {
        let positionals = command
            .get_positionals()
            .filter(|arg| arg.is_required_set());
        let mut words = path.clone();
        words.extend(positionals.map(|_| "x".to_owned()));
        if path == [super::scan::HELP] {
            // Without words, or with those of a command, it shows a help text and has no use for flags.
            words.push("x".to_owned());
        }
        let levels = [&tree, &command];
        let of_gates = environment(&gates);
        let known = super::flags::known(&levels, &of_gates);
        // A command's own flags hide inherited flags with the same name.
        let is_hidden = |at: usize| {
            known[..at]
                .iter()
                .any(|flag| flag.name() == known[at].name())
        };
        for (at, flag) in known.iter().enumerate() {
            if is_hidden(at) {
                continue;
            }
            let value = match flag.takes() {
                super::flags::Takes::Bool => "true",
                super::flags::Takes::Int => "7",
                super::flags::Takes::Format => "json",
                super::flags::Takes::Text => "x",
            };
            let name = super::flags::variable(flag.name());
            let mut variables = gates.to_vec();
            variables.push((&name, value));
            let path = path.join(" ");
            let found = match scan(&tree, &environment(&variables), &words) {
                Ok(Found::Command(scanned)) => scanned,
                other => panic!("{path} with {name}: {other:?}"),
            };
            assert!(
                found.user_flags.contains_key(flag.name()),
                "{path} with {name}"
            );
            let word = format!("--{}={value}", flag.name());
            assert!(found.words.contains(&word), "{path}: {:?}", found.words);
            // The command line takes precedence.
            if value == "true" {
                let mut off = words.clone();
                off.push(format!("--{}=false", flag.name()));
                let Ok(Found::Command(found)) = scan(&tree, &environment(&variables), &off) else {
                    panic!("{path} {off:?}");
                };
                assert_eq!(found.user_flags[flag.name()], "false", "{path} {off:?}");
            }
            count += 1;
        }
    }
    assert!(count > 1000, "{count} flags were tried");
}

#[test]
fn commands_for_debugging_are_shown_to_who_wants_to_see_them() {
    let shown = |variables: &[(&str, &str)], path: &[&str]| {
        let path: Vec<String> = path.iter().map(ToString::to_string).collect();
        let environment = environment(variables);
        let manner = Manner::of(&environment, Length::Long);
        super::help::text(&super::shown_tree(&environment), &path, &manner)
    };
    let debugging = [("PULUMI_DEBUG_COMMANDS", "true")];
    for command in ["view-trace", "convert-trace", "replay-events"] {
        assert!(!shown(&[], &[]).contains(command), "{command}");
        assert!(shown(&debugging, &[]).contains(command), "{command}");
    }
    for flag in ["--event-log", "--tracing-header"] {
        assert!(!shown(&[], &["up"]).contains(flag), "{flag}");
        assert!(shown(&debugging, &["up"]).contains(flag), "{flag}");
    }
}

#[test]
fn the_short_help_has_the_flags_that_are_used_often_and_the_reference_has_one_help() {
    let help = |length, program: &str, path: &[&str]| {
        let mut environment = environment(&[]);
        environment.program = program.into();
        let path: Vec<String> = path.iter().map(ToString::to_string).collect();
        let manner = Manner::of(&environment, length);
        super::help::text(&super::shown_tree(&environment), &path, &manner)
    };
    let short = help(Length::Short, "plumb", &["up"]);
    assert!(short.lines().count() < 30, "{short}");
    for text in ["--target", "--yes", "`plumb up --help` says more, and has "] {
        assert!(short.contains(text), "{short}");
    }
    for text in ["--event-log", "Global Flags", "Aliases"] {
        assert!(!short.contains(text), "{short}");
    }
    let long = help(Length::Long, "plumb", &["up"]);
    assert!(long.contains("Global Flags") && long.contains("--suppress-outputs"));
    let names = |length| help(length, "pulumi", &["up"]);
    assert_eq!(names(Length::Short), names(Length::Long));
    // A command with few flags has all of them.
    let few = help(Length::Short, "plumb", &["whoami"]);
    assert!(few.contains("--verbose") && few.contains("`plumb whoami --help` says more.\n"));
    assert!(help(Length::Short, "plumb", &[]).contains("\nBackends:\n"));
}
