#!/usr/bin/env python3
"""Draws the pictures of the concepts from their texts in `docs/images/text`, with Graphviz.

    docs/images/draw.py [NAME..]

A text is the inside of a graph in the language DOT, and its first line a comment that says what the picture shows, for those who
cannot see it. Boxes with `class=own` are Plumb's, those with `class=note` are remarks. The pictures take the colours of the page, light or
dark.
"""

import html
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
FRAME = """digraph {{
  rankdir=LR; bgcolor=transparent; pad=0.1; nodesep=0.25; ranksep=0.45; fontname=Helvetica; fontsize=11
  node [shape=box, style=rounded, fontname=Helvetica, fontsize=11, height=0.4, margin="0.14,0.06"]
  edge [fontname=Helvetica, fontsize=10, arrowsize=0.7]
{text}
}}
"""
STYLE = """<style>
svg { color: #24292f; font-family: system-ui, sans-serif }
@media (prefers-color-scheme: dark) { svg { color: #d0d7de } }
text { fill: currentColor; font-family: inherit }
path, polygon, ellipse, polyline { stroke: currentColor; fill: none }
.edge polygon { fill: currentColor }
.own path, .own polygon { fill: currentColor; fill-opacity: .1 }
.note path, .note polygon { stroke-dasharray: 4 3 }
.cluster path, .cluster polygon { stroke-opacity: .45 }
</style>"""


def picture(text):
    """The picture of a text."""
    caption, _, graph = text.partition("\n")
    title = html.escape(caption.removeprefix("// "))
    drawn = subprocess.run(["dot", "-Tsvg"], input=FRAME.format(text=graph), check=True, stdout=subprocess.PIPE, text=True).stdout
    width, height, view = re.search(r'<svg width="(\d+)pt" height="(\d+)pt"\s+viewBox="([^"]*)"', drawn).groups()
    body = drawn[drawn.index("<g id="):]
    body = re.sub(r"<!--.*?-->\n|<title>.*?</title>\n", "", body, flags=re.DOTALL)
    body = re.sub(r' (?:id|font-family|stroke|fill)="[^"]*"', "", body)
    head = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{view}" width="{round(int(width) * 4 / 3)}" '
            f'height="{round(int(height) * 4 / 3)}" role="img" aria-label="{title}">\n<title>{title}</title>\n')
    return head + STYLE + "\n" + body


def main():
    for path in sorted((HERE / "text").glob("*.dot")):
        if len(sys.argv) == 1 or path.stem in sys.argv[1:]:
            (HERE / f"{path.stem}.svg").write_text(picture(path.read_text()))


if __name__ == "__main__":
    main()
