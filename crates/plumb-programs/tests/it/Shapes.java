package app;

import com.pulumi.Context;
import com.pulumi.Pulumi;
import com.pulumi.core.Output;
import com.pulumi.shapes.paint.PaintFunctions;
import com.pulumi.shapes.paint.Wall;
import com.pulumi.shapes.paint.WallArgs;
import com.pulumi.shapes.paint.enums.Color;
import com.pulumi.shapes.paint.inputs.CoatArgs;
import com.pulumi.shapes.paint.inputs.FindColorArgs;
import com.pulumi.shapes.paint.inputs.TilesArgs;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import static com.pulumi.codegen.internal.Serialization.*;

public class App {
    public static void main(String[] args) {
        Pulumi.run(App::stack);
    }

    public static void stack(Context context) {
        final var wall = new Wall("wall", WallArgs.builder()
            .coat(CoatArgs.builder()
                .mainColor(Color.Blue)
                .layerCount(2)
                .under(CoatArgs.builder()
                    .mainColor(Color.Darkred)
                    .build())
                .build())
            .coats(CoatArgs.builder()
                .mainColor(Color.Blue)
                .build())
            .labels(Map.of("mainColor", "x"))
            .lineHeight(1.5)
            .cover(TilesArgs.builder()
                .tileCount(4)
                .build())
            .build());
        final var next = new Wall("next", WallArgs.builder()
            .labels(App.<Map<String, String>>outputOf(Map.<String, Object>of(
                "a", wall.labels().applyValue(labels -> labels.get("b")),
                "c", Output.format("<%s>", wall.wallName())
            )))
            .lineHeight(wall.lineHeight().applyValue(it -> it.orElse(null)))
            .build());
        context.export("color", wall.coat().applyValue(coat -> coat.map(it -> it.mainColor())));
        context.export(
            "under",
            wall.coat().applyValue(coat -> coat.flatMap(it -> it.under()).flatMap(it -> it.layerCount()))
        );
        context.export(
            "both",
            wall.lineHeight().applyValue(lineHeight -> lineHeight.orElseThrow() * 2 + lineHeight.orElseThrow())
        );
        final var found = PaintFunctions.findColor(FindColorArgs.builder()
            .wallName(wall.wallName())
            .build());
        context.export("name", found.applyValue(found2 -> found2.colorName()));
        context.export(
            "text",
            Output.tuple(found, wall.coat()).applyValue(values -> String.format(
                "%s-%s",
                values.t1.colorName(),
                values.t2.map(it -> it.mainColor()).orElseThrow().getValue()
            ))
        );
        context.export("recipe", PaintFunctions.getRecipe().applyValue(result -> result.recipe()));
        context.export(
            "document",
            Output.tuple(wall.wallName(), wall.lineHeight()).applyValue(values -> serializeJson(jsonObject(
                jsonProperty("a", values.t1),
                jsonProperty("b", jsonArray(1, values.t2.orElse(null)))
            )))
        );
        context.export(
            "nested",
            App.<Map<String, Object>>outputOf(Map.<String, Object>of("a", wall.wallName(), "b", 1))
        );
        final var localMap = Map.<String, Object>of("a", wall.wallName(), "b", 1);
        context.export("part", App.<String>outputOf(localMap.get("a")));
        context.export("len", List.of(wall.wallName(), Output.of("x")).size());
        context.export(
            "joined",
            wall.wallName().applyValue(wallName -> String.join(",", List.of(wallName, "x")))
        );
    }

    /** Output of a value that contains outputs. */
    @SuppressWarnings("unchecked")
    static <T> Output<T> outputOf(Object value) {
        if (value instanceof Output) {
            return ((Output<Object>) value).apply(inner -> outputOf(inner));
        }
        if (value instanceof List) {
            var items = new ArrayList<Output<Object>>();
            ((List<Object>) value).forEach(item -> items.add(outputOf(item)));
            return (Output<T>) Output.all(items);
        }
        if (value instanceof Map) {
            var map = (Map<String, Object>) value;
            var keys = List.copyOf(map.keySet());
            var items = new ArrayList<Output<Object>>();
            keys.forEach(key -> items.add(outputOf(map.get(key))));
            return (Output<T>) Output.all(items).applyValue(values -> {
                var known = new LinkedHashMap<String, Object>();
                for (int i = 0; i < keys.size(); i++) {
                    known.put(keys.get(i), values.get(i));
                }
                return known;
            });
        }
        return (Output<T>) Output.ofNullable(value);
    }
}
