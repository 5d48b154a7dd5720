//! Snippets in runs of the engine: binding, evaluation, and the resulting steps.

use plumb_deploy::request::RegisterRequest;
use plumb_deploy::setup::{Operation, Options, Phase};
use plumb_deploy::target::UrnSet;
use plumb_engine::RunError;
use plumb_resource::Alias;
use plumb_state::Snippet;
use plumb_value::{PropertyMap, Value};

use crate::stack::{Registrations, Stack, referring, snippet, urn, uuid};

const THING: &str = "pkg:index:Thing";
const PRODUCER: &str = "pkg:index:Producer";

fn thing(name: &str, code: &str) -> Snippet {
    snippet(name, THING, code)
}

fn producer(name: &str, seed: &str) -> RegisterRequest {
    let properties = PropertyMap::new().with("seed", seed);
    RegisterRequest {
        properties: properties.into(),
        ..RegisterRequest::new(PRODUCER, name, true)
    }
}

fn only(request: RegisterRequest) -> Registrations {
    vec![(request, None)]
}

/// PCL-01, PCL-05, PCL-21
#[tokio::test]
async fn snippets_are_evaluated_beside_the_program() {
    let mut stack = Stack::with([thing("a", "flag = true"), thing("b", "flag = false")]);
    stack.up(only(producer("main", "x"))).await.succeeded();
    assert_eq!(stack.names(), ["a", "b", "main"]);
    assert_eq!(stack.input("a", "flag"), Some(&Value::Bool(true)));
    assert_eq!(stack.input("b", "flag"), Some(&Value::Bool(false)));
    assert_eq!(stack.state("a").snippet_id, Some(uuid("a")));
    assert_eq!(stack.state("main").snippet_id, None);
    assert_eq!(stack.stored(), ["a", "b"]);
    let providers = stack.snapshot.resources.iter();
    let providers = providers.filter(|state| state.type_token.is_provider());
    assert_eq!(providers.count(), 1);
}

/// PCL-02
#[tokio::test]
async fn a_snippet_that_cannot_be_bound_fails_the_update() {
    let mut stack = Stack::with([thing("a", "text = \"x\"\nflg = true")]);
    let ran = stack.up(Vec::new()).await;
    ran.failed("missing required attribute 'flag'\n\n  on a.pp line 1:");
    ran.failed("unsupported attribute 'flg'\n\n  on a.pp line 2:\n   2: flg = true");
    assert!(stack.names().is_empty());
    assert!(stack.cloud.take_calls().is_empty());
}

/// PCL-03, PCL-04
#[tokio::test]
async fn a_changed_snippet_updates_and_a_removed_one_deletes() {
    let mut stack = Stack::with([thing("a", "flag = true")]);
    stack.up(Vec::new()).await.succeeded();
    stack.snapshot.snippets[0].code = "flag = false".into();
    stack.up(Vec::new()).await.succeeded();
    assert_eq!(stack.input("a", "flag"), Some(&Value::Bool(false)));
    stack.snapshot.snippets.clear();
    stack.up(Vec::new()).await.succeeded();
    assert!(stack.snapshot.resources.is_empty(), "the provider goes too");
    assert_eq!(
        stack.cloud.take_calls(),
        ["create a", "update a", "delete a"]
    );
}

/// PCL-06, PCL-07
#[tokio::test]
async fn functions_know_the_deployment_and_its_folders() {
    let code = "flag = length([1, 2]) == 2\ncount = max(1, 7, 3)\n\
                text = \"${project()} ${stack()} ${organization()} ${cwd()} ${rootDirectory()}\"";
    let mut stack = Stack::with([thing("a", code)]);
    stack.up(Vec::new()).await.succeeded();
    let root = stack.folder.path().display();
    let text = format!("proj dev org {root}/program {root}");
    assert_eq!(
        stack.input("a", "text").and_then(Value::as_str),
        Some(&*text)
    );
    assert_eq!(stack.input("a", "count"), Some(&Value::Number(7.0)));
    assert_eq!(stack.input("a", "flag"), Some(&Value::Bool(true)));
}

/// PCL-08
#[tokio::test]
async fn an_invoke_is_made_once() {
    let code = "flag = true\ntext = invoke(\"pkg:index:echo\", { text = \"hi\" }).result";
    let mut stack = Stack::with([thing("a", code)]);
    stack.up(Vec::new()).await.succeeded();
    let text = stack.input("a", "text").and_then(Value::as_str);
    assert_eq!(text, Some("echo of hi"));
    assert_eq!(stack.cloud.take_calls(), ["invoke hi", "create a"]);
}

fn consumer() -> Snippet {
    let consumer = thing("consumer", "flag = true\ntext = main.value");
    referring(consumer, "main", &urn(PRODUCER, "main"))
}

fn text_of<'s>(stack: &'s Stack, name: &str) -> Option<&'s str> {
    stack.input(name, "text").and_then(Value::as_str)
}

/// PCL-09: a reference outlives its resource, and refers to the next one with its URN.
#[tokio::test]
async fn references_survive_what_they_refer_to() {
    let mut stack = Stack::with([consumer()]);
    let program = || only(producer("main", "x"));
    stack.up(program()).await.succeeded();
    assert_eq!(text_of(&stack, "consumer"), Some("value-of-x"));
    let main = urn(PRODUCER, "main");
    assert!(stack.state("consumer").dependencies.contains(&main));
    let options = Options {
        targets: UrnSet::new([main.to_string()]),
        target_dependents: true,
        ..Options::new(Phase::Execute)
    };
    let destroyed = stack.run(Operation::Destroy, options, Vec::new()).await;
    destroyed.unwrap().succeeded();
    assert!(stack.names().is_empty());
    assert_eq!(stack.snapshot.snippets, [consumer()]);
    stack.up(program()).await.succeeded();
    assert_eq!(text_of(&stack, "consumer"), Some("value-of-x"));
}

/// PCL-10
#[tokio::test]
async fn outputs_of_components_are_there_once_they_are_registered() {
    let group = urn("pkg:index:Group", "group");
    let consumer = thing("consumer", "flag = true\ntext = group.value");
    let mut stack = Stack::with([referring(consumer, "group", &group)]);
    let component = RegisterRequest::new("pkg:index:Group", "group", false);
    let outputs = PropertyMap::new().with("value", "told");
    stack.up(vec![(component, Some(outputs))]).await.succeeded();
    assert_eq!(text_of(&stack, "consumer"), Some("told"));
}

/// Components of the program have no schema, so all of their members are accepted.
#[tokio::test]
async fn references_may_mean_types_of_the_program() {
    let group = urn("my:own:Group", "group");
    let consumer = thing("consumer", "flag = true\ntext = group.anything");
    let mut stack = Stack::with([referring(consumer, "group", &group)]);
    let component = RegisterRequest::new("my:own:Group", "group", false);
    let outputs = PropertyMap::new().with("anything", "told");
    stack.up(vec![(component, Some(outputs))]).await.succeeded();
    assert_eq!(text_of(&stack, "consumer"), Some("told"));
    stack.snapshot.snippets[0].type_token = "my:own:Thing".into();
    let ran = stack.up(Vec::new()).await;
    ran.failed("the schema of package 'my' cannot be loaded");
}

/// PCL-11
#[tokio::test]
async fn a_reference_to_what_the_program_does_not_register_is_an_error() {
    let mut stack = Stack::with([consumer()]);
    stack.up(only(producer("main", "x"))).await.succeeded();
    let ran = stack.up(Vec::new()).await;
    ran.failed("could not resolve reference 'main': ");
    ran.failed("no source registered this URN");
    assert_eq!(stack.names(), ["consumer", "main"]);
}

/// PCL-12
#[tokio::test]
async fn chains_of_snippets_work_and_end() {
    let first = snippet("first", PRODUCER, "seed = \"abc\"");
    let middle = snippet("middle", PRODUCER, "seed = first.value");
    let middle = referring(middle, "first", &urn(PRODUCER, "first"));
    let last = thing("last", "flag = true\ntext = middle.value");
    let last = referring(last, "middle", &urn(PRODUCER, "middle"));
    let mut stack = Stack::with([last, middle, first]);
    stack.up(Vec::new()).await.succeeded();
    assert_eq!(text_of(&stack, "last"), Some("value-of-value-of-abc"));
    stack.snapshot.snippets.pop();
    stack
        .up(Vec::new())
        .await
        .failed("no source registered this URN");
    assert_eq!(stack.names(), ["first", "last", "middle"]);
}

/// PCL-13
#[tokio::test]
async fn references_follow_what_was_renamed() {
    let mut stack = Stack::with([consumer()]);
    stack.up(only(producer("main", "x"))).await.succeeded();
    let mut renamed = producer("other", "x");
    renamed.aliases.push(Alias::Urn(urn(PRODUCER, "main")));
    stack.up(only(renamed)).await.succeeded();
    let reference = &stack.snapshot.snippets[0].references["main"];
    assert_eq!(reference, urn(PRODUCER, "other").as_str());
    assert_eq!(text_of(&stack, "consumer"), Some("value-of-x"));
}

/// PCL-14
#[tokio::test]
async fn options_are_recorded() {
    let code = "flag = true
        options {
          protect = true
          retainOnDelete = true
          ignoreChanges = [flag]
          additionalSecretOutputs = [id]
          replaceOnChanges = [text]
          customTimeouts = { create = \"5m\", update = \"10m\", delete = \"15m\" }
        }";
    let mut stack = Stack::with([thing("a", code)]);
    stack.up(Vec::new()).await.succeeded();
    let state = stack.state("a");
    assert!(state.protect && state.retain_on_delete);
    assert_eq!(*state.ignore_changes, ["flag"]);
    assert_eq!(state.additional_secret_outputs, ["id".into()]);
    assert_eq!(*state.replace_on_changes, ["text"]);
    let timeouts = state.custom_timeouts;
    assert_eq!(
        (timeouts.create, timeouts.update, timeouts.delete),
        (300.0, 600.0, 900.0)
    );
}

/// PCL-15, PCL-16: options that refer to resources.
#[tokio::test]
async fn options_name_resources() {
    let main = urn(PRODUCER, "main");
    let dependent = thing(
        "dependent",
        "flag = true\noptions {\n dependsOn = [main]\n deletedWith = main\n replaceWith = [main]\n}",
    );
    let child = thing("child", "flag = true\noptions {\n parent = main\n}");
    let mut stack = Stack::with([
        referring(dependent, "main", &main),
        referring(child, "main", &main),
    ]);
    stack.up(only(producer("main", "x"))).await.succeeded();
    let state = stack.state("dependent");
    let main_alone = std::slice::from_ref(&main);
    assert_eq!(state.dependencies, main_alone);
    assert_eq!(state.deleted_with.as_ref(), Some(&main));
    assert_eq!(state.replace_with, main_alone);
    let child = stack.state("child");
    assert_eq!(child.parent.as_ref(), Some(&main));
    let qualified = "urn:pulumi:dev::proj::pkg:index:Producer$pkg:index:Thing::child";
    assert_eq!(child.urn.as_str(), qualified);
}

/// PCL-17
#[tokio::test]
async fn an_alias_renames_the_resource_of_a_snippet() {
    let mut stack = Stack::with([thing("old", "flag = true")]);
    stack.up(Vec::new()).await.succeeded();
    let former = urn(THING, "old");
    let snippet = &mut stack.snapshot.snippets[0];
    snippet.name = "new".into();
    snippet.code = format!("flag = true\noptions {{\n aliases = [\"{former}\"]\n}}").into();
    stack.up(Vec::new()).await.succeeded();
    assert_eq!(stack.names(), ["new"]);
    assert_eq!(stack.cloud.take_calls(), ["create old"]);
}

/// PCL-18
#[tokio::test]
async fn a_range_makes_several() {
    let mut stack = Stack::with([thing("fan", "flag = true\noptions {\n range = 3\n}")]);
    stack.up(Vec::new()).await.succeeded();
    assert_eq!(stack.names(), ["fan-0", "fan-1", "fan-2"]);
    stack.snapshot.snippets[0].code = "flag = true\noptions {\n range = 1\n}".into();
    stack.up(Vec::new()).await.succeeded();
    assert_eq!(stack.names(), ["fan-0"]);
}

/// PCL-19, PCL-28: snippets are added, changed and removed by an update.
#[tokio::test]
async fn snippets_are_changed_by_the_update() {
    let mut stack = Stack::new();
    let add = [("a", Some(thing("a", "flag = true")))];
    stack.change(add).await.unwrap().succeeded();
    assert_eq!((stack.stored(), stack.names()), (vec!["a"], vec!["a"]));
    let change = [("a", Some(thing("a", "flag = false")))];
    stack.change(change).await.unwrap().succeeded();
    assert_eq!(stack.snapshot.snippets[0].code, "flag = false");
    assert_eq!(stack.input("a", "flag"), Some(&Value::Bool(false)));
    stack.cloud.stuck.lock().unwrap().push("a".to_owned());
    stack
        .change([("a", None)])
        .await
        .unwrap()
        .failed("does not do that");
    assert_eq!((stack.stored(), stack.names()), (vec!["a"], vec!["a"]));
    stack.cloud.stuck.lock().unwrap().clear();
    stack.change([("a", None)]).await.unwrap().succeeded();
    assert!(stack.stored().is_empty() && stack.names().is_empty());
}

/// PCL-20: a snippet that cannot be bound is not stored, and the update does not run.
#[tokio::test]
async fn an_invalid_snippet_is_not_stored() {
    let mut stack = Stack::with([thing("a", "flag = true")]);
    let bad = [
        ("a", None),
        ("b", Some(thing("b", "flag = true\ntext = nobody.name"))),
    ];
    let Err(RunError::Snippet(invalid)) = stack.change(bad).await else {
        panic!("it was taken");
    };
    assert_eq!(invalid.name, "b");
    assert!(
        invalid.problems.starts_with("undefined variable 'nobody'"),
        "{invalid}"
    );
    assert_eq!(stack.stored(), ["a"]);
    assert!(stack.cloud.take_calls().is_empty());
}

/// A preview evaluates snippets with unknown values for missing resources.
#[tokio::test]
async fn previews_evaluate_snippets_too() {
    let mut stack = Stack::with([consumer()]);
    let options = Options::new(Phase::Preview);
    let program = only(producer("main", "x"));
    let ran = stack
        .run(Operation::Update, options, program)
        .await
        .unwrap();
    ran.succeeded();
    assert!(stack.cloud.take_calls().is_empty());
    assert!(stack.names().is_empty());
}
