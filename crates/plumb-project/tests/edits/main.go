// Writes the golden edits of settings files: documents, edits, and what the Go YAML library makes of them.
//
//	go run . documents ../data/yaml/edits.json
//
// Every document of the folder is read into a tree of nodes; each edit gives one setting a new value, which is laid over
// the old one node by node, and the tree is written with two spaces of indentation.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"gopkg.in/yaml.v3"
)

// An edit of one setting: a path below `config`, and the value that goes there, or none to take out what is there.
type edit struct {
	Path   []any `json:"path"`
	Value  any   `json:"value,omitempty"`
	Remove bool  `json:"remove,omitempty"`
}

type golden struct {
	Document string `json:"document"`
	Input    string `json:"input"`
	Edit     edit   `json:"edit"`
	Output   string `json:"output"`
}

func set(value any, path ...any) edit { return edit{Path: path, Value: value} }
func rm(path ...any) edit             { return edit{Path: path, Remove: true} }

var secret = map[string]any{"secure": "v1:bm9uY2U=:Y2lwaGVydGV4dA=="}

// What is done to every document.
var general = []edit{
	set("new", "proj:added"),
	set("6", "proj:digits"),
	set("line one\nline two\n", "proj:lines"),
	set("späte Größe ☃ 😀", "proj:unicode"),
	set(strings.Repeat("long words that go on ", 12)+"end", "proj:long"),
	set("", "proj:empty"),
	set(secret, "proj:hidden"),
	set(map[string]any{"b": true, "a": []any{1, "x"}}, "proj:object"),
}

// What is done to the documents that have what it takes.
var special = map[string][]edit{
	"plain":       {set("changed", "proj:name"), rm("proj:name"), rm("proj:last"), set("5", "proj:count"), set(secret, "proj:name"), set("true", "proj:on")},
	"comments":    {set("changed", "proj:first"), set("changed", "proj:second"), rm("proj:first"), rm("proj:second"), rm("proj:third"), set(secret, "proj:second")},
	"quotes":      {set("changed", "proj:double"), set("it's", "proj:single"), set("a\"b", "proj:double"), set("two\nlines", "proj:single"), set("a\n\nb's", "proj:single"), set("two\nlines", "proj:double"), set(" a\n b", "proj:single"), rm("proj:single")},
	"blocks":      {set("one line", "proj:literal"), set("other\nlines\n", "proj:literal"), set("one line", "proj:folded"), set("a b", "proj:kept"), set("a: b # c", "proj:literal"), rm("proj:literal")},
	"flow":        {set(3.0, "proj:list", 1), set("x", "proj:map", "b"), rm("proj:map", "a"), set(4.0, "proj:list", 3), set(map[string]any{"q": "r"}, "proj:map", "deep")},
	"lists":       {set("changed", "proj:flush", 0), set("added", "proj:flush", 2), rm("proj:indented", 0), set("changed", "proj:maps", 1, "name"), set("v", "proj:maps", 0, "more")},
	"nested":      {set("changed", "proj:tree", "branch", "leaf"), set(true, "proj:tree", "branch", "fresh"), rm("proj:tree", "branch", "leaf"), set(7.0, "proj:tree", "other", "deep", "er")},
	"indented":    {set("changed", "proj:tree", "branch", "leaf"), rm("proj:tree", "branch"), set("x", "proj:list", 0)},
	"secrets":     {set(map[string]any{"secure": "v1:b3RoZXI=:dGV4dA=="}, "proj:token"), set("plain", "proj:token"), set(secret, "proj:tree", "password"), rm("proj:token")},
	"unicode":     {set("changed", "proj:größe"), rm("proj:größe"), set("ü", "proj:text")},
	"typed":       {set("6", "proj:int"), set("false", "proj:bool"), set("2.5", "proj:float"), rm("proj:hex")},
	"only-config": {rm("proj:only")},
	"long":        {set("short", "proj:text"), rm("proj:text")},
}

func main() {
	files, err := filepath.Glob(filepath.Join(os.Args[1], "*.yaml"))
	check(err)
	sort.Strings(files)
	var all []golden
	for _, file := range files {
		text, err := os.ReadFile(file)
		check(err)
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		for _, edit := range append(append([]edit{}, special[name]...), general...) {
			all = append(all, golden{name, string(text), edit, edited(text, edit)})
		}
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	check(encoder.Encode(all))
	check(os.WriteFile(os.Args[2], out.Bytes(), 0o644))
	fmt.Printf("%d edits of %d documents\n", len(all), len(files))
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

// edited applies an edit to a document.
func edited(text []byte, edit edit) string {
	var document yaml.Node
	check(yaml.Unmarshal(text, &document))
	if document.Kind == 0 || document.Content[0].Kind != yaml.MappingNode {
		head := document.HeadComment
		if len(document.Content) > 0 {
			head = strings.TrimSpace(head + "\n" + document.Content[0].HeadComment)
		}
		document = yaml.Node{Kind: yaml.DocumentNode, HeadComment: head, Content: []*yaml.Node{{Kind: yaml.MappingNode, Tag: "!!map"}}}
	}
	root := document.Content[0]
	config := member(root, "config")
	if config == nil || config.Kind != yaml.MappingNode {
		config = &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		put(root, "config", config)
	}
	key := edit.Path[0].(string)
	old := member(config, key)
	if edit.Remove && len(edit.Path) == 1 {
		take(config, key)
	} else {
		var before any
		if old != nil {
			check(old.Decode(&before))
		}
		value := changed(before, edit.Path[1:], edit)
		next := tree(value)
		if old == nil {
			put(config, key, next)
		} else {
			*old = *over(old, next)
		}
	}
	if len(config.Content) == 0 {
		take(root, "config")
	}
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	check(encoder.Encode(&document))
	check(encoder.Close())
	return out.String()
}

// changed is a value with something new, or nothing, at a path below it.
func changed(value any, path []any, edit edit) any {
	if len(path) == 0 {
		return edit.Value
	}
	last := len(path) == 1
	switch step := path[0].(type) {
	case string:
		entries, _ := value.(map[string]any)
		if entries == nil {
			entries = map[string]any{}
		}
		if last && edit.Remove {
			delete(entries, step)
		} else {
			entries[step] = changed(entries[step], path[1:], edit)
		}
		return entries
	case int:
		items, _ := value.([]any)
		switch {
		case last && edit.Remove:
			return append(append([]any{}, items[:step]...), items[step+1:]...)
		case step == len(items):
			return append(items, changed(nil, path[1:], edit))
		default:
			items[step] = changed(items[step], path[1:], edit)
			return items
		}
	}
	panic("a path has texts and numbers")
}

// tree is the nodes that a value is written as.
func tree(value any) *yaml.Node {
	text, err := yaml.Marshal(value)
	check(err)
	var document yaml.Node
	check(yaml.Unmarshal(text, &document))
	return document.Content[0]
}

// over lays new nodes over old ones, whose style and comments stay.
func over(old, next *yaml.Node) *yaml.Node {
	if old.Kind != next.Kind {
		return next
	}
	laid := *old
	laid.Tag, laid.Value = next.Tag, next.Value
	switch old.Kind {
	case yaml.SequenceNode:
		laid.Content = nil
		for i, item := range next.Content {
			if i < len(old.Content) {
				item = over(old.Content[i], item)
			}
			laid.Content = append(laid.Content, item)
		}
	case yaml.MappingNode:
		laid.Content = nil
		for i := 0; i < len(old.Content); i += 2 {
			if value := member(next, old.Content[i].Value); value != nil {
				laid.Content = append(laid.Content, old.Content[i], over(old.Content[i+1], value))
			}
		}
		for i := 0; i < len(next.Content); i += 2 {
			if member(old, next.Content[i].Value) == nil {
				laid.Content = append(laid.Content, next.Content[i], next.Content[i+1])
			}
		}
	}
	return &laid
}

func member(mapping *yaml.Node, key string) *yaml.Node {
	for i := 0; i < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			return mapping.Content[i+1]
		}
	}
	return nil
}

func put(mapping *yaml.Node, key string, value *yaml.Node) {
	for i := 0; i < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			mapping.Content[i+1] = value
			return
		}
	}
	mapping.Content = append(mapping.Content, tree(key), value)
}

func take(mapping *yaml.Node, key string) {
	for i := 0; i < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			mapping.Content = append(mapping.Content[:i:i], mapping.Content[i+2:]...)
			return
		}
	}
}
