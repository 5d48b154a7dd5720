package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/pulumi/pulumi/pkg/v3/resource/deploy/deploytest"
	"github.com/pulumi/pulumi/pkg/v3/resource/plugin"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	rpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
)

// selfKey is the argument that says which resource a method belongs to, nameKey the one by which a method knows which
// of the calls of a program it is.
const (
	selfKey = "__self__"
	nameKey = "name"
)

// extensionName is what every extension is called.
const extensionName = "more"

var (
	errCouldNot = errors.New("it could not")
	errInPieces = errors.New("it came to pieces")
)

// answerOf is the name by which the answer of a method is kept among the replies.
func answerOf(method string) string { return "method " + method }

// ask calls a function of a provider.
func (p *program) ask(ctx context.Context, it *ask) error {
	args, err := marshal(resource.PropertyMap{"number": resource.NewProperty(fmt.Sprint(it.Number))})
	if err != nil {
		return err
	}
	response, err := p.monitor.Invoke(ctx, &rpc.ResourceInvokeRequest{
		Tok: it.Package + ":m:look", Args: args, Provider: p.reference(it.Provider), DependsOn: p.urns(it.Needs),
		AcceptResources: true,
	})
	if err != nil {
		return err
	}
	outputs, err := unmarshal(response.Return)
	if err != nil {
		return err
	}
	p.replies[fmt.Sprintf("ask %d", it.Number)] = &reply{Outputs: shownMap(outputs), Unknown: response.Unknown}
	return nil
}

// call calls a method.
func (p *program) call(ctx context.Context, it *method) error {
	request, err := p.callOf(it)
	if err != nil {
		return err
	}
	response, err := p.monitor.Call(ctx, request)
	if err != nil {
		return err
	}
	outputs, err := unmarshal(response.Return)
	if err != nil {
		return err
	}
	answer := &reply{Outputs: shownMap(outputs), outputs: outputs, Dependencies: map[string][]string{}}
	for key, on := range response.ReturnDependencies {
		answer.Dependencies[key] = append([]string{}, on.Urns...)
		sort.Strings(answer.Dependencies[key])
	}
	p.replies[answerOf(it.Name)] = answer
	return nil
}

func (p *program) callOf(it *method) (*rpc.ResourceCallRequest, error) {
	values := resource.PropertyMap{nameKey: resource.NewProperty(it.Name)}
	origins := map[string]*rpc.ResourceCallRequest_ArgumentDependencies{}
	if it.Of != "" {
		values[selfKey] = p.self(it.Of)
		origins[selfKey] = &rpc.ResourceCallRequest_ArgumentDependencies{Urns: []string{p.urn(it.Of)}}
	}
	for key, argument := range it.Arguments {
		value, on := p.value(argument), p.origins(argument)
		if it.Wrapped {
			values[resource.PropertyKey(key)] = wrapped(value, on)
			continue
		}
		values[resource.PropertyKey(key)] = value
		origins[key] = &rpc.ResourceCallRequest_ArgumentDependencies{Urns: on}
	}
	args, err := marshal(values)
	return &rpc.ResourceCallRequest{
		Tok: it.Token, Args: args, ArgDependencies: origins, Provider: p.reference(it.Provider), Version: it.Version,
		PackageRef: p.packages[it.Package],
	}, err
}

// self is the resource that a method belongs to. Components have no id, nor has what was left out.
func (p *program) self(name string) resource.PropertyValue {
	own := p.replies[name]
	if own.ID == "" && !p.op.Preview {
		return resource.MakeComponentResourceReference(resource.URN(own.URN), "")
	}
	for _, it := range p.op.Program {
		if it.Name == name && !it.Custom {
			return resource.MakeComponentResourceReference(resource.URN(own.URN), "")
		}
	}
	return resource.MakeCustomResourceReference(resource.URN(own.URN), resource.ID(own.ID), "")
}

func urnsOf(texts []string) []resource.URN {
	var urns []resource.URN
	for _, text := range texts {
		urns = append(urns, resource.URN(text))
	}
	return urns
}

// wrapped is a value that tells by itself what it comes from.
func wrapped(value resource.PropertyValue, on []string) resource.PropertyValue {
	plain := revealed(value)
	output := resource.Output{Secret: value.IsSecret(), Dependencies: urnsOf(on)}
	if !plain.ContainsUnknowns() {
		output.Known, output.Element = true, plain
	}
	return resource.NewProperty(output)
}

// addCalls has a plugin answer calls of functions and methods, and construct components.
func addCalls(p *deploytest.Provider, program *program) {
	p.DialMonitorF = func(context.Context, string) (*deploytest.ResourceMonitor, error) { return nil, nil }
	p.ParameterizeF = func(_ context.Context, q plugin.ParameterizeRequest) (plugin.ParameterizeResponse, error) {
		value, is := q.Parameters.(*plugin.ParameterizeValue)
		if !is {
			return plugin.ParameterizeResponse{}, errors.New("there is no value")
		}
		if value.Name == extensionName {
			program.records.note("Parameterize", extensionName, call{
				"name": value.Name, "version": value.Version.String(), "value": string(value.Value),
			})
		}
		if string(value.Value) == "none" {
			return plugin.ParameterizeResponse{}, errors.New("no such extension")
		}
		return plugin.ParameterizeResponse{Name: value.Name, Version: value.Version}, nil
	}
	p.InvokeF = func(_ context.Context, q plugin.InvokeRequest) (plugin.InvokeResponse, error) {
		args := resource.ToResourcePropertyMap(q.Args)
		program.records.note("Invoke", "", call{"token": string(q.Tok), "args": shownMap(args)})
		return plugin.InvokeResponse{Properties: q.Args}, nil
	}
	p.CallF = func(
		ctx context.Context, q plugin.CallRequest, _ *deploytest.ResourceMonitor,
	) (plugin.CallResponse, error) {
		return program.called(ctx, q)
	}
	p.ConstructF = func(
		ctx context.Context, q plugin.ConstructRequest, _ *deploytest.ResourceMonitor,
	) (plugin.ConstructResponse, error) {
		return program.constructed(ctx, q)
	}
}

// constructed is a component that a provider registers. The provider knows nothing of transforms.
func (p *program) constructed(ctx context.Context, q plugin.ConstructRequest) (plugin.ConstructResponse, error) {
	p.records.note("Construct", "", call{
		"type": string(q.Type), "name": q.Name, "parent": string(q.Parent), "inputs": shownMap(q.Inputs),
		"providers": q.Options.Providers,
	})
	for i := range p.op.Program {
		res := &p.op.Program[i]
		if res.Name != q.Name || !res.Remote {
			continue
		}
		request, err := p.registration(res)
		if err != nil {
			return plugin.ConstructResponse{}, err
		}
		request.Transforms = nil
		if err := p.submit(ctx, res, request); err != nil {
			return plugin.ConstructResponse{}, err
		}
		if kind := p.cloud.planned("create", q.Name); kind != "" && kind != "part" && kind != "half-part" {
			return plugin.ConstructResponse{}, errInPieces
		}
		return plugin.ConstructResponse{URN: resource.URN(p.replies[q.Name].URN)}, nil
	}
	return plugin.ConstructResponse{}, fmt.Errorf("nobody knows %s", q.Name)
}

// called has a method do what crates/plumb-simulate/src/world/methods.rs says of its name.
func (p *program) called(ctx context.Context, q plugin.CallRequest) (plugin.CallResponse, error) {
	args := resource.ToResourcePropertyMap(q.Args)
	name := ""
	if value := args[nameKey]; value.IsString() {
		name = value.StringValue()
	}
	on := map[string][]string{}
	for key, urns := range q.Options.ArgDependencies {
		for _, urn := range urns {
			on[string(key)] = append(on[string(key)], string(urn))
		}
		sort.Strings(on[string(key)])
	}
	p.records.note("Call", "", call{"token": string(q.Tok), "args": shownMap(args), "depends": on})
	for i := range p.op.Program {
		res := &p.op.Program[i]
		if res.By != name {
			continue
		}
		if err := p.register(ctx, res); err != nil {
			return plugin.CallResponse{}, errCouldNot
		}
	}
	if p.cloud.planned("call", name) != "" {
		return plugin.CallResponse{}, errCouldNot
	}
	return answerOfCall(string(q.Tok), args, q.Options.ArgDependencies), nil
}

func answerOfCall(
	token string, args resource.PropertyMap, told map[resource.PropertyKey][]resource.URN,
) plugin.CallResponse {
	does := token[strings.LastIndex(token, "/")+1:]
	result := resource.PropertyMap{}
	from := map[resource.PropertyKey][]resource.URN{}
	for key, value := range args {
		if key == nameKey || key == selfKey {
			continue
		}
		on := append([]resource.URN{}, told[key]...)
		switch does {
		case "echo":
			result[key] = value
			continue
		case "tells":
			for _, own := range told[selfKey] {
				if !slices.Contains(on, own) {
					on = append(on, own)
				}
			}
			result[key] = withoutOutputs(value)
		default:
			result[key] = hidden(value, on)
		}
		from[key] = on
	}
	return plugin.CallResponse{Return: resource.FromResourcePropertyMap(result), ReturnDependencies: from}
}

func withoutOutputs(value resource.PropertyValue) resource.PropertyValue {
	if !value.IsOutput() {
		return value
	}
	output := value.OutputValue()
	inner := unknown()
	if output.Known {
		inner = output.Element
	}
	if output.Secret {
		return resource.MakeSecret(inner)
	}
	return inner
}

// hidden is a secret that tells by itself what it comes from.
func hidden(value resource.PropertyValue, on []resource.URN) resource.PropertyValue {
	plain := revealed(value)
	output := resource.Output{Secret: true, Dependencies: on}
	if !plain.ContainsUnknowns() {
		output.Known, output.Element = true, plain
	}
	return resource.NewProperty(output)
}

// registerPackages has the program register a package, twice.
func (p *program) registerPackages(ctx context.Context) error {
	p.packages = map[string]string{}
	for _, it := range append(append([]pack{}, p.op.Packages...), p.op.Packages...) {
		response, err := p.monitor.RegisterPackage(ctx, &rpc.RegisterPackageRequest{
			Name: it.Plugin, Version: it.Version,
			Parameterization: it.Parameter.marshal(), Extension: it.Extension.marshal(),
		})
		if err != nil {
			return err
		}
		p.packages[it.Name] = response.Ref
	}
	return nil
}

func (it *parameter) marshal() *rpc.Parameterization {
	if it == nil {
		return nil
	}
	return &rpc.Parameterization{Name: it.Name, Version: it.Version, Value: []byte(it.Value)}
}
