package automation

// Operations with inline programs and with programs on disk.

import (
	"bytes"
	"errors"
	"path/filepath"
	"slices"

	"github.com/pulumi/pulumi/sdk/v3/go/auto"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/debug"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optdestroy"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optimport"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optpreview"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optrefresh"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optup"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

type changes = map[apitype.OpType]int

var _ = test("an inline program lives from up to destroy", func(w *world) {
	value := 1
	stack := w.inline(func(ctx *pulumi.Context) error {
		a, err := stash(ctx, "a", value)
		if err != nil {
			return err
		}
		ctx.Export("hidden", pulumi.ToSecret(pulumi.String("h")))
		ctx.Export("list", pulumi.Array{pulumi.Int(1), pulumi.Map{"two": pulumi.Int(2)}})
		ctx.Export("of", a.Output)
		return nil
	})
	made := must(stack.Up(ctx, optup.Message("the first")))
	expect(*made.Summary.ResourceChanges, map[string]int{"create": 2})
	expect([]string{made.Summary.Kind, made.Summary.Result}, []string{"update", "succeeded"})
	expect(made.Outputs, auto.OutputMap{
		"hidden": {Value: "h", Secret: true}, "list": {Value: []any{1.0, map[string]any{"two": 2.0}}}, "of": {Value: 1.0}})
	value = 2
	expect(must(stack.Preview(ctx)).ChangeSummary, changes{"same": 1, "update": 1})
	expect(*must(stack.Up(ctx)).Summary.ResourceChanges, map[string]int{"same": 1, "update": 1})
	expect(must(stack.Refresh(ctx)).Summary.Kind, "refresh")
	destroyed := must(stack.Destroy(ctx)).Summary
	expect(*destroyed.ResourceChanges, map[string]int{"delete": 2})
	expect(destroyed.Kind, "destroy")
	check(stack.Workspace().RemoveStack(ctx, "dev"))
})

var _ = test("a Go program on disk lives from up to destroy", func(w *world) {
	w.compiled(`		a, err := pulumi.NewStash(ctx, "a", &pulumi.StashArgs{Input: pulumi.Int(1)})
		if err != nil {
			return err
		}
		ctx.Export("out", a.Output)
		return nil`)
	stack := w.local("dev")
	expect(must(stack.Preview(ctx)).ChangeSummary, changes{"create": 2})
	made := must(stack.Up(ctx))
	expect(made.Outputs["out"].Value, 1.0)
	expectIn("2 created", made.StdOut)
	expect(*must(stack.Destroy(ctx, optdestroy.Remove())).Summary.ResourceChanges, map[string]int{"delete": 2})
	expect(len(must(stack.Workspace().ListStacks(ctx))), 0)
})

var _ = test("a YAML program needs no SDK", func(w *world) {
	w.yaml("outputs: {word: w}\n")
	expect(must(w.local("dev").Up(ctx)).Outputs["word"].Value, "w")
})

var _ = test("output is streamed", func(w *world) {
	var output, diagnostics bytes.Buffer
	result := must(w.inline(stashes(1)).Up(ctx, optup.ProgressStreams(&output), optup.ErrorProgressStreams(&diagnostics)))
	expectIn("pulumi:index:Stash", output.String())
	expect(output.String(), result.StdOut)
	expect(diagnostics.String(), result.StdErr)
})

var _ = test("a message is kept as it was given", func(w *world) {
	stack := w.inline(nothing)
	expectIn("two words", must(stack.Up(ctx, optup.Message("two words"))).Summary.Message)
})

var _ = test("previews of refresh and destroy change nothing", func(w *world) {
	stack := w.inline(stashes(1))
	must(stack.Up(ctx))
	expect(must(stack.PreviewRefresh(ctx)).ChangeSummary, changes{"same": 2})
	expect(must(stack.PreviewDestroy(ctx)).ChangeSummary, changes{"delete": 2})
	expect(len(names(stack)), 3)
})

var _ = test("refresh and destroy run the program when they are told to", func(w *world) {
	runs := 0
	stack := w.inline(func(ctx *pulumi.Context) error {
		runs++
		return stashes(1)(ctx)
	})
	must(stack.Up(ctx))
	must(stack.Refresh(ctx, optrefresh.RunProgram(true)))
	must(stack.Destroy(ctx, optdestroy.RunProgram(true)))
	expect(runs, 3)
})

var _ = test("an error of an inline program is shown, and has its class", func(w *world) {
	stack := w.inline(func(*pulumi.Context) error { return errors.New("it broke") })
	err := failed(stack.Up(ctx))
	expectError(err, "it broke")
	expect(classes(err), "runtime")
	expect(classes(failed(stack.Preview(ctx))), "runtime")
	expect(must(stack.History(ctx, 1, 1))[0].Result, "failed")
})

var _ = test("a panic of an inline program is shown, and has its class", func(w *world) {
	stack := w.inline(func(*pulumi.Context) error {
		var nobody *pulumi.Stash
		_ = nobody.Output
		return nil
	})
	err := failed(stack.Up(ctx))
	expectError(err, "go inline source runtime error, an unhandled error occurred: runtime error: invalid memory address")
	expect(classes(err), "runtime")
})

var _ = test("what cannot be compiled has its class", func(w *world) {
	w.compiled("\t\treturn undefinedName")
	err := failed(w.local("dev").Up(ctx))
	expectError(err, "undefinedName")
	expect(classes(err), "compilation")
})

var _ = test("a panic of a program on disk has its class", func(w *world) {
	w.compiled("\t\tvar list []int\n\t\t_ = list[len(ctx.Project())]\n\t\treturn nil")
	err := failed(w.local("dev").Up(ctx))
	expectError(err, "index out of range")
	expect(classes(err), "runtime")
})

var _ = test("no changes can be expected", func(w *world) {
	value := 1
	stack := w.inline(func(ctx *pulumi.Context) error { return stashes(value)(ctx) })
	must(stack.Up(ctx))
	must(stack.Up(ctx, optup.ExpectNoChanges()))
	must(stack.Refresh(ctx, optrefresh.ExpectNoChanges()))
	value = 2
	expectError(failed(stack.Up(ctx, optup.ExpectNoChanges())), "no changes were expected")
})

var _ = test("targets, replacements and exclusions limit an update", func(w *world) {
	value := 1
	stack := w.inline(func(ctx *pulumi.Context) error {
		_, first := stash(ctx, "a", value)
		_, second := stash(ctx, "b", value)
		return errors.Join(first, second)
	})
	must(stack.Up(ctx))
	value = 2
	expect((*must(stack.Up(ctx, optup.Target([]string{urn("a")}))).Summary.ResourceChanges)["update"], 1)
	value = 3
	expect(must(stack.Preview(ctx, optpreview.Exclude([]string{urn("a")}))).ChangeSummary["update"], 1)
	expect((*must(stack.Up(ctx, optup.Replace([]string{urn("b")}))).Summary.ResourceChanges)["replace"], 1)
	target := []optdestroy.Option{optdestroy.Target([]string{urn("a")}), optdestroy.TargetDependents()}
	expect((*must(stack.Destroy(ctx, target...)).Summary.ResourceChanges)["delete"], 1)
	expect(slices.Contains(names(stack), "a"), false)
})

var _ = test("protected resources stand in the way of a destroy", func(w *world) {
	stack := w.inline(func(ctx *pulumi.Context) error {
		_, err := stash(ctx, "a", 1, pulumi.Protect(true))
		return err
	})
	must(stack.Up(ctx))
	expectError(failed(stack.Destroy(ctx)), "protected")
	expect(slices.Contains(names(stack), "a"), true)
})

var _ = test("a plan is saved, and kept to", func(w *world) {
	value := 1
	stack := w.inline(func(ctx *pulumi.Context) error { return stashes(value)(ctx) })
	plan := filepath.Join(w.root, "plan.json")
	must(stack.Preview(ctx, optpreview.Plan(plan)))
	value = 2
	expectError(failed(stack.Up(ctx, optup.Plan(plan))), "violates plan")
	value = 1
	must(stack.Up(ctx, optup.Plan(plan)))
})

var _ = test("the history has all updates, the newest first", func(w *world) {
	stack := w.inline(nothing)
	check(stack.SetConfig(ctx, "hidden", secret("hush")))
	for _, message := range []string{"one", "two", "three"} {
		must(stack.Up(ctx, optup.Message(message)))
	}
	history := must(stack.History(ctx, 0, 0))
	expect(len(history), 3)
	expectIn("three", history[0].Message)
	expect(history[0].Environment["exec.kind"], "auto.inline")
	expect(history[0].Config["auto:hidden"], secret("hush"))
	expectIn("one", must(stack.History(ctx, 2, 2))[0].Message)
})

var _ = test("a stack without updates has no history", func(w *world) {
	stack := w.inline(nothing)
	expect(len(must(stack.History(ctx, 0, 0))), 0)
	expect(len(must(stack.Outputs(ctx))), 0)
})

var _ = test("an inline program reads another stack", func(w *world) {
	must(w.named("one", exports(pulumi.Map{"word": pulumi.String("w"), "hidden": pulumi.ToSecret(pulumi.String("h"))})).Up(ctx))
	two := w.named("two", func(ctx *pulumi.Context) error {
		one, err := pulumi.NewStackReference(ctx, "organization/auto/one", nil)
		if err != nil {
			return err
		}
		ctx.Export("word", one.GetOutput(pulumi.String("word")))
		ctx.Export("hidden", one.GetOutput(pulumi.String("hidden")))
		return nil
	})
	expect(must(two.Up(ctx)).Outputs, auto.OutputMap{"word": {Value: "w"}, "hidden": {Value: "h", Secret: true}})
})

var _ = test("components and hooks work in inline programs", func(w *world) {
	var calls []string
	stack := w.inline(func(ctx *pulumi.Context) error {
		note := func(name string) *pulumi.ResourceHook {
			return must(ctx.RegisterResourceHook(name, func(args *pulumi.ResourceHookArgs) error {
				calls = append(calls, name+" "+args.Name)
				return nil
			}, nil))
		}
		group := &pulumi.ResourceState{}
		if err := ctx.RegisterComponentResource("auto:index:Group", "group", group); err != nil {
			return err
		}
		_, err := stash(ctx, "a", 1, pulumi.Parent(group), pulumi.ResourceHooks(&pulumi.ResourceHookBinding{
			AfterCreate: []*pulumi.ResourceHook{note("made")}, BeforeDelete: []*pulumi.ResourceHook{note("gone")}}))
		return err
	})
	must(stack.Up(ctx))
	expectError(failed(stack.Destroy(ctx)), "--run-program")
	must(stack.Destroy(ctx, optdestroy.RunProgram(true)))
	expect(calls, []string{"made a", "gone a"})
})

var _ = test("options of the command line are passed on", func(w *world) {
	level := uint(1)
	stack := w.inline(func(ctx *pulumi.Context) error {
		if err := ctx.Log.Debug("whispered", nil); err != nil {
			return err
		}
		return stashes(1)(ctx)
	})
	result := must(stack.Up(ctx, optup.Parallel(2), optup.Diff(), optup.Color("never"), optup.UserAgent("mine/1.0"),
		optup.SuppressProgress(), optup.ContinueOnError(), optup.Refresh(), optup.ShowSecrets(true),
		optup.DebugLogging(debug.LoggingOptions{LogLevel: &level, LogToStdErr: true, FlowToPlugins: true, Debug: true})))
	expectIn("whispered", result.StdErr)
	expect(must(stack.History(ctx, 1, 1))[0].Environment["exec.agent"], "mine/1.0")
	expectError(failed(stack.Up(ctx, optup.Color("green"))), "unsupported color option")
	expectOut("here I am", must(w.named("quiet", exports(pulumi.Map{"loud": pulumi.String("here I am")})).
		Up(ctx, optup.SuppressOutputs())).StdOut)
})

var _ = test("secrets are on no stream", func(w *world) {
	stack := w.inline(func(ctx *pulumi.Context) error {
		ctx.Export("hidden", pulumi.ToSecret(pulumi.String("hunter2")))
		return stashes(pulumi.ToSecret("hunter2"))(ctx)
	})
	result := must(stack.Up(ctx, optup.Diff()))
	expectOut("hunter2", result.StdOut+result.StdErr)
})

var _ = test("resources are imported", func(w *world) {
	w.yaml("")
	stack := w.local("dev")
	result := must(stack.ImportResources(ctx, optimport.Protect(false), optimport.GenerateCode(false),
		optimport.Resources([]*optimport.ImportResource{
			{Type: "random:index/randomPassword:RandomPassword", Name: "password", ID: "hunter2hunter2"}})))
	expect(result.Summary.Result, "succeeded")
	expect(slices.Contains(names(stack), "password"), true)
})
