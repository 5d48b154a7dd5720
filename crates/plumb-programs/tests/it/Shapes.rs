use plumb::prelude::*;
use pulumi_shapes::paint;

#[plumb::main]
async fn main(ctx: Ctx) -> plumb::Result<()> {
    let wall = paint::Wall::new(
        &ctx,
        "wall",
        paint::WallArgs::new()
            .coat(paint::CoatArgs::new()
                .main_color(paint::Color::BLUE)
                .layer_count(2)
                .under(paint::CoatArgs::new().main_color(paint::Color::DARK_RED)))
            .coats([paint::CoatArgs::new().main_color(paint::Color::BLUE)])
            .labels([("mainColor", "x")])
            .line_height(1.5)
            .cover(value!(paint::TilesArgs::new().tile_count(4))),
    );
    paint::Wall::new(
        &ctx,
        "next",
        paint::WallArgs::new()
            .labels([
                ("a", wall.labels().key::<String>("b")),
                ("c", interpolate!("<{}>", wall.wall_name())),
            ])
            .line_height(wall.line_height()),
    );
    ctx.export("color", wall.coat().key::<Option<paint::Color>>("mainColor"));
    ctx.export(
        "under",
        wall.coat().key::<Option<paint::Coat>>("under").key::<Option<i64>>("layerCount"),
    );
    ctx.export(
        "both",
        wall.line_height()
            .try_map(|line_height| Ok::<_, plumb::Error>(line_height.clone().ok_or_else(|| plumb::Error::new("a value is missing"))? * 2.0 + line_height.clone().ok_or_else(|| plumb::Error::new("a value is missing"))?)),
    );
    let found = paint::find_color(&ctx, paint::FindColorArgs::new().wall_name(wall.wall_name()));
    ctx.export("name", found.get(paint::FindColorResult::COLOR_NAME));
    ctx.export(
        "text",
        interpolate!(
            "{}-{}",
            found.get(paint::FindColorResult::COLOR_NAME),
            wall.coat().key::<Option<paint::Color>>("mainColor").untyped().typed::<Option<String>>().map(|it| it.unwrap_or_default()),
        ),
    );
    ctx.export("recipe", paint::get_recipe(&ctx).get(paint::GetRecipeResult::RECIPE));
    ctx.export(
        "document",
        Output::from_value(value!({ "a": wall.wall_name(), "b": [1, wall.line_height()] })).to_json(),
    );
    ctx.export("nested", value!({ "a": wall.wall_name(), "b": 1 }));
    let local_map = value!({ "a": wall.wall_name(), "b": 1 });
    ctx.export("part", Output::from_value(local_map.clone()).key::<String>("a"));
    ctx.export("len", vec![wall.wall_name(), Output::of("x".to_owned())].len() as i64);
    ctx.export(
        "joined",
        wall.wall_name().map(|wall_name| vec![wall_name.clone(), "x".to_owned()].join(",")),
    );
    Ok(())
}
