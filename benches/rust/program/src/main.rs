//! The program that `benches/rust/run` measures: components with a random string each; `BENCH_COUNT` is their number.

use plumb::prelude::*;

#[derive(Clone, Debug, ComponentArgs)]
struct PartArgs {
    length: i64,
}

#[derive(Clone, Debug, Component)]
#[component(token = "bench:index:Part")]
struct Part {
    text: Output<String>,
}

impl BuildComponent for Part {
    type Args = PartArgs;

    fn build(cx: &Ctx, args: PartArgs) -> plumb::Result<Self> {
        let token = "random:index/randomString:RandomString";
        let inputs = value!({ "length": args.length });
        let string = AnyResource::new(cx, token, &cx.name("text"), inputs);
        Ok(Part {
            text: string.output("result"),
        })
    }
}

#[plumb::main]
async fn main(ctx: Ctx) -> plumb::Result<()> {
    let count: usize = std::env::var("BENCH_COUNT")?.parse()?;
    let mut texts = Vec::new();
    for number in 0..count {
        let part = Part::new(&ctx, &format!("part-{number}"), PartArgs { length: 8 })?;
        texts.push(part.text.clone());
    }
    let note = std::env::var("BENCH_NOTE")?;
    // When all are there, the program is as large as it gets.
    let all = Output::join_all(&texts).try_map(move |_| {
        std::fs::write(&note, std::fs::read_to_string("/proc/self/status")?)?;
        Ok::<_, plumb::Error>(texts.len())
    });
    ctx.export("count", all);
    Ok(())
}
