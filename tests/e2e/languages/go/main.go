// The features in Go; see `tests/e2e/languages.py`. FEATURES names those to run, ROUND is 1 or 2.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi/config"
)

// Thing is a resource of the package lab, see `tests/lab`.
type Thing struct {
	pulumi.CustomResourceState

	Value       pulumi.AnyOutput     `pulumi:"value"`
	Other       pulumi.AnyOutput     `pulumi:"other"`
	Serial      pulumi.IntOutput     `pulumi:"serial"`
	Region      pulumi.StringOutput  `pulumi:"region"`
	SourceHash  pulumi.StringOutput  `pulumi:"sourceHash"`
	TimeoutSeen pulumi.Float64Output `pulumi:"timeoutSeen"`
}

// Europe is a provider of the package lab.
type Europe struct {
	pulumi.ProviderResourceState
}

// Group is a component of this program.
type Group struct {
	pulumi.ResourceState
}

// Remote is the component of the package lab.
type Remote struct {
	pulumi.ResourceState

	Values pulumi.AnyOutput `pulumi:"values"`
}

// program keeps the first error, so that features need no more than one line for each resource.
type program struct {
	ctx   *pulumi.Context
	round string
	err   error
}

func (p *program) keep(err error) {
	if p.err == nil {
		p.err = err
	}
}

func (p *program) thing(name string, args pulumi.Map, opts ...pulumi.ResourceOption) *Thing {
	thing := &Thing{}
	p.keep(p.ctx.RegisterResource("lab:index:Thing", name, args, thing, opts...))
	return thing
}

func (p *program) note(text string) error {
	log, err := os.OpenFile(os.Getenv("HOOK_LOG"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	_, err = log.WriteString(text + "\n")
	return err
}

// echo asks a function of the package lab.
func (p *program) echo(value any) string {
	var echoed struct {
		Value string `pulumi:"value"`
	}
	asked := map[string]any{"value": value}
	p.keep(p.ctx.Invoke("lab:index:echo", &asked, &echoed))
	return echoed.Value
}

var features = map[string]func(*program){
	"resources": func(p *program) {
		deep := pulumi.Map{"list": pulumi.Array{pulumi.Int(1), pulumi.Map{"deep": pulumi.Bool(true)}}}
		plain := p.thing("plain", pulumi.Map{"value": pulumi.String("v"), "other": deep})
		p.ctx.Export("resources", pulumi.Map{"value": plain.Value, "other": plain.Other, "serial": plain.Serial})
	},
	"secrets": func(p *program) {
		hidden := p.thing("hidden", pulumi.Map{
			"value": pulumi.ToSecret(pulumi.String("open sesame")), "password": config.New(p.ctx, "").RequireSecret("token")})
		p.ctx.Export("secrets", hidden.Value)
	},
	"config": func(p *program) {
		settings := config.New(p.ctx, "")
		var tree map[string][]string
		settings.RequireObject("tree", &tree)
		p.ctx.Export("config", pulumi.Map{
			"number": pulumi.Int(settings.RequireInt("number")), "truth": pulumi.Bool(settings.RequireBool("truth")),
			"tree": pulumi.String(tree["list"][0])})
		p.ctx.Export("configSecret", settings.RequireSecret("token"))
	},
	"assets": func(p *program) {
		archive := pulumi.NewAssetArchive(map[string]any{
			"a.txt": pulumi.NewStringAsset("text"), "b.txt": pulumi.NewFileAsset("asset.txt"), "c": pulumi.NewFileArchive("folder")})
		p.ctx.Export("assets", p.thing("assets", pulumi.Map{"source": archive}).SourceHash)
	},
	"remoteAssets": func(p *program) {
		folder, err := os.Getwd()
		p.keep(err)
		archive := pulumi.NewAssetArchive(map[string]any{
			"a.txt": pulumi.NewRemoteAsset("file://" + folder + "/text.txt"),
			"b.txt": pulumi.NewRemoteAsset("http://assets.test/asset.txt"),
			"c":     pulumi.NewRemoteArchive("http://assets.test/folder.zip")})
		p.ctx.Export("remoteAssets", p.thing("remoteAssets", pulumi.Map{"source": archive}).SourceHash)
	},
	"components": func(p *program) {
		group := &Group{}
		p.keep(p.ctx.RegisterComponentResource("matrix:index:Group", "group", group))
		value := p.thing("child", pulumi.Map{"value": pulumi.String("of a child")}, pulumi.Parent(group)).Value
		p.keep(p.ctx.RegisterResourceOutputs(group, pulumi.Map{"value": value}))
		p.ctx.Export("components", value)
	},
	"providers": func(p *program) {
		europe := &Europe{}
		args := pulumi.Map{"region": pulumi.String("eu")}
		p.keep(p.ctx.RegisterResource("pulumi:providers:lab", "europe", args, europe))
		p.ctx.Export("providers", p.thing("european", nil, pulumi.Provider(europe)).Region)
	},
	"aliases": func(p *program) {
		args := pulumi.Map{"value": pulumi.String("v")}
		if p.round == "1" {
			p.thing("former", args)
		} else {
			p.thing("latter", args, pulumi.Aliases([]pulumi.Alias{{Name: pulumi.String("former")}}))
		}
	},
	"protect": func(p *program) { p.thing("guarded", nil, pulumi.Protect(true)) },
	"retainOnDelete": func(p *program) {
		if p.round == "1" {
			p.thing("retained", nil, pulumi.RetainOnDelete(true))
		}
	},
	"dependsOn": func(p *program) {
		p.thing("second", nil, pulumi.DependsOn([]pulumi.Resource{p.thing("first", nil)}))
	},
	"customTimeouts": func(p *program) {
		limits := pulumi.Timeouts(&pulumi.CustomTimeouts{Create: "5m"})
		p.ctx.Export("customTimeouts", p.thing("timed", pulumi.Map{"echoTimeout": pulumi.Bool(true)}, limits).TimeoutSeen)
	},
	"ignoreChanges": func(p *program) {
		args := pulumi.Map{"value": pulumi.String(p.round)}
		p.ctx.Export("ignoreChanges", p.thing("ignoring", args, pulumi.IgnoreChanges([]string{"value"})).Value)
	},
	"replaceOnChanges": func(p *program) {
		args := pulumi.Map{"value": pulumi.String(p.round)}
		p.thing("replaced", args, pulumi.ReplaceOnChanges([]string{"value"}), pulumi.DeleteBeforeReplace(true))
	},
	"additionalSecretOutputs": func(p *program) {
		quiet := p.thing("quiet", pulumi.Map{"value": pulumi.String("psst")}, pulumi.AdditionalSecretOutputs([]string{"value"}))
		p.ctx.Export("additionalSecretOutputs", quiet.Value)
	},
	"stackReferences": func(p *program) {
		other, err := pulumi.NewStackReference(p.ctx, "organization/source/dev", nil)
		if err != nil {
			p.keep(err)
			return
		}
		p.ctx.Export("stackReferences", other.GetOutput(pulumi.String("word")))
		p.ctx.Export("stackReferenceSecret", other.GetOutput(pulumi.String("hidden")))
	},
	"get": func(p *program) {
		found := &Thing{}
		p.keep(p.ctx.ReadResource("lab:index:Thing", "found", pulumi.ID("existing-1"), nil, found))
		p.ctx.Export("get", found.Value)
	},
	"importing": func(p *program) {
		p.thing("adopted", pulumi.Map{"value": pulumi.String("imported")}, pulumi.Import(pulumi.ID("importable-1")))
	},
	"invokes": func(p *program) {
		asked := p.thing("asked", pulumi.Map{"value": pulumi.String("v")})
		output := asked.Value.ApplyT(func(value any) string { return p.echo(value) })
		p.ctx.Export("invokes", pulumi.Map{"plain": pulumi.String(p.echo("hello")), "output": pulumi.ToOutput(output)})
	},
	"transforms": func(p *program) {
		p.keep(p.ctx.RegisterResourceTransform(
			func(_ context.Context, args *pulumi.ResourceTransformArgs) *pulumi.ResourceTransformResult {
				if args.Name != "transformed" {
					return nil
				}
				args.Props["value"] = pulumi.String("after")
				return &pulumi.ResourceTransformResult{Props: args.Props, Opts: args.Opts}
			}))
		p.ctx.Export("transforms", p.thing("transformed", pulumi.Map{"value": pulumi.String("before")}).Value)
	},
	"invokeTransforms": func(p *program) {
		p.keep(p.ctx.RegisterInvokeTransform(
			func(_ context.Context, args *pulumi.InvokeTransformArgs) *pulumi.InvokeTransformResult {
				if args.Args["value"] != pulumi.String("before") && args.Args["value"] != any("before") {
					return nil
				}
				args.Args["value"] = pulumi.String("after")
				return &pulumi.InvokeTransformResult{Args: args.Args, Opts: args.Opts}
			}))
		p.ctx.Export("invokeTransforms", pulumi.String(p.echo("before")))
	},
	"hooks": func(p *program) {
		made, err := p.ctx.RegisterResourceHook("made", func(args *pulumi.ResourceHookArgs) error {
			return p.note("made " + args.Name)
		}, nil)
		p.keep(err)
		p.thing("hooked", nil, pulumi.ResourceHooks(&pulumi.ResourceHookBinding{AfterCreate: []*pulumi.ResourceHook{made}}))
	},
	"errorHooks": func(p *program) {
		again, err := p.ctx.RegisterErrorHook("again", func(args *pulumi.ErrorHookArgs) (bool, error) {
			return true, p.note("again " + args.Name)
		})
		p.keep(err)
		fails := pulumi.Map{"create": pulumi.Map{"message": pulumi.String("not yet"), "times": pulumi.Int(2)}}
		p.thing("stubborn", pulumi.Map{"failOn": fails},
			pulumi.ResourceHooks(&pulumi.ResourceHookBinding{OnError: []*pulumi.ErrorHook{again}}))
	},
	"remoteComponents": func(p *program) {
		remote := &Remote{}
		args := pulumi.Map{"size": pulumi.Int(2), "value": pulumi.String("v")}
		p.keep(p.ctx.RegisterRemoteComponentResource("lab:index:Component", "remote", args, remote))
		p.ctx.Export("remoteComponents", remote.Values)
	},
	"methods": func(p *program) {
		args := pulumi.Map{"greeting": pulumi.String("hi")}
		described, err := p.ctx.Call("lab:index:Thing/describe", args, pulumi.MapOutput{}, p.thing("described", nil))
		p.keep(err)
		p.ctx.Export("methods", described.(pulumi.MapOutput).MapIndex(pulumi.String("description")))
	},
	"outputs": func(p *program) {
		p.ctx.Export("outputs", pulumi.Map{
			"text": pulumi.String("ünïcödé ✓"), "number": pulumi.Float64(1.5), "truth": pulumi.Bool(false),
			"list": pulumi.Array{pulumi.Int(1), pulumi.String("two"), pulumi.Array{}},
			"map":  pulumi.Map{"k": pulumi.Map{"l": pulumi.String("m")}}})
	},
	"strangeOutput": func(p *program) {
		_, err := os.Stdout.WriteString("before \xff\xfe after\n")
		p.keep(err)
	},
	"longLines": func(*program) { fmt.Println(strings.Repeat("x", 10_000_000) + " END") },
	"logs": func(p *program) {
		p.keep(p.ctx.Log.Debug("a debug message", nil))
		p.keep(p.ctx.Log.Info("an info message", nil))
		p.keep(p.ctx.Log.Warn("a warning message", nil))
		p.keep(p.ctx.Log.Error("an error message", nil))
	},
	"errors": func(p *program) { p.keep(errors.New("it broke")) },
	"killed": func(p *program) { p.keep(syscall.Kill(os.Getpid(), syscall.SIGKILL)) },
}

func main() {
	pulumi.Run(func(ctx *pulumi.Context) error {
		p := &program{ctx: ctx, round: os.Getenv("ROUND")}
		for _, name := range strings.Split(os.Getenv("FEATURES"), ",") {
			features[name](p)
		}
		return p.err
	})
}
