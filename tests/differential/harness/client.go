package main

import (
	"context"

	"github.com/pulumi/pulumi/pkg/v3/resource/deploy/deploytest"
	"github.com/pulumi/pulumi/pkg/v3/resource/plugin"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
)

const unavailable = "The provider for this resource has inputs that are not known during preview.\n" +
	"This preview may not correctly represent the changes that will be applied during an update."

// client stands for the client of a plugin: a provider whose configuration is not known is asked nothing.
type client struct {
	*deploytest.Provider
	open bool
}

func (c *client) Configure(ctx context.Context, q plugin.ConfigureRequest) (plugin.ConfigureResponse, error) {
	if q.Inputs.ContainsUnknowns() {
		c.open = true
		return plugin.ConfigureResponse{}, nil
	}
	return c.Provider.Configure(ctx, q)
}

func (c *client) Check(ctx context.Context, q plugin.CheckRequest) (plugin.CheckResponse, error) {
	if c.open {
		return plugin.CheckResponse{Properties: q.News}, nil
	}
	return c.Provider.Check(ctx, q)
}

func (c *client) Diff(ctx context.Context, q plugin.DiffRequest) (plugin.DiffResult, error) {
	if c.open {
		return plugin.DiffResult{}, plugin.DiffUnavailable(unavailable)
	}
	return c.Provider.Diff(ctx, q)
}

func (c *client) Create(ctx context.Context, q plugin.CreateRequest) (plugin.CreateResponse, error) {
	if c.open && q.Preview {
		return plugin.CreateResponse{}, nil
	}
	return c.Provider.Create(ctx, q)
}

func (c *client) Update(ctx context.Context, q plugin.UpdateRequest) (plugin.UpdateResponse, error) {
	if c.open && q.Preview {
		return plugin.UpdateResponse{Properties: resource.PropertyMap{}, Status: resource.StatusOK}, nil
	}
	return c.Provider.Update(ctx, q)
}

func (c *client) Read(ctx context.Context, q plugin.ReadRequest) (plugin.ReadResponse, error) {
	if c.open {
		nothing := plugin.ReadResult{Inputs: resource.PropertyMap{}, Outputs: resource.PropertyMap{}}
		return plugin.ReadResponse{ReadResult: nothing, Status: resource.StatusUnknown}, nil
	}
	return c.Provider.Read(ctx, q)
}

func (c *client) Invoke(ctx context.Context, q plugin.InvokeRequest) (plugin.InvokeResponse, error) {
	if c.open {
		return plugin.InvokeResponse{}, nil
	}
	return c.Provider.Invoke(ctx, q)
}

func (c *client) Call(ctx context.Context, q plugin.CallRequest) (plugin.CallResponse, error) {
	if c.open {
		return plugin.CallResponse{}, nil
	}
	return c.Provider.Call(ctx, q)
}
