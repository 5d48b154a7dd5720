// Checks the types of an SDK that uses packages which are not here: what belongs to those is taken as it is written.
//
//	go run main.go EXPORTS FOLDER BASE
//
// EXPORTS lists what the compiler exports of other packages, `path=file` on each line; FOLDER is that of the package that is
// imported as BASE.
package main

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

type checker struct {
	files    *token.FileSet
	folder   string
	base     string
	exports  map[string]string
	compiled types.Importer
	known    map[string]*types.Package
	faults   []string
}

func main() {
	text, err := os.ReadFile(os.Args[1])
	if err != nil {
		fail(err)
	}
	exports := map[string]string{}
	for _, line := range strings.Fields(string(text)) {
		if path, file, ok := strings.Cut(line, "="); ok && file != "" {
			exports[path] = file
		}
	}
	files := token.NewFileSet()
	open := func(path string) (io.ReadCloser, error) {
		return os.Open(exports[path])
	}
	c := &checker{
		files:    files,
		folder:   os.Args[2],
		base:     os.Args[3],
		exports:  exports,
		compiled: importer.ForCompiler(files, "gc", open),
		known:    map[string]*types.Package{},
	}
	err = filepath.WalkDir(c.folder, func(path string, entry os.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		below, _ := filepath.Rel(c.folder, path)
		sources, _ := filepath.Glob(filepath.Join(path, "*.go"))
		if len(sources) > 0 {
			_, err = c.Import(strings.TrimSuffix(c.base+"/"+filepath.ToSlash(below), "/."))
		}
		return err
	})
	if err != nil {
		fail(err)
	}
	if len(c.faults) > 0 {
		fail(strings.Join(c.faults, "\n"))
	}
	fmt.Println(len(c.known), "packages")
}

func fail(what interface{}) {
	fmt.Fprintln(os.Stderr, what)
	os.Exit(1)
}

// Import finds a package: in the SDK, among those that are compiled, or nowhere.
func (c *checker) Import(path string) (*types.Package, error) {
	below, isOwn := strings.CutPrefix(path+"/", c.base+"/")
	if !isOwn {
		if c.exports[path] == "" {
			return nil, fmt.Errorf("it is not here")
		}
		return c.compiled.Import(path)
	}
	if known := c.known[path]; known != nil {
		return known, nil
	}
	sources, _ := filepath.Glob(filepath.Join(c.folder, below, "*.go"))
	sort.Strings(sources)
	var parsed []*ast.File
	for _, source := range sources {
		file, err := parser.ParseFile(c.files, source, nil, 0)
		if err != nil {
			return nil, err
		}
		parsed = append(parsed, file)
	}
	config := types.Config{Importer: c, Error: c.fault}
	pkg, _ := config.Check(path, c.files, parsed, nil)
	c.known[path] = pkg
	return pkg, nil
}

func (c *checker) fault(err error) {
	if text := err.Error(); !strings.Contains(text, "it is not here") {
		c.faults = append(c.faults, text)
	}
}
