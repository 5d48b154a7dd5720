//! Calls of `dotnet`, which is replaced by a script that records its arguments.

use std::fs;
use std::path::PathBuf;

use plumb_plugin::PluginKind;
use plumb_plugin::language::{
    InstallRequest, PackRequest, PluginLaunch, RunOutcome, RunPluginRequest, RunRequest,
};
use tokio_util::sync::CancellationToken;

use crate::support::World;

const DOTNET: &str = r#"#!/bin/sh
echo "$*" >>"$CALLS"
case "$*" in
  build*) if [ -f broken ]; then echo "Program.cs(3,1): error CS1002: ; expected"; exit 1; fi ;;
  list*) printf "Project 'p' has the following package references\n   [net8.0]:\n   > Pulumi.Random  4.*  4.1.0\n" ;;
  nuget*) echo "info : global-packages: $STORE/" ;;
  run*|*.dll) env | grep '^PULUMI_' | sort >>"$CALLS"; pwd >>"$CALLS"; exit "${CODE:-0}" ;;
  --version) echo 8.0.404 ;;
  pack*) mkdir -p "$5" && echo x >"$5/Acme.1.0.0.nupkg" ;;
esac
"#;

async fn world() -> World {
    let mut world = World::new().await;
    let tools = world.root.path().join("tools");
    let script = tools.join("dotnet");
    fs::create_dir(&tools).unwrap();
    fs::write(&script, DOTNET).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let path = format!("{}:/usr/bin:/bin", tools.display());
    world.environment = [
        ("PATH", path.into()),
        ("CALLS", world.root.path().join("calls").into_os_string()),
        ("STORE", world.root.path().join("store").into_os_string()),
    ]
    .map(|(name, value)| (name.into(), value))
    .into();
    world.file("p.csproj", "<Project/>");
    world
}

impl World {
    fn project(&self) -> PathBuf {
        self.root.path().join("project")
    }

    fn request(&self, options: serde_json::Value) -> RunRequest {
        let mut request = self.run_request(&self.project());
        request.info = self.info(options);
        request
    }

    /// Calls since the last time, with `P` for the project's folder.
    fn calls(&self) -> Vec<String> {
        let calls = self.root.path().join("calls");
        let text = fs::read_to_string(&calls).unwrap_or_default();
        let _ = fs::remove_file(&calls);
        let project = self.project().display().to_string();
        let lines = text.lines().map(|line| line.replace(&project, "P"));
        lines.collect()
    }
}

#[tokio::test]
async fn a_program_is_built_once_and_told_everything() {
    let world = world().await;
    let content = world.root.path().join("store/pulumi.random/4.1.0/content");
    fs::create_dir_all(&content).unwrap();
    fs::write(content.join("pulumi-plugin.json"), r#"{"resource": true}"#).unwrap();
    let host = world.host_of("dotnet");
    let request = world.request(serde_json::json!({}));
    let required = host.required_packages(&request.info).await.unwrap();
    assert_eq!(required.packages[0].name, "random");
    assert_eq!(
        world.calls(),
        [
            "build -nologo P",
            "list P package --include-transitive",
            "nuget locals global-packages -l"
        ]
    );
    let outcome = host.run(request, CancellationToken::new()).await.unwrap();
    assert_eq!(outcome, RunOutcome::Succeeded);
    let monitor = format!("PULUMI_MONITOR={}", world.address);
    let engine = format!("PULUMI_ENGINE={}", world.address);
    assert_eq!(
        world.calls(),
        [
            "run --no-build --project P",
            "PULUMI_CONFIG={\"proj:colour\":\"red\"}",
            "PULUMI_CONFIG_SECRET_KEYS=[\"proj:colour\"]",
            "PULUMI_DRY_RUN=false",
            &engine,
            &monitor,
            "PULUMI_ORGANIZATION=org",
            "PULUMI_PARALLEL=4",
            "PULUMI_PROJECT=proj",
            "PULUMI_PWD=P",
            "PULUMI_QUERY_MODE=false",
            "PULUMI_ROOT_DIRECTORY=P",
            "PULUMI_STACK=dev",
            "P",
        ]
    );
}

#[tokio::test]
async fn programs_that_are_built_already_are_run_as_they_are() {
    let world = world().await;
    world.file("out/p.dll", "");
    let host = world.host_of("dotnet");
    let request = world.request(serde_json::json!({"binary": "out/p.dll"}));
    let required = host.required_packages(&request.info).await.unwrap();
    assert_eq!(required.packages, []);
    host.run(request, CancellationToken::new()).await.unwrap();
    assert_eq!(world.calls()[0], "P/out/p.dll");
}

#[tokio::test]
async fn failures_are_told() {
    let mut world = world().await;
    let request = || world.request(serde_json::json!({}));
    world.file("broken", "");
    let host = world.host_of("dotnet");
    let error = host.run(request(), CancellationToken::new()).await;
    let error = error.unwrap_err().to_string();
    assert!(error.contains("error CS1002: ; expected"), "{error}");
    fs::remove_file(world.project().join("broken")).unwrap();

    let request = request();
    for (code, expected) in [
        ("32", RunOutcome::Bailed),
        (
            "1",
            RunOutcome::Failed("program exited with non-zero exit code: 1".to_owned()),
        ),
    ] {
        world.environment.insert("CODE".into(), code.into());
        let host = world.host_of("dotnet");
        let outcome = host.run(request.clone(), CancellationToken::new()).await;
        assert_eq!(outcome.unwrap(), expected);
    }
    world.environment.insert("PATH".into(), "/nowhere".into());
    let host = world.host_of("dotnet");
    let error = host.run(request, CancellationToken::new()).await;
    let error = error.unwrap_err().to_string();
    assert!(error.contains("install the .NET SDK from"), "{error}");
}

#[tokio::test]
async fn other_calls_reach_the_tool() {
    let world = world().await;
    let host = world.host_of("dotnet");
    let info = world.info(serde_json::json!({}));
    assert_eq!(host.about(&info).await.unwrap().version, "8.0.404");
    let listed = host.program_dependencies(&info, false).await.unwrap();
    assert_eq!(listed[0].version, "4.1.0");
    let request = InstallRequest {
        info: info.clone(),
        is_terminal: false,
        use_language_version_tools: false,
        is_plugin: false,
    };
    let output = world.sink();
    host.install_dependencies(request, output).await.unwrap();
    let packed = host
        .pack(PackRequest {
            package_directory: world.project(),
            destination_directory: world.root.path().join("packed"),
        })
        .await
        .unwrap();
    assert!(packed.ends_with("packed/p/Acme.1.0.0.nupkg"), "{packed:?}");
    let calls = world.calls();
    assert_eq!(
        calls[..4],
        [
            "--version",
            "list P package",
            "build P",
            "build -c Release P/p.csproj"
        ]
    );

    let launch = host.run_plugin(RunPluginRequest {
        info,
        kind: PluginKind::Resource,
        working_directory: world.root.path().to_owned(),
        args: vec!["127.0.0.1:1".to_owned()],
        environment: world.environment.clone(),
        loader_target: String::new(),
        attach_debugger: false,
    });
    let PluginLaunch::Command {
        args,
        working_directory,
        ..
    } = launch.await.unwrap()
    else {
        panic!("the caller starts the plugin");
    };
    let project = world.project();
    let expected = [
        "run",
        "--no-build",
        "--project",
        project.to_str().unwrap(),
        "--",
        "127.0.0.1:1",
    ];
    assert_eq!(args, expected);
    assert_eq!(working_directory, world.root.path());
    assert_eq!(world.calls(), ["build -nologo P"]);
}
