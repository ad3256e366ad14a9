"""slugs.py ROOT: lists the words of errors in the sources that docs/errors.md does not explain."""

import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
# fail(place, "slug", and error(place, "slug", in the frontend; "text [slug]" elsewhere.
PATTERNS = [
    re.compile(r'(?:fail|error|warning)\([^;"]*?"([a-z]+(?:-[a-z]+)+)"\s*,'),
    re.compile(r' \[(?!slug\])([a-z]+(?:-[a-z]+)*)\]"'),
]
explained = set(re.findall(r"^## (.*)$", (root / "docs/errors.md").read_text(), re.MULTILINE))
missing = set()
for folder in ("frontend", "dialects", "compiler"):
    for path in (root / folder).rglob("*.cpp"):
        text = path.read_text()
        for pattern in PATTERNS:
            missing |= {(slug, path.name) for slug in pattern.findall(text) if slug not in explained}
for slug, name in sorted(missing):
    print(f"docs/errors.md: no section '## {slug}', which {name} uses")
sys.exit(1 if missing else 0)
