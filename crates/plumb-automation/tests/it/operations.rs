//! The kinds of operations, and their options.

use std::sync::{Arc, Mutex};

use plumb_automation::values::Secrets;
use plumb_automation::{Config, Error, Import, Program, Workspace};
use plumb_events::Event;
use plumb_resource::StepOp;
use plumb_value::Value;
use pretty_assertions::assert_eq;

const PETS: &str = "
configuration: { count: { type: integer } }
resources:
  pet: { type: 'random:RandomPet', properties: { length: '${count}' } }
  password: { type: 'random:RandomPassword', properties: { length: 12 } }
outputs:
  name: ${pet.id}
  password: ${password.result}
  count: ${count}
";

fn pets() -> Program {
    Program::yaml(PETS)
}

fn config(count: &str) -> Config {
    Config::new().set("count", count)
}

#[tokio::test]
async fn a_stack_is_created_changed_and_deleted() {
    let workspace = Workspace::in_memory().unwrap();
    let stack = workspace.create_stack("shop", "dev").await.unwrap();

    let preview = stack.preview(pets()).config(config("2")).run().await;
    assert_eq!(preview.unwrap().count(StepOp::Create), 3);
    assert_eq!(stack.resources().await.unwrap().len(), 0);

    let first = stack.up(pets()).config(config("2")).run().await.unwrap();
    assert_eq!(first.count(StepOp::Create), 3);
    let name = first.output("name").unwrap();
    assert_eq!(name.split('-').count(), 2);

    let again = stack.up(pets()).config(config("2")).run().await.unwrap();
    assert!(!again.has_changes);
    assert_eq!(again.output("name"), Some(name));

    let third = stack.up(pets()).config(config("3")).run().await.unwrap();
    assert_eq!(third.count(StepOp::Replace), 1);
    assert_eq!(third.output("name").unwrap().split('-').count(), 3);
    assert_eq!(third.output_as::<u8>("count").unwrap(), 3);

    let kinds = stack.history(10).await.unwrap();
    let kinds: Vec<&str> = kinds.iter().map(|it| it.kind.as_str()).collect();
    assert_eq!(kinds, ["update", "update", "update"]);

    let refused = stack.remove(false).await.unwrap_err();
    assert!(refused.to_string().contains("still"), "{refused}");
    stack.destroy().run().await.unwrap();
    assert_eq!(stack.resources().await.unwrap().len(), 0);
    stack.remove(false).await.unwrap();
    assert!(matches!(
        workspace.stack("shop", "dev").await,
        Err(Error::NoStack(_))
    ));
}

#[tokio::test]
async fn secrets_stay_secrets() {
    let workspace = Workspace::in_memory().unwrap();
    let stack = workspace.create_stack("shop", "dev").await.unwrap();
    let program = Program::yaml(
        "configuration: { key: { type: string, secret: true } }\noutputs: { key: '${key}', long: 'x-${key}' }",
    );
    let config = Config::new().set_secret("key", "hunter2-correct");
    let seen = Arc::new(Mutex::new(Vec::new()));
    let listener = seen.clone();
    let report = stack
        .up(program)
        .config(config)
        .on_event(move |event| {
            if let Event::Prelude { config } = event {
                listener.lock().unwrap().extend(config.values().cloned());
            }
        })
        .run()
        .await
        .unwrap();
    assert_eq!(*seen.lock().unwrap(), ["[secret]"]);
    assert_eq!(
        report.outputs_json(Secrets::Hidden),
        serde_json::json!({"key": "[secret]", "long": "[secret]"})
    );
    assert_eq!(report.output("long").unwrap(), "x-hunter2-correct");
    let stored = stack.outputs().await.unwrap();
    assert_eq!(
        stored.get("key"),
        Some(&Value::secret(Value::from("hunter2-correct")))
    );
    let exported = stack.export().await.unwrap();
    assert!(exported.contains("ciphertext") && !exported.contains("hunter2"));
    let history = stack.history(1).await.unwrap();
    let recorded = history[0].config["shop:key"].to_string();
    assert!(
        recorded.contains("secure") && !recorded.contains("hunter2"),
        "{recorded}"
    );
}

#[tokio::test]
async fn states_move_between_stacks_of_a_workspace() {
    let workspace = Workspace::in_memory().unwrap();
    let first = workspace.create_stack("shop", "dev").await.unwrap();
    first.up(pets()).config(config("2")).run().await.unwrap();
    let exported = first.export().await.unwrap();
    let renamed = exported.replace("urn:pulumi:dev::", "urn:pulumi:copy::");
    let renamed = renamed.replace("shop-dev", "shop-copy");
    let copy = workspace.create_stack("shop", "copy").await.unwrap();
    let foreign = copy.replace_state(exported).await.unwrap_err();
    assert!(matches!(foreign, Error::State(_)), "{foreign}");
    copy.replace_state(renamed).await.unwrap();
    let nothing = copy.up(pets()).config(config("2")).run().await.unwrap();
    assert!(!nothing.has_changes);
    assert_eq!(
        copy.outputs().await.unwrap(),
        first.outputs().await.unwrap()
    );

    let reader = Program::yaml(
        "resources:\n  dev: { type: 'pulumi:pulumi:StackReference', properties: { name: organization/shop/dev } }\n\
         outputs: { theirs: '${dev.outputs[\"name\"]}' }",
    );
    let other = workspace.create_stack("reader", "dev").await.unwrap();
    let report = other.up(reader).run().await.unwrap();
    let theirs = first.outputs().await.unwrap();
    assert_eq!(report.outputs.get("theirs"), theirs.get("name"));
    let all = workspace.stacks(None).await.unwrap();
    let all: Vec<(&str, &str)> = all.iter().map(|it| (it.project(), it.name())).collect();
    assert_eq!(all, [("reader", "dev"), ("shop", "copy"), ("shop", "dev")]);
}

#[tokio::test]
async fn objects_that_exist_are_adopted_and_read() {
    let workspace = Workspace::in_memory().unwrap();
    let stack = workspace.create_stack("shop", "dev").await.unwrap();
    let word = Import::new("random:index/randomString:RandomString", "old", "falcon").protect();
    let report = stack.import([word]).run().await.unwrap();
    assert_eq!(report.count(StepOp::Import), 1);
    let states = stack.resources().await.unwrap();
    let adopted = states.iter().find(|it| it.urn.name() == "old").unwrap();
    assert_eq!(adopted.id.as_str(), "falcon");
    assert!(adopted.protect);
    let refreshed = stack.refresh().run().await.unwrap();
    assert!(!refreshed.has_changes);
}

#[tokio::test]
async fn a_plan_is_kept_to() {
    let workspace = Workspace::in_memory().unwrap();
    let stack = workspace.create_stack("shop", "dev").await.unwrap();
    let preview = stack.preview(pets()).config(config("2")).make_plan();
    let plan = preview.run().await.unwrap().plan.unwrap();
    let more = Program::yaml(format!("{PETS}\n").replace(
        "resources:\n",
        "resources:\n  other: { type: 'random:RandomPet' }\n",
    ));
    let refused = stack.up(more).config(config("2")).keep_to(plan.clone());
    let refused = refused.run().await.unwrap_err();
    assert!(
        refused.to_string().contains("not allowed by the plan"),
        "{refused}"
    );
    let kept = stack.up(pets()).config(config("2")).keep_to(plan);
    kept.run().await.unwrap();
}

#[tokio::test]
async fn targets_limit_what_is_done() {
    let workspace = Workspace::in_memory().unwrap();
    let stack = workspace.create_stack("shop", "dev").await.unwrap();
    let pet = "urn:pulumi:dev::shop::random:index/randomPet:RandomPet::pet".to_owned();
    let only = stack.up(pets()).config(config("2")).targets([pet.clone()]);
    assert_eq!(only.run().await.unwrap().count(StepOp::Create), 2);
    let replaced = stack.up(pets()).config(config("2")).replace([pet]);
    let replaced = replaced.run().await.unwrap();
    assert_eq!(replaced.count(StepOp::Replace), 1);
    assert_eq!(replaced.count(StepOp::Create), 1);
}

#[tokio::test]
async fn a_folder_is_a_program() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("Pulumi.yaml", "name: other\nruntime: yaml\nmain: program\n");
    std::fs::create_dir(folder.path().join("program")).unwrap();
    write("program/text.txt", "from a file");
    write(
        "program/Main.yaml",
        "variables: { text: { 'fn::readFile': ./text.txt } }\noutputs: { text: '${text}', project: '${pulumi.project}' }",
    );
    let workspace = Workspace::in_memory().unwrap();
    let stack = workspace.create_stack("shop", "dev").await.unwrap();
    let report = stack
        .up(Program::folder(folder.path()))
        .run()
        .await
        .unwrap();
    assert_eq!(report.output("text").unwrap(), "from a file");
    // The stack, and not the file, says which project it is.
    assert_eq!(report.output("project").unwrap(), "shop");
}
