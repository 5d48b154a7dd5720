// The program of `tests/e2e/go.py`. The variable STORY says what it does.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi/config"
)

// Pet is a resource of the package random, written by hand.
type Pet struct {
	pulumi.CustomResourceState

	Length pulumi.IntOutput    `pulumi:"length"`
	Prefix pulumi.StringOutput `pulumi:"prefix"`
}


func newPet(ctx *pulumi.Context, name string, args pulumi.Map, opts ...pulumi.ResourceOption) (*Pet, error) {
	pet := &Pet{}
	return pet, ctx.RegisterResource("random:index/randomPet:RandomPet", name, args, pet, opts...)
}

// Thing is a resource of the package lab, see `tests/lab`.
type Thing struct {
	pulumi.CustomResourceState

	Value      pulumi.AnyOutput    `pulumi:"value"`
	Serial     pulumi.IntOutput    `pulumi:"serial"`
	Password   pulumi.StringOutput `pulumi:"password"`
	SourceHash pulumi.StringOutput `pulumi:"sourceHash"`
}

func newThing(ctx *pulumi.Context, name string, args pulumi.Map, opts ...pulumi.ResourceOption) (*Thing, error) {
	thing := &Thing{}
	return thing, ctx.RegisterResource("lab:index:Thing", name, args, thing, opts...)
}

// Group is a component of this program.
type Group struct {
	pulumi.ResourceState
}

func newGroup(ctx *pulumi.Context, name string, opts ...pulumi.ResourceOption) (*Group, error) {
	group := &Group{}
	return group, ctx.RegisterComponentResource("prog:index:Group", name, group, opts...)
}

var stories = map[string]pulumi.RunFunc{
	"resources":  resources,
	"transforms": transforms,
	"hooks":      hooks,
	"invokes":    invokes,
	"reference":  reference,
	"greeter":    greeter,
	"fails":      func(*pulumi.Context) error { return errors.New("the weather is bad") },
	"panics":     func(*pulumi.Context) error { panic("out of luck") },
	"leaves":     func(*pulumi.Context) error { os.Exit(7); return nil },
	"half":       half,
	"sleeps":     sleeps,
	"many":       many,
}

func main() {
	story, ok := stories[os.Getenv("STORY")]
	if !ok {
		story = func(*pulumi.Context) error { return nil }
	}
	pulumi.Run(story)
}

// resources registers resources of each kind, and outputs.
func resources(ctx *pulumi.Context) error {
	settings := config.New(ctx, "")
	fmt.Println("hello from", ctx.Stack(), os.Args[1:])
	fmt.Fprintln(os.Stderr, "to stderr")
	if err := ctx.Log.Warn("take care", nil); err != nil {
		return err
	}
	group, err := newGroup(ctx, "group")
	if err != nil {
		return err
	}
	pet, err := newPet(ctx, "pet", pulumi.Map{"length": pulumi.Int(settings.RequireInt("length"))}, pulumi.Parent(group))
	if err != nil {
		return err
	}
	secret, err := newPet(ctx, "secret", pulumi.Map{"prefix": settings.RequireSecret("token")},
		pulumi.DependsOn([]pulumi.Resource{pet}))
	if err != nil {
		return err
	}
	thing, err := newThing(ctx, "thing", pulumi.Map{
		"value":  pet.Length,
		"source": pulumi.NewAssetArchive(map[string]any{"a.txt": pulumi.NewStringAsset("text"), "main.go": pulumi.NewFileAsset("main.go")}),
	}, pulumi.AdditionalSecretOutputs([]string{"serial"}), pulumi.Timeouts(&pulumi.CustomTimeouts{Create: "5m"}))
	if err != nil {
		return err
	}
	if err := ctx.RegisterResourceOutputs(group, pulumi.Map{"pet": pet.ID()}); err != nil {
		return err
	}
	directory, err := os.Getwd()
	if err != nil {
		return err
	}
	ctx.Export("project", pulumi.String(ctx.Project()))
	ctx.Export("organization", pulumi.String(ctx.Organization()))
	ctx.Export("root", pulumi.String(ctx.RootDirectory()))
	ctx.Export("directory", pulumi.String(directory))
	ctx.Export("dry", pulumi.Bool(ctx.DryRun()))
	ctx.Export("length", pet.Length)
	ctx.Export("prefix", secret.Prefix)
	ctx.Export("value", thing.Value)
	ctx.Export("serial", thing.Serial)
	ctx.Export("source", thing.SourceHash)
	ctx.Export("nested", pulumi.Map{"list": pulumi.ToStringArray([]string{"a", "b"})})
	return nil
}

// transforms changes what is registered and asked.
func transforms(ctx *pulumi.Context) error {
	err := ctx.RegisterResourceTransform(func(_ context.Context, args *pulumi.ResourceTransformArgs) *pulumi.ResourceTransformResult {
		if args.Type != "random:index/randomPet:RandomPet" {
			return nil
		}
		args.Props["prefix"] = pulumi.String("transformed-" + args.Name)
		args.Opts.Protect = false
		return &pulumi.ResourceTransformResult{Props: args.Props, Opts: args.Opts}
	})
	if err != nil {
		return err
	}
	err = ctx.RegisterInvokeTransform(func(_ context.Context, args *pulumi.InvokeTransformArgs) *pulumi.InvokeTransformResult {
		args.Args["value"] = pulumi.String("also transformed")
		return &pulumi.InvokeTransformResult{Args: args.Args, Opts: args.Opts}
	})
	if err != nil {
		return err
	}
	pet, err := newPet(ctx, "pet", pulumi.Map{})
	if err != nil {
		return err
	}
	var echoed struct {
		Value string `pulumi:"value"`
	}
	asked := map[string]any{"value": "plain"}
	if err := ctx.Invoke("lab:index:echo", &asked, &echoed); err != nil {
		return err
	}
	ctx.Export("prefix", pet.Prefix)
	ctx.Export("echoed", pulumi.String(echoed.Value))
	return nil
}

// noted is what the hooks write down.
type noted struct {
	Hook      string         `json:"hook"`
	Name      string         `json:"name"`
	Operation string         `json:"operation,omitempty"`
	Errors    []string       `json:"errors,omitempty"`
	New       map[string]any `json:"new"`
}

func note(call noted, inputs resource.PropertyMap) error {
	call.New = inputs.Mappable()
	line, err := json.Marshal(call)
	if err != nil {
		return err
	}
	log, err := os.OpenFile(os.Getenv("HOOK_LOG"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	_, err = log.Write(append(line, '\n'))
	return err
}

// hooks registers a resource whose steps call hooks.
func hooks(ctx *pulumi.Context) error {
	hook := func(name string) (*pulumi.ResourceHook, error) {
		return ctx.RegisterResourceHook(name, func(args *pulumi.ResourceHookArgs) error {
			if os.Getenv("HOOK_FAILS") == name {
				return errors.New("oh no")
			}
			return note(noted{Hook: name, Name: args.Name}, args.NewInputs)
		}, nil)
	}
	before, err := hook("before")
	if err != nil {
		return err
	}
	after, err := hook("after")
	if err != nil {
		return err
	}
	again, err := ctx.RegisterErrorHook("again", func(args *pulumi.ErrorHookArgs) (bool, error) {
		call := noted{Hook: "again", Name: args.Name, Operation: args.FailedOperation, Errors: args.Errors}
		return len(args.Errors) < 3, note(call, args.NewInputs)
	})
	if err != nil {
		return err
	}
	args := pulumi.Map{"value": pulumi.String(os.Getenv("VALUE"))}
	if os.Getenv("FAILS") != "" {
		args["failOn"] = pulumi.Map{"create": pulumi.Map{"message": pulumi.String("not yet"), "times": pulumi.Int(2)}}
	}
	_, err = newThing(ctx, "hooked", args, pulumi.ResourceHooks(&pulumi.ResourceHookBinding{
		BeforeCreate: []*pulumi.ResourceHook{before}, AfterCreate: []*pulumi.ResourceHook{after},
		BeforeDelete: []*pulumi.ResourceHook{before}, AfterDelete: []*pulumi.ResourceHook{after},
		OnError: []*pulumi.ErrorHook{again},
	}))
	return err
}

// invokes asks functions and calls a method.
func invokes(ctx *pulumi.Context) error {
	thing, err := newThing(ctx, "thing", pulumi.Map{"value": pulumi.String("v")})
	if err != nil {
		return err
	}
	args := pulumi.Map{"value": thing.Value}
	echoed := ctx.InvokeOutput("lab:index:echo", args, pulumi.MapOutput{}, pulumi.InvokeOutputOptions{})
	ctx.Export("echoed", echoed)
	described, err := ctx.Call("lab:index:Thing/describe", pulumi.Map{"greeting": pulumi.String("hi")}, pulumi.MapOutput{}, thing)
	if err != nil {
		return err
	}
	ctx.Export("described", described)
	var nothing struct{}
	asked := map[string]any{"message": "no such luck"}
	if err := ctx.Invoke("lab:index:fail", &asked, &nothing); err == nil {
		return errors.New("the function did not fail")
	}
	return nil
}

// reference reads the outputs of another stack.
func reference(ctx *pulumi.Context) error {
	other, err := pulumi.NewStackReference(ctx, config.New(ctx, "").Require("other"), nil)
	if err != nil {
		return err
	}
	ctx.Export("length", other.GetIntOutput(pulumi.String("length")))
	ctx.Export("prefix", other.GetStringOutput(pulumi.String("prefix")))
	return nil
}

// Greeter is the remote component of the folder `component`.
type Greeter struct {
	pulumi.ResourceState

	Greeting pulumi.StringOutput `pulumi:"greeting"`
	Token    pulumi.StringOutput `pulumi:"token"`
}

// greeter uses a component that a plugin makes.
func greeter(ctx *pulumi.Context) error {
	greeter := &Greeter{}
	err := ctx.RegisterRemoteComponentResource("greeter:index:Greeter", "remote",
		pulumi.Map{"who": pulumi.ToSecret(pulumi.String("Go")).(pulumi.StringOutput)}, greeter)
	if err != nil {
		return err
	}
	said, err := ctx.Call("greeter:index:Greeter/say", pulumi.Map{"what": pulumi.String("bye")}, pulumi.MapOutput{}, greeter)
	if err != nil {
		return err
	}
	ctx.Export("greeting", greeter.Greeting)
	ctx.Export("said", said)
	return nil
}

// half registers something before it fails.
func half(ctx *pulumi.Context) error {
	if _, err := newPet(ctx, "pet", pulumi.Map{}); err != nil {
		return err
	}
	if _, err := newThing(ctx, "refused", pulumi.Map{"failOn": pulumi.Map{"create": pulumi.String("no room")}}); err != nil {
		return err
	}
	ctx.Export("written", pulumi.String("anyway"))
	return nil
}

// sleeps does not end by itself.
func sleeps(ctx *pulumi.Context) error {
	pet, err := newPet(ctx, "pet", pulumi.Map{})
	if err != nil {
		return err
	}
	pet.ID().ApplyT(func(pulumi.ID) error {
		fmt.Println("sleeping as", os.Getpid())
		return nil
	})
	time.Sleep(10 * time.Minute)
	return nil
}

// many registers a thousand resources.
func many(ctx *pulumi.Context) error {
	for i := range 1000 {
		group := &Group{}
		if err := ctx.RegisterComponentResource("prog:index:Group", fmt.Sprintf("group-%d", i), group); err != nil {
			return err
		}
	}
	return nil
}
