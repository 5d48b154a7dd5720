package automation

// Stacks and workspaces: what needs no program to run, or only a small one.

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"sort"

	"github.com/pulumi/pulumi/sdk/v3/go/auto"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optlist"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optremove"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optrename"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optup"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

var _ = test("the version of the command line is new enough, and is checked", func(*world) {
	version := must(auto.NewPulumiCommand(nil)).Version()
	if version.Major != 3 || version.Minor < 260 {
		panic(version.String())
	}
	newer := version
	newer.Minor++
	_, err := auto.NewPulumiCommand(&auto.PulumiCommandOptions{Version: newer})
	expectError(err, "Minimum version requirement failed")
	must(auto.NewPulumiCommand(&auto.PulumiCommandOptions{Version: newer, SkipVersionCheck: true}))
})

var _ = test("the binary is found by the path option", func(w *world) {
	found := must(exec.LookPath("pulumi"))
	check(os.MkdirAll(filepath.Join(w.root, "else", "bin"), 0o755))
	check(os.Symlink(must(filepath.EvalSymlinks(found)), filepath.Join(w.root, "else", "bin", "pulumi")))
	command := must(auto.NewPulumiCommand(&auto.PulumiCommandOptions{Root: filepath.Join(w.root, "else")}))
	stack := w.inline(exports(pulumi.Map{"word": pulumi.String("w")}), auto.Pulumi(command))
	expect(must(stack.Up(ctx)).Outputs["word"].Value, "w")
	_, err := auto.NewPulumiCommand(&auto.PulumiCommandOptions{Root: filepath.Join(w.root, "nowhere")})
	expectError(err, "nowhere")
})

var _ = test("a stack is created, and only once", func(w *world) {
	stack := must(auto.NewStackInlineSource(ctx, "dev", "auto", nothing, w.options()...))
	expect(stack.Name(), "dev")
	expect(classes(failed(auto.NewStackInlineSource(ctx, "dev", "auto", nothing, w.options()...))), "409")
})

var _ = test("a stack is selected, and has to be there", func(w *world) {
	expect(classes(failed(auto.SelectStackInlineSource(ctx, "dev", "auto", nothing, w.options()...))), "404")
	w.inline(nothing)
	stack := must(auto.SelectStackInlineSource(ctx, "dev", "auto", nothing, w.options()...))
	expect(stack.Name(), "dev")
})

var _ = test("a stack is created or selected", func(w *world) {
	for range 2 {
		expect(w.inline(nothing).Name(), "dev")
	}
})

var _ = test("fully qualified names mean the same stack", func(w *world) {
	stack := w.named(auto.FullyQualifiedStackName("organization", "auto", "dev"), nothing)
	check(stack.SetConfig(ctx, "word", plain("w")))
	short := w.inline(nothing, auto.WorkDir(stack.Workspace().WorkDir()))
	expect(must(short.GetConfig(ctx, "word")), plain("w"))
})

var _ = test("stacks are listed, one of them current", func(w *world) {
	stack := w.inline(nothing)
	check(stack.Workspace().CreateStack(ctx, "other"))
	var listed []string
	for _, one := range must(stack.Workspace().ListStacks(ctx)) {
		if one.Current {
			one.Name += " (current)"
		}
		listed = append(listed, one.Name)
	}
	sort.Strings(listed)
	expect(listed, []string{"dev", "other (current)"})
	expect(must(stack.Workspace().Stack(ctx)).Name, "other")
	expect(must(stack.Info(ctx)).Name, "dev")
	expect(must(stack.Workspace().Stack(ctx)).Name, "dev")
	expect(len(must(stack.Workspace().ListStacks(ctx, optlist.All()))), 2)
})

var _ = test("a list tells of the last update", func(w *world) {
	stack := w.inline(stashes(1))
	must(stack.Up(ctx))
	listed := must(stack.Workspace().ListStacks(ctx))[0]
	expect(*listed.ResourceCount, 3)
	if listed.LastUpdate == "" {
		panic("no time of the last update")
	}
})

var _ = test("a stack is removed, but not with resources", func(w *world) {
	stack := w.inline(stashes(1))
	must(stack.Up(ctx))
	expectError(stack.Workspace().RemoveStack(ctx, "dev"), "still has resources")
	check(stack.Workspace().RemoveStack(ctx, "dev", optremove.Force()))
	expect(len(must(stack.Workspace().ListStacks(ctx))), 0)
})

var _ = test("a stack is renamed, with its settings and its history", func(w *world) {
	w.yaml("outputs: {a: 1}\n")
	stack := w.local("dev")
	check(stack.SetConfig(ctx, "word", plain("w")))
	must(stack.Up(ctx, optup.Message("before")))
	// The SDK asks for the history under the former name, after it has renamed the stack.
	expectError(failed(stack.Rename(ctx, optrename.StackName("prod"))), "no stack named 'dev' found")
	expect(must(stack.Workspace().ListStacks(ctx))[0].Name, "prod")
	renamed := w.local("prod")
	expect(must(renamed.GetConfig(ctx, "word")), plain("w"))
	expect(must(renamed.Outputs(ctx))["a"].Value, 1.0)
})

var _ = test("tags are set, read, listed and removed", func(w *world) {
	stack := w.inline(nothing)
	check(stack.SetTag(ctx, "owner", "me"))
	check(stack.SetTag(ctx, "note", "with spaces = and signs"))
	expect(must(stack.GetTag(ctx, "owner")), "me")
	expect(must(stack.ListTags(ctx))["note"], "with spaces = and signs")
	check(stack.RemoveTag(ctx, "owner"))
	expectError(failed(stack.GetTag(ctx, "owner")), "owner")
})

var _ = test("a state is exported, changed and imported", func(w *world) {
	stack := w.inline(stashes(1))
	must(stack.Up(ctx))
	state := must(stack.Export(ctx))
	expect(state.Version, 3)
	whole := deployment(state)
	for at, one := range whole.Resources {
		if one.URN.Name() == "a" {
			whole.Resources = append(whole.Resources[:at], whole.Resources[at+1:]...)
			break
		}
	}
	state.Deployment = must(json.Marshal(whole))
	check(stack.Import(ctx, state))
	expect(*must(stack.Up(ctx)).Summary.ResourceChanges, map[string]int{"create": 1, "same": 1})
})

var _ = test("exported secrets are in the clear, and secret again after an import", func(w *world) {
	stack := w.inline(exports(pulumi.Map{"hidden": pulumi.ToSecret(pulumi.String("hush"))}))
	must(stack.Up(ctx))
	state := must(stack.Export(ctx))
	expectIn("hush", string(state.Deployment))
	check(stack.Import(ctx, state))
	expect(must(stack.Outputs(ctx)), auto.OutputMap{"hidden": {Value: "hush", Secret: true}})
})

var _ = test("whoami tells user and address", func(w *world) {
	space := w.inline(nothing).Workspace()
	who := must(space.WhoAmIDetails(ctx))
	expect(who.URL, w.backend)
	expect(must(space.WhoAmI(ctx)), who.User)
})

var _ = test("plugins are listed, and removed", func(w *world) {
	space := w.inline(nothing).Workspace()
	expect(len(must(space.ListPlugins(ctx))), 0)
	expectError(space.InstallPluginFromServer(ctx, "nothing", "v1.0.0", "http://127.0.0.1:9"), "nothing")
})

var _ = test("settings of project and stack are read and written in all forms", func(w *world) {
	for _, one := range []struct{ extension, project, stack string }{
		{"yaml", "name: auto\nruntime: yaml\nmine: kept\n", "config:\n  auto:word: w\n"},
		{"json", `{"name": "auto", "runtime": {"name": "yaml"}, "mine": "kept"}`, `{"config": {"auto:word": "w"}}`},
	} {
		folder := filepath.Join("forms", one.extension)
		w.file(filepath.Join(folder, "Pulumi."+one.extension), one.project)
		w.file(filepath.Join(folder, "Pulumi.dev."+one.extension), one.stack)
		stack := must(auto.UpsertStackLocalSource(ctx, "dev", filepath.Join(w.project, folder), w.localOptions()...))
		expect(must(stack.GetConfig(ctx, "word")), plain("w"))
		space := stack.Workspace()
		settings := must(space.StackSettings(ctx, "dev"))
		expect(len(settings.Config), 1)
		check(space.SaveStackSettings(ctx, "dev", settings))
		check(stack.SetConfig(ctx, "more", plain("m")))
		if one.extension != "yaml" {
			continue // The SDK saves settings of projects as YAML, whatever they were.
		}
		project := must(space.ProjectSettings(ctx))
		changed := "Changed"
		project.Description = &changed
		check(space.SaveProjectSettings(ctx, project))
		text := string(must(os.ReadFile(filepath.Join(w.project, folder, "Pulumi."+one.extension))))
		expectIn("kept", text)
		expectIn("Changed", text)
		must(stack.Up(ctx))
	}
})

var _ = test("environment variables of the workspace reach the program", func(w *world) {
	w.compiled(`		ctx.Export("word", pulumi.String(os.Getenv("WORD")))
		return nil`)
	main := string(must(os.ReadFile(filepath.Join(w.project, "main.go"))))
	w.file("main.go", "package main\n\nimport \"os\"\n"+main[len("package main"):])
	stack := w.local("dev")
	check(stack.Workspace().SetEnvVars(map[string]string{"WORD": "w"}))
	expect(must(stack.Up(ctx)).Outputs["word"].Value, "w")
})

var _ = test("a secrets provider is chosen, and changed", func(w *world) {
	variables := map[string]string{"PULUMI_CONFIG_PASSPHRASE": "another"}
	stack := w.inline(nothing, auto.SecretsProvider("passphrase"), auto.EnvVars(variables))
	check(stack.SetConfig(ctx, "hidden", secret("hush")))
	third := "third"
	check(stack.ChangeSecretsProvider(ctx, "passphrase", &auto.ChangeSecretsProviderOptions{NewPassphrase: &third}))
	expectError(failed(stack.GetConfig(ctx, "hidden")), "passphrase")
	stack.Workspace().SetEnvVar("PULUMI_CONFIG_PASSPHRASE", third)
	expect(must(stack.GetConfig(ctx, "hidden")), secret("hush"))
})

var _ = test("environments and organizations need the service, and say so", func(w *world) {
	stack := w.inline(nothing)
	expectError(stack.AddEnvironments(ctx, "one"), "")
	space := stack.Workspace().(*auto.LocalWorkspace)
	expectError(failed(space.OrgGetDefault(ctx)), "do not support organizations")
})

var _ = test("remote operations need the service, and say so", func(*world) {
	repository := auto.GitRepo{URL: "https://example.com/r.git", Branch: "main"}
	stack := must(auto.NewRemoteStackGitSource(ctx, "organization/auto/dev", repository))
	expectError(failed(stack.Up(ctx)), "`--remote` requires the cloud service")
})

var _ = test("a project is cloned from a repository", func(w *world) {
	w.yaml("outputs: {word: w}\n")
	for _, words := range [][]string{
		{"init", "-q", "-b", "main"}, {"add", "."},
		{"-c", "user.name=n", "-c", "user.email=e@example.com", "commit", "-q", "-m", "first"},
	} {
		command := exec.Command("git", words...)
		command.Dir = w.project
		check(command.Run())
	}
	repository := auto.GitRepo{URL: "file://" + w.project, Branch: "main"}
	stack := must(auto.NewStackRemoteSource(ctx, "dev", repository, w.localOptions()...))
	expect(must(stack.Up(ctx)).Outputs["word"].Value, "w")
})

var _ = test("a project is made from a template", func(w *world) {
	template := filepath.Join(w.root, "template")
	check(os.Mkdir(template, 0o755))
	check(os.WriteFile(filepath.Join(template, "Pulumi.yaml"),
		[]byte("name: ${PROJECT}\ndescription: ${DESCRIPTION}\nruntime: yaml\ntemplate: {description: a template}\n"), 0o600))
	space := w.inline(nothing).Workspace().(*auto.LocalWorkspace)
	target := filepath.Join(w.root, "made")
	must(space.New(ctx, &auto.NewOptions{
		TemplateOrURL: template, Dir: target, Name: "fresh", Description: "Fresh", GenerateOnly: true, Force: true,
	}))
	expectIn("name: fresh", string(must(os.ReadFile(filepath.Join(target, "Pulumi.yaml")))))
})
