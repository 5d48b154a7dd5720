package main

import (
	"fmt"
	"reflect"
	"sort"
	"strconv"
	"strings"

	"github.com/pulumi/pulumi/pkg/v3/resource/deploy/deploytest"
	"github.com/pulumi/pulumi/pkg/v3/resource/plugin"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/property"
)

// partType is the type of all views.
const partType = "test:m:Part"

// work is a call of a provider that tells of parts: crates/plumb-simulate/src/world/views.rs says which.
type work struct {
	call           string
	urn            resource.URN
	address, token string
	before         []plugin.View
	// The inputs that the object is to have, if it is to be there.
	after   resource.PropertyMap
	isThere bool
}

// partsOf are the parts of an object with these inputs.
func partsOf(name string, inputs resource.PropertyMap) []plugin.View {
	count := 0
	if value := inputs["parts"]; value.IsString() {
		count, _ = strconv.Atoi(value.StringValue())
	}
	value := property.New(property.Null)
	if own, has := inputs["v"]; has {
		value = resource.FromResourcePropertyValue(own)
	}
	var parts []plugin.View
	for number := 1; number <= count; number++ {
		parts = append(parts, plugin.View{
			Type: partType, Name: fmt.Sprintf("%s-%d", name, number),
			Inputs: property.NewMap(map[string]property.Value{"v": value}),
		})
	}
	return parts
}

// tell has a provider tell of parts while it works on a call. Whether it is heard makes no difference to it.
func (c *cloud) tell(it work) {
	steps := c.told(it)
	if len(steps) == 0 || it.address == "" {
		return
	}
	status, err := deploytest.NewResourceStatus(it.address)
	if err != nil {
		return
	}
	defer func() { _ = status.Close() }()
	_ = status.PublishViewSteps(it.token, steps)
}

func (c *cloud) told(it work) []deploytest.ViewStep {
	name := nameOf(it.urn)
	fault := c.planned(it.call, name)
	if fault != "" && !is(fault, "told", "part", "half-part") {
		return nil
	}
	before := append([]plugin.View{}, it.before...)
	sort.SliceStable(before, func(i, j int) bool { return before[i].Name < before[j].Name })
	var steps []deploytest.ViewStep
	switch {
	case it.call == "delete":
		// The engine knows by itself that the rest goes too.
		steps = between(before[:min(len(before), 1)], nil)
	case it.isThere:
		steps = between(before, partsOf(name, it.after))
	}
	if is(fault, "part", "half-part") {
		breakLast(steps, fault == "half-part")
	}
	return steps
}

func viewName(step deploytest.ViewStep) string {
	if step.Old != nil {
		return step.Old.Name
	}
	return step.New.Name
}

func breakLast(steps []deploytest.ViewStep, isHalf bool) {
	last := -1
	for at := range steps {
		if last < 0 || viewName(steps[at]) >= viewName(steps[last]) {
			last = at
		}
	}
	if last < 0 {
		return
	}
	steps[last].Error = "a part broke"
	if isHalf {
		steps[last].Status = resource.StatusPartialFailure
	}
}

func between(before, after []plugin.View) []deploytest.ViewStep {
	var steps []deploytest.ViewStep
	named := func(views []plugin.View, name string) []plugin.View {
		var found []plugin.View
		for _, view := range views {
			if view.Name == name {
				found = append(found, view)
			}
		}
		return found
	}
	for _, view := range before {
		if len(named(after, view.Name)) == 0 {
			steps = append(steps, viewStep(apitype.OpDelete, &view, nil))
		}
	}
	for _, view := range after {
		known := named(before, view.Name)
		same := -1
		for at := range known {
			if same < 0 && isSameView(known[at], view) {
				same = at
			}
		}
		switch {
		case len(known) == 0:
			steps = append(steps, viewStep(apitype.OpCreate, nil, &view))
		case same >= 0:
			for at := range known {
				if at != same {
					steps = append(steps, viewStep(apitype.OpDeleteReplaced, &known[at], nil))
				}
			}
			steps = append(steps, viewStep(apitype.OpSame, &view, &view))
		default:
			steps = append(steps, changesOf(known[0], view)...)
		}
	}
	return steps
}

func isSameView(one, other plugin.View) bool {
	return one.Type == other.Type && reflect.DeepEqual(shownView(one), shownView(other))
}

func shownView(view plugin.View) any {
	return []any{
		view.Name, shownMap(resource.ToResourcePropertyMap(view.Inputs)), shownMap(resource.ToResourcePropertyMap(view.Outputs)),
	}
}

func changesOf(old, view plugin.View) []deploytest.ViewStep {
	create := viewStep(apitype.OpCreateReplacement, &old, &view)
	replace := viewStep(apitype.OpReplace, &old, &view)
	remove := viewStep(apitype.OpDeleteReplaced, &old, nil)
	switch view.Name[strings.LastIndex(view.Name, "-")+1:] {
	case "2":
		return []deploytest.ViewStep{create, replace, remove}
	case "3":
		return []deploytest.ViewStep{remove, replace, create}
	}
	return []deploytest.ViewStep{viewStep(apitype.OpUpdate, &old, &view)}
}

func viewStep(op apitype.OpType, old, view *plugin.View) deploytest.ViewStep {
	return deploytest.ViewStep{Op: op, Status: resource.StatusOK, Old: viewState(old), New: viewState(view)}
}

func viewState(view *plugin.View) *deploytest.ViewStepState {
	if view == nil {
		return nil
	}
	return &deploytest.ViewStepState{
		Type: view.Type, Name: view.Name, Inputs: view.Inputs, Outputs: view.Outputs,
	}
}
