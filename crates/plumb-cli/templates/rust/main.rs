use plumb::prelude::*;

#[plumb::main]
async fn main(ctx: Ctx) -> plumb::Result<()> {
    // Resources are declared here; what is exported are the outputs of the stack.
    ctx.export("greeting", format!("Hello from {} in {}", ctx.project(), ctx.stack()));
    Ok(())
}
