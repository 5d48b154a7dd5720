package main

import (
	"google.golang.org/protobuf/proto"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	rpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
)

// signed is the property in which functions leave their letters.
const signed = "signed"

// transformed is a registration as a function leaves it: crates/plumb-simulate/src/world/functions.rs says what each does.
func (p *program) transformed(name string, bytes []byte) (proto.Message, error) {
	var q rpc.TransformRequest
	if err := proto.Unmarshal(bytes, &q); err != nil {
		return nil, err
	}
	properties, err := unmarshal(q.Properties)
	if err != nil {
		return nil, err
	}
	p.records.note("transform "+name, "", call{
		"type": q.Type, "name": q.Name, "custom": q.Custom, "parent": q.Parent, "properties": shownMap(properties),
		"ignore": list(q.Options.GetIgnoreChanges()), "provider": q.Options.GetProvider(),
		"dependsOn": list(q.Options.GetDependsOn()), "protect": q.Options.Protect, "retain": q.Options.RetainOnDelete,
		"import": q.Options.GetImport(), "deletedWith": q.Options.GetDeletedWith(),
	})
	options := q.Options
	if options == nil {
		options = &rpc.TransformResourceOptions{}
	}
	no, yes := false, true
	switch name {
	case "bad":
		return nil, errBrokeIt
	case "slows":
		if options.CustomTimeouts == nil {
			options.CustomTimeouts = &rpc.RegisterResourceRequest_CustomTimeouts{}
		}
		options.CustomTimeouts.Create = "7s"
	case "frees":
		options.DeleteBeforeReplace = &no
	case "guards":
		options.Protect = &yes
	default:
		change(name, properties)
	}
	props, err := marshal(properties)
	return &rpc.TransformResponse{Properties: props, Options: options}, err
}

func change(name string, properties resource.PropertyMap) {
	switch name {
	case "marks":
		properties["t"] = resource.NewProperty("1")
	case "plain":
		properties["v"] = resource.NewProperty("0")
	case "drops":
		delete(properties, "w")
	default:
		before := properties[signed]
		if before.IsOutput() && before.OutputValue().Known && !before.OutputValue().Secret {
			before = before.OutputValue().Element
		}
		text := ""
		if before.IsString() {
			text = before.StringValue()
		}
		properties[signed] = resource.NewProperty(text + name)
	}
}

// transformedAsk is a call of a function as a function of the program leaves it.
func (p *program) transformedAsk(name string, bytes []byte) (proto.Message, error) {
	var q rpc.TransformInvokeRequest
	if err := proto.Unmarshal(bytes, &q); err != nil {
		return nil, err
	}
	args, err := unmarshal(q.Args)
	if err != nil {
		return nil, err
	}
	p.records.note("transform ask "+name, "", call{
		"token": q.Token, "args": shownMap(args), "provider": q.Options.GetProvider(),
	})
	options := q.Options
	if options == nil {
		options = &rpc.TransformInvokeOptions{}
	}
	switch name {
	case "bad":
		return nil, errBrokeIt
	case "unbinds":
		options.Provider = ""
	default:
		args["added"] = resource.NewProperty("yes")
	}
	changed, err := marshal(args)
	return &rpc.TransformInvokeResponse{Args: changed, Options: options}, err
}
