//! Programs that are functions of the process.

use plumb::prelude::*;
use plumb_automation::{Config, Error, Program, Workspace};
use plumb_resource::StepOp;
use pretty_assertions::assert_eq;

#[derive(plumb::Config)]
struct Settings {
    size: i64,
    word: Secret<String>,
}

fn program() -> Program {
    Program::inline(|ctx: Ctx| async move {
        let settings: Settings = ctx.config()?;
        let pet = AnyResource::new(
            &ctx,
            "random:index/randomPet:RandomPet",
            "pet",
            value!({ "length": settings.size }),
        );
        ctx.export("name", pet.id());
        ctx.export("word", settings.word);
        ctx.export("stack", format!("{}/{}", ctx.project(), ctx.stack()));
        Ok(())
    })
}

#[tokio::test]
async fn a_function_is_a_program() {
    let workspace = Workspace::in_memory().unwrap();
    let stack = workspace.create_stack("shop", "dev").await.unwrap();
    let config = Config::new()
        .set("size", "3")
        .set_secret("word", "s3cret-word");
    let preview = stack.preview(program()).config(config.clone());
    assert_eq!(preview.run().await.unwrap().count(StepOp::Create), 2);
    let report = stack.up(program()).config(config).run().await.unwrap();
    assert_eq!(report.output("name").unwrap().split('-').count(), 3);
    assert_eq!(report.output("stack").unwrap(), "shop/dev");
    assert!(report.outputs.get("word").unwrap().is_secret());
    assert_eq!(report.output("word").unwrap(), "s3cret-word");
}

#[tokio::test]
async fn errors_and_panics_fail_the_operation_alone() {
    let workspace = Workspace::in_memory().unwrap();
    let stack = workspace.create_stack("shop", "dev").await.unwrap();
    let missing = stack.up(program()).run().await.unwrap_err();
    assert!(matches!(missing, Error::Failed(_)), "{missing}");
    assert!(
        missing.to_string().contains("variable `size` is missing"),
        "{missing}"
    );

    let panics = Program::inline(|ctx: Ctx| async move {
        AnyResource::new(&ctx, "random:index/randomPet:RandomPet", "pet", value!({}));
        assert!(ctx.stack().is_empty(), "there is no tenant {}", ctx.stack());
        Ok(())
    });
    let failed = stack.up(panics).run().await.unwrap_err();
    assert!(
        failed
            .to_string()
            .contains("the program panicked: there is no tenant dev"),
        "{failed}"
    );
    let config = Config::new().set("size", "2").set("word", "w");
    stack.up(program()).config(config).run().await.unwrap();
}
