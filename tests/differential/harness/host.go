package main

import (
	"context"
	"fmt"
	"sync"

	"github.com/blang/semver"

	"github.com/pulumi/pulumi/pkg/v3/resource/plugin"
	"github.com/pulumi/pulumi/sdk/v3/go/common/diag"
	"github.com/pulumi/pulumi/sdk/v3/go/common/env"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/common/tokens"
	"github.com/pulumi/pulumi/sdk/v3/go/common/workspace"
)

// host gives the engine its plugins, all of which are in this process. It serves nothing: no plugin has to call the
// engine, and a server for each operation costs more than the operation.
type host struct {
	plugin.Host

	sink, statusSink diag.Sink
	language         plugin.LanguageRuntime
	load             func(name string, version semver.Version) plugin.Provider

	lock      sync.Mutex
	providers []plugin.Provider
}

// versions of every package, the newest last.
var versions = []semver.Version{semver.MustParse("1.0.0"), semver.MustParse("2.0.0")}

// packages of the simulation.
var packages = map[string]bool{"test": true, "two": true, "comp": true}

func (h *host) ServerAddr() string { return "" }

func (h *host) Log(severity diag.Severity, urn resource.URN, text string, stream int32) {
	h.sink.Logf(severity, diag.StreamMessage(urn, text, stream))
}

func (h *host) LogStatus(severity diag.Severity, urn resource.URN, text string, stream int32) {
	h.statusSink.Logf(severity, diag.StreamMessage(urn, text, stream))
}

// Provider starts a plugin of a package: the version asked for, or else the newest.
func (h *host) Provider(
	_ *plugin.Context, wanted workspace.PluginDescriptor, _ env.Env,
) (plugin.Provider, error) {
	chosen := -1
	for at, version := range versions {
		if wanted.Version == nil || version.EQ(*wanted.Version) {
			chosen = at
		}
	}
	if chosen < 0 || !packages[wanted.Name] {
		return nil, fmt.Errorf("there is no plugin %s %v", wanted.Name, wanted.Version)
	}
	provider := h.load(wanted.Name, versions[chosen])
	h.lock.Lock()
	defer h.lock.Unlock()
	h.providers = append(h.providers, provider)
	return provider, nil
}

// PolicyAnalyzer starts a policy pack.
func (h *host) PolicyAnalyzer(
	_ *plugin.Context, _ tokens.QName, path string, _ *plugin.PolicyAnalyzerOptions,
) (plugin.Analyzer, error) {
	return newPack(path)
}

func (h *host) LanguageRuntime(*plugin.Context, string) (plugin.LanguageRuntime, error) {
	return h.language, nil
}

func (h *host) ResolvePlugin(
	_ *plugin.Context, wanted workspace.PluginDescriptor,
) (*workspace.PluginInfo, error) {
	return &workspace.PluginInfo{Name: wanted.Name, Kind: wanted.Kind, Version: wanted.Version}, nil
}

func (h *host) ReleaseContext(*plugin.Context) error { return nil }

func (h *host) Loader(*plugin.Context) (*plugin.GrpcServer, error) { return nil, nil }

func (h *host) Mapper(*plugin.Context) (*plugin.GrpcServer, error) { return nil, nil }

func (h *host) Resolver(*plugin.Context) (*plugin.GrpcServer, error) { return nil, nil }

func (h *host) SignalCancellation() error {
	h.lock.Lock()
	defer h.lock.Unlock()
	var failed error
	for _, provider := range h.providers {
		if err := provider.SignalCancellation(context.Background()); err != nil {
			failed = err
		}
	}
	return failed
}

func (h *host) StartDebugging(plugin.DebuggingInfo) error { return nil }

func (h *host) AttachDebugger(plugin.DebugSpec) bool { return false }

func (h *host) Close() error { return nil }
