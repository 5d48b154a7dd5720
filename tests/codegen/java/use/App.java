// The program of `tests/codegen/use-java.py`: one SDK speaks with the lab provider, the other shows what is filled in.
package prog;

import com.acme.lab.Config;
import com.acme.lab.box.BoxArgs;
import com.acme.lab.box.enums.Kind;
import com.acme.lab.box.inputs.LockArgs;
import com.acme.lab.inputs.FindPlainArgs;
import com.pulumi.Context;
import com.pulumi.Pulumi;
import com.pulumi.asset.AssetArchive;
import com.pulumi.asset.StringAsset;
import com.pulumi.core.Either;
import com.pulumi.core.Output;
import com.pulumi.exceptions.MissingRequiredPropertyException;
import com.pulumi.lab.Component;
import com.pulumi.lab.ComponentArgs;
import com.pulumi.lab.LabFunctions;
import com.pulumi.lab.Provider;
import com.pulumi.lab.ProviderArgs;
import com.pulumi.lab.Thing;
import com.pulumi.lab.ThingArgs;
import com.pulumi.lab.Utilities;
import com.pulumi.lab.inputs.EchoArgs;
import com.pulumi.lab.inputs.EchoPlainArgs;
import com.pulumi.lab.inputs.SecretEchoArgs;
import com.pulumi.resources.CustomResourceOptions;
import java.util.List;
import java.util.Map;

public class App {
    public static void main(String[] args) {
        Pulumi.run(App::stack);
    }

    private static void stack(Context ctx) {
        spoken(ctx);
        filledIn(ctx);
        settings(ctx);
    }

    /** What comes back from the provider. */
    private static void spoken(Context ctx) {
        var provider = new Provider("south", ProviderArgs.builder().region("south").secretToken("t").build());
        var options = CustomResourceOptions.builder().provider(provider).build();
        var thing = new Thing("thing", ThingArgs.builder()
            .value("v").password("pw").items("one", "two").tags(Map.of("k", 1)).build(), options);
        ctx.export("serial", thing.serial());
        ctx.export("region", thing.region());
        ctx.export("value", thing.value());
        ctx.export("password", thing.password());
        var deep = Map.<String, Object>of("deep", List.of(1, 2));
        ctx.export("echo", LabFunctions.echo(EchoArgs.builder().value(Output.of(deep)).build()).applyValue(it -> it.value().get()));
        ctx.export("secret", LabFunctions.secretEcho(SecretEchoArgs.builder().value("hush").build()).applyValue(it -> it.value().get()));
        var plain = LabFunctions.echoPlain(EchoPlainArgs.builder().value("again").build());
        ctx.export("same", Output.of(plain.thenApply(it -> it.value().get().equals("again"))));
        var component = new Component("component", ComponentArgs.builder().size(1).value("a").build());
        ctx.export("values", component.values());
    }

    /** What a builder makes of what it is given. */
    private static void filledIn(Context ctx) {
        try {
            BoxArgs.builder().build();
        } catch (MissingRequiredPropertyException problem) {
            ctx.export("missing", Output.of(problem.getMessage().contains("'size") ? "size" : problem.getMessage()));
        }
        var lock = LockArgs.builder().kind(Kind.Digits).build();
        var box = BoxArgs.builder().size(1).lock(lock).apiVersion("mine").build();
        var full = BoxArgs.builder().size(2).cover(new StringAsset("text"))
            .bundle(new AssetArchive(Map.of("a", new StringAsset("b")))).label(Either.ofRight(7)).tint(Either.ofLeft("any"))
            .spares(lock, LockArgs.builder().kind(Kind.Key).build()).byName(Map.of("one", lock)).build();
        ctx.export("union", full.label().get().applyValue(it -> it.right()));
        ctx.export("openEnum", full.tint().get().applyValue(it -> it.left()));
        ctx.export("spares", full.spares().get().applyValue(it -> it.size()));
        ctx.export("byName", full.byName().get().apply(it -> it.get("one").kind()).applyValue(Kind::getValue));
        ctx.export("constant", box.apiVersion().get());
        ctx.export("fast", box.fast().get());
        ctx.export("lock", box.lock().get().apply(it -> it.code().get()));
        ctx.export("kind", lock.kind().applyValue(Kind::getValue));
        ctx.export("slowest", Output.of(FindPlainArgs.builder().name("x").build().limit().get()));
    }

    private static void settings(Context ctx) {
        var config = new Config();
        ctx.export("configRegion", Output.of(config.region().get()));
        ctx.export("configRetries", Output.of(config.retries().get()));
        ctx.export("configTags", Output.of(config.tags().get()));
        ctx.export("version", Output.of(Utilities.getVersion()));
    }
}
