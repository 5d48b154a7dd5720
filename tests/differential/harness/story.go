package main

import "encoding/json"

// operation is one operation on a stack, with everything that it starts from.
type operation struct {
	Verb    string            `json:"verb"`
	Preview bool              `json:"preview"`
	Flags   flags             `json:"flags"`
	Config  map[string]string `json:"config"`
	State   json.RawMessage   `json:"state"`
	Cloud   cloudState        `json:"cloud"`
	Faults  []fault           `json:"faults"`
	Program []res             `json:"program"`
	Imports []adoption        `json:"imports"`
	// Whether there is a program at all.
	Runs bool `json:"runs"`
}

type flags struct {
	Refresh           bool     `json:"refresh"`
	RunProgram        bool     `json:"runProgram"`
	ContinueOnError   bool     `json:"continueOnError"`
	IgnoreProtect     bool     `json:"ignoreProtect"`
	LegacyDiff        bool     `json:"legacyDiff"`
	LegacyRefreshDiff bool     `json:"legacyRefreshDiff"`
	Targets           []string `json:"targets"`
	TargetDependents  bool     `json:"targetDependents"`
	Excludes          []string `json:"excludes"`
	ExcludeDependents bool     `json:"excludeDependents"`
	Replace           []string `json:"replace"`
}

// cloudState has the objects by id, and how many objects of each name there have been.
type cloudState struct {
	Objects map[string]any `json:"objects"`
	Numbers map[string]int `json:"numbers"`
}

// fault is a call that goes wrong.
type fault struct {
	Call string `json:"call"`
	Name string `json:"name"`
	Kind string `json:"kind"`
}

// adoption is an object to import.
type adoption struct {
	Name string `json:"name"`
	ID   string `json:"id"`
	Type string `json:"type"`
}

// prop is the value of a property: text, or an output of another resource.
type prop struct {
	Secret bool   `json:"secret"`
	Text   string `json:"text"`
	From   string `json:"from"`
	Key    string `json:"key"`
}

type alias struct {
	URN    string `json:"urn"`
	Name   string `json:"name"`
	Type   string `json:"type"`
	Parent string `json:"parent"`
	// Whether it had no parent.
	NoParent bool `json:"noParent"`
}

// res is a resource of the program; others are named by their names in the program.
type res struct {
	Name    string `json:"name"`
	Called  string `json:"called"`
	Type    string `json:"type"`
	Package string `json:"package"`
	Custom  bool   `json:"custom"`
	Read    string `json:"read"`

	Properties map[string]prop `json:"properties"`
	Outputs    map[string]prop `json:"outputs"`

	Parent              string   `json:"parent"`
	DependsOn           []string `json:"dependsOn"`
	Loose               bool     `json:"loose"`
	Provider            string   `json:"provider"`
	Providers           []string `json:"providers"`
	Aliases             []alias  `json:"aliases"`
	Protect             *bool    `json:"protect"`
	Retain              *bool    `json:"retain"`
	DeletedWith         string   `json:"deletedWith"`
	ReplaceWith         []string `json:"replaceWith"`
	DeleteBeforeReplace *bool    `json:"deleteBeforeReplace"`
	IgnoreChanges       []string `json:"ignoreChanges"`
	ReplaceOnChanges    []string `json:"replaceOnChanges"`
	HideDiffs           []string `json:"hideDiffs"`
	SecretOutputs       []string `json:"secretOutputs"`
	Import              string   `json:"import"`
	Trigger             *prop    `json:"trigger"`
	Version             string   `json:"version"`
	Timeout             float64  `json:"timeout"`
}
