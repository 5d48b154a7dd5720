//! Runs the built binary with doubles of everything else.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value as Json;

use super::compare::{Depth, Difference};
use super::events;
use super::grpc::{self, Answer, Served};
use super::names::Names;
use super::program::{CallbacksDouble, Pace, ProgramDouble};
use super::provider::ProviderDouble;
use super::recording::{self, Call, Peer, Step};
use super::script::Script;
use super::state;
use crate::context::{Ran, TestContext};

/// Time limit of a command, because a deadlock in the engine or a double must not block the tests.
const LIMIT: Duration = Duration::from_mins(2);

/// Implementation of the providers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Providers {
    /// Doubles that give the recorded answers.
    Doubles,
    /// Built-in providers, and doubles of the others. Random values are not compared.
    BuiltIn,
}

const BUILT_IN: [&str; 2] = ["command", "random"];

impl Providers {
    fn depth(self) -> Depth {
        match self {
            Providers::Doubles => Depth::Values,
            Providers::BuiltIn => Depth::Shapes,
        }
    }

    /// Whether calls to `peer` arrive at a double.
    fn sees(self, peer: &Peer) -> bool {
        match peer {
            Peer::Engine => false,
            Peer::Provider(name) => {
                self == Providers::Doubles || !BUILT_IN.contains(&name.as_str())
            }
            Peer::Language(_) | Peer::Callbacks => true,
        }
    }
}

/// A project with a stack, with doubles of everything except the engine.
pub(super) struct Stage {
    context: TestContext,
    plugins: PathBuf,
    names: Option<Names>,
    pace: Pace,
    providers: Providers,
}

impl Stage {
    pub(super) fn new(program: &str, pace: Pace, providers: Providers) -> Self {
        let mut context = TestContext::without_project().with_passphrase();
        let plugins = context.home().join("plugins");
        std::fs::create_dir(&plugins).unwrap();
        // Scripts of the built-in `command` need system tools.
        let path = format!("{}:/usr/bin:/bin", plugins.display());
        context.set("PATH", Some(&path));
        // Enables the flag for event logs.
        context.set("PULUMI_DEBUG_COMMANDS", Some("true"));
        recording::copy_project(program, &context.project(), &plugins);
        context.ok(&["stack", "init", "dev"]);
        Stage {
            names: Some(Names::new(&context.project(), &plugins)),
            context,
            plugins,
            pace,
            providers,
        }
    }

    /// Replays a step; returns all differences.
    pub(super) async fn replay(&mut self, step: &Step) -> Vec<Difference> {
        let expected = self.calls_seen(step).cloned().collect();
        let names = self.names.take().unwrap();
        let script = Script::new(&step.name, expected, self.providers.depth(), names);
        let script = Arc::new(Mutex::new(script));
        let served = self.serve_doubles(step, &script).await;
        let mut words = step.command.clone();
        words.extend(["--stack", "dev", "--parallel", "8", "--non-interactive"]);
        let log = self.context.home().join("events.jsonl");
        words.extend(["--event-log", log.to_str().unwrap()]);
        let ran = self.run(&words).await;
        assert_eq!(ran.code, 0, "{}\n{}{}", step.name, ran.stdout, ran.stderr);
        drop(served);
        let export = self.run(&["stack", "export", "--show-secrets"]).await;
        let events = std::fs::read_to_string(&log).unwrap();
        std::fs::remove_file(&log).unwrap();
        let mut script = script.lock().unwrap();
        compare_states(&mut script, &step.state, &export.stdout);
        compare_events(&mut script, &step.events, &events);
        self.names = Some(script.names.clone());
        script.finish()
    }

    /// Recorded calls of the engine that arrive at doubles.
    fn calls_seen<'s>(&self, step: &'s Step) -> impl Iterator<Item = &'s Call> {
        let providers = self.providers;
        step.calls
            .iter()
            .filter(move |call| providers.sees(&call.peer))
    }

    /// Starts the doubles, and puts plugins that lead to them on the search path.
    async fn serve_doubles(&self, step: &Step, script: &Arc<Mutex<Script>>) -> Vec<Served> {
        let mut served = Vec::new();
        let callbacks = grpc::serve(Arc::new(CallbacksDouble {
            script: script.clone(),
        }))
        .await;
        script.lock().unwrap().callbacks = callbacks.port;
        served.push(callbacks);
        let peers: BTreeSet<&Peer> = self.calls_seen(step).map(|call| &call.peer).collect();
        for peer in peers {
            let (file, double): (String, Arc<dyn Answer>) = match peer {
                Peer::Language(runtime) => (
                    format!("pulumi-language-{runtime}"),
                    Arc::new(self.program(runtime, step, script)),
                ),
                Peer::Provider(name) => {
                    let (name, script) = (name.clone(), script.clone());
                    let file = format!("pulumi-resource-{name}");
                    (file, Arc::new(ProviderDouble { name, script }))
                }
                Peer::Engine | Peer::Callbacks => continue,
            };
            let double = grpc::serve(double).await;
            self.write_plugin(&file, double.port);
            served.push(double);
        }
        served
    }

    fn program(&self, runtime: &str, step: &Step, script: &Arc<Mutex<Script>>) -> ProgramDouble {
        let requests = step.calls.iter().filter(|call| call.peer == Peer::Engine);
        ProgramDouble {
            runtime: runtime.to_owned(),
            requests: requests.cloned().collect(),
            pace: self.pace,
            script: script.clone(),
        }
    }

    /// Writes a plugin: a script that prints a port and runs until it is stopped.
    fn write_plugin(&self, file: &str, port: u16) {
        let path = self.plugins.join(file);
        std::fs::write(
            &path,
            format!("#!/bin/sh\necho {port}\nexec /bin/sleep 1000\n"),
        )
        .unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
    }

    async fn run(&self, words: &[&str]) -> Ran {
        let mut command = tokio::process::Command::from(self.context.command(words, ""));
        let output = command.kill_on_drop(true).output();
        let output = tokio::time::timeout(LIMIT, output).await.unwrap().unwrap();
        self.context.ran(&output)
    }
}

fn compare_states(script: &mut Script, recorded: &Json, export: &str) {
    let recorded = state::comparable(recorded);
    let ours = state::comparable(&serde_json::from_str(export).unwrap());
    let resources = ours["resources"].as_object().into_iter().flatten();
    for (key, resource) in resources {
        if resource["type"].as_str().unwrap().starts_with("pulumi:") {
            script
                .names
                .learn(&recorded["resources"][key]["id"], &resource["id"]);
        }
    }
    script.compare("state", "", &recorded, &ours);
}

fn compare_events(script: &mut Script, recorded: &str, log: &str) {
    let (recorded, ours) = (events::comparable(recorded), events::comparable(log));
    script.compare("events", "", &recorded, &ours);
}
