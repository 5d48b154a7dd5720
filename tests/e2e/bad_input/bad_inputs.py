"""What is wrong with programs, language by language, and what has to be said of it."""

from dataclasses import dataclass, field
from pathlib import Path

TITLES = {"python": "Python", "nodejs": "Node.js", "typescript": "TypeScript", "go": "Go", "java": "Java", "yaml": "YAML",
          "rust": "Rust", "dotnet": ".NET"}

# The kinds, in the order of the table.
KINDS = {
    "entry": "No program",
    "main": "`main` that names nothing",
    "syntax": "A syntax error",
    "unknown": "An unknown runtime option",
    "type": "An option of the wrong type",
    "value": "An option with a bad value",
    "dependency": "A missing dependency",
    "sdk": "No SDK",
    "old": "A very old SDK",
    "bytes": "Output that is no UTF-8",
    "long": "A line of 10 MB",
    "tool": "A missing tool",
}

# What a kind comes to.
FAILS, WARNS, RUNS = "an error", "a warning", "runs"


@dataclass
class Case:
    """One program of one language with one thing wrong."""

    language: str
    kind: str
    says: tuple
    files: dict = field(default_factory=dict)
    options: str = ""
    main: str = ""
    result: str = FAILS
    # Adds to the project what belongs to it beside files, or takes something away.
    prepare: str = ""
    # What stands in the table beside the result.
    note: str = ""


LINE = 10_000_000
GO_MAIN = 'package main\n\nimport "github.com/pulumi/pulumi/sdk/v3/go/pulumi"\n\nfunc main() {\n%s' \
          '\tpulumi.Run(func(ctx *pulumi.Context) error { return nil })\n}\n'
JAVA_MAIN = 'package prog;\n\nimport com.pulumi.Pulumi;\n\npublic class App {\n    public static void main(String[] args) {\n' \
            '%s        Pulumi.run(ctx -> {});\n    }\n}\n'
RUST_MAIN = "fn main() {\n%s}\n"
JAVA_FILE = "src/main/java/prog/App.java"
OPTION = "the runtime option `{}` in Pulumi.yaml"
UNKNOWN = OPTION + " means nothing for {} programs and is ignored; did you mean `{}`?"
REPLACED = "before \ufffd\ufffd after"
LONG = ("x END",)


def strange(language, wrong, meant, runtime=None):
    """An option whose name is misspelt."""
    return Case(language, "unknown", (UNKNOWN.format(wrong, runtime or language, meant),), options=f"{wrong}: x", result=WARNS)


def no_main(language):
    return Case(language, "main", ("could not find `nowhere`, which the project file names as `main`",), main="nowhere")


def no_tool(language, tool, *says):
    return Case(language, "tool", (f"could not find `{tool}` on the PATH", *says), prepare="without_tools")


PYTHON = [
    Case("python", "entry", ("unable to find main python program", "__main__.py'; write it, or"), prepare="empty"),
    no_main("python"),
    Case("python", "syntax", ("SyntaxError", '__main__.py", line 2'), {"__main__.py": "import pulumi\ndef broken(:\n"}),
    strange("python", "virtualenvv", "virtualenv"),
    Case("python", "type", ("unknown value 3 of " + OPTION.format("virtualenv"), "it can be text"), options="virtualenv: 3"),
    Case("python", "value", ('unknown value "conda" of ' + OPTION.format("toolchain"), "pip, poetry or uv"), options="toolchain: conda"),
    Case("python", "dependency", ("ModuleNotFoundError: No module named 'nothere'", '__main__.py", line 2', "list that in requirements.txt",
                                  "`plumb install`"), {"__main__.py": "import pulumi\nimport nothere\n"}),
    Case("python", "sdk", ("the Pulumi SDK has not been installed", "pip install"), prepare="bare_python"),
    Case("python", "old", ("The Pulumi SDK is installed in version 2.25.2", 'pip install --upgrade "pulumi>=3.0.0"'),
         prepare="old_python", note="2.25"),
    Case("python", "bytes", (REPLACED,), {"__main__.py": "import sys\nsys.stdout.buffer.write(b'before \\xff\\xfe after\\n')\n"}, result=RUNS),
    Case("python", "long", LONG, {"__main__.py": f"print('x' * {LINE} + ' END')\n"}, result=RUNS),
    Case("python", "tool", ("could not find a Python interpreter", "install Python 3"), prepare="without_tools"),
]

NODE = [
    Case("nodejs", "entry", ("index.js) does not exist",), prepare="empty"),
    Case("nodejs", "main", ("no such file or directory", "nowhere.js"), main="nowhere.js"),
    Case("nodejs", "syntax", ("SyntaxError", "index.js:1"), {"index.js": "const broken = ;\n"}),
    strange("nodejs", "typscript", "typescript"),
    Case("nodejs", "type", ("unknown value 3 of " + OPTION.format("typescript"), "true or false"), options="typescript: 3"),
    Case("nodejs", "value", ('unknown value "bower" of ' + OPTION.format("packagemanager"), "npm, yarn, pnpm or bun"),
         options="packagemanager: bower"),
    Case("nodejs", "dependency", ("Cannot find module 'nothere'", "index.js"), {"index.js": "require('nothere');\n"}),
    Case("nodejs", "sdk", ("could not find the module @pulumi/pulumi/cmd/run from", "`plumb install`"), prepare="bare_node"),
    Case("nodejs", "old", ("the installed version 1.14.1 of @pulumi/pulumi is too old", "npm install @pulumi/pulumi@latest"),
         prepare="old_node", note="1.14"),
    Case("nodejs", "bytes", (REPLACED,), {
        "index.js": "process.stdout.write(Buffer.from('before \\xff\\xfe after\\n', 'latin1'));\n"}, result=RUNS),
    Case("nodejs", "long", LONG, {"index.js": f"console.log('x'.repeat({LINE}) + ' END');\n"}, result=RUNS),
    no_tool("nodejs", "node", "install Node.js"),
]

TYPESCRIPT = [
    Case("typescript", "entry", ("does not exist",), prepare="empty"),
    Case("typescript", "main", ("no such file or directory", "nowhere.ts"), main="nowhere.ts"),
    Case("typescript", "syntax", ("error TS1109", "index.ts"), {"index.ts": "const broken = ;\n"}),
    strange("typescript", "tsconfg", "tsconfig", "nodejs"),
    Case("typescript", "type", ("unknown value 3 of " + OPTION.format("tsconfig"), "it can be text"), options="tsconfig: 3"),
    Case("typescript", "value", ("nowhere.json",), {"index.ts": "export const a = 1;\n"}, options="tsconfig: nowhere.json"),
    Case("typescript", "dependency", ("Cannot find module 'nothere'", "index.ts"), {
        "index.ts": "import * as nothere from 'nothere';\nexport const a = nothere;\n"}),
]

GO = [
    Case("go", "entry", ("could not find a file that ends in .go in", "there is no program to build there"), prepare="empty"),
    no_main("go"),
    Case("go", "syntax", ("syntax error", "main.go:6"), {"main.go": GO_MAIN % "\tbroken( }\n"}),
    strange("go", "buildTraget", "buildTarget"),
    Case("go", "type", (OPTION.format("binary") + " has to be text, but it is 3",), options="binary: 3"),
    Case("go", "value", ('could not find the program "nowhere"', "build it first, or remove the option"), options="binary: nowhere"),
    Case("go", "dependency", ("main.go:3:8: no required module provides package example.com/nothere", "go get example.com/nothere"), {
        "main.go": 'package main\n\nimport "example.com/nothere"\n\nfunc main() { nothere.Do() }\n'}),
    Case("go", "sdk", ("no required module provides package github.com/pulumi/pulumi/sdk/v3", "go get github.com/pulumi/pulumi/sdk/v3"),
         prepare="bare_go"),
    Case("go", "old", (), prepare="old_go", result=RUNS, note="1.14"),
    Case("go", "bytes", (REPLACED,), {"main.go": GO_MAIN.replace("import ", 'import "os"\nimport ', 1)
                                      % '\tos.Stdout.Write([]byte("before \\xff\\xfe after\\n"))\n'}, result=RUNS),
    Case("go", "long", LONG, {"main.go": GO_MAIN.replace("import ", 'import "fmt"\nimport "strings"\nimport ', 1)
                              % f'\tfmt.Println(strings.Repeat("x", {LINE}) + " END")\n'}, result=RUNS),
    no_tool("go", "go", "install Go from"),
]

JAVA = [
    Case("java", "entry", ("could not find a pom.xml, a settings.gradle",), prepare="empty"),
    no_main("java"),
    Case("java", "syntax", ("COMPILATION ERROR", "App.java:[7"), {JAVA_FILE: JAVA_MAIN % "        broken(;\n"}),
    strange("java", "use-exector", "use-executor"),
    Case("java", "type", (OPTION.format("binary") + " has to be text, but it is 3",), options="binary: 3"),
    Case("java", "value", ('unknown value "ant" of ' + OPTION.format("use-executor"), "maven, gradle, jbang or sbt"), options="use-executor: ant"),
    Case("java", "dependency", ("package org.nothere does not exist", "App.java:[7"), {
        JAVA_FILE: JAVA_MAIN % "        org.nothere.Thing.work();\n"}),
    Case("java", "sdk", ("package com.pulumi does not exist", "App.java:[3"), prepare="bare_java"),
    Case("java", "old", (), prepare="old_java", result=RUNS, note="0.1.0, the first"),
    Case("java", "bytes", (REPLACED,), {JAVA_FILE: JAVA_MAIN % (
        '        System.out.writeBytes("before \\u00ff\\u00fe after\\n".getBytes(java.nio.charset.StandardCharsets.ISO_8859_1));\n')},
         result=RUNS),
    Case("java", "long", LONG, {JAVA_FILE: JAVA_MAIN % f'        System.out.println("x".repeat({LINE}) + " END");\n'}, result=RUNS),
    no_tool("java", "mvn", "install Maven"),
]

RUST_MANIFEST = '[package]\nname = "prog"\nversion = "0.1.0"\nedition = "2021"\n'
RUST_FILE = "src/main.rs"
RUST = [
    Case("rust", "entry", ("could not find a Cargo.toml in",), prepare="empty"),
    no_main("rust"),
    Case("rust", "syntax", ("error: ", "src/main.rs:2"), {RUST_FILE: RUST_MAIN % "    broken(;\n"}),
    strange("rust", "feature", "features"),
    Case("rust", "type", (OPTION.format("features") + " has to be text, but it is",), options="features: [a]"),
    Case("rust", "value", ("profile `nowhere` is not defined",), options="profile: nowhere"),
    Case("rust", "dependency", ("nothere", "src/main.rs:2"), {RUST_FILE: RUST_MAIN % "    nothere::work();\n"}),
    Case("rust", "bytes", (REPLACED,), {RUST_FILE: RUST_MAIN % (
        '    use std::io::Write;\n    std::io::stdout().write_all(b"before \\xff\\xfe after\\n").unwrap();\n')}, result=RUNS),
    Case("rust", "long", LONG, {RUST_FILE: RUST_MAIN % f'    println!("{{}} END", "x".repeat({LINE}));\n'}, result=RUNS),
    no_tool("rust", "cargo", "install Rust from"),
]

DOTNET = [
    no_main("dotnet"),
    Case("dotnet", "syntax", ("could not compile the program in", "Program.cs(3,9): error CS1002"), {"broken": ""}),
    strange("dotnet", "binray", "binary"),
    Case("dotnet", "type", (OPTION.format("binary") + " has to be text, but it is 3",), options="binary: 3"),
    Case("dotnet", "value", ('could not find the program "nowhere"', "build it first, or remove the option"), options="binary: nowhere"),
    no_tool("dotnet", "dotnet", "install the .NET SDK"),
]

YAML = [
    no_main("yaml"),
    Case("yaml", "syntax", ("Pulumi.yaml:3",), prepare="broken_yaml"),
    strange("yaml", "compilr", "compiler"),
    Case("yaml", "type", (OPTION.format("compiler") + " has to be text", "but it is 3"), options="compiler: 3"),
    Case("yaml", "value", ("could not run the compiler nowhere",), options="compiler: nowhere"),
    Case("yaml", "dependency", ("nothere",), prepare="strange_type"),
    Case("yaml", "bytes", ("UTF-8",), prepare="binary_yaml"),
]

CASES = PYTHON + NODE + TYPESCRIPT + GO + JAVA + YAML + RUST + DOTNET


def section():
    """The part of the document on what is wrong."""
    rows, notes = [], []
    for kind, title in KINDS.items():
        cells = []
        for language in TITLES:
            case = next((one for one in CASES if (one.language, one.kind) == (language, kind)), None)
            cells.append("" if case is None else case.result + (f" ({case.note})" if case.note else ""))
        rows.append(f"| {title} | " + " | ".join(cells) + " |")
    head = Path(__file__).with_name("head.md").read_text()
    table = "| What is wrong | " + " | ".join(TITLES.values()) + " |\n|---" + "|---" * len(TITLES) + "|\n"
    return f"{head}\n{table}" + "\n".join(rows) + "\n"
