using System.Collections.Generic;
using System.Linq;
using System.Text.Json;
using Pulumi;
using Shapes = Pulumi.Shapes;

return await Deployment.RunAsync(() =>
{
    var wall = new Shapes.Paint.Wall("wall", new()
    {
        Coat = new Shapes.Paint.Inputs.CoatArgs
        {
            MainColor = Shapes.Paint.Color.Blue,
            LayerCount = 2,
            Under = new Shapes.Paint.Inputs.CoatArgs
            {
                MainColor = Shapes.Paint.Color.DarkRed,
            },
        },
        Coats = new[] {
            new Shapes.Paint.Inputs.CoatArgs
            {
                MainColor = Shapes.Paint.Color.Blue,
            },
        },
        Labels = { { "mainColor", "x" } },
        LineHeight = 1.5,
        Cover = new Shapes.Paint.Inputs.TilesArgs
        {
            TileCount = 4,
        },
    });
    var next = new Shapes.Paint.Wall("next", new()
    {
        Labels = {
            { "a", wall.Labels.Apply(labels => labels["b"]) },
            { "c", Output.Format($"<{wall.WallName}>") },
        },
        LineHeight = wall.LineHeight.Apply(given => given.Value),
    });
    var found = Shapes.Paint.FindColor.Invoke(new()
    {
        WallName = wall.WallName,
    });
    var localMap = new Dictionary<string, object?> {
        ["a"] = wall.WallName.Apply(given => (object?)given),
        ["b"] = 1,
    };

    return new Dictionary<string, object?>
    {
        ["color"] = wall.Coat.Apply(coat => coat?.MainColor),
        ["under"] = wall.Coat.Apply(coat => coat?.Under?.LayerCount),
        ["both"] = wall.LineHeight.Apply(lineHeight => lineHeight.Value * 2 + lineHeight.Value),
        ["name"] = found.Apply(found2 => found2.ColorName),
        ["text"] = Output.Tuple(found, wall.Coat).Apply(values => $"{values.Item1.ColorName}-{values.Item2?.MainColor}"),
        ["recipe"] = Shapes.Paint.GetRecipe.Invoke().Apply(result => result.Recipe),
        ["document"] = Output.Tuple(wall.WallName, wall.LineHeight).Apply(values => JsonSerializer.Serialize(new Dictionary<string, object?> {
            ["a"] = values.Item1,
            ["b"] = new List<object?> { 1, values.Item2 },
        })),
        ["nested"] = new Dictionary<string, object?> { ["a"] = wall.WallName, ["b"] = 1 },
        ["part"] = Helpers.OutputOf(localMap["a"]).Apply(given => (string)given!),
        ["len"] = new List<Output<string>> { wall.WallName, Output.Create("x") }.Count(),
        ["joined"] = wall.WallName.Apply(wallName => string.Join(",", new[] { wallName, "x" })),
    };
});

static class Helpers
{
    /// <summary>A part of a value that contains outputs, as an output.</summary>
    public static Output<object?> OutputOf(object? value) => value switch
    {
        Output<object?> output => output,
        Dictionary<string, object?> map => Output
            .All(map.Select(it => OutputOf(it.Value).Apply(value => KeyValuePair.Create(it.Key, value))))
            .Apply(it => (object?)new Dictionary<string, object?>(it)),
        List<object?> list => Output.All(list.Select(OutputOf)).Apply(it => (object?)it.ToList()),
        _ => Output.Create(value),
    };
}
