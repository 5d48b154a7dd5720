// The features in Java; see `tests/e2e/languages.py`. FEATURES names those to run, ROUND is 1 or 2.
package matrix;

import com.pulumi.Context;
import com.pulumi.Pulumi;
import com.pulumi.asset.Archive;
import com.pulumi.asset.AssetArchive;
import com.pulumi.asset.FileArchive;
import com.pulumi.asset.FileAsset;
import com.pulumi.asset.RemoteArchive;
import com.pulumi.asset.RemoteAsset;
import com.pulumi.asset.StringAsset;
import com.pulumi.core.Alias;
import com.pulumi.core.Output;
import com.pulumi.core.TypeShape;
import com.pulumi.core.annotations.Export;
import com.pulumi.core.annotations.Import;
import com.pulumi.deployment.Deployment;
import com.pulumi.deployment.InvokeOptions;
import com.pulumi.resources.CallArgs;
import com.pulumi.resources.ComponentResource;
import com.pulumi.resources.ComponentResourceOptions;
import com.pulumi.resources.CustomResource;
import com.pulumi.resources.CustomResourceOptions;
import com.pulumi.resources.CustomTimeouts;
import com.pulumi.resources.InvokeArgs;
import com.pulumi.resources.ProviderResource;
import com.pulumi.resources.ResourceArgs;
import com.pulumi.resources.ResourceTransformation;
import com.pulumi.resources.StackOptions;
import com.pulumi.resources.StackReference;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

public class App {
    static final String ROUND = System.getenv("ROUND");

    static final class ThingArgs extends ResourceArgs {
        @Import(name = "value")
        final Output<Object> value;

        @Import(name = "other")
        Output<Object> other;

        @Import(name = "password")
        Output<String> password;

        @Import(name = "source")
        Output<Archive> source;

        @Import(name = "echoTimeout")
        Output<Boolean> echoTimeout;

        ThingArgs(Output<Object> value) {
            this.value = value;
        }

        static ThingArgs of(Object value) {
            return new ThingArgs(Output.of(value));
        }

        static ThingArgs none() {
            return new ThingArgs(null);
        }
    }

    static final class Thing extends CustomResource {
        @Export(name = "value", refs = {Object.class}, tree = "[0]")
        private Output<Object> value;

        @Export(name = "other", refs = {Object.class}, tree = "[0]")
        private Output<Object> other;

        @Export(name = "serial", refs = {Integer.class}, tree = "[0]")
        private Output<Integer> serial;

        @Export(name = "region", refs = {String.class}, tree = "[0]")
        private Output<String> region;

        @Export(name = "sourceHash", refs = {String.class}, tree = "[0]")
        private Output<String> sourceHash;

        @Export(name = "timeoutSeen", refs = {Double.class}, tree = "[0]")
        private Output<Double> timeoutSeen;

        Thing(String name, ThingArgs args, CustomResourceOptions options) {
            super("lab:index:Thing", name, args, options);
        }

        Thing(String name, ThingArgs args) {
            this(name, args, CustomResourceOptions.Empty);
        }
    }

    static final class ProviderArgs extends ResourceArgs {
        @Import(name = "region")
        final Output<String> region = Output.of("eu");
    }

    static final class Group extends ComponentResource {
        final Output<Object> value;

        Group(String name) {
            super("matrix:index:Group", name, ComponentResourceOptions.Empty);
            var options = CustomResourceOptions.builder().parent(this).build();
            value = new Thing("child", ThingArgs.of("of a child"), options).value;
            registerOutputs(Map.of("value", value));
        }
    }

    static final class RemoteArgs extends ResourceArgs {
        @Import(name = "size")
        final Output<Integer> size = Output.of(2);

        @Import(name = "value")
        final Output<String> value = Output.of("v");
    }

    static final class Remote extends ComponentResource {
        @Export(name = "values", refs = {List.class, Object.class}, tree = "[0,1]")
        private Output<List<Object>> values;

        Remote(String name) {
            super("lab:index:Component", name, new RemoteArgs(), ComponentResourceOptions.Empty, true);
        }
    }

    static final class EchoArgs extends InvokeArgs {
        @Import(name = "value")
        final Output<Object> value;

        EchoArgs(Output<Object> value) {
            this.value = value;
        }
    }

    static final class DescribeArgs extends CallArgs {
        @Import(name = "greeting")
        final Output<String> greeting = Output.of("hi");
    }

    public static void main(String[] args) {
        ResourceTransformation change = it -> {
            if (!it.resource().pulumiResourceName().equals("transformed")) {
                return Optional.empty();
            }
            return Optional.of(new ResourceTransformation.Result(ThingArgs.of("after"), it.options()));
        };
        var options = StackOptions.builder().resourceTransformations(change).build();
        Pulumi.withOptions(options).run(App::stack);
    }

    private static void stack(Context ctx) {
        for (String name : System.getenv("FEATURES").split(",")) {
            feature(name, ctx);
        }
    }

    private static void feature(String name, Context ctx) {
        switch (name) {
            case "resources":
                var plain = ThingArgs.of("v");
                plain.other = Output.of(Map.of("list", List.of(1, Map.of("deep", true))));
                var made = new Thing("plain", plain);
                ctx.export(name, Output.all(made.value, made.other, made.serial.applyValue(it -> (Object) it)).applyValue(
                        all -> Map.of("value", all.get(0), "other", all.get(1), "serial", all.get(2))));
                break;
            case "secrets":
                var hidden = new ThingArgs(Output.ofSecret("open sesame"));
                hidden.password = ctx.config().requireSecret("token");
                ctx.export(name, new Thing("hidden", hidden).value);
                break;
            case "config":
                var tree = ctx.config().requireObject("tree", TypeShape.map(String.class, Object.class));
                ctx.export(name, Output.of(Map.of(
                        "number", ctx.config().requireInteger("number"), "truth", ctx.config().requireBoolean("truth"),
                        "tree", ((List<?>) tree.get("list")).get(0))));
                ctx.export("configSecret", ctx.config().requireSecret("token"));
                break;
            case "assets":
                var assets = ThingArgs.none();
                assets.source = Output.of(new AssetArchive(Map.of("a.txt", new StringAsset("text"),
                        "b.txt", new FileAsset("asset.txt"), "c", new FileArchive("folder"))));
                ctx.export(name, new Thing("assets", assets).sourceHash);
                break;
            case "remoteAssets":
                var remoteAssets = ThingArgs.none();
                remoteAssets.source = Output.of(new AssetArchive(Map.of(
                        "a.txt", new RemoteAsset("file://" + System.getProperty("user.dir") + "/text.txt"),
                        "b.txt", new RemoteAsset("http://assets.test/asset.txt"),
                        "c", new RemoteArchive("http://assets.test/folder.zip"))));
                ctx.export(name, new Thing("remoteAssets", remoteAssets).sourceHash);
                break;
            case "components":
                ctx.export(name, new Group("group").value);
                break;
            case "providers":
                var europe = new ProviderResource("lab", "europe", new ProviderArgs(), CustomResourceOptions.Empty);
                var inEurope = CustomResourceOptions.builder().provider(europe).build();
                ctx.export(name, new Thing("european", ThingArgs.none(), inEurope).region);
                break;
            case "stackReferences":
                var source = new StackReference("organization/source/dev");
                ctx.export(name, source.output("word"));
                ctx.export("stackReferenceSecret", source.requireOutput("hidden"));
                break;
            case "transforms":
                ctx.export(name, new Thing("transformed", ThingArgs.of("before")).value);
                break;
            case "remoteComponents":
                ctx.export(name, new Remote("remote").values);
                break;
            case "outputs":
                ctx.export(name, Output.of(Map.of("text", "ünïcödé ✓", "number", 1.5, "truth", false,
                        "list", List.of(1, "two", List.of()), "map", Map.of("k", Map.of("l", "m")))));
                break;
            case "strangeOutput":
                System.out.writeBytes("before \u00ff\u00fe after\n".getBytes(StandardCharsets.ISO_8859_1));
                break;
            case "longLines":
                System.out.println("x".repeat(10_000_000) + " END");
                break;
            case "invokes":
            case "methods":
                asking(name, ctx);
                break;
            case "logs":
            case "errors":
            case "killed":
                ending(name, ctx);
                break;
            default:
                option(name, ctx);
        }
    }

    private static void option(String name, Context ctx) {
        var options = CustomResourceOptions.builder();
        switch (name) {
            case "aliases":
                if (ROUND.equals("1")) {
                    new Thing("former", ThingArgs.of("v"));
                } else {
                    var former = Alias.builder().name("former").build();
                    new Thing("latter", ThingArgs.of("v"), options.aliases(former).build());
                }
                break;
            case "protect":
                new Thing("guarded", ThingArgs.none(), options.protect(true).build());
                break;
            case "retainOnDelete":
                if (ROUND.equals("1")) {
                    new Thing("retained", ThingArgs.none(), options.retainOnDelete(true).build());
                }
                break;
            case "dependsOn":
                new Thing("second", ThingArgs.none(), options.dependsOn(new Thing("first", ThingArgs.none())).build());
                break;
            case "customTimeouts":
                var limits = CustomTimeouts.builder().create(Duration.ofMinutes(5)).build();
                var timed = ThingArgs.none();
                timed.echoTimeout = Output.of(true);
                ctx.export(name, new Thing("timed", timed, options.customTimeouts(limits).build()).timeoutSeen);
                break;
            case "ignoreChanges":
                ctx.export(name, new Thing("ignoring", ThingArgs.of(ROUND), options.ignoreChanges("value").build()).value);
                break;
            case "replaceOnChanges":
                options.deleteBeforeReplace(true);
                new Thing("replaced", ThingArgs.of(ROUND), options.replaceOnChanges("value").build());
                break;
            case "additionalSecretOutputs":
                ctx.export(name, new Thing("quiet", ThingArgs.of("psst"), options.additionalSecretOutputs("value").build()).value);
                break;
            case "get":
                ctx.export(name, new Thing("found", ThingArgs.none(), options.id("existing-1").build()).value);
                break;
            case "importing":
                new Thing("adopted", ThingArgs.of("imported"), options.importId("importable-1").build());
                break;
            default:
                throw new IllegalArgumentException("no such feature: " + name);
        }
    }

    private static void asking(String name, Context ctx) {
        var answer = TypeShape.map(String.class, Object.class);
        if (name.equals("methods")) {
            var described = new Thing("described", ThingArgs.none());
            var said = Deployment.getInstance().call("lab:index:Thing/describe", answer, new DescribeArgs(), described);
            ctx.export(name, said.applyValue(it -> it.get("description")));
            return;
        }
        var asked = new Thing("asked", ThingArgs.of("v"));
        var plain = Deployment.getInstance().invoke("lab:index:echo", answer, new EchoArgs(Output.of("hello")), InvokeOptions.Empty);
        var output = Deployment.getInstance().invoke("lab:index:echo", answer, new EchoArgs(asked.value), InvokeOptions.Empty);
        ctx.export(name, Output.all(plain, output).applyValue(
                all -> Map.of("plain", all.get(0).get("value"), "output", all.get(1).get("value"))));
    }

    private static void ending(String name, Context ctx) {
        switch (name) {
            case "logs":
                ctx.log().debug("a debug message");
                ctx.log().info("an info message");
                ctx.log().warn("a warning message");
                ctx.log().error("an error message");
                break;
            case "errors":
                throw new IllegalStateException("it broke");
            default:
                try {
                    new ProcessBuilder("kill", "-9", Long.toString(ProcessHandle.current().pid())).start().waitFor();
                } catch (IOException | InterruptedException problem) {
                    throw new IllegalStateException(problem);
                }
        }
    }
}
