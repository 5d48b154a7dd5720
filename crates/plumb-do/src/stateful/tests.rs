use plumb_resource::ResourceKind;
use plumb_value::{PropertyMap, Value};

use super::*;

const THING: &str = "pkg:index:Thing";

fn wish(operation: Operation, name: &str, code: &str) -> Wish {
    Wish {
        operation,
        name: name.to_owned(),
        token: THING.to_owned(),
        package: "pkg".to_owned(),
        descriptor: SnippetDescriptor {
            name: "pkg".into(),
            ..SnippetDescriptor::default()
        },
        body: BodyText::read("in.pp", code).unwrap(),
        names: BTreeMap::new(),
        provider_urn: None,
        provider: None,
    }
}

fn urn(token: &str, name: &str) -> String {
    Urn::new("dev", "proj", "", token, name).to_string()
}

/// A stack with a snippet resource `name` with this code, and a resource `main` of the program.
fn stack(name: &str, code: &str) -> Snapshot {
    let mut snapshot = Snapshot::default();
    let mut kept = ResourceState::new(Urn::parse(&urn(THING, name)).unwrap(), ResourceKind::Custom);
    kept.snippet_id = Some("uuid-1".into());
    let main = ResourceState::new(
        Urn::parse(&urn(THING, "main")).unwrap(),
        ResourceKind::Custom,
    );
    snapshot.resources = vec![Arc::new(kept), Arc::new(main)];
    snapshot.snippets = vec![Snippet {
        uuid: "uuid-1".into(),
        name: name.into(),
        type_token: THING.into(),
        code: code.into(),
        descriptor: SnippetDescriptor::default(),
        references: BTreeMap::new(),
    }];
    snapshot
}

fn plan(wish: &Wish, snapshot: &Snapshot) -> Result<Planned, String> {
    let place = Place {
        stack: "dev",
        project: "proj",
        shown: "dev",
    };
    let planned = wish.plan_at(snapshot, &place);
    planned.map_err(|error| error.text().unwrap_or_default())
}

/// Planned snippets, by name.
fn planned(wish: &Wish, snapshot: &Snapshot) -> BTreeMap<String, Snippet> {
    let planned = plan(wish, snapshot).unwrap();
    let snippets = planned.changes.into_values().flatten();
    snippets.map(|it| (it.name.to_string(), it)).collect()
}

#[test]
fn what_is_kept_is_told_by_name_and_type() {
    let snapshot = stack("a", "x = 1");
    let refused = |operation, name| plan(&wish(operation, name, ""), &snapshot).err();
    assert_eq!(
        refused(Operation::Create, "a").as_deref(),
        Some(
            "resource pkg:index:Thing \"a\" already exists in stack dev; use `upsert` to replace it"
        )
    );
    for operation in [Operation::Patch, Operation::Delete] {
        assert_eq!(
            refused(operation, "b").as_deref(),
            Some("resource pkg:index:Thing \"b\" does not exist in stack dev")
        );
    }
    assert_eq!(refused(Operation::Create, "b"), None);
    let upsert = plan(&wish(Operation::Upsert, "a", "x = 2"), &snapshot).unwrap();
    assert_eq!((upsert.uuid.as_str(), upsert.existed), ("uuid-1", true));
}

#[test]
fn a_patch_changes_what_it_says_and_keeps_the_rest() {
    let mut snapshot = stack(
        "a",
        "x = 1 # one\ny = old.id\noptions {\n  protect = true\n}\n",
    );
    let old = urn(THING, "old");
    snapshot.snippets[0].references = BTreeMap::from([("old".into(), old.as_str().into())]);
    let patched = planned(&wish(Operation::Patch, "a", "x = 2\nz = true"), &snapshot);
    assert_eq!(
        patched["a"].code,
        "x = 2 # one\ny = old.id\noptions {\n  protect = true\n}\nz = true\n"
    );
    assert_eq!(patched["a"].references.len(), 1);
    let patched = planned(&wish(Operation::Patch, "a", "y = 1"), &snapshot);
    assert!(
        patched["a"].references.is_empty(),
        "nothing mentions it any more"
    );
}

#[test]
fn names_become_references_where_they_are_mentioned() {
    let snapshot = stack("a", "");
    let mut create = wish(Operation::Create, "b", "x = a.id\ny = mine.id");
    assert_eq!(
        plan(&wish(Operation::Create, "b", "x = 1"), &snapshot)
            .unwrap()
            .changes
            .len(),
        1
    );
    create.names.insert("mine".to_owned(), urn(THING, "main"));
    let made = planned(&create, &snapshot);
    let references: Vec<(&str, &str)> = made["b"]
        .references
        .iter()
        .map(|(name, urn)| (name.as_str(), urn.as_str()))
        .collect();
    let (a, main) = (urn(THING, "a"), urn(THING, "main"));
    assert_eq!(references, [("a", a.as_str()), ("mine", main.as_str())]);
    create.names.insert("gone".to_owned(), urn(THING, "gone"));
    let problem = plan(&create, &snapshot).err().unwrap();
    assert!(
        problem.contains("that resource was not found in the stack"),
        "{problem}"
    );
}

fn with_provider(mut snapshot: Snapshot) -> (Snapshot, String) {
    let provider = urn("pulumi:providers:pkg", "eu");
    let mut state = ResourceState::new(Urn::parse(&provider).unwrap(), ResourceKind::Custom);
    let inputs = PropertyMap::new()
        .with("region", "eu")
        .with("token", Value::secret(Value::from("t")))
        .with("version", "1.0.0");
    state.inputs = Arc::new(inputs);
    snapshot.resources.push(Arc::new(state));
    (snapshot, provider)
}

#[test]
fn a_provider_of_the_stack_is_referred_to() {
    let (snapshot, provider) = with_provider(stack("a", ""));
    let mut create = wish(Operation::Create, "b", "x = 1");
    create.provider_urn = Some(provider.clone());
    let made = planned(&create, &snapshot);
    assert_eq!(
        made["b"].code,
        "x = 1\noptions {\n  provider = provider\n}\n"
    );
    assert_eq!(made["b"].references["provider"], provider);
    create.provider_urn = Some(urn(THING, "main"));
    let problem = plan(&create, &snapshot).err().unwrap();
    assert!(problem.contains("is not a provider"), "{problem}");
}

#[test]
fn what_is_said_of_the_provider_makes_one() {
    let (snapshot, provider) = with_provider(stack("a", ""));
    let mut create = wish(Operation::Create, "b", "x = 1");
    create.provider_urn = Some(provider);
    create.provider = Some(BodyText::read("p.pp", "region = \"us\"").unwrap());
    let made = planned(&create, &snapshot);
    let own = &made["b-provider"];
    assert_eq!(own.type_token, "pulumi:providers:pkg");
    assert_eq!(own.code, "region = \"us\"\ntoken = secret(\"t\")\n");
    let expected = urn("pulumi:providers:pkg", "b-provider");
    assert_eq!(made["b"].references["provider"], expected);
}

#[test]
fn what_others_need_is_not_deleted() {
    let mut snapshot = stack("a", "");
    let delete = wish(Operation::Delete, "a", "");
    assert_eq!(plan(&delete, &snapshot).unwrap().changes.len(), 1);
    let mut main = snapshot.resources[1].as_ref().clone();
    main.dependencies = [Urn::parse(&urn(THING, "a")).unwrap()]
        .into_iter()
        .collect();
    snapshot.resources[1] = Arc::new(main);
    let problem = plan(&delete, &snapshot).err().unwrap();
    assert!(
        problem.contains("is needed by others of stack dev"),
        "{problem}"
    );
    assert!(problem.ends_with("::main"), "{problem}");
}
