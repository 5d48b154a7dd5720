"""What a Python package offers, from its sources: every exported name with its kind, and below it parameters, properties,
types, whether they may be left out, and whether there is a word about them.

Types are compared as programs see them: aliases of modules within the package, and spellings that mean the same, are equal.
"""

import ast
import re
from pathlib import Path


def surface(folder):
    """One line per fact about the package in `folder`."""
    folder = Path(folder)
    facts = []
    for file in sorted(folder.rglob("*.py*")):
        if file.suffix not in (".py", ".pyi") or file.name in ("_utilities.py", "setup.py"):
            continue
        path = ".".join(file.relative_to(folder).with_suffix("").parts)
        if file.suffix == ".pyi":
            path += " (stub)"
        tree = ast.parse(file.read_text())
        if file.name in ("__init__.py", "vars.py"):
            facts += index_facts(path, tree)
        if file.name == "__init__.py":
            continue
        facts += module_facts(path, tree)
    return sorted(set(facts))


def index_facts(path, tree):
    """What an index takes in, whatever the order."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
            yield f"{path}: everything of {'.' * node.level}{node.module}"
        elif isinstance(node, ast.ImportFrom) and node.module is None and node.names[0].name == "outputs":
            if path.endswith("__init__"):
                yield f"{path}: outputs"
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            called = ast.unparse(node.value.func)
            if called in ("_utilities.lazy_import", "pulumi.Config"):
                yield f"{path}: {ast.unparse(node)}"


def module_facts(path, tree):
    exported = None
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            exported = ast.literal_eval(node.value)
    facts = [f"{path}.{name}: exported" for name in exported or []]
    if "stub" in path:
        return facts + variables(path, tree.body)
    for node in tree.body:
        is_seen = exported is None or getattr(node, "name", None) in exported
        if isinstance(node, ast.ClassDef) and (is_seen or node.name.endswith("State")):
            facts += class_facts(f"{path}.{node.name}", node)
        elif isinstance(node, ast.FunctionDef) and is_seen:
            facts += function_facts(f"{path}.{node.name}", node)
    return facts


def class_facts(path, node):
    bases = ", ".join(type_text(base) for base in node.bases)
    decorators = ", ".join(ast.unparse(it) for it in node.decorator_list)
    facts = [f"{path}: class ({bases}) {decorators}{documented(node)}"]
    facts += variables(path, node.body)
    for inner in node.body:
        if isinstance(inner, ast.ClassDef):
            facts += class_facts(f"{path}.{inner.name}", inner)
        elif isinstance(inner, ast.FunctionDef) and inner.name != "__key_warning":
            facts += function_facts(f"{path}.{inner.name}", inner)
    facts += assigned(path, node)
    return facts


def assigned(path, node):
    """What constructors send: constants and defaults, options, the token."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Call) and ast.unparse(inner.func) in ("pulumi.Alias", "pulumi.ResourceOptions"):
            if inner.keywords:
                yield f"{path}: {ast.unparse(inner)}"
        elif isinstance(inner, ast.Call) and ast.unparse(inner.func).startswith("super("):
            words = [ast.unparse(it) for it in inner.args] + [ast.unparse(it) for it in inner.keywords]
            yield f"{path}: super({', '.join(words)})"
        elif isinstance(inner, ast.If) and ast.unparse(inner.test).endswith(" is None"):
            for line in inner.body:
                if isinstance(line, ast.Assign) and isinstance(line.targets[0], ast.Name):
                    yield f"{path}: default {default(ast.unparse(line))}"
        elif isinstance(inner, ast.Assign) and ast.unparse(inner.targets[0]).startswith("__props__.__dict__"):
            yield f"{path}: {sent(inner)}"


def default(text):
    """`(a(x) or y)` and `a(x, default=y)` are two ways to say the same; the former forgets what is false."""
    return re.sub(r"\((_utilities\.\w+)\(([^()]*)\) or (.*)\)", r"\1(\2, default=\3)", re.sub(r"= (_util.* or .*)$", r"= (\1)", text))


def sent(node):
    """The value of an input; an absent one is None before or behind."""
    value = node.value
    if isinstance(value, ast.IfExp):
        value = value.body if isinstance(value.orelse, ast.Constant) else value.orelse
    return f"{ast.unparse(node.targets[0])} = {ast.unparse(value)}"


def variables(path, body):
    facts = []
    for node, behind in zip(body, [*body[1:], None]):
        doc = " [doc]" if isinstance(behind, ast.Expr) and isinstance(behind.value, ast.Constant) else ""
        if isinstance(node, ast.AnnAssign):
            facts.append(f"{path}.{ast.unparse(node.target)}: field {type_text(node.annotation)}{doc}")
        elif isinstance(node, ast.Assign) and not ast.unparse(node.targets[0]).startswith("__"):
            facts.append(f"{path}.{ast.unparse(node.targets[0])}: value {ast.unparse(node.value)}{doc}")
    return facts


def function_facts(path, node):
    decorators = [ast.unparse(it) for it in node.decorator_list]
    kind = "property" if "_builtins.property" in decorators else "callable"
    marks = " ".join(it for it in decorators if it not in ("_builtins.property", "pulumi.getter"))
    returns = type_text(node.returns)
    if any(it.endswith(".setter") for it in decorators) or (node.name == "_internal_init"):
        returns = ""
    yield f"{path}: {kind} {marks} ({parameters(node.args)}) -> {returns}{documented(node)}"
    for inner in ast.walk(node):
        if isinstance(inner, ast.Call) and ast.unparse(inner.func).startswith("pulumi.runtime.invoke"):
            yield f"{path}: {ast.unparse(inner)}"


def parameters(args):
    defaults = [None] * (len(args.args) - len(args.defaults)) + args.defaults
    words = [one(arg, default) for arg, default in zip(args.args, defaults)]
    if args.kwonlyargs:
        words.append("*")
    words += [one(arg, default) for arg, default in zip(args.kwonlyargs, args.kw_defaults)]
    if args.vararg:
        words.append(f"*{args.vararg.arg}")
    if args.kwarg:
        words.append(f"**{args.kwarg.arg}")
    return ", ".join(words)


def one(arg, default):
    mark = "" if default is None else f" = {ast.unparse(default)}"
    return f"{arg.arg}: {type_text(arg.annotation)}{mark}"


def type_text(node):
    if node is None:
        return ""
    text = ast.unparse(node)
    # A resource of this package is known by its class or by the module of the class.
    text = re.sub(r"'_resource_\w+\.(\w+)'", r"'\1'", text)
    text = re.sub(r"'_(\w+\.)", r"'\1", text)
    text = text.replace("_builtins.", "")
    return flat(text)


def flat(text):
    """`Optional[Optional[X]]` is `Optional[X]`."""
    previous = None
    while previous != text:
        previous = text
        text = nested_optional(text)
    return text


def nested_optional(text):
    start = text.find("Optional[Optional[")
    if start < 0:
        return text
    depth, at = 0, start + len("Optional[")
    for index in range(at, len(text)):
        depth += {"[": 1, "]": -1}.get(text[index], 0)
        if depth < 0:
            return text[:start] + text[at:index] + text[index + 1:]
    return text


def documented(node):
    return " [doc]" if ast.get_docstring(node) else ""
