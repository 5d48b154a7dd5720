//! Traces: contents, absence of secrets, and conversions.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use opentelemetry_proto::tonic::collector::trace::v1::trace_service_server::{
    TraceService, TraceServiceServer,
};
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use plumb_proto::prost::Message as _;
use serde_json::Value;
use tonic::transport::server::TcpIncoming;

use crate::context::TestContext;

const PROGRAM: &str = "
name: proj
runtime: yaml
config: {token: {type: string, secret: true}}
resources:
  kept: {type: pulumi:index:Stash, properties: {input: '${token}'}}
  word: {type: random:RandomString, properties: {length: 3}, options: {dependsOn: ['${kept}']}}
";

fn project() -> TestContext {
    let context = TestContext::without_project().with_passphrase();
    context.write("Pulumi.yaml", PROGRAM);
    context.ok(&["stack", "init", "dev"]);
    context.ok(&["config", "set", "--secret", "token", "hush-hush"]);
    context
}

/// A span, with the fields that tests use.
struct Span {
    name: String,
    service: String,
    id: String,
    parent: String,
    began: u64,
    ended: u64,
    failed: bool,
    attributes: BTreeMap<String, String>,
}

/// Spans of a file by their command, phase, call and subject, or name; of several that are equal, the last.
fn spans(text: &str) -> BTreeMap<String, Span> {
    let documents = text.lines().map(|line| serde_json::from_str(line).unwrap());
    let documents = documents.filter_map(|line: Value| line["resourceSpans"].as_array().cloned());
    documents.flatten().flat_map(|it| spans_of(&it)).collect()
}

/// Spans of a document of one service.
fn spans_of(document: &Value) -> BTreeMap<String, Span> {
    let text_of = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut found = BTreeMap::new();
    let service = &document["resource"]["attributes"][0];
    assert_eq!(service["key"], "service.name");
    for scope in document["scopeSpans"].as_array().unwrap() {
        for span in scope["spans"].as_array().unwrap() {
            let attributes = span["attributes"].as_array().cloned().unwrap_or_default();
            let attributes: BTreeMap<String, String> = attributes
                .iter()
                .map(|it| (text_of(&it["key"]), text_of(&it["value"]["stringValue"])))
                .collect();
            let of = |key: &str| attributes.get(key).cloned();
            let call = of("call").zip(of("name"));
            let label = of("cli.command").or(of("phase"));
            let label = label.or(call.map(|(call, name)| format!("{call} {name}")));
            let one = Span {
                name: text_of(&span["name"]),
                service: text_of(&service["value"]["stringValue"]),
                id: text_of(&span["spanId"]),
                parent: text_of(&span["parentSpanId"]),
                began: text_of(&span["startTimeUnixNano"]).parse().unwrap(),
                ended: text_of(&span["endTimeUnixNano"]).parse().unwrap(),
                failed: span["status"]["code"] == 2,
                attributes,
            };
            found.insert(label.unwrap_or_else(|| one.name.clone()), one);
        }
    }
    found
}

#[test]
fn a_trace_has_the_steps_and_calls_of_a_command_and_no_values() {
    let context = project();
    context.ok(&["up", "--yes", "--tracing", "file:trace.json"]);
    let text = context.read("trace.json");
    for value in ["hush", "test", "v1:"] {
        assert!(!text.contains(value), "{value} in {text}");
    }
    let spans = spans(&text);
    let lies_in = |inner: &str, outer: &str| {
        let (inside, around) = (&spans[inner], &spans[outer]);
        assert_eq!(inside.parent, around.id, "{inner} in {outer}");
        assert!(
            around.began <= inside.began && inside.ended <= around.ended,
            "{inner} in {outer}"
        );
    };
    assert_eq!(spans["plumb up"].parent, "");
    for part in [
        "take the stack",
        "decrypt state",
        "preview",
        "update",
        "encrypt state",
        "save state",
    ] {
        lies_in(part, "plumb up");
    }
    lies_in("prepare program", "update");
    lies_in("program", "update");
    lies_in("Check word", "update");
    lies_in("create word", "update");
    lies_in("Create word", "create word");
    // The first call to a provider starts it.
    let starter = spans
        .iter()
        .find(|(_, span)| span.id == spans["start random"].parent);
    assert!(starter.unwrap().0.starts_with("CheckConfig default"));
    let call = &spans["Create word"].attributes;
    assert_eq!(call["provider"], "random");
    assert!(call["urn"].ends_with("RandomString::word"), "{call:?}");
    assert!(spans.values().all(|span| !span.failed));
}

#[test]
fn spans_have_the_names_that_tools_look_for() {
    let context = project();
    context.ok(&["up", "--yes", "--otel-traces", "file://trace.json"]);
    let spans = spans(&context.read("trace.json"));
    for (span, name) in [
        ("plumb up", "pulumi"),
        ("preview", "pulumi-plan"),
        ("update", "pulumi-plan"),
        ("Configure random", "pulumirpc.ResourceProvider/Configure"),
        ("Create word", "pulumirpc.ResourceProvider/Create"),
    ] {
        let found = &spans[span];
        assert_eq!(
            (found.name.as_str(), found.service.as_str()),
            (name, "pulumi-cli")
        );
    }
    let command = &spans["plumb up"].attributes;
    assert_eq!(command["cli.flags"], "--otel-traces --yes");
    assert_eq!(command["exec.kind"], "cli");
    assert_eq!(command["pulumi.version"], "v3.260.0");
    for attribute in ["pulumi.os", "pulumi.arch"] {
        assert!(!command[attribute].is_empty());
    }
}

/// Starts a collector for one request over HTTP; returns its address, and what it received.
fn http_collector() -> (String, JoinHandle<(String, ExportTraceServiceRequest)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let received = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            reader.read_line(&mut head).unwrap();
        }
        let length = head
            .lines()
            .find_map(|it| it.strip_prefix("content-length: "));
        let mut body = vec![0; length.unwrap().parse().unwrap()];
        reader.read_exact(&mut body).unwrap();
        write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").unwrap();
        (head, ExportTraceServiceRequest::decode(&*body).unwrap())
    });
    (address, received)
}

#[test]
fn a_trace_goes_to_a_collector_over_http() {
    let context = TestContext::new();
    let (address, received) = http_collector();
    let target = format!("http://{address}/?x-key=the%20key");
    let ran = context.run(&["stack", "ls", "--otel-traces", &target]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    let (head, request) = received.join().unwrap();
    assert!(head.starts_with("POST /v1/traces HTTP/1.1\r\n"), "{head}");
    assert!(head.contains("x-key: the key\r\n"), "{head}");
    assert!(
        head.contains("content-type: application/x-protobuf\r\n"),
        "{head}"
    );
    assert_eq!(names(&[request]), ["pulumi"]);
}

fn names(requests: &[ExportTraceServiceRequest]) -> Vec<String> {
    let resources = requests.iter().flat_map(|it| &it.resource_spans);
    let scopes = resources.flat_map(|it| &it.scope_spans);
    let spans = scopes.flat_map(|it| &it.spans);
    spans.map(|it| it.name.clone()).collect()
}

/// A collector that keeps what it receives, with the value of `x-key`.
#[derive(Clone, Default)]
struct Collector(Arc<Mutex<Vec<(String, ExportTraceServiceRequest)>>>);

#[tonic::async_trait]
impl TraceService for Collector {
    async fn export(
        &self,
        request: tonic::Request<ExportTraceServiceRequest>,
    ) -> Result<tonic::Response<ExportTraceServiceResponse>, tonic::Status> {
        let key = request.metadata().get("x-key").unwrap();
        let key = key.to_str().unwrap().to_owned();
        self.0.lock().unwrap().push((key, request.into_inner()));
        Ok(tonic::Response::new(ExportTraceServiceResponse::default()))
    }
}

#[test]
fn a_trace_goes_to_a_collector_over_grpc() {
    let context = project();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let listener = runtime
        .block_on(tokio::net::TcpListener::bind("127.0.0.1:0"))
        .unwrap();
    let address = listener.local_addr().unwrap();
    let collector = Collector::default();
    let server = tonic::transport::Server::builder()
        .add_service(TraceServiceServer::new(collector.clone()))
        .serve_with_incoming(TcpIncoming::from(listener));
    let _server = runtime.spawn(server);
    let target = format!("grpc://{address}?x-key=hush");
    context.ok(&["up", "--yes", "--otel-traces", &target]);
    let received = collector.0.lock().unwrap().clone();
    assert!(received.iter().all(|(key, _)| key == "hush"));
    let requests: Vec<_> = received.into_iter().map(|(_, request)| request).collect();
    let names = names(&requests);
    for name in ["pulumi", "pulumi-plan", "pulumirpc.ResourceProvider/Create"] {
        assert!(names.iter().any(|it| it == name), "{name}");
    }
}

#[test]
fn a_collector_that_is_gone_is_a_warning_without_its_address() {
    let context = TestContext::new();
    for target in [
        "http://127.0.0.1:1/?x-key=hush",
        "grpc://127.0.0.1:1?x-key=hush",
    ] {
        let ran = context.run(&["stack", "ls", "--otel-traces", target]);
        assert_eq!(ran.code, 0);
        let expected = "warning: the trace is not complete: the collector does not take it: ";
        assert!(ran.stderr.starts_with(expected), "{}", ran.stderr);
        assert!(!ran.stderr.contains("hush"), "{}", ran.stderr);
    }
}

#[test]
fn a_trace_says_what_failed() {
    let context = project();
    context.write(
        "Pulumi.yaml",
        "name: proj\nruntime: yaml\nresources:\n  broken: {type: command:local:Command, properties: {create: exit 3}}\n",
    );
    context.run(&[
        "up",
        "--yes",
        "--skip-preview",
        "--otel-traces",
        "file://trace.json",
    ]);
    let spans = spans(&context.read("trace.json"));
    for name in ["plumb up", "update", "create broken", "Create broken"] {
        assert!(spans[name].failed, "{name}");
    }
    assert!(!spans["Check broken"].failed);
}

#[test]
fn a_trace_belongs_to_whoever_started_the_command() {
    let trace = "0af7651916cd43dd8448eb211c80319c";
    let parent = "b7ad6b7169203331";
    let context = project().with("TRACEPARENT", &format!("00-{trace}-{parent}-01"));
    context.ok(&["stack", "ls", "--tracing=file:trace.json"]);
    let text = context.read("trace.json");
    assert_eq!(spans(&text)["plumb stack list"].parent, parent);
    assert!(text.contains(trace), "{text}");
}

#[test]
fn a_trace_that_cannot_be_written_stops_nothing() {
    let context = TestContext::new();
    let plain = context.run(&["stack", "ls"]);
    assert_eq!(plain.stderr, "");
    for (flag, expected) in [
        (
            "--tracing=http://user:secret@zipkin/",
            "warning: --tracing has no effect: it writes files alone,",
        ),
        (
            "--otel-traces=ftp://user:secret@collector",
            "warning: --otel-traces has no effect: it takes `file://PATH`,",
        ),
        (
            "--tracing=file:no/such/folder",
            "warning: no trace is written: <root>/project/no/such/folder: ",
        ),
        (
            "--profiling=no/such/folder",
            "warning: no trace is written: <root>/project/no/such/folder.",
        ),
    ] {
        let ran = context.run(&["stack", "ls", flag]);
        assert_eq!((ran.code, &ran.stdout), (0, &plain.stdout));
        assert!(ran.stderr.starts_with(expected), "{flag}: {}", ran.stderr);
        assert!(!ran.stderr.contains("secret"), "{}", ran.stderr);
    }
}

#[test]
fn a_profile_is_a_trace_with_the_process_in_its_name() {
    let context = TestContext::new();
    let child = context.start(&["stack", "ls", "--profiling=took"]);
    let name = format!("took.{}.trace", child.id());
    assert_eq!(context.ended(child).code, 0);
    let trace = context.read(&name);
    assert!(spans(&trace).contains_key("plumb stack list"), "{trace}");
}

#[test]
fn a_trace_is_converted() {
    let context = project();
    context.ok(&["preview", "--tracing=file:trace.json"]);
    let document: Value =
        serde_json::from_str(&context.ok(&["convert-trace", "trace.json"])).unwrap();
    let events = document["traceEvents"].as_array().unwrap();
    let of = |name: &str| events.iter().find(|it| it["name"] == name).unwrap();
    assert_eq!(
        (&of("plumb preview")["ph"], &of("plumb preview")["tid"]),
        (&"X".into(), &1.into())
    );
    assert!(of("Check word")["dur"].as_f64() <= of("preview")["dur"].as_f64());
    let again: Value =
        serde_json::from_str(&context.ok(&["convert-trace", "--otel", "trace.json"])).unwrap();
    assert_eq!(
        spans(&again.to_string()).len(),
        spans(&context.read("trace.json")).len()
    );
    let refused = context.fails(1, &["convert-trace", "-g", "1s", "trace.json"]);
    assert!(
        refused.contains("`--granularity` is not supported: no samples are taken"),
        "{refused}"
    );
    context.write("other.json", "{\"a\": 1}\n");
    let other = context.fails(1, &["convert-trace", "other.json"]);
    assert!(other.contains("other.json, line 1, is no trace"), "{other}");
}

#[cfg(unix)]
#[test]
fn a_trace_is_shown_to_this_machine_until_it_is_interrupted() {
    let context = project();
    context.ok(&["preview", "--tracing=file:trace.json"]);
    let mut shown = context.start(&["view-trace", "trace.json", "--port", "0"]);
    let mut said = String::new();
    let mut output = BufReader::new(shown.stdout.take().unwrap());
    output.read_line(&mut said).unwrap();
    let address = said
        .trim()
        .strip_prefix("Displaying trace at http://")
        .unwrap();
    let ask = |path: &str, host: &str| {
        let mut stream = TcpStream::connect(address).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    // An idle connection does not block others.
    let _silent = TcpStream::connect(address).unwrap();
    let page = ask("/", address);
    assert!(page.starts_with("HTTP/1.1 200 OK\r\n"), "{page}");
    assert!(page.contains("\"name\":\"Check word\"") && page.contains("prefers-color-scheme"));
    assert!(ask("/other", address).starts_with("HTTP/1.1 404 "));
    assert!(ask("/", "elsewhere.example").starts_with("HTTP/1.1 403 "));
    Command::new("kill")
        .args(["-INT", &shown.id().to_string()])
        .status()
        .unwrap();
    assert!(shown.wait().unwrap().success());
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let refused = context.fails(1, &["view-trace", "trace.json", "--port", &port]);
    assert!(
        refused.contains(&format!("could not listen at port {port}")),
        "{refused}"
    );
}
