// A program with a generated SDK: resources, a component, functions, methods, a provider of its own.
package main

import (
	"example.com/pulumi-lab/sdk/go/lab"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

func main() {
	pulumi.Run(func(ctx *pulumi.Context) error {
		provider, err := lab.NewProvider(ctx, "north", &lab.ProviderArgs{
			Region:      pulumi.String("north"),
			SecretToken: pulumi.String("hidden"),
		})
		if err != nil {
			return err
		}
		thing, err := lab.NewThing(ctx, "thing", &lab.ThingArgs{
			Value: pulumi.ToSecret(pulumi.Map{"a": pulumi.Array{pulumi.Int(1), pulumi.String("b")}}),
			Items: pulumi.Array{pulumi.String("x"), pulumi.NewStringAsset("text")},
		}, pulumi.Provider(provider))
		if err != nil {
			return err
		}
		component, err := lab.NewComponent(ctx, "component", &lab.ComponentArgs{
			Size:  pulumi.Int(2),
			Value: pulumi.String("v"),
		})
		if err != nil {
			return err
		}
		echoed, err := lab.Echo(ctx, &lab.EchoArgs{Value: "now"})
		if err != nil {
			return err
		}
		described, err := thing.Describe(ctx, &lab.ThingDescribeArgs{Greeting: pulumi.String("hi")})
		if err != nil {
			return err
		}
		ctx.Export("value", thing.Value)
		ctx.Export("region", thing.Region)
		ctx.Export("children", component.Values)
		ctx.Export("now", pulumi.Any(echoed.Value))
		ctx.Export("later", lab.EchoOutput(ctx, lab.EchoOutputArgs{Value: component.ChildIds.Index(pulumi.Int(0))}).Value())
		ctx.Export("described", described.Description())
		return nil
	})
}
