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
	// Whether the program names its hooks, and the functions that everything passes through.
	Hooks         bool     `json:"hooks"`
	Transforms    []string `json:"transforms"`
	AskTransforms []string `json:"askTransforms"`
	Packages      []pack   `json:"packages"`
	// Whether there is a program at all.
	Runs bool `json:"runs"`
	// After how many things the program fails, if it does.
	FailsAfter *int `json:"failsAfter"`
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
	Naming            string   `json:"naming"`
	Policies          []string `json:"policies"`
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

// prop is the value of a property: text, an output of another resource, or part of what a method answers.
type prop struct {
	Secret bool   `json:"secret"`
	Text   string `json:"text"`
	From   string `json:"from"`
	Answer string `json:"answer"`
	Key    string `json:"key"`
}

// pack is a package that the program registers.
type pack struct {
	Name      string     `json:"name"`
	Plugin    string     `json:"plugin"`
	Version   string     `json:"version"`
	Parameter *parameter `json:"parameter"`
	Extension *parameter `json:"extension"`
}

// parameter is what makes a plugin serve something else, or more.
type parameter struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Value   string `json:"value"`
}

// ask is a call of a function of a provider.
type ask struct {
	Number   int      `json:"number"`
	Package  string   `json:"package"`
	Needs    []string `json:"needs"`
	Provider string   `json:"provider"`
}

// method is a call of a method of a resource.
type method struct {
	Name      string          `json:"name"`
	Token     string          `json:"token"`
	Of        string          `json:"of"`
	Arguments map[string]prop `json:"arguments"`
	Wrapped   bool            `json:"wrapped"`
	Provider  string          `json:"provider"`
	Version   string          `json:"version"`
	// The registered package of the resource that it belongs to.
	Package string `json:"package"`
}

type alias struct {
	URN    string `json:"urn"`
	Name   string `json:"name"`
	Type   string `json:"type"`
	Parent string `json:"parent"`
	// Whether it had no parent.
	NoParent bool `json:"noParent"`
}

// res is a resource of the program, or something that the program calls; others are named by their names in the program.
type res struct {
	Ask    *ask    `json:"ask"`
	Method *method `json:"method"`

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

	Hooks      map[string][]string `json:"hooks"`
	Transforms []string            `json:"transforms"`
	Remote     bool                `json:"remote"`
	// The registered package that it is of.
	Registered string `json:"registered"`
	// The method that registers it while it is called.
	By string `json:"by"`
}
