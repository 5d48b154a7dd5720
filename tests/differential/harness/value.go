package main

import (
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
)

const (
	secretKey  = "$secret"
	unknownKey = "$unknown"
)

// plain is a map without secrets.
func plain(props resource.PropertyMap) resource.PropertyMap {
	result := resource.PropertyMap{}
	for key, value := range props {
		result[key] = revealed(value)
	}
	return result
}

func revealed(value resource.PropertyValue) resource.PropertyValue {
	switch {
	case value.IsSecret():
		return revealed(value.SecretValue().Element)
	case value.IsOutput() && value.OutputValue().Known:
		return revealed(value.OutputValue().Element)
	case value.IsObject():
		return resource.NewProperty(plain(value.ObjectValue()))
	case value.IsArray():
		items := []resource.PropertyValue{}
		for _, item := range value.ArrayValue() {
			items = append(items, revealed(item))
		}
		return resource.NewProperty(items)
	}
	return value
}

// remember makes secret what was secret before, as the client of a provider does that knows no secrets.
func remember(news, olds resource.PropertyMap) resource.PropertyMap {
	if news == nil {
		return nil
	}
	result := resource.PropertyMap{}
	for key, value := range news {
		if old, had := olds[key]; had && old.IsSecret() && !value.IsSecret() {
			value = resource.MakeSecret(value)
		}
		result[key] = value
	}
	return result
}

// shownMap is the JSON form of a map that the comparison uses. Nothing and an empty map are the same.
func shownMap(props resource.PropertyMap) any {
	if len(props) == 0 {
		return nil
	}
	result := map[string]any{}
	for key, value := range props {
		result[string(key)] = shown(value)
	}
	return result
}

func shown(value resource.PropertyValue) any {
	switch {
	case value.IsNull():
		return nil
	case value.IsBool():
		return value.BoolValue()
	case value.IsNumber():
		return value.NumberValue()
	case value.IsString():
		return value.StringValue()
	case value.IsSecret():
		return map[string]any{secretKey: shown(value.SecretValue().Element)}
	case value.IsResourceReference():
		it := value.ResourceReferenceValue()
		return map[string]any{"$resource": string(it.URN), "$id": shown(it.ID)}
	case value.IsComputed():
		return map[string]any{unknownKey: true}
	case value.IsOutput():
		return shownOutput(value.OutputValue())
	case value.IsArray():
		items := []any{}
		for _, item := range value.ArrayValue() {
			items = append(items, shown(item))
		}
		return items
	case value.IsObject():
		result := map[string]any{}
		for key, item := range value.ObjectValue() {
			result[string(key)] = shown(item)
		}
		return result
	}
	return "?" + value.String()
}

func shownOutput(output resource.Output) any {
	var inner any = map[string]any{unknownKey: true}
	if output.Known {
		inner = shown(output.Element)
	}
	if output.Secret {
		return map[string]any{secretKey: inner}
	}
	return inner
}

// fromShown reads what shown writes.
func fromShown(value any) resource.PropertyValue {
	switch value := value.(type) {
	case bool:
		return resource.NewProperty(value)
	case float64:
		return resource.NewProperty(value)
	case string:
		return resource.NewProperty(value)
	case []any:
		items := []resource.PropertyValue{}
		for _, item := range value {
			items = append(items, fromShown(item))
		}
		return resource.NewProperty(items)
	case map[string]any:
		if inner, is := value[secretKey]; is {
			return resource.MakeSecret(fromShown(inner))
		}
		if _, is := value[unknownKey]; is {
			return unknown()
		}
		return resource.NewProperty(mapFromShown(value))
	}
	return resource.NewNullProperty()
}

func mapFromShown(value any) resource.PropertyMap {
	result := resource.PropertyMap{}
	if members, is := value.(map[string]any); is {
		for key, item := range members {
			result[resource.PropertyKey(key)] = fromShown(item)
		}
	}
	return result
}

func unknown() resource.PropertyValue {
	return resource.MakeComputed(resource.NewProperty(""))
}

// nameOf is the name in a URN.
func nameOf(urn resource.URN) string {
	parts := strings.Split(string(urn), "::")
	return parts[len(parts)-1]
}
