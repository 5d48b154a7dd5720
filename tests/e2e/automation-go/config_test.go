package automation

// Configuration in all its forms.

import (
	"os"
	"path/filepath"

	"github.com/pulumi/pulumi/sdk/v3/go/auto"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optpreview"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optup"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi/config"
)

func plain(value string) auto.ConfigValue  { return auto.ConfigValue{Value: value} }
func secret(value string) auto.ConfigValue { return auto.ConfigValue{Value: value, Secret: true} }

var byPath = &auto.ConfigOptions{Path: true}

var _ = test("a value is set, read and removed", func(w *world) {
	stack := w.inline(nothing)
	check(stack.SetConfig(ctx, "word", plain("w")))
	expect(must(stack.GetConfig(ctx, "word")), plain("w"))
	check(stack.RemoveConfig(ctx, "word"))
	expectError(failed(stack.GetConfig(ctx, "word")), "configuration key 'word' not found")
})

var _ = test("a secret is one, and its value is not in the file", func(w *world) {
	w.yaml("")
	stack := w.local("dev")
	check(stack.SetConfig(ctx, "word", secret("hunter2")))
	expect(must(stack.GetConfig(ctx, "word")), secret("hunter2"))
	text := string(must(os.ReadFile(filepath.Join(w.project, "Pulumi.dev.yaml"))))
	expectOut("hunter2", text)
	expectIn("secure:", text)
})

var _ = test("values may be anything", func(w *world) {
	stack := w.inline(nothing)
	for _, value := range []string{
		"-starts-with-a-dash", "--flag", "a=b", "two\nlines", "ünïcödé ✓", " spaces ", "", `"quoted"`, "{}", "$HOME `x`",
	} {
		check(stack.SetConfig(ctx, "value", plain(value)))
		expect(must(stack.GetConfig(ctx, "value")), plain(value))
	}
})

var _ = test("keys have namespaces", func(w *world) {
	stack := w.inline(nothing)
	check(stack.SetConfig(ctx, "aws:region", plain("eu")))
	check(stack.SetConfig(ctx, "auto:word", plain("w")))
	expect(must(stack.GetConfig(ctx, "word")), plain("w"))
	expect(must(stack.GetAllConfig(ctx)), auto.ConfigMap{"aws:region": plain("eu"), "auto:word": plain("w")})
})

var _ = test("paths lead into structures", func(w *world) {
	stack := w.inline(nothing)
	check(stack.SetConfigWithOptions(ctx, "tree.list[0]", plain("first"), byPath))
	check(stack.SetConfigWithOptions(ctx, "tree.list[1]", secret("hush"), byPath))
	check(stack.SetConfigWithOptions(ctx, "tree.number", plain("3"), byPath))
	expect(must(stack.GetConfigWithOptions(ctx, "tree.list[0]", byPath)), plain("first"))
	expect(must(stack.GetConfigWithOptions(ctx, "tree.list[1]", byPath)), secret("hush"))
	expect(must(stack.GetConfig(ctx, "tree")).Value, `{"list":["first","hush"],"number":3}`)
	check(stack.RemoveConfigWithOptions(ctx, "tree.list[0]", byPath))
	expect(must(stack.GetConfig(ctx, "tree")).Value, `{"list":["hush"],"number":3}`)
})

var _ = test("many values are set and removed at once", func(w *world) {
	stack := w.inline(nothing)
	check(stack.SetAllConfig(ctx, auto.ConfigMap{"plain": plain("p"), "hidden": secret("h"), "other:key": plain("a=b")}))
	expect(must(stack.GetAllConfig(ctx)),
		auto.ConfigMap{"auto:plain": plain("p"), "auto:hidden": secret("h"), "other:key": plain("a=b")})
	check(stack.RemoveAllConfig(ctx, []string{"plain", "other:key"}))
	expect(must(stack.GetAllConfig(ctx)), auto.ConfigMap{"auto:hidden": secret("h")})
})

var _ = test("many values are set and removed by path", func(w *world) {
	stack := w.inline(nothing)
	check(stack.SetAllConfigWithOptions(ctx, auto.ConfigMap{"tree.a": plain("1"), "tree.b": secret("hush")}, byPath))
	expect(must(stack.GetConfig(ctx, "tree")).Value, `{"a":1,"b":"hush"}`)
	check(stack.RemoveAllConfigWithOptions(ctx, []string{"tree.a"}, byPath))
	expect(must(stack.GetConfig(ctx, "tree")).Value, `{"b":"hush"}`)
})

var _ = test("values are set from JSON", func(w *world) {
	stack := w.inline(nothing)
	check(stack.SetAllConfigJson(ctx, `{
		"auto:word": {"value": "w", "secret": false}, "auto:hidden": {"value": "h", "secret": true},
		"auto:tree": {"value": "{\"a\":[1,2]}", "objectValue": {"a": [1, 2]}, "secret": false}}`, nil))
	expect(must(stack.GetAllConfig(ctx)),
		auto.ConfigMap{"auto:word": plain("w"), "auto:hidden": secret("h"), "auto:tree": plain(`{"a":[1,2]}`)})
})

var _ = test("secrets of a configuration can stay hidden", func(w *world) {
	stack := w.inline(nothing)
	check(stack.SetConfig(ctx, "hidden", secret("hush")))
	all := must(stack.GetAllConfigWithOptions(ctx, &auto.GetAllConfigOptions{ShowSecrets: false}))
	expect(all["auto:hidden"].Secret, true)
	expectOut("hush", all["auto:hidden"].Value)
})

var _ = test("another file can hold the configuration", func(w *world) {
	w.yaml("config: {word: {type: string, default: none}}\noutputs: {word: '${word}'}\n")
	stack := w.local("dev")
	file := w.file("settings.yaml", "config:\n  auto:word: from the file\n")
	expect(must(stack.Up(ctx, optup.ConfigFile(file))).Outputs["word"].Value, "from the file")
	expect(must(stack.Preview(ctx, optpreview.ConfigFile(file))).ChangeSummary, map[apitype.OpType]int{"same": 1})
	expect(must(stack.Up(ctx)).Outputs["word"].Value, "none")
	options := &auto.ConfigOptions{ConfigFile: file}
	check(stack.SetConfigWithOptions(ctx, "word", plain("changed"), options))
	expect(must(stack.GetConfigWithOptions(ctx, "word", options)), plain("changed"))
})

var _ = test("configuration is refreshed from the last update", func(w *world) {
	stack := w.inline(nothing)
	check(stack.SetAllConfig(ctx, auto.ConfigMap{"word": plain("deployed"), "hidden": secret("hush")}))
	must(stack.Up(ctx))
	check(stack.SetConfig(ctx, "word", plain("changed")))
	check(stack.SetConfig(ctx, "more", plain("gone")))
	expect(must(stack.RefreshConfig(ctx)), auto.ConfigMap{"auto:word": plain("deployed"), "auto:hidden": secret("hush")})
})

var _ = test("a program gets its configuration with types and secrets", func(w *world) {
	stack := w.inline(func(ctx *pulumi.Context) error {
		settings := config.New(ctx, "")
		var tree map[string][]string
		settings.RequireObject("tree", &tree)
		ctx.Export("number", pulumi.Int(settings.RequireInt("number")))
		ctx.Export("truth", pulumi.Bool(settings.RequireBool("truth")))
		ctx.Export("tree", pulumi.String(tree["list"][0]))
		ctx.Export("hidden", settings.RequireSecret("hidden"))
		ctx.Export("other", pulumi.String(config.New(ctx, "other").Get("word")))
		return nil
	})
	check(stack.SetAllConfig(ctx, auto.ConfigMap{
		"number": plain("3"), "truth": plain("true"), "hidden": secret("hush"), "other:word": plain("o")}))
	check(stack.SetConfigWithOptions(ctx, "tree.list[0]", plain("x"), byPath))
	expect(must(stack.Up(ctx)).Outputs, auto.OutputMap{
		"number": {Value: 3.0}, "truth": {Value: true}, "tree": {Value: "x"}, "hidden": {Value: "hush", Secret: true},
		"other": {Value: "o"}})
})

var _ = test("a missing value is an error of the program", func(w *world) {
	stack := w.inline(func(ctx *pulumi.Context) error {
		config.New(ctx, "").Require("word")
		return nil
	})
	err := failed(stack.Up(ctx))
	expectError(err, "Missing required configuration variable 'auto:word'")
	expect(classes(err), "runtime")
})
