package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	rpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
)

// errBrokeIt is how functions fail.
var errBrokeIt = errors.New("it broke")

// attempts is how often a call is made when hooks want it made again.
const attempts = 3

// callbacks serves the functions of all programs of this process: hooks, and transforms. A token is the number of the
// program and the name of the function, which says what it does.
type callbacks struct {
	rpc.UnsafeCallbacksServer
	target   string
	programs sync.Map
}

var serve = sync.OnceValues(func() (*callbacks, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	all := &callbacks{target: listener.Addr().String()}
	server := grpc.NewServer()
	rpc.RegisterCallbacksServer(server, all)
	go func() { _ = server.Serve(listener) }()
	return all, nil
})

var numbers atomic.Int64

// functionOf is a function of a program.
func functionOf(p *program, kind, name string) (*rpc.Callback, error) {
	all, err := serve()
	if err != nil {
		return nil, err
	}
	if p.number == 0 {
		p.number = numbers.Add(1)
		all.programs.Store(fmt.Sprint(p.number), p)
	}
	token := fmt.Sprintf("%d %s %s", p.number, kind, name)
	return &rpc.Callback{Target: all.target, Token: token, AcceptsByteString: true}, nil
}

// forget drops the functions of a program that has ended.
func forget(p *program) {
	if all, err := serve(); p.number != 0 && err == nil {
		all.programs.Delete(fmt.Sprint(p.number))
	}
}

// nameFunctions has the program name its functions, before it says anything else.
func (p *program) nameFunctions(ctx context.Context) error {
	if p.op.Hooks {
		for _, name := range []string{"fine", "bad", "lenient", "again", "enough"} {
			if err := p.nameHook(ctx, name); err != nil {
				return err
			}
		}
	}
	for _, name := range p.op.Transforms {
		function, err := functionOf(p, "change", name)
		if err != nil {
			return err
		}
		if _, err := p.monitor.RegisterStackTransform(ctx, function); err != nil {
			return err
		}
	}
	for _, name := range p.op.AskTransforms {
		function, err := functionOf(p, "change-ask", name)
		if err != nil {
			return err
		}
		if _, err := p.monitor.RegisterStackInvokeTransform(ctx, function); err != nil {
			return err
		}
	}
	return p.registerPackages(ctx)
}

func (p *program) nameHook(ctx context.Context, name string) error {
	isOfErrors := name == "again" || name == "enough"
	kind := "hook"
	if isOfErrors {
		kind = "error-hook"
	}
	function, err := functionOf(p, kind, name)
	if err != nil {
		return err
	}
	if isOfErrors {
		_, err = p.monitor.RegisterErrorHook(ctx, &rpc.RegisterErrorHookRequest{Name: name, Callback: function})
		return err
	}
	_, err = p.monitor.RegisterResourceHook(ctx, &rpc.RegisterResourceHookRequest{
		Name: name, Callback: function, IgnoreErrors: name == "lenient",
	})
	return err
}

func hooksOf(res *res) *rpc.RegisterResourceRequest_ResourceHooksBinding {
	if len(res.Hooks) == 0 {
		return nil
	}
	return &rpc.RegisterResourceRequest_ResourceHooksBinding{
		BeforeCreate: res.Hooks["BeforeCreate"], AfterCreate: res.Hooks["AfterCreate"],
		BeforeUpdate: res.Hooks["BeforeUpdate"], AfterUpdate: res.Hooks["AfterUpdate"],
		BeforeDelete: res.Hooks["BeforeDelete"], AfterDelete: res.Hooks["AfterDelete"],
		OnError: res.Hooks["OnError"],
	}
}

// functions by their kinds.
func (p *program) functions() map[string]func(string, []byte) (proto.Message, error) {
	return map[string]func(string, []byte) (proto.Message, error){
		"hook": p.hooked, "error-hook": p.hookedError, "change": p.transformed, "change-ask": p.transformedAsk,
	}
}

// Invoke has a function do what its name says.
func (c *callbacks) Invoke(
	_ context.Context, q *rpc.CallbackInvokeRequest,
) (*rpc.CallbackInvokeResponse, error) {
	number, name, _ := strings.Cut(q.Token, " ")
	known, has := c.programs.Load(number)
	if !has {
		return nil, errBrokeIt
	}
	p := known.(*program)
	kind, name, _ := strings.Cut(name, " ")
	answer, err := p.functions()[kind](name, q.Request)
	if err != nil {
		return nil, err
	}
	bytes, err := proto.Marshal(answer)
	return &rpc.CallbackInvokeResponse{Response: bytes}, err
}

func (p *program) hooked(name string, bytes []byte) (proto.Message, error) {
	var q rpc.ResourceHookRequest
	if err := proto.Unmarshal(bytes, &q); err != nil {
		return nil, err
	}
	fields := call{"id": q.Id}
	for key, props := range map[string]*structpb.Struct{
		"oldInputs": q.OldInputs, "newInputs": q.NewInputs, "oldOutputs": q.OldOutputs, "newOutputs": q.NewOutputs,
	} {
		values, err := unmarshal(props)
		if err != nil {
			return nil, err
		}
		fields[key] = shownMap(values)
	}
	p.records.note("hook "+name, resource.URN(q.Urn), fields)
	if name != "fine" {
		return &rpc.ResourceHookResponse{Error: errBrokeIt.Error()}, nil
	}
	return &rpc.ResourceHookResponse{}, nil
}

func (p *program) hookedError(name string, bytes []byte) (proto.Message, error) {
	var q rpc.ErrorHookRequest
	if err := proto.Unmarshal(bytes, &q); err != nil {
		return nil, err
	}
	// Lists of errors end with empty lines that no text of ours has.
	texts := make([]string, len(q.Errors))
	for i, text := range q.Errors {
		texts[i] = strings.TrimRight(text, "\n")
	}
	fields := call{"id": q.Id, "operation": q.FailedOperation, "errors": texts}
	for key, props := range map[string]*structpb.Struct{
		"oldInputs": q.OldInputs, "newInputs": q.NewInputs, "oldOutputs": q.OldOutputs,
	} {
		values, err := unmarshal(props)
		if err != nil {
			return nil, err
		}
		fields[key] = shownMap(values)
	}
	p.records.note("hook "+name, resource.URN(q.Urn), fields)
	isHalfDone := len(q.Errors) > 0 && strings.Contains(q.Errors[0], notReady)
	return &rpc.ErrorHookResponse{Retry: name == "again" && len(q.Errors) < attempts && !isHalfDone}, nil
}
