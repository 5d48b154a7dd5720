package app;

import com.pulumi.Pulumi;
import com.pulumi.core.Output;

/** The program of the project. */
public final class App {
  private App() {}

  public static void main(String[] args) {
    Pulumi.run(
        context -> {
          // Resources are declared here; what is exported are the outputs of the stack.
          String greeting = "Hello from " + context.projectName() + " in " + context.stackName();
          context.export("greeting", Output.of(greeting));
        });
  }
}
