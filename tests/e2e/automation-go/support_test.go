// Package automation runs the published Automation API for Go with the built binary, see `run`.
package automation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/auto"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/pulumi/pulumi/sdk/v3/go/common/workspace"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

var ctx = context.Background()

type story struct {
	name string
	body func(*world)
}

var stories []story

// test adds a test; the value is there so that it can be called at the top level of a file.
func test(name string, body func(*world)) struct{} {
	stories = append(stories, story{name, body})
	return struct{}{}
}

func TestAutomation(t *testing.T) {
	for _, one := range stories {
		t.Run(one.name, func(t *testing.T) {
			t.Parallel()
			defer func() {
				if problem := recover(); problem != nil {
					t.Errorf("%v\n%s", problem, debug.Stack())
				}
			}()
			one.body(newWorld(t))
		})
	}
}

// world is a folder for one test: a backend, a home, and a project.
type world struct {
	root, project, backend string
}

func newWorld(t *testing.T) *world {
	root := t.TempDir()
	w := &world{root: root, project: filepath.Join(root, "project"), backend: "file://" + filepath.Join(root, "backend")}
	for _, name := range []string{"backend", "home", "project"} {
		check(os.Mkdir(filepath.Join(root, name), 0o755))
	}
	return w
}

// options are those of every workspace.
func (w *world) options(more ...auto.LocalWorkspaceOption) []auto.LocalWorkspaceOption {
	settings := workspace.Project{
		Name: "auto", Runtime: workspace.NewProjectRuntimeInfo("go", nil), Backend: &workspace.ProjectBackend{URL: w.backend},
	}
	return append([]auto.LocalWorkspaceOption{auto.PulumiHome(filepath.Join(w.root, "home")), auto.Project(settings)}, more...)
}

// inline is a stack whose program is a function.
func (w *world) inline(program pulumi.RunFunc, more ...auto.LocalWorkspaceOption) *auto.Stack {
	return w.named("dev", program, more...)
}

func (w *world) named(name string, program pulumi.RunFunc, more ...auto.LocalWorkspaceOption) *auto.Stack {
	stack := must(auto.UpsertStackInlineSource(ctx, name, "auto", program, w.options(more...)...))
	return &stack
}

// local is a stack whose program is in the project's folder.
func (w *world) local(name string) *auto.Stack {
	stack := must(auto.UpsertStackLocalSource(ctx, name, w.project, w.localOptions()...))
	return &stack
}

func (w *world) localOptions(more ...auto.LocalWorkspaceOption) []auto.LocalWorkspaceOption {
	variables := map[string]string{"PULUMI_BACKEND_URL": w.backend}
	return append([]auto.LocalWorkspaceOption{auto.PulumiHome(filepath.Join(w.root, "home")), auto.EnvVars(variables)}, more...)
}

// file writes a file of the project.
func (w *world) file(name, text string) string {
	path := filepath.Join(w.project, name)
	check(os.MkdirAll(filepath.Dir(path), 0o755))
	check(os.WriteFile(path, []byte(text), 0o600))
	return path
}

// yaml writes a project with a YAML program.
func (w *world) yaml(program string) {
	w.file("Pulumi.yaml", "name: auto\nruntime: yaml\n"+program)
}

// compiled writes a project with a Go program.
func (w *world) compiled(body string) {
	w.file("Pulumi.yaml", "name: auto\nruntime: go\n")
	for _, name := range []string{"go.mod", "go.sum"} {
		w.file(name, string(must(os.ReadFile(name))))
	}
	w.file("main.go", fmt.Sprintf(
		"package main\n\nimport \"github.com/pulumi/pulumi/sdk/v3/go/pulumi\"\n\n"+
			"func main() {\n\tpulumi.Run(func(ctx *pulumi.Context) error {\n%s\n\t})\n}\n", body))
}

func nothing(*pulumi.Context) error { return nil }

// stashes is a program with one resource, kept by the engine itself.
func stashes(value any) pulumi.RunFunc {
	return func(ctx *pulumi.Context) error {
		_, err := stash(ctx, "a", value)
		return err
	}
}

func stash(ctx *pulumi.Context, name string, value any, options ...pulumi.ResourceOption) (*pulumi.Stash, error) {
	return pulumi.NewStash(ctx, name, &pulumi.StashArgs{Input: pulumi.ToOutput(value)}, options...)
}

func exports(values pulumi.Map) pulumi.RunFunc {
	return func(ctx *pulumi.Context) error {
		for key, value := range values {
			ctx.Export(key, value)
		}
		return nil
	}
}

func urn(name string) string { return "urn:pulumi:dev::auto::pulumi:index:Stash::" + name }

// names are those of what is in the state.
func names(stack *auto.Stack) []string {
	var found []string
	for _, one := range deployment(must(stack.Export(ctx))).Resources {
		found = append(found, one.URN.Name())
	}
	return found
}

func deployment(state apitype.UntypedDeployment) (deployment apitype.DeploymentV3) {
	check(json.Unmarshal(state.Deployment, &deployment))
	return deployment
}

func must[T any](value T, err error) T {
	check(err)
	return value
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func expect(actual, expected any) {
	if !reflect.DeepEqual(actual, expected) {
		panic(fmt.Sprintf("%#v\nis not\n%#v", actual, expected))
	}
}

func expectIn(text, within string) {
	if !strings.Contains(within, text) {
		panic(fmt.Sprintf("%q is not in\n%s", text, within))
	}
}

func expectOut(text, within string) {
	if strings.Contains(within, text) {
		panic(fmt.Sprintf("%q is in\n%s", text, within))
	}
}

// expectError wants an error with this text.
func expectError(err error, text string) {
	if err == nil {
		panic("it did not fail; expected: " + text)
	}
	expectIn(text, err.Error())
}

// failed is the error of a call whose answer does not matter.
func failed[T any](_ T, err error) error {
	if err == nil {
		return errors.New("it did not fail")
	}
	return err
}

// classes are those that the SDK sees in an error.
func classes(err error) string {
	var found []string
	for _, class := range []struct {
		name string
		is   func(error) bool
	}{
		{"404", auto.IsSelectStack404Error}, {"409", auto.IsCreateStack409Error}, {"concurrent", auto.IsConcurrentUpdateError},
		{"compilation", auto.IsCompilationError}, {"runtime", auto.IsRuntimeError}, {"engine", auto.IsUnexpectedEngineError},
	} {
		if class.is(err) {
			found = append(found, class.name)
		}
	}
	return strings.Join(found, " ")
}

func until(isTime func() bool) {
	for end := time.Now().Add(time.Minute); !isTime(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			panic("it takes too long")
		}
	}
}

func within[T any](events <-chan T) T {
	select {
	case one := <-events:
		return one
	case <-time.After(time.Minute):
		panic("it takes too long")
	}
}
