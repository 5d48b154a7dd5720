package main

import (
	"fmt"
	"sort"
	"strings"
	"sync"

	"github.com/pulumi/pulumi/pkg/v3/resource/plugin"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
)

// notReady is what initialization errors say.
const notReady = "not ready"

// cloud is the pretend cloud of the simulation, rule for rule: crates/plumb-simulate/src/cloud.rs says what each property
// has it do.
type cloud struct {
	lock    sync.Mutex
	objects map[string]resource.PropertyMap
	numbers map[string]int
	faults  []fault
	tried   map[string]bool
	// interrupt is what the user does while a call hangs.
	interrupt func()
}

func newCloud(state cloudState, faults []fault) *cloud {
	c := &cloud{
		objects: map[string]resource.PropertyMap{},
		numbers: map[string]int{},
		faults:  faults,
		tried:   map[string]bool{},
	}
	for id, object := range state.Objects {
		c.objects[id] = mapFromShown(object)
	}
	for name, number := range state.Numbers {
		c.numbers[name] = number
	}
	return c
}

// planned tells how a call goes wrong, whenever it is made.
func (c *cloud) planned(call, name string) string {
	for _, fault := range c.faults {
		if fault.Call == call && fault.Name == name {
			return fault.Kind
		}
	}
	return ""
}

// fault tells how a call goes wrong, if it does.
func (c *cloud) fault(call string, urn resource.URN, id string) string {
	for _, fault := range c.faults {
		if fault.Call != call || fault.Name != nameOf(urn) {
			continue
		}
		if fault.Kind == "hang" {
			c.interrupt()
		}
		if fault.Kind != "once" {
			return fault.Kind
		}
		key := call + " " + string(urn) + " " + id
		if c.tried[key] {
			return ""
		}
		c.tried[key] = true
		return "clean"
	}
	return ""
}

func is(kind string, kinds ...string) bool {
	for _, other := range kinds {
		if kind == other {
			return true
		}
	}
	return false
}

func failed(call string, urn resource.URN) error {
	return fmt.Errorf("%s of %s failed", call, nameOf(urn))
}

func outputsOf(id string, inputs resource.PropertyMap) resource.PropertyMap {
	outputs := plain(inputs)
	outputs["oid"] = unknown()
	if id != "" {
		outputs["oid"] = resource.NewProperty(id)
	}
	return outputs
}

// known drops what is not known, where unknowns are not allowed.
func known(inputs resource.PropertyMap, allowed bool) resource.PropertyMap {
	result := resource.PropertyMap{}
	for key, value := range inputs {
		if allowed || !value.ContainsUnknowns() {
			result[key] = value
		}
	}
	return result
}

func (c *cloud) check(
	urn resource.URN, naming *plugin.AutonamingOptions, olds, news resource.PropertyMap, unknowns bool,
) (resource.PropertyMap, []plugin.CheckFailure) {
	c.lock.Lock()
	defer c.lock.Unlock()
	refuse := func(what string) (resource.PropertyMap, []plugin.CheckFailure) {
		return nil, []plugin.CheckFailure{{Property: "v", Reason: failed(what, urn).Error()}}
	}
	if c.fault("check", urn, "") != "" {
		return refuse("check")
	}
	inputs := known(news, unknowns)
	_, named := inputs["named"]
	_, given := inputs["auto"]
	if !named || given {
		return inputs, nil
	}
	kept, has := olds["auto"]
	switch {
	case has:
		inputs["auto"] = kept
	case naming != nil && naming.Mode == plugin.AutonamingModeEnforce:
		inputs["auto"] = resource.NewProperty(naming.ProposedName)
	case naming != nil && naming.Mode == plugin.AutonamingModeDisabled:
		return refuse("naming")
	default:
		inputs["auto"] = ownName(inputs)
	}
	return inputs, nil
}

func ownName(inputs resource.PropertyMap) resource.PropertyValue {
	value := revealed(inputs["v"])
	if value.ContainsUnknowns() {
		return unknown()
	}
	text := "none"
	if value.IsString() {
		text = value.StringValue()
	}
	return resource.NewProperty("auto-" + text)
}

func (c *cloud) diff(urn resource.URN, olds, news resource.PropertyMap) (plugin.DiffResult, error) {
	c.lock.Lock()
	defer c.lock.Unlock()
	if c.fault("diff", urn, "") != "" {
		return plugin.DiffResult{}, failed("diff", urn)
	}
	_, dbr := news["dbr"]
	result := plugin.DiffResult{Changes: plugin.DiffNone, DeleteBeforeReplace: dbr}
	if _, vague := news["vague"]; vague {
		result.Changes = plugin.DiffUnknown
		return result, nil
	}
	result.ChangedKeys = changedKeys(olds, news)
	if _, always := news["always"]; always || len(result.ChangedKeys) > 0 {
		result.Changes = plugin.DiffSome
	}
	if _, detail := news["detail"]; detail {
		result.DetailedDiff = details(result.ChangedKeys, olds, news)
		return result, nil
	}
	for _, key := range result.ChangedKeys {
		if strings.HasPrefix(string(key), "r") {
			result.ReplaceKeys = append(result.ReplaceKeys, key)
		}
	}
	return result, nil
}

func details(keys []resource.PropertyKey, olds, news resource.PropertyMap) map[string]plugin.PropertyDiff {
	result := map[string]plugin.PropertyDiff{}
	for _, key := range keys {
		detail := plugin.PropertyDiff{Kind: plugin.DiffUpdate, InputDiff: true}
		if _, had := olds[key]; !had {
			detail.Kind = plugin.DiffAdd
		} else if _, has := news[key]; !has {
			detail.Kind = plugin.DiffDelete
		}
		if strings.HasPrefix(string(key), "r") {
			detail.Kind = detail.Kind.AsReplace()
		}
		result[string(key)] = detail
	}
	return result
}

func changedKeys(olds, news resource.PropertyMap) []resource.PropertyKey {
	all := map[resource.PropertyKey]bool{}
	for key := range olds {
		all[key] = true
	}
	for key := range news {
		all[key] = true
	}
	var changed []resource.PropertyKey
	for key := range all {
		old, had := olds[key]
		value, has := news[key]
		same := had && has && revealed(old).DeepEquals(revealed(value))
		if !same && !strings.HasPrefix(string(key), "q") {
			changed = append(changed, key)
		}
	}
	sort.Slice(changed, func(i, j int) bool { return changed[i] < changed[j] })
	return changed
}

// made is what a call that changes something tells of an object.
type made struct {
	id      string
	outputs resource.PropertyMap
	status  resource.Status
	err     error
}

func (c *cloud) create(urn resource.URN, inputs resource.PropertyMap, preview bool) made {
	c.lock.Lock()
	defer c.lock.Unlock()
	kind := c.fault("create", urn, "")
	if is(kind, "clean", "hang", "told") {
		return made{status: resource.StatusOK, err: failed("create", urn)}
	}
	if preview {
		return made{outputs: outputsOf("", inputs), status: resource.StatusOK}
	}
	name := nameOf(urn)
	c.numbers[name]++
	id := fmt.Sprintf("%s-%d", name, c.numbers[name])
	c.objects[id] = inputs
	return c.ended(kind, "create", urn, id, outputsOf(id, inputs))
}

func (c *cloud) update(urn resource.URN, id string, inputs resource.PropertyMap, preview bool) made {
	c.lock.Lock()
	defer c.lock.Unlock()
	kind := c.fault("update", urn, id)
	if is(kind, "clean", "hang", "told") {
		return made{status: resource.StatusOK, err: failed("update", urn)}
	}
	outputs := outputsOf(id, inputs)
	if preview {
		return made{id: id, outputs: outputs, status: resource.StatusOK}
	}
	if _, there := c.objects[id]; !there {
		return made{status: resource.StatusOK, err: failed("update", urn)}
	}
	c.objects[id] = inputs
	return c.ended(kind, "update", urn, id, outputs)
}

func (c *cloud) ended(kind, call string, urn resource.URN, id string, outputs resource.PropertyMap) made {
	switch kind {
	case "partial":
		err := &plugin.InitError{Reasons: []string{notReady}}
		return made{id: id, outputs: outputs, status: resource.StatusPartialFailure, err: err}
	case "unknown":
		return made{status: resource.StatusUnknown, err: failed(call, urn)}
	}
	return made{id: id, outputs: outputs, status: resource.StatusOK}
}

func (c *cloud) delete(urn resource.URN, id string) (resource.Status, error) {
	c.lock.Lock()
	defer c.lock.Unlock()
	kind := c.fault("delete", urn, id)
	if is(kind, "clean", "hang", "partial", "told") {
		return resource.StatusOK, failed("delete", urn)
	}
	delete(c.objects, id)
	if kind == "unknown" {
		return resource.StatusUnknown, failed("delete", urn)
	}
	return resource.StatusOK, nil
}

// object is what exists under an id.
func (c *cloud) object(id string) (resource.PropertyMap, bool) {
	c.lock.Lock()
	defer c.lock.Unlock()
	object, isThere := c.objects[id]
	return object, isThere
}

func (c *cloud) read(urn resource.URN, id string) (plugin.ReadResult, resource.Status, error) {
	c.lock.Lock()
	defer c.lock.Unlock()
	kind := c.fault("read", urn, "")
	if is(kind, "clean", "hang", "unknown", "told") {
		return plugin.ReadResult{}, resource.StatusOK, failed("read", urn)
	}
	inputs, there := c.objects[id]
	if !there {
		return plugin.ReadResult{}, resource.StatusOK, nil
	}
	_, fresh := inputs["fresh"]
	result := plugin.ReadResult{
		ID:                  resource.ID(id),
		Inputs:              inputs,
		Outputs:             outputsOf(id, inputs),
		RefreshBeforeUpdate: fresh,
	}
	if kind == "partial" {
		return result, resource.StatusPartialFailure, &plugin.InitError{Reasons: []string{notReady}}
	}
	if _, blind := inputs["blind"]; blind {
		result.Inputs = nil
	}
	return result, resource.StatusOK, nil
}
