//! Plugins that crash, hang, or print invalid ports.

use std::time::{Duration, Instant};

use plumb_plugin::HostError;
use plumb_plugin::process::{Exit, PluginTimeouts, StartProblem};
use plumb_resource::provider::PluginSpec;

use crate::support::{World, is_running};

async fn problem(
    world: &World,
    script: &str,
    timeouts: Option<PluginTimeouts>,
) -> (StartProblem, String) {
    let path = world.script("bad", script);
    let mut options = world.options();
    if let Some(timeouts) = timeouts {
        options.timeouts = timeouts;
    }
    let host = plumb_plugin::PluginHost::new(options);
    let Err(error) = host.provider(&PluginSpec::named("bad")).await else {
        panic!("the plugin started")
    };
    let text = error.to_string();
    assert!(
        text.starts_with(&format!("bad (resource) plugin [{}] ", path.display())),
        "{text}"
    );
    match error {
        HostError::Start(error) => (error.problem, text),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_crash_shows_the_exit_code_and_the_last_output() {
    let world = World::new();
    let (problem, text) = problem(&world, "echo 'no such library' >&2; exit 3", None).await;
    assert!(
        matches!(problem, StartProblem::Ended(Exit::Code(3))),
        "{problem:?}"
    );
    assert!(
        text.contains("exit status 3") && text.ends_with("\n    no such library"),
        "{text}"
    );
}

#[tokio::test]
async fn rubbish_on_stdout_is_no_port() {
    let world = World::new();
    let (problem, text) = problem(&world, "echo 'Hello there'; sleep 60", None).await;
    assert!(
        matches!(problem, StartProblem::InvalidPort(_)),
        "{problem:?}"
    );
    assert!(
        text.contains("wrote an invalid port to stdout: \"Hello there\""),
        "{text}"
    );
}

#[tokio::test]
async fn a_plugin_that_hangs_is_given_up_and_killed_with_its_children() {
    let world = World::new();
    let timeouts = PluginTimeouts {
        port: Duration::from_millis(700),
        connect: Duration::from_secs(1),
        ..PluginTimeouts::default()
    };
    let script = format!(
        "sleep 60 & echo $! > {}/child; wait",
        world.root.path().display()
    );
    let (problem, _) = problem(&world, &script, Some(timeouts)).await;
    assert!(matches!(problem, StartProblem::NoPort(_)), "{problem:?}");
    let child: u32 = std::fs::read_to_string(world.root.path().join("child"))
        .unwrap()
        .trim()
        .parse()
        .unwrap();
    let start = Instant::now();
    while is_running(child) {
        assert!(
            start.elapsed() < Duration::from_secs(5),
            "the child survives"
        );
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn nobody_listens_at_the_port() {
    let world = World::new();
    let timeouts = PluginTimeouts {
        port: Duration::from_secs(5),
        connect: Duration::from_millis(300),
        ..PluginTimeouts::default()
    };
    let (problem, text) = problem(&world, "echo 1; sleep 60", Some(timeouts)).await;
    assert!(
        matches!(problem, StartProblem::Unreachable { .. }),
        "{problem:?}"
    );
    assert!(text.contains("did not come alive within 0.3 s"), "{text}");
}

#[tokio::test]
async fn a_plugin_that_ends_after_its_port_is_noticed_at_once() {
    let world = World::new();
    let start = Instant::now();
    let (problem, text) = problem(&world, "echo 1; echo 'out of memory' >&2; exit 1", None).await;
    assert!(
        matches!(problem, StartProblem::EndedLater(Exit::Code(1))),
        "{problem:?}"
    );
    assert!(text.contains("out of memory"), "{text}");
    assert!(start.elapsed() < Duration::from_secs(5));
}

#[tokio::test]
async fn another_protocol_at_the_port_is_an_error() {
    let world = World::new();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        use std::io::Write;
        for stream in listener.incoming().take(50) {
            let _ = stream.and_then(|mut stream| stream.write_all(b"220 mail server ready\r\n"));
        }
    });
    let timeouts = PluginTimeouts {
        port: Duration::from_secs(5),
        connect: Duration::from_secs(1),
        ..PluginTimeouts::default()
    };
    let (problem, text) = problem(&world, &format!("echo {port}; sleep 60"), Some(timeouts)).await;
    assert!(
        matches!(
            problem,
            StartProblem::Handshake(_) | StartProblem::Unreachable { .. }
        ),
        "{text}"
    );
}

#[tokio::test]
async fn a_missing_plugin_is_named() {
    let world = World::new();
    let Err(error) = world.host().provider(&PluginSpec::named("nothing")).await else {
        panic!()
    };
    assert!(
        error
            .to_string()
            .starts_with("no resource plugin 'pulumi-resource-nothing' found"),
        "{error}"
    );
}
