//! The programs, as an engine starts them.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, ChildStdout, Command, Stdio};

use plumb_proto::pulumirpc as pb;
use plumb_proto::pulumirpc::resource_provider_client::ResourceProviderClient;
use prost_types::value::Kind;
use prost_types::{Struct, Value};
use tonic::transport::Channel;

const STRING: &str = "random:index/randomString:RandomString";
const PASSWORD: &str = "random:index/randomPassword:RandomPassword";

/// A running plugin; it is killed when this is dropped.
struct Plugin {
    process: Child,
    output: BufReader<ChildStdout>,
    client: ResourceProviderClient<Channel>,
}

impl Plugin {
    async fn start(program: &str) -> Self {
        let mut process = Command::new(program)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(process.stdout.take().unwrap());
        let mut port = String::new();
        output.read_line(&mut port).unwrap();
        let address = format!("http://127.0.0.1:{}", port.trim());
        let channel = Channel::from_shared(address).unwrap();
        let client = ResourceProviderClient::new(channel.connect().await.unwrap());
        Plugin {
            process,
            output,
            client,
        }
    }

    async fn configured(program: &str) -> Self {
        let mut plugin = Plugin::start(program).await;
        let request = pb::ConfigureRequest {
            accept_secrets: true,
            accept_resources: true,
            ..pb::ConfigureRequest::default()
        };
        let features = plugin.client.configure(request).await.unwrap().into_inner();
        assert!(features.accept_secrets && features.supports_preview);
        plugin
    }
}

impl Drop for Plugin {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn urn(token: &str) -> String {
    format!("urn:pulumi:dev::project::{token}::it")
}

fn inputs(members: &[(&str, Kind)]) -> Struct {
    let members = members.iter().map(|(name, kind)| {
        let kind = Some(kind.clone());
        ((*name).to_owned(), Value { kind })
    });
    Struct {
        fields: members.collect(),
    }
}

fn text(outputs: Option<&Struct>, name: &str) -> String {
    let value = outputs.and_then(|it| it.fields.get(name));
    match value.and_then(|it| it.kind.as_ref()) {
        Some(Kind::StringValue(text)) => text.clone(),
        other => panic!("{name} is no text: {other:?}"),
    }
}

#[tokio::test]
async fn they_say_what_they_are() {
    for (name, program) in [
        ("command", env!("CARGO_BIN_EXE_pulumi-resource-command")),
        ("random", env!("CARGO_BIN_EXE_pulumi-resource-random")),
        ("std", env!("CARGO_BIN_EXE_pulumi-resource-std")),
    ] {
        let mut plugin = Plugin::start(program).await;
        let builtin = plumb_providers::factory(name).unwrap();
        let info = plugin
            .client
            .get_plugin_info(())
            .await
            .unwrap()
            .into_inner();
        assert_eq!(info.version, builtin.version().unwrap().to_string());
        let request = pb::GetSchemaRequest::default();
        let schema = plugin
            .client
            .get_schema(request)
            .await
            .unwrap()
            .into_inner();
        assert_eq!(schema.schema, builtin.schema().unwrap());
    }
}

#[tokio::test]
async fn a_resource_is_checked_foreseen_and_created() {
    let mut plugin = Plugin::configured(env!("CARGO_BIN_EXE_pulumi-resource-random")).await;
    let check = |length: Kind| pb::CheckRequest {
        urn: urn(STRING),
        news: Some(inputs(&[("length", length)])),
        ..pb::CheckRequest::default()
    };
    let wrong = plugin.client.check(check(Kind::NumberValue(-1.0))).await;
    let failures = wrong.unwrap().into_inner().failures;
    assert_eq!(failures[0].property, "length");
    let checked = plugin.client.check(check(Kind::NumberValue(8.0))).await;
    let create = |preview: bool, token: &str, properties: &Option<Struct>| pb::CreateRequest {
        urn: urn(token),
        properties: properties.clone(),
        preview,
        ..pb::CreateRequest::default()
    };
    let checked = checked.unwrap().into_inner().inputs;
    let foreseen = plugin.client.create(create(true, STRING, &checked)).await;
    let id = foreseen.unwrap().into_inner().id;
    assert_eq!(id, "", "a preview has no id");
    let created = plugin.client.create(create(false, STRING, &checked)).await;
    let created = created.unwrap().into_inner();
    assert_eq!(text(created.properties.as_ref(), "result").len(), 8);
    assert_eq!(created.id, text(created.properties.as_ref(), "result"));
    let secret = plugin
        .client
        .create(create(false, PASSWORD, &checked))
        .await;
    let secret = secret.unwrap().into_inner().properties.unwrap();
    let is_marked = matches!(&secret.fields["result"].kind, Some(Kind::StructValue(_)));
    assert!(is_marked, "a secret is marked");
    let unknown = plugin
        .client
        .create(create(false, "random:index:Nothing", &checked))
        .await;
    let message = unknown.unwrap_err().message().to_owned();
    assert!(message.contains("unrecognized resource type"), "{message}");
}

#[cfg(unix)]
#[tokio::test]
async fn an_interrupt_ends_them() {
    let mut plugin = Plugin::configured(env!("CARGO_BIN_EXE_pulumi-resource-command")).await;
    let id = plugin.process.id().to_string();
    let sent = Command::new("kill").args(["-INT", &id]).status().unwrap();
    assert!(sent.success());
    let mut rest = String::new();
    plugin.output.read_to_string(&mut rest).unwrap();
    assert!(plugin.process.wait().unwrap().success(), "{rest}");
}
