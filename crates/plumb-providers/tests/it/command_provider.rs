//! Behaviour of `command` that the recordings do not cover, with real processes.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use plumb_resource::ResourceId;
use plumb_resource::provider::{ProviderError, ResourceStatus};
use plumb_value::{PropertyMap, Value};

use crate::support::{
    Fixture, check, create, delete, invoke, map, preview, start, texts, update, urn,
};

const COMMAND: &str = "command:local:Command";

async fn run_in(root: &Path, inputs: PropertyMap) -> Result<PropertyMap, ProviderError> {
    let fixture = start("command", root, None);
    let response = fixture
        .provider
        .create(create(&urn(COMMAND, "c"), inputs))
        .await?;
    Ok(response.outputs.as_ref().clone())
}

async fn run(inputs: PropertyMap) -> Result<PropertyMap, ProviderError> {
    let root = tempfile::tempdir().unwrap();
    run_in(root.path(), inputs).await
}

fn script(text: &str) -> (&'static str, Value) {
    ("create", Value::from(text))
}

fn stdout(outputs: &PropertyMap) -> String {
    outputs
        .get("stdout")
        .unwrap()
        .without_secrets()
        .as_str()
        .unwrap()
        .to_owned()
}

#[tokio::test]
async fn one_line_end_is_cut_off() {
    let outputs = run(map([script("printf 'a\\nb\\n\\n'; echo >&2")]))
        .await
        .unwrap();
    assert_eq!(outputs.get("stdout"), Some(&Value::from("a\nb\n")));
    assert_eq!(outputs.get("stderr"), Some(&Value::from("")));
}

#[tokio::test]
async fn a_failure_tells_exit_code_script_and_output() {
    let error = run(map([script("echo out; echo \"err\" >&2; exit 3")]))
        .await
        .unwrap_err();
    assert_eq!(error.status, ResourceStatus::Unknown);
    let mut lines: Vec<_> = error.message.lines().collect();
    // The order of the two streams varies.
    lines[1..].sort_unstable();
    let first = "exit status 3: running \"echo out; echo \\\"err\\\" >&2; exit 3\":";
    assert_eq!(lines, [first, "err", "out"]);
    let error = run(map([script("kill -9 $$")])).await.unwrap_err();
    assert_eq!(error.message, "signal: killed: running \"kill -9 $$\":\n");
}

#[tokio::test]
async fn what_cannot_start_is_told() {
    let error = run(map([script("true"), ("dir", Value::from("nowhere"))]))
        .await
        .unwrap_err();
    assert_eq!(
        error.message,
        "chdir nowhere: no such file or directory: running \"true\":\n"
    );
    let interpreter = texts(&["no-such-interpreter", "-c"]);
    let error = run(map([script("true"), ("interpreter", interpreter)]))
        .await
        .unwrap_err();
    assert!(
        error.message.starts_with("no-such-interpreter: "),
        "{}",
        error.message
    );
    assert!(
        error.message.ends_with(": running \"true\":\n"),
        "{}",
        error.message
    );
}

#[tokio::test]
async fn interpreter_environment_directory_and_input_are_used() {
    let root = tempfile::tempdir().unwrap();
    fs::create_dir(root.path().join("sub")).unwrap();
    let inputs = map([
        script("pwd; echo $A; cat"),
        ("interpreter", texts(&["/bin/sh", "-e", "-c"])),
        ("dir", Value::from("sub")),
        ("environment", Value::from(map([("A", Value::from("b"))]))),
        ("stdin", Value::from("in")),
    ]);
    let outputs = run_in(root.path(), inputs).await.unwrap();
    let sub = root.path().canonicalize().unwrap().join("sub");
    assert_eq!(stdout(&outputs), format!("{}\nb\nin", sub.display()));
}

#[tokio::test]
async fn input_that_is_not_read_is_no_failure() {
    let inputs = map([script("true"), ("stdin", Value::from("x".repeat(1 << 20)))]);
    assert_eq!(stdout(&run(inputs).await.unwrap()), "");
}

#[tokio::test]
async fn much_output_on_both_streams_does_not_block() {
    let text = "i=0; while [ $i -lt 3000 ]; do echo 0123456789012345678901234567890123456789; echo e >&2; i=$((i+1)); done";
    let outputs = run(map([script(text), ("logging", Value::from("none"))]))
        .await
        .unwrap();
    assert_eq!(stdout(&outputs).lines().count(), 3000);
}

async fn logged(logging: Option<&str>) -> Vec<String> {
    let root = tempfile::tempdir().unwrap();
    let Fixture { provider, log } = start("command", root.path(), None);
    let mut inputs = map([script("echo out; echo err >&2; printf last")]);
    inputs.extend(logging.map(|logging| ("logging".into(), Value::from(logging))));
    provider
        .create(create(&urn(COMMAND, "c"), inputs))
        .await
        .unwrap();
    let mut lines: Vec<_> = log
        .take()
        .into_iter()
        .map(|(name, line)| format!("{name} {line}"))
        .collect();
    lines.sort();
    lines
}

#[tokio::test]
async fn logging_picks_streams() {
    assert_eq!(logged(None).await, ["c err", "c last", "c out"]);
    assert_eq!(
        logged(Some("stdoutAndStderr")).await,
        ["c err", "c last", "c out"]
    );
    assert_eq!(logged(Some("stdout")).await, ["c last", "c out"]);
    assert_eq!(logged(Some("stderr")).await, ["c err"]);
    assert_eq!(logged(Some("none")).await, [] as [&str; 0]);
}

async fn updated(old: PropertyMap, new: PropertyMap) -> PropertyMap {
    let root = tempfile::tempdir().unwrap();
    let provider = start("command", root.path(), None).provider;
    let request = update(&urn(COMMAND, "c"), map([]), old, new);
    provider
        .update(request)
        .await
        .unwrap()
        .outputs
        .as_ref()
        .clone()
}

#[tokio::test]
async fn updates_see_what_was_printed_before() {
    let echo = "echo $PULUMI_COMMAND_STDOUT/$PULUMI_COMMAND_STDERR";
    let old = map([("stdout", Value::from("o")), ("stderr", Value::from("e"))]);
    assert_eq!(
        stdout(
            &updated(
                old.clone(),
                map([("update", Value::from(echo)), script("false")])
            )
            .await
        ),
        "o/e"
    );
    assert_eq!(
        stdout(&updated(old.clone(), map([script(echo)])).await),
        "o/e"
    );
    let off = ("addPreviousOutputInEnv", Value::Bool(false));
    assert_eq!(
        stdout(&updated(old.clone(), map([script(echo), off])).await),
        "/"
    );
    let nothing = updated(old, map([("delete", Value::from("true"))])).await;
    assert_eq!(
        (stdout(&nothing), nothing.get("stderr")),
        ("o".to_owned(), Some(&Value::from("e")))
    );
}

#[tokio::test]
async fn deletion_runs_the_script_in_state() {
    let root = tempfile::tempdir().unwrap();
    let provider = start("command", root.path(), None).provider;
    let state = map([
        (
            "delete",
            Value::from("echo $PULUMI_COMMAND_STDOUT > gone; exit $CODE"),
        ),
        ("stdout", Value::secret(Value::from("o"))),
        (
            "environment",
            Value::from(map([("CODE", Value::from("0"))])),
        ),
    ]);
    provider
        .delete(delete(&urn(COMMAND, "c"), state.clone()))
        .await
        .unwrap();
    assert_eq!(fs::read_to_string(root.path().join("gone")).unwrap(), "o\n");
    let failing = state.with("environment", map([("CODE", Value::from("4"))]));
    let error = provider
        .delete(delete(&urn(COMMAND, "c"), failing))
        .await
        .unwrap_err();
    assert!(
        error.message.starts_with("exit status 4: running "),
        "{}",
        error.message
    );
    provider
        .delete(delete(&urn(COMMAND, "c"), map([])))
        .await
        .unwrap();
}

#[tokio::test]
async fn nothing_to_run_prints_nothing() {
    let outputs = run(map([("update", Value::from("true"))])).await.unwrap();
    let expected = map([
        ("stderr", Value::from("")),
        ("stdout", Value::from("")),
        ("update", Value::from("true")),
    ]);
    assert_eq!(outputs, expected);
}

#[tokio::test]
async fn one_secret_input_makes_all_results_secret() {
    let environment = map([("A", Value::secret(Value::from("s")))]);
    let outputs = run(map([
        script("echo $A"),
        ("environment", Value::from(environment)),
    ]))
    .await
    .unwrap();
    assert_eq!(
        outputs.get("stdout"),
        Some(&Value::secret(Value::from("s")))
    );
    assert!(outputs.get("stderr").unwrap().is_secret());
    assert!(!outputs.get("create").unwrap().is_secret());
}

#[tokio::test]
async fn a_secret_script_is_not_shown() {
    let script = Value::secret(Value::from("exit 2 # hunter2"));
    let error = run(map([("create", script)])).await.unwrap_err();
    assert_eq!(error.message, "exit status 2: running [secret]:\n");
}

#[tokio::test]
async fn previews_run_nothing() {
    let root = tempfile::tempdir().unwrap();
    let provider = start("command", root.path(), None).provider;
    let response = provider
        .create(preview(&urn(COMMAND, "c"), map([script("touch made")])))
        .await
        .unwrap();
    assert_eq!(
        (response.id, response.outputs.get("stdout")),
        (ResourceId::Unknown, Some(&Value::UNKNOWN))
    );
    assert!(!root.path().join("made").exists());
}

#[tokio::test]
async fn files_are_found_from_the_directory_of_the_script() {
    let root = tempfile::tempdir().unwrap();
    let inputs = map([
        script("mkdir -p d; echo 1 > a.txt; echo 2 > d/b.txt"),
        ("assetPaths", texts(&["**.txt", "!a.*"])),
        ("archivePaths", texts(&["none"])),
    ]);
    let outputs = run_in(root.path(), inputs).await.unwrap();
    let assets = outputs.get("assets").and_then(Value::as_object).unwrap();
    assert_eq!(
        assets
            .keys()
            .map(plumb_value::PropertyKey::as_str)
            .collect::<Vec<_>>(),
        ["d/b.txt"]
    );
    let Some(Value::Archive(archive)) = outputs.get("archive") else {
        panic!()
    };
    assert_eq!(archive.hash, plumb_value::EMPTY_ARCHIVE_HASH);
    let error = run(map([script("true"), ("assetPaths", texts(&["[a"]))]))
        .await
        .unwrap_err();
    assert_eq!(error.message, "`[a` has an unclosed `[`");
}

/// Runs a script with a child process, ends the script with `end`, and asserts that the child ends too.
async fn ended_by(
    end: impl AsyncFnOnce(&Fixture, tokio::task::JoinHandle<Result<(), ProviderError>>),
) {
    let root = tempfile::tempdir().unwrap();
    let fixture = start("command", root.path(), None);
    let provider = fixture.provider.clone();
    let inputs = map([script(
        "(sleep 30; true) & echo $! > child; wait; echo done > done",
    )]);
    let running = tokio::spawn(async move {
        provider
            .create(create(&urn(COMMAND, "c"), inputs))
            .await
            .map(|_| ())
    });
    let child = root.path().join("child");
    let deadline = Instant::now() + Duration::from_secs(10);
    while !fs::read_to_string(&child).is_ok_and(|text| text.ends_with('\n')) {
        assert!(Instant::now() < deadline, "the script did not start");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    end(&fixture, running).await;
    let child = fs::read_to_string(&child).unwrap();
    let status = Path::new("/proc").join(child.trim()).join("status");
    let alive = || fs::read_to_string(&status).is_ok_and(|text| !text.contains("State:\tZ"));
    while cfg!(target_os = "linux") && alive() {
        assert!(Instant::now() < deadline, "the child lives on");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert!(!root.path().join("done").exists());
}

#[tokio::test]
async fn cancelling_kills_the_script_and_its_children() {
    ended_by(async |fixture, running| {
        fixture.provider.cancel().await;
        let error = running.await.unwrap().unwrap_err();
        assert!(
            error.message.starts_with("signal: killed: running "),
            "{}",
            error.message
        );
    })
    .await;
}

#[tokio::test]
async fn a_script_is_killed_at_its_time_limit() {
    let root = tempfile::tempdir().unwrap();
    let provider = start("command", root.path(), None).provider;
    let mut request = create(&urn(COMMAND, "c"), map([script("echo begun; sleep 30")]));
    request.timeout = 0.5;
    let error = provider.create(request).await.unwrap_err();
    let expected = "time limit of 500ms exceeded: running \"echo begun; sleep 30\":\n";
    assert!(error.message.starts_with(expected), "{}", error.message);
}

#[tokio::test]
async fn dropping_the_call_kills_the_script_and_its_children() {
    ended_by(async |_, running| {
        running.abort();
        assert!(running.await.unwrap_err().is_cancelled());
    })
    .await;
}

#[tokio::test]
async fn the_environment_given_at_the_start_is_the_only_one() {
    let root = tempfile::tempdir().unwrap();
    let log = std::sync::Arc::new(crate::support::Log::default());
    let context = plumb_providers::BuiltinContext {
        working_dir: root.path().to_owned(),
        environment: Some([("ONLY".into(), "this".into())].into()),
        log,
        stacks: None,
    };
    let provider = plumb_providers::factory("command").unwrap().start(&context);
    let inputs = map([script("echo $ONLY/$CARGO_MANIFEST_DIR")]);
    let outputs = provider
        .create(create(&urn(COMMAND, "c"), inputs))
        .await
        .unwrap()
        .outputs;
    assert_eq!(outputs.get("stdout"), Some(&Value::from("this/")));
}

#[tokio::test]
async fn functions_report_wrong_arguments_and_failures() {
    let root = tempfile::tempdir().unwrap();
    let provider = start("command", root.path(), None).provider;
    let response = provider
        .invoke(invoke("command:local:run", map([])))
        .await
        .unwrap();
    assert_eq!(
        response.failures[0].reason,
        "missing required property 'command'"
    );
    let args = map([("command", Value::from("exit 1"))]);
    let error = provider
        .invoke(invoke("command:local:run", args))
        .await
        .unwrap_err();
    assert_eq!(error.message, "exit status 1: running \"exit 1\":\n");
    let args = map([("command", Value::UNKNOWN)]);
    let result = provider
        .invoke(invoke("command:local:run", args))
        .await
        .unwrap()
        .result;
    assert_eq!(result.get("stdout"), Some(&Value::UNKNOWN));
}

#[tokio::test]
async fn remote_commands_point_to_the_plugin() {
    let root = tempfile::tempdir().unwrap();
    let provider = start("command", root.path(), None).provider;
    let error = provider
        .check(check(&urn("command:remote:CopyToRemote", "c"), map([])))
        .await
        .unwrap_err();
    let expected = "`command:remote:CopyToRemote` is not built in; install the plugin `command` to use it: \
                    `plumb plugin install resource command`";
    assert_eq!(error.message, expected);
}
