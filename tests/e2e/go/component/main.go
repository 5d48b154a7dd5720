// A component provider on the SDK's provider package, run from its sources.
package main

import (
	_ "embed"
	"errors"
	"fmt"
	"os"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi/provider"
)

//go:embed schema.json
var schema []byte

// Greeter greets, and owns a pet.
type Greeter struct {
	pulumi.ResourceState

	Greeting pulumi.StringOutput `pulumi:"greeting"`
	Pet      pulumi.StringOutput `pulumi:"pet"`
}

type greeterArgs struct {
	Who pulumi.StringInput `pulumi:"who"`
}

type pet struct {
	pulumi.CustomResourceState
}

func construct(
	ctx *pulumi.Context, token, name string, inputs provider.ConstructInputs, options pulumi.ResourceOption,
) (*provider.ConstructResult, error) {
	if token != "greeter:index:Greeter" {
		return nil, fmt.Errorf("unknown component %s", token)
	}
	if name == "refused" {
		return nil, errors.New("no greeting for those who are refused")
	}
	args := &greeterArgs{}
	if err := inputs.CopyTo(args); err != nil {
		return nil, err
	}
	greeter := &Greeter{}
	if err := ctx.RegisterComponentResource(token, name, greeter, options); err != nil {
		return nil, err
	}
	child := &pet{}
	childArgs := pulumi.Map{"prefix": args.Who}
	err := ctx.RegisterResource("random:index/randomPet:RandomPet", name+"-pet", childArgs, child, pulumi.Parent(greeter))
	if err != nil {
		return nil, err
	}
	greeter.Greeting = pulumi.Sprintf("hello, %s", args.Who)
	greeter.Pet = child.ID().ToStringOutput()
	outputs := pulumi.Map{"greeting": greeter.Greeting, "pet": greeter.Pet}
	if err := ctx.RegisterResourceOutputs(greeter, outputs); err != nil {
		return nil, err
	}
	return provider.NewConstructResult(greeter)
}

type sayArgs struct {
	What string `pulumi:"what"`
}

type sayResult struct {
	Said pulumi.StringOutput `pulumi:"said"`
}

func call(_ *pulumi.Context, token string, args provider.CallArgs) (*provider.CallResult, error) {
	if token != "greeter:index:Greeter/say" {
		return nil, fmt.Errorf("unknown method %s", token)
	}
	say := &sayArgs{}
	self, err := args.CopyTo(say)
	if err != nil {
		return nil, err
	}
	said := pulumi.Sprintf("%s says %s", self.URN(), say.What)
	return provider.NewCallResult(&sayResult{Said: said})
}

func main() {
	err := provider.MainWithOptions(provider.Options{
		Name: "greeter", Version: "0.1.0", Schema: schema, Construct: construct, Call: call,
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
