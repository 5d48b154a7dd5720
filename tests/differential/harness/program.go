package main

import (
	"context"
	"errors"
	"sort"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/pulumi/pulumi/pkg/v3/resource/plugin"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	rpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
)

// errBroke is how a program fails that was refused something.
var errBroke = errors.New("the program broke")

// reply is what the program hears of a resource.
type reply struct {
	URN     string `json:"urn"`
	ID      string `json:"id"`
	Outputs any    `json:"outputs"`
	Outcome string `json:"outcome"`
	Unknown bool   `json:"unknown"`
	// What the parts of the answer of a method come from.
	Dependencies map[string][]string `json:"depends"`

	outputs resource.PropertyMap
}

// program registers the resources of an operation one after the other, each when the one before has been answered.
type program struct {
	op      *operation
	monitor rpc.ResourceMonitorClient
	replies map[string]*reply
	records *recorder
	cloud   *cloud
	// The number by which its functions know it, if it has some.
	number int64
	// References of its packages.
	packages map[string]string
}

// runtime runs the program in process.
type runtime struct {
	plugin.LanguageRuntime
	program *program
}

// Run is the program from its start to its end. Where the engine has gone away nothing is said.
func (r *runtime) Run(ctx context.Context, info plugin.RunInfo) (string, bool, error) {
	insecurely := grpc.WithTransportCredentials(insecure.NewCredentials())
	conn, err := grpc.NewClient(info.MonitorAddress, insecurely)
	if err != nil {
		return "", false, err
	}
	defer func() { _ = conn.Close() }()
	r.program.monitor = rpc.NewResourceMonitorClient(conn)
	switch err := r.program.run(ctx); {
	case err == nil:
		return "", false, nil
	case status.Code(err) == codes.Unavailable, status.Code(err) == codes.Canceled:
		return "", true, nil
	default:
		return errBroke.Error(), false, nil
	}
}

func (p *program) run(ctx context.Context) error {
	if err := p.nameFunctions(ctx); err != nil {
		return err
	}
	for i := range p.op.Program {
		if p.op.FailsAfter != nil && i == *p.op.FailsAfter {
			return errBroke
		}
		if err := p.next(ctx, &p.op.Program[i]); err != nil {
			return err
		}
	}
	for i := range p.op.Program {
		res := &p.op.Program[i]
		if res.Custom || len(res.Outputs) == 0 || p.replies[res.Name] == nil {
			continue
		}
		outputs, err := marshal(p.values(res.Outputs))
		if err != nil {
			return err
		}
		request := &rpc.RegisterResourceOutputsRequest{Urn: p.replies[res.Name].URN, Outputs: outputs}
		if _, err := p.monitor.RegisterResourceOutputs(ctx, request); err != nil {
			return err
		}
	}
	return nil
}

// next does one thing. Methods register resources of their own.
func (p *program) next(ctx context.Context, it *res) error {
	switch {
	case it.Ask != nil:
		return p.ask(ctx, it.Ask)
	case it.Method != nil:
		return p.call(ctx, it.Method)
	case it.By != "":
		return nil
	}
	return p.register(ctx, it)
}

// marshal writes properties as SDKs do that know secrets.
func marshal(props resource.PropertyMap) (*structpb.Struct, error) {
	return plugin.MarshalProperties(props, plugin.MarshalOptions{
		KeepUnknowns: true, KeepSecrets: true, KeepResources: true, KeepOutputValues: true,
	})
}

func unmarshal(props *structpb.Struct) (resource.PropertyMap, error) {
	return plugin.UnmarshalProperties(props, plugin.MarshalOptions{
		KeepUnknowns: true, KeepSecrets: true, KeepResources: true, KeepOutputValues: true,
	})
}

func (p *program) value(it prop) resource.PropertyValue {
	value := resource.NewProperty(it.Text)
	if it.From != "" {
		value = p.replies[it.From].output(it.Key, p.op.Preview)
	}
	if it.Answer != "" {
		value = p.replies[answerOf(it.Answer)].output(it.Key, p.op.Preview)
	}
	if it.Secret && !value.IsSecret() {
		value = resource.MakeSecret(value)
	}
	return value
}

// output is an output as the program sees it.
func (r *reply) output(key string, preview bool) resource.PropertyValue {
	if value, has := r.outputs[resource.PropertyKey(key)]; has {
		return value
	}
	if preview || r.Unknown {
		return unknown()
	}
	return resource.NewNullProperty()
}

// values leaves out what is not there.
func (p *program) values(props map[string]prop) resource.PropertyMap {
	result := resource.PropertyMap{}
	for key, it := range props {
		if value := p.value(it); !revealed(value).IsNull() {
			result[resource.PropertyKey(key)] = value
		}
	}
	return result
}

func (p *program) urn(name string) string {
	if name == "" {
		return ""
	}
	return p.replies[name].URN
}

func (p *program) urns(names []string) []string {
	var result []string
	for _, name := range names {
		result = append(result, p.urn(name))
	}
	return result
}

func (p *program) reference(name string) string {
	if name == "" {
		return ""
	}
	id := p.replies[name].ID
	if id == "" {
		id = plugin.UnknownStringValue
	}
	return p.urn(name) + "::" + id
}

// dependencies are those of the option and those of the properties, sorted and each once.
func (p *program) dependencies(res *res) []string {
	all := map[string]bool{}
	for _, urn := range p.urns(res.DependsOn) {
		all[urn] = true
	}
	for _, it := range res.Properties {
		for _, urn := range p.origins(it) {
			all[urn] = true
		}
	}
	var result []string
	for urn := range all {
		result = append(result, urn)
	}
	sort.Strings(result)
	return result
}

// origins are the resources that a value comes from.
func (p *program) origins(it prop) []string {
	switch {
	case it.From != "":
		return []string{p.urn(it.From)}
	case it.Answer != "":
		return p.replies[answerOf(it.Answer)].Dependencies[it.Key]
	}
	return nil
}

func (p *program) register(ctx context.Context, res *res) error {
	if res.Read != "" {
		return p.read(ctx, res)
	}
	request, err := p.registration(res)
	if err != nil {
		return err
	}
	if res.Remote {
		request.Remote = true
		_, err := p.monitor.RegisterResource(ctx, request)
		return err
	}
	return p.submit(ctx, res, request)
}

// submit sends a registration, and keeps the reply.
func (p *program) submit(ctx context.Context, res *res, request *rpc.RegisterResourceRequest) error {
	response, err := p.monitor.RegisterResource(ctx, request)
	if err != nil {
		return err
	}
	outputs, err := unmarshal(response.Object)
	if err != nil {
		return err
	}
	outcome := map[rpc.Result]string{rpc.Result_FAIL: "failed", rpc.Result_SKIP: "skipped"}[response.Result]
	p.replies[res.Name] = &reply{
		URN: response.Urn, ID: response.Id, Outputs: shownMap(outputs), Outcome: outcome,
		Unknown: response.Unknown, outputs: outputs,
	}
	return nil
}

func (p *program) read(ctx context.Context, res *res) error {
	props, err := marshal(p.values(res.Properties))
	if err != nil {
		return err
	}
	response, err := p.monitor.ReadResource(ctx, &rpc.ReadResourceRequest{
		Id: res.Read, Type: res.Type, Name: res.Called, Parent: p.urn(res.Parent), Properties: props,
		Dependencies: p.dependencies(res), Provider: p.reference(res.Provider), Version: res.Version,
		PackageRef:              p.packages[res.Registered],
		AdditionalSecretOutputs: res.SecretOutputs, AcceptSecrets: true, AcceptResources: true,
	})
	if err != nil {
		return err
	}
	outputs, err := unmarshal(response.Properties)
	if err != nil {
		return err
	}
	p.replies[res.Name] = &reply{
		URN: response.Urn, ID: res.Read, Outputs: shownMap(outputs), outputs: outputs,
	}
	return nil
}

func (p *program) registration(res *res) (*rpc.RegisterResourceRequest, error) {
	inputs := p.values(res.Properties)
	props, err := marshal(inputs)
	if err != nil {
		return nil, err
	}
	request := &rpc.RegisterResourceRequest{
		Type: res.Type, Name: res.Called, Custom: res.Custom, Object: props,
		Parent: p.urn(res.Parent), Dependencies: p.dependencies(res),
		Provider: p.reference(res.Provider), Version: res.Version,
		Protect: res.Protect, RetainOnDelete: res.Retain,
		IgnoreChanges: res.IgnoreChanges, ReplaceOnChanges: res.ReplaceOnChanges, HideDiffs: res.HideDiffs,
		AdditionalSecretOutputs: res.SecretOutputs, ImportId: res.Import,
		DeletedWith: p.urn(res.DeletedWith), ReplaceWith: p.urns(res.ReplaceWith),
		AcceptSecrets: true, AcceptResources: true, SupportsPartialValues: true, SupportsResultReporting: true,
		PackageRef: p.packages[res.Registered],
		AliasSpecs: true, Aliases: aliases(res.Aliases),
	}
	if res.DeleteBeforeReplace != nil {
		request.DeleteBeforeReplace, request.DeleteBeforeReplaceDefined = *res.DeleteBeforeReplace, true
	}
	if res.Timeout != 0 {
		create := time.Duration(res.Timeout * float64(time.Second)).String()
		request.CustomTimeouts = &rpc.RegisterResourceRequest_CustomTimeouts{Create: create}
	}
	request.PropertyDependencies = p.propertyDependencies(res, inputs)
	request.Hooks = hooksOf(res)
	for _, name := range res.Transforms {
		function, err := functionOf(p, "change", name)
		if err != nil {
			return nil, err
		}
		request.Transforms = append(request.Transforms, function)
	}
	request.Providers = p.providers(res)
	if res.Trigger != nil {
		options := plugin.MarshalOptions{KeepUnknowns: true, KeepSecrets: true, KeepOutputValues: true}
		trigger, err := plugin.MarshalPropertyValue("trigger", p.value(*res.Trigger), options)
		if err != nil {
			return nil, err
		}
		request.ReplacementTrigger = trigger
	}
	return request, nil
}

func (p *program) propertyDependencies(
	res *res, inputs resource.PropertyMap,
) map[string]*rpc.RegisterResourceRequest_PropertyDependencies {
	result := map[string]*rpc.RegisterResourceRequest_PropertyDependencies{}
	if res.Loose {
		return result
	}
	for key, it := range res.Properties {
		if _, has := inputs[resource.PropertyKey(key)]; !has {
			continue
		}
		result[key] = &rpc.RegisterResourceRequest_PropertyDependencies{Urns: p.origins(it)}
	}
	return result
}

// providers of a component by package; SDKs put its own among them too.
func (p *program) providers(component *res) map[string]string {
	names := component.Providers
	if !component.Custom && component.Provider != "" {
		names = append(append([]string{}, names...), component.Provider)
	}
	result := map[string]string{}
	for _, name := range names {
		for _, other := range p.op.Program {
			if other.Name == name {
				result[other.Package] = p.reference(name)
			}
		}
	}
	return result
}

func aliases(all []alias) []*rpc.Alias {
	var result []*rpc.Alias
	for _, it := range all {
		if it.URN != "" {
			result = append(result, &rpc.Alias{Alias: &rpc.Alias_Urn{Urn: it.URN}})
			continue
		}
		spec := &rpc.Alias_Spec{Name: it.Name, Type: it.Type}
		switch {
		case it.NoParent:
			spec.Parent = &rpc.Alias_Spec_NoParent{NoParent: true}
		case it.Parent != "":
			spec.Parent = &rpc.Alias_Spec_ParentUrn{ParentUrn: it.Parent}
		}
		result = append(result, &rpc.Alias{Alias: &rpc.Alias_Spec_{Spec: spec}})
	}
	return result
}
