//! Programs against the published SDK.

use std::path::Path;
use std::time::{Duration, Instant};

use plumb_plugin::language::RunOutcome;
use plumb_plugin::{LanguageRuntime, OutputStream};
use plumb_proto::pulumirpc::LogSeverity;
use tokio_util::sync::CancellationToken;

use crate::support::{World, sdk};

const VERSIONS: [&str; 2] = ["3.259", "3.272"];

const RESOURCES: &str = r#"
import os, sys
import pulumi

class Component(pulumi.ComponentResource):
    def __init__(self, name):
        super().__init__("my:index:Component", name)
        self.register_outputs({})

class Thing(pulumi.CustomResource):
    def __init__(self, name, props, opts=None):
        super().__init__("my:index:Thing", name, props, opts)

config = pulumi.Config()
component = Component("comp")
Thing("thing", {"colour": config.require("colour")}, pulumi.ResourceOptions(parent=component))
print("hello from", pulumi.get_stack(), sys.argv[1:])
print("to stderr", file=sys.stderr)
pulumi.export("project", pulumi.get_project())
pulumi.export("organization", pulumi.get_organization())
pulumi.export("secret", pulumi.Config().require_secret("colour"))
pulumi.export("dry", pulumi.runtime.is_dry_run())
pulumi.export("cwd", os.getcwd())
"#;

async fn run(world: &World, version: &str) -> Option<RunOutcome> {
    let request = world.run_request(&sdk(version)?);
    Some(
        world
            .host()
            .run(request, CancellationToken::new())
            .await
            .unwrap(),
    )
}

#[tokio::test]
async fn registrations_and_outputs_arrive() {
    for version in VERSIONS {
        let world = World::new().await;
        world.file("__main__.py", RESOURCES);
        let Some(virtualenv) = sdk(version) else {
            continue;
        };
        let mut request = world.run_request(&virtualenv);
        request.args = vec!["--flag".to_owned(), "value".to_owned()];
        let outcome = world
            .host()
            .run(request, CancellationToken::new())
            .await
            .unwrap();
        assert_eq!(
            outcome,
            RunOutcome::Succeeded,
            "{:?}",
            world.engine.errors()
        );
        let registrations = world.engine.registrations();
        assert_eq!(
            registrations,
            [
                "pulumi:pulumi:Stack proj-dev",
                "my:index:Component comp",
                "my:index:Thing thing"
            ]
        );
        assert_eq!(
            world.printed(OutputStream::Stdout),
            ["hello from dev ['--flag', 'value']"]
        );
        assert_eq!(world.printed(OutputStream::Stderr), ["to stderr"]);
        let heard = world.engine.heard.lock().unwrap();
        let (_, outputs) = heard
            .outputs
            .iter()
            .find(|(urn, _)| urn.contains("pulumi:pulumi:Stack"))
            .unwrap();
        let text = |key: &str| match &outputs.fields[key].kind {
            Some(prost_types::value::Kind::StringValue(text)) => text.clone(),
            other => format!("{other:?}"),
        };
        assert_eq!(
            (text("project"), text("organization")),
            ("proj".to_owned(), "org".to_owned())
        );
        assert!(text("dry").contains("false"), "{}", text("dry"));
        assert!(text("cwd").ends_with("/project"), "{}", text("cwd"));
        assert!(matches!(
            outputs.fields["secret"].kind,
            Some(prost_types::value::Kind::StructValue(_))
        ));
    }
}

/// The SDK waits for each debug message, several times per resource.
#[tokio::test]
async fn messages_for_developers_are_sent_only_if_somebody_hears_them() {
    for version in VERSIONS {
        for debug_messages in [false, true] {
            let mut world = World::new().await;
            world.debug_messages = debug_messages;
            world.file(
                "__main__.py",
                "import pulumi\npulumi.log.debug('whispered')\npulumi.log.info('said')\n",
            );
            let Some(outcome) = run(&world, version).await else {
                continue;
            };
            assert_eq!(outcome, RunOutcome::Succeeded);
            assert_eq!(world.engine.messages(LogSeverity::Info), ["said"]);
            let whispered = world.engine.messages(LogSeverity::Debug);
            assert_eq!(whispered.contains(&"whispered".to_owned()), debug_messages);
            assert_eq!(whispered.is_empty(), !debug_messages);
        }
    }
}

#[tokio::test]
async fn a_file_may_be_the_entry_point_and_import_its_neighbours() {
    let world = World::new().await;
    let Some(virtualenv) = sdk("3.259") else {
        return;
    };
    world.file(
        "infra/main.py",
        "import helper\nprint(helper.WORD, __name__)\n",
    );
    world.file("infra/helper.py", "WORD = 'helped'\n");
    let mut request = world.run_request(&virtualenv);
    request.info.entry_point = "infra/main.py".to_owned();
    let outcome = world
        .host()
        .run(request, CancellationToken::new())
        .await
        .unwrap();
    assert_eq!(
        (outcome, world.printed(OutputStream::Stdout)),
        (RunOutcome::Succeeded, vec!["helped __main__".to_owned()])
    );
}

#[tokio::test]
async fn an_exception_is_reported_with_the_frames_of_the_program() {
    for version in VERSIONS {
        let world = World::new().await;
        world.file(
            "__main__.py",
            "def inner():\n    raise ValueError('broken')\n\ninner()\n",
        );
        let Some(outcome) = run(&world, version).await else {
            continue;
        };
        assert_eq!(outcome, RunOutcome::Bailed);
        let errors = world.engine.errors();
        let start = "Program failed with an unhandled exception:\nTraceback (most recent call last):\n  File \"";
        assert!(errors[0].starts_with(start), "{errors:?}");
        assert!(
            errors[0].contains("in inner") && errors[0].contains("ValueError: broken"),
            "{errors:?}"
        );
        assert!(
            !errors[0].contains("runpy") && !errors[0].contains("pulumi-language-python-exec"),
            "{errors:?}"
        );
    }
}

#[tokio::test]
async fn an_exception_in_an_apply_is_reported() {
    let world = World::new().await;
    world.file(
        "__main__.py",
        "import pulumi\npulumi.Output.from_input(1).apply(lambda x: 1 / 0)\n",
    );
    let Some(outcome) = run(&world, "3.259").await else {
        return;
    };
    assert_eq!(outcome, RunOutcome::Bailed);
    assert!(
        world.engine.errors()[0].contains("ZeroDivisionError"),
        "{:?}",
        world.engine.errors()
    );
}

#[tokio::test]
async fn a_run_error_is_reported_without_a_stack() {
    let world = World::new().await;
    world.file(
        "__main__.py",
        "import pulumi\nraise pulumi.RunError('not today')\n",
    );
    let Some(outcome) = run(&world, "3.259").await else {
        return;
    };
    assert_eq!(
        outcome,
        RunOutcome::Failed("program exited with non-zero exit code: 1".to_owned())
    );
    assert_eq!(world.engine.errors(), ["not today"]);
}

#[tokio::test]
async fn exit_codes_of_programs_count() {
    let world = World::new().await;
    world.file("__main__.py", "import os\nos._exit(7)\n");
    let Some(outcome) = run(&world, "3.259").await else {
        return;
    };
    assert_eq!(
        outcome,
        RunOutcome::Failed("program exited with non-zero exit code: 7".to_owned())
    );
}

#[tokio::test]
async fn a_missing_program_is_named() {
    let world = World::new().await;
    let Some(outcome) = run(&world, "3.259").await else {
        return;
    };
    assert_eq!(outcome, RunOutcome::Bailed);
    assert!(
        world.engine.errors()[0].starts_with("unable to find main python program"),
        "{:?}",
        world.engine.errors()
    );
}

#[tokio::test]
async fn a_program_that_is_cancelled_ends_with_its_children() {
    let world = World::new().await;
    let Some(virtualenv) = sdk("3.259") else {
        return;
    };
    let program = "import subprocess, sys, time\n\
                   child = subprocess.Popen(['sleep', '60'])\n\
                   print(child.pid)\n\
                   time.sleep(60)\n";
    world.file("__main__.py", program);
    let cancel = CancellationToken::new();
    let host = world.host();
    let start = Instant::now();
    let stop = async {
        while world.printed(OutputStream::Stdout).is_empty() {
            assert!(
                start.elapsed() < Duration::from_secs(30),
                "the program does not start"
            );
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        cancel.cancel();
    };
    let (outcome, ()) = tokio::join!(
        host.run(world.run_request(&virtualenv), cancel.clone()),
        stop
    );
    assert_eq!(outcome.unwrap(), RunOutcome::Bailed);
    let child = &world.printed(OutputStream::Stdout)[0];
    let state = std::fs::read_to_string(format!("/proc/{child}/stat")).unwrap_or_default();
    assert!(
        state.is_empty() || state.contains(" Z "),
        "the child survives: {state}"
    );
}

#[tokio::test]
async fn a_missing_sdk_is_explained() {
    let world = World::new().await;
    let mut request = world.run_request(std::path::Path::new("unused"));
    request.info.options.clear();
    world.file("__main__.py", "import pulumi\n");
    let mut options_world = world;
    // An interpreter without the SDK: user and environment packages are disabled.
    let python = options_world.file("python", "#!/bin/sh\nexec python3 -I -S \"$@\"\n");
    std::fs::set_permissions(&python, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    options_world
        .environment
        .insert("PULUMI_PYTHON_CMD".into(), python.into());
    let outcome = options_world
        .host()
        .run(request, CancellationToken::new())
        .await
        .unwrap();
    assert_eq!(
        outcome,
        RunOutcome::Failed("program exited with non-zero exit code: 1".to_owned())
    );
    let stderr = options_world.printed(OutputStream::Stderr);
    assert!(
        stderr
            .iter()
            .any(|line| line.starts_with("It looks like the Pulumi SDK has not been installed.")),
        "{stderr:?}"
    );
}

#[tokio::test]
async fn missing_interpreters_and_environments_are_explained() {
    let mut world = World::new().await;
    world.environment.insert("PATH".into(), "/nowhere".into());
    world
        .environment
        .remove(std::ffi::OsStr::new("PULUMI_PYTHON_CMD"));
    let mut request = world.run_request(std::path::Path::new("venv"));
    let error = world
        .host()
        .run(request.clone(), CancellationToken::new())
        .await
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("venv does not exist; run `plumb install`"),
        "{error}"
    );
    request.info.options.clear();
    let error = world
        .host()
        .run(request.clone(), CancellationToken::new())
        .await
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("could not find a Python interpreter: looked for python3 and python"),
        "{error}"
    );
    request
        .info
        .options
        .insert("toolchain".to_owned(), "poetry".into());
    let error = world
        .host()
        .run(request, CancellationToken::new())
        .await
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("could not find `poetry` on the PATH"),
        "{error}"
    );
}

/// SDKs before version 3 are installed but unusable, which must not be reported as a missing SDK.
#[tokio::test]
async fn an_sdk_that_is_too_old_is_named_with_what_is_needed() {
    let world = World::new().await;
    world.file("__main__.py", "import pulumi\n");
    let Some(outcome) = run(&world, "2.25").await else {
        return;
    };
    let failed = "program exited with non-zero exit code: 1".to_owned();
    assert_eq!(outcome, RunOutcome::Failed(failed));
    let said = world.printed(OutputStream::Stderr).join("\n");
    assert!(said.contains("is installed in version 2.25.2"), "{said}");
    assert!(said.contains("Version 3.0.0 or newer is needed"), "{said}");
    assert!(!said.contains("has not been installed"), "{said}");
}

#[tokio::test]
async fn types_are_checked_before_the_program_runs() {
    for (name, wanted) in [
        ("mypy", "__main__.py:1: error: Incompatible types"),
        (
            "pyright",
            "__main__.py:1:13 - error: Type \"Literal['large']\" is not assignable",
        ),
    ] {
        if let Some(virtualenv) = sdk(&format!("3.259-{name}")) {
            check_types(name, wanted, &virtualenv).await;
        }
    }
}

async fn check_types(name: &str, wanted: &str, virtualenv: &Path) {
    let world = World::new().await;
    let mut request = world.run_request(virtualenv);
    request
        .info
        .options
        .insert("typechecker".into(), name.into());
    world.file("__main__.py", "size: int = 'large'\nprint('has run')\n");
    let cancel = CancellationToken::new;
    let refused = world.host().run(request.clone(), cancel()).await;
    let error = refused.unwrap_err().to_string();
    let summary = format!("the type checker {name} found problems");
    assert!(error.contains(&summary), "{error}");
    assert!(error.contains(wanted), "{error}");
    let said = world.printed(OutputStream::Stdout);
    assert!(!said.contains(&"has run".to_owned()), "{said:?}");

    world.file("__main__.py", "size: int = 1\nprint('has run')\n");
    let outcome = world.host().run(request, cancel()).await.unwrap();
    assert_eq!(outcome, RunOutcome::Succeeded);
    let said = world.printed(OutputStream::Stdout);
    assert!(said.contains(&"has run".to_owned()), "{said:?}");
}

#[tokio::test]
async fn a_type_checker_that_is_not_installed_is_named() {
    let Some(virtualenv) = sdk("3.259") else {
        return;
    };
    let world = World::new().await;
    let mut request = world.run_request(&virtualenv);
    request
        .info
        .options
        .insert("typechecker".into(), "mypy".into());
    world.file("__main__.py", "");
    let refused = world.host().run(request, CancellationToken::new()).await;
    let error = refused.unwrap_err().to_string();
    let wanted = "The typechecker option is set to mypy, but mypy is not installed. Please add an entry for mypy to \
                  requirements.txt";
    assert!(error.contains(wanted), "{error}");
}
