using System.Collections.Generic;
using Pulumi;

return await Deployment.RunAsync(() =>
{
    // Resources are declared here; what is returned are the outputs of the stack.
    var deployment = Deployment.Instance;
    return new Dictionary<string, object?>
    {
        ["greeting"] = $"Hello from {deployment.ProjectName} in {deployment.StackName}",
    };
});
