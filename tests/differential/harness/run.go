package main

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"time"

	"github.com/blang/semver"

	"github.com/pulumi/pulumi/pkg/v3/backend"
	"github.com/pulumi/pulumi/pkg/v3/display"
	"github.com/pulumi/pulumi/pkg/v3/engine"
	"github.com/pulumi/pulumi/pkg/v3/resource/deploy"
	"github.com/pulumi/pulumi/pkg/v3/resource/deploy/deploytest"
	"github.com/pulumi/pulumi/pkg/v3/resource/plugin"
	"github.com/pulumi/pulumi/pkg/v3/resource/stack"
	"github.com/pulumi/pulumi/pkg/v3/secrets/b64"
	"github.com/pulumi/pulumi/pkg/v3/util/cancel"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/pulumi/pulumi/sdk/v3/go/common/diag"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/config"
	"github.com/pulumi/pulumi/sdk/v3/go/common/tokens"
	"github.com/pulumi/pulumi/sdk/v3/go/common/workspace"
)

// reaction is the time in which the engine hears of an interruption.
const reaction = 5 * time.Millisecond

const (
	stackName   = "dev"
	projectName = "proj"
)

// keeper keeps the last state that the engine wanted to be saved.
type keeper struct {
	last *apitype.DeploymentV3
}

func (k *keeper) Save(deployment apitype.TypedDeployment) error {
	k.last = deployment.Deployment
	return nil
}

// perform runs an operation and says what happened.
func perform(op *operation, signs *atomic.Int64) *observed {
	target, err := targetOf(op)
	if err != nil {
		return &observed{Panic: "state: " + err.Error()}
	}
	seen := newObserved()
	records := &recorder{signs: signs}
	clouds := newCloud(op.Cloud, op.Faults)
	program := &program{op: op, replies: map[string]*reply{}, records: records, cloud: clouds}
	defer forget(program)
	cancelled, source := cancel.NewContext(context.Background())
	clouds.interrupt = func() {
		source.Cancel()
		time.Sleep(reaction)
	}
	events := make(chan engine.Event, 64)
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		for event := range events {
			signs.Add(1)
			seen.take(event)
		}
	}()
	kept := &keeper{}
	ctx := &engine.Context{Cancel: cancelled, Events: events, BackendClient: &deploytest.BackendClient{}}
	var manager *backend.SnapshotManager
	if !op.Preview {
		manager = backend.NewSnapshotManager(kept, b64.NewBase64SecretsManager(), target.Snapshot, nil)
		ctx.SnapshotManager = manager
	}
	options := optionsOf(op)
	options.HostFactory = func(
		_ context.Context, d, status diag.Sink, _ plugin.DebugContext,
	) (plugin.Host, error) {
		language := &runtime{LanguageRuntime: deploytest.NewLanguageRuntime(nil), program: program}
		load := func(name string, version semver.Version) plugin.Provider {
			return newProvider(name, version, program)
		}
		return &host{sink: d, statusSink: status, language: language, load: load}, nil
	}
	project := &workspace.Project{
		Name: tokens.PackageName(projectName), Runtime: workspace.NewProjectRuntimeInfo("test", nil),
	}
	info := engine.UpdateInfo{Root: "/", Project: project, Target: target}
	changes, err := start(op, info, ctx, options)
	close(events)
	<-drained
	seen.end(changes, err, records, program)
	if manager != nil {
		if err := manager.Close(); err != nil {
			seen.Trouble = err.Error()
		}
		seen.State = kept.last
		if kept.last == nil {
			seen.Unsaved = true
		}
	}
	return seen
}

func targetOf(op *operation) (*deploy.Target, error) {
	settings := config.Map{}
	for key, value := range op.Config {
		parsed, err := config.ParseKey(key)
		if err != nil {
			return nil, err
		}
		settings[parsed] = config.NewValue(value)
	}
	target := &deploy.Target{
		Name: tokens.MustParseStackName(stackName), Config: settings, Decrypter: config.NopDecrypter,
	}
	var document struct {
		Deployment apitype.DeploymentV3 `json:"deployment"`
	}
	if err := json.Unmarshal(op.State, &document); err != nil {
		return nil, err
	}
	deployment := document.Deployment
	deployment.SecretsProviders = &apitype.SecretsProvidersV1{Type: b64.Type}
	snapshot, err := stack.DeserializeDeploymentV3(context.Background(), deployment, b64.Base64SecretsProvider)
	target.Snapshot = snapshot
	return target, err
}

func optionsOf(op *operation) engine.UpdateOptions {
	it := op.Flags
	return engine.UpdateOptions{
		Parallel:             1,
		Refresh:              it.Refresh,
		RefreshProgram:       it.RunProgram && op.Verb != "destroy",
		DestroyProgram:       it.RunProgram && op.Verb == "destroy",
		ContinueOnError:      it.ContinueOnError,
		IgnoreProtect:        it.IgnoreProtect,
		UseLegacyDiff:        it.LegacyDiff,
		UseLegacyRefreshDiff: it.LegacyRefreshDiff,
		Targets:              deploy.NewUrnTargets(it.Targets),
		TargetDependents:     it.TargetDependents,
		Excludes:             deploy.NewUrnTargets(it.Excludes),
		ExcludeDependents:    it.ExcludeDependents,
		ReplaceTargets:       deploy.NewUrnTargets(it.Replace),
		SkipPluginPreInstall: true,
		GeneratePlan:         op.Preview,
		Autonamer:            namingOf(it.Naming),
		LocalPolicyPacks:     packsOf(it.Policies),
	}
}

func start(
	op *operation, info engine.UpdateInfo, ctx *engine.Context, options engine.UpdateOptions,
) (display.ResourceChanges, error) {
	verb := engine.Update
	switch {
	case op.Verb == "refresh" && op.Flags.RunProgram:
		verb = engine.RefreshV2
	case op.Verb == "refresh":
		verb = engine.Refresh
	case op.Verb == "destroy" && op.Flags.RunProgram:
		verb = engine.DestroyV2
	case op.Verb == "destroy":
		verb = engine.Destroy
	case op.Verb == "import":
		var imports []deploy.Import
		for _, it := range op.Imports {
			imports = append(imports, deploy.Import{
				Type: tokens.Type(it.Type), Name: it.Name, ID: resource.ID(it.ID),
			})
		}
		_, changes, err := engine.Import(info, ctx, options, imports, op.Preview)
		return changes, err
	}
	_, changes, err := verb(info, ctx, options, op.Preview)
	return changes, err
}
