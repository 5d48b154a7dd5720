//! Programs of the end-to-end tests: the variable `case` of the configuration says which one runs.

use std::time::Duration;

use plumb::prelude::*;

const STRING: &str = "random:index/randomString:RandomString";
const PET: &str = "random:index/randomPet:RandomPet";
const COMMAND: &str = "command:local:Command";

#[plumb::main]
async fn main(ctx: Ctx) -> plumb::Result<()> {
    let case: String = ctx.values().require("case")?;
    match case.as_str() {
        "empty" => Ok(()),
        "many" => many(&ctx),
        "values" => values(&ctx),
        "secrets" => secrets(&ctx),
        "component" => component(&ctx),
        "functions" => functions(&ctx).await,
        "transforms" => transforms(&ctx),
        "hooks" => hooks(&ctx),
        "failure" => failure(&ctx),
        "panic" => panic(&ctx),
        "refused" => refused(&ctx),
        "cycle" => cycle(&ctx),
        "reference" => reference(&ctx),
        "options" => options(&ctx),
        "continue" => go_on(&ctx),
        other => plumb::bail!("there is no case `{other}`"),
    }
}

fn string(ctx: &Ctx, name: &str, length: i64) -> AnyResource {
    AnyResource::new(
        ctx,
        STRING,
        name,
        value!({ "length": length, "special": false }),
    )
}

fn many(ctx: &Ctx) -> plumb::Result<()> {
    let count: i64 = ctx.values().require("count")?;
    let results: Vec<Output<String>> = (0..count)
        .map(|number| string(ctx, &format!("string{number}"), 8).output("result"))
        .collect();
    ctx.export(
        "total",
        Output::join_all(&results).map(|all| all.concat().len()),
    );
    Ok(())
}

/// Outputs into inputs, joined, in objects; known and unknown in previews.
fn values(ctx: &Ctx) -> plumb::Result<()> {
    let length: i64 = ctx.values().get("length")?.unwrap_or(6);
    let first = string(ctx, "first", length);
    let text: Output<String> = first.output("result");
    let echo = AnyResource::new(
        ctx,
        COMMAND,
        "echo",
        value!({
            "create": interpolate!("printf %s '{text}' | tr a-z A-Z"),
            "environment": { "LENGTH": text.map(|text| text.len().to_string()) },
        }),
    );
    ctx.export("text", &text);
    ctx.export("echo", echo.output::<String>("stdout"));
    ctx.export(
        "same",
        (&text, &echo.output::<String>("stdout"))
            .join()
            .map(|(text, loud)| text.to_uppercase() == loud),
    );
    ctx.export(
        "nested",
        value!({ "list": [1, &text, { "deep": echo.id() }], "nothing": null }),
    );
    ctx.export(
        "slow",
        text.map_async(|text| async move {
            std::thread::sleep(Duration::from_millis(50));
            text.len()
        }),
    );
    Ok(())
}

fn secrets(ctx: &Ctx) -> plumb::Result<()> {
    let token: Output<String> = ctx.values().require_secret("token")?;
    let echo = AnyResource::with(
        ctx,
        COMMAND,
        "echo",
        value!({ "create": interpolate!("echo {token}-done") }),
        opts().additional_secret_outputs(["stdout"]),
    );
    ctx.export("derived", token.map(|token| format!("<{token}>")));
    ctx.export("stdout", echo.output::<String>("stdout"));
    ctx.export("open", token.map(|token| token.len()).unsecret());
    ctx.export("deep", value!({ "list": ["a", token.secret()] }));
    Ok(())
}

#[derive(Clone, Debug, ComponentArgs)]
struct PairArgs {
    prefix: Input<String>,
    size: i64,
}

#[derive(Clone, Debug, Component)]
#[component(token = "acme:index:Pair")]
struct Pair {
    text: Output<String>,
}

impl BuildComponent for Pair {
    type Args = PairArgs;

    fn build(cx: &Ctx, args: PairArgs) -> plumb::Result<Self> {
        let left = string(cx, &cx.name("left"), args.size);
        let right = string(cx, &cx.name("right"), args.size);
        let (left, right) = (
            left.output::<String>("result"),
            right.output::<String>("result"),
        );
        Ok(Pair {
            text: interpolate!("{}{left}-{right}", args.prefix),
        })
    }
}

fn component(ctx: &Ctx) -> plumb::Result<()> {
    let pair = Pair::new(
        ctx,
        "pair",
        PairArgs {
            prefix: "p:".into(),
            size: 4,
        },
    )?;
    ctx.export("text", &pair.text);
    AnyResource::with(ctx, PET, "after", value!({}), opts().depends_on([&pair]));
    Ok(())
}

async fn functions(ctx: &Ctx) -> plumb::Result<()> {
    let plain: Value = ctx
        .invoke_plain(
            "command:local:run",
            value!({ "command": "printf plain" }),
            InvokeOptions::new(),
        )
        .await?;
    ctx.export("plain", plain.get("stdout").cloned().unwrap_or_default());
    let first = string(ctx, "first", 5);
    let text: Output<String> = first.output("result");
    let shout: Output<Value> = ctx.invoke(
        "command:local:run",
        value!({ "command": interpolate!("printf '%s!' {text}") }),
    );
    ctx.export("shout", shout.key::<String>("stdout"));
    ctx.export("text", text);
    Ok(())
}

fn transforms(ctx: &Ctx) -> plumb::Result<()> {
    ctx.stack_transform(|mut resource| async move {
        if resource.token() == STRING {
            resource.set("length", 12);
        }
        Ok(resource)
    });
    let first = string(ctx, "first", 3);
    ctx.export(
        "length",
        first.output::<String>("result").map(|text| text.len()),
    );
    let own = opts().transform(|mut resource| async move {
        resource.set("separator", "_");
        Ok(resource)
    });
    let pet = AnyResource::with(ctx, PET, "pet", value!({ "length": 2 }), own);
    ctx.export("pet", pet.id());
    Ok(())
}

fn hooks(ctx: &Ctx) -> plumb::Result<()> {
    let file: String = ctx.values().require("file")?;
    let note = |what: &'static str| {
        let file = file.clone();
        move |args: plumb::HookArgs| {
            let line = format!(
                "{what} {} {}\n",
                args.name(),
                args.new_inputs().contains_key("length")
            );
            let file = file.clone();
            async move {
                use std::io::Write as _;
                let mut file = std::fs::OpenOptions::new()
                    .create(true)
                    .append(true)
                    .open(file)?;
                file.write_all(line.as_bytes())?;
                Ok::<(), plumb::Error>(())
            }
        }
    };
    let before = ctx.hook("before", HookOptions::new(), note("before"));
    let after = ctx.hook("after", HookOptions::new(), note("after"));
    let refuse = ctx.hook("refuse", HookOptions::new(), |args| async move {
        if args.name() == "pet" {
            plumb::bail!("{} must not be deleted", args.name());
        }
        Ok(())
    });
    let options = opts()
        .before_create(&before)
        .after_create(&after)
        .before_delete(&refuse);
    AnyResource::with(ctx, PET, "pet", value!({ "length": 2 }), options);
    Ok(())
}

fn failure(ctx: &Ctx) -> plumb::Result<()> {
    let text: Output<String> = string(ctx, "first", 4).output("result");
    let port = text.try_map(|text| format!("x{text}").parse::<u16>());
    string(ctx, "independent", 4);
    AnyResource::new(
        ctx,
        COMMAND,
        "never",
        value!({ "create": interpolate!("echo {port}") }),
    );
    ctx.export("early", "kept");
    Ok(())
}

fn panic(ctx: &Ctx) -> plumb::Result<()> {
    let text: Output<String> = string(ctx, "first", 4).output("result");
    let _ = text.map(|_| -> String { panic!("on purpose") });
    Ok(())
}

fn refused(ctx: &Ctx) -> plumb::Result<()> {
    let bad = AnyResource::new(ctx, COMMAND, "bad", value!({ "create": "exit 7" }));
    ctx.export("id", bad.id());
    Ok(())
}

fn cycle(ctx: &Ctx) -> plumb::Result<()> {
    let (promised, promise) = ctx.deferred::<String>();
    let first = AnyResource::new(ctx, COMMAND, "first", value!({ "create": promised }));
    let second = AnyResource::new(ctx, COMMAND, "second", value!({ "create": first.id() }));
    promise.resolve(&second.id());
    Ok(())
}

fn reference(ctx: &Ctx) -> plumb::Result<()> {
    let other: String = ctx.values().require("other")?;
    let stack = StackReference::new(ctx, &other);
    ctx.export("text", stack.require::<String>("text"));
    ctx.export("derived", stack.require::<String>("derived"));
    ctx.export(
        "none",
        stack
            .get::<Option<String>>("none")
            .map(|none| none.is_none()),
    );
    Ok(())
}

fn options(ctx: &Ctx) -> plumb::Result<()> {
    let length: i64 = ctx.values().get("length")?.unwrap_or(6);
    let inputs = value!({ "length": length, "special": false });
    AnyResource::with(
        ctx,
        STRING,
        "steady",
        inputs.clone(),
        opts().ignore_changes(["length"]),
    );
    let name = if length == 6 { "old" } else { "new" };
    AnyResource::with(ctx, PET, name, value!({}), opts().aliases(["old"]));
    let provider = AnyProvider::new(ctx, "random", "own", value!({}));
    let cx = ctx.with(opts().provider(&provider));
    AnyResource::new(&cx, PET, "provided", value!({}));
    let first = AnyResource::with(
        ctx,
        COMMAND,
        "first",
        value!({ "create": "true" }),
        opts().protect(length == 9),
    );
    AnyResource::with(
        ctx,
        COMMAND,
        "second",
        value!({ "create": "true" }),
        opts().depends_on([&first]),
    );
    Ok(())
}

fn go_on(ctx: &Ctx) -> plumb::Result<()> {
    let bad = AnyResource::new(ctx, COMMAND, "bad", value!({ "create": "exit 7" }));
    let good = string(ctx, "good", 4);
    ctx.export("bad", bad.id().recover(|_| "replaced".to_owned()));
    ctx.export(
        "good",
        good.output::<String>("result").map(|text| text.len()),
    );
    Ok(())
}
