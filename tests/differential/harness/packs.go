package main

import (
	"errors"

	"github.com/pulumi/pulumi/pkg/v3/engine"
	"github.com/pulumi/pulumi/pkg/v3/resource/autonaming"
	"github.com/pulumi/pulumi/pkg/v3/resource/deploy/deploytest"
	"github.com/pulumi/pulumi/pkg/v3/resource/plugin"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/pulumi/pulumi/sdk/v3/go/property"
)

// packsOf names policy packs, which do what crates/plumb-simulate/src/world/packs.rs says of their names.
func packsOf(names []string) []engine.LocalPolicyPack {
	var packs []engine.LocalPolicyPack
	for _, name := range names {
		packs = append(packs, engine.LocalPolicyPack{Name: name, Path: name})
	}
	return packs
}

func isText(properties property.Map, text string) bool {
	value, has := properties.GetOk("v")
	return has && value.IsString() && !value.Secret() && value.AsString() == text
}

func newPack(name string) (plugin.Analyzer, error) {
	if name == "absent" {
		return nil, errors.New("there is no such pack")
	}
	found := func(level apitype.EnforcementLevel) plugin.AnalyzeResponse {
		return plugin.AnalyzeResponse{Diagnostics: []plugin.AnalyzeDiagnostic{{
			PolicyName: "it", PolicyPackName: name, PolicyPackVersion: "1.0.0", Message: "look at that",
			EnforcementLevel: level,
		}}}
	}
	return &deploytest.Analyzer{
		Info: plugin.AnalyzerInfo{Name: name, Version: "1.0.0"},
		RemediateF: func(r plugin.AnalyzerResource) (plugin.RemediateResponse, error) {
			return plugin.RemediateResponse{Remediations: remedies(name, r)}, nil
		},
		AnalyzeF: func(r plugin.AnalyzerResource) (plugin.AnalyzeResponse, error) {
			switch {
			case name == "breaks" && nameOf(r.URN) == "c":
				return plugin.AnalyzeResponse{}, errBrokeIt
			case name == "forbids" && isText(r.Properties, "3"):
				return found(apitype.Mandatory), nil
			case name == "notes":
				return found(apitype.Advisory), nil
			}
			return plugin.AnalyzeResponse{}, nil
		},
		AnalyzeStackF: func([]plugin.AnalyzerStackResource) (plugin.AnalyzeResponse, error) {
			if name == "strict" {
				return found(apitype.Remediate), nil
			}
			return plugin.AnalyzeResponse{}, nil
		},
	}, nil
}

// remedies are those that change something, or fail: SDKs send no others.
func remedies(name string, r plugin.AnalyzerResource) []plugin.Remediation {
	result := plugin.Remediation{PolicyName: "it", PolicyPackName: name, PolicyPackVersion: "1.0.0"}
	switch {
	case name == "remediates" && isText(r.Properties, "2"):
		result.Properties = r.Properties.Set("v", property.New("0"))
	case name == "notes":
		result.Diagnostic = "I would not know how"
	default:
		return nil
	}
	return []plugin.Remediation{result}
}

// namingOf has the rules for names of crates/plumb-simulate/src/world/naming.rs.
func namingOf(rule string) autonaming.Autonamer {
	naming := &autonaming.Global{Providers: map[string]autonaming.Provider{
		"test": {Resources: map[string]autonaming.Autonamer{
			"test:m:Other": &autonaming.Pattern{Pattern: "o-${name}", Enforce: true},
		}},
		"two": {Default: autonaming.Default()},
	}}
	switch rule {
	case "":
		return nil
	case "verbatim":
		naming.Default = autonaming.Verbatim()
	case "pattern":
		naming.Default = &autonaming.Pattern{Pattern: "p-${name}", Enforce: true}
	case "chance":
		naming.Default = &autonaming.Pattern{Pattern: "${name}-${hex(4)}"}
	default:
		naming.Default = autonaming.Disabled()
	}
	return naming
}
