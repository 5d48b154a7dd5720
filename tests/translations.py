"""Examples in other languages: what `plumb convert` makes of the complete YAML programs of a page.

A page has a line `<!-- languages -->` behind such a program, and `<!-- end of languages -->` after it. What is between them is written
by `tests/docs.py --write`, and compared by the check.
"""

import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

LANGUAGES = [("python", "Python", "python", "__main__.py"), ("typescript", "TypeScript", "typescript", "index.ts"),
             ("go", "Go", "go", "main.go"), ("java", "Java", "java", "App.java"), ("csharp", "C#", "csharp", "Program.cs"),
             ("rust", "Rust", "rust", "main.rs")]
"""Name of the language for `convert`, for people, and for blocks, and the file with the program."""
BEGIN, END = "<!-- languages -->\n", "<!-- end of languages -->\n"


def written(text, world):
    """The text of a page with its translations as they should be."""
    before, *parts = text.split(BEGIN)
    out = before
    for part in parts:
        _, _, rest = part.partition(END)
        program = before.rpartition("```yaml\n")[2].partition("```\n")[0]
        out += BEGIN + translations(program, world) + END + rest
        before = rest
    return out


def translations(program, world):
    with ThreadPoolExecutor(2) as pool:
        blocks = pool.map(lambda language: translation(program, world, *language), LANGUAGES)
        return "\n" + "\n".join(blocks) + "\n"


def translation(program, world, language, title, block, file):
    with tempfile.TemporaryDirectory(prefix="plumb-docs-") as folder, world.session() as session:
        (session.folder / "Pulumi.yaml").write_text(program)
        code, output = session.run(f"plumb convert --language {language} --out {folder}/out --generate-only 2>&1")
        found = list(Path(folder).rglob(file))
        if code or len(found) != 1:
            return f"{title}: {output}\n"
        text = found[0].read_text().rstrip()
    return f"<details>\n<summary>{title}</summary>\n\n```{block}\n{text}\n```\n\n</details>\n"
