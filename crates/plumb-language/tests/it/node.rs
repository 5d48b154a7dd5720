//! Programs in JavaScript and TypeScript against the published SDK.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use plumb_language::NodeHost;
use plumb_plugin::language::{InstallRequest, RunOutcome, RunRequest};
use plumb_plugin::{LanguageRuntime, OutputStream};
use plumb_proto::pulumirpc::LogSeverity;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::support::{World, repository};

const VERSIONS: [&str; 2] = ["3.248.0", "3.270.0"];

/// Folder of the SDK; `None` if it is not set up.
fn sdk(version: &str) -> Option<PathBuf> {
    let directory = repository().join(format!(".cache/node/pulumi-{version}"));
    if !directory.join(".complete").exists() {
        eprintln!(
            "SKIPPED: {} is missing; run tests/setup-node.sh",
            directory.display()
        );
        return None;
    }
    Some(directory)
}

fn host(world: &World) -> NodeHost {
    NodeHost::for_node(world.options())
}

/// A project with the SDK, and the matching interpreter.
async fn project(version: &str) -> Option<World> {
    let sdk = sdk(version)?;
    let mut world = World::new().await;
    let modules = world.root.path().join("project/node_modules");
    std::os::unix::fs::symlink(sdk.join("node_modules"), modules).unwrap();
    world.search_first(&sdk.join("bin"));
    Some(world)
}

fn request(world: &World, options: serde_json::Value) -> RunRequest {
    let info = world.info(options);
    RunRequest {
        info,
        ..world.run_request(Path::new("unused"))
    }
}

async fn run(world: &World, options: serde_json::Value) -> RunOutcome {
    let request = request(world, options);
    host(world)
        .run(request, CancellationToken::new())
        .await
        .unwrap()
}

const PROGRAM: &str = r#"
const pulumi = require("@pulumi/pulumi");

class Component extends pulumi.ComponentResource {
    constructor(name) {
        super("my:index:Component", name);
        this.registerOutputs({});
    }
}
const config = new pulumi.Config();
const parent = new Component("comp");
new pulumi.CustomResource("my:index:Thing", "thing", { colour: config.require("colour") }, { parent });
console.log("hello from", pulumi.getStack(), process.argv.slice(2).join());
console.error("to stderr");
exports.project = pulumi.getProject();
exports.organization = pulumi.getOrganization();
exports.secret = config.requireSecret("colour");
exports.dry = pulumi.runtime.isDryRun();
exports.cwd = process.cwd();
"#;

#[tokio::test]
async fn registrations_and_outputs_arrive() {
    for version in VERSIONS {
        let Some(mut world) = project(version).await else {
            continue;
        };
        // Variables of an outer run must be ignored.
        for name in ["PULUMI_NODEJS_DRY_RUN", "PULUMI_NODEJS_STACK"] {
            world.environment.insert(name.into(), "true".into());
        }
        world.file("index.js", PROGRAM);
        let mut request = request(&world, json!({}));
        request.args = vec!["--flag".to_owned(), "value".to_owned()];
        let outcome = host(&world)
            .run(request, CancellationToken::new())
            .await
            .unwrap();
        assert_eq!(
            outcome,
            RunOutcome::Succeeded,
            "{:?}",
            world.engine.errors()
        );
        assert_eq!(
            world.engine.registrations(),
            [
                "pulumi:pulumi:Stack proj-dev",
                "my:index:Component comp",
                "my:index:Thing thing"
            ]
        );
        assert_eq!(
            world.printed(OutputStream::Stdout),
            ["hello from dev --flag,value"]
        );
        assert!(
            world
                .printed(OutputStream::Stderr)
                .contains(&"to stderr".to_owned())
        );
        let outputs = world.engine.stack_outputs();
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
        let secret = &outputs.fields["secret"].kind;
        assert!(
            matches!(secret, Some(prost_types::value::Kind::StructValue(_))),
            "{secret:?}"
        );
    }
}

#[tokio::test]
async fn typescript_is_compiled_and_checked() {
    for version in VERSIONS {
        let Some(world) = project(version).await else {
            continue;
        };
        world.file("package.json", r#"{"name": "prog", "main": "index.ts"}"#);
        world.file(
            "index.ts",
            "import * as pulumi from \"@pulumi/pulumi\";\nconst word: string = pulumi.getStack();\nconsole.log(word);\n",
        );
        assert_eq!(
            run(&world, json!({})).await,
            RunOutcome::Succeeded,
            "{:?}",
            world.engine.errors()
        );
        assert_eq!(world.printed(OutputStream::Stdout), ["dev"]);
        world.file("index.ts", "const word: string = 1;\nexport = {word};\n");
        assert_eq!(run(&world, json!({})).await, RunOutcome::Bailed);
        let errors = world.engine.errors();
        assert!(
            errors[0].contains("Type 'number' is not assignable to type 'string'"),
            "{errors:?}"
        );
    }
}

#[tokio::test]
async fn options_reach_the_interpreter_and_the_compiler() {
    let Some(world) = project("3.248.0").await else {
        return;
    };
    world.file(
        "index.js",
        "console.log(process.execArgv.slice(2).join(' '), process.env.PULUMI_NODEJS_TYPESCRIPT);",
    );
    let options = json!({"nodeargs": "--title='a b' --no-deprecation", "typescript": false});
    assert_eq!(run(&world, options).await, RunOutcome::Succeeded);
    assert_eq!(
        world.printed(OutputStream::Stdout),
        ["--title=a b --no-deprecation undefined"]
    );
    assert_eq!(
        run(&world, json!({"tsconfig": "absent.json"})).await,
        RunOutcome::Bailed
    );
    let errors = world.engine.errors();
    assert!(
        errors[0].contains("tsconfig path was set to absent.json but the file was not found"),
        "{errors:?}"
    );
}

/// Node.js does not end on these errors when it prints them in colour, which the SDK enables.
#[tokio::test]
async fn an_error_with_frames_of_the_sdk_ends_the_program_at_once() {
    for version in VERSIONS {
        let Some(world) = project(version).await else {
            continue;
        };
        world.file(
            "index.js",
            "require('@pulumi/pulumi').output(1).apply(() => { throw new Error('broken') });",
        );
        let start = Instant::now();
        assert_eq!(run(&world, json!({})).await, RunOutcome::Bailed);
        assert!(
            start.elapsed() < Duration::from_secs(20),
            "{:?}",
            start.elapsed()
        );
        let errors = world.engine.errors();
        assert!(
            errors[0].contains("Error: broken") && errors[0].contains("index.js:1:"),
            "{errors:?}"
        );
    }
}

#[tokio::test]
async fn exit_codes_of_programs_count() {
    let Some(world) = project("3.248.0").await else {
        return;
    };
    for (code, outcome) in [
        (
            "process.exit(7)",
            RunOutcome::Failed("Program exited with non-zero exit code: 7".to_owned()),
        ),
        ("throw new Error('broken')", RunOutcome::Bailed),
        ("Promise.reject(new Error('broken'))", RunOutcome::Bailed),
        (
            "process.kill(process.pid, 'SIGKILL')",
            RunOutcome::Failed("Program was ended by signal 9".to_owned()),
        ),
    ] {
        world.file("index.js", code);
        assert_eq!(run(&world, json!({})).await, outcome, "{code}");
    }
    assert!(
        world
            .engine
            .errors()
            .iter()
            .all(|error| error.contains("Error: broken"))
    );
}

#[tokio::test]
async fn exhausted_memory_is_explained() {
    let Some(world) = project("3.248.0").await else {
        return;
    };
    world.file(
        "index.js",
        "const all = []; for (;;) { all.push(new Array(1e5).fill({})) }",
    );
    let RunOutcome::Failed(reason) =
        run(&world, json!({"nodeargs": "--max-old-space-size=64"})).await
    else {
        panic!("it has not failed");
    };
    assert!(
        reason.contains("Detected a possible out of memory error")
            && reason.contains("--max-old-space-size"),
        "{reason}"
    );
}

#[tokio::test]
async fn a_program_that_is_cancelled_ends_with_its_children() {
    let Some(world) = project("3.248.0").await else {
        return;
    };
    world.file(
        "index.js",
        "console.log(require('child_process').spawn('sleep', ['60']).pid); setInterval(() => {}, 1000);",
    );
    let (cancel, start, host) = (CancellationToken::new(), Instant::now(), host(&world));
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
    let (outcome, ()) = tokio::join!(host.run(request(&world, json!({})), cancel.clone()), stop);
    assert_eq!(outcome.unwrap(), RunOutcome::Bailed);
    let child = &world.printed(OutputStream::Stdout)[0];
    let state = std::fs::read_to_string(format!("/proc/{child}/stat")).unwrap_or_default();
    assert!(
        state.is_empty() || state.contains(" Z "),
        "the child survives: {state}"
    );
}

#[tokio::test]
async fn what_is_missing_is_explained() {
    let mut world = World::new().await;
    world.file("index.js", "");
    let failure = async |world: &World, host: NodeHost| {
        let request = request(world, json!({}));
        let error = host
            .run(request, CancellationToken::new())
            .await
            .unwrap_err();
        error.to_string()
    };
    let error = failure(&world, host(&world)).await;
    assert!(
        error.contains("has not been installed. Have you run `pulumi install`?"),
        "{error}"
    );
    world.environment.insert("PATH".into(), "/nowhere".into());
    let error = failure(&world, host(&world)).await;
    assert!(
        error.starts_with("could not find `node` on the PATH; install Node.js"),
        "{error}"
    );
    let error = failure(&world, NodeHost::for_bun(world.options())).await;
    assert!(
        error.starts_with("could not find `bun` on the PATH; install Bun"),
        "{error}"
    );
}

#[tokio::test]
async fn packages_are_installed_in_the_root_of_the_workspace() {
    let world = World::new().await;
    world.file(
        "package.json",
        r#"{"private": true, "workspaces": ["infra"]}"#,
    );
    world.file(
        "infra/package.json",
        r#"{"name": "infra", "dependencies": {"mine": "file:../mine"}}"#,
    );
    world.file(
        "mine/package.json",
        r#"{"name": "mine", "version": "1.2.3", "pulumi": {"resource": true, "name": "mine"}}"#,
    );
    let mut info = world.info(json!({"packagemanager": "npm"}));
    info.program_directory = info.root_directory.join("infra");
    let install = InstallRequest {
        info: info.clone(),
        is_terminal: false,
        use_language_version_tools: true,
        is_plugin: false,
    };
    let host = host(&world);
    host.install_dependencies(install, world.sink())
        .await
        .unwrap();
    let root = world.root.path().canonicalize().unwrap().join("project");
    let said = world.printed(OutputStream::Stdout);
    assert_eq!(said[0], "Installing dependencies...");
    assert!(
        said.contains(&format!("Detected workspace root at {}", root.display())),
        "{said:?}"
    );
    assert!(
        said.contains(&"Finished installing dependencies".to_owned()),
        "{said:?}"
    );
    assert!(root.join("node_modules/mine/package.json").exists());
    let dependencies = host.program_dependencies(&info, false).await.unwrap();
    assert_eq!(
        (
            dependencies[0].name.as_str(),
            dependencies[0].version.as_str()
        ),
        ("mine", "1.2.3")
    );
    let about = host.about(&info).await.unwrap();
    assert!(
        about.version.starts_with('v') && about.executable.ends_with("/node"),
        "{about:?}"
    );
    assert_eq!(about.metadata["packagemanager"], "npm");
    assert!(!about.metadata["packagemanagerVersion"].is_empty());
}

#[tokio::test]
async fn new_projects_are_asked_for_their_package_manager() {
    let world = World::new().await;
    let prompts = host(&world)
        .option_prompts(&world.info(json!({})))
        .await
        .unwrap();
    assert_eq!(prompts[0].key, "packagemanager");
    let info = world.info(json!({"packagemanager": "pnpm"}));
    assert!(host(&world).option_prompts(&info).await.unwrap().is_empty());
    host(&world).template(&info, "proj").await.unwrap();
    let file = world.root.path().join("project/pnpm-workspace.yaml");
    assert_eq!(
        std::fs::read_to_string(file).unwrap(),
        "allowBuilds:\n  protobufjs: false\n"
    );
}

/// Log messages reach the engine with their severity.
#[tokio::test]
async fn messages_have_their_level() {
    let Some(world) = project("3.248.0").await else {
        return;
    };
    world.file(
        "index.js",
        "const { log } = require('@pulumi/pulumi'); log.info('i'); log.warn('w'); log.debug('d'); log.error('e');",
    );
    run(&world, json!({})).await;
    for (severity, text) in [
        (LogSeverity::Info, "i"),
        (LogSeverity::Warning, "w"),
        (LogSeverity::Debug, "d"),
        (LogSeverity::Error, "e"),
    ] {
        assert!(
            world.engine.messages(severity).contains(&text.to_owned()),
            "{text}"
        );
    }
}
