//! Policy packs: in folders, and as functions of the process.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use plumb::prelude::*;
use plumb_automation::{Error, Program, Report, Workspace};
use plumb_policy::embed::EmbeddedPack;
use plumb_policy::{Level, Pack, Policy};
use plumb_resource::StepOp;
use pretty_assertions::assert_eq;
use serde_json::{Map, json};

const PET: &str = "random:index/randomPet:RandomPet";

#[tokio::test]
async fn a_pack_that_does_not_start_fails_the_operation() {
    let workspace = Workspace::in_memory().unwrap();
    let stack = workspace.create_stack("shop", "dev").await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let update = stack.up(Program::yaml("outputs: {}"));
    let error = update.policy_pack(folder.path(), Map::new()).run().await;
    let error = error.unwrap_err();
    assert!(
        !matches!(error, Error::Failed(ref report) if report.has_changes),
        "{error}"
    );
    assert!(error.to_string().contains("policy"), "{error}");
}

fn pets(length: i64) -> Program {
    Program::inline(move |ctx: Ctx| async move {
        AnyResource::new(&ctx, PET, "pet", value!({ "length": length }));
        Ok(())
    })
}

/// At most three words; longer names are cut by the rule at the level `remediate`.
fn short() -> Policy<plumb_policy::OfResource> {
    Policy::resource("short", "Names have at most three words")
        .of(PET)
        .check(|pet, report| {
            if pet.get::<i64>("length")?.is_some_and(|length| length > 3) {
                report.violation(format!("{} is longer", pet.name()));
            }
            Ok(())
        })
        .fix(|pet, fix| {
            if pet.get::<i64>("length")?.is_some_and(|length| length > 3) {
                fix.set("length", 3);
            }
            Ok(())
        })
}

fn names(level: Level) -> EmbeddedPack {
    EmbeddedPack::new(Pack::new("names", "1.2.0").level(level).policy(short())).unwrap()
}

fn failed(result: Result<Report, Error>) -> Report {
    match result {
        Err(Error::Failed(report)) => *report,
        other => panic!("the operation did not fail: {other:?}"),
    }
}

#[tokio::test]
async fn functions_judge_what_a_program_asks_for() {
    let workspace = Workspace::in_memory().unwrap();
    let stack = workspace.create_stack("shop", "dev").await.unwrap();
    let rules = names(Level::Mandatory);
    let refused = stack.up(pets(5)).policies(&rules, Map::new()).run().await;
    let refused = failed(refused);
    assert_eq!(refused.count(StepOp::Create), 1, "only the stack");
    let [violation] = refused.violations.as_slice() else {
        panic!("{:?}", refused.violations)
    };
    assert_eq!(violation.policy, "short");
    assert_eq!(violation.enforcement_level, "mandatory");
    assert!(
        violation.message.contains("pet is longer"),
        "{}",
        violation.message
    );
    let kept = stack.up(pets(2)).policies(&rules, Map::new()).run().await;
    assert_eq!(kept.unwrap().violations, []);
    let off = Map::from_iter([("short".to_owned(), json!("disabled"))]);
    let off = stack.up(pets(5)).policies(&rules, off).run().await.unwrap();
    assert_eq!(off.violations, []);
}

#[tokio::test]
async fn functions_correct_inputs() {
    let workspace = Workspace::in_memory().unwrap();
    let stack = workspace.create_stack("shop", "dev").await.unwrap();
    let update = stack
        .up(pets(5))
        .policies(&names(Level::Remediate), Map::new());
    update.run().await.unwrap();
    let resources = stack.resources().await.unwrap();
    let pet = resources
        .iter()
        .find(|it| it.type_token.as_str() == PET)
        .unwrap();
    assert_eq!(pet.id.as_str().split('-').count(), 3);
}

/// Each operation makes its own rules, which see its stack and no other.
#[tokio::test]
async fn one_pack_serves_many_stacks_at_once() {
    let made = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&made);
    let rules = EmbeddedPack::made_by("tenants", move |info| {
        counter.fetch_add(1, Ordering::SeqCst);
        let tenant = info.stack().to_owned();
        let rule = Policy::resource("says-who", "Reports the tenant")
            .of(PET)
            .check(move |pet, report| {
                let same = pet.info().stack() == tenant;
                report.violation(format!("for {tenant}: {same}"));
                Ok(())
            });
        Ok(Pack::new("tenants", "1.0.0")
            .level(Level::Advisory)
            .policy(rule))
    });
    let workspace = Workspace::in_memory().unwrap();
    let mut running = tokio::task::JoinSet::new();
    for tenant in 0..20 {
        let name = format!("tenant-{tenant}");
        let stack = workspace.create_stack("shop", &name).await.unwrap();
        let update = stack.up(pets(2)).policies(&rules, Map::new());
        running.spawn(async move { (name, update.run().await.unwrap()) });
    }
    let mut seen = BTreeSet::new();
    while let Some(ended) = running.join_next().await {
        let (name, report) = ended.unwrap();
        let [violation] = report.violations.as_slice() else {
            panic!("{:?}", report.violations)
        };
        assert!(
            violation.message.contains(&format!("for {name}: true")),
            "{}",
            violation.message
        );
        seen.insert(name);
    }
    assert_eq!((seen.len(), made.load(Ordering::SeqCst)), (20, 20));
}

#[tokio::test]
async fn rules_that_fail_or_panic_fail_the_operation_alone() {
    let workspace = Workspace::in_memory().unwrap();
    let stack = workspace.create_stack("shop", "dev").await.unwrap();
    let panics = Pack::new("broken", "1.0.0").policy(Policy::resource("panics", "Panics").check(
        |resource, _| {
            assert!(
                resource.name().is_empty(),
                "no rule for {}",
                resource.name()
            );
            Ok(())
        },
    ));
    let panics = EmbeddedPack::new(panics).unwrap();
    let report = failed(stack.up(pets(2)).policies(&panics, Map::new()).run().await);
    let errors = report.errors().collect::<Vec<_>>().join("\n");
    assert!(
        errors.contains("a policy panicked: no rule for"),
        "{errors}"
    );

    let unmade = EmbeddedPack::made_by("unmade", |_| plumb::bail!("the rules are not there"));
    let error = stack.up(pets(2)).policies(&unmade, Map::new()).run().await;
    let error = error.unwrap_err().to_string();
    assert!(
        error.contains("unmade") && error.contains("the rules are not there"),
        "{error}"
    );
    stack.up(pets(2)).run().await.unwrap();
}

#[tokio::test]
async fn a_preview_says_what_a_function_cannot_look_at() {
    let workspace = Workspace::in_memory().unwrap();
    let stack = workspace.create_stack("shop", "dev").await.unwrap();
    let program = Program::inline(|ctx: Ctx| async move {
        let number = AnyResource::new(
            &ctx,
            "random:index/randomInteger:RandomInteger",
            "number",
            value!({ "min": 5, "max": 5 }),
        );
        AnyResource::new(
            &ctx,
            PET,
            "pet",
            value!({ "length": number.output::<i64>("result") }),
        );
        Ok(())
    });
    let preview = stack
        .preview(program)
        .policies(&names(Level::Mandatory), Map::new());
    let report = preview.run().await.unwrap();
    let [told] = report.violations.as_slice() else {
        panic!("{:?}", report.violations)
    };
    assert_eq!(told.enforcement_level, "advisory");
    assert!(
        told.message.contains("`length` is not known yet"),
        "{}",
        told.message
    );
}

#[test]
fn the_names_of_a_pack_are_checked_at_once() {
    let error = EmbeddedPack::new(Pack::new("", "1.0.0")).unwrap_err();
    assert!(error.to_string().contains("needs a name"), "{error}");
}
