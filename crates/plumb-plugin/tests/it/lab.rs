//! The lab provider, from handshake to shutdown.

use std::sync::Arc;

use plumb_plugin::process::PluginTimeouts;
use plumb_plugin::{GrpcProvider, OutputLevel, PluginHost, Provider};
use plumb_resource::provider::{
    CheckConfigRequest, CheckRequest, ConfigureRequest, CreateRequest, DeleteRequest, DiffChanges,
    DiffRequest, InvokeRequest, PluginSpec, ReadRequest, ResourceStatus, UpdateRequest,
};
use plumb_resource::{ResourceId, TypeToken, Urn};
use plumb_value::{PropertyMap, Value};

use crate::support::{World, is_running};

fn urn() -> Urn {
    Urn::new("stack", "proj", "", "lab:index:Thing", "a")
}

fn map(entries: &[(&str, Value)]) -> Arc<PropertyMap> {
    Arc::new(
        entries
            .iter()
            .map(|(key, value)| ((*key).into(), value.clone()))
            .collect(),
    )
}

fn object(entries: &[(&str, Value)]) -> Value {
    Value::Object(map(entries))
}

async fn configured(host: &PluginHost) -> Arc<dyn Provider> {
    let provider = host.provider(&PluginSpec::named("lab")).await.unwrap();
    let urn = Urn::new("stack", "proj", "", "pulumi:providers:lab", "default");
    let inputs = map(&[("region", "north".into())]);
    let checked = provider
        .check_config(CheckConfigRequest {
            urn: urn.clone(),
            old_inputs: None,
            new_inputs: inputs.clone(),
            allow_unknowns: false,
        })
        .await
        .unwrap();
    assert_eq!(checked.inputs.as_ref(), Some(&inputs));
    let request = ConfigureRequest {
        urn,
        id: ResourceId::Known("1".into()),
        inputs,
    };
    provider.configure(request).await.unwrap();
    provider
}

fn create(inputs: Arc<PropertyMap>) -> CreateRequest {
    CreateRequest {
        urn: urn(),
        inputs,
        timeout: 0.0,
        preview: false,
        status: None,
    }
}

#[tokio::test]
async fn a_resource_lives_and_dies() {
    let Some(world) = World::with_lab() else {
        return;
    };
    let host = world.host();
    let provider = configured(&host).await;
    let info = provider.info().await.unwrap();
    assert_eq!(
        (
            info.name.as_str(),
            info.version.unwrap().to_string().as_str()
        ),
        ("lab", "1.0.0")
    );
    let schema = provider.get_schema(None).await.unwrap().unwrap();
    assert!(schema.contains("lab:index:Thing"));

    let inputs = map(&[("value", Value::secret("v1".into()))]);
    let check = |old: Option<Arc<PropertyMap>>, new: &Arc<PropertyMap>| CheckRequest {
        urn: urn(),
        old_inputs: old,
        new_inputs: new.clone(),
        allow_unknowns: false,
        random_seed: Arc::from([7u8; 32]),
        autonaming: None,
    };
    let checked = provider.check(check(None, &inputs)).await.unwrap();
    assert_eq!(checked.inputs.as_ref(), Some(&inputs));

    let preview = provider
        .create(CreateRequest {
            preview: true,
            ..create(inputs.clone())
        })
        .await
        .unwrap();
    assert_eq!(preview.id, ResourceId::Unknown);
    assert_eq!(preview.outputs.get("serial"), Some(&Value::UNKNOWN));

    let created = provider.create(create(inputs.clone())).await.unwrap();
    assert_eq!(created.id, ResourceId::Known("a-1".into()));
    assert_eq!(
        created.outputs.get("value"),
        Some(&Value::secret("v1".into()))
    );
    assert_eq!(created.outputs.get("region"), Some(&"north".into()));

    let changed = map(&[("value", "v2".into())]);
    let difference = provider
        .diff(DiffRequest {
            urn: urn(),
            id: created.id.clone(),
            old_inputs: inputs.clone(),
            old_outputs: created.outputs.clone(),
            new_inputs: changed.clone(),
            allow_unknowns: false,
            ignore_changes: [].into(),
        })
        .await
        .unwrap();
    assert_eq!(
        (difference.changes, difference.changed_keys.as_slice()),
        (DiffChanges::Some, &["value".into()][..])
    );

    let updated = provider
        .update(UpdateRequest {
            urn: urn(),
            id: created.id.clone(),
            old_inputs: inputs,
            old_outputs: created.outputs,
            new_inputs: changed.clone(),
            ignore_changes: [].into(),
            timeout: 0.0,
            preview: false,
            old_views: Vec::new(),
            status: None,
        })
        .await
        .unwrap();
    assert_eq!(updated.outputs.get("serial"), Some(&2.0.into()));

    let read = || ReadRequest {
        urn: urn(),
        id: created.id.clone(),
        inputs: Some(changed.clone()),
        outputs: updated.outputs.clone(),
        timeout: 0.0,
        old_views: Vec::new(),
        status: None,
    };
    let found = provider.read(read()).await.unwrap();
    assert_eq!(
        (&found.id, found.outputs.as_ref()),
        (&created.id, Some(&updated.outputs))
    );

    let delete = DeleteRequest {
        urn: urn(),
        id: created.id.clone(),
        inputs: changed.clone(),
        outputs: updated.outputs.clone(),
        timeout: 0.0,
        old_views: Vec::new(),
        status: None,
    };
    provider.delete(delete).await.unwrap();
    let gone = provider.read(read()).await.unwrap();
    assert_eq!((gone.id, gone.outputs), (ResourceId::None, None));

    host.shutdown().await;
    let calls = world.calls();
    assert_eq!(calls[0], "Handshake");
    let error = provider.read(read()).await.unwrap_err();
    assert_eq!(error.message, "the provider lab has been shut down");
    assert!(
        world
            .lines
            .lock()
            .unwrap()
            .iter()
            .all(|line| line.level < OutputLevel::Error),
        "{:?}",
        world.texts()
    );
}

#[tokio::test]
async fn failures_say_what_became_of_the_resource() {
    let Some(world) = World::with_lab() else {
        return;
    };
    let host = world.host();
    let provider = configured(&host).await;

    let failing = map(&[("failOn", object(&[("create", "quota exceeded".into())]))]);
    let error = provider.create(create(failing)).await.unwrap_err();
    assert_eq!(
        (error.message.as_str(), &error.status),
        ("quota exceeded", &ResourceStatus::Unchanged)
    );

    let unknown = object(&[("message", "lost".into()), ("code", "UNKNOWN".into())]);
    let error = provider
        .create(create(map(&[("failOn", object(&[("create", unknown)]))])))
        .await
        .unwrap_err();
    assert_eq!(
        (error.message.as_str(), &error.status),
        ("lost", &ResourceStatus::Unknown)
    );

    let partial = object(&[("reasons", Value::array(["not ready".into()]))]);
    let inputs = map(&[
        ("value", "x".into()),
        ("partialOn", object(&[("create", partial)])),
    ]);
    let error = provider.create(create(inputs)).await.unwrap_err();
    let ResourceStatus::Partial(failure) = error.status else {
        panic!("{error:?}")
    };
    assert_eq!(
        (failure.id, failure.reasons),
        (ResourceId::Known("a-1".into()), ["not ready".into()].into())
    );
    assert_eq!(failure.outputs.unwrap().get("value"), Some(&"x".into()));

    let problem = object(&[("property", "value".into()), ("reason", "too long".into())]);
    let checked = provider
        .check(CheckRequest {
            urn: urn(),
            old_inputs: None,
            new_inputs: map(&[("checkFailures", Value::array([problem]))]),
            allow_unknowns: true,
            random_seed: Arc::from([]),
            autonaming: None,
        })
        .await
        .unwrap();
    assert_eq!(
        (
            checked.failures[0].property.as_str(),
            checked.failures[0].reason.as_str()
        ),
        ("value", "too long")
    );

    let invoke = |token: &str, args| InvokeRequest {
        token: TypeToken::new(token),
        args,
        preview: false,
    };
    let echoed = provider
        .invoke(invoke("lab:index:echo", map(&[("value", "hi".into())])))
        .await
        .unwrap();
    assert_eq!(echoed.result.get("value"), Some(&"hi".into()));
    let error = provider
        .invoke(invoke("lab:index:fail", map(&[("message", "no".into())])))
        .await
        .unwrap_err();
    assert_eq!(error.message, "no");
    host.shutdown().await;
}

#[tokio::test]
async fn missing_configuration_is_listed() {
    let Some(world) = World::with_lab() else {
        return;
    };
    let host = world.host();
    let provider = host.provider(&PluginSpec::named("lab")).await.unwrap();
    let request = ConfigureRequest {
        urn: Urn::new("stack", "proj", "", "pulumi:providers:lab", "default"),
        id: ResourceId::Known("1".into()),
        inputs: map(&[("failConfigure", "missing".into())]),
    };
    let error = provider.configure(request).await.unwrap_err();
    assert!(
        error
            .message
            .contains("missing required configuration key \"lab:region\""),
        "{}",
        error.message
    );
    host.shutdown().await;
}

#[tokio::test]
async fn providers_without_secrets_get_plain_values_and_secrets_come_back() {
    let Some(mut world) = World::with_lab() else {
        return;
    };
    world
        .environment
        .insert("LAB_FLAGS".into(), "noSecrets".into());
    let host = world.host();
    let provider = configured(&host).await;
    let created = provider
        .create(create(map(&[("value", Value::secret("s".into()))])))
        .await
        .unwrap();
    assert_eq!(
        created.outputs.get("value"),
        Some(&Value::secret("s".into()))
    );
    let log = std::fs::read_to_string(world.log_path()).unwrap();
    let request = log
        .lines()
        .find(|line| line.contains("\"Create\""))
        .unwrap();
    assert!(!request.contains("$secret"), "{request}");
    host.shutdown().await;
}

#[tokio::test]
async fn a_provider_that_dies_in_a_call_leaves_the_outcome_open() {
    let Some(world) = World::with_lab() else {
        return;
    };
    let host = world.host();
    let options = plumb_plugin::grpc::HandshakeOptions {
        use_preview: true,
        ..Default::default()
    };
    let launch = plumb_plugin::process::Launch {
        source: "lab".into(),
        program: world
            .options()
            .discovery
            .find(plumb_plugin::PluginKind::Resource, "lab", None, None)
            .unwrap()
            .executable,
        args: vec!["127.0.0.1:1".into()],
        environment: world.environment.clone(),
        working_directory: world.root.path().to_owned(),
        level: OutputLevel::Debug,
        keep_blank_lines: false,
        output: world.sink(),
    };
    let provider = GrpcProvider::start("lab", launch, PluginTimeouts::default(), &options)
        .await
        .unwrap();
    let id = provider.process_id().unwrap();
    let slow = create(map(&[("sleepMs", 20_000.0.into())]));
    let kill = async {
        tokio::time::sleep(std::time::Duration::from_millis(500)).await;
        std::process::Command::new("kill")
            .args(["-9", &id.to_string()])
            .status()
            .unwrap();
    };
    let (outcome, ()) = tokio::join!(provider.create(slow), kill);
    let error = outcome.unwrap_err();
    assert_eq!(error.status, ResourceStatus::Unknown);
    assert!(
        error.message.contains("ended during the call: signal 9"),
        "{}",
        error.message
    );
    provider.shutdown().await;
    let lines = world.texts();
    assert!(
        lines.last().unwrap().starts_with("Detected that "),
        "{lines:?}"
    );
    assert!(!is_running(id));
    host.shutdown().await;
}

#[tokio::test]
async fn somebody_elses_provider_is_attached_to() {
    let Some(world) = World::with_lab() else {
        return;
    };
    let mut command = std::process::Command::new(
        world
            .environment
            .get(std::ffi::OsStr::new("LAB_PYTHON"))
            .unwrap(),
    );
    let script = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../tests/lab/lab_provider.py"
    );
    command
        .arg(script)
        .arg("127.0.0.1:1")
        .envs(&world.environment)
        .stdout(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut line = String::new();
    std::io::BufRead::read_line(
        &mut std::io::BufReader::new(child.stdout.take().unwrap()),
        &mut line,
    )
    .unwrap();
    let mut options = world.options();
    options
        .attached_providers
        .insert("lab".to_owned(), line.trim().parse().unwrap());
    let host = PluginHost::new(options);
    let provider = configured(&host).await;
    assert_eq!(provider.info().await.unwrap().name, "lab");
    assert_eq!(world.calls()[..2], ["Handshake", "Attach"]);
    host.shutdown().await;
    child.kill().unwrap();
    child.wait().unwrap();
}

#[tokio::test]
async fn a_lower_version_than_asked_for_is_a_warning() {
    let Some(world) = World::with_lab() else {
        return;
    };
    let host = world.host();
    let spec = PluginSpec {
        version: Some(semver::Version::new(2, 0, 0)),
        ..PluginSpec::named("lab")
    };
    host.provider(&spec).await.unwrap();
    let texts = world.texts();
    assert!(
        texts
            .iter()
            .any(|text| text.contains("expected to have version >=2.0.0, but has 1.0.0")),
        "{texts:?}"
    );
    host.shutdown().await;
}

#[tokio::test]
async fn shutdown_ends_all_plugins_at_the_same_time() {
    let Some(world) = World::with_lab() else {
        return;
    };
    let host = world.host();
    let mut providers = Vec::new();
    for _ in 0..3 {
        providers.push(host.provider(&PluginSpec::named("lab")).await.unwrap());
    }
    let start = std::time::Instant::now();
    host.shutdown().await;
    assert!(
        start.elapsed() < std::time::Duration::from_secs(9),
        "{:?}",
        start.elapsed()
    );
    assert_eq!(
        world
            .calls()
            .iter()
            .filter(|call| *call == "Cancel")
            .count(),
        3
    );
}

#[tokio::test]
async fn plugins_that_ignore_every_signal_are_killed_in_time() {
    let Some(mut world) = World::with_lab() else {
        return;
    };
    let children = world.root.path().join("children");
    // The shell and its child ignore the interrupt; another child is left running.
    let python = world
        .environment
        .get(std::ffi::OsStr::new("LAB_PYTHON"))
        .unwrap()
        .to_owned();
    let wrapper = world.script(
        "stubborn",
        &format!(
            "trap '' INT TERM\nsleep 60 & echo $! >> {}\n{} \"$@\"\nsleep 60",
            children.display(),
            python.display()
        ),
    );
    world
        .environment
        .insert("LAB_PYTHON".into(), wrapper.into());
    let mut options = world.options();
    options.timeouts.stop = std::time::Duration::from_millis(500);
    let host = PluginHost::new(options);
    let mut providers = Vec::new();
    for _ in 0..3 {
        providers.push(host.provider(&PluginSpec::named("lab")).await.unwrap());
    }
    let start = std::time::Instant::now();
    host.shutdown().await;
    assert!(
        start.elapsed() < std::time::Duration::from_secs(3),
        "{:?}",
        start.elapsed()
    );
    let children = std::fs::read_to_string(children).unwrap();
    assert_eq!(children.lines().count(), 3);
    assert!(
        children.lines().all(|id| !is_running(id.parse().unwrap())),
        "{children}"
    );
}
