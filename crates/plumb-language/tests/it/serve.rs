//! Hosts as services, called as an engine calls them.

use std::time::{Duration, Instant};

use futures::StreamExt;
use plumb_language::LanguageOptions;
use plumb_language::serve::{ServeError, Server, WATCH_INTERVAL};
use plumb_plugin::language::{
    GrpcLanguageHost, InstallRequest, PluginEvent, PluginLaunch, ProgramInfo, RunOutcome,
    RunPluginRequest,
};
use plumb_plugin::{LanguageRuntime, OutputStream, PluginKind};
use plumb_proto::pulumirpc as pb;
use plumb_proto::pulumirpc::language_runtime_client::LanguageRuntimeClient;
use plumb_proto::pulumirpc::resource_provider_client::ResourceProviderClient;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tonic::transport::Endpoint;

use crate::support::{World, sdk};

/// A served host, with its address and its end.
struct Served {
    address: String,
    stop: CancellationToken,
    task: JoinHandle<Result<(), ServeError>>,
}

async fn serve(name: &str, options: LanguageOptions, interval: Duration) -> Served {
    let language = plumb_language::language(name).unwrap();
    let server = Server::bind(language, options).await.unwrap();
    let address = format!("127.0.0.1:{}", server.port());
    let stop = CancellationToken::new();
    let task = tokio::spawn(server.run(interval, stop.clone()));
    Served {
        address,
        stop,
        task,
    }
}

impl Served {
    async fn dial(&self, name: &str) -> GrpcLanguageHost {
        GrpcLanguageHost::dial(name, &self.address, Duration::from_secs(5))
            .await
            .unwrap()
    }

    async fn end(self) {
        self.stop.cancel();
        self.task.await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn programs_run_behind_the_service() {
    let Some(virtualenv) = sdk("3.272") else {
        return;
    };
    let world = World::new().await;
    world.file(
        "__main__.py",
        "import pulumi\nprint('hello')\npulumi.export('colour', pulumi.Config().require('colour'))\n",
    );
    let served = serve("python", world.options(), WATCH_INTERVAL).await;
    let host = served.dial("python").await;
    let version = host.version().await.unwrap();
    assert_eq!(version, Some(semver::Version::new(1, 2, 3)));
    let request = world.run_request(&virtualenv);
    let outcome = host
        .run(request.clone(), CancellationToken::new())
        .await
        .unwrap();
    assert_eq!(outcome, RunOutcome::Succeeded);
    assert_eq!(world.printed(OutputStream::Stdout), ["hello"]);
    assert_eq!(
        world.engine.registrations(),
        ["pulumi:pulumi:Stack proj-dev"]
    );

    world.file("__main__.py", "import os\nos._exit(3)\n");
    let outcome = host.run(request, CancellationToken::new()).await.unwrap();
    assert_eq!(
        outcome,
        RunOutcome::Failed("program exited with non-zero exit code: 3".to_owned())
    );
    let about = host
        .about(&world.info(serde_json::json!({"virtualenv": virtualenv})))
        .await
        .unwrap();
    assert!(about.version.starts_with("3."), "{about:?}");
    served.end().await;
}

/// A program ends when its engine cancels, and when its server stops.
#[tokio::test]
async fn programs_are_ended() {
    let Some(virtualenv) = sdk("3.272") else {
        return;
    };
    for by_engine in [true, false] {
        let world = World::new().await;
        world.file(
            "__main__.py",
            "import time\nprint('asleep', flush=True)\ntime.sleep(600)\n",
        );
        let served = serve("python", world.options(), WATCH_INTERVAL).await;
        let host = served.dial("python").await;
        let request = world.run_request(&virtualenv);
        let cancel = CancellationToken::new();
        let run = tokio::spawn({
            let cancel = cancel.clone();
            async move { host.run(request, cancel).await }
        });
        while world.printed(OutputStream::Stdout) != ["asleep"] {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let began = Instant::now();
        if by_engine {
            cancel.cancel();
            assert_eq!(run.await.unwrap().unwrap(), RunOutcome::Bailed);
            served.end().await;
        } else {
            served.end().await;
            // The reply is sent only if the connection lasts long enough.
            let _ = run.await.unwrap();
        }
        // Shorter than the program's own run time, even on a slow machine.
        assert!(began.elapsed() < Duration::from_mins(2));
    }
}

#[tokio::test]
async fn what_installations_and_plugins_print_is_streamed() {
    let Some(virtualenv) = sdk("3.272") else {
        return;
    };
    let world = World::new().await;
    let plugin = world.file(
        "__main__.py",
        "import sys\nprint(4321)\nprint('args', sys.argv[1:], file=sys.stderr)\nsys.exit(5)\n",
    );
    let served = serve("python", world.options(), WATCH_INTERVAL).await;
    let host = served.dial("python").await;
    let mut info = world.info(serde_json::json!({"virtualenv": virtualenv}));
    info.program_directory = plugin.parent().unwrap().to_owned();
    let launch = host
        .run_plugin(RunPluginRequest {
            working_directory: info.program_directory.clone(),
            info,
            kind: PluginKind::Resource,
            args: vec!["127.0.0.1:1".to_owned()],
            environment: world.environment.clone(),
            loader_target: String::new(),
            attach_debugger: false,
        })
        .await
        .unwrap();
    let PluginLaunch::Running(events) = launch else {
        panic!("a plugin behind a service runs there");
    };
    let mut events: Vec<PluginEvent> = events.collect().await;
    assert_eq!(events.pop(), Some(PluginEvent::Exited(5)));
    assert!(events.contains(&PluginEvent::Stdout(b"4321\n".to_vec())));
    assert!(events.contains(&PluginEvent::Stderr(b"args ['127.0.0.1:1']\n".to_vec())));

    let request = InstallRequest {
        info: world.info(serde_json::json!({})),
        is_terminal: false,
        use_language_version_tools: true,
        is_plugin: false,
    };
    let error = host.install_dependencies(request, world.sink()).await;
    let error = error.unwrap_err().to_string();
    assert!(error.contains("with a version manager"), "{error}");
    served.end().await;
}

#[tokio::test]
async fn libraries_are_linked_behind_the_service() {
    let world = World::new().await;
    let requirements = world.file("requirements.txt", "pulumi>=3\n");
    let served = serve("python", world.options(), WATCH_INTERVAL).await;
    let host = served.dial("python").await;
    let instructions = host
        .link(world.link_request("cloud", "sdks/cloud"))
        .await
        .unwrap();
    assert!(
        instructions.contains("import pulumi_cloud as cloud"),
        "{instructions}"
    );
    let text = std::fs::read_to_string(requirements).unwrap();
    assert_eq!(text, "pulumi>=3\nsdks/cloud\n");
    served.end().await;
}

/// A host under a debugger is started by hand, without the address of its engine.
#[tokio::test]
async fn an_engine_makes_itself_known() {
    let world = World::new().await;
    let options = LanguageOptions {
        engine_address: String::new(),
        ..world.options()
    };
    let served = serve("yaml", options, WATCH_INTERVAL).await;
    world.file(
        "Pulumi.yaml",
        "name: proj\nruntime: yaml\noutputs: {a: 1}\n",
    );
    let request = || world.run_request(std::path::Path::new("unused"));
    let host = served.dial("yaml").await;
    let error = host.run(request(), CancellationToken::new()).await;
    let error = error.unwrap_err().to_string();
    assert!(error.contains("call Handshake first"), "{error}");

    let limit = Duration::from_secs(5);
    let host = GrpcLanguageHost::attach("yaml", &served.address, &world.address, limit)
        .await
        .unwrap();
    let outcome = host.run(request(), CancellationToken::new()).await.unwrap();
    assert_eq!(outcome, RunOutcome::Succeeded);
    assert_eq!(
        world.engine.registrations(),
        ["pulumi:pulumi:Stack proj-dev"]
    );
    served.end().await;
}

/// A plugin of components is served while its stream is polled.
#[tokio::test]
async fn components_in_yaml_are_served_while_they_are_wanted() {
    let world = World::new().await;
    let manifest = world.file(
        "plugin/PulumiPlugin.yaml",
        "runtime: yaml\nname: shop\ncomponents: {Shelf: {inputs: {colour: {type: string}}}}\n",
    );
    let served = serve("yaml", world.options(), WATCH_INTERVAL).await;
    let host = served.dial("yaml").await;
    let mut info = world.info(serde_json::json!({}));
    info.program_directory = manifest.parent().unwrap().to_owned();
    let request = |info: &ProgramInfo| RunPluginRequest {
        info: info.clone(),
        kind: PluginKind::Resource,
        working_directory: world.root.path().to_owned(),
        args: Vec::new(),
        environment: world.environment.clone(),
        loader_target: String::new(),
        attach_debugger: false,
    };
    let launch = host.run_plugin(request(&info)).await.unwrap();
    let PluginLaunch::Running(mut events) = launch else {
        panic!("it is no process");
    };
    let Some(PluginEvent::Stdout(port)) = events.next().await else {
        panic!("there is no port");
    };
    let port: u16 = String::from_utf8(port).unwrap().trim().parse().unwrap();
    let reading = tokio::spawn(async move { events.next().await });
    let endpoint = Endpoint::from_shared(format!("http://127.0.0.1:{port}")).unwrap();
    let channel = endpoint.connect().await.unwrap();
    let request_schema = pb::GetSchemaRequest::default();
    let schema = ResourceProviderClient::new(channel)
        .get_schema(request_schema)
        .await
        .unwrap()
        .into_inner()
        .schema;
    assert!(schema.contains("shop:index:Shelf"), "{schema}");
    reading.abort();
    let _ = reading.await;
    while endpoint.connect().await.is_ok() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }

    world.file("plugin/PulumiPlugin.yaml", "runtime: yaml\n");
    let events = match host.run_plugin(request(&info)).await {
        Ok(PluginLaunch::Running(events)) => events.collect::<Vec<_>>().await,
        Ok(PluginLaunch::Command { .. }) => panic!("it is no process"),
        Err(error) => vec![PluginEvent::Failed(error.to_string())],
    };
    let text = format!("{events:?}");
    assert!(text.contains("missing required `name` field"), "{text}");
    served.end().await;
}

#[tokio::test]
async fn yaml_projects_are_made_of_pcl() {
    let world = World::new().await;
    let served = serve("yaml", world.options(), WATCH_INTERVAL).await;
    let endpoint = Endpoint::from_shared(format!("http://{}", served.address)).unwrap();
    let mut client = LanguageRuntimeClient::new(endpoint.connect().await.unwrap());
    let program = world.file("pcl/main.pp", "output \"a\" { value = [1, cwd()] }\n");
    world.file("sdk/lab-1.0.0.yaml", "name: lab\n");
    let root = program.ancestors().nth(2).unwrap().display().to_string();
    let packed = pb::PackRequest {
        package_directory: format!("{root}/sdk"),
        destination_directory: format!("{root}/packed"),
    };
    let artifact = client
        .pack(packed)
        .await
        .unwrap()
        .into_inner()
        .artifact_path;
    assert_eq!(artifact, format!("{root}/packed/lab-1.0.0.yaml"));
    let request = pb::GenerateProjectRequest {
        source_directory: format!("{root}/pcl"),
        target_directory: format!("{root}/made"),
        project: r#"{"name": "made", "description": "d"}"#.to_owned(),
        local_dependencies: [("lab".to_owned(), artifact)].into(),
        ..pb::GenerateProjectRequest::default()
    };
    let made = client.generate_project(request).await.unwrap().into_inner();
    assert_eq!(made.diagnostics, []);
    let read = |name: &str| std::fs::read_to_string(format!("{root}/made/{name}")).unwrap();
    assert_eq!(
        read("Pulumi.yaml"),
        "name: made\nruntime: yaml\ndescription: d\n"
    );
    assert_eq!(
        read("Main.yaml"),
        "outputs:\n  a:\n    - 1\n    - ${pulumi.cwd}\n"
    );
    assert_eq!(read("sdks/lab.yaml"), "name: lab\n");
    drop(client);
    served.end().await;
}

#[tokio::test]
async fn hosts_make_programs_and_projects_of_pcl() {
    let world = World::new().await;
    let program = world.file("pcl/main.pp", "output a {\n  value = stack()\n}\n");
    let root = program.ancestors().nth(2).unwrap().display().to_string();
    for (host, file, expected) in [
        (
            "python",
            "__main__.py",
            "import pulumi\n\npulumi.export(\"a\", pulumi.get_stack())\n",
        ),
        (
            "nodejs",
            "index.ts",
            "import * as pulumi from \"@pulumi/pulumi\";\n\nexport const a = pulumi.getStack();\n",
        ),
        (
            "go",
            "go.mod",
            "module made\n\ngo 1.25\n\nrequire (\n\tgithub.com/pulumi/pulumi/sdk/v3 v3.260.0\n)\n",
        ),
        (
            "rust",
            "src/main.rs",
            "use plumb::prelude::*;\n\n#[plumb::main]\nasync fn main(ctx: Ctx) -> plumb::Result<()> {\n    \
             ctx.export(\"a\", ctx.stack());\n    Ok(())\n}\n",
        ),
    ] {
        let served = serve(host, world.options(), WATCH_INTERVAL).await;
        let endpoint = Endpoint::from_shared(format!("http://{}", served.address)).unwrap();
        let mut client = LanguageRuntimeClient::new(endpoint.connect().await.unwrap());
        let request = pb::GenerateProjectRequest {
            source_directory: format!("{root}/pcl"),
            target_directory: format!("{root}/{host}"),
            project: r#"{"name": "made"}"#.to_owned(),
            ..pb::GenerateProjectRequest::default()
        };
        let made = client.generate_project(request).await.unwrap().into_inner();
        assert_eq!(made.diagnostics, []);
        let read = |name: &str| std::fs::read_to_string(format!("{root}/{host}/{name}")).unwrap();
        assert_eq!(read(file), expected);
        assert!(read("Pulumi.yaml").contains(host));
        let source = [(
            "main.pp".to_owned(),
            "output a {\n  value = b\n}\n".to_owned(),
        )];
        let request = pb::GenerateProgramRequest {
            source: source.into(),
            strict: true,
            ..pb::GenerateProgramRequest::default()
        };
        let made = client.generate_program(request).await.unwrap().into_inner();
        assert!(made.source.is_empty());
        assert_eq!(made.diagnostics[0].summary, "undefined variable 'b'");
        let subject = made.diagnostics[0].subject.as_ref().unwrap();
        assert_eq!(
            (subject.filename.as_str(), subject.start.unwrap().line),
            ("main.pp", 2)
        );
        drop(client);
        served.end().await;
    }
}

/// The fake engine does not implement the call; an error reply also shows that it is alive.
#[tokio::test]
async fn a_host_does_not_outlive_its_engine() {
    let world = World::new().await;
    let interval = Duration::from_millis(50);
    let served = serve("python", world.options(), interval).await;
    tokio::time::sleep(interval * 5).await;
    assert!(!served.task.is_finished());
    served.end().await;

    let options = LanguageOptions {
        engine_address: "127.0.0.1:1".to_owned(),
        ..world.options()
    };
    let orphan = serve("python", options, interval).await;
    let error = orphan.task.await.unwrap().unwrap_err();
    assert!(matches!(error, ServeError::EngineGone { .. }), "{error}");
}
