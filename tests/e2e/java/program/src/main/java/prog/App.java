// The program of `tests/e2e/java.py`. The variable STORY says what it does.
package prog;

import com.pulumi.Context;
import com.pulumi.Pulumi;
import com.pulumi.core.Output;
import com.pulumi.core.annotations.Export;
import com.pulumi.core.annotations.Import;
import com.pulumi.resources.ComponentResource;
import com.pulumi.resources.ComponentResourceOptions;
import com.pulumi.resources.CustomResource;
import com.pulumi.resources.CustomResourceOptions;
import com.pulumi.resources.Resource;
import com.pulumi.resources.ResourceArgs;
import com.pulumi.resources.StackReference;
import java.util.Map;

public class App {
    static final class PetArgs extends ResourceArgs {
        @Import(name = "length")
        final Output<Integer> length;

        @Import(name = "prefix")
        final Output<String> prefix;

        PetArgs(Output<Integer> length, Output<String> prefix) {
            this.length = length;
            this.prefix = prefix;
        }
    }

    static final class Pet extends CustomResource {
        @Export(name = "length", refs = {Integer.class}, tree = "[0]")
        private Output<Integer> length;

        @Export(name = "prefix", refs = {String.class}, tree = "[0]")
        private Output<String> prefix;

        Pet(String name, PetArgs args, Resource parent) {
            super("random:index/randomPet:RandomPet", name, args, CustomResourceOptions.builder().parent(parent).build());
        }
    }

    static final class Group extends ComponentResource {
        final Pet pet;

        Group(String name, int length, Output<String> prefix) {
            super("prog:index:Group", name, ComponentResourceOptions.Empty);
            pet = new Pet(name + "-pet", new PetArgs(Output.of(length), prefix), this);
            registerOutputs(Map.of("pet", pet.id()));
        }
    }

    public static void main(String[] args) {
        Pulumi.run(App::stack);
    }

    private static void stack(Context ctx) {
        String story = System.getenv().getOrDefault("STORY", "");
        switch (story) {
            case "resources":
                resources(ctx);
                break;
            case "reference":
                var other = new StackReference(ctx.config().require("other"));
                ctx.export("length", other.requireOutput("length"));
                ctx.export("prefix", other.requireOutput("prefix"));
                break;
            case "fails":
                throw new IllegalStateException("the weather is bad");
            case "sleeps":
                System.out.println("sleeping as " + ProcessHandle.current().pid());
                try {
                    Thread.sleep(600_000);
                } catch (InterruptedException interrupted) {
                    throw new IllegalStateException(interrupted);
                }
                break;
            default:
                break;
        }
    }

    private static void resources(Context ctx) {
        System.out.println("hello from " + ctx.stackName());
        ctx.log().warn("take care");
        var group = new Group("group", ctx.config().requireInteger("length"), ctx.config().requireSecret("token"));
        ctx.export("project", Output.of(ctx.projectName()));
        ctx.export("organization", Output.of(ctx.organizationName()));
        ctx.export("directory", Output.of(System.getProperty("user.dir")));
        ctx.export("length", group.pet.length);
        ctx.export("prefix", group.pet.prefix);
    }
}
