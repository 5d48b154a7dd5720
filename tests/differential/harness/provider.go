package main

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/blang/semver"

	"github.com/pulumi/pulumi/pkg/v3/resource/deploy/deploytest"
	"github.com/pulumi/pulumi/pkg/v3/resource/plugin"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/common/tokens"
)

// call is a provider call with all its fields, as the comparison sees it.
type call map[string]any

// recorder keeps the calls of one operation, in the order of their arrival.
type recorder struct {
	lock  sync.Mutex
	calls []call
	// Counts what is heard of the operation.
	signs *atomic.Int64
}

func (r *recorder) note(name string, urn resource.URN, fields call) {
	r.lock.Lock()
	defer r.lock.Unlock()
	r.signs.Add(1)
	fields["call"], fields["urn"] = name, string(urn)
	r.calls = append(r.calls, fields)
}

func list(paths []string) any {
	if len(paths) == 0 {
		return nil
	}
	return paths
}

func shownNaming(naming *plugin.AutonamingOptions) any {
	if naming == nil {
		return nil
	}
	switch naming.Mode {
	case plugin.AutonamingModeEnforce:
		return map[string]any{"enforce": naming.ProposedName}
	case plugin.AutonamingModeDisabled:
		return "disabled"
	}
	// A name that is only proposed has chance in it.
	return "proposed"
}

// newProvider makes a plugin in front of the cloud.
func newProvider(name string, version semver.Version, program *program) plugin.Provider {
	c, r := program.cloud, program.records
	p := &deploytest.Provider{Name: name, Package: tokens.Package(name), Version: version}
	addCalls(p, program)
	addConfiguration(p, c, r)
	addChecks(p, c, r)
	addChanges(p, c, r)
	return &client{Provider: p}
}

func addConfiguration(p *deploytest.Provider, c *cloud, r *recorder) {
	p.CheckConfigF = func(_ context.Context, q plugin.CheckConfigRequest) (plugin.CheckConfigResponse, error) {
		olds, news := resource.ToResourcePropertyMap(q.Olds), resource.ToResourcePropertyMap(q.News)
		r.note("CheckConfig", q.URN, call{
			"olds": shownMap(olds), "news": shownMap(news), "unknowns": q.AllowUnknowns,
		})
		inputs, failures := c.check(q.URN, nil, olds, news, q.AllowUnknowns)
		return plugin.CheckConfigResponse{
			Properties: resource.FromResourcePropertyMap(inputs), Failures: failures,
		}, nil
	}
	p.DiffConfigF = func(_ context.Context, q plugin.DiffConfigRequest) (plugin.DiffConfigResponse, error) {
		r.note("DiffConfig", q.URN, call{
			"oldInputs": shownMap(q.OldInputs), "oldOutputs": shownMap(q.OldOutputs),
			"newInputs": shownMap(q.NewInputs), "unknowns": q.AllowUnknowns, "ignore": list(q.IgnoreChanges),
		})
		return c.diff(q.URN, q.OldInputs, q.NewInputs)
	}
	p.ConfigureF = func(context.Context, plugin.ConfigureRequest) (plugin.ConfigureResponse, error) {
		return plugin.ConfigureResponse{}, nil
	}
}

func addChecks(p *deploytest.Provider, c *cloud, r *recorder) {
	p.CheckF = func(_ context.Context, q plugin.CheckRequest) (plugin.CheckResponse, error) {
		r.note("Check", q.URN, call{
			"olds": shownMap(q.Olds), "news": shownMap(q.News), "unknowns": q.AllowUnknowns,
			"naming": shownNaming(q.Autonaming),
		})
		inputs, failures := c.check(q.URN, q.Autonaming, q.Olds, q.News, q.AllowUnknowns)
		return plugin.CheckResponse{Properties: inputs, Failures: failures}, nil
	}
	p.DiffF = func(_ context.Context, q plugin.DiffRequest) (plugin.DiffResult, error) {
		r.note("Diff", q.URN, call{
			"id": string(q.ID), "oldInputs": shownMap(q.OldInputs), "oldOutputs": shownMap(q.OldOutputs),
			"newInputs": shownMap(q.NewInputs), "unknowns": q.AllowUnknowns, "ignore": list(q.IgnoreChanges),
		})
		return c.diff(q.URN, q.OldInputs, q.NewInputs)
	}
	p.ReadF = func(_ context.Context, q plugin.ReadRequest) (plugin.ReadResponse, error) {
		r.note("Read", q.URN, call{
			"id": string(q.ID), "inputs": shownMap(q.Inputs), "outputs": shownMap(q.State), "timeout": q.Timeout,
		})
		object, isThere := c.object(string(q.ID))
		c.tell(work{
			call: "read", urn: q.URN, address: q.ResourceStatusAddress, token: q.ResourceStatusToken,
			before: q.OldViews, after: object, isThere: isThere,
		})
		result, status, err := c.read(q.URN, string(q.ID))
		result.Inputs, result.Outputs = remember(result.Inputs, q.Inputs), remember(result.Outputs, q.State)
		return plugin.ReadResponse{ReadResult: result, Status: status}, err
	}
}

func addChanges(p *deploytest.Provider, c *cloud, r *recorder) {
	p.CreateF = func(_ context.Context, q plugin.CreateRequest) (plugin.CreateResponse, error) {
		r.note("Create", q.URN, call{
			"inputs": shownMap(q.Properties), "timeout": q.Timeout, "preview": q.Preview,
		})
		c.tell(work{
			call: "create", urn: q.URN, address: q.ResourceStatusAddress, token: q.ResourceStatusToken,
			after: q.Properties, isThere: true,
		})
		it := c.create(q.URN, q.Properties, q.Preview)
		_, fresh := q.Properties["fresh"]
		return plugin.CreateResponse{
			ID: resource.ID(it.id), Properties: remember(it.outputs, q.Properties), Status: it.status,
			RefreshBeforeUpdate: fresh && it.outputs != nil,
		}, it.err
	}
	p.UpdateF = func(_ context.Context, q plugin.UpdateRequest) (plugin.UpdateResponse, error) {
		r.note("Update", q.URN, call{
			"id": string(q.ID), "oldInputs": shownMap(q.OldInputs), "oldOutputs": shownMap(q.OldOutputs),
			"newInputs": shownMap(q.NewInputs), "ignore": list(q.IgnoreChanges), "timeout": q.Timeout,
			"preview": q.Preview,
		})
		c.tell(work{
			call: "update", urn: q.URN, address: q.ResourceStatusAddress, token: q.ResourceStatusToken,
			before: q.OldViews, after: q.NewInputs, isThere: true,
		})
		it := c.update(q.URN, string(q.ID), q.NewInputs, q.Preview)
		_, fresh := q.NewInputs["fresh"]
		return plugin.UpdateResponse{
			Properties: remember(it.outputs, q.NewInputs), Status: it.status, RefreshBeforeUpdate: fresh && it.outputs != nil,
		}, it.err
	}
	p.DeleteF = func(_ context.Context, q plugin.DeleteRequest) (plugin.DeleteResponse, error) {
		r.note("Delete", q.URN, call{
			"id": string(q.ID), "inputs": shownMap(q.Inputs), "outputs": shownMap(q.Outputs), "timeout": q.Timeout,
		})
		c.tell(work{
			call: "delete", urn: q.URN, address: q.ResourceStatusAddress, token: q.ResourceStatusToken,
			before: q.OldViews,
		})
		status, err := c.delete(q.URN, string(q.ID))
		return plugin.DeleteResponse{Status: status}, err
	}
}
