// Lists what packages of Go declare, one fact per line, sorted: functions, methods, types, fields with their tags, constants.
//
//	go run main.go FOLDER
//
// Packages are named by their folder below FOLDER. Types of other packages are named by the path that they are imported from,
// so that it makes no difference what a file calls them. Helpers (`internal`, `utilities`), tests and parameters' names do not
// count.
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
)

type lister struct {
	where   string
	imports map[string]string
	facts   map[string]bool
}

func main() {
	root := os.Args[1]
	facts := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		folder, _ := filepath.Rel(root, filepath.Dir(path))
		if entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || isHelper(folder) {
			return nil
		}
		return list(path, folder, facts)
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	lines := make([]string, 0, len(facts))
	for fact := range facts {
		lines = append(lines, fact)
	}
	sort.Strings(lines)
	for _, line := range lines {
		fmt.Println(line)
	}
}

func isHelper(folder string) bool {
	last := filepath.Base(folder)
	return last == "internal" || last == "utilities"
}

func list(path, folder string, facts map[string]bool) error {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		return err
	}
	imports := map[string]string{}
	for _, spec := range file.Imports {
		from, _ := strconv.Unquote(spec.Path.Value)
		steps := strings.Split(from, "/")
		name := strings.ReplaceAll(steps[len(steps)-1], "-", "")
		if spec.Name != nil {
			name = spec.Name.Name
		}
		imports[name] = from
	}
	one := &lister{where: folder, imports: imports, facts: facts}
	for _, declaration := range file.Decls {
		one.declaration(declaration)
	}
	return nil
}

func (l *lister) add(format string, args ...interface{}) {
	l.facts[l.where+" "+fmt.Sprintf(format, args...)] = true
}

func (l *lister) declaration(declaration ast.Decl) {
	switch it := declaration.(type) {
	case *ast.FuncDecl:
		if it.Name.Name == "init" {
			return
		}
		name := it.Name.Name
		if it.Recv != nil {
			name = "(" + l.text(it.Recv.List[0].Type) + ") " + name
		}
		l.add("func %s%s", name, l.signature(it.Type))
	case *ast.GenDecl:
		for _, spec := range it.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				l.typeSpec(spec)
			case *ast.ValueSpec:
				for index, name := range spec.Names {
					if it.Tok == token.CONST && ast.IsExported(name.Name) {
						l.add("const %s = %s", name.Name, l.text(spec.Values[index]))
					}
				}
			}
		}
	}
}

func (l *lister) typeSpec(spec *ast.TypeSpec) {
	name := spec.Name.Name
	switch ty := spec.Type.(type) {
	case *ast.StructType:
		l.add("type %s struct", name)
		for _, field := range ty.Fields.List {
			tag := ""
			if field.Tag != nil {
				tag, _ = strconv.Unquote(field.Tag.Value)
			}
			if len(field.Names) == 0 {
				l.add("base %s: %s", name, l.text(field.Type))
			}
			for _, it := range field.Names {
				l.add("field %s.%s %s %s", name, it.Name, l.text(field.Type), tag)
			}
		}
	case *ast.InterfaceType:
		l.add("type %s interface", name)
		for _, method := range ty.Methods.List {
			if len(method.Names) == 0 {
				l.add("base %s: %s", name, l.text(method.Type))
			}
			for _, it := range method.Names {
				l.add("method %s.%s%s", name, it.Name, l.signature(method.Type.(*ast.FuncType)))
			}
		}
	default:
		l.add("type %s %s", name, l.text(spec.Type))
	}
}

func (l *lister) signature(ty *ast.FuncType) string {
	results := ""
	if ty.Results != nil {
		results = " (" + l.types(ty.Results) + ")"
	}
	return "(" + l.types(ty.Params) + ")" + results
}

func (l *lister) types(fields *ast.FieldList) string {
	var types []string
	for _, field := range fields.List {
		for count := max(1, len(field.Names)); count > 0; count-- {
			types = append(types, l.text(field.Type))
		}
	}
	return strings.Join(types, ", ")
}

func (l *lister) text(node ast.Expr) string {
	switch it := node.(type) {
	case *ast.Ident:
		return it.Name
	case *ast.BasicLit:
		return it.Value
	case *ast.SelectorExpr:
		from := l.text(it.X)
		if path, ok := l.imports[from]; ok {
			from = path
		}
		return from + "." + it.Sel.Name
	case *ast.StarExpr:
		return "*" + l.text(it.X)
	case *ast.ArrayType:
		return "[]" + l.text(it.Elt)
	case *ast.MapType:
		return "map[" + l.text(it.Key) + "]" + l.text(it.Value)
	case *ast.Ellipsis:
		return "..." + l.text(it.Elt)
	case *ast.CallExpr:
		return l.text(it.Fun) + "(" + l.text(it.Args[0]) + ")"
	case *ast.UnaryExpr:
		return it.Op.String() + l.text(it.X)
	case *ast.IndexExpr:
		return l.text(it.X) + "[" + l.text(it.Index) + "]"
	case *ast.IndexListExpr:
		var words []string
		for _, index := range it.Indices {
			words = append(words, l.text(index))
		}
		return l.text(it.X) + "[" + strings.Join(words, ", ") + "]"
	case *ast.InterfaceType:
		return "interface{}"
	case *ast.FuncType:
		return "func" + l.signature(it)
	default:
		return fmt.Sprintf("%T", node)
	}
}
