#!/usr/bin/env python3
"""Checks what the compiler does not: the two tables of lints are one, and the crates can be packaged.

    tests/rust/check.py

Only the standard library is used.
"""

import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def main():
    problems = []
    engine = tomllib.loads((ROOT / "Cargo.toml").read_text())
    sdk = tomllib.loads((ROOT / "sdk/rust/Cargo.toml").read_text())
    if engine["workspace"]["lints"] != sdk["workspace"]["lints"]:
        problems.append("sdk/rust/Cargo.toml has other lints than Cargo.toml")
    for crate in ["plumb-macros", "plumb", "plumb-provider", "plumb-policy"]:
        folder = ROOT / "sdk/rust" / crate
        package = tomllib.loads((folder / "Cargo.toml").read_text())["package"]
        for key in ["description", "license", "repository", "readme", "rust-version"]:
            if key not in package:
                problems.append(f"{crate} has no {key}")
        listed = subprocess.run(["cargo", "package", "--list", "--allow-dirty"], cwd=folder, capture_output=True, text=True)
        files = listed.stdout.split()
        for file in ["LICENSE", "README.md", "Cargo.toml", "src/lib.rs"]:
            if file not in files:
                problems.append(f"{crate} would be packaged without {file}: {listed.stderr}")
        if "warning" in listed.stderr:
            problems.append(listed.stderr)
    print("\n".join(problems) or "passed")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
