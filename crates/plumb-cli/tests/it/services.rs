//! Services of the engine for plugins and language hosts, which are doubles here; the binary runs between them.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use futures::future::BoxFuture;
use serde_json::{Value as Json, json};
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Status};

use crate::context::{Ran, TestContext};
use crate::recordings::grpc::{self, Answer, Served};

/// A plugin with answers from a function; other methods are unimplemented.
struct Double<F>(F);

#[async_trait]
impl<F> Answer for Double<F>
where
    F: Fn(String, Json) -> BoxFuture<'static, Option<Result<Json, Status>>> + Send + Sync + 'static,
{
    async fn answer(&self, method: &str, request: Json) -> Result<Json, Status> {
        let name = method.rsplit('/').next().unwrap().to_owned();
        let answer = (self.0)(name, request).await;
        answer.unwrap_or_else(|| Err(Status::unimplemented(method)))
    }
}

/// A project whose program is in the test, in the language `double`.
struct Bench {
    context: TestContext,
    plugins: PathBuf,
    served: Vec<Served>,
}

impl Bench {
    fn new() -> Self {
        let mut context = TestContext::without_project().with_passphrase();
        let plugins = context.home().join("plugins");
        std::fs::create_dir(&plugins).unwrap();
        context.set(
            "PATH",
            Some(&format!("{}:/usr/bin:/bin", plugins.display())),
        );
        context.write("Pulumi.yaml", "name: proj\nruntime: double\n");
        context.ok(&["stack", "init", "dev"]);
        Bench {
            context,
            plugins,
            served: Vec::new(),
        }
    }

    /// Puts a plugin on the search path.
    async fn plugin<F>(&mut self, file: &str, answer: F)
    where
        F: Fn(String, Json) -> BoxFuture<'static, Option<Result<Json, Status>>>
            + Send
            + Sync
            + 'static,
    {
        let served = grpc::serve(Arc::new(Double(answer))).await;
        let path = self.plugins.join(file);
        let text = format!("#!/bin/sh\necho {}\nexec /bin/sleep 1000\n", served.port);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
        self.served.push(served);
    }

    async fn run(&self, words: &[&str]) -> Ran {
        let words = [words, &["--stack", "dev"]].concat();
        let mut command = tokio::process::Command::from(self.context.command(&words, ""));
        let output = command.kill_on_drop(true).output();
        self.context.ran(&output.await.unwrap())
    }

    /// Runs a command that must succeed; returns its stdout.
    async fn ok(&self, words: &[&str]) -> String {
        let ran = self.run(words).await;
        assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
        ran.stdout
    }

    /// Resources of the state without providers.
    async fn resources(&self) -> Vec<Json> {
        let state: Json = serde_json::from_str(&self.ok(&["stack", "export"]).await).unwrap();
        let resources = state["deployment"]["resources"].as_array();
        let mut resources = resources.cloned().unwrap_or_default();
        let is_provider = |it: &Json| it["type"].as_str().unwrap().starts_with("pulumi:");
        resources.retain(|it| !is_provider(it));
        resources
    }
}

fn connect(address: &Json) -> Channel {
    let address = address.as_str().unwrap();
    let endpoint = Endpoint::from_shared(format!("http://{address}"));
    endpoint.unwrap().connect_lazy()
}

/// Sets a program that requires `packages` and executes `run`.
async fn program<F>(bench: &mut Bench, packages: Json, run: F)
where
    F: Fn(Json) -> BoxFuture<'static, ()> + Send + Sync + 'static,
{
    let run = Arc::new(run);
    let answer = move |method: String, request: Json| -> BoxFuture<'static, _> {
        let (packages, run) = (packages.clone(), run.clone());
        Box::pin(async move {
            match method.as_str() {
                "GetRequiredPackages" => Some(Ok(json!({ "packages": packages }))),
                "Run" => {
                    run(request).await;
                    Some(Ok(json!({})))
                }
                _ => None,
            }
        })
    };
    bench.plugin("pulumi-language-double", answer).await;
}

/// Sets a program that registers one resource of this size.
async fn program_of_a_thing(bench: &mut Bench, size: u32) {
    program(bench, json!([]), move |request| {
        Box::pin(async move {
            let thing = json!({
                "type": "test:index:Thing",
                "name": "a",
                "custom": true,
                "object": { "size": size },
            });
            let channel = connect(&request["monitorAddress"]);
            let method = "/pulumirpc.ResourceMonitor/RegisterResource";
            grpc::call(channel, method, &thing).await.unwrap();
        })
    })
    .await;
}

fn part(size: &Json) -> Json {
    json!({
        "type": "test:index:Part",
        "name": "part",
        "inputs": { "size": size },
        "outputs": { "size": size },
    })
}

/// A provider that publishes one view of each of its resources.
#[derive(Clone, Default)]
struct Teller {
    /// Token of the last call.
    token: Arc<Mutex<String>>,
    /// Method and `oldViews` of each call.
    told: Arc<Mutex<Vec<(String, Json)>>>,
}

impl Teller {
    async fn publish(&self, request: &Json, step: Json) {
        let channel = connect(&request["resourceStatusAddress"]);
        let method = "/pulumirpc.ResourceStatus/PublishViewSteps";
        let token = request["resourceStatusToken"].as_str().unwrap().to_owned();
        let before = std::mem::replace(&mut *self.token.lock().unwrap(), token.clone());
        let late = json!({ "token": before, "steps": [step.clone()] });
        let late = grpc::call(channel.clone(), method, &late)
            .await
            .unwrap_err();
        assert_eq!(
            (late.code(), late.message()),
            (Code::NotFound, &*format!("token {before} not found"))
        );
        let odd = json!({ "token": token, "steps": [{ "type": "a:b:C", "name": "c" }] });
        let odd = grpc::call(channel.clone(), method, &odd).await.unwrap_err();
        assert_eq!(odd.message(), "unmarshaling steps: unknown step op 0");
        let published = json!({ "token": token, "steps": [step] });
        grpc::call(channel, method, &published).await.unwrap();
    }

    async fn answer(self, method: String, request: Json) -> Option<Result<Json, Status>> {
        let views = request.get("oldViews").cloned().unwrap_or_default();
        self.told.lock().unwrap().push((method.clone(), views));
        let (news, old) = (request["news"].clone(), request["oldInputs"].clone());
        Some(Ok(match method.as_str() {
            "Handshake" => {
                assert_eq!(request["supportsViews"], true);
                json!({ "acceptSecrets": true })
            }
            "Configure" | "Cancel" => json!({}),
            "Check" => json!({ "inputs": news }),
            "Diff" if news == old => json!({ "changes": "DIFF_NONE" }),
            "Diff" => json!({ "changes": "DIFF_SOME" }),
            "Create" => {
                let properties = request["properties"].clone();
                let step = json!({ "op": "CREATE", "new": part(&properties["size"]) });
                self.publish(&request, step).await;
                json!({ "id": "a-1", "properties": properties })
            }
            "Update" => {
                let (old, new) = (part(&old["size"]), part(&news["size"]));
                let step = json!({ "op": "UPDATE", "old": old, "new": new });
                self.publish(&request, step).await;
                json!({ "properties": news })
            }
            "Delete" => {
                let step = json!({ "op": "DELETE", "old": part(&old["size"]) });
                self.publish(&request, step).await;
                json!({})
            }
            _ => return None,
        }))
    }

    fn calls(&self, method: &str) -> usize {
        self.views_told(method).len()
    }

    /// `oldViews` of the calls of a method.
    fn views_told(&self, method: &str) -> Vec<Json> {
        let told = self.told.lock().unwrap();
        let told = told.iter().filter(|(name, _)| name == method);
        told.map(|(_, views)| views.clone()).collect()
    }
}

/// VIEW-01: views published through the service are in the state; a token is invalid after its call.
#[tokio::test]
async fn providers_tell_of_parts_over_the_status_service() {
    let mut bench = Bench::new();
    let teller = Teller::default();
    let provider = teller.clone();
    bench
        .plugin("pulumi-resource-test", move |method, request| {
            Box::pin(provider.clone().answer(method, request))
        })
        .await;
    let up = ["up", "--yes", "--skip-preview", "--non-interactive"];
    program_of_a_thing(&mut bench, 1).await;
    let shown = bench.ok(&up).await;
    assert!(shown.contains("+ 2 created"), "{shown}");
    let of_size = |size: u32| {
        json!({
            "urn": "urn:pulumi:dev::proj::test:index:Thing$test:index:Part::part",
            "custom": false,
            "type": "test:index:Part",
            "inputs": { "size": size },
            "outputs": { "size": size },
            "parent": "urn:pulumi:dev::proj::test:index:Thing::a",
            "viewOf": "urn:pulumi:dev::proj::test:index:Thing::a",
        })
    };
    let resources = bench.resources().await;
    assert_eq!(resources[1..], [of_size(1)]);
    // A provider is cancelled at the end, as after an interrupt.
    assert_eq!(teller.calls("Cancel"), 1);
    program_of_a_thing(&mut bench, 2).await;
    let shown = bench.ok(&up).await;
    assert!(shown.contains("~ 2 updated"), "{shown}");
    assert_eq!(teller.views_told("Update"), [json!([part(&json!(1))])]);
    assert_eq!(bench.resources().await[1..], [of_size(2)]);
    let shown = bench.ok(&["destroy", "--yes", "--skip-preview"]).await;
    assert!(shown.contains("- 2 deleted"), "{shown}");
    assert_eq!(teller.views_told("Delete"), [json!([part(&json!(2))])]);
    assert!(bench.resources().await.is_empty());
}

/// LOADER-02: language hosts get the address of a mapper, which queries plugins once per question.
#[tokio::test]
async fn language_hosts_are_told_of_a_mapper() {
    let mut bench = Bench::new();
    let asked: Arc<Mutex<Vec<(String, Json)>>> = Arc::default();
    let seen = asked.clone();
    bench
        .plugin("pulumi-resource-test", move |method, request| {
            let seen = seen.clone();
            Box::pin(async move {
                let answer = match method.as_str() {
                    "Handshake" => {
                        assert_eq!(request["mapperTarget"], request["loaderTarget"]);
                        return Some(Ok(json!({})));
                    }
                    "GetMappings" => json!({ "providers": ["far"] }),
                    "GetMapping" => json!({ "provider": "far", "data": "aGVsbG8=" }),
                    _ => return None,
                };
                seen.lock().unwrap().push((method, request));
                Some(Ok(answer))
            })
        })
        .await;
    let answers: Arc<Mutex<Vec<Json>>> = Arc::default();
    let answered = answers.clone();
    program(&mut bench, json!([]), move |request| {
        let answered = answered.clone();
        Box::pin(async move {
            let channel = connect(&request["mapperTarget"]);
            let questions = [
                json!({ "provider": "far", "pulumiProvider": "test" }),
                json!({ "provider": "far", "pulumiProvider": "test" }),
                json!({ "provider": "further", "pulumiProvider": "test" }),
                json!({ "provider": "nowhere" }),
            ];
            for question in questions {
                let method = "/codegen.Mapper/GetMapping";
                let answer = grpc::call(channel.clone(), method, &question).await;
                answered.lock().unwrap().push(answer.unwrap());
            }
        })
    })
    .await;
    bench.ok(&["up", "--yes", "--skip-preview"]).await;
    let found = json!({ "data": "aGVsbG8=" });
    let nothing = json!({});
    let expected = [&found, &found, &nothing, &nothing];
    assert_eq!(answers.lock().unwrap().iter().collect::<Vec<_>>(), expected);
    let mappings = ("GetMappings".to_owned(), json!({ "key": "terraform" }));
    let mapping = |provider: &str| {
        let request = match provider {
            "" => json!({ "key": "terraform" }),
            provider => json!({ "key": "terraform", "provider": provider }),
        };
        ("GetMapping".to_owned(), request)
    };
    let expected = [mappings.clone(), mapping("far"), mappings, mapping("")];
    assert_eq!(*asked.lock().unwrap(), expected);
}

/// SKIPINST-01: missing plugins of the program are reported before it runs, unless this is disabled.
#[tokio::test]
async fn plugins_are_missed_before_the_program_runs() {
    let mut bench = Bench::new();
    let runs: Arc<Mutex<u32>> = Arc::default();
    let counted = runs.clone();
    let packages = json!([
        { "name": "random", "kind": "resource", "version": "4.0.0" },
        { "name": "nowhere", "kind": "resource", "version": "1.2.3" },
        { "name": "elsewhere", "kind": "resource", "extension": { "name": "more", "version": "1.0.0" } },
    ]);
    program(&mut bench, packages, move |_| {
        let counted = counted.clone();
        Box::pin(async move { *counted.lock().unwrap() += 1 })
    })
    .await;
    let up = ["up", "--yes", "--skip-preview"];
    let ran = bench.run(&up).await;
    assert_eq!(ran.code, 0, "{}", ran.stdout);
    let expected = "warning: no resource plugin 'pulumi-resource-nowhere' found in the workspace at version v1.2.3 or on \
         your $PATH\nno resource plugin 'pulumi-resource-elsewhere' found in the workspace or on your $PATH\n";
    assert!(ran.stderr.contains(expected), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("--skip-plugin-pre-install"),
        "{}",
        ran.stderr
    );
    let skipped = bench
        .run(&[&up[..], &["--skip-plugin-pre-install"]].concat())
        .await;
    // `destroy` does not run the program.
    let destroyed = bench.run(&["destroy", "--yes", "--skip-preview"]).await;
    for ran in [skipped, destroyed] {
        assert_eq!(
            (ran.code, ran.stderr.contains("nowhere")),
            (0, false),
            "{}",
            ran.stderr
        );
    }
    assert_eq!(*runs.lock().unwrap(), 2);
}
