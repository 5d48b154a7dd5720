package main

import (
	"fmt"
	"os"
	"reflect"
	"sync"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

type mocks struct {
	lock sync.Mutex
	made map[string]pulumi.MockResourceArgs
}

func (m *mocks) NewResource(args pulumi.MockResourceArgs) (string, resource.PropertyMap, error) {
	m.lock.Lock()
	defer m.lock.Unlock()
	m.made[args.Name] = args
	state := args.Inputs.Copy()
	switch args.TypeToken {
	case "lab:box:Box":
		state["secretCode"] = resource.NewStringProperty("hidden")
	case "shapes:index:Picture":
		state["elementType"] = resource.NewStringProperty("pixel")
		state["colours"] = resource.NewArrayProperty([]resource.PropertyValue{resource.NewStringProperty("light blue")})
	case "shapes:index:Album":
		state["cover"] = args.Inputs["pictures"].ArrayValue()[0]
	}
	id := args.ID
	if id == "" {
		id = args.Name + "-id"
	}
	return id, state, nil
}

func (m *mocks) Call(args pulumi.MockCallArgs) (resource.PropertyMap, error) {
	switch args.Token {
	case "lab:index:find":
		limit := fmt.Sprint(args.Args["limit"].NumberValue())
		ids := []resource.PropertyValue{args.Args["name"], resource.NewStringProperty(limit)}
		return resource.PropertyMap{"ids": resource.NewArrayProperty(ids)}, nil
	case "lab:index:add":
		sum := args.Args["b"].NumberValue()
		if a, ok := args.Args["a"]; ok && a.IsNumber() {
			sum += a.NumberValue()
		}
		return resource.PropertyMap{"sum": resource.NewNumberProperty(sum)}, nil
	case "shapes:index:getPicture":
		return resource.PropertyMap{"dots": resource.NewArrayProperty([]resource.PropertyValue{args.Args["main"]})}, nil
	}
	return nil, fmt.Errorf("unknown function %s", args.Token)
}

func (m *mocks) MethodCall(args pulumi.MockCallArgs) (resource.PropertyMap, error) {
	switch args.Token {
	case "lab:box:Box/open":
		return resource.PropertyMap{"content": resource.NewStringProperty("opened with " + args.Args["code"].StringValue())}, nil
	case "lab:box:Box/peek":
		return resource.PropertyMap{"res": resource.NewNumberProperty(5)}, nil
	}
	return nil, fmt.Errorf("unknown method %s", args.Token)
}

var failures []string

func expect(what string, actual, expected interface{}) {
	if !reflect.DeepEqual(actual, expected) {
		failures = append(failures, fmt.Sprintf("%s: %#v instead of %#v", what, actual, expected))
	}
}

// value waits for an output.
func value(output pulumi.Output) interface{} {
	found := make(chan interface{}, 1)
	output.ApplyT(func(v interface{}) interface{} {
		found <- v
		return v
	})
	return <-found
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

// tell runs stories with a pretend provider, and ends the program.
func tell(stories map[string]func(ctx *pulumi.Context, pretend *mocks)) {
	for what, story := range stories {
		pretend := &mocks{made: map[string]pulumi.MockResourceArgs{}}
		err := pulumi.RunErr(func(ctx *pulumi.Context) error {
			story(ctx, pretend)
			return nil
		}, pulumi.WithMocks("project", "stack", pretend))
		if err != nil {
			failures = append(failures, fmt.Sprintf("%s: %v", what, err))
		}
	}
	for _, failure := range failures {
		fmt.Fprintln(os.Stderr, failure)
	}
	if len(failures) > 0 {
		os.Exit(1)
	}
}
